"""The exponential distribution, as in `scipy.stats.expon`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math

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
    expm1,
    log1mexp,
    probability,
    standard,
)


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the density of the exponential distribution.

    Args:
        x: the points, real.
        loc: the lower end of the support.
        scale: the inverse of the rate, positive.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; -inf
        outside of [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.expon`.

    Example:
        >>> from imprint.scipy.stats import expon
        >>> expon.logpdf(0.5).round(4)
        Array(-0.5, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("expon.logpdf", x, loc, scale)
    z = standard(x, loc, scale)
    return density(z, lambda z: -z - np.log(scale), 0, math.inf, 1)


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of the exponential distribution.

    Args:
        x: the points, real.
        loc: the lower end of the support.
        scale: the inverse of the rate, positive.

    Returns:
        The density, of the broadcast shape and the common floating dtype; 0 outside of
        [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.expon`.

    Example:
        >>> from imprint.scipy.stats import expon
        >>> expon.pdf(0.5).round(4)
        Array(0.6065, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the cumulative distribution of the exponential distribution.

    Args:
        x: the points, real.
        loc: the lower end of the support.
        scale: the inverse of the rate, positive.

    Returns:
        The probability of a value up to `x`, of the broadcast shape and the common floating
        dtype; 0 below [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.expon`.

    Example:
        >>> from imprint.scipy.stats import expon
        >>> expon.cdf(0.5).round(4)
        Array(0.3935, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("expon.cdf", x, loc, scale)
    z = standard(x, loc, scale)
    return distribution(z, lambda z: -expm1(-z), 0, math.inf, 1, CDF)


def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the cumulative distribution of the exponential distribution.

    Args:
        x: the points, real.
        loc: the lower end of the support.
        scale: the inverse of the rate, positive.

    Returns:
        The log of the probability of a value up to `x`, of the broadcast shape and the
        common floating dtype; -inf below [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.expon`.

    Example:
        >>> from imprint.scipy.stats import expon
        >>> expon.logcdf(0.5).round(4)
        Array(-0.9328, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("expon.logcdf", x, loc, scale)
    z = standard(x, loc, scale)
    return distribution(z, log1mexp, 0, math.inf, 1, LOG_CDF)


def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the survival function of the exponential distribution.

    Args:
        x: the points, real.
        loc: the lower end of the support.
        scale: the inverse of the rate, positive.

    Returns:
        The probability of a value above `x`, of the broadcast shape and the common floating
        dtype; 1 below [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.expon`.

    Example:
        >>> from imprint.scipy.stats import expon
        >>> expon.sf(0.5).round(4)
        Array(0.6065, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("expon.sf", x, loc, scale)
    z = standard(x, loc, scale)
    return distribution(z, lambda z: exp(-z), 0, math.inf, 1, SF)


def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the survival function of the exponential distribution.

    Args:
        x: the points, real.
        loc: the lower end of the support.
        scale: the inverse of the rate, positive.

    Returns:
        The log of the probability of a value above `x`, of the broadcast shape and the
        common floating dtype; 0 below [loc, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.expon`.

    Example:
        >>> from imprint.scipy.stats import expon
        >>> expon.logsf(0.5).round(4)
        Array(-0.5, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("expon.logsf", x, loc, scale)
    z = standard(x, loc, scale)
    return distribution(z, np.negative, 0, math.inf, 1, LOG_SF)


def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the quantile function of the exponential distribution.

    Args:
        q: the probabilities, in [0, 1].
        loc: the lower end of the support.
        scale: the inverse of the rate, positive.

    Returns:
        The value up to which the probability is `q`, of the broadcast shape and the common
        floating dtype; NaN where `q` is not in [0, 1] and for invalid parameters.

    References:
        SciPy, `scipy.stats.expon`.

    Example:
        >>> from imprint.scipy.stats import expon
        >>> expon.ppf(0.5).round(4)
        Array(0.6931, dtype=float32, weak_type=True)
    """
    q, loc, scale = floats("expon.ppf", q, loc, scale)
    return loc - scale * np.log1p(-probability(q, scale))
