"""The cost of compiling the outer function, the inner ones, or both.

A program whose parts are jitted can be compiled as one piece with the parts inlined
(`outer`), as parts that Python calls one by one (`inner`), or as one piece that shares
its parts (`both`, as nested `jit` does). The primitive of an equation says whether its
jaxprs are parts, bodies compiled with it, or inlined equations. Equations are counted; the
seconds are an estimate from the compilations of this process.
"""

from typing import Final, NamedTuple

from imprint._src.core.control import ControlPrimitive, Unit
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, subjaxprs
from imprint._src.jit.compilation.counters import COUNTERS

_SECONDS_A_PROGRAM: Final = 0.015
_SECONDS_AN_EQUATION: Final = 0.0005


class Cost(NamedTuple):
    """The cost of one way to compile.

    Args:
        equations: the number that the compiler sees.
        programs: the number that it compiles.
        calls: the number that a call from Python dispatches.
        seconds: the estimated time to compile.
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
    """Return the cost of each way to compile a traced function."""
    parts: dict[int, ClosedJaxpr] = {}
    calls = _collect(closed.jaxpr, parts)
    own = _level(closed.jaxpr)
    shared = sum(_level(part.jaxpr).equations for part in parts.values())
    programs = len(parts) + own.loops
    return Granularity(
        outer=_cost(_dissolved(closed.jaxpr), 1, 1),
        inner=_cost(shared + own.in_loops, programs, calls + own.dispatches),
        both=_cost(own.equations + shared, 1, 1),
    )


class _Level(NamedTuple):
    """The size of one function, without the jitted functions that it calls.

    Args:
        equations: the number that the compiler sees.
        dispatches: the number that Python would dispatch: one with bodies is one.
        loops: the number of equations with bodies, each a program by itself.
        in_loops: the number of equations in those.
    """

    equations: int
    dispatches: int
    loops: int
    in_loops: int


def _level(jaxpr: Jaxpr) -> _Level:
    total = _Level(0, 0, 0, 0)
    for eqn in jaxpr.eqns:
        for added in _levels(eqn):
            total = _Level(*(a + b for a, b in zip(total, added, strict=True)))
    return total


def _levels(eqn: Eqn) -> list[_Level]:
    unit = _unit(eqn)
    if unit is None:
        return [_Level(1, 1, 0, 0)]
    if unit is Unit.PART:
        return []
    inside = [_level(part.jaxpr) for part in subjaxprs(eqn)]
    if unit is Unit.INLINE:
        return inside
    count = 1 + sum(level.equations for level in inside)
    return [_Level(count, 1, 1, count)]


def _unit(eqn: Eqn) -> Unit | None:
    primitive = eqn.primitive
    return primitive.granularity if type(primitive) is ControlPrimitive else None


def _collect(jaxpr: Jaxpr, parts: dict[int, ClosedJaxpr]) -> int:
    """Put the jitted functions into `parts`; return the number of calls from Python."""
    calls = 0
    for eqn in jaxpr.eqns:
        unit = _unit(eqn)
        for part in subjaxprs(eqn):
            if unit is Unit.PART:
                calls += 1
                if id(part) not in parts:
                    parts[id(part)] = part
                    _collect(part.jaxpr, parts)
            else:
                inside = _collect(part.jaxpr, parts)
                calls += inside if unit is Unit.INLINE else 0
    return calls


def dissolved(eqn: Eqn) -> int:
    """Return the number of equations that the compiler sees for one, calls included."""
    inside = sum(_dissolved(part.jaxpr) for part in subjaxprs(eqn))
    return 1 + inside if _unit(eqn) is Unit.BODY else inside or 1


def _dissolved(jaxpr: Jaxpr) -> int:
    return sum(map(dissolved, jaxpr.eqns))


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
