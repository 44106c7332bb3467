"""What a scan keeps of each step for its derivative.

The step of a scan that was split by `linearize_jaxpr` gives, beside its results, what the
tangent step needs. What is the same in each step is computed before the loop and kept
once; what is an operand or a stacked result already is not kept again; the rest is
stacked, one slice for each step.
"""

from typing import NamedTuple

from imprint._src.control_flow.operand_lists import split
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Var
from imprint._src.interpreters.dce import dce_jaxpr
from imprint._src.interpreters.linearize import LinearizedJaxpr
from imprint._src.interpreters.trace_to_jaxpr import hoist_consts


class Parted(NamedTuple):
    """The primal step of a scan, and where the tangent step finds its residuals.

    Args:
        before: `(*consts) -> (*hoisted)`: what is computed before the loop.
        step: `(*consts, *hoisted, *carry, *slices) -> (*results, *stacked)`.
        fixed: positions in `(*consts, *hoisted)` of residuals that stay as they are.
        walked: positions in `(*xs, *ys, *stacked)` of those that are walked over.
        is_fixed: which of the residuals stay.
    """

    before: Jaxpr
    step: ClosedJaxpr
    fixed: tuple[int, ...]
    walked: tuple[int, ...]
    is_fixed: tuple[bool, ...]

    def order(self, consts: int, carry: int, xs: int) -> list[int]:
        """Return the order of the arguments of the tangent step as a scan takes them.

        Args:
            consts: how many constants of the loop have a tangent.
            carry: how many of the carry.
            xs: how many of what is walked over.
        """
        fixed = [i for i, stays in enumerate(self.is_fixed) if stays]
        walked = [i for i, stays in enumerate(self.is_fixed) if not stays]
        count = len(self.is_fixed)
        tangents = split(range(count, count + consts + carry + xs), consts, carry)
        return [*fixed, *tangents[0], *tangents[1], *walked, *tangents[2]]


def part_residuals(lin: LinearizedJaxpr, num_consts: int, num_carry: int) -> Parted:
    """Say where each residual of a split step comes from.

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
    walked = [*xs, *results[num_carry:]]
    kept = len(walked)
    for atom in residuals:
        if id(atom) not in given and not any(atom is v for v in walked):
            walked.append(atom)
    found = {id(v): i for i, v in reversed([*enumerate(walked)])}
    rest = [e for e in jaxpr.eqns if not {*e.outvars} & {*hoisted}]
    args = (*consts, *hoisted, *carry, *xs)
    step = Jaxpr((), args, (*results, *walked[kept:]), rest, jaxpr.name)
    quiet = [e for e in jaxpr.eqns if not e.effects]  # the others are of each step
    before = Jaxpr((), consts, hoisted, quiet, jaxpr.name)
    is_fixed = tuple(id(v) in given for v in residuals)
    return Parted(
        before=dce_jaxpr(before),
        step=ClosedJaxpr(step),
        fixed=tuple(given[id(v)] for v in residuals if id(v) in given),
        walked=tuple(found[id(v)] for v in residuals if id(v) not in given),
        is_fixed=is_fixed,
    )


def _hoisted(eqns: tuple[Eqn, ...], wanted: list[Atom], moving: set[Var]) -> list[Var]:
    """Return what is wanted, made in the step, and the same in each; and its siblings."""
    varying = {*moving}
    found: list[Var] = []
    for eqn in eqns:
        operands = [v for v in eqn.invars if isinstance(v, Var)]
        if eqn.effects or not varying.isdisjoint(operands):
            varying.update(eqn.outvars)
        elif any(v is w for v in eqn.outvars for w in wanted):
            found += eqn.outvars
    return found
