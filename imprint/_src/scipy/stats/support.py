"""Supports: where a distribution has values, and what its functions are elsewhere.

Every distribution states its formula inside of its support and its ends; the rules for
all other arguments are here, those of SciPy:
1. Invalid parameters, a scale that is not positive and NaN give NaN: they make the
   argument of the formula NaN.
2. Outside of the support, and at infinity, a function is constant. The formula gets an
   operand from inside there, so that derivatives are 0, where its own would be NaN.
3. A mass is 0 between integers.
"""

import math
from collections.abc import Callable
from typing import Any, Final, cast

import imprint.numpy as np
from imprint._src.dtypes import finfo

Formula = Callable[[Any], Any]

CDF: Final = (0, 1)
"""The values of a cumulative distribution below and above the support."""
LOG_CDF: Final = (-math.inf, 0)
SF: Final = (1, 0)
LOG_SF: Final = (0, -math.inf)

_LOG_2: Final = math.log(2)
_TINY_LOG: Final = -40
"""Where `exp` of it is below the precision of every dtype."""


def standard(x: Any, loc: Any, scale: Any, valid: Any = True) -> Any:  # noqa: FBT002 - an array of bools
    """Return `(x - loc) / scale`, and NaN where the scale or a parameter is invalid."""
    z = np.divide(np.subtract(x, loc), scale)
    return np.where((scale > 0) & valid, z, math.nan)


def probability(q: Any, scale: Any, valid: Any = True) -> Any:  # noqa: FBT002 - an array of bools
    """Return the argument of a quantile function, and NaN where there is no quantile."""
    return np.where((q >= 0) & (q <= 1) & (scale > 0) & valid, q, math.nan)


def density(z: Any, formula: Formula, low: Any, high: Any, safe: Any) -> Any:
    """Return the log of a density, which is 0 outside of the support.

    Args:
        z: the arguments.
        formula: the log of the density from `low` to `high`.
        low: the lower end.
        high: the upper end.
        safe: a number inside, where the formula has a derivative.
    """
    below, above = _outside(z, low, high)
    return _elsewhere(below | above, -math.inf, z, formula, safe)


def distribution(
    z: Any, formula: Formula, low: Any, high: Any, safe: Any, ends: tuple[float, float]
) -> Any:
    """Return a distribution function, which is constant outside of the support.

    Args:
        z: the arguments.
        formula: the function from `low` to `high`.
        low: the lower end.
        high: the upper end.
        safe: a number inside, where the formula has a derivative.
        ends: the values below and above.
    """
    below, above = _outside(z, low, high)
    outside = np.where(below, *ends)
    return _elsewhere(below | above, outside, z, formula, safe)


def mass(k: Any, formula: Formula, low: Any, high: Any, valid: Any) -> Any:
    """Return the log of a probability mass, which is 0 but at integers of the support.

    Args:
        k: the arguments.
        formula: the log of the mass at integers from `low` to `high`.
        low: the least integer.
        high: the greatest integer, or infinity.
        valid: where the parameters are.
    """
    k = np.where(valid, k, math.nan)
    below, above = _outside(k, low, high)
    none = below | above | (k > np.floor(k))
    return _elsewhere(none, -math.inf, k, formula, low)


def _outside(z: Any, low: Any, high: Any) -> tuple[Any, Any]:
    return (z < low) | (z == -math.inf), (z > high) | (z == math.inf)


def _elsewhere(outside: Any, value: Any, z: Any, formula: Formula, safe: Any) -> Any:
    return np.where(outside, value, formula(np.where(outside, safe, z)))


# ---- formulas of several distributions ----


def exp(x: Any) -> Any:
    """Return the exponential of `x`, and NaN for NaN.

    The compiler's own is undefined for a NaN that it sees in the program, such as that of
    an invalid parameter: the result is then whatever was in memory.
    """
    return np.where(np.isnan(x), x, np.exp(x))


def expm1(x: Any) -> Any:
    """Return `exp(x) - 1`, and NaN for NaN, as `exp`."""
    return np.where(np.isnan(x), x, np.expm1(x))


def log1p_square(y: Any) -> Any:
    """Return `log1p(y * y)`, also where the square overflows."""
    size = np.abs(y)
    far = size > float(cast("Any", finfo(y.dtype)).eps) ** -0.5
    near = np.where(far, 0, y)
    return np.where(far, 2 * np.log(np.where(far, size, 1)), np.log1p(near * near))


def log1mexp(u: Any) -> Any:
    """Return `log(1 - exp(-u))` for `u` of at least 0, precisely near both ends."""
    small = u < _LOG_2
    near, far = np.where(small, u, _LOG_2), np.where(small, _LOG_2, u)
    return np.where(small, np.log(-expm1(-near)), np.log1p(-exp(-far)))


def log_gompertz(z: Any) -> Any:
    """Return `log(1 - exp(-exp(z)))`, precisely for all `z`."""
    flat = z < _TINY_LOG
    return np.where(flat, z, log1mexp(exp(np.where(flat, 0, z))))


def log_tail(lesser: Any, tail: Any, other: Any) -> Any:
    """Return the log of a probability, of which the lesser side is known.

    Args:
        lesser: where `tail` is the probability; elsewhere it is `1 - other`.
        tail: the probability.
        other: that of the other side.
    """
    near_1 = np.log1p(-np.where(lesser, 0, other))
    return np.where(lesser, np.log(np.where(lesser, tail, 1)), near_1)
