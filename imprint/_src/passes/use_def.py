"""Wiring: which equation makes each value of a jaxpr, and which use it, in numbers.

Equations have their positions; so have all results, one after the other, and all operands.
Whole arrays of them are compared at once, where a walk would ask for one after the other.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence, Sized
from itertools import accumulate, chain, count, repeat
from operator import attrgetter
from typing import Any, Final, final

import numpy as np

from imprint._src.core.jaxpr import Atom, Eqn, Jaxpr, Var

Ints = np.ndarray[Any, np.dtype[np.int64]]

INVARS: Final[Callable[[Eqn], Sequence[Atom]]] = attrgetter("invars")
_AVAL: Final = attrgetter("aval")
OUTVARS: Final[Callable[[Eqn], Sequence[Var]]] = attrgetter("outvars")


@final
class Wiring:
    """One look at all equations of a jaxpr.

    Attributes:
        number: the position of each result.
        results_at: the first result of each equation, and how many there are in all.
        operands_at: the same of operands.
        operands: which result each operand is; -1 if no equation makes it.
        made_at: the equation that makes each result; at -1, -1.
        used_at: the equation of each operand.
        avals: a number of the aval of each operand.
        last_use: the equation that uses each result last; what the jaxpr gives is used
            behind all, what nothing uses at -1.
    """

    def __init__(self, jaxpr: Jaxpr) -> None:
        eqns = jaxpr.eqns
        at = np.arange(len(eqns))
        results = [*chain.from_iterable(map(OUTVARS, eqns))]
        found: dict[Any, int] = dict(zip(results, range(len(results)), strict=True))
        self.number: dict[Any, int] = found
        self.results_at: Ints = _starts(map(OUTVARS, eqns))
        self.operands_at: Ints = _starts(map(INVARS, eqns))
        operands = [*chain.from_iterable(map(INVARS, eqns))]
        self.operands: Ints = self._of(operands)
        self.avals: Ints = _numbers(map(_AVAL, operands))
        self.made_at: Ints = np.append(np.repeat(at, np.diff(self.results_at)), -1)
        self.used_at: Ints = np.repeat(at, np.diff(self.operands_at))
        self.last_use: Ints = np.full(len(results) + 1, -1)
        self.last_use[self.operands] = self.used_at  # of equal ones the last
        self.last_use[self._of(jaxpr.outvars)] = len(eqns)
        self.last_use[-1] = -1

    def _of(self, atoms: Iterable[Atom]) -> Ints:
        return np.fromiter(map(self.number.get, atoms, repeat(-1)), np.int64)

    def made(self, atom: Atom) -> tuple[int, int]:
        """Return which equation makes a value, as which of its results; -1 if none does."""
        number = self.number.get(atom, -1)
        at = int(self.made_at[number])
        return at, number - int(self.results_at[at]) if at >= 0 else 0


def _numbers(each: Iterable[Hashable]) -> Ints:
    known: dict[Hashable, int] = {}
    return np.fromiter(map(known.setdefault, each, count()), np.int64)


def _starts(each: Iterable[Sized]) -> Ints:
    return np.fromiter(accumulate(map(len, each), initial=0), np.int64)
