"""The beta distribution, as in `scipy.stats.beta`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

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
    log_tail,
    standard,
)
from imprint.scipy import special


def logpdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the density of the beta distribution.

    Args:
        x: the points, real.
        a: the exponent of `x`, plus 1; positive.
        b: the exponent of `1 - x`, plus 1; positive.
        loc: the lower end of the support.
        scale: the length of the support, positive.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; -inf
        outside of [loc, loc + scale], and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.beta`.

    Example:
        >>> from imprint.scipy.stats import beta
        >>> beta.logpdf(0.5, 2.0, 3.0).round(4)
        Array(0.4055, dtype=float32, weak_type=True)
    """
    x, a, b, loc, scale = floats("beta.logpdf", x, a, b, loc, scale)
    z = standard(x, loc, scale, (a > 0) & (b > 0))

    def inside(z: Any) -> Any:
        value = special.xlogy(a - 1, z) + special.xlog1py(b - 1, -z)
        return value - special.betaln(a, b) - np.log(scale)

    return density(z, inside, 0, 1, 0.5)


def pdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the density of the beta distribution.

    Args:
        x: the points, real.
        a: the exponent of `x`, plus 1; positive.
        b: the exponent of `1 - x`, plus 1; positive.
        loc: the lower end of the support.
        scale: the length of the support, positive.

    Returns:
        The density, of the broadcast shape and the common floating dtype; 0 outside of
        [loc, loc + scale], and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.beta`.

    Example:
        >>> from imprint.scipy.stats import beta
        >>> beta.pdf(0.5, 2.0, 3.0).round(4)
        Array(1.5, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, a, b, loc, scale))


def cdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the cumulative distribution of the beta distribution.

    Args:
        x: the points, real.
        a: the exponent of `x`, plus 1; positive.
        b: the exponent of `1 - x`, plus 1; positive.
        loc: the lower end of the support.
        scale: the length of the support, positive.

    Returns:
        The probability of a value up to `x`, of the broadcast shape and the common floating
        dtype; 0 below [loc, loc + scale], 1 above, and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.beta`.

    Example:
        >>> from imprint.scipy.stats import beta
        >>> beta.cdf(0.5, 2.0, 3.0).round(4)
        Array(0.6875, dtype=float32, weak_type=True)
    """
    x, a, b, loc, scale = floats("beta.cdf", x, a, b, loc, scale)
    z = standard(x, loc, scale, (a > 0) & (b > 0))

    def inside(z: Any) -> Any:
        left, tail = _lesser_tail(z, a, b)
        return np.where(left, tail, 1 - tail)

    return distribution(z, inside, 0, 1, 0.5, CDF)


def logcdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the cumulative distribution of the beta distribution.

    Args:
        x: the points, real.
        a: the exponent of `x`, plus 1; positive.
        b: the exponent of `1 - x`, plus 1; positive.
        loc: the lower end of the support.
        scale: the length of the support, positive.

    Returns:
        The log of the probability of a value up to `x`, of the broadcast shape and the
        common floating dtype; -inf below [loc, loc + scale], 0 above, and NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.beta`.

    Example:
        >>> from imprint.scipy.stats import beta
        >>> beta.logcdf(0.5, 2.0, 3.0).round(4)
        Array(-0.3747, dtype=float32, weak_type=True)
    """
    x, a, b, loc, scale = floats("beta.logcdf", x, a, b, loc, scale)
    z = standard(x, loc, scale, (a > 0) & (b > 0))

    def inside(z: Any) -> Any:
        left, tail = _lesser_tail(z, a, b)
        return log_tail(left, tail, tail)

    return distribution(z, inside, 0, 1, 0.5, LOG_CDF)


def sf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the survival function of the beta distribution.

    Args:
        x: the points, real.
        a: the exponent of `x`, plus 1; positive.
        b: the exponent of `1 - x`, plus 1; positive.
        loc: the lower end of the support.
        scale: the length of the support, positive.

    Returns:
        The probability of a value above `x`, of the broadcast shape and the common floating
        dtype; 1 below [loc, loc + scale], 0 above, and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.beta`.

    Example:
        >>> from imprint.scipy.stats import beta
        >>> beta.sf(0.5, 2.0, 3.0).round(4)
        Array(0.3125, dtype=float32, weak_type=True)
    """
    x, a, b, loc, scale = floats("beta.sf", x, a, b, loc, scale)
    z = standard(x, loc, scale, (a > 0) & (b > 0))

    def inside(z: Any) -> Any:
        left, tail = _lesser_tail(z, a, b)
        return np.where(left, 1 - tail, tail)

    return distribution(z, inside, 0, 1, 0.5, SF)


def logsf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the survival function of the beta distribution.

    Args:
        x: the points, real.
        a: the exponent of `x`, plus 1; positive.
        b: the exponent of `1 - x`, plus 1; positive.
        loc: the lower end of the support.
        scale: the length of the support, positive.

    Returns:
        The log of the probability of a value above `x`, of the broadcast shape and the
        common floating dtype; 0 below [loc, loc + scale], -inf above, and NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.beta`.

    Example:
        >>> from imprint.scipy.stats import beta
        >>> beta.logsf(0.5, 2.0, 3.0).round(4)
        Array(-1.1632, dtype=float32, weak_type=True)
    """
    x, a, b, loc, scale = floats("beta.logsf", x, a, b, loc, scale)
    z = standard(x, loc, scale, (a > 0) & (b > 0))

    def inside(z: Any) -> Any:
        left, tail = _lesser_tail(z, a, b)
        return log_tail(~left, tail, tail)

    return distribution(z, inside, 0, 1, 0.5, LOG_SF)


def _lesser_tail(z: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Return whether z is left of the mean, and the probability on that side."""
    left = z < a / (a + b)
    p, q = np.where(left, a, b), np.where(left, b, a)
    return left, special.betainc(p, q, np.where(left, z, 1 - z))
