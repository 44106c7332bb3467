"""The truncated normal distribution, as in `scipy.stats.truncnorm`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math
from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import density, exp, standard
from imprint.scipy import special


def logpdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the density of the truncated normal distribution.

    Args:
        x: the points, real.
        a: the lower end of the support of the standard distribution, less than `b`.
        b: its upper end.
        loc: the mean before the truncation.
        scale: the standard deviation before the truncation, positive.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; -inf
        outside of [loc + a * scale, loc + b * scale], and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.truncnorm`.

    Example:
        >>> from imprint.scipy.stats import truncnorm
        >>> truncnorm.logpdf(0.5, -1.0, 2.0).round(4)
        Array(-0.8438, dtype=float32)
    """
    x, a, b, loc, scale = floats("truncnorm.logpdf", x, a, b, loc, scale)
    z = standard(x, loc, scale, a < b)

    def inside(z: Any) -> Any:
        value = -0.5 * z * z - math.log(2 * math.pi) / 2 - np.log(scale)
        return value - _log_mass(a, b)

    return density(z, inside, a, b, 0)


def pdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the density of the truncated normal distribution.

    Args:
        x: the points, real.
        a: the lower end of the support of the standard distribution, less than `b`.
        b: its upper end.
        loc: the mean before the truncation.
        scale: the standard deviation before the truncation, positive.

    Returns:
        The density, of the broadcast shape and the common floating dtype; 0 outside of [loc
        + a * scale, loc + b * scale], and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.truncnorm`.

    Example:
        >>> from imprint.scipy.stats import truncnorm
        >>> truncnorm.pdf(0.5, -1.0, 2.0).round(4)
        Array(0.4301, dtype=float32)
    """
    return exp(logpdf(x, a, b, loc, scale))


def cdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the cumulative distribution of the truncated normal distribution.

    Args:
        x: the points, real.
        a: the lower end of the support of the standard distribution, less than `b`.
        b: its upper end.
        loc: the mean before the truncation.
        scale: the standard deviation before the truncation, positive.

    Returns:
        The probability of a value up to `x`, of the broadcast shape and the common floating
        dtype; 0 below [loc + a * scale, loc + b * scale], 1 above, and NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.truncnorm`.

    Example:
        >>> from imprint.scipy.stats import truncnorm
        >>> truncnorm.cdf(0.5, -1.0, 2.0).round(4)
        Array(0.6509, dtype=float32)
    """
    return exp(logcdf(x, a, b, loc, scale))


def logcdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the cumulative distribution of the truncated normal distribution.

    Args:
        x: the points, real.
        a: the lower end of the support of the standard distribution, less than `b`.
        b: its upper end.
        loc: the mean before the truncation.
        scale: the standard deviation before the truncation, positive.

    Returns:
        The log of the probability of a value up to `x`, of the broadcast shape and the
        common floating dtype; -inf below [loc + a * scale, loc + b * scale], 0 above, and
        NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.truncnorm`.

    Example:
        >>> from imprint.scipy.stats import truncnorm
        >>> truncnorm.logcdf(0.5, -1.0, 2.0).round(4)
        Array(-0.4294, dtype=float32)
    """
    x, a, b, loc, scale = floats("truncnorm.logcdf", x, a, b, loc, scale)
    z = standard(x, loc, scale, a < b)
    return _log_share(z, a, b)


def sf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the survival function of the truncated normal distribution.

    Args:
        x: the points, real.
        a: the lower end of the support of the standard distribution, less than `b`.
        b: its upper end.
        loc: the mean before the truncation.
        scale: the standard deviation before the truncation, positive.

    Returns:
        The probability of a value above `x`, of the broadcast shape and the common floating
        dtype; 1 below [loc + a * scale, loc + b * scale], 0 above, and NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.truncnorm`.

    Example:
        >>> from imprint.scipy.stats import truncnorm
        >>> truncnorm.sf(0.5, -1.0, 2.0).round(4)
        Array(0.3491, dtype=float32)
    """
    return exp(logsf(x, a, b, loc, scale))


def logsf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the survival function of the truncated normal distribution.

    Args:
        x: the points, real.
        a: the lower end of the support of the standard distribution, less than `b`.
        b: its upper end.
        loc: the mean before the truncation.
        scale: the standard deviation before the truncation, positive.

    Returns:
        The log of the probability of a value above `x`, of the broadcast shape and the
        common floating dtype; 0 below [loc + a * scale, loc + b * scale], -inf above, and
        NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.truncnorm`.

    Example:
        >>> from imprint.scipy.stats import truncnorm
        >>> truncnorm.logsf(0.5, -1.0, 2.0).round(4)
        Array(-1.0523, dtype=float32)
    """
    x, a, b, loc, scale = floats("truncnorm.logsf", x, a, b, loc, scale)
    z = standard(x, loc, scale, a < b)
    return _log_share(-z, -b, -a)


def _log_share(z: Any, a: Any, b: Any) -> Any:
    """Return the log of the part of the probability from a to b that is up to z."""
    below, above = z <= a, z >= b
    outside = below | above
    low, high = np.where(outside, -1, a), np.where(outside, 1, b)
    z = np.where(outside, 0, z)
    total = _log_mass(low, high)
    part, rest = _log_mass(low, z) - total, _log_mass(z, high) - total
    # Near 1 the rest is the precise one.
    most = part > rest
    value = np.where(most, np.log1p(-exp(np.where(most, rest, -1))), part)
    return np.where(below, -math.inf, np.where(above, 0, value))


def _log_mass(a: Any, b: Any) -> Any:
    """Return the log of the normal probability between two points."""
    near = (b - a) * np.maximum(1, np.abs(a + b)) < 0.1
    right = a > 0
    low, high = np.where(right, -b, a), np.where(right, -a, b)
    left = (high <= 0) & ~near
    # All branches get operands at which they are differentiable.
    all_below = low == -math.inf
    tail_low, tail_high = np.where(left & ~all_below, low, -2), np.where(left, high, -1)
    upper = special.log_ndtr(tail_high)
    rest = exp(special.log_ndtr(tail_low) - upper)
    tail = upper + np.log1p(-np.where(all_below, 0, rest))
    apart = ~left & ~near
    outside = special.ndtr(np.where(apart, low, -1)) + special.ndtr(
        np.where(apart, -high, -1)
    )
    value = np.where(left, tail, np.log1p(-outside))
    return np.where(
        near, _log_narrow(np.where(near, a, 0), np.where(near, b, 0.1)), value
    )


def _log_narrow(a: Any, b: Any) -> Any:
    """Return it for points that are close: by derivatives at their middle."""
    width, middle = b - a, (a + b) / 2
    u, t = width * width, (width * middle) ** 2
    series = (t - u) / 24 + (t * t - 6 * t * u + 3 * u * u) / 1920
    series = series + (t**3 - 15 * t * t * u + 45 * t * u * u - 15 * u**3) / 322560
    peak = -middle * middle / 2 - math.log(2 * math.pi) / 2
    return np.log(width) + peak + np.log1p(series)
