"""Forwarding: what the step of a loop only hands on is no part of the loop.

A carry that a step returns as it came is a constant of the loop, a slice that it returns
is the operand that is walked over, and a constant that it stacks is repeated outside. So
is what is stacked twice. Nothing is copied in each step for those.
"""

from typing import NamedTuple

from imprint._src.control_flow.operand_lists import split
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Jaxpr


class Plan(NamedTuple):
    """How a scan is bound without what its step only hands on.

    Args:
        jaxpr: the step; None if it is as it was.
        num_consts: how many operands stay as they are.
        num_carry: how many go from step to step.
        operands: which of the given operands it takes.
        results: for each given result where it is, whether that is an operand, and
            whether it is repeated once for each step.
    """

    jaxpr: ClosedJaxpr | None
    num_consts: int
    num_carry: int
    operands: tuple[int, ...]
    results: tuple[tuple[int, bool, bool], ...]


def without_forwarded(step: ClosedJaxpr, num_consts: int, num_carry: int) -> Plan:
    """Take out of a loop what its step only hands on, and what it stacks twice."""
    jaxpr = step.jaxpr
    consts, carry, xs = split(jaxpr.invars, num_consts, num_carry)
    outs, ys = split(jaxpr.outvars, num_carry)
    pairs = list(zip(carry, outs, strict=True))
    fixed = [*consts, *(v for v, out in pairs if v is out)]
    moving = [v for v, out in pairs if v is not out]
    kept: list[Atom] = [out for v, out in pairs if v is not out]
    place = {v: i for i, v in enumerate(jaxpr.invars)}
    results: list[tuple[int, bool, bool]] = []
    following = iter(range(len(kept)))
    for v, out in pairs:
        results.append(
            (place[v], True, False) if v is out else (next(following), False, False)
        )
    for y in ys:
        if y in xs or y in fixed:
            results.append((place[y], True, y in fixed))
            continue
        if y not in kept[len(moving) :]:
            kept.append(y)
        results.append((kept.index(y, len(moving)), False, False))
    invars = [*fixed, *moving, *xs]
    operands = tuple(place[v] for v in invars)
    changed: ClosedJaxpr | None = None
    if len(kept) < len(jaxpr.outvars):
        changed = ClosedJaxpr(Jaxpr((), invars, kept, jaxpr.eqns, jaxpr.name))
    return Plan(changed, len(fixed), len(moving), operands, tuple(results))
