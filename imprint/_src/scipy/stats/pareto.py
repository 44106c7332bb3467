"""The Pareto distribution, as in `scipy.stats.pareto`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math
from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import (
    CDF,
    LOG_CDF,
    LOG_SF,
    SF,
    density,
    distribution,
    exp,
    expm1,
    log1mexp,
    probability,
    standard,
)


def logpdf(
    x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the density of the Pareto distribution.

    Args:
        x: the points, real.
        b: the exponent of the tail, positive.
        loc: the shift of the distribution.
        scale: the lower end of the support, less `loc`; positive.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; -inf
        outside of [loc + scale, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.pareto`.

    Example:
        >>> from imprint.scipy.stats import pareto
        >>> pareto.logpdf(1.5, 2.0).round(4)
        Array(-0.5232, dtype=float32, weak_type=True)
    """
    x, b, loc, scale = floats("pareto.logpdf", x, b, loc, scale)
    z = standard(x, loc, scale, b > 0)

    def inside(z: Any) -> Any:
        return np.log(b) - np.log(scale) - (b + 1) * np.log(z)

    return density(z, inside, 1, math.inf, 2)


def pdf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of the Pareto distribution.

    Args:
        x: the points, real.
        b: the exponent of the tail, positive.
        loc: the shift of the distribution.
        scale: the lower end of the support, less `loc`; positive.

    Returns:
        The density, of the broadcast shape and the common floating dtype; 0 outside of
        [loc + scale, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.pareto`.

    Example:
        >>> from imprint.scipy.stats import pareto
        >>> pareto.pdf(1.5, 2.0).round(4)
        Array(0.5926, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, b, loc, scale))


def cdf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the cumulative distribution of the Pareto distribution.

    Args:
        x: the points, real.
        b: the exponent of the tail, positive.
        loc: the shift of the distribution.
        scale: the lower end of the support, less `loc`; positive.

    Returns:
        The probability of a value up to `x`, of the broadcast shape and the common floating
        dtype; 0 below [loc + scale, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.pareto`.

    Example:
        >>> from imprint.scipy.stats import pareto
        >>> pareto.cdf(1.5, 2.0).round(4)
        Array(0.5556, dtype=float32, weak_type=True)
    """
    x, b, loc, scale = floats("pareto.cdf", x, b, loc, scale)
    z = standard(x, loc, scale, b > 0)
    return distribution(z, lambda z: -expm1(-b * np.log(z)), 1, math.inf, 2, CDF)


def logcdf(
    x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the cumulative distribution of the Pareto distribution.

    Args:
        x: the points, real.
        b: the exponent of the tail, positive.
        loc: the shift of the distribution.
        scale: the lower end of the support, less `loc`; positive.

    Returns:
        The log of the probability of a value up to `x`, of the broadcast shape and the
        common floating dtype; -inf below [loc + scale, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.pareto`.

    Example:
        >>> from imprint.scipy.stats import pareto
        >>> pareto.logcdf(1.5, 2.0).round(4)
        Array(-0.5878, dtype=float32, weak_type=True)
    """
    x, b, loc, scale = floats("pareto.logcdf", x, b, loc, scale)
    z = standard(x, loc, scale, b > 0)
    return distribution(z, lambda z: log1mexp(b * np.log(z)), 1, math.inf, 2, LOG_CDF)


def sf(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the survival function of the Pareto distribution.

    Args:
        x: the points, real.
        b: the exponent of the tail, positive.
        loc: the shift of the distribution.
        scale: the lower end of the support, less `loc`; positive.

    Returns:
        The probability of a value above `x`, of the broadcast shape and the common floating
        dtype; 1 below [loc + scale, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.pareto`.

    Example:
        >>> from imprint.scipy.stats import pareto
        >>> pareto.sf(1.5, 2.0).round(4)
        Array(0.4444, dtype=float32, weak_type=True)
    """
    x, b, loc, scale = floats("pareto.sf", x, b, loc, scale)
    z = standard(x, loc, scale, b > 0)
    return distribution(z, lambda z: exp(-b * np.log(z)), 1, math.inf, 2, SF)


def logsf(
    x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the survival function of the Pareto distribution.

    Args:
        x: the points, real.
        b: the exponent of the tail, positive.
        loc: the shift of the distribution.
        scale: the lower end of the support, less `loc`; positive.

    Returns:
        The log of the probability of a value above `x`, of the broadcast shape and the
        common floating dtype; 0 below [loc + scale, ∞), and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.pareto`.

    Example:
        >>> from imprint.scipy.stats import pareto
        >>> pareto.logsf(1.5, 2.0).round(4)
        Array(-0.8109, dtype=float32, weak_type=True)
    """
    x, b, loc, scale = floats("pareto.logsf", x, b, loc, scale)
    z = standard(x, loc, scale, b > 0)
    return distribution(z, lambda z: -b * np.log(z), 1, math.inf, 2, LOG_SF)


def ppf(q: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the quantile function of the Pareto distribution.

    Args:
        q: the probabilities, in [0, 1].
        b: the exponent of the tail, positive.
        loc: the shift of the distribution.
        scale: the lower end of the support, less `loc`; positive.

    Returns:
        The value up to which the probability is `q`, of the broadcast shape and the common
        floating dtype; NaN where `q` is not in [0, 1] and for invalid parameters.

    References:
        SciPy, `scipy.stats.pareto`.

    Example:
        >>> from imprint.scipy.stats import pareto
        >>> pareto.ppf(0.5, 2.0).round(4)
        Array(1.4142, dtype=float32, weak_type=True)
    """
    q, b, loc, scale = floats("pareto.ppf", q, b, loc, scale)
    below = probability(q, scale, b > 0)
    return loc + scale * exp(-np.log1p(-below) / b)
