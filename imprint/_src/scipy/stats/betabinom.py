"""The beta-binomial distribution, as in `scipy.stats.betabinom`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import exp, mass
from imprint.scipy import special


def logpmf(
    k: ArrayLike, n: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0
) -> Array:
    """Return the log of the probability mass of the beta-binomial distribution.

    Args:
        k: the numbers of successes.
        n: the number of trials, a whole number of at least 0.
        a: the first parameter of the beta distribution, positive.
        b: the second parameter of the beta distribution, positive.
        loc: the shift of the distribution.

    Returns:
        The log of the probability, of the broadcast shape and the common floating dtype;
        -inf where `k` less `loc` is no integer from 0 to `n`, and NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.betabinom`.

    Example:
        >>> from imprint.scipy.stats import betabinom
        >>> betabinom.logpmf(1, 4, 2.0, 3.0).round(4)
        Array(-1.2528, dtype=float32, weak_type=True)
    """
    k, n, a, b, loc = floats("betabinom.logpmf", k, n, a, b, loc)

    def inside(x: Any) -> Any:
        ways = -np.log1p(n) - special.betaln(n - x + 1, x + 1)
        return ways + special.betaln(x + a, n - x + b) - special.betaln(a, b)

    valid = (n >= 0) & (n == np.floor(n)) & (a > 0) & (b > 0)
    return mass(k - loc, inside, 0, n, valid)


def pmf(
    k: ArrayLike, n: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0
) -> Array:
    """Return the probability mass of the beta-binomial distribution.

    Args:
        k: the numbers of successes.
        n: the number of trials, a whole number of at least 0.
        a: the first parameter of the beta distribution, positive.
        b: the second parameter of the beta distribution, positive.
        loc: the shift of the distribution.

    Returns:
        The probability, of the broadcast shape and the common floating dtype; 0 where `k`
        less `loc` is no integer from 0 to `n`, and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.betabinom`.

    Example:
        >>> from imprint.scipy.stats import betabinom
        >>> betabinom.pmf(1, 4, 2.0, 3.0).round(4)
        Array(0.2857, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, n, a, b, loc))
