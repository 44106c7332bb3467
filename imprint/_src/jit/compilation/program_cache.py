"""Programs on the disk: which are found there, and which are put there.

The key of a program is its text without the user's source lines, and all that decides
machine code besides: the engine checks none of it when it loads. Every program can be
stored but two kinds: one that calls functions of the host holds pointers into this
process; and what the engine itself cannot serialize. Of equal programs that several
processes want at once, one compiles, and the others load what it made. This file and the
store are imported by the first program that is compiled.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from imprint._src import runtime
from imprint._src.core.aval import ShapedArray
from imprint._src.errors import CompileError
from imprint._src.jit.compilation.compile_result import Found
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.compilation.lowered import LoweredProgram
from imprint._src.jit.disk_cache.current import current
from imprint._src.jit.disk_cache.signing import digest
from imprint._src.jit.disk_cache.store import Store
from imprint._src.runtime import EngineError


def executable_of(
    module: LoweredProgram,
    options: runtime.CompileOptions,
    device: runtime.Place,
    make: Callable[[], runtime.Executable],
    *,
    persist: bool,
) -> Found:
    """Load a program from the disk, or make it and put it there.

    Args:
        module: the program.
        options: the engine's options in force.
        device: where it runs.
        make: what compiles it.
        persist: whether it may be on the disk.
    """
    if not persist:
        return Found(make(), "compiled", "not stored: its jit has persist=False")
    if module.callbacks:
        return Found(make(), "compiled", _CALLS)
    store = current()
    if store is None:
        return Found(make(), "compiled", "not stored: the store is off")
    key = program_key(module, options, device)

    def loaded() -> Found | None:
        return loaded_program(store, key, module.out_avals, options, device)

    found = loaded()
    if found is not None:
        return found
    with store.flight(key) as waited:
        found = loaded() if waited else None
        if found is not None:
            return found
        start = time.perf_counter()
        made = make()
        return Found(made, "compiled", _put(store, key, module, made, start), key)


def loaded_program(
    store: Store,
    key: bytes,
    out_avals: Sequence[ShapedArray],
    options: runtime.CompileOptions,
    device: runtime.Place,
) -> Found | None:
    """Load a program from the disk; None if it is not there whole.

    Args:
        store: where it is.
        key: its key.
        out_avals: the avals of its results.
        options: the engine's options in force.
        device: where it runs.
    """
    for data in store.all_of(key):
        with suppress(CompileError):  # what is made instead takes its place
            found = runtime.deserialize(data, out_avals, options, device)
            COUNTERS.loads += 1
            return Found(found, "disk", "stored: loaded from the disk", key)
    return None


def _put(
    store: Store,
    key: bytes,
    module: LoweredProgram,
    made: runtime.Executable,
    start: float,
) -> str:
    """Put a program on the disk; return what became of it."""
    seconds = round(time.perf_counter() - start, 4)
    if not store.writes:
        return "not stored: the store is only read"
    try:
        data = made.serialize()
    except EngineError as err:
        return f"not stored: E-ENGINE: the engine cannot serialize it: {err}"
    note = {
        "name": module.text.partition("@")[2].partition(" ")[0],
        "equations": module.equations,
        "compile_seconds": seconds,
        "engine": runtime.engine_version()[0],
    }
    is_there = store.put(key, note, data)
    return "stored" if is_there else "not stored: the store did not take it"


_CALLS: Final = (
    "not stored: E-EFFECT: it calls functions of this process (a callback, debug.print or "
    "a check); leave them out of what shall start warm"
)


def program_key(
    module: LoweredProgram, options: runtime.CompileOptions, device: runtime.Place
) -> bytes:
    """Return the key of a program."""
    decides = runtime.identity(module.text, options, device)
    parts = "program 1", module.plain_text, *decides
    return digest(*(part.encode() for part in parts))
