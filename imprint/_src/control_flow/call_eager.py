"""The rules of an equation that does nothing but apply the jaxpr that it holds.

What is derived of it is applied in turn, as another such equation or in its place: that,
and how they are split, batched and narrowed, tells them apart.
"""

from collections.abc import Callable, Sequence
from typing import Any

from imprint._src.control_flow.interpret import interpret
from imprint._src.control_flow.operand_lists import nonzeros, pick
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Avals, Values
from imprint._src.core.tangents import UndefinedPrimal
from imprint._src.interpreters.jvp import jvp_jaxpr, merge_zeros
from imprint._src.interpreters.lowering import lower_inline
from imprint._src.interpreters.transpose import transpose_jaxpr
from imprint._src.stablehlo import Builder, Value

Apply = Callable[[ClosedJaxpr, Sequence[Any]], Sequence[Any]]
"""What applies a derived jaxpr, which may have constants, to its operands."""


def applied_aval(*avals: ShapedArray, jaxpr: ClosedJaxpr, **_: Any) -> Avals:
    """Return the avals of the results."""
    return jaxpr.out_avals


def applied_reference(*arrays: Any, jaxpr: ClosedJaxpr, **_: Any) -> Values:
    """Return the results, by the references of what is inside."""
    return interpret(jaxpr.jaxpr, arrays)


def applied_eager(*operands: Any, jaxpr: ClosedJaxpr, **_: Any) -> Values:
    """Return the results, each equation evaluated by itself."""
    return tuple(eval_jaxpr(jaxpr.jaxpr, (), *operands))


def lower_applied(
    b: Builder, *values: Value, jaxpr: ClosedJaxpr, **_: Any
) -> tuple[Value, ...]:
    """Write what is inside, in the place of the equation."""
    return tuple(lower_inline(b, jaxpr.jaxpr, values))


def applied_pad(
    bucket: PadContext, *operands: PaddedValue, jaxpr: ClosedJaxpr, **_: Any
) -> Values:
    """Pad what is inside in the place of the equation: more is known of its operands."""
    return tuple(bucket.inlined(jaxpr, operands))


def jvp_by(
    apply: Apply, primals: Values, tangents: Values, jaxpr: ClosedJaxpr
) -> tuple[Values, Values]:
    """Return results and tangents of an equation that applies a jaxpr."""
    nonzero = nonzeros(tangents)
    derived, out_nonzero = jvp_jaxpr(jaxpr, nonzero)
    results = apply(derived, [*primals, *pick(tangents, nonzero)])
    avals = jaxpr.out_avals
    count = len(avals)
    return tuple(results[:count]), merge_zeros(avals, out_nonzero, results[count:])


def transpose_by(
    apply: Apply, cts: Values, operands: Values, jaxpr: ClosedJaxpr
) -> Values:
    """Return the cotangents of an equation that applies a jaxpr."""
    linear = tuple(isinstance(x, UndefinedPrimal) for x in operands)
    nonzero = nonzeros(cts)
    given = pick(cts, nonzero)
    weak = [get_aval(ct).weak_type for ct in given]
    derived, given_back = transpose_jaxpr(jaxpr, linear, nonzero, weak=weak)
    known = pick(operands, [not lin for lin in linear])
    results = iter(apply(derived, [*known, *given]))
    marks = iter(given_back)
    return tuple(
        (next(results) if next(marks) else None) if lin else None for lin in linear
    )


def applied_transpose(
    cts: Values, operands: Values, *, jaxpr: ClosedJaxpr, **_: Any
) -> Values:
    """Return the cotangents, by what is inside, in the place of the equation."""
    return transpose_by(evaluated, cts, operands, jaxpr)


def evaluated(closed: ClosedJaxpr, operands: Sequence[Any]) -> Sequence[Any]:
    """Apply a jaxpr by binding its equations."""
    return eval_jaxpr(closed.jaxpr, closed.consts, *operands)
