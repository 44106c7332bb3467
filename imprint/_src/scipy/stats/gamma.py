"""The gamma distribution, as in `scipy.stats.gamma`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math
from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import (
    CDF,
    LOG_CDF,
    LOG_SF,
    SF,
    density,
    distribution,
    exp,
    log_tail,
    standard,
)
from imprint.scipy import special


def logpdf(
    x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the density of the gamma distribution.

    Args:
        x: the points, real.
        a: the shape parameter, positive.
        loc: the lower end of the support.
        scale: the inverse of the rate, positive.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; -inf
        outside of [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.gamma`.

    Example:
        >>> from imprint.scipy.stats import gamma
        >>> gamma.logpdf(0.5, 2.0).round(4)
        Array(-1.1931, dtype=float32, weak_type=True)
    """
    x, a, loc, scale = floats("gamma.logpdf", x, a, loc, scale)
    z = standard(x, loc, scale, a > 0)

    def inside(z: Any) -> Any:
        value = special.xlogy(a - 1, z) - z - special.gammaln(a)
        return value - np.log(scale)

    return density(z, inside, 0, math.inf, 1)


def pdf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of the gamma distribution.

    Args:
        x: the points, real.
        a: the shape parameter, positive.
        loc: the lower end of the support.
        scale: the inverse of the rate, positive.

    Returns:
        The density, of the broadcast shape and the common floating dtype; 0 outside of
        [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.gamma`.

    Example:
        >>> from imprint.scipy.stats import gamma
        >>> gamma.pdf(0.5, 2.0).round(4)
        Array(0.3033, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, a, loc, scale))


def cdf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the cumulative distribution of the gamma distribution.

    Args:
        x: the points, real.
        a: the shape parameter, positive.
        loc: the lower end of the support.
        scale: the inverse of the rate, positive.

    Returns:
        The probability of a value up to `x`, of the broadcast shape and the common floating
        dtype; 0 below [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.gamma`.

    Example:
        >>> from imprint.scipy.stats import gamma
        >>> gamma.cdf(0.5, 2.0).round(4)
        Array(0.0902, dtype=float32, weak_type=True)
    """
    x, a, loc, scale = floats("gamma.cdf", x, a, loc, scale)
    z = standard(x, loc, scale, a > 0)
    return distribution(z, lambda z: special.gammainc(a, z), 0, math.inf, 1, CDF)


def logcdf(
    x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the cumulative distribution of the gamma distribution.

    Args:
        x: the points, real.
        a: the shape parameter, positive.
        loc: the lower end of the support.
        scale: the inverse of the rate, positive.

    Returns:
        The log of the probability of a value up to `x`, of the broadcast shape and the
        common floating dtype; -inf below [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.gamma`.

    Example:
        >>> from imprint.scipy.stats import gamma
        >>> gamma.logcdf(0.5, 2.0).round(4)
        Array(-2.4057, dtype=float32, weak_type=True)
    """
    x, a, loc, scale = floats("gamma.logcdf", x, a, loc, scale)
    z = standard(x, loc, scale, a > 0)

    def inside(z: Any) -> Any:
        left = z < a
        lower = special.gammainc(a, np.where(left, z, 1))
        upper = special.gammaincc(a, np.where(left, 1, z))
        return log_tail(left, lower, upper)

    return distribution(z, inside, 0, math.inf, 1, LOG_CDF)


def sf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the survival function of the gamma distribution.

    Args:
        x: the points, real.
        a: the shape parameter, positive.
        loc: the lower end of the support.
        scale: the inverse of the rate, positive.

    Returns:
        The probability of a value above `x`, of the broadcast shape and the common floating
        dtype; 1 below [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.gamma`.

    Example:
        >>> from imprint.scipy.stats import gamma
        >>> gamma.sf(0.5, 2.0).round(4)
        Array(0.9098, dtype=float32, weak_type=True)
    """
    x, a, loc, scale = floats("gamma.sf", x, a, loc, scale)
    z = standard(x, loc, scale, a > 0)
    return distribution(z, lambda z: special.gammaincc(a, z), 0, math.inf, 1, SF)


def logsf(
    x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the survival function of the gamma distribution.

    Args:
        x: the points, real.
        a: the shape parameter, positive.
        loc: the lower end of the support.
        scale: the inverse of the rate, positive.

    Returns:
        The log of the probability of a value above `x`, of the broadcast shape and the
        common floating dtype; 0 below [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.gamma`.

    Example:
        >>> from imprint.scipy.stats import gamma
        >>> gamma.logsf(0.5, 2.0).round(4)
        Array(-0.0945, dtype=float32, weak_type=True)
    """
    x, a, loc, scale = floats("gamma.logsf", x, a, loc, scale)
    z = standard(x, loc, scale, a > 0)

    def inside(z: Any) -> Any:
        left = z < a
        lower = special.gammainc(a, np.where(left, z, 1))
        upper = special.gammaincc(a, np.where(left, 1, z))
        return log_tail(~left, upper, lower)

    return distribution(z, inside, 0, math.inf, 1, LOG_SF)
