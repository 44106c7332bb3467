"""The generalized normal distribution, as in `scipy.stats.gennorm`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import exp
from imprint.scipy import special


def logpdf(x: ArrayLike, beta: ArrayLike) -> Array:
    """Return the log of the density of the generalized normal distribution.

    Args:
        x: the points, real.
        beta: the exponent of `abs(x)`, positive.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; NaN
        for invalid parameters.

    References:
        SciPy, `scipy.stats.gennorm`.

    Example:
        >>> from imprint.scipy.stats import gennorm
        >>> gennorm.logpdf(0.5, 2.0).round(4)
        Array(-0.8224, dtype=float32, weak_type=True)
    """
    x, beta = floats("gennorm.logpdf", x, beta)
    beta = np.where(beta > 0, beta, math.nan)
    return np.log(beta / 2) - special.gammaln(1 / beta) - np.abs(x) ** beta


def pdf(x: ArrayLike, beta: ArrayLike) -> Array:
    """Return the density of the generalized normal distribution.

    Args:
        x: the points, real.
        beta: the exponent of `abs(x)`, positive.

    Returns:
        The density, of the broadcast shape and the common floating dtype; NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.gennorm`.

    Example:
        >>> from imprint.scipy.stats import gennorm
        >>> gennorm.pdf(0.5, 2.0).round(4)
        Array(0.4394, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, beta))


def cdf(x: ArrayLike, beta: ArrayLike) -> Array:
    """Return the cumulative distribution of the generalized normal distribution.

    Args:
        x: the points, real.
        beta: the exponent of `abs(x)`, positive.

    Returns:
        The probability of a value up to `x`, of the broadcast shape and the common floating
        dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.gennorm`.

    Example:
        >>> from imprint.scipy.stats import gennorm
        >>> gennorm.cdf(0.5, 2.0).round(4)
        Array(0.7602, dtype=float32, weak_type=True)
    """
    x, beta = floats("gennorm.cdf", x, beta)
    beta = np.where(beta > 0, beta, math.nan)
    half = 0.5 * special.gammaincc(1 / beta, np.abs(x) ** beta)
    return np.where(x < 0, half, 1 - half)
