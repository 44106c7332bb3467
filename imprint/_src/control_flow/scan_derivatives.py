"""The steps of a scan that differentiation derives.

Linearization (`split_residuals`): loop-invariant residuals are computed before the loop and
saved once; residuals that are operands or stacked results are not saved again; the others
are stacked, a slice for each step.
Transposition (`transpose_step`) runs from the last step to the first. Its carry is the
cotangents of the carry, and a sum for each constant that has a cotangent. A carry that does
not depend on linear operands, such as a counter, is computed first by its own scan and then
scanned over (`known_carry`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from imprint._src.control_flow.operand_lists import Mask, at_avals, either, pick, split
from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Var, eval_jaxpr
from imprint._src.interpreters.dce import dce_jaxpr, narrow
from imprint._src.interpreters.linearize import LinearizedJaxpr
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, hoist_consts, stage
from imprint._src.interpreters.transpose import transpose_jaxpr
from imprint._src.primitives.core_ops import add_tangents


class SplitStep(NamedTuple):
    """The primal step of a scan, and the locations of the tangent step's residuals.

    Args:
        before: `(*consts) -> (*hoisted)`: the computation before the loop.
        step: `(*consts, *hoisted, *carry, *slices) -> (*results, *stacked)`.
        fixed: positions in `(*consts, *hoisted)` of residuals that stay as they are.
        scanned: positions in `(*xs, *ys, *stacked)` of those that are scanned over.
        is_fixed: which of the residuals stay.
    """

    before: Jaxpr
    step: ClosedJaxpr
    fixed: tuple[int, ...]
    scanned: tuple[int, ...]
    is_fixed: tuple[bool, ...]

    def order(self, consts: int, carry: int, xs: int) -> list[int]:
        """Return the order of the arguments of the tangent step as a scan takes them.

        Args:
            consts: how many constants of the loop have a tangent.
            carry: how many of the carry.
            xs: how many of the scanned operands.
        """
        fixed = [i for i, stays in enumerate(self.is_fixed) if stays]
        scanned = [i for i, stays in enumerate(self.is_fixed) if not stays]
        count = len(self.is_fixed)
        tangents = split(range(count, count + consts + carry + xs), consts, carry)
        return [*fixed, *tangents[0], *tangents[1], *scanned, *tangents[2]]


def split_residuals(lin: LinearizedJaxpr, num_consts: int, num_carry: int) -> SplitStep:
    """Locate each residual of a split step.

    Args:
        lin: the step, split in two.
        num_consts: how many of its arguments stay as they are.
        num_carry: how many go from step to step.
    """
    jaxpr = hoist_consts(lin.primal).jaxpr
    more = len(lin.primal.consts)
    consts, carry, xs = split(jaxpr.invars, more + num_consts, num_carry)
    count = len(lin.nonzero)
    results = jaxpr.outvars[:count]
    values = (*jaxpr.invars[more:], *jaxpr.outvars)
    residuals = [values[i] for i in lin.residuals]
    hoisted = _hoisted(jaxpr.eqns, residuals, {*carry, *xs})
    given = {id(v): i for i, v in enumerate((*consts, *hoisted))}
    scanned = [*xs, *results[num_carry:]]
    kept = len(scanned)
    for atom in residuals:
        if id(atom) not in given and not any(atom is v for v in scanned):
            scanned.append(atom)
    found = {id(v): i for i, v in reversed([*enumerate(scanned)])}
    rest = [e for e in jaxpr.eqns if not {*e.outvars} & {*hoisted}]
    args = (*consts, *hoisted, *carry, *xs)
    step = Jaxpr((), args, (*results, *scanned[kept:]), rest, jaxpr.name)
    quiet = [e for e in jaxpr.eqns if not e.effects]  # the others are of each step
    before = Jaxpr((), consts, hoisted, quiet, jaxpr.name)
    is_fixed = tuple(id(v) in given for v in residuals)
    return SplitStep(
        before=dce_jaxpr(before),
        step=ClosedJaxpr(step),
        fixed=tuple(given[id(v)] for v in residuals if id(v) in given),
        scanned=tuple(found[id(v)] for v in residuals if id(v) not in given),
        is_fixed=is_fixed,
    )


def _hoisted(eqns: tuple[Eqn, ...], wanted: list[Atom], moving: set[Var]) -> list[Var]:
    """Return wanted loop-invariant results of a step, and the other results there."""
    varying = {*moving}
    found: list[Var] = []
    for eqn in eqns:
        operands = [v for v in eqn.invars if isinstance(v, Var)]
        if eqn.effects or not varying.isdisjoint(operands):
            varying.update(eqn.outvars)
        elif any(v is w for v in eqn.outvars for w in wanted):
            found += eqn.outvars
    return found


# ---- transposition ----


class TransposedStep(NamedTuple):
    """A transposed step.

    Args:
        step: `(*known consts, *sums, *cotangents of the carry, *known slices,
            *cotangents of stacked results) -> (*sums, *cotangents of the carry,
            *cotangents of slices)`.
        consts: which of the linear constants have a cotangent.
        carry: which of the carry.
        xs: which of the linear operands that are scanned over.
    """

    step: ClosedJaxpr
    consts: Mask
    carry: Mask
    xs: Mask


def transpose_step(
    jaxpr: ClosedJaxpr,
    linear: Mask,
    weak: Sequence[bool | None],
    num_carry: int,
    num_consts: int,
) -> TransposedStep:
    """Transpose a step, up to a fixed point of the cotangents of the carry.

    Args:
        jaxpr: the step, which is linear in all of its carry.
        linear: in which of its arguments it is.
        weak: whether the cotangents of the results of the scan are weak, which they are or
            are not whatever the results are; None for one that is zero.
        num_carry: how many of the arguments are the carry.
        num_consts: how many arguments precede it.
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
    known, scanned = pick(consts, _not(in_consts)), pick(xs, _not(in_xs))
    sums = pick(pick(consts, in_consts), out_consts)
    out_cts = split(pick(cts, (*carry, *ys)), sum(carry))
    counts = len(known), len(sums), sum(carry), len(scanned)

    def run(*args: Any) -> list[Any]:
        fixed, totals, carried, slices, stacked = split(args, *counts)
        outs = eval_jaxpr(
            derived.jaxpr, derived.consts, *fixed, *slices, *carried, *stacked
        )
        added, rest = split(outs, len(sums))
        return [*map(add_tangents, totals, added), *rest]

    avals = (*known, *sums, *out_cts[0], *scanned, *out_cts[1])
    step = stage(run, avals, DebugInfo("transpose", jaxpr.jaxpr.name))
    return TransposedStep(step, out_consts, carry, out_xs)


def _of_weakness(aval: ShapedArray, is_weak: bool | None) -> ShapedArray:  # noqa: FBT001 - a column of a table
    return aval if is_weak is None else aval.with_dtype(aval.dtype, weak_type=is_weak)


class KnownCarry(NamedTuple):
    """A step in two parts: the known carry, and the rest.

    Args:
        step: `(*consts, *known carry, *slices) -> (*known carry, *known carry as it
            was)`, of the operands that are needed.
        operands: which operands of the scan it takes.
        rest: `(*consts, *linear carry, *known carry, *slices) -> (*linear carry, *ys)`.
    """

    step: ClosedJaxpr
    operands: Mask
    rest: ClosedJaxpr


def known_carry(jaxpr: ClosedJaxpr, carried: Mask, num_consts: int) -> KnownCarry:
    """Separate the known carry from the linear carry.

    Args:
        jaxpr: the step.
        carried: in which of its carry it is linear.
        num_consts: how many arguments precede the carry.
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
    return KnownCarry(step, operands, ClosedJaxpr(rest))


def _not(mask: Sequence[bool]) -> Mask:
    return tuple(not on for on in mask)
