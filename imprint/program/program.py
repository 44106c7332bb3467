"""From a lowered program to something that runs: compile, and share what is equal.

The engine is given the options that suit the program, and those of the user over them.
Programs of equal text, options and device, which call the same functions of the host, have
one executable, for as long as one of them is in use: calls that differ in weak types only
(`x = f(x)` from a Python scalar) have equal texts, so the second costs a trace and no
compilation.
"""

import time
import weakref
from typing import Any, NamedTuple

from imprint import runtime
from imprint.array import buffers_of
from imprint.core.aval import ShapedArray
from imprint.program.counters import COUNTERS
from imprint.program.lowered import LoweredProgram
from imprint.program.progress import PROGRESS


class Program(NamedTuple):
    """A compiled program.

    Args:
        executable: what the engine runs.
        consts: buffers of its leading arguments.
        kept: positions of the jaxpr's arguments that it takes after them.
        out_avals: the avals of its results.
        module: what it was compiled from.
        options: the engine's options in force.
        compile_seconds: what that took.
        shared: whether another program of equal text was compiled before.
    """

    executable: runtime.Executable
    consts: tuple[runtime.Buffer, ...]
    kept: tuple[int, ...]
    out_avals: tuple[ShapedArray, ...]
    module: LoweredProgram
    options: runtime.CompileOptions
    compile_seconds: float
    shared: bool

    @property
    def nbytes(self) -> int:
        """An estimate of the memory it takes: 150 KB and 48 bytes a byte of StableHLO.

        Fitted to the growth of a process over programs of 3 and of 300 equations.
        """
        consts = sum(
            a.size * a.dtype.itemsize for a in self.module.in_avals[: len(self.consts)]
        )
        return 150_000 + 48 * len(self.module.text) + consts

    def run(self, buffers: list[runtime.Buffer]) -> list[runtime.Buffer]:
        """Execute on the buffers of the kept arguments."""
        return self.executable.run([*self.consts, *buffers])


def compile_module(
    module: LoweredProgram,
    options: runtime.CompileOptions | None = None,
    device: runtime.Device | None = None,
) -> Program:
    """Compile a lowered module, and put its constants on the device.

    Args:
        module: the program.
        options: what the user asks of the engine.
        device: where it runs.
    """
    start = time.perf_counter()
    chosen = (options or runtime.CompileOptions()).over(module.options)
    on = device or runtime.default_device()
    executable, shared = _executable(module, chosen, on)
    seconds = time.perf_counter() - start
    return Program(
        executable=executable,
        consts=tuple(buffers_of(on, module.consts)),
        kept=module.kept,
        out_avals=module.out_avals,
        module=module,
        options=chosen,
        compile_seconds=seconds,
        shared=shared,
    )


def _executable(
    module: LoweredProgram, options: runtime.CompileOptions, device: runtime.Device
) -> tuple[runtime.Executable, bool]:
    """Compile a module, unless its text is that of an executable that is in use."""
    key = module.text, options, device, module.callbacks
    found = _executables.get(key)
    shared = found is not None
    if found is None:
        start = time.perf_counter()
        with PROGRESS.during(module.text, module.equations):
            found = runtime.compile(
                *(module.text, module.out_avals, options, device), module.callbacks
            )
        COUNTERS.compiles += 1
        COUNTERS.compile_seconds += time.perf_counter() - start
        COUNTERS.equations += module.equations
        found = _executables.setdefault(key, found)
    return found, shared


_executables: weakref.WeakValueDictionary[Any, runtime.Executable] = (
    weakref.WeakValueDictionary()
)
