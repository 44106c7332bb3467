"""Cuts: values that are written to memory instead of being recomputed.

XLA:CPU computes a cheap operation once in each kernel that needs it. If the users of a
value are in different kernels, work multiplies: compile time grows with a power of the
program's length, and it runs many times slower. A value that is cheaper to write than to
recompute (`fusion_model`) is passed through `materialize`, which XLA does not fuse across.
So is a value between many polynomial functions in a row, whose loop would be too large.
Integers stay as they are: hashes reuse each value, in one kernel.
"""

from collections import Counter
from collections.abc import Container, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple

from imprint._src.config import config
from imprint._src.core import dims
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Var, all_bodies
from imprint._src.passes.fusion_model import (
    LIMIT,
    FusionModel,
    fusions_of,
    is_one_kernel,
    is_small,
)
from imprint._src.passes.pass_report import Cut
from imprint._src.primitives.barrier import materialize_p

_CUTS: Final = "cuts"
_INVARS: Final = attrgetter("invars")
_OUTVARS: Final = attrgetter("outvars")
_NEAR: Final = 32
"""Equations searched for the end of a row: `gelu` has eight."""
_IN_A_ROW: Final = 2
"""Functions before a row is cut: ten tanh of 30,000, 358 µs become 164, by threes 193."""
_LARGE: Final = 10_000
"""Elements from which rows are cut; with 3,000 a cut costs what it gains."""


def cut(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Write values to memory that a program would recompute too often."""
    if not config.cut_recomputation:
        return closed
    jaxpr = closed.jaxpr
    is_left = is_small(jaxpr.eqns) or is_one_kernel(jaxpr)
    chosen = {} if is_left else FusionModel(jaxpr, limit=LIMIT).cuts
    for v in _between(jaxpr, chosen):
        chosen[v] = 1, 0.0
    return _written(closed, chosen) if chosen else closed


def _written(closed: ClosedJaxpr, chosen: dict[Var, tuple[int, float]]) -> ClosedJaxpr:
    """Return the program with `materialize` of some values, and the reason of each."""
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
    """Return the values that `cut` wrote to memory in a program and in its bodies."""
    return tuple(
        found
        for part in (closed, *all_bodies(closed.jaxpr))
        for found in part.derived(_CUTS, tuple[Cut, ...])
    )


def _between(jaxpr: Jaxpr, chosen: dict[Var, tuple[int, float]]) -> list[Var]:
    """Return the values to write between polynomial functions in a row."""
    eqns = jaxpr.eqns
    ones = {
        i
        for i, fusion in enumerate(fusions_of(eqns))
        if fusion and fusion.is_polynomial and _is_large(eqns[i].outvars[0])
    }
    if len(ones) <= _IN_A_ROW:
        return []
    uses = Counter(chain.from_iterable(map(_INVARS, eqns)))
    rows: dict[Atom, _FunctionRow] = {}
    between: list[Var] = []
    i, last = min(ones) - 1, max(ones)
    while i < last:
        i += 1
        eqn, is_one = eqns[i], i in ones
        if not is_one and rows.keys().isdisjoint(eqn.invars):
            continue
        if eqn.primitive.fusion is None:
            continue
        before = max([rows[v] for v in eqn.invars if v in rows], default=_NO_ROW)
        if is_one and before.functions >= _IN_A_ROW:
            at = _neck(eqns, rows, uses, before, ones)
            between.append(eqns[at].outvars[0])
            if i - at <= _NEAR:  # the equations after the value are another row
                for v in chain.from_iterable(map(_OUTVARS, eqns[at:i])):
                    rows.pop(v, None)
                i = at
                continue
            del rows[eqns[at].outvars[0]]
            before = _NO_ROW
        if (is_one or before.functions) and eqn.outvars[0] not in chosen:
            rows[eqn.outvars[0]] = _FunctionRow(before.functions + is_one, i)
    return between


class _FunctionRow(NamedTuple):
    """The functions in a row before a value, and the equation that defines it."""

    functions: int
    at: int


_NO_ROW: Final = _FunctionRow(0, -1)


def _neck(
    eqns: Sequence[Eqn],
    rows: dict[Atom, _FunctionRow],
    uses: Counter[Atom],
    end: _FunctionRow,
    ones: Container[int],
) -> int:
    """Return the equation whose result is written to end a row.

    It is the last value on all paths of the row that is used more than once; if none is
    near, it is the last equation of the row.
    """
    neck, ways = end.at, {end.at}
    for _ in range(_NEAR):
        at = max(ways)
        if len(ways) == 1 and uses[eqns[at].outvars[0]] > 1:
            neck = at
        ways.remove(at)
        if at not in ones:
            found = [rows[v] for v in eqns[at].invars if v in rows]
            ways.update([row.at for row in found if row.functions == end.functions])
        if not ways:
            break
    return neck


def _is_large(value: Var) -> bool:
    return not dims.is_symbolic(value.aval.size) and value.aval.size >= _LARGE
