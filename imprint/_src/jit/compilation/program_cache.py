"""Programs on the disk: loaded if they are there, else compiled and stored.

The key of a program is its text without the user's source lines, and all else that decides
machine code: the engine checks none of it when it loads. A program cannot be stored if it
calls functions of the host, because it holds pointers into this process, or if the engine
cannot serialize it. Of several processes that need equal programs at once, one compiles,
and the others load the result. The first compilation imports this file and the store.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, Literal, NamedTuple

from imprint._src import runtime
from imprint._src.core.aval import ShapedArray
from imprint._src.errors import CompileError
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.compilation.lowered import LoweredProgram
from imprint._src.jit.disk_cache.current import current
from imprint._src.jit.disk_cache.entry import digest
from imprint._src.jit.disk_cache.store import Store
from imprint._src.runtime import EngineError


class CompileResult(NamedTuple):
    """An executable.

    Args:
        executable: the executable.
        origin: where it is from.
        not_stored: why it is not on the disk; "" if it is.
        key: its key on the disk, if that is known.
    """

    executable: runtime.Executable
    origin: Literal["compiled", "disk"]
    not_stored: str = ""
    key: bytes = b""


def find_or_compile(
    module: LoweredProgram,
    options: runtime.CompileOptions,
    device: runtime.Place,
    make: Callable[[], runtime.Executable],
    *,
    persist: bool,
) -> CompileResult:
    """Load a program from the disk, or compile it and put it there.

    Args:
        module: the program.
        options: the options of XLA in force.
        device: its device.
        make: compiles it.
        persist: whether it may be on the disk.
    """
    store = current()
    reason = (
        "its jit has persist=False"
        if not persist
        else _CALLS
        if module.callbacks
        else "the store is off"
        if store is None
        else ""
    )
    if store is None or reason:
        return CompileResult(make(), "compiled", reason)
    key = program_key(module, options, device)
    load = partial(load_program, store, key, module.out_avals, options, device)
    found = load()
    if found is not None:
        return found
    with store.compile_lock(key) as waited:
        found = load() if waited else None
        if found is not None:
            return found
        start = time.perf_counter()
        made = make()
        not_stored = _put(store, key, module, made, start)
        return CompileResult(made, "compiled", not_stored, key)


def load_program(
    store: Store,
    key: bytes,
    out_avals: Sequence[ShapedArray],
    options: runtime.CompileOptions,
    device: runtime.Place,
) -> CompileResult | None:
    """Return a program from the disk; None if it is not there.

    Args:
        store: the store.
        key: its key.
        out_avals: the avals of its results.
        options: the options of XLA in force.
        device: its device.
    """
    for data in store.all_of(key):
        with suppress(CompileError):  # the new program replaces it
            found = runtime.deserialize(data, out_avals, options, device)
            COUNTERS.loads += 1
            return CompileResult(found, "disk", "", key)
    return None


def _put(
    store: Store,
    key: bytes,
    module: LoweredProgram,
    made: runtime.Executable,
    start: float,
) -> str:
    """Put a program on the disk; return why it is not there, or ""."""
    seconds = round(time.perf_counter() - start, 4)
    if not store.writes:
        return "the store is only read"
    try:
        data = made.serialize()
    except EngineError as err:
        return f"E-ENGINE: the engine cannot serialize it: {err}"
    note = {
        "name": module.text.partition("@")[2].partition(" ")[0],
        "equations": module.equations,
        "compile_seconds": seconds,
        "engine": runtime.engine_version()[0],
    }
    is_there = store.put(key, note, data)
    return "" if is_there else "the store did not take it"


_CALLS: Final = (
    "E-EFFECT: it calls functions of this process (a callback, debug.print or "
    "a check); leave them out of what shall start warm"
)


def program_key(
    module: LoweredProgram, options: runtime.CompileOptions, device: runtime.Place
) -> bytes:
    """Return the key of a program."""
    decides = runtime.identity(module.text, options, device)
    parts = "program 1", module.plain_text, *decides
    return digest(*(part.encode() for part in parts))
