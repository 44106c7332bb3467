"""The nested `jit` call: an equation that holds a shared jaxpr.

A function jitted inside traced code stays one equation: traced once, lowered to one
function, differentiated and batched as a jaxpr, once for each way it is used. Its
jaxpr has no constants: what the function captured are leading operands. Eager
evaluation compiles it (`eager`); `reference` interprets it with NumPy.
"""

from collections.abc import Sequence
from typing import Any, Final

from imprint._src.control_flow.call_eager import (
    applied_aval,
    applied_pad,
    applied_reference,
    jvp_by,
    transpose_by,
)
from imprint._src.control_flow.operand_lists import at_linear
from imprint._src.core.control import (
    ControlPrimitive,
    Eager,
    Inline,
    Narrowed,
    Unit,
    Watched,
)
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.core.primitive import Dims, Values
from imprint._src.core.tangents import is_zero
from imprint._src.interpreters.batching import batch_jaxpr, hidden_size
from imprint._src.interpreters.dce import narrow
from imprint._src.interpreters.jvp import merge_zeros
from imprint._src.interpreters.linearize import linearize_jaxpr
from imprint._src.interpreters.lowering import lower_call, lower_inline
from imprint._src.interpreters.trace_to_jaxpr import StagingTrace, hoist_consts
from imprint._src.stablehlo import Builder, Value


def call(closed: ClosedJaxpr, args: Sequence[Any], name: str, **how: Inline) -> Values:
    """Bind a nested call of `closed`; its constants become leading operands.

    Args:
        closed: what is called.
        args: its arguments.
        name: of the function.
        **how: `inline`, unless it is `Inline.AUTO`: nearly all calls are without.
    """
    hoisted = closed.derived("hoisted", lambda: hoist_consts(closed))
    return jit_p.bind(*closed.consts, *args, jaxpr=hoisted, name=name, **how)


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
        *(cts, operands, at_linear(jaxpr, operands)),
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
