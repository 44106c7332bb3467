"""Cuts: which values are written to memory instead of being computed again?

XLA:CPU computes a cheap operation once in each kernel that needs it. Where the users of a
value are in different kernels, work multiplies: programs with reuse take time to compile
that grows with a power of their length, and run many times slower. What costs more to
compute again than to write is made a `materialize`, which nothing is fused across; how
that is known stands in `kernels`. So is a value between many functions in a row that are
vectors of polynomials, which make one loop too large. What is shared little stays one
kernel. Integers are left alone: hashes reuse each value, in one kernel.
"""

from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from imprint.config import config
from imprint.core import dims
from imprint.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Var
from imprint.passes.changes import Cut
from imprint.passes.fusion import (
    IN_A_ROW,
    IN_VECTORS,
    LARGE,
    LIMIT,
    is_one_kernel,
    is_small,
    kind_of,
)
from imprint.passes.kernels import Walk
from imprint.primitives.barrier import materialize_p

_CUTS: Final = "cuts"
_NAME: Final = attrgetter("primitive.name")


def cut(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Return the program with values written to memory that it would compute too often."""
    if not config.cut_recomputation:
        return closed
    jaxpr = closed.jaxpr
    is_left = is_small(jaxpr.eqns) or is_one_kernel(jaxpr)
    chosen = {} if is_left else Walk(jaxpr, limit=LIMIT).cuts
    for v in _between(jaxpr, chosen):
        chosen[v] = 1, 0.0
    return _written(closed, chosen) if chosen else closed


def _written(closed: ClosedJaxpr, chosen: dict[Var, tuple[int, float]]) -> ClosedJaxpr:
    """Return the program with some values written to memory, and why each is."""
    jaxpr = closed.jaxpr
    written: dict[Atom, Var] = {}
    eqns: list[Eqn] = []
    cuts: list[Cut] = []
    for eqn in jaxpr.eqns:
        if not written.keys().isdisjoint(eqn.invars):
            invars = [written.get(v, v) for v in eqn.invars]
            eqn = Eqn(invars, eqn.outvars, eqn.primitive, eqn.params, eqn.source)
        eqns.append(eqn)
        for v in eqn.outvars:
            found = chosen.get(v)
            if found is not None:
                written[v] = copy = Var(v.aval)
                eqns.append(Eqn([v], [copy], materialize_p, {}, eqn.source))
                name = f"{eqn.primitive} {v.aval.short()}"
                cuts.append(Cut(name, eqn.source, *found))
    outvars = [written.get(v, v) for v in jaxpr.outvars]
    made = Jaxpr(jaxpr.constvars, jaxpr.invars, outvars, eqns, jaxpr.name)
    result = ClosedJaxpr(made, closed.consts)
    result.derived(_CUTS, lambda: tuple(cuts))
    return result


def cuts_of(closed: ClosedJaxpr) -> tuple[Cut, ...]:
    """Return what `cut` writes to memory in a program that it made, and in its bodies."""
    return tuple(
        found
        for part in _parts(closed, set())
        for found in part.derived(_CUTS, tuple[Cut, ...])
    )


def _parts(closed: ClosedJaxpr, seen: set[int]) -> Iterator[ClosedJaxpr]:
    """Yield a program and its bodies, each once."""
    if id(closed) not in seen:
        seen.add(id(closed))
        yield closed
        for body in closed.jaxpr.bodies:
            yield from _parts(body, seen)


def _between(jaxpr: Jaxpr, chosen: dict[Var, tuple[int, float]]) -> list[Var]:
    """Return the values to write between functions in a row that are polynomials."""
    eqns = jaxpr.eqns
    ones = {
        i
        for i, name in enumerate(map(_NAME, eqns))
        if name in IN_VECTORS and _is_large(eqns[i].outvars[0])
    }
    if len(ones) <= IN_A_ROW:
        return []
    rows: dict[Atom, int] = {}
    between: list[Var] = []
    for i in range(min(ones), max(ones) + 1):
        eqn, is_one = eqns[i], i in ones
        if not is_one and rows.keys().isdisjoint(eqn.invars):
            continue
        if kind_of(eqn) is None:
            continue
        row = max([rows.get(v, 0) for v in eqn.invars], default=0)
        if is_one:
            if row >= IN_A_ROW:
                ends = {v for v in eqn.invars if rows.get(v) == row}
                between += [v for v in ends if type(v) is Var]
                for v in ends:
                    del rows[v]
                row = 0
            row += 1
        if row and eqn.outvars[0] not in chosen:
            rows[eqn.outvars[0]] = row
    return between


def _is_large(value: Var) -> bool:
    return not dims.is_symbolic(value.aval.size) and value.aval.size >= LARGE
