"""The gamma distribution, as in `scipy.stats.gamma`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint.scipy import special


def logpdf(
    x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the density of the gamma distribution.

    Example:
        >>> from imprint.scipy.stats import gamma
        >>> gamma.logpdf(0.5, 2.0).round(4)
        Array(-1.1931, dtype=float32, weak_type=True)
    """
    x, a, loc, scale = floats("gamma.logpdf", x, a, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    inside = np.where(z < 0, 1, z)
    value = special.xlogy(a - 1, inside) - inside - special.gammaln(a)
    return np.where(z < 0, -math.inf, value - np.log(scale))


def pdf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of the gamma distribution.

    Example:
        >>> from imprint.scipy.stats import gamma
        >>> gamma.pdf(0.5, 2.0).round(4)
        Array(0.3033, dtype=float32, weak_type=True)
    """
    return np.exp(logpdf(x, a, loc, scale))


def cdf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the cumulative distribution of the gamma distribution.

    Example:
        >>> from imprint.scipy.stats import gamma
        >>> gamma.cdf(0.5, 2.0).round(4)
        Array(0.0902, dtype=float32, weak_type=True)
    """
    x, a, loc, scale = floats("gamma.cdf", x, a, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    return special.gammainc(a, np.where(z < 0, 0, z))


def logcdf(
    x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the cumulative distribution of the gamma distribution.

    Example:
        >>> from imprint.scipy.stats import gamma
        >>> gamma.logcdf(0.5, 2.0).round(4)
        Array(-2.4057, dtype=float32, weak_type=True)
    """
    return np.log(cdf(x, a, loc, scale))


def sf(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the survival function of the gamma distribution.

    Example:
        >>> from imprint.scipy.stats import gamma
        >>> gamma.sf(0.5, 2.0).round(4)
        Array(0.9098, dtype=float32, weak_type=True)
    """
    x, a, loc, scale = floats("gamma.sf", x, a, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    return special.gammaincc(a, np.where(z < 0, 0, z))


def logsf(
    x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the survival function of the gamma distribution.

    Example:
        >>> from imprint.scipy.stats import gamma
        >>> gamma.logsf(0.5, 2.0).round(4)
        Array(-0.0945, dtype=float32, weak_type=True)
    """
    return np.log(sf(x, a, loc, scale))
