"""Staging: run a function on tracers and record its equations as a jaxpr.

Every primitive is recorded, even with known operands, so the jaxpr is the whole program.
Rank-0 constants become literals; every other value from outside (a captured array, a tracer
of an enclosing trace) becomes a constvar. In a jaxpr that a user asks for, so does an array
of rank 0. `process` is a hot path: one call per equation.
"""

import weakref
from collections.abc import Callable, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any, Final, final

import numpy as np

from imprint._src.config import config
from imprint._src.core.array import OPERANDS, NumberArray, plain
from imprint._src.core.aval import NO_AXES, ShapedArray, get_aval
from imprint._src.core.control import ControlPrimitive
from imprint._src.core.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    check_jaxpr,
)
from imprint._src.core.primitive import Primitive
from imprint._src.core.scopes import outside_scopes
from imprint._src.core.trace import (
    Trace,
    Tracer,
    check_alive,
    current_trace,
    process_under,
    tracing,
)
from imprint._src.core.tracer_leaks import check_leaks
from imprint._src.diagnostics.source import (
    Source,
    called_source,
    current_source,
    replayed_source,
)
from imprint._src.tree.treedef import register_leaf


@final
class DebugInfo:
    """The staged function, for messages: the transform, its name, its arguments.

    `site` is where the user function was traced; None while internal code runs. `ended`
    are the traces of it and of the functions it calls, with `check_tracer_leaks`.
    `is_body` says that the function is a branch or a step: its arguments are all traced.
    """

    __slots__ = ("arg_names", "ended", "is_body", "name", "site", "transform")

    def __init__(
        self,
        transform: str,
        name: str,
        arg_names: Sequence[str] = (),
        site: Source | None = None,
        *,
        is_body: bool = False,
    ) -> None:
        self.is_body: bool = is_body
        self.transform: str = transform
        self.name: str = name
        self.arg_names: Sequence[str] = arg_names
        self.site: Source | None = site
        self.ended: list[weakref.ref[Trace]] = []

    def __str__(self) -> str:
        site = f" at {self.site}" if self.site is not None else ""
        return f"{self.name}, traced by {self.transform}{site}"


@final
class JitTracer(Tracer):
    """A variable of the jaxpr that is being written."""

    __slots__ = ("variable",)

    def __init__(self, trace: "StagingTrace", var: Var) -> None:
        self.owner: Trace = trace
        self.variable: Var = var
        self.aval: ShapedArray = var.aval

    def origin(self) -> Source | None:
        """Return the place that made this tracer; None for an argument."""
        eqn = self._staging().producer(self.variable)
        return None if eqn is None else eqn.source

    def provenance(self) -> str:
        """Say which arguments this tracer depends on."""
        return self._staging().provenance(self.variable)

    def _staging(self) -> "StagingTrace":
        assert isinstance(self.owner, StagingTrace)
        return self.owner


register_leaf(JitTracer)


@final
class StagingTrace(Trace):
    """Writes a jaxpr."""

    __slots__ = (
        *("_until_note", "captured", "constvars", "debug_info", "eqns", "invars"),
        "keeps_arrays",
    )
    stages = True

    def __init__(self, debug_info: DebugInfo) -> None:
        super().__init__()
        self.debug_info: DebugInfo = debug_info
        self.invars: list[Var] = []
        self.eqns: list[Eqn] = []
        self.constvars: dict[int, Var] = {}
        self.captured: list[Any] = []
        self._until_note: int = _NOTED + 1
        # An array stays a constant, whatever its rank, in the jaxpr that a user asks for.
        self.keeps_arrays: bool = debug_info.transform == "make_jaxpr"
        if debug_info.is_body:
            outer = _staging_around(current_trace())
            self.keeps_arrays = outer is not None and outer.keeps_arrays

    @property
    def evaluates(self) -> bool:
        """Whether its equations are only evaluated by references."""
        return self.debug_info.transform == "fuse_eager"

    def new_arg(self, aval: ShapedArray) -> JitTracer:
        """Return the tracer of a further argument."""
        var = Var(aval.unplaced())
        self.invars.append(var)
        return JitTracer(self, var)

    def process(
        self,
        primitive: Primitive,
        operands: tuple[Any, ...],
        params: dict[str, Any],
    ) -> tuple[Any, ...]:
        """Record one equation."""
        if self.is_checked:
            operands = pvary_operands(self, primitive, operands)
        invars = [
            x.variable if type(x) is JitTracer and x.owner is self else self.atom(x)
            for x in operands
        ]
        avals = primitive.out_avals(tuple(map(_aval_of, invars)), params)
        outvars = [*map(Var, avals)]
        outs = tuple(map(JitTracer, repeat(self), outvars))
        source = current_source()
        self._until_note -= 1
        if not self._until_note:
            source = self._called(source)
        self.eqns.append(Eqn(invars, outvars, primitive, params, source))
        return outs

    def _called(self, source: Source | None) -> Source | None:
        """Record now and then from where a line is reached: it takes 5 us.

        That identifies the iteration of a user loop where equations repeat.
        """
        self._until_note = max(_NOTED, len(self.eqns) // 8)
        if source is None or isinstance(replayed_source(), Source):
            return source
        return called_source(source, __file__)

    def atom(self, x: Any) -> Atom:
        """Return the var or literal of a value in this jaxpr."""
        if isinstance(x, Tracer):
            if isinstance(x, JitTracer) and x.owner is self:
                return x.variable
            check_alive(x)
            return self._constvar(x)
        aval = get_aval(x).unplaced()
        if aval.ndim == 0 and not (self.keeps_arrays and isinstance(x, NumberArray)):
            return Literal(x if x.__class__ in OPERANDS else plain(x), aval)
        return self._constvar(x)

    def _constvar(self, x: Any) -> Var:
        var = self.constvars.get(id(x))
        if var is None:
            var = self.constvars[id(x)] = Var(get_aval(x).unplaced())
            private = np.array(x) if type(x) is np.ndarray else self._alias(x)
            self.captured.append((private, x))  # x too: its id must stay taken
        return var

    def _alias(self, x: Any) -> Any:
        if not isinstance(x, NumberArray):
            return x
        is_users = self.debug_info.site is not None
        return x.__imprint_alias__(follows=is_users)

    def finish(self, outs: Sequence[Any]) -> ClosedJaxpr:
        """End the trace and return its jaxpr, closed over the captured values."""
        outvars = [self.atom(x) for x in outs]
        self.ended = True
        jaxpr = Jaxpr(
            tuple(self.constvars.values()),
            self.invars,
            outvars,
            self.eqns,
            self.debug_info.name,
        )
        closed = ClosedJaxpr(jaxpr, [private for private, _ in self.captured])
        if config.enable_checks:
            check_jaxpr(jaxpr)
        return closed

    # ---- for messages ----

    def describe(self) -> str:
        """Describe the traced function."""
        return str(self.debug_info)

    def static_advice(self) -> str:
        """Say how an argument stays a Python value."""
        if self.debug_info.transform == "filter_jit":
            return "pass a number and no array: filter_jit holds numbers static"
        if self.debug_info.transform == "eval_shape":
            return "close over it: lambda x: f(x, value)"
        if self.debug_info.is_body:
            return "close over a value that is one of Python's outside already"
        return super().static_advice()

    def producer(self, var: Var) -> Eqn | None:
        """Return the equation that made `var`."""
        return next((e for e in reversed(self.eqns) if var in e.outvars), None)

    def provenance(self, var: Var) -> str:
        """Say which arguments `var` is or depends on."""
        needed = {var}
        for eqn in reversed(self.eqns):
            if not needed.isdisjoint(eqn.outvars):
                needed.update(v for v in eqn.invars if isinstance(v, Var))
        names = [
            self.debug_info.arg_names[i]
            if i < len(self.debug_info.arg_names)
            else str(i)
            for i, v in enumerate(self.invars)
            if v in needed
        ]
        if var in self.invars and names:
            return f"It is argument {names[0]} of {self.describe()}."
        if names:
            word = "argument" if len(names) == 1 else "arguments"
            return f"It depends on {word} {', '.join(names)} of {self.describe()}."
        pairs = zip(self.constvars.values(), self.captured, strict=True)
        for constvar, (_, origin) in pairs:
            if constvar in needed and isinstance(origin, Tracer):
                told = origin.provenance()
                return told if constvar is var else told.replace(*_DEPENDS, 1)
        return f"No argument determines it; it was made in {self.describe()}."


_aval_of: Final[Callable[[Atom], ShapedArray]] = attrgetter("aval")
_DEPENDS: Final = "It is argument", "It depends on argument"


def stage(
    fun: Callable[..., Sequence[Any]],
    in_avals: Sequence[ShapedArray],
    debug_info: DebugInfo,
) -> ClosedJaxpr:
    """Trace `fun`, which takes and returns flat arrays, to a jaxpr.

    The constants of the result may be tracers of an enclosing trace: the caller passes
    them on as operands (`close_over`) or hands them to an evaluation under that trace.
    """
    return stage_with_origins(fun, in_avals, debug_info)[0]


def stage_with_origins(
    fun: Callable[..., Sequence[Any]],
    in_avals: Sequence[ShapedArray],
    debug_info: DebugInfo,
) -> tuple[ClosedJaxpr, list[Any]]:
    """Trace as `stage` does; also return the objects that became constants."""
    trace = StagingTrace(debug_info)
    try:
        with tracing(trace), outside_scopes():
            closed = trace.finish(fun(*map(trace.new_arg, in_avals)))
    finally:
        trace.ended = True
    if config.check_tracer_leaks and debug_info.site is not None:
        # Weak, as a trace refers to the tracers that it captured.
        debug_info.ended.append(weakref.ref(trace))
    return closed, [origin for _, origin in trace.captured]


_NOTED: Final = 127
"""One of so many equations is noted; prime, so that it is another one of each block."""


def check_leaks_of(debug_info: DebugInfo) -> None:
    """Check for leaked tracers of a staged function after its dependencies were recorded.

    Recording a function keeps the tracers that it reached alive. So staged functions that
    it calls are checked together with it.
    """
    outer = _staging_around(current_trace())
    if outer is not None:
        outer.debug_info.ended += debug_info.ended
        return
    for ended in debug_info.ended:
        trace = ended()
        if trace is not None:
            check_leaks(trace)


def check_leaks_outside_jit(trace: Any) -> None:
    """Look for leaked tracers of a trace that has a parent, unless a jaxpr is staged.

    Then a leaked one refers to a tracer of the jaxpr, which is found.
    """
    if _staging_around(trace.parent) is None:
        check_leaks(trace)


def is_staging() -> bool:
    """Return whether the current code is staged into a jaxpr."""
    return _staging_around(current_trace()) is not None


def _staging_around(trace: Any) -> StagingTrace | None:
    while trace is not None and not isinstance(trace, StagingTrace):
        trace = trace.parent
    return trace


def hoist_consts(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Make constants leading arguments, so that the jaxpr has none."""
    if not closed.consts:
        return closed
    jaxpr = closed.jaxpr
    return ClosedJaxpr(
        Jaxpr((), jaxpr.constvars + jaxpr.invars, jaxpr.outvars, jaxpr.eqns, jaxpr.name)
    )


def lift_scalars(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Make captured arrays of rank 0, which staging writes as literals, constants too."""
    found: dict[int, tuple[Var, Any]] = {}

    def lifted(atom: Atom) -> Atom:
        if isinstance(atom, Literal) and isinstance(atom.value, NumberArray):
            new = Var(atom.aval), atom.value
            return found.setdefault(id(atom.value), new)[0]
        return atom

    old = closed.jaxpr
    eqns = [
        Eqn([*map(lifted, e.invars)], e.outvars, e.primitive, e.params, e.source)
        for e in old.eqns
    ]
    outvars = [*map(lifted, old.outvars)]
    constvars = (*old.constvars, *(var for var, _ in found.values()))
    consts = [*closed.consts, *(value for _, value in found.values())]
    return ClosedJaxpr(Jaxpr(constvars, old.invars, outvars, eqns, old.name), consts)


def pvary_operands(
    trace: Trace, primitive: Primitive, operands: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return operands that differ along the same axes of a mesh, inside `shard_map`.

    A replicated operand used with a varying one becomes varying (`pvary`), so that its
    cotangent is the sum over the devices. Constants stay: they have no cotangent.
    """
    if len(operands) < 2 or type(primitive) is ControlPrimitive:
        return operands
    vmas = [get_aval(x).vma for x in operands]
    axes = NO_AXES.union(*vmas)
    if not axes:
        return operands
    from imprint._src.primitives.collectives import pvary_p  # noqa: PLC0415 - 5 ms of an import

    found = list(operands)
    for i, (x, own) in enumerate(zip(operands, vmas, strict=True)):
        if isinstance(x, Tracer):
            for axis in sorted(axes - own):
                params = {"axis_name": axis}
                (found[i],) = process_under(trace, pvary_p, (found[i],), params)
    return tuple(found)
