"""The nested `jit` call, and the rules of every equation that only applies its jaxpr.

A function jitted inside traced code stays one equation: traced once, lowered to one
function, differentiated and batched as a jaxpr, once for each use. Its jaxpr has no
constants: captured values are leading operands. Eager evaluation compiles it (`eager`);
`reference` interprets it with NumPy. Other such equations (`checkpoint`, `custom`) share
the rules `applied_*`; they inline the derived jaxpr or bind another equation.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from imprint._src.control_flow.interpret import interpret
from imprint._src.control_flow.operand_lists import at_linear, nonzeros, pick
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.control import (
    ControlPrimitive,
    Eager,
    Inline,
    Narrowed,
    Unit,
    Watched,
)
from imprint._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Avals, Dims, Values
from imprint._src.core.tangents import UndefinedPrimal, is_zero
from imprint._src.interpreters.batching import batch_jaxpr, hidden_size
from imprint._src.interpreters.dce import narrow
from imprint._src.interpreters.jvp import jvp_jaxpr, merge_zeros
from imprint._src.interpreters.linearize import linearize_jaxpr
from imprint._src.interpreters.lowering import lower_call, lower_inline
from imprint._src.interpreters.trace_to_jaxpr import StagingTrace, hoist_consts
from imprint._src.interpreters.transpose import transpose_jaxpr
from imprint._src.stablehlo import Builder, Value

Apply = Callable[[ClosedJaxpr, Sequence[Any]], Sequence[Any]]
"""Applies a derived jaxpr, which may have constants, to operands."""


def applied_aval(*avals: ShapedArray, jaxpr: ClosedJaxpr, **_: Any) -> Avals:
    """Return the avals of the results."""
    return jaxpr.out_avals


def applied_reference(*arrays: Any, jaxpr: ClosedJaxpr, **_: Any) -> Values:
    """Return the results, by the references of the jaxpr's primitives."""
    return interpret(jaxpr.jaxpr, arrays)


def applied_eager(*operands: Any, jaxpr: ClosedJaxpr, **_: Any) -> Values:
    """Return the results, by binding each equation."""
    return tuple(eval_jaxpr(jaxpr.jaxpr, (), *operands))


def lower_applied(
    b: Builder, *values: Value, jaxpr: ClosedJaxpr, **_: Any
) -> tuple[Value, ...]:
    """Inline the jaxpr."""
    return tuple(lower_inline(b, jaxpr.jaxpr, values))


def applied_pad(
    bucket: PadContext, *operands: PaddedValue, jaxpr: ClosedJaxpr, **_: Any
) -> Values:
    """Pad the jaxpr inline: its operands carry more information than its arguments."""
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
    """Return the cotangents, with the transposed jaxpr inline."""
    return transpose_by(evaluated, cts, operands, jaxpr)


def evaluated(closed: ClosedJaxpr, operands: Sequence[Any]) -> Sequence[Any]:
    """Apply a jaxpr by binding its equations."""
    return eval_jaxpr(closed.jaxpr, closed.consts, *operands)


# ---- nested jit calls ----


def call(closed: ClosedJaxpr, args: Sequence[Any], name: str, **how: Inline) -> Values:
    """Bind a nested call of `closed`; its constants become leading operands.

    Args:
        closed: the program.
        args: its arguments.
        name: of the function.
        **how: `inline`, unless it is `Inline.AUTO`: nearly all calls are without.
    """
    hoisted = closed.derived("hoisted", lambda: hoist_consts(closed))
    return jit_p.bind_all(*closed.consts, *args, jaxpr=hoisted, name=name, **how)


def _lower(
    b: Builder, *values: Value, jaxpr: ClosedJaxpr, name: str, **how: Inline
) -> tuple[Value, ...]:
    inline = how.get("inline", Inline.AUTO)
    if inline is Inline.JAX_LATE:
        return tuple(lower_inline(b, jaxpr.jaxpr, values))
    asked = "" if inline is Inline.AUTO else inline.value
    return lower_call(b, jaxpr, values, name, inlineable=asked)


def _jvp(
    primals: Values, tangents: Values, *, jaxpr: ClosedJaxpr, name: str, **how: Inline
) -> tuple[Values, Values]:
    return jvp_by(
        lambda derived, args: call(derived, args, name, **how), primals, tangents, jaxpr
    )


def _linearize(
    tangent_trace: StagingTrace,
    primals: Values,
    tangents: Values,
    *,
    jaxpr: ClosedJaxpr,
    name: str,
    **how: Inline,
) -> tuple[Values, Values]:
    active = tuple(not is_zero(t) for t in tangents)
    lin = linearize_jaxpr(jaxpr, active)
    count = len(jaxpr.out_avals)
    results = call(lin.primal, primals, name, **how)
    given = [t for t in tangents if not is_zero(t)]
    out_tangents: Values = ()
    if lin.tangent.eqns or any(lin.nonzero):
        out_tangents = tangent_trace.process(
            jit_p,
            (*lin.known(primals, results), *given),
            {"jaxpr": lin.tangent, "name": name, **how},
        )
    return results[:count], merge_zeros(jaxpr.out_avals, lin.nonzero, out_tangents)


def _transpose(
    cts: Values, operands: Values, *, jaxpr: ClosedJaxpr, name: str, **how: Inline
) -> Values:
    return transpose_by(
        lambda derived, args: call(derived, args, name, **how),
        cts,
        operands,
        at_linear(jaxpr, operands),
    )


def _batch(
    args: Values, dims: Dims, *, jaxpr: ClosedJaxpr, name: str, **how: Inline
) -> tuple[Values, Dims]:
    derived, out_dims = batch_jaxpr(jaxpr, hidden_size(args, dims), dims)
    return call(derived, args, name, **how), out_dims


def _dce(
    used: tuple[bool, ...], *, jaxpr: ClosedJaxpr, name: str, **how: Inline
) -> Narrowed:
    narrower, operands = narrow(jaxpr, used)
    return Narrowed(operands, used, {"jaxpr": narrower, "name": name, **how})


jit_p: Final = ControlPrimitive(
    name="jit",
    aval=applied_aval,
    reference=applied_reference,
    lower=_lower,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=_batch,
    pad=applied_pad,
    dce=_dce,
    jaxprs=("jaxpr",),
    eager=Eager.COMPILED,
    sentinels=Watched.DISSOLVED,
    granularity=Unit.PART,
)
