"""What compile granularity would cost: the outer function, the inner ones, or both.

A program whose parts are jitted can be compiled as one piece with the parts dissolved
(`outer`), as parts that Python calls one by one (`inner`), or as one piece that shares
its parts (`both`, what nested `jit` does). The equations are counted; the seconds are an
estimate from what this process has compiled so far.
"""

from typing import Final, NamedTuple

from imprint.core.jaxpr import ClosedJaxpr, Jaxpr, subjaxprs
from imprint.program.counters import COUNTERS

_SECONDS_A_PROGRAM: Final = 0.015
_SECONDS_AN_EQUATION: Final = 0.0005


class Cost(NamedTuple):
    """The cost of one way to compile.

    Args:
        equations: how many the compiler sees.
        programs: how many it compiles.
        calls: how many a call from Python dispatches.
        seconds: what compiling takes, estimated.
    """

    equations: int
    programs: int
    calls: int
    seconds: float


class Granularity(NamedTuple):
    """The cost of compiling a function with the jitted functions that it calls."""

    outer: Cost
    inner: Cost
    both: Cost

    def __str__(self) -> str:
        if self.inner.programs == 0:
            return f"It calls no jitted function; {_words(self.outer)}."
        return (
            f"Jitted outside only: {_words(self.outer)}. "
            f"Inside only: {_words(self.inner)}. Both: {_words(self.both)}."
        )


def granularity(closed: ClosedJaxpr) -> Granularity:
    """Return what the ways to compile a traced function would cost."""
    parts: dict[int, ClosedJaxpr] = {}
    calls = _collect(closed.jaxpr, parts)
    own = sum(not subjaxprs(eqn) for eqn in closed.eqns)
    shared = sum(_own_equations(part.jaxpr) for part in parts.values())
    return Granularity(
        outer=_cost(_dissolved(closed.jaxpr), 1, 1),
        inner=_cost(shared, len(parts), calls + own),
        both=_cost(own + shared, 1, 1),
    )


def _collect(jaxpr: Jaxpr, parts: dict[int, ClosedJaxpr]) -> int:
    calls = 0
    for eqn in jaxpr.eqns:
        for part in subjaxprs(eqn):
            calls += 1
            if id(part) not in parts:
                parts[id(part)] = part
                _collect(part.jaxpr, parts)
    return calls


def _own_equations(jaxpr: Jaxpr) -> int:
    return sum(not subjaxprs(eqn) for eqn in jaxpr.eqns)


def _dissolved(jaxpr: Jaxpr) -> int:
    return sum(
        sum(_dissolved(part.jaxpr) for part in subjaxprs(eqn)) or 1
        for eqn in jaxpr.eqns
    )


def _cost(equations: int, programs: int, calls: int) -> Cost:
    each = _SECONDS_AN_EQUATION
    if COUNTERS.compiles >= 5 and COUNTERS.equations:
        spent = COUNTERS.compile_seconds - _SECONDS_A_PROGRAM * COUNTERS.compiles
        each = max(spent / COUNTERS.equations, 1e-5)
    return Cost(
        equations, programs, calls, _SECONDS_A_PROGRAM * programs + each * equations
    )


def _words(cost: Cost) -> str:
    return (
        f"{_many(cost.equations, 'equation')} in {_many(cost.programs, 'program')}, about "
        f"{cost.seconds:.2f} s to compile, {_many(cost.calls, 'dispatch', 'es')} a call"
    )


def _many(count: int, noun: str, ending: str = "s") -> str:
    return f"{count} {noun}{ending * (count != 1)}"
