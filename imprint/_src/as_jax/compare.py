"""`imprint compare`: a JAX program on JAX and on imprint, side by side.

Each of the four runs is a fresh process (`compared_run`): either library, with an empty disk
cache (cold) and with the cache that this run left (warm). All run in the working directory of
the command. Texts agree if they differ only in numbers, by at most one part in 10,000; so do
the arrays in the `.npy` and `.npz` files that a run wrote below the working directory.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import numpy as np

RTOL: Final = 1e-4
"""The relative difference up to which two numbers agree."""

_LIBRARIES: Final = ("jax", "imprint")
_STATES: Final = ("cold", "warm")
_ROWS: Final = {
    "wall": ("seconds, all", "{:.2f}"),
    "import_seconds": ("seconds of the import", "{:.2f}"),
    "traces": ("traces", "{}"),
    "compiles": ("compiles", "{}"),
    "loads": ("loads from the disk", "{}"),
    "peak_bytes": ("peak memory, MiB", "{:.0f}"),
    "status": ("exit status", "{}"),
}
_EXCEPTION: Final = re.compile(r"[\w.]+: ")
_NUMBER: Final = re.compile(
    r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\bnan\b|\binf\b"
)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the program.

    Args:
        figures: seconds and counts, by name.
        output: the text on standard output.
        errors: the text on standard error.
        arrays: the saved arrays, by file and name.
    """

    figures: dict[str, Any]
    output: str
    errors: str
    arrays: dict[str, Any]


def compare(program: Sequence[str], *, json_file: str | None = None) -> int:
    """Run a program on both libraries, print a table, and return the exit status.

    Args:
        program: a script, or `-m` and a module, then its own arguments.
        json_file: where to write the figures as JSON; `-` for standard output, in place
            of the table.

    Returns:
        0 if all runs ended alike and agree, 1 otherwise.
    """
    has_jax = find_spec("jax") is not None
    libraries = _LIBRARIES if has_jax else ("imprint",)
    runs: dict[tuple[str, str], Run] = {}
    with tempfile.TemporaryDirectory() as caches:
        for library in libraries:
            for state in _STATES:
                runs[library, state] = run(program, library, Path(caches, library))
    problems = [*differences(runs)]
    if json_file is not None:
        _write(runs, problems, json_file)
    if json_file != "-":
        print("\n".join(table(runs)))
        if not has_jax:
            print("JAX is not installed, so imprint ran alone: `pip install jax`.")
        print("\n".join(problems or ["Output and saved arrays agree."]))
    return int(bool(problems))


def run(program: Sequence[str], library: str, cache: Path) -> Run:
    """Run the program once.

    Args:
        program: its words.
        library: "jax" or "imprint".
        cache: the directory of the disk cache.
    """
    script = Path(__file__).with_name("compared_run.py")
    environment = {
        **os.environ,
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "IMPRINT_CACHE": "write",
        "IMPRINT_CACHE_DIR": str(cache),
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "figures.json")
        words = [sys.executable, str(script), library, str(file), *program]
        before, start = time.time(), time.perf_counter()
        done = subprocess.run(
            words, env=environment, capture_output=True, text=True, check=False
        )
        figures = {"wall": time.perf_counter() - start, "status": done.returncode}
        if file.is_file():
            figures.update(json.loads(file.read_text("utf-8")))
    return Run(figures, done.stdout, done.stderr, dict(_saved(before)))


def table(runs: Mapping[tuple[str, str], Run]) -> Iterator[str]:
    """Yield the lines of the table of figures."""
    columns = [*runs]
    yield " " * 24 + "".join(
        f"{f'{library} {state}':>15}" for library, state in columns
    )
    for name, (title, form) in _ROWS.items():
        values = [runs[at].figures.get(name) for at in columns]
        if name == "peak_bytes":
            values = [None if x is None else x / 2**20 for x in values]
        cells = ["-" if x is None else form.format(x) for x in values]
        yield f"{title:<24}" + "".join(f"{cell:>15}" for cell in cells)
    for state in _STATES:
        pair = [runs.get((library, state)) for library in _LIBRARIES]
        if all(each is not None for each in pair):
            theirs, ours = (each.figures["wall"] for each in pair if each is not None)
            yield f"{state}: imprint takes {ours / theirs:.2f} of JAX's time"
    yield from _avoided(runs)


def _avoided(runs: Mapping[tuple[str, str], Run]) -> Iterator[str]:
    """Yield the functions that JAX compiled more often, the most frequent first."""
    if ("jax", "cold") not in runs:
        return
    theirs, ours = (
        runs[library, "cold"].figures.get("functions", {}) for library in _LIBRARIES
    )
    more = {
        name: n - ours.get(name, 0)
        for name, n in theirs.items()
        if n > 1 and n > ours.get(name, 0)
    }
    shown = [
        f"`{name}` {theirs[name]} times, imprint {ours.get(name, 0)}"
        for name in sorted(more, key=lambda x: -more[x])[:5]
    ]
    if shown:
        yield (
            f"JAX compiled {'; '.join(shown)}. imprint recognizes functions that are "
            "re-created, and runs operations outside of jit without a compile."
        )


def differences(runs: Mapping[tuple[str, str], Run]) -> Iterator[str]:
    """Yield a sentence for each run that failed or does not agree with the first."""
    (first_at, first), *_ = runs.items()
    for at, each in runs.items():
        name = " ".join(at)
        if each.figures["status"] != 0:
            lines = each.errors.strip().splitlines() or ["no message"]
            errors = filter(_EXCEPTION.match, reversed(lines))
            last = next(errors, lines[-1])
            yield f"{name}: exit status {each.figures['status']}: {last}"
        if at == first_at:
            continue
        pairs = zip_longest(first.output.splitlines(), each.output.splitlines())
        for i, (wanted, got) in enumerate(pairs, 1):
            if not is_alike(wanted, got):
                yield f"{name}: line {i} of the output is {got!r}, not {wanted!r}"
                break
        yield from _array_differences(name, first.arrays, each.arrays)


def is_alike(a: str | None, b: str | None) -> bool:
    """Return whether two lines differ at most in the last digits of their numbers."""
    if a is None or b is None:
        return a is b
    if _NUMBER.sub("#", a).split() != _NUMBER.sub("#", b).split():
        return False
    numbers = ([float(x) for x in _NUMBER.findall(line)] for line in (a, b))
    return bool(np.allclose(*numbers, rtol=RTOL, atol=1e-6, equal_nan=True))


def _array_differences(
    run_name: str, wanted: Mapping[str, Any], got: Mapping[str, Any]
) -> Iterator[str]:
    for name in sorted(wanted.keys() ^ got.keys()):
        yield f"{run_name}: {name} was saved by one run only"
    for name in sorted(wanted.keys() & got.keys()):
        a, b = wanted[name], got[name]
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            yield (
                f"{run_name}: {name} is {b.dtype}{[*b.shape]}, not {a.dtype}{[*a.shape]}"
            )
        elif not _is_close(a, b):
            yield f"{run_name}: {name} differs by up to {np.max(np.abs(a - b)):.3g}"


def _is_close(a: Any, b: Any) -> bool:
    if a.dtype.kind in "fc":
        return bool(np.allclose(a, b, rtol=RTOL, atol=1e-6, equal_nan=True))
    return bool(np.array_equal(a, b))


def _saved(since: float) -> Iterator[tuple[str, Any]]:
    """Yield the arrays that were saved below the working directory since a time."""
    for file in sorted(Path().rglob("*.np[yz]")):
        if file.stat().st_mtime < since - 1:
            continue
        found = np.load(file)
        if isinstance(found, np.ndarray):
            yield str(file), found
        else:
            yield from ((f"{file}[{name}]", found[name]) for name in found.files)


def _write(
    runs: Mapping[tuple[str, str], Run], problems: Sequence[str], json_file: str
) -> None:
    data = {
        "runs": {" ".join(at): asdict(each)["figures"] for at, each in runs.items()},
        "differences": [*problems],
    }
    text = json.dumps(data, indent=2)
    if json_file == "-":
        print(text)
    else:
        Path(json_file).write_text(text + "\n", "utf-8")
