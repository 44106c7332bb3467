"""Linearization: evaluate the primal now, stage the tangent program.

1. Each primitive runs its jvp rule on primals and tangent tracers.
2. A `SplitTrace` sends equations with a tangent tracer to the tangent program, and all
   others to the parent trace, which evaluates the primal.
3. The tangent program's constants are the residuals.
Reverse mode is this and a transpose. A control primitive splits its jaxprs instead, by its
`linearize` rule, which runs under the parent trace.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, final

from imprint._src import dtypes
from imprint._src.config import config
from imprint._src.core.aval import get_aval
from imprint._src.core.control import ControlPrimitive
from imprint._src.core.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    eval_jaxpr,
)
from imprint._src.core.primitive import Primitive
from imprint._src.core.tangents import Zero, is_zero, tangent_aval, zero_of
from imprint._src.core.trace import (
    Trace,
    current_trace,
    process_under,
    reset_trace,
    set_trace,
    tracing,
)
from imprint._src.interpreters.dce import dce_jaxpr, depending, used_invars
from imprint._src.interpreters.jvp import Mask, PrimalTracer, instantiated, mask_of
from imprint._src.interpreters.trace_to_jaxpr import (
    DebugInfo,
    JitTracer,
    StagingTrace,
    check_leaks_outside_jit,
    hoist_consts,
    pvary_operands,
    stage,
)
from imprint._src.primitives.core_ops import broadcast_in_dim_p
from imprint._src.tree.treedef import register_leaf


@final
class LinearizeTracer(PrimalTracer):
    """A primal and the tangent program's variable for its tangent."""

    __slots__ = ()


register_leaf(LinearizeTracer)


@final
class LinearizeTrace(Trace):
    """Evaluates primals under the parent trace and stages tangents."""

    __slots__ = ("name", "parent", "split", "tangent_trace")

    def __init__(self, parent: Trace | None, name: str) -> None:
        super().__init__()
        self.parent: Trace | None = parent
        self.name: str = name
        self.tangent_trace: StagingTrace = StagingTrace(DebugInfo("linearize", name))
        self.split: SplitTrace = SplitTrace(parent, self.tangent_trace)

    def new_arg(self, primal: Any) -> Any:
        """Return the tracer of an argument; integers have no tangent and stay known."""
        aval = tangent_aval(get_aval(primal))
        if aval.dtype == dtypes.float0:
            return primal
        return LinearizeTracer(self, primal, self.tangent_trace.new_arg(aval))

    def process(
        self, primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Evaluate the primal and stage the tangent of one primitive."""
        if self.is_checked:
            operands = pvary_operands(self, primitive, operands)
        for x in operands:
            if type(x) is LinearizeTracer and x.owner is self:
                break
        else:
            return process_under(self.parent, primitive, operands, params)
        primals, tangents = zip(*map(self.unpack, operands), strict=True)
        if type(primitive) is ControlPrimitive:
            with tracing(self.parent):
                outs, out_tangents = primitive.linearize(
                    self.tangent_trace, primals, tangents, **params
                )
        else:
            token = set_trace(self.split)
            try:
                outs, out_tangents = primitive.jvp(primals, tangents, **params)
            finally:
                reset_trace(token)
        return tuple(
            [
                out if type(t) is Zero else LinearizeTracer(self, out, t)
                for out, t in zip(outs, out_tangents, strict=True)
            ]
        )

    def unpack(self, x: Any) -> tuple[Any, Any]:
        """Return the primal and the tangent of a value."""
        if type(x) is LinearizeTracer and x.owner is self:
            return x.primal, x.tangent
        return x, zero_of(get_aval(x))

    def describe(self) -> str:
        """Describe the traced function."""
        return f"{self.name}, traced by grad"


@final
class SplitTrace(Trace):
    """Stages equations of tangents, runs all others under the parent trace."""

    __slots__ = ("parent", "tangent_trace")

    def __init__(self, parent: Trace | None, tangent_trace: StagingTrace) -> None:
        super().__init__()
        self.parent: Trace | None = parent
        self.tangent_trace: StagingTrace = tangent_trace

    def process(
        self, primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Send the primitive to the tangent program or to the parent."""
        tangent_trace = self.tangent_trace
        for x in operands:
            if type(x) is JitTracer and x.owner is tangent_trace:
                if type(primitive) is ControlPrimitive:
                    return self._process_mixed(primitive, operands, params)
                return tangent_trace.process(primitive, operands, params)
        return process_under(self.parent, primitive, operands, params)

    def _process_mixed(
        self,
        primitive: ControlPrimitive,
        operands: tuple[Any, ...],
        params: dict[str, Any],
    ) -> tuple[Any, ...]:
        """Split an equation between the tangent program and the parent.

        A user rule may call `jvp` of a function that holds one: primals and tangents are then
        results of one equation, and the primals are known.
        """
        tangent_trace = self.tangent_trace
        tangent = [type(x) is JitTracer and x.owner is tangent_trace for x in operands]
        count = len(primitive.out_avals(tuple(map(get_aval, operands)), params))
        moves = depending(primitive, params, tangent, count)
        if all(moves):
            return tangent_trace.process(primitive, operands, params)
        outs: dict[int, Any] = {}
        for of_tangent in (False, True):
            used = tuple([m is of_tangent for m in moves])
            if not any(used):
                continue
            left = primitive.dce(used, **params)
            taken = tuple(itertools.compress(operands, left.operands))
            trace = tangent_trace if of_tangent else self.parent
            found = process_under(trace, primitive, taken, left.params)
            places = itertools.compress(range(count), left.results)
            outs |= {i: x for i, x in zip(places, found, strict=True) if used[i]}
        return tuple([outs[i] for i in range(count)])

    def describe(self) -> str:
        """Describe the traced function."""
        return self.tangent_trace.describe()


class Linearized(NamedTuple):
    """The primal results and the tangent program.

    `tangent` takes the tangents of the inexact arguments; its consts are residuals.
    `nonzero` says which results have a tangent: only those are results of `tangent`.
    """

    outs: tuple[Any, ...]
    tangent: ClosedJaxpr
    nonzero: tuple[bool, ...]


def linearize_flat(
    fun: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    active: Sequence[bool] | None = None,
    name: str = "<function>",
    *,
    instantiate: Sequence[bool] | None = None,
) -> Linearized:
    """Evaluate `fun` on flat primals and stage its tangent program.

    Args:
        fun: takes and returns flat arrays.
        primals: the point.
        active: which primals get a tangent; all inexact ones by default.
        name: the name of the function in user code, for messages.
        instantiate: which results have a tangent even if it is zero; none by default.
    """
    trace = LinearizeTrace(current_trace(), name)
    active = [True] * len(primals) if active is None else active
    args = [
        trace.new_arg(p) if on else p for p, on in zip(primals, active, strict=True)
    ]
    try:
        with tracing(trace):
            outs = fun(*args)
        pairs = [trace.unpack(x) for x in outs]
        tangents = [t for _, t in pairs]
        if instantiate is not None:
            with tracing(trace.tangent_trace):
                tangents = instantiated(tangents, instantiate)
        tangent = trace.tangent_trace.finish([t for t in tangents if not is_zero(t)])
    finally:
        trace.ended = True
        trace.tangent_trace.ended = True
    if config.check_tracer_leaks:
        del args, outs
        check_leaks_outside_jit(trace)
    return Linearized(
        tuple(p for p, _ in pairs),
        tangent,
        tuple(not is_zero(t) for t in tangents),
    )


class LinearizedJaxpr(NamedTuple):
    """A jaxpr split in two: `primal(*args) -> (*outs, *others)`, and the tangent program.

    Args:
        primal: its other results are the residuals that are neither arguments nor results,
            each once.
        tangent: `(*residuals, *tangents) -> nonzero tangents out`.
        nonzero: which results have a tangent.
        residuals: where each residual is found, counted in `(*args, *outs, *others)`.
    """

    primal: ClosedJaxpr
    tangent: ClosedJaxpr
    nonzero: tuple[bool, ...]
    residuals: tuple[int, ...]

    def known(self, args: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        """Return the residuals, given arguments and results of `primal`."""
        values = [*args, *results]
        return [values[i] for i in self.residuals]


def linearize_jaxpr(
    closed: ClosedJaxpr, active: tuple[bool, ...], *, instantiate: Mask = False
) -> LinearizedJaxpr:
    """Split a jaxpr into its primal and its tangent program.

    Args:
        closed: the jaxpr.
        active: which arguments have a tangent.
        instantiate: which results have one even if it is zero.
    """
    demanded = mask_of(instantiate, closed.out_avals)

    def derive() -> LinearizedJaxpr:
        found: list[tuple[Linearized, list[int]]] = []

        def run(*args: Any) -> list[Any]:
            lin = linearize_flat(
                lambda *xs: eval_jaxpr(closed.jaxpr, closed.consts, *xs),
                args,
                active,
                instantiate=demanded,
            )
            lin = lin._replace(tangent=_without_unused(lin.tangent))
            values = [*args, *lin.outs]
            place = {id(x): i for i, x in reversed([*enumerate(values)])}
            for x in lin.tangent.consts:
                if id(x) not in place:
                    place[id(x)] = len(values)
                    values.append(x)
            found.append((lin, [place[id(x)] for x in lin.tangent.consts]))
            return values[len(args) :]

        debug_info = DebugInfo("linearize", closed.jaxpr.name)
        primal = stage(run, closed.in_avals, debug_info)
        ((lin, residuals),) = found
        tangent = hoist_consts(lin.tangent)
        whole = LinearizedJaxpr(primal, tangent, lin.nonzero, tuple(residuals))
        return _without_repeats(whole)

    return closed.derived(("linearize", active, demanded), derive)


def _without_repeats(lin: LinearizedJaxpr) -> LinearizedJaxpr:
    """Save operands of broadcasts as residuals; the tangent program repeats these."""
    old, tangent = lin.primal.jaxpr, lin.tangent.jaxpr
    count = len(old.invars) + len(lin.nonzero)
    values = [*old.invars, *old.outvars]
    residuals, args = (
        tangent.invars[: len(lin.residuals)],
        tangent.invars[len(lin.residuals) :],
    )
    made: dict[Atom, Eqn] = {
        v: e for e in old.eqns if e.primitive is broadcast_in_dim_p for v in e.outvars
    }
    pairs = [
        (var, values[at], made.get(values[at]) if at >= count else None)
        for var, at in zip(residuals, lin.residuals, strict=True)
    ]
    if not any(eqn for _, _, eqn in pairs):
        return lin
    wanted: dict[Atom, Var] = {atom: var for var, atom, eqn in pairs if eqn is None}
    repeats: list[Eqn] = []
    for var, _, eqn in pairs:
        if eqn is not None:
            (x,) = eqn.invars
            source = x if isinstance(x, Literal) else wanted.setdefault(x, Var(x.aval))
            repeats.append(Eqn([source], [var], eqn.primitive, eqn.params, eqn.source))
    place = {id(x): i for i, x in reversed([*enumerate(values[:count])])}
    others = [x for x in wanted if id(x) not in place]
    place |= {id(x): count + i for i, x in enumerate(others)}
    outs = (*old.outvars[: len(lin.nonzero)], *others)
    primal = Jaxpr(old.constvars, old.invars, outs, old.eqns, old.name)
    linear = Jaxpr(
        (),
        (*wanted.values(), *args),
        tangent.outvars,
        (*repeats, *tangent.eqns),
        tangent.name,
    )
    return LinearizedJaxpr(
        ClosedJaxpr(primal, lin.primal.consts),
        ClosedJaxpr(linear),
        lin.nonzero,
        tuple(place[id(x)] for x in wanted),
    )


def _without_unused(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Drop dead code and unused constants."""
    count = len(closed.consts)
    jaxpr = dce_jaxpr(hoist_consts(closed).jaxpr)
    used = used_invars(jaxpr)[:count]
    constvars = [v for v, u in zip(jaxpr.invars[:count], used, strict=True) if u]
    consts = [x for x, u in zip(closed.consts, used, strict=True) if u]
    args = jaxpr.invars[count:]
    kept = Jaxpr(constvars, args, jaxpr.outvars, jaxpr.eqns, jaxpr.name)
    return ClosedJaxpr(kept, consts)
