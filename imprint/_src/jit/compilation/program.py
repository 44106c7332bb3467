"""From a lowered program to an executable, which equal programs share.

XLA gets the options that suit the program, and those of the user take precedence.
Programs of equal text, options, device and functions of the host share one executable
while one of them is in use. Calls that differ only in weak types (`x = f(x)` from a Python
scalar) have equal texts, so the second costs a trace and no compilation. The executable
of an earlier process may be on the disk (`program_cache`).
"""

import time
import weakref
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from imprint._src import runtime
from imprint._src.array import buffer_over, captured_buffer, to_array
from imprint._src.core.aval import ShapedArray
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.compilation.lowered import LoweredProgram
from imprint._src.jit.compilation.progress import PROGRESS

Origin = Literal["compiled", "memory", "disk"]


class Program(NamedTuple):
    """A compiled program.

    Args:
        executable: the executable.
        consts: buffers of its leading arguments.
        kept: positions of the arguments that follow them.
        out_avals: the avals of its results.
        module: the lowered program.
        options: the options of XLA in force.
        compile_seconds: the time of the compilation.
        origin: the source of the executable: "compiled", "memory" or "disk".
        not_stored: why it is not on the disk; "" if it is.
        key: its key on the disk, if that is known.
    """

    executable: runtime.Executable
    consts: tuple[runtime.Buffer, ...]
    kept: tuple[int, ...]
    out_avals: tuple[ShapedArray, ...]
    module: LoweredProgram
    options: runtime.CompileOptions
    compile_seconds: float
    origin: Origin
    not_stored: str = ""
    key: bytes = b""

    @property
    def stored(self) -> str:
        """Whether it is on the disk, in words."""
        if self.not_stored:
            return f"not stored: {self.not_stored}"
        return _STORED[self.origin]

    @property
    def nbytes(self) -> int:
        """An estimate of the memory it takes: 150 KB and 48 bytes a byte of StableHLO.

        Fitted to the growth of a process over programs of 3 and of 300 equations.
        """
        consts = sum(
            a.size * a.dtype.itemsize for a in self.module.in_avals[: len(self.consts)]
        )
        return 150_000 + 48 * self.module.text_bytes + consts

    def run(self, buffers: list[runtime.Buffer]) -> list[runtime.Buffer]:
        """Execute on the buffers of the kept arguments."""
        return self.executable.run([*self.consts, *buffers])


def compile_module(
    module: LoweredProgram,
    options: runtime.CompileOptions | None = None,
    device: runtime.Place | None = None,
    *,
    persist: bool = True,
) -> Program:
    """Compile a lowered module, and put its constants on the device.

    Args:
        module: the program.
        options: the options of the user for XLA.
        device: its device, unless it is spread over devices.
        persist: whether it may be on the disk.
    """
    start = time.perf_counter()
    chosen = (options or runtime.CompileOptions()).over(module.options)
    on = device or runtime.default_device()
    if module.spread is not None:
        on = module.spread.partition
    shared = module.text, chosen, on, module.callbacks
    origin, not_stored, key = "memory", "", b""
    executable = _executables.get(shared)
    if executable is None:
        from imprint._src.jit.compilation.program_cache import find_or_compile  # noqa: PLC0415 - 3 ms of an import

        may_persist = persist and not _spans_processes(on)
        compile_now = partial(_compiled, module, chosen, on)
        executable, origin, not_stored, key = find_or_compile(
            module, chosen, on, compile_now, persist=may_persist
        )
        executable = _executables.setdefault(shared, executable)
    seconds = time.perf_counter() - start
    return Program(
        executable=executable,
        consts=const_buffers(module, executable),
        kept=module.kept,
        out_avals=module.out_avals,
        module=module,
        options=chosen,
        compile_seconds=seconds,
        origin=origin,
        not_stored=not_stored,
        key=key,
    )


_STORED: Final[dict[Origin, str]] = {
    "compiled": "stored",
    "disk": "stored: loaded from the disk",
    "memory": "another program of this process has it",
}


def const_buffers(
    module: LoweredProgram, executable: runtime.Executable
) -> tuple[runtime.Buffer, ...]:
    """Return the buffers of the constants, in the layout of the executable."""
    on = executable.device
    arrays = [*map(to_array, module.consts)]
    if not isinstance(on, runtime.Partition):
        return tuple([captured_buffer(x, on) for x in arrays])
    given = executable.in_shardings[: len(arrays)]
    pairs = zip(arrays, given, strict=True)
    return tuple(
        [buffer_over(x, runtime.named_sharding(s, on.mesh, x.ndim)) for x, s in pairs]
    )


def _spans_processes(place: runtime.Place) -> bool:
    """Return whether other processes run it too: each compiles its own part."""
    return isinstance(place, runtime.Partition) and place.spans_processes


def _compiled(
    module: LoweredProgram, options: runtime.CompileOptions, device: runtime.Place
) -> runtime.Executable:
    start = time.perf_counter()
    with PROGRESS.during(module.text, module.equations):
        made = runtime.compile(
            module.text, module.out_avals, options, device, module.callbacks
        )
    COUNTERS.compiles += 1
    COUNTERS.compile_seconds += time.perf_counter() - start
    COUNTERS.equations += module.equations
    return made


_executables: weakref.WeakValueDictionary[Any, runtime.Executable] = (
    weakref.WeakValueDictionary()
)
