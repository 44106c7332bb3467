"""The uniform distribution, as in `scipy.stats.uniform`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import density, exp, probability, standard


def logpdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the log of the density of the uniform distribution.

    Args:
        x: the points, real.
        loc: the lower end of the support.
        scale: the length of the support, positive.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; -inf
        outside of [loc, loc + scale], and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.uniform`.

    Example:
        >>> from imprint.scipy.stats import uniform
        >>> uniform.logpdf(0.5).round(4)
        Array(0., dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("uniform.logpdf", x, loc, scale)
    z = standard(x, loc, scale)
    return density(z, lambda z: 0 * z - np.log(scale), 0, 1, 0.5)


def pdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of the uniform distribution.

    Args:
        x: the points, real.
        loc: the lower end of the support.
        scale: the length of the support, positive.

    Returns:
        The density, of the broadcast shape and the common floating dtype; 0 outside of
        [loc, loc + scale], and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.uniform`.

    Example:
        >>> from imprint.scipy.stats import uniform
        >>> uniform.pdf(0.5).round(4)
        Array(1., dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the cumulative distribution of the uniform distribution.

    Args:
        x: the points, real.
        loc: the lower end of the support.
        scale: the length of the support, positive.

    Returns:
        The probability of a value up to `x`, of the broadcast shape and the common floating
        dtype; 0 below [loc, loc + scale], 1 above, and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.uniform`.

    Example:
        >>> from imprint.scipy.stats import uniform
        >>> uniform.cdf(0.5).round(4)
        Array(0.5, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("uniform.cdf", x, loc, scale)
    z = standard(x, loc, scale)
    return np.clip(z, 0, 1)


def ppf(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the quantile function of the uniform distribution.

    Args:
        q: the probabilities, in [0, 1].
        loc: the lower end of the support.
        scale: the length of the support, positive.

    Returns:
        The value up to which the probability is `q`, of the broadcast shape and the common
        floating dtype; NaN where `q` is not in [0, 1] and for invalid parameters.

    References:
        SciPy, `scipy.stats.uniform`.

    Example:
        >>> from imprint.scipy.stats import uniform
        >>> uniform.ppf(0.5).round(4)
        Array(0.5, dtype=float32, weak_type=True)
    """
    q, loc, scale = floats("uniform.ppf", q, loc, scale)
    return loc + scale * probability(q, scale)
