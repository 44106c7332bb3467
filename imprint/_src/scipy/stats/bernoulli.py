"""The Bernoulli distribution, as in `scipy.stats.bernoulli`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math
from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import CDF, distribution, exp, mass, probability
from imprint.scipy import special


def logpmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the log of the probability mass of the Bernoulli distribution.

    Args:
        k: the values, 0 or 1.
        p: the probability of 1.
        loc: the shift of the distribution.

    Returns:
        The log of the probability, of the broadcast shape and the common floating dtype;
        -inf where `k` less `loc` is neither 0 nor 1, and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.bernoulli`.

    Example:
        >>> from imprint.scipy.stats import bernoulli
        >>> bernoulli.logpmf(1, 0.25).round(4)
        Array(-1.3863, dtype=float32, weak_type=True)
    """
    k, p, loc = floats("bernoulli.logpmf", k, p, loc)

    def inside(x: Any) -> Any:
        return special.xlogy(x, p) + special.xlog1py(1 - x, -p)

    return mass(k - loc, inside, 0, 1, (p >= 0) & (p <= 1))


def pmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the probability mass of the Bernoulli distribution.

    Args:
        k: the values, 0 or 1.
        p: the probability of 1.
        loc: the shift of the distribution.

    Returns:
        The probability, of the broadcast shape and the common floating dtype; 0 where `k`
        less `loc` is neither 0 nor 1, and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.bernoulli`.

    Example:
        >>> from imprint.scipy.stats import bernoulli
        >>> bernoulli.pmf(1, 0.25).round(4)
        Array(0.25, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, p, loc))


def cdf(k: ArrayLike, p: ArrayLike) -> Array:
    """Return the cumulative distribution of the Bernoulli distribution.

    Args:
        k: the values, 0 or 1.
        p: the probability of 1.

    Returns:
        The probability of a value up to `k`, of the broadcast shape and the common floating
        dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.bernoulli`.

    Example:
        >>> from imprint.scipy.stats import bernoulli
        >>> bernoulli.cdf(1, 0.25).round(4)
        Array(1., dtype=float32, weak_type=True)
    """
    k, p = floats("bernoulli.cdf", k, p)
    k = np.where((p >= 0) & (p <= 1), np.floor(k), math.nan)
    return distribution(k, lambda k: 1 - p + k * p, 0, 1, 0, CDF)


def ppf(q: ArrayLike, p: ArrayLike) -> Array:
    """Return the quantile function of the Bernoulli distribution.

    Args:
        q: the probabilities, in [0, 1].
        p: the probability of 1.

    Returns:
        The least value up to which the probability is at least `q`, of the broadcast shape
        and the common floating dtype: 0 or 1, and -1 for a `q` of 0; NaN where `q` is not
        in [0, 1] and for invalid parameters.

    References:
        SciPy, `scipy.stats.bernoulli`.

    Example:
        >>> from imprint.scipy.stats import bernoulli
        >>> bernoulli.ppf(1, 0.25).round(4)
        Array(1., dtype=float32, weak_type=True)
    """
    q, p = floats("bernoulli.ppf", q, p)
    q = probability(q, 1, (p >= 0) & (p <= 1))
    value = np.where(q <= 1 - p, 0, np.where(np.isnan(q), q, 1))
    return np.where(q == 0, -1, np.where(q == 1, 1, value))
