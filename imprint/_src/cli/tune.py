"""`imprint tune`: run a program, and keep the fastest form of each of its hot versions.

1. The program runs with the store off, so each version is compiled. A `_Recording` in place
   of its executable counts its calls, and keeps the arguments of the first.
2. Each form of a hot version (other formulations, widths of vectors, no cuts) runs on these
   arguments, in turn with the fastest so far, whose place it takes if results agree.
3. The fastest goes into the store under the key of the version: later processes load it.
   Versions that donate, call back, check for NaN or use several devices stay as they are.
"""

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Final, NamedTuple, cast, final

import numpy as np

from imprint._src import runtime
from imprint._src.cli.cache_commands import store_in_use
from imprint._src.cli.compile_log import made_by
from imprint._src.cli.runpy import run_program
from imprint._src.config import config, cut_recomputation
from imprint._src.dtypes import finfo
from imprint._src.errors import CompileError
from imprint._src.jit.compilation.lowered import LoweredProgram, lower
from imprint._src.jit.compilation.program_cache import program_key
from imprint._src.jit.disk_cache.current import configure, requested_options
from imprint._src.jit.disk_cache.store import Store
from imprint._src.jit.explain.explanation import Explanation
from imprint._src.jit.versions.version import OBSERVERS, Version, VersionCosts

HOT: Final = 0.01
"""The least share of the time of all calls."""
GAIN: Final = 0.95
"""The largest share of the time that another form may take."""
_ROUNDS: Final = 9
_SAMPLE_SECONDS: Final = 0.005
_MOST_UNCUT: Final = 100  # equations; without cuts more may not end to compile
_ULPS: Final = 64


class _Form(NamedTuple):
    """A change of how a program is compiled.

    Args:
        name: in words.
        options: added to the compiler options.
        cuts: whether values that would be computed again are written to memory.
    """

    name: str
    options: dict[str, str | int]
    cuts: bool = True


_FORMS: Final = (
    _Form("plain formulations", {"formulations": "plain"}),
    _Form("vectors of 512 bits", {"xla_cpu_prefer_vector_width": 512}),
    _Form("vectors of 256 bits", {"xla_cpu_prefer_vector_width": 256}),
    _Form("no cuts", {}, cuts=False),
)


def tune(program: Sequence[str]) -> int:
    """Run a program, keep the fastest form of its hot versions, and print them.

    Args:
        program: the script or `-m` and the module, then the program's own arguments.

    Returns:
        The exit status of the program, or 1 if there is no store to write.
    """
    store = store_in_use()
    if store is None:
        return 1
    options, process, out = requested_options(), os.getpid(), sys.stdout
    calls = _Calls()
    OBSERVERS.append(calls)
    configure(options._replace(mode="off"))
    try:
        status = run_program(program)
    finally:
        OBSERVERS.remove(calls)
        configure(options)
    if os.getpid() != process:  # a fork of the program
        return status
    for line in _tuned(calls.recordings, store):
        print(line, file=out, flush=True)
    return status


# ---- 1. calls ----


@final
@dataclass(eq=False)
class _Recording:
    """Runs an executable, and keeps the arguments of its first call."""

    version: Version
    executable: runtime.Executable
    calls: int = 0
    arguments: list[Any] = field(default_factory=list[Any])
    seconds: float = 0.0  # of a call, as it was compiled

    @property
    def device(self) -> runtime.Place:
        """Its device."""
        return self.executable.device

    def call(self, buffers: list[Any], /) -> list[Any]:
        """Run it."""
        if not self.calls:
            self.arguments = [*buffers]
        self.calls += 1
        return self.executable.call(buffers)


@final
class _Calls:
    """An `Observer` that records the calls of new versions."""

    def __init__(self) -> None:
        self.recordings: list[_Recording] = []

    def missed(self, miss: Explanation) -> None:
        """Do nothing."""

    def failed(self, miss: Explanation) -> None:
        """Do nothing."""

    def compiled(self, miss: Explanation, costs: VersionCosts) -> None:
        """Record the calls of the new version from now on."""
        for version in made_by(miss):
            is_new = version.runs is version.executable
            if is_new and not version.special and not version.program.module.spread:
                recording = _Recording(version, version.executable)
                version.use(recording)
                self.recordings.append(recording)


# ---- 2. forms ----


def _tuned(recordings: Sequence[_Recording], store: Store) -> list[str]:
    """Try the forms of hot versions; return a line for each."""
    called = [
        r for r in recordings if r.calls and not r.version.program.module.callbacks
    ]
    for recording in called:
        (recording.seconds,) = _times([recording.executable], recording.arguments)
    total = sum(r.calls * r.seconds for r in called)
    hot = [r for r in called if r.calls * r.seconds >= HOT * total]
    hot.sort(key=lambda r: -r.calls * r.seconds)
    return [_tune(r, store) for r in hot] or ["imprint tune: no version was called"]


def _tune(recording: _Recording, store: Store) -> str:
    """Find the fastest form of a version, store it, and describe it."""
    version = recording.version
    best, share = recording.executable, 1.0
    options, cuts = version.program.options, True
    names: list[str] = []
    tried = {(version.program.module.plain_text, options)}
    for form in _FORMS:
        with_form = runtime.CompileOptions.of(form.options).over(options)
        module = _lowered(version, with_form, cuts=cuts and form.cuts)
        if module is None or (module.plain_text, with_form) in tried:
            continue
        tried.add((module.plain_text, with_form))
        made = _compiled(module, with_form, recording.device)
        if made is None or not _agree(best, made, recording.arguments, module):
            continue
        ratio = max(_ratio(best, made, recording.arguments) for _ in range(2))
        if ratio < GAIN:
            best, options, cuts = made, with_form, cuts and form.cuts
            names.append(form.name)
            share *= ratio
    kept = _keep(store, version, best, names)
    how = f"{share:.2f} of its time by {', '.join(names)}" if names else "as it is"
    return (
        f"{version.name}, {recording.calls} calls of {recording.seconds * 1e6:.0f} µs: "
        f"{how}; {kept}"
    )


def _lowered(
    version: Version, options: runtime.CompileOptions, *, cuts: bool
) -> LoweredProgram | None:
    """Lower the program of a version in another form; None if that is no use."""
    known = version.program.module
    if not cuts and (not known.changes or known.equations > _MOST_UNCUT):
        return None
    with cut_recomputation(cuts and config.cut_recomputation):
        module = lower(
            version.traced.closed, f"jit_{version.name}", is_plain=options.is_plain
        )
    same = module.in_avals == known.in_avals and module.kept == known.kept
    return module if same else None


def _compiled(
    module: LoweredProgram, options: runtime.CompileOptions, device: runtime.Place
) -> runtime.Executable | None:
    try:
        return runtime.compile(module.text, module.out_avals, options, device)
    except CompileError:  # an option of another release
        return None


def _agree(
    one: runtime.Executable,
    other: runtime.Executable,
    arguments: list[Any],
    module: LoweredProgram,
) -> bool:
    """Return whether results differ by rounding only, relative to their largest."""
    pairs = zip(
        module.out_avals, one.call(arguments), other.call(arguments), strict=True
    )
    return all(
        _close(*(np.asarray(runtime.read(x, aval)) for x in xs)) for aval, *xs in pairs
    )


def _close(x: Any, y: Any) -> bool:
    if x.dtype.kind in "biu":
        return np.array_equal(x, y)
    eps = float(cast("Any", finfo(x.dtype)).eps)
    x, y = (v if v.dtype.kind == "c" else v.astype(np.float64) for v in (x, y))
    finite = np.isfinite(x) & np.isfinite(y)
    if not np.array_equal(x[~finite], y[~finite], equal_nan=True):
        return False
    most = _ULPS * eps * np.abs(x[finite]).max(initial=0.0)
    return bool((np.abs(x[finite] - y[finite]) <= most).all())


def _ratio(
    old: runtime.Executable, new: runtime.Executable, arguments: list[Any]
) -> float:
    before, after = _times([old, new], arguments)
    return after / before


def _times(
    executables: Sequence[runtime.Executable], arguments: list[Any]
) -> list[float]:
    """Return the least seconds of a call of each, measured in turn."""
    best = [_seconds(e, arguments, 1) for e in (*executables, *executables)]
    best = best[len(executables) :]  # the first call of each is slower
    count = max(1, int(_SAMPLE_SECONDS / max(best)))
    for _ in range(_ROUNDS):
        for i, executable in enumerate(executables):
            best[i] = min(best[i], _seconds(executable, arguments, count))
    return best


def _seconds(executable: runtime.Executable, arguments: list[Any], count: int) -> float:
    results: list[Any] = []
    start = time.perf_counter()
    for _ in repeat(None, count):
        results = executable.call(arguments)
    for result in results:
        runtime.block_until_ready(result)
    return (time.perf_counter() - start) / count


# ---- 3. the store ----


def _keep(
    store: Store, version: Version, best: runtime.Executable, names: Sequence[str]
) -> str:
    """Put the fastest executable under the key of the version."""
    program = version.program
    key = program_key(program.module, program.options, best.device)
    note = {
        "name": f"jit_{version.name}",
        "equations": program.module.equations,
        "compile_seconds": round(program.compile_seconds, 4),
        "engine": runtime.engine_version()[0],
        "tuned": ", ".join(names) or "as it is",
    }
    return (
        "kept"
        if store.put(key, note, best.serialize())
        else "the store did not take it"
    )
