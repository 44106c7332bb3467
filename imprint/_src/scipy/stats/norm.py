"""The normal distribution, as in `scipy.stats.norm`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import exp, probability, standard
from imprint.scipy import special


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the density of the normal distribution.

    Args:
        x: the points, real.
        loc: the mean.
        scale: the standard deviation, positive.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; NaN
        for invalid parameters.

    References:
        SciPy, `scipy.stats.norm`.

    Example:
        >>> from imprint.scipy.stats import norm
        >>> norm.logpdf(0.5).round(4)
        Array(-1.0439, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("norm.logpdf", x, loc, scale)
    z = standard(x, loc, scale)
    return -0.5 * z * z - np.log(scale) - math.log(2 * math.pi) / 2


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of the normal distribution.

    Args:
        x: the points, real.
        loc: the mean.
        scale: the standard deviation, positive.

    Returns:
        The density, of the broadcast shape and the common floating dtype; NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.norm`.

    Example:
        >>> from imprint.scipy.stats import norm
        >>> norm.pdf(0.5).round(4)
        Array(0.3521, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the cumulative distribution of the normal distribution.

    Args:
        x: the points, real.
        loc: the mean.
        scale: the standard deviation, positive.

    Returns:
        The probability of a value up to `x`, of the broadcast shape and the common floating
        dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.norm`.

    Example:
        >>> from imprint.scipy.stats import norm
        >>> norm.cdf(0.5).round(4)
        Array(0.6915, dtype=float32)
    """
    x, loc, scale = floats("norm.cdf", x, loc, scale)
    z = standard(x, loc, scale)
    return special.ndtr(z)


def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the cumulative distribution of the normal distribution.

    Args:
        x: the points, real.
        loc: the mean.
        scale: the standard deviation, positive.

    Returns:
        The log of the probability of a value up to `x`, of the broadcast shape and the
        common floating dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.norm`.

    Example:
        >>> from imprint.scipy.stats import norm
        >>> norm.logcdf(0.5).round(4)
        Array(-0.3689, dtype=float32)
    """
    x, loc, scale = floats("norm.logcdf", x, loc, scale)
    z = standard(x, loc, scale)
    return special.log_ndtr(z)


def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the survival function of the normal distribution.

    Args:
        x: the points, real.
        loc: the mean.
        scale: the standard deviation, positive.

    Returns:
        The probability of a value above `x`, of the broadcast shape and the common floating
        dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.norm`.

    Example:
        >>> from imprint.scipy.stats import norm
        >>> norm.sf(0.5).round(4)
        Array(0.3085, dtype=float32)
    """
    x, loc, scale = floats("norm.sf", x, loc, scale)
    z = standard(x, loc, scale)
    return special.ndtr(-z)


def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the survival function of the normal distribution.

    Args:
        x: the points, real.
        loc: the mean.
        scale: the standard deviation, positive.

    Returns:
        The log of the probability of a value above `x`, of the broadcast shape and the
        common floating dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.norm`.

    Example:
        >>> from imprint.scipy.stats import norm
        >>> norm.logsf(0.5).round(4)
        Array(-1.1759, dtype=float32)
    """
    x, loc, scale = floats("norm.logsf", x, loc, scale)
    z = standard(x, loc, scale)
    return special.log_ndtr(-z)


def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the quantile function of the normal distribution.

    Args:
        q: the probabilities, in [0, 1].
        loc: the mean.
        scale: the standard deviation, positive.

    Returns:
        The value up to which the probability is `q`, of the broadcast shape and the common
        floating dtype; NaN where `q` is not in [0, 1] and for invalid parameters.

    References:
        SciPy, `scipy.stats.norm`.

    Example:
        >>> from imprint.scipy.stats import norm
        >>> norm.ppf(0.5).round(4)
        Array(0., dtype=float32)
    """
    q, loc, scale = floats("norm.ppf", q, loc, scale)
    q = probability(q, scale)
    return special.ndtri(q) * scale + loc


def isf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the inverse survival function of the normal distribution.

    Args:
        q: the probabilities, in [0, 1].
        loc: the mean.
        scale: the standard deviation, positive.

    Returns:
        The value above which the probability is `q`, of the broadcast shape and the common
        floating dtype; NaN where `q` is not in [0, 1] and for invalid parameters.

    References:
        SciPy, `scipy.stats.norm`.

    Example:
        >>> from imprint.scipy.stats import norm
        >>> norm.isf(0.5).round(4)
        Array(0., dtype=float32)
    """
    q, loc, scale = floats("norm.isf", q, loc, scale)
    q = probability(q, scale)
    return loc - special.ndtri(q) * scale
