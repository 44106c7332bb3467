"""Solutions with implicit derivatives, independent of how the solution is found.

`custom_linear_solve` holds a linear map and its solver, and for transposition those of the
transposed map: A x = b gives A dx = db - dA x, one more solve. `custom_root` holds a
function, its root finder, and a solver for its linearization: f(m, x) = 0 gives dx. All
jaxprs of an equation take the same captured operands, then vectors of one space, and return
vectors; auxiliary results of `solve` have no derivative.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from imprint._src.control_flow.call import (
    applied_eager,
    applied_pad,
    applied_reference,
    evaluated,
    lower_applied,
    transpose_by,
)
from imprint._src.control_flow.operand_lists import in_front, nonzeros, pick, split
from imprint._src.control_flow.trace_body import unite_consts
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.control import ControlPrimitive, Narrowed, Unit
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, eval_jaxpr
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Avals, Dims, Params, Rule, Values
from imprint._src.core.tangents import UndefinedPrimal, Zero, is_zero, zero_of
from imprint._src.core.trace import current_trace, tracing
from imprint._src.dtypes import is_inexact
from imprint._src.errors import NotDifferentiableError
from imprint._src.interpreters.batching import batch_jaxpr, hidden_size
from imprint._src.interpreters.dce import narrow
from imprint._src.interpreters.jvp import jvp_jaxpr, merge_zeros
from imprint._src.interpreters.linearize import SplitTrace
from imprint._src.interpreters.trace_to_jaxpr import StagingTrace
from imprint._src.primitives.core_ops import add_tangents, instantiate, neg
from imprint._src.stablehlo import Builder, Value


def solve_linear(
    jaxprs: Sequence[ClosedJaxpr], captured: Sequence[Any], b: Sequence[Any]
) -> Values:
    """Bind the solution of a linear equation.

    Args:
        jaxprs: the map and its solver; optionally the transposed map and the solver of that.
        captured: the values of their common first arguments.
        b: the right-hand side.
    """
    matvec, solve, *transposed = jaxprs
    return custom_linear_solve_p.bind_all(
        *captured, *b, matvec=matvec, solve=solve, transposed=tuple(transposed)
    )


def find_root(
    jaxprs: Sequence[ClosedJaxpr], captured: Sequence[Any], guess: Sequence[Any]
) -> Values:
    """Bind a root of a function.

    Args:
        jaxprs: the function, its root finder, and the solver of its linearization, given
            the root and a vector.
        captured: the values of their common first arguments.
        guess: where to begin.
    """
    function, solve, tangent_solve = jaxprs
    return custom_root_p.bind_all(
        *captured,
        *guess,
        function=function,
        solve=solve,
        tangent_solve=tangent_solve,
    )


# ---- evaluation ----


def _aval(*_: ShapedArray, solve: ClosedJaxpr, **__: Any) -> Avals:
    return solve.out_avals


def _reference(*arrays: Any, solve: ClosedJaxpr, **_: Any) -> Values:
    return applied_reference(*arrays, jaxpr=solve)


def _eager(*operands: Any, solve: ClosedJaxpr, **_: Any) -> Values:
    return applied_eager(*operands, jaxpr=solve)


def _lower(
    b: Builder, *values: Value, solve: ClosedJaxpr, **_: Any
) -> tuple[Value, ...]:
    return lower_applied(b, *values, jaxpr=solve)


def _pad(
    bucket: PadContext, *operands: PaddedValue, solve: ClosedJaxpr, **_: Any
) -> Values:
    return applied_pad(bucket, *operands, jaxpr=solve)


def _sentinels(
    watch: Any, eqn: Eqn, operands: Sequence[tuple[Any, int]]
) -> list[tuple[Any, int]]:
    solve: ClosedJaxpr = eqn.params["solve"]
    values, flags = [x for x, _ in operands], [flag for _, flag in operands]
    return watch.run(solve.jaxpr, (), values, flags)


# ---- derivatives ----


def _solve_jvp(
    primals: Values, tangents: Values, *, matvec: ClosedJaxpr, **params: Any
) -> tuple[Values, Values]:
    params["matvec"] = matvec
    outs = custom_linear_solve_p.bind_all(*primals, **params)
    captured, b = split(primals, len(primals) - len(matvec.out_avals))
    captured_ts, b_ts = split(tangents, len(captured))
    moved = _moved(matvec, captured, outs, captured_ts)
    rhs = list(map(_difference, b_ts, moved))
    if all(map(is_zero, rhs)):
        return outs, _tangents(outs, ())
    found = custom_linear_solve_p.bind_all(*captured, *_values(rhs, b), **params)
    return outs, _tangents(outs, found[: len(b)])


def _root_jvp(
    primals: Values,
    tangents: Values,
    *,
    function: ClosedJaxpr,
    tangent_solve: ClosedJaxpr,
    **params: Any,
) -> tuple[Values, Values]:
    params |= {"function": function, "tangent_solve": tangent_solve}
    outs = custom_root_p.bind_all(*primals, **params)
    captured, guess = split(primals, len(primals) - len(function.out_avals))
    moved = _moved(function, captured, outs, tangents[: len(captured)])
    if all(map(is_zero, moved)):
        return outs, _tangents(outs, ())
    x = outs[: len(guess)]
    rhs = _values(moved, x)
    found = eval_jaxpr(tangent_solve.jaxpr, (), *captured, *x, *rhs)
    return outs, _tangents(outs, [neg(t) for t in found])


def _moved(
    function: ClosedJaxpr,
    captured: Sequence[Any],
    outs: Sequence[Any],
    tangents: Sequence[Any],
) -> Sequence[Any]:
    """Return the tangent of a function at a solution, by its captured values."""
    count = len(function.out_avals)
    active = nonzeros(tangents)
    if not any(active):
        return [zero_of(aval) for aval in function.out_avals]
    derived, came = jvp_jaxpr(function, (*active, *[False] * count))
    given = pick(tangents, active)
    found = eval_jaxpr(derived.jaxpr, derived.consts, *captured, *outs[:count], *given)
    return merge_zeros(function.out_avals, came, found[count:])


def _difference(t: Any, other: Any) -> Any:
    if is_zero(other):
        return t
    return neg(other) if is_zero(t) else add_tangents(t, neg(other))


def _values(tangents: Sequence[Any], like: Sequence[Any]) -> list[Any]:
    """Return tangents as vectors of the space, with zeros instantiated."""
    return [
        instantiate(Zero(get_aval(x).unplaced())) if is_zero(t) else t
        for t, x in zip(tangents, like, strict=True)
    ]


def _tangents(outs: Values, found: Sequence[Any]) -> Values:
    """Return the tangents of all results, given those of the first."""
    avals = [get_aval(x) for x in outs]
    given = [
        t if is_inexact(aval.dtype) else zero_of(aval)
        for t, aval in zip(found, avals[: len(found)], strict=True)
    ]
    return (*given, *map(zero_of, avals[len(given) :]))


def _solve_transpose(
    cts: Values,
    operands: Values,
    *,
    matvec: ClosedJaxpr,
    solve: ClosedJaxpr,
    transposed: tuple[ClosedJaxpr, ...],
) -> Values:
    if not transposed:
        raise NotDifferentiableError(
            "custom_linear_solve: expected transpose_solve for a derivative in reverse "
            "mode (grad, vjp, jacrev), got none. Pass transpose_solve=, which solves for "
            "the transposed map, or symmetric=True if it is the same map."
        )
    captured, b = split(operands, len(operands) - len(matvec.out_avals))
    if any(isinstance(x, UndefinedPrimal) for x in captured):
        raise _not_linear("by what its functions close over")
    if not all(map(is_zero, cts[len(b) :])):
        raise _not_linear("of auxiliary data")
    given = [instantiate(ct) for ct in cts[: len(b)]]
    found = solve_linear((*transposed, matvec, solve), captured, given)
    return (*[None] * len(captured), *found[: len(b)])


def _root_transpose(
    cts: Values, operands: Values, *, solve: ClosedJaxpr, **_: Any
) -> Values:
    return transpose_by(evaluated, cts, operands, solve)


def _not_linear(what: str) -> NotDifferentiableError:
    return NotDifferentiableError(
        "custom_linear_solve: expected a transpose of the solution by b, in which it is "
        f"linear, got one {what}. Differentiate it instead, by imprint.vjp."
    )


# ---- batching, dead code ----


def _batched(
    jaxprs: Sequence[ClosedJaxpr], args: Values, dims: Dims
) -> tuple[Sequence[ClosedJaxpr], list[Any], Dims]:
    """Return jaxprs and operands in which parts of vectors are batched, and the dims of results.

    A part that has an axis before or behind any of the functions has one everywhere.
    """
    size, count = hidden_size(args, dims), len(jaxprs[0].out_avals)
    captured, vector = split(args, len(args) - count)
    at_captured, at_vector = split(dims, len(captured))
    fronts: Dims = tuple(None if d is None else 0 for d in at_vector)
    while True:
        found = [_batched_at(closed, size, at_captured, fronts) for closed in jaxprs]
        after: Dims = tuple(
            None if all(d is None for d in column) else 0
            for column in zip(*(came[:count] for _, came in found), strict=True)
        )
        if after == fronts:
            break
        fronts = after
    derived, consts = unite_consts([closed for closed, _ in found])
    moved = [
        x if to is None else in_front(x, d, size)
        for x, d, to in zip(vector, at_vector, fronts, strict=True)
    ]
    return derived, [*consts, *captured, *moved], found[1][1]


def _batched_at(
    closed: ClosedJaxpr, size: int, at_captured: Sequence[int | None], fronts: Dims
) -> tuple[ClosedJaxpr, Dims]:
    vectors = (len(closed.in_avals) - len(at_captured)) // max(len(fronts), 1)
    others = len(closed.out_avals) - len(fronts)
    dims = (*at_captured, *fronts * vectors)
    return batch_jaxpr(closed, size, dims, out_dims=(*fronts, *[None] * others))


def _narrowed(
    primitive: ControlPrimitive, used: tuple[bool, ...], params: Params
) -> Narrowed:
    """Return the equation without unused auxiliary data: a vector stays whole."""
    jaxprs = primitive.jaxprs(params)
    count, solve = len(jaxprs[0].out_avals), params["solve"]
    results = (*[True] * count, *used[count:])
    kept = [
        results if closed is solve else (True,) * len(closed.out_avals)
        for closed in jaxprs
    ]
    captured = len(solve.in_avals) - count
    needs = [narrow(*pair)[1][:captured] for pair in zip(jaxprs, kept, strict=True)]
    operands = tuple(map(any, zip(*needs, strict=True)))
    left = tuple(
        narrow(closed, some, (*operands, *[True] * (len(closed.in_avals) - captured)))[
            0
        ]
        for closed, some in zip(jaxprs, kept, strict=True)
    )
    return Narrowed(
        (*operands, *[True] * count), results, primitive.with_jaxprs(params, left)
    )


# ---- the primitives ----


def _rules(primitive: Callable[[], ControlPrimitive], jvp: Rule) -> dict[str, Any]:
    """Return the rules that the primitives share.

    Args:
        primitive: returns the primitive, when there is one.
        jvp: its rule.
    """

    def linearize(
        tangent_trace: StagingTrace, primals: Values, tangents: Values, **params: Any
    ) -> tuple[Values, Values]:
        with tracing(SplitTrace(current_trace(), tangent_trace)):
            return jvp(primals, tangents, **params)

    def batch(args: Values, dims: Dims, **params: Any) -> tuple[Values, Dims]:
        derived, operands, out_dims = _batched(primitive().jaxprs(params), args, dims)
        changed = primitive().with_jaxprs(params, tuple(derived))
        return primitive().bind_all(*operands, **changed), out_dims

    def dce(used: tuple[bool, ...], **params: Any) -> Narrowed:
        return _narrowed(primitive(), used, params)

    return {
        "aval": _aval,
        "reference": _reference,
        "lower": _lower,
        "jvp": jvp,
        "linearize": linearize,
        "batch": batch,
        "pad": _pad,
        "dce": dce,
        "eager": _eager,
        "sentinels": _sentinels,
        "granularity": Unit.BODY,
    }


custom_linear_solve_p: Final = ControlPrimitive(
    name="custom_linear_solve",
    transpose=_solve_transpose,
    jaxprs=("matvec", "solve", "transposed"),
    **_rules(lambda: custom_linear_solve_p, _solve_jvp),
)
custom_root_p: Final = ControlPrimitive(
    name="custom_root",
    transpose=_root_transpose,
    jaxprs=("function", "solve", "tangent_solve"),
    **_rules(lambda: custom_root_p, _root_jvp),
)
