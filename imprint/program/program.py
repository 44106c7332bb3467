"""From a jaxpr to something that runs: prune, hoist, lower, compile.

1. Equations and arguments that no result needs are dropped (`keep_unused` keeps the
   arguments); `kept` lists the arguments that the executable takes.
2. The jaxpr's constants become leading arguments, put on the device once.
3. The rest is lowered to StableHLO and compiled by the engine.
"""

import re
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from imprint import runtime
from imprint.core.aval import ShapedArray
from imprint.core.jaxpr import ClosedJaxpr, Jaxpr, subjaxprs
from imprint.passes.dce import dce_jaxpr, used_invars
from imprint.program.counters import COUNTERS
from imprint.program.progress import PROGRESS
from imprint.transforms.lowering import lower_jaxpr
from imprint.transforms.staging import hoist_consts


class LoweredProgram(NamedTuple):
    """A lowered program.

    Args:
        text: StableHLO.
        consts: values of its leading arguments.
        kept: positions of the jaxpr's arguments that follow them.
        in_avals: the avals of the executable's arguments.
        donated: positions of the jaxpr's arguments whose memory a result takes.
        unusable: donated positions that no result can take, and why.
        out_avals: the avals of its results.
        equations: how many were lowered; those of a shared call count once.
        seconds: what lowering took.
    """

    text: str
    consts: tuple[Any, ...]
    kept: tuple[int, ...]
    in_avals: tuple[ShapedArray, ...]
    out_avals: tuple[ShapedArray, ...]
    donated: tuple[int, ...]
    unusable: tuple[tuple[int, str], ...]
    equations: int
    seconds: float

    @property
    def plain_text(self) -> str:
        """The text without the user's source lines."""
        return _LOCATION.sub("", self.text)


_LOCATION = re.compile(r" loc\(#loc\d+\)|^#loc\d+ = .*\n", re.MULTILINE)

Donation = frozenset[int]
"""Positions of the jaxpr's arguments whose memory the results may take."""


def lower(
    closed: ClosedJaxpr,
    name: str,
    *,
    keep_unused: bool = False,
    donated: Donation = frozenset(),
) -> LoweredProgram:
    """Lower a closed jaxpr to the StableHLO module `name`.

    Args:
        closed: the program.
        name: the module's name.
        keep_unused: whether arguments that no result needs are kept.
        donated: arguments whose memory the results may take.
    """
    start = time.perf_counter()
    COUNTERS.lowerings += 1
    jaxpr = dce_jaxpr(hoist_consts(closed).jaxpr)
    used = used_invars(jaxpr)
    count = len(closed.consts)
    kept = tuple(i for i, u in enumerate(used[count:]) if u or keep_unused)
    consts = tuple(c for c, u in zip(closed.consts, used[:count], strict=True) if u)
    invars = [v for v, u in zip(jaxpr.invars[:count], used[:count], strict=True) if u]
    invars += [jaxpr.invars[count + i] for i in kept]
    pruned = Jaxpr((), invars, jaxpr.outvars, jaxpr.eqns, jaxpr.name)
    aliases, unusable = _match_donated(closed, kept, donated)
    offset = len(consts)
    attrs = {
        offset + kept.index(i): f" {{tf.aliasing_output = {k} : i32}}"
        for i, k in aliases.items()
    }
    text = lower_jaxpr(pruned, name, arg_attrs=attrs)
    return LoweredProgram(
        text=text,
        consts=consts,
        kept=kept,
        in_avals=tuple(v.aval for v in invars),
        out_avals=closed.out_avals,
        donated=tuple(sorted(aliases)),
        unusable=unusable,
        equations=_count_equations(jaxpr, set()),
        seconds=time.perf_counter() - start,
    )


def _count_equations(jaxpr: Jaxpr, seen: set[int]) -> int:
    count = len(jaxpr.eqns)
    for eqn in jaxpr.eqns:
        for part in subjaxprs(eqn):
            if id(part) not in seen:
                seen.add(id(part))
                count += _count_equations(part.jaxpr, seen)
    return count


def _match_donated(
    closed: ClosedJaxpr, kept: tuple[int, ...], donated: Donation
) -> tuple[dict[int, int], tuple[tuple[int, str], ...]]:
    """Give each donated argument a result of its shape and dtype, and say who has none."""
    free = dict(enumerate(closed.out_avals))
    aliases: dict[int, int] = {}
    unusable: list[tuple[int, str]] = []
    for i in sorted(donated):
        aval = closed.in_avals[i]
        fits = [
            k
            for k, out in free.items()
            if out.shape == aval.shape and out.dtype == aval.dtype
        ]
        if i not in kept:
            unusable.append((i, "the function does not use it"))
        elif not fits:
            unusable.append((i, f"no result left of {aval.strong()}"))
        else:
            aliases[i] = fits[0]
            del free[fits[0]]
    return aliases, tuple(unusable)


class Program(NamedTuple):
    """A compiled program.

    Args:
        executable: what the engine runs.
        consts: buffers of its leading arguments.
        kept: positions of the jaxpr's arguments that it takes after them.
        out_avals: the avals of its results.
        module: what it was compiled from.
        compile_seconds: what that took.
        shared: whether another program of equal text was compiled before.
    """

    executable: runtime.Executable
    consts: tuple[runtime.Buffer, ...]
    kept: tuple[int, ...]
    out_avals: tuple[ShapedArray, ...]
    module: LoweredProgram
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
    to_buffers: Callable[[Sequence[Any]], list[runtime.Buffer]],
    options: runtime.CompileOptions | None = None,
    device: runtime.Device | None = None,
) -> Program:
    """Compile a lowered module; `to_buffers` puts its constants on the device."""
    start = time.perf_counter()
    chosen = options or runtime.CompileOptions()
    executable, shared = _executable(module, chosen, device or runtime.default_device())
    seconds = time.perf_counter() - start
    consts = tuple(to_buffers(module.consts))
    return Program(
        *(executable, consts, module.kept, module.out_avals, module, seconds, shared)
    )


def _executable(
    module: LoweredProgram, options: runtime.CompileOptions, device: runtime.Device
) -> tuple[runtime.Executable, bool]:
    """Compile a module, unless its text is that of an executable that is in use.

    Calls that differ in weak types only (`x = f(x)` from a Python scalar) have the same
    program, so the second costs a trace and no compilation.
    """
    key = module.text, options.effective(), device
    found = _executables.get(key)
    shared = found is not None
    if found is None:
        start = time.perf_counter()
        with PROGRESS.during(module.text, module.equations):
            found = runtime.compile(module.text, module.out_avals, options, device)
        COUNTERS.compiles += 1
        COUNTERS.compile_seconds += time.perf_counter() - start
        COUNTERS.equations += module.equations
        found = _executables.setdefault(key, found)
    return found, shared


_executables: weakref.WeakValueDictionary[Any, runtime.Executable] = (
    weakref.WeakValueDictionary()
)


def compile_closed(
    closed: ClosedJaxpr,
    name: str,
    to_buffers: Callable[[Sequence[Any]], list[runtime.Buffer]],
) -> Program:
    """Lower and compile a closed jaxpr."""
    return compile_module(lower(closed, name), to_buffers)
