"""The multinomial distribution, as in `scipy.stats.multinomial`.

Draws are counts along the last axis, with the sum `n`.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike, fit_shapes
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import exp
from imprint.scipy import special


def logpmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Return the log of the probability mass of the multinomial distribution.

    Args:
        x: counts along the last axis.
        n: their sum; other counts have probability 0.
        p: probabilities along the last axis.

    Returns:
        The log of the probability, of the broadcast shape of vectors without their last
        axis; -inf for other counts, and NaN for invalid probabilities.

    References:
        SciPy, `scipy.stats.multinomial`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy.stats import multinomial
        >>> multinomial.logpmf(np.array([1, 1]), 2, np.array([0.5, 0.5])).round(4)
        Array(-0.6931, dtype=float32)
    """
    x, n, p = floats("multinomial.logpmf", x, n, p)
    none = np.any((x < 0) | (x > np.floor(x)), -1) | (np.abs(np.sum(x, -1) - n) > 0)
    x = np.where(np.expand_dims(none, -1), 0, x)
    ways = special.gammaln(n + 1) - np.sum(special.gammaln(x + 1), -1)
    terms = special.xlogy(*fit_shapes("multinomial.logpmf", (x, p)))
    value = np.where(none, -math.inf, ways + np.sum(terms, -1))
    return np.where(np.all((p >= 0) & (p <= 1), -1), value, math.nan)


def pmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Return the probability mass of the multinomial distribution.

    Args:
        x: counts along the last axis.
        n: their sum; other counts have probability 0.
        p: probabilities along the last axis.

    Returns:
        The probability, of the broadcast shape of vectors without their last axis; 0 for
        other counts, and NaN for invalid probabilities.

    References:
        SciPy, `scipy.stats.multinomial`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy.stats import multinomial
        >>> multinomial.pmf(np.array([1, 1]), 2, np.array([0.5, 0.5])).round(4)
        Array(0.5, dtype=float32)
    """
    return exp(logpmf(x, n, p))
