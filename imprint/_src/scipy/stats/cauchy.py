"""The Cauchy distribution, as in `scipy.stats.cauchy`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the density of the Cauchy distribution.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.logpdf(0.5).round(4)
        Array(-1.3679, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("cauchy.logpdf", x, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    return -np.log1p(z * z) - np.log(scale) - math.log(math.pi)


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of the Cauchy distribution.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.pdf(0.5).round(4)
        Array(0.2546, dtype=float32, weak_type=True)
    """
    return np.exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the cumulative distribution of the Cauchy distribution.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.cdf(0.5).round(4)
        Array(0.6476, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("cauchy.cdf", x, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    return np.arctan2(1, -z) / math.pi


def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the cumulative distribution of the Cauchy distribution.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.logcdf(0.5).round(4)
        Array(-0.4345, dtype=float32, weak_type=True)
    """
    return np.log(cdf(x, loc, scale))


def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the survival function of the Cauchy distribution.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.sf(0.5).round(4)
        Array(0.3524, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("cauchy.sf", x, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    return np.arctan2(1, z) / math.pi


def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the survival function of the Cauchy distribution.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.logsf(0.5).round(4)
        Array(-1.0429, dtype=float32, weak_type=True)
    """
    return np.log(sf(x, loc, scale))


def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the quantile function of the Cauchy distribution.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.ppf(0.5).round(4)
        Array(0., dtype=float32, weak_type=True)
    """
    q, loc, scale = floats("cauchy.ppf", q, loc, scale)
    return loc + scale * np.tan(math.pi * (q - 0.5))


def isf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the inverse survival function of the Cauchy distribution.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.isf(0.5).round(4)
        Array(0., dtype=float32, weak_type=True)
    """
    q, loc, scale = floats("cauchy.isf", q, loc, scale)
    return loc + scale * np.tan(math.pi * (0.5 - q))
