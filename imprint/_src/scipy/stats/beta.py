"""The beta distribution, as in `scipy.stats.beta`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint.scipy import special


def logpdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the density of the beta distribution.

    Example:
        >>> from imprint.scipy.stats import beta
        >>> beta.logpdf(0.5, 2.0, 3.0).round(4)
        Array(0.4055, dtype=float32, weak_type=True)
    """
    x, a, b, loc, scale = floats("beta.logpdf", x, a, b, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    inside = (z >= 0) & (z <= 1)
    part = np.where(inside, z, 0.5)
    value = special.xlogy(a - 1, part) + special.xlog1py(b - 1, -part)
    value = value - special.betaln(a, b) - np.log(scale)
    return np.where(inside, value, -math.inf)


def pdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the density of the beta distribution.

    Example:
        >>> from imprint.scipy.stats import beta
        >>> beta.pdf(0.5, 2.0, 3.0).round(4)
        Array(1.5, dtype=float32, weak_type=True)
    """
    return np.exp(logpdf(x, a, b, loc, scale))


def cdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the cumulative distribution of the beta distribution.

    Example:
        >>> from imprint.scipy.stats import beta
        >>> beta.cdf(0.5, 2.0, 3.0).round(4)
        Array(0.6875, dtype=float32, weak_type=True)
    """
    x, a, b, loc, scale = floats("beta.cdf", x, a, b, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    return special.betainc(a, b, np.clip(z, 0, 1))


def logcdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the cumulative distribution of the beta distribution.

    Example:
        >>> from imprint.scipy.stats import beta
        >>> beta.logcdf(0.5, 2.0, 3.0).round(4)
        Array(-0.3747, dtype=float32, weak_type=True)
    """
    return np.log(cdf(x, a, b, loc, scale))


def sf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the survival function of the beta distribution.

    Example:
        >>> from imprint.scipy.stats import beta
        >>> beta.sf(0.5, 2.0, 3.0).round(4)
        Array(0.3125, dtype=float32, weak_type=True)
    """
    x, a, b, loc, scale = floats("beta.sf", x, a, b, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    return special.betainc(b, a, np.clip(1 - z, 0, 1))


def logsf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the survival function of the beta distribution.

    Example:
        >>> from imprint.scipy.stats import beta
        >>> beta.logsf(0.5, 2.0, 3.0).round(4)
        Array(-1.1632, dtype=float32, weak_type=True)
    """
    return np.log(sf(x, a, b, loc, scale))
