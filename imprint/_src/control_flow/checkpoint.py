"""Rematerialization: a part of a program that saves its arguments, and little else.

Under reverse mode, a `checkpoint` equation saves its operands as residuals, and values that
its policy selects; the rest is recomputed next to the tangents. The recomputation is behind
an optimization barrier (`differentiated`), or XLA would merge both computations. Equations
with effects are never recomputed: their results are saved.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, cast

from imprint._src.control_flow.call import (
    applied_aval,
    applied_eager,
    applied_reference,
    jvp_by,
    transpose_by,
)
from imprint._src.core.control import ControlPrimitive, Narrowed, Unit, Watched
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Var, eval_jaxpr
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Dims, Values
from imprint._src.core.tangents import UndefinedPrimal, is_zero
from imprint._src.interpreters.batching import batch_jaxpr, hidden_size
from imprint._src.interpreters.dce import narrow
from imprint._src.interpreters.jvp import merge_zeros
from imprint._src.interpreters.linearize import LinearizedJaxpr, linearize_jaxpr
from imprint._src.interpreters.lowering import lower_inline
from imprint._src.interpreters.trace_to_jaxpr import (
    DebugInfo,
    StagingTrace,
    hoist_consts,
    stage,
)
from imprint._src.stablehlo import Builder, Value

Policy = Callable[[Sequence[Eqn]], Sequence[bool]] | None
PreventCse = bool | tuple[bool, ...]
"""The same for all operands, or one for each."""


def checkpoint_call(
    closed: ClosedJaxpr, args: Sequence[Any], policy: Policy, prevent_cse: PreventCse
) -> Values:
    """Bind a call of `closed` that saves few residuals.

    Args:
        closed: the program; its constants become leading operands.
        args: its arguments.
        policy: selects equations whose results are also saved; None for none.
        prevent_cse: whether the recomputation waits for the arguments.
    """
    params = {"policy": policy, "differentiated": False}
    return _bind(closed, args, prevent_cse=prevent_cse, **params)


def _bind(
    closed: ClosedJaxpr, args: Sequence[Any], *, prevent_cse: PreventCse, **params: Any
) -> Values:
    hoisted = closed.derived("hoisted", lambda: hoist_consts(closed))
    if isinstance(prevent_cse, tuple):
        prevent_cse = (False,) * len(closed.consts) + prevent_cse
    operands = *closed.consts, *args
    return checkpoint_p.bind_all(
        *operands, jaxpr=hoisted, prevent_cse=prevent_cse, **params
    )


def _longer(prevent_cse: PreventCse, more: int) -> PreventCse:
    """Extend `prevent_cse` to more operands: tangents or cotangents."""
    return (
        prevent_cse + (True,) * more if isinstance(prevent_cse, tuple) else prevent_cse
    )


def _where(prevent_cse: PreventCse, kept: Iterable[bool]) -> PreventCse:
    """Restrict `prevent_cse` to some of the operands."""
    if isinstance(prevent_cse, bool):
        return prevent_cse
    return tuple(on for on, k in zip(prevent_cse, kept, strict=True) if k)


def _lower(
    b: Builder,
    *values: Value,
    jaxpr: ClosedJaxpr,
    policy: Policy,
    prevent_cse: PreventCse,
    differentiated: bool,
) -> tuple[Value, ...]:
    if isinstance(prevent_cse, bool):
        prevent_cse = (prevent_cse,) * len(values)
    if differentiated and any(prevent_cse):
        pairs = list(zip(values, prevent_cse, strict=True))
        behind = iter(b.optimization_barrier([v for v, on in pairs if on]))
        values = tuple(next(behind) if on else v for v, on in pairs)
    return tuple(lower_inline(b, jaxpr.jaxpr, values))


# ---- derivatives ----


def _jvp(
    primals: Values,
    tangents: Values,
    *,
    jaxpr: ClosedJaxpr,
    prevent_cse: PreventCse,
    **params: Any,
) -> tuple[Values, Values]:
    def bind(derived: ClosedJaxpr, operands: Sequence[Any]) -> Values:
        longer = _longer(prevent_cse, len(operands) - len(primals))
        return _bind(derived, operands, prevent_cse=longer, **params)

    return jvp_by(bind, primals, tangents, jaxpr)


def _linearize(
    tangent_trace: StagingTrace,
    primals: Values,
    tangents: Values,
    *,
    jaxpr: ClosedJaxpr,
    prevent_cse: PreventCse,
    **params: Any,
) -> tuple[Values, Values]:
    active = tuple(not is_zero(t) for t in tangents)
    lin, consts = _split(jaxpr, active, params["policy"])
    count = len(jaxpr.out_avals)
    primals = (*consts, *primals)
    if isinstance(prevent_cse, tuple):
        prevent_cse = (False,) * len(consts) + prevent_cse
    results = checkpoint_p.bind_all(
        *primals, jaxpr=lin.primal, prevent_cse=prevent_cse, **params
    )
    given = [t for t in tangents if not is_zero(t)]
    out_tangents: Values = ()
    if lin.tangent.eqns or any(lin.nonzero):
        if isinstance(prevent_cse, tuple):
            every = _longer(prevent_cse, len(results))
            prevent_cse = tuple(cast("Any", every)[i] for i in lin.residuals)
        out_tangents = tangent_trace.process(
            checkpoint_p,
            (*lin.known(primals, results), *given),
            {
                **params,
                "jaxpr": lin.tangent,
                "prevent_cse": _longer(prevent_cse, len(given)),
                "differentiated": True,
            },
        )
    return results[:count], merge_zeros(jaxpr.out_avals, lin.nonzero, out_tangents)


def _split(
    jaxpr: ClosedJaxpr, active: tuple[bool, ...], policy: Policy
) -> tuple[LinearizedJaxpr, tuple[Any, ...]]:
    """Split a jaxpr so that its tangent program recomputes all that is not saved.

    Constants that user rules captured are leading arguments of both programs.
    """

    def derive() -> tuple[LinearizedJaxpr, tuple[Any, ...]]:
        lin = linearize_jaxpr(jaxpr, active)
        consts = lin.primal.consts
        closed = hoist_consts(lin.primal)
        closed = closed if policy is None else _without_calls(closed)
        primal = closed.jaxpr
        values = [*primal.invars[len(consts) :], *primal.outvars]
        wanted = [values[i] for i in lin.residuals]
        made = [v for eqn in _saved(primal.eqns, policy) for v in eqn.outvars]
        again, needed = _slice(primal.eqns, wanted, {*made})
        outs = primal.outvars[: len(jaxpr.out_avals)]
        extra = [v for v in made if v in needed and v not in outs]
        residuals = [v for v in (*primal.invars, *made) if v in needed]
        places = [*primal.invars, *outs, *extra]
        split = LinearizedJaxpr(
            _with_results(primal, (*outs, *extra)),
            _after(Jaxpr((), residuals, wanted, again), lin.tangent),
            lin.nonzero,
            tuple(places.index(v) for v in residuals),
        )
        return split, tuple(consts)

    return jaxpr.derived(("checkpoint", active, policy), derive)


def _with_results(primal: Jaxpr, outs: tuple[Atom, ...]) -> ClosedJaxpr:
    """Return the primal program with these results and their dependencies.

    It is not the jaxpr itself: if the jaxpr has a user rule, the rule's forward function
    is differentiated further.
    """
    whole = Jaxpr((), primal.invars, outs, primal.eqns, primal.name)
    used, every = (True,) * len(outs), (True,) * len(primal.invars)
    return narrow(ClosedJaxpr(whole), used, keep=every)[0]


def _after(recomputed: Jaxpr, tangent: ClosedJaxpr) -> ClosedJaxpr:
    """Return the tangent program after the computation of its residuals."""
    count = len(recomputed.invars)

    def run(*xs: Any) -> list[Any]:
        residuals = eval_jaxpr(recomputed, (), *xs[:count])
        return eval_jaxpr(tangent.jaxpr, (), *residuals, *xs[count:])

    known = [v.aval for v in recomputed.invars]
    avals = [*known, *tangent.in_avals[len(recomputed.outvars) :]]
    return hoist_consts(stage(run, avals, DebugInfo("checkpoint", tangent.jaxpr.name)))


def _saved(eqns: Sequence[Eqn], policy: Policy) -> list[Eqn]:
    asked = [eqn for eqn in eqns if not eqn.effects]
    found = [False] * len(asked) if policy is None else policy(asked)
    answers = iter(found)
    return [eqn for eqn in eqns if eqn.effects or next(answers)]


def _slice(
    eqns: Sequence[Eqn], wanted: Iterable[Atom], saved: set[Var]
) -> tuple[list[Eqn], set[Atom]]:
    """Return the equations that compute `wanted` from `saved`, and the values they use."""
    needed: set[Atom] = {*wanted}
    found: list[Eqn] = []
    for eqn in reversed(eqns):
        if any(v in needed and v not in saved for v in eqn.outvars):
            found.append(eqn)
            needed.update(v for v in eqn.invars if isinstance(v, Var))
    found.reverse()
    return found, needed


def _without_calls(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Inline nested calls of a jaxpr, so that a policy sees their equations."""
    if not any(eqn.primitive.is_call for eqn in closed.eqns):
        return closed
    debug_info = DebugInfo("checkpoint", closed.jaxpr.name)
    return stage(lambda *xs: _dissolved(closed.jaxpr, xs), closed.in_avals, debug_info)


def _dissolved(jaxpr: Jaxpr, args: Sequence[Any]) -> list[Any]:
    env: dict[Atom, Any] = dict(zip(jaxpr.invars, args, strict=True))

    def read(atom: Atom) -> Any:
        return env[atom] if isinstance(atom, Var) else atom.read()

    for eqn in jaxpr.eqns:
        operands = [read(v) for v in eqn.invars]
        if eqn.primitive.is_call:
            (inner,) = eqn.primitive.jaxprs(eqn.params)
            results = _dissolved(inner.jaxpr, operands)
        else:
            results = eqn.primitive.bind_all(*operands, **eqn.params)
        env.update(zip(eqn.outvars, results, strict=True))
    return [read(v) for v in jaxpr.outvars]


def _transpose(
    cts: Values,
    operands: Values,
    *,
    jaxpr: ClosedJaxpr,
    prevent_cse: PreventCse,
    **params: Any,
) -> Values:
    known = [not isinstance(x, UndefinedPrimal) for x in operands]

    def bind(derived: ClosedJaxpr, operands: Sequence[Any]) -> Values:
        left = _where(prevent_cse, known)
        longer = _longer(left, len(operands) - sum(known))
        return _bind(derived, operands, prevent_cse=longer, **params)

    return transpose_by(bind, cts, operands, jaxpr)


# ---- batching, dead code ----


def _batch(
    args: Values, dims: Dims, *, jaxpr: ClosedJaxpr, **params: Any
) -> tuple[Values, Dims]:
    size = hidden_size(args, dims)
    derived, out_dims = batch_jaxpr(jaxpr, size, dims)
    return _bind(derived, args, **params), out_dims


def _dce(
    used: tuple[bool, ...],
    *,
    jaxpr: ClosedJaxpr,
    prevent_cse: PreventCse,
    **params: Any,
) -> Narrowed:
    narrower, operands = narrow(jaxpr, used)
    left = _where(prevent_cse, operands)
    return Narrowed(operands, used, {**params, "jaxpr": narrower, "prevent_cse": left})


def _pad(
    bucket: PadContext,
    *operands: PaddedValue,
    jaxpr: ClosedJaxpr,
    prevent_cse: PreventCse,
    **params: Any,
) -> Values:
    if isinstance(prevent_cse, tuple):
        prevent_cse = (False,) * len(bucket.sizes) + prevent_cse
    return bucket.bind_all(
        *bucket.sizes,
        *operands,
        jaxpr=bucket.body(jaxpr),
        prevent_cse=prevent_cse,
        **params,
    )


checkpoint_p: Final = ControlPrimitive(
    name="checkpoint",
    aval=applied_aval,
    reference=applied_reference,
    lower=_lower,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=_batch,
    pad=_pad,
    dce=_dce,
    jaxprs=("jaxpr",),
    eager=applied_eager,
    sentinels=Watched.DISSOLVED,
    granularity=Unit.INLINE,
)
