"""The step of a scan backwards.

The transpose of a scan walks from the last step to the first. Its carry is the cotangent
of the carry, and before that a sum for each constant of the loop that has a cotangent. A
carry that does not depend on what is linear, such as a counter, is known: its values are
computed first, by a scan of its own, and then walked over (`known_carry`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from imprint._src.control_flow.operand_lists import Mask, at_avals, either, pick, split
from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr, eval_jaxpr
from imprint._src.interpreters.dce import narrow
from imprint._src.interpreters.trace_to_jaxpr import Staged, stage
from imprint._src.interpreters.transpose import transpose_jaxpr
from imprint._src.primitives.core_ops import add_tangents


class Backward(NamedTuple):
    """A transposed step.

    Args:
        step: `(*known consts, *sums, *cotangents of the carry, *known slices,
            *cotangents of stacked results) -> (*sums, *cotangents of the carry,
            *cotangents of slices)`.
        consts: which of the linear constants have a cotangent.
        carry: which of the carry.
        xs: which of the linear operands that are walked over.
    """

    step: ClosedJaxpr
    consts: Mask
    carry: Mask
    xs: Mask


def backward_step(
    jaxpr: ClosedJaxpr,
    linear: Mask,
    weak: Sequence[bool | None],
    num_carry: int,
    num_consts: int,
) -> Backward:
    """Transpose a step, until the cotangent of the carry meets itself.

    Args:
        jaxpr: the step, which is linear in all of its carry.
        linear: in which of its arguments it is.
        weak: whether the cotangents of the results of the scan are weak, which they are or
            are not whatever the results are; None for one that is zero.
        num_carry: how many of the arguments are the carry.
        num_consts: how many come before it.
    """
    in_consts, _, in_xs = split(linear, num_consts, num_carry)
    cts = list(map(_of_weakness, jaxpr.out_avals, weak))
    consts, _, xs = split(jaxpr.in_avals, num_consts, num_carry)
    jaxpr = at_avals(jaxpr, (*consts, *cts[:num_carry], *xs))
    given = tuple(is_weak is not None for is_weak in weak)
    carry, ys = given[:num_carry], given[num_carry:]
    unwanted = (False,) * sum(in_consts), (False,) * sum(in_xs)
    while True:
        demanded = (*unwanted[0], *carry, *unwanted[1])
        derived, back = transpose_jaxpr(
            jaxpr, linear, (*carry, *ys), instantiate=demanded
        )
        out_consts, out_carry, out_xs = map(
            tuple, split(back, sum(in_consts), num_carry)
        )
        if out_carry == carry:
            break
        carry = either(out_carry, carry)
    known, walked = pick(consts, _not(in_consts)), pick(xs, _not(in_xs))
    sums = pick(pick(consts, in_consts), out_consts)
    out_cts = split(pick(cts, (*carry, *ys)), sum(carry))
    counts = len(known), len(sums), sum(carry), len(walked)

    def run(*args: Any) -> list[Any]:
        fixed, totals, carried, slices, stacked = split(args, *counts)
        outs = eval_jaxpr(
            derived.jaxpr, derived.consts, *fixed, *slices, *carried, *stacked
        )
        added, rest = split(outs, len(sums))
        return [*map(add_tangents, totals, added), *rest]

    avals = (*known, *sums, *out_cts[0], *walked, *out_cts[1])
    step = stage(run, avals, Staged("transpose", jaxpr.jaxpr.name))
    return Backward(step, out_consts, carry, out_xs)


def _of_weakness(aval: ShapedArray, is_weak: bool | None) -> ShapedArray:  # noqa: FBT001 - a column of a table
    return aval if is_weak is None else aval.with_dtype(aval.dtype, weak_type=is_weak)


class Known(NamedTuple):
    """A step in two: the carry that is known, and the rest.

    Args:
        step: `(*consts, *known carry, *slices) -> (*known carry, *known carry as it
            was)`, of the operands that are needed.
        operands: which operands of the scan it takes.
        rest: `(*consts, *linear carry, *known carry, *slices) -> (*linear carry, *ys)`.
    """

    step: ClosedJaxpr
    operands: Mask
    rest: ClosedJaxpr


def known_carry(jaxpr: ClosedJaxpr, carried: Mask, num_consts: int) -> Known:
    """Separate the carry that is known from the one in which a step is linear.

    Args:
        jaxpr: the step.
        carried: in which of its carry it is linear.
        num_consts: how many arguments come before the carry.
    """
    old = jaxpr.jaxpr
    consts, carry, xs = split(old.invars, num_consts, len(carried))
    outs, ys = split(old.outvars, len(carried))
    known = pick(carry, _not(carried))
    results = (*pick(outs, _not(carried)), *known)
    alone = ClosedJaxpr(Jaxpr((), old.invars, results, old.eqns, old.name))
    keep = (*(False for _ in consts), *_not(carried), *(False for _ in xs))
    step, operands = narrow(alone, (True,) * len(results), keep=keep)
    args = (*consts, *pick(carry, carried), *known, *xs)
    rest = Jaxpr((), args, (*pick(outs, carried), *ys), old.eqns, old.name)
    return Known(step, operands, ClosedJaxpr(rest))


def _not(mask: Sequence[bool]) -> Mask:
    return tuple(not on for on in mask)
