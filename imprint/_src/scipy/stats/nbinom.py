"""The negative binomial distribution, as in `scipy.stats.nbinom`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math
from typing import Any

from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import exp, mass
from imprint.scipy import special


def logpmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the log of the probability mass of the negative binomial distribution.

    Args:
        k: the numbers of failures before the last of `n` successes.
        n: the number of successes, positive; any real number.
        p: the probability of a success, in (0, 1].
        loc: the shift of the distribution.

    Returns:
        The log of the probability, of the broadcast shape and the common floating dtype;
        -inf where `k` less `loc` is no integer of at least 0, and NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.nbinom`.

    Example:
        >>> from imprint.scipy.stats import nbinom
        >>> nbinom.logpmf(2, 4, 0.25).round(4)
        Array(-3.818, dtype=float32, weak_type=True)
    """
    k, n, p, loc = floats("nbinom.logpmf", k, n, p, loc)

    def inside(x: Any) -> Any:
        ways = special.gammaln(x + n) - special.gammaln(n) - special.gammaln(x + 1)
        return ways + special.xlogy(n, p) + special.xlog1py(x, -p)

    return mass(k - loc, inside, 0, math.inf, (n > 0) & (p > 0) & (p <= 1))


def pmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the probability mass of the negative binomial distribution.

    Args:
        k: the numbers of failures before the last of `n` successes.
        n: the number of successes, positive; any real number.
        p: the probability of a success, in (0, 1].
        loc: the shift of the distribution.

    Returns:
        The probability, of the broadcast shape and the common floating dtype; 0 where `k`
        less `loc` is no integer of at least 0, and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.nbinom`.

    Example:
        >>> from imprint.scipy.stats import nbinom
        >>> nbinom.pmf(2, 4, 0.25).round(4)
        Array(0.022, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, n, p, loc))
