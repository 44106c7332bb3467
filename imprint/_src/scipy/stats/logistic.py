"""The logistic distribution, as in `scipy.stats.logistic`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import exp, probability, standard
from imprint.scipy import special


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the density of the logistic distribution.

    Args:
        x: the points, real.
        loc: the mean.
        scale: √3/π times the standard deviation, positive.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; NaN
        for invalid parameters.

    References:
        SciPy, `scipy.stats.logistic`.

    Example:
        >>> from imprint.scipy.stats import logistic
        >>> logistic.logpdf(0.5).round(4)
        Array(-1.4482, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("logistic.logpdf", x, loc, scale)
    z = standard(x, loc, scale)
    size = np.abs(z)
    return -size - 2 * np.log1p(exp(-size)) - np.log(scale)


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of the logistic distribution.

    Args:
        x: the points, real.
        loc: the mean.
        scale: √3/π times the standard deviation, positive.

    Returns:
        The density, of the broadcast shape and the common floating dtype; NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.logistic`.

    Example:
        >>> from imprint.scipy.stats import logistic
        >>> logistic.pdf(0.5).round(4)
        Array(0.235, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the cumulative distribution of the logistic distribution.

    Args:
        x: the points, real.
        loc: the mean.
        scale: √3/π times the standard deviation, positive.

    Returns:
        The probability of a value up to `x`, of the broadcast shape and the common floating
        dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.logistic`.

    Example:
        >>> from imprint.scipy.stats import logistic
        >>> logistic.cdf(0.5).round(4)
        Array(0.6225, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("logistic.cdf", x, loc, scale)
    z = standard(x, loc, scale)
    return _expit(z)


def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the survival function of the logistic distribution.

    Args:
        x: the points, real.
        loc: the mean.
        scale: √3/π times the standard deviation, positive.

    Returns:
        The probability of a value above `x`, of the broadcast shape and the common floating
        dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.logistic`.

    Example:
        >>> from imprint.scipy.stats import logistic
        >>> logistic.sf(0.5).round(4)
        Array(0.3775, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("logistic.sf", x, loc, scale)
    z = standard(x, loc, scale)
    return _expit(-z)


def ppf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the quantile function of the logistic distribution.

    Args:
        x: the probabilities, in [0, 1].
        loc: the mean.
        scale: √3/π times the standard deviation, positive.

    Returns:
        The value up to which the probability is `x`, of the broadcast shape and the common
        floating dtype; NaN where `x` is not in [0, 1] and for invalid parameters.

    References:
        SciPy, `scipy.stats.logistic`.

    Example:
        >>> from imprint.scipy.stats import logistic
        >>> logistic.ppf(0.5).round(4)
        Array(0., dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("logistic.ppf", x, loc, scale)
    x = probability(x, scale)
    return special.logit(x) * scale + loc


def isf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the inverse survival function of the logistic distribution.

    Args:
        x: the probabilities, in [0, 1].
        loc: the mean.
        scale: √3/π times the standard deviation, positive.

    Returns:
        The value above which the probability is `x`, of the broadcast shape and the common
        floating dtype; NaN where `x` is not in [0, 1] and for invalid parameters.

    References:
        SciPy, `scipy.stats.logistic`.

    Example:
        >>> from imprint.scipy.stats import logistic
        >>> logistic.isf(0.5).round(4)
        Array(0., dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("logistic.isf", x, loc, scale)
    x = probability(x, scale)
    return loc - special.logit(x) * scale


def _expit(z: Any) -> Any:
    return np.where(np.isnan(z), z, special.expit(z))  # as `exp` of support
