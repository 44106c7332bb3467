"""From a jaxpr to something that runs: prune, hoist, lower, compile.

1. Equations and arguments that no result needs are dropped (`keep_unused` keeps the
   arguments); `kept` lists the arguments that the executable takes.
2. The jaxpr's constants become leading arguments, put on the device once.
3. The rest is lowered to StableHLO and compiled by the engine.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from imprint import runtime
from imprint.core.aval import ShapedArray
from imprint.core.jaxpr import ClosedJaxpr, Jaxpr
from imprint.transforms.dce import dce_jaxpr, used_invars
from imprint.transforms.lowering import lower_jaxpr
from imprint.transforms.staging import hoist_consts


@dataclass(frozen=True, slots=True)
class Module:
    """A lowered program.

    Args:
        text: StableHLO.
        consts: values of its leading arguments.
        kept: positions of the jaxpr's arguments that follow them.
        in_avals: the avals of the executable's arguments.
        out_avals: the avals of its results.
        seconds: what lowering took.
    """

    text: str
    consts: tuple[Any, ...]
    kept: tuple[int, ...]
    in_avals: tuple[ShapedArray, ...]
    out_avals: tuple[ShapedArray, ...]
    seconds: float


def lower(closed: ClosedJaxpr, name: str, *, keep_unused: bool = False) -> Module:
    """Lower a closed jaxpr to the StableHLO module `name`."""
    start = time.perf_counter()
    jaxpr = dce_jaxpr(hoist_consts(closed).jaxpr)
    used = used_invars(jaxpr)
    count = len(closed.consts)
    kept = tuple(i for i, u in enumerate(used[count:]) if u or keep_unused)
    consts = tuple(c for c, u in zip(closed.consts, used[:count], strict=True) if u)
    invars = [v for v, u in zip(jaxpr.invars[:count], used, strict=False) if u]
    invars += [jaxpr.invars[count + i] for i in kept]
    pruned = Jaxpr((), invars, jaxpr.outvars, jaxpr.eqns, jaxpr.name)
    text = lower_jaxpr(pruned, name)
    return Module(
        text,
        consts,
        kept,
        tuple(v.aval for v in invars),
        closed.out_avals,
        time.perf_counter() - start,
    )


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled program.

    Args:
        executable: what the engine runs.
        consts: buffers of its leading arguments.
        kept: positions of the jaxpr's arguments that it takes after them.
        out_avals: the avals of its results.
        module: what it was compiled from.
        compile_seconds: what that took.
    """

    executable: runtime.Executable
    consts: tuple[runtime.Buffer, ...]
    kept: tuple[int, ...]
    out_avals: tuple[ShapedArray, ...]
    module: Module
    compile_seconds: float

    def host_call(self) -> runtime.HostCall:
        """Return the way to execute on buffers and host values mixed."""
        return runtime.host_call(self.executable, self.module.in_avals)

    def run(self, buffers: list[runtime.Buffer]) -> list[runtime.Buffer]:
        """Execute on the buffers of the kept arguments."""
        return self.executable.run([*self.consts, *buffers])


def compile_module(
    module: Module, to_buffers: Callable[[Sequence[Any]], list[runtime.Buffer]]
) -> Program:
    """Compile a lowered module; `to_buffers` puts its constants on the device."""
    start = time.perf_counter()
    executable = runtime.compile(
        module.text, module.out_avals, runtime.CompileOptions()
    )
    seconds = time.perf_counter() - start
    consts = tuple(to_buffers(module.consts))
    return Program(executable, consts, module.kept, module.out_avals, module, seconds)


def compile_closed(
    closed: ClosedJaxpr,
    name: str,
    to_buffers: Callable[[Sequence[Any]], list[runtime.Buffer]],
) -> Program:
    """Lower and compile a closed jaxpr."""
    return compile_module(lower(closed, name), to_buffers)
