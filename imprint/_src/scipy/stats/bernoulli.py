"""The Bernoulli distribution, as in `scipy.stats.bernoulli`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint.scipy import special


def logpmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the log of the probability mass of the Bernoulli distribution.

    Example:
        >>> from imprint.scipy.stats import bernoulli
        >>> bernoulli.logpmf(1, 0.25).round(4)
        Array(-1.3863, dtype=float32, weak_type=True)
    """
    k, p, loc = floats("bernoulli.logpmf", k, p, loc)
    x = k - loc
    inside = (x == 0) | (x == 1)
    x = np.where(inside, x, 0)
    value = special.xlogy(x, p) + special.xlog1py(1 - x, -p)
    return np.where(inside, value, -math.inf)


def pmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the probability mass of the Bernoulli distribution.

    Example:
        >>> from imprint.scipy.stats import bernoulli
        >>> bernoulli.pmf(1, 0.25).round(4)
        Array(0.25, dtype=float32, weak_type=True)
    """
    return np.exp(logpmf(k, p, loc))


def cdf(k: ArrayLike, p: ArrayLike) -> Array:
    """Return the cumulative distribution of the Bernoulli distribution.

    Example:
        >>> from imprint.scipy.stats import bernoulli
        >>> bernoulli.cdf(1, 0.25).round(4)
        Array(1., dtype=float32, weak_type=True)
    """
    k, p = floats("bernoulli.cdf", k, p)
    value = np.where(k < 0, 0, np.where(k < 1, 1 - p, 1))
    return np.where((p >= 0) & (p <= 1), value, math.nan)


def ppf(q: ArrayLike, p: ArrayLike) -> Array:
    """Return the quantile function of the Bernoulli distribution.

    Example:
        >>> from imprint.scipy.stats import bernoulli
        >>> bernoulli.ppf(1, 0.25).round(4)
        Array(1., dtype=float32, weak_type=True)
    """
    q, p = floats("bernoulli.ppf", q, p)
    known = (p >= 0) & (p <= 1) & (q >= 0) & (q <= 1)
    return np.where(known, np.where(q <= 1 - p, 0, 1), math.nan)
