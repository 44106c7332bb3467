"""The binomial distribution, as in `scipy.stats.binom`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import exp, mass
from imprint.scipy import special


def logpmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the log of the probability mass of the binomial distribution.

    Args:
        k: the numbers of successes.
        n: the number of trials, a whole number of at least 0.
        p: the probability of a success.
        loc: the shift of the distribution.

    Returns:
        The log of the probability, of the broadcast shape and the common floating dtype;
        -inf where `k` less `loc` is no integer from 0 to `n`, and NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.binom`.

    Example:
        >>> from imprint.scipy.stats import binom
        >>> binom.logpmf(1, 4, 0.25).round(4)
        Array(-0.863, dtype=float32, weak_type=True)
    """
    k, n, p, loc = floats("binom.logpmf", k, n, p, loc)

    def inside(x: Any) -> Any:
        ways = special.gammaln(n + 1) - special.gammaln(x + 1)
        ways = ways - special.gammaln(n - x + 1)
        return ways + special.xlogy(x, p) + special.xlog1py(n - x, -p)

    valid = (n >= 0) & (n == np.floor(n)) & (p >= 0) & (p <= 1)
    return mass(k - loc, inside, 0, n, valid)


def pmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the probability mass of the binomial distribution.

    Args:
        k: the numbers of successes.
        n: the number of trials, a whole number of at least 0.
        p: the probability of a success.
        loc: the shift of the distribution.

    Returns:
        The probability, of the broadcast shape and the common floating dtype; 0 where `k`
        less `loc` is no integer from 0 to `n`, and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.binom`.

    Example:
        >>> from imprint.scipy.stats import binom
        >>> binom.pmf(1, 4, 0.25).round(4)
        Array(0.4219, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, n, p, loc))
