"""The truncated normal distribution, as in `scipy.stats.truncnorm`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math
from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint.scipy import special


def logpdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the density of the truncated normal distribution.

    Example:
        >>> from imprint.scipy.stats import truncnorm
        >>> truncnorm.logpdf(0.5, -1.0, 2.0).round(4)
        Array(-0.8438, dtype=float32)
    """
    x, a, b, loc, scale = floats("truncnorm.logpdf", x, a, b, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    value = -0.5 * z * z - math.log(2 * math.pi) / 2 - np.log(scale)
    inside = (z >= a) & (z <= b)
    return np.where(inside, value - _log_mass(a, b), -math.inf)


def pdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the density of the truncated normal distribution.

    Example:
        >>> from imprint.scipy.stats import truncnorm
        >>> truncnorm.pdf(0.5, -1.0, 2.0).round(4)
        Array(0.4301, dtype=float32)
    """
    return np.exp(logpdf(x, a, b, loc, scale))


def cdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the cumulative distribution of the truncated normal distribution.

    Example:
        >>> from imprint.scipy.stats import truncnorm
        >>> truncnorm.cdf(0.5, -1.0, 2.0).round(4)
        Array(0.6509, dtype=float32)
    """
    return np.exp(logcdf(x, a, b, loc, scale))


def logcdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the cumulative distribution of the truncated normal distribution.

    Example:
        >>> from imprint.scipy.stats import truncnorm
        >>> truncnorm.logcdf(0.5, -1.0, 2.0).round(4)
        Array(-0.4294, dtype=float32)
    """
    x, a, b, loc, scale = floats("truncnorm.logcdf", x, a, b, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    return _log_mass(a, np.clip(z, a, b)) - _log_mass(a, b)


def sf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the survival function of the truncated normal distribution.

    Example:
        >>> from imprint.scipy.stats import truncnorm
        >>> truncnorm.sf(0.5, -1.0, 2.0).round(4)
        Array(0.3491, dtype=float32)
    """
    return np.exp(logsf(x, a, b, loc, scale))


def logsf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the survival function of the truncated normal distribution.

    Example:
        >>> from imprint.scipy.stats import truncnorm
        >>> truncnorm.logsf(0.5, -1.0, 2.0).round(4)
        Array(-1.0523, dtype=float32)
    """
    x, a, b, loc, scale = floats("truncnorm.logsf", x, a, b, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    return _log_mass(np.clip(z, a, b), b) - _log_mass(a, b)


def _log_mass(a: Any, b: Any) -> Any:
    """Return the log of the normal probability between two points."""
    right = a > 0
    low, high = np.where(right, -b, a), np.where(right, -a, b)
    left = high <= 0
    # Both branches get operands at which they are differentiable.
    tail_low, tail_high = np.where(left, low, -2), np.where(left, high, -1)
    upper = special.log_ndtr(tail_high)
    rest = np.exp(special.log_ndtr(tail_low) - upper)
    tail = upper + np.log1p(-rest)
    outside = special.ndtr(np.where(left, -1, low)) + special.ndtr(
        np.where(left, -1, -high)
    )
    return np.where(left, tail, np.log1p(-outside))
