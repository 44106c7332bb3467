"""The exponential distribution, as in `scipy.stats.expon`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the density of the exponential distribution.

    Example:
        >>> from imprint.scipy.stats import expon
        >>> expon.logpdf(0.5).round(4)
        Array(-0.5, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("expon.logpdf", x, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    return np.where(z < 0, -math.inf, -z - np.log(scale))


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of the exponential distribution.

    Example:
        >>> from imprint.scipy.stats import expon
        >>> expon.pdf(0.5).round(4)
        Array(0.6065, dtype=float32, weak_type=True)
    """
    return np.exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the cumulative distribution of the exponential distribution.

    Example:
        >>> from imprint.scipy.stats import expon
        >>> expon.cdf(0.5).round(4)
        Array(0.3935, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("expon.cdf", x, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    return np.where(z < 0, 0, -np.expm1(-z))


def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the cumulative distribution of the exponential distribution.

    Example:
        >>> from imprint.scipy.stats import expon
        >>> expon.logcdf(0.5).round(4)
        Array(-0.9328, dtype=float32, weak_type=True)
    """
    return np.log(cdf(x, loc, scale))


def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the survival function of the exponential distribution.

    Example:
        >>> from imprint.scipy.stats import expon
        >>> expon.sf(0.5).round(4)
        Array(0.6065, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("expon.sf", x, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    return np.where(z < 0, 1, np.exp(-z))


def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the survival function of the exponential distribution.

    Example:
        >>> from imprint.scipy.stats import expon
        >>> expon.logsf(0.5).round(4)
        Array(-0.5, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("expon.logsf", x, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    return np.where(z < 0, 0, -z)


def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the quantile function of the exponential distribution.

    Example:
        >>> from imprint.scipy.stats import expon
        >>> expon.ppf(0.5).round(4)
        Array(0.6931, dtype=float32, weak_type=True)
    """
    q, loc, scale = floats("expon.ppf", q, loc, scale)
    return np.where((q >= 0) & (q <= 1), loc - scale * np.log1p(-q), math.nan)
