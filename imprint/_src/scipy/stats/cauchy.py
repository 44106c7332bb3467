"""The Cauchy distribution, as in `scipy.stats.cauchy`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math
from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import exp, log1p_square, probability, standard


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the density of the Cauchy distribution.

    Args:
        x: the points, real.
        loc: the median.
        scale: the distance from the median to the quartiles, positive.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; NaN
        for invalid parameters.

    References:
        SciPy, `scipy.stats.cauchy`.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.logpdf(0.5).round(4)
        Array(-1.3679, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("cauchy.logpdf", x, loc, scale)
    z = standard(x, loc, scale)
    return -log1p_square(z) - np.log(scale) - math.log(math.pi)


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of the Cauchy distribution.

    Args:
        x: the points, real.
        loc: the median.
        scale: the distance from the median to the quartiles, positive.

    Returns:
        The density, of the broadcast shape and the common floating dtype; NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.cauchy`.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.pdf(0.5).round(4)
        Array(0.2546, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the cumulative distribution of the Cauchy distribution.

    Args:
        x: the points, real.
        loc: the median.
        scale: the distance from the median to the quartiles, positive.

    Returns:
        The probability of a value up to `x`, of the broadcast shape and the common floating
        dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.cauchy`.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.cdf(0.5).round(4)
        Array(0.6476, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("cauchy.cdf", x, loc, scale)
    z = standard(x, loc, scale)
    return _tail(-z)


def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the cumulative distribution of the Cauchy distribution.

    Args:
        x: the points, real.
        loc: the median.
        scale: the distance from the median to the quartiles, positive.

    Returns:
        The log of the probability of a value up to `x`, of the broadcast shape and the
        common floating dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.cauchy`.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.logcdf(0.5).round(4)
        Array(-0.4345, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("cauchy.logcdf", x, loc, scale)
    z = standard(x, loc, scale)
    return _log_tail(-z)


def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the survival function of the Cauchy distribution.

    Args:
        x: the points, real.
        loc: the median.
        scale: the distance from the median to the quartiles, positive.

    Returns:
        The probability of a value above `x`, of the broadcast shape and the common floating
        dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.cauchy`.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.sf(0.5).round(4)
        Array(0.3524, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("cauchy.sf", x, loc, scale)
    z = standard(x, loc, scale)
    return _tail(z)


def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the survival function of the Cauchy distribution.

    Args:
        x: the points, real.
        loc: the median.
        scale: the distance from the median to the quartiles, positive.

    Returns:
        The log of the probability of a value above `x`, of the broadcast shape and the
        common floating dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.cauchy`.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.logsf(0.5).round(4)
        Array(-1.0429, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("cauchy.logsf", x, loc, scale)
    z = standard(x, loc, scale)
    return _log_tail(z)


def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the quantile function of the Cauchy distribution.

    Args:
        q: the probabilities, in [0, 1].
        loc: the median.
        scale: the distance from the median to the quartiles, positive.

    Returns:
        The value up to which the probability is `q`, of the broadcast shape and the common
        floating dtype; NaN where `q` is not in [0, 1] and for invalid parameters.

    References:
        SciPy, `scipy.stats.cauchy`.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.ppf(0.5).round(4)
        Array(0., dtype=float32, weak_type=True)
    """
    q, loc, scale = floats("cauchy.ppf", q, loc, scale)
    return loc + scale * _standard_quantile(probability(q, scale))


def isf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the inverse survival function of the Cauchy distribution.

    Args:
        q: the probabilities, in [0, 1].
        loc: the median.
        scale: the distance from the median to the quartiles, positive.

    Returns:
        The value above which the probability is `q`, of the broadcast shape and the common
        floating dtype; NaN where `q` is not in [0, 1] and for invalid parameters.

    References:
        SciPy, `scipy.stats.cauchy`.

    Example:
        >>> from imprint.scipy.stats import cauchy
        >>> cauchy.isf(0.5).round(4)
        Array(0., dtype=float32, weak_type=True)
    """
    q, loc, scale = floats("cauchy.isf", q, loc, scale)
    return loc - scale * _standard_quantile(probability(q, scale))


def _tail(z: Any) -> Any:
    """Return the survival function of the standard distribution."""
    return np.arctan2(1, z) / math.pi


def _log_tail(z: Any) -> Any:
    """Return the log of the survival function: of the other tail left of 0."""
    size = np.abs(z)
    tail = _tail(size)
    return np.where(z < 0, np.log1p(-tail), np.log(tail))


def _standard_quantile(q: Any) -> Any:
    """Return the quantile: a cotangent in the tails, where a tangent loses digits."""
    tail = np.minimum(q, 1 - q)
    middle = np.tan(math.pi * (np.where(tail > 0.25, q, 0.5) - 0.5))
    cotangent = 1 / np.tan(math.pi * np.abs(tail))
    return np.where(tail > 0.25, middle, np.where(q < 0.5, -cotangent, cotangent))
