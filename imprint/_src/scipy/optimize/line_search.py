"""Line search for a step that satisfies the strong Wolfe conditions.

Nocedal and Wright, Numerical Optimization, algorithms 3.5 and 3.6, as one loop with one
evaluation of the function per iteration. First steps grow until an interval must
contain an acceptable one; then that interval is narrowed, by a cubic, a quadratic or
bisection. Its lower end is the best point so far, so the result always has its own
value and gradient, even if no better point is found. A NaN value counts as too high.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.core.aval import DType
from imprint._src.interpreters.derivatives import value_and_grad
from imprint._src.lax.loops import while_loop
from imprint._src.primitives.elementwise.precision import Precision

_DECREASE: Final = 1e-4
_CURVATURE: Final = 0.9
_WITHIN_BY_CUBIC: Final = 0.2
_WITHIN_BY_QUADRATIC: Final = 0.1
_MAX_NARROWINGS: Final = 30
_NARROWING_FAILED: Final = 1
_NOTHING_ENCLOSED: Final = 3


class Point(NamedTuple):
    """A point on the line: the step, and the value, slope and gradient there."""

    step: Any
    value: Any
    slope: Any
    gradient: Any


class LineSearchResult(NamedTuple):
    """The result: its point, whether and why the search failed, and the evaluations."""

    point: Point
    failed: Any
    status: Any
    evaluations: Any


class _LineSearchState(NamedTuple):
    low: Point
    high: tuple[Any, Any]
    former: tuple[Any, Any]
    narrows: Any
    turns: Any
    narrowings: Any
    found: Any
    failed: Any


def line_search(
    fun: Callable[[Array], Any],
    x: Array,
    direction: Array,
    at_x: tuple[Any, Array],
    first: Any,
    most: Any,
) -> LineSearchResult:
    """Return a step along a descent direction.

    Args:
        fun: a function from vectors like `x` to a real number.
        x: the start of the line.
        direction: the direction of the line.
        at_x: value and gradient of the function at `x`.
        first: the first step to try.
        most: the maximum number of iterations.
    """
    value, gradient = at_x
    start = Point(_zero(x), value, dot(gradient, direction), gradient)

    def at(step: Any) -> Point:
        there, slant = evaluate(fun, x + step * direction)
        there = there.astype(value.dtype)
        return Point(step, there, dot(slant, direction), slant)

    def turn(state: _LineSearchState) -> _LineSearchState:
        grown = np.where(state.turns == 0, first, 2 * state.low.step)
        step = np.where(state.narrows, _between(state), grown)
        return _next_state(state, at(step.astype(x.dtype)), start)

    def goes_on(state: _LineSearchState) -> Any:
        open_ended = state.narrows | (state.turns < most)
        return open_ended & ~state.found & ~state.failed

    no = np.zeros((), bool)
    nowhere = (start.step, start.value)
    state = _LineSearchState(start, nowhere, nowhere, no, 0, 0, no, no)
    state = while_loop(goes_on, turn, state)
    why = np.where(state.narrows, _NARROWING_FAILED, _NOTHING_ENCLOSED)
    return LineSearchResult(
        state.low,
        ~state.found,
        np.where(state.found, 0, why),
        state.turns + state.narrowings,
    )


def evaluate(fun: Callable[[Array], Any], x: Array) -> tuple[Array, Array]:
    """Return value and gradient of a function, in strong dtypes."""
    value, gradient = value_and_grad(fun)(x)
    return np.asarray(value, value.dtype), gradient


def dot(x: Array, y: Array) -> Array:
    """Return a product with a vector in full precision."""
    return np.dot(x, y, precision=Precision.HIGHEST)


def _zero(x: Array) -> Array:
    return np.zeros((), x.dtype)


def _pick(condition: Any, these: Any, those: Any) -> Any:
    """Select one of two tuples of numbers and arrays."""
    pairs = [np.where(condition, a, b) for a, b in zip(these, those, strict=True)]
    return type(these)(*pairs) if hasattr(these, "_fields") else tuple(pairs)


def _next_state(state: _LineSearchState, new: Point, start: Point) -> _LineSearchState:
    """Return the next state, given the value at another point."""
    low, narrows = state.low, state.narrows
    is_first = ~narrows & (state.turns == 0)
    decreased = new.value <= start.value + _DECREASE * new.step * start.slope
    too_high = ~decreased | (~is_first & (new.value >= low.value))
    found = ~too_high & (abs(new.slope) <= -_CURVATURE * start.slope)
    ahead = ~narrows | (state.high[0] > low.step)
    passed = ~too_high & np.where(ahead, new.slope >= 0, new.slope <= 0)

    near, away = (low.step, low.value), (new.step, new.value)
    high = _pick(too_high, away, _pick(passed, near, state.high))
    lower = _pick(too_high, low, new)
    middle = ((lower.step + high[0]) / 2, (lower.value + high[1]) / 2)
    former = _pick(too_high | passed, state.high, near)

    is_narrow = narrows & (abs(state.high[0] - low.step) <= _min_width(low.step.dtype))
    narrowings = state.narrowings + narrows
    return _LineSearchState(
        low=lower,
        high=high,
        former=_pick(narrows, former, middle),
        narrows=narrows | (~found & (too_high | passed)),
        turns=state.turns + ~narrows,
        narrowings=narrowings,
        found=found,
        failed=~found & (is_narrow | (narrowings >= _MAX_NARROWINGS)),
    )


def _min_width(dtype: DType) -> float:
    """Return the interval width at which the search ends."""
    return 1e-10 if dtype.itemsize == 8 else 1e-5


# ---- the next point of an interval ----


def _between(state: _LineSearchState) -> Array:
    """Return the next point: the first of three candidates that is well inside."""
    (a, fa, slope, _), (b, fb) = state.low, state.high
    width, bottom, top = b - a, np.minimum(a, b), np.maximum(a, b)

    def is_inside(point: Array, part: float) -> Array:
        margin = part * abs(width)
        return (point > bottom + margin) & (point < top - margin)

    by_cubic = _cubic_minimum((a, fa, slope), (b, fb), state.former)
    by_quadratic = a - slope * width**2 / (2 * (fb - fa - slope * width))
    is_cubic = (state.narrowings > 0) & is_inside(by_cubic, _WITHIN_BY_CUBIC)
    is_quadratic = is_inside(by_quadratic, _WITHIN_BY_QUADRATIC)
    rest = np.where(is_quadratic, by_quadratic, (a + b) / 2)
    return np.where(is_cubic, by_cubic, rest)


def _cubic_minimum(
    low: tuple[Any, Any, Any], high: tuple[Any, Any], former: tuple[Any, Any]
) -> Array:
    """Return the minimum of the cubic with a value, its slope and two other values."""
    (a, fa, slope), (b, fb), (c, fc) = low, high, former
    to_b, to_c = b - a, c - a
    bend_b = (fb - fa - slope * to_b) / to_b**2
    bend_c = (fc - fa - slope * to_c) / to_c**2
    cubic = (bend_b - bend_c) / (to_b - to_c)
    square = bend_b - cubic * to_b
    return a + (np.sqrt(square**2 - 3 * cubic * slope) - square) / (3 * cubic)
