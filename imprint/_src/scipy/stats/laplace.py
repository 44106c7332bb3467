"""The Laplace distribution, as in `scipy.stats.laplace`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import exp, standard


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the density of the Laplace distribution.

    Args:
        x: the points, real.
        loc: the mean.
        scale: the mean distance from the mean, positive.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; NaN
        for invalid parameters.

    References:
        SciPy, `scipy.stats.laplace`.

    Example:
        >>> from imprint.scipy.stats import laplace
        >>> laplace.logpdf(0.5).round(4)
        Array(-1.1931, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("laplace.logpdf", x, loc, scale)
    z = standard(x, loc, scale)
    return -np.abs(z) - np.log(2 * scale)


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of the Laplace distribution.

    Args:
        x: the points, real.
        loc: the mean.
        scale: the mean distance from the mean, positive.

    Returns:
        The density, of the broadcast shape and the common floating dtype; NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.laplace`.

    Example:
        >>> from imprint.scipy.stats import laplace
        >>> laplace.pdf(0.5).round(4)
        Array(0.3033, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the cumulative distribution of the Laplace distribution.

    Args:
        x: the points, real.
        loc: the mean.
        scale: the mean distance from the mean, positive.

    Returns:
        The probability of a value up to `x`, of the broadcast shape and the common floating
        dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.laplace`.

    Example:
        >>> from imprint.scipy.stats import laplace
        >>> laplace.cdf(0.5).round(4)
        Array(0.6967, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("laplace.cdf", x, loc, scale)
    z = standard(x, loc, scale)
    half = 0.5 * exp(-np.abs(z))
    return np.where(z < 0, half, 1 - half)
