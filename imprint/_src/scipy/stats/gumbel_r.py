"""The right Gumbel distribution, as in `scipy.stats.gumbel_r`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import (
    density,
    exp,
    expm1,
    log_gompertz,
    probability,
    standard,
)


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the density of the right Gumbel distribution.

    Args:
        x: the points, real.
        loc: the mode.
        scale: the factor of the width, positive.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; NaN
        for invalid parameters.

    References:
        SciPy, `scipy.stats.gumbel_r`.

    Example:
        >>> from imprint.scipy.stats import gumbel_r
        >>> gumbel_r.logpdf(0.5).round(4)
        Array(-1.1065, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("gumbel_r.logpdf", x, loc, scale)
    z = standard(x, loc, scale)
    return density(z, lambda z: -z - exp(-z) - np.log(scale), -math.inf, math.inf, 0)


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of the right Gumbel distribution.

    Args:
        x: the points, real.
        loc: the mode.
        scale: the factor of the width, positive.

    Returns:
        The density, of the broadcast shape and the common floating dtype; NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.gumbel_r`.

    Example:
        >>> from imprint.scipy.stats import gumbel_r
        >>> gumbel_r.pdf(0.5).round(4)
        Array(0.3307, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the cumulative distribution of the right Gumbel distribution.

    Args:
        x: the points, real.
        loc: the mode.
        scale: the factor of the width, positive.

    Returns:
        The probability of a value up to `x`, of the broadcast shape and the common floating
        dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.gumbel_r`.

    Example:
        >>> from imprint.scipy.stats import gumbel_r
        >>> gumbel_r.cdf(0.5).round(4)
        Array(0.5452, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("gumbel_r.cdf", x, loc, scale)
    z = standard(x, loc, scale)
    return exp(-exp(-z))


def logcdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the cumulative distribution of the right Gumbel distribution.

    Args:
        x: the points, real.
        loc: the mode.
        scale: the factor of the width, positive.

    Returns:
        The log of the probability of a value up to `x`, of the broadcast shape and the
        common floating dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.gumbel_r`.

    Example:
        >>> from imprint.scipy.stats import gumbel_r
        >>> gumbel_r.logcdf(0.5).round(4)
        Array(-0.6065, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("gumbel_r.logcdf", x, loc, scale)
    z = standard(x, loc, scale)
    return -exp(-z)


def sf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the survival function of the right Gumbel distribution.

    Args:
        x: the points, real.
        loc: the mode.
        scale: the factor of the width, positive.

    Returns:
        The probability of a value above `x`, of the broadcast shape and the common floating
        dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.gumbel_r`.

    Example:
        >>> from imprint.scipy.stats import gumbel_r
        >>> gumbel_r.sf(0.5).round(4)
        Array(0.4548, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("gumbel_r.sf", x, loc, scale)
    z = standard(x, loc, scale)
    return -expm1(-exp(-z))


def logsf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the survival function of the right Gumbel distribution.

    Args:
        x: the points, real.
        loc: the mode.
        scale: the factor of the width, positive.

    Returns:
        The log of the probability of a value above `x`, of the broadcast shape and the
        common floating dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.gumbel_r`.

    Example:
        >>> from imprint.scipy.stats import gumbel_r
        >>> gumbel_r.logsf(0.5).round(4)
        Array(-0.788, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("gumbel_r.logsf", x, loc, scale)
    z = standard(x, loc, scale)
    return log_gompertz(-z)


def ppf(p: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the quantile function of the right Gumbel distribution.

    Args:
        p: the probabilities, in [0, 1].
        loc: the mode.
        scale: the factor of the width, positive.

    Returns:
        The value up to which the probability is `p`, of the broadcast shape and the common
        floating dtype; NaN where `p` is not in [0, 1] and for invalid parameters.

    References:
        SciPy, `scipy.stats.gumbel_r`.

    Example:
        >>> from imprint.scipy.stats import gumbel_r
        >>> gumbel_r.ppf(0.5).round(4)
        Array(0.3665, dtype=float32, weak_type=True)
    """
    p, loc, scale = floats("gumbel_r.ppf", p, loc, scale)
    below = probability(p, scale)
    return loc - scale * np.log(-np.log(below))
