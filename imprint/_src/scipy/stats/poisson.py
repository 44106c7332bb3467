"""The Poisson distribution, as in `scipy.stats.poisson`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math
from typing import Any, Final

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike, with_rank
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import CDF, distribution, exp, mass
from imprint.scipy import special

_LARGE: Final = 100
_COUNTED: Final = 256


def logpmf(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the log of the probability mass of the Poisson distribution.

    Args:
        k: the numbers of events.
        mu: the mean, at least 0.
        loc: the shift of the distribution.

    Returns:
        The log of the probability, of the broadcast shape and the common floating dtype;
        -inf where `k` less `loc` is no integer of at least 0, and NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.poisson`.

    Example:
        >>> from imprint.scipy.stats import poisson
        >>> poisson.logpmf(2, 1.5).round(4)
        Array(-1.3822, dtype=float32, weak_type=True)
    """
    k, mu, loc = floats("poisson.logpmf", k, mu, loc)

    def inside(x: Any) -> Any:
        return special.xlogy(x, mu) - special.gammaln(x + 1) - mu

    return mass(k - loc, inside, 0, math.inf, mu >= 0)


def pmf(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the probability mass of the Poisson distribution.

    Args:
        k: the numbers of events.
        mu: the mean, at least 0.
        loc: the shift of the distribution.

    Returns:
        The probability, of the broadcast shape and the common floating dtype; 0 where `k`
        less `loc` is no integer of at least 0, and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.poisson`.

    Example:
        >>> from imprint.scipy.stats import poisson
        >>> poisson.pmf(2, 1.5).round(4)
        Array(0.251, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, mu, loc))


def cdf(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the cumulative distribution of the Poisson distribution.

    Args:
        k: the numbers of events.
        mu: the mean, at least 0.
        loc: the shift of the distribution.

    Returns:
        The probability of a value up to `k`, of the broadcast shape and the common floating
        dtype; NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.poisson`.

    Example:
        >>> from imprint.scipy.stats import poisson
        >>> poisson.cdf(2, 1.5).round(4)
        Array(0.8088, dtype=float32, weak_type=True)
    """
    k, mu, loc = floats("poisson.cdf", k, mu, loc)
    x = np.where(mu >= 0, np.floor(k - loc), math.nan)
    return distribution(x, lambda x: special.gammaincc(x + 1, mu), 0, math.inf, 0, CDF)


def entropy(mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the entropy of the Poisson distribution.

    Args:
        mu: the mean, at least 0.
        loc: the shift of the distribution; changes nothing.

    Returns:
        The entropy in nats, of the broadcast shape and the common floating dtype; NaN for
        an invalid mean.

    References:
        SciPy, `scipy.stats.poisson`.

    Example:
        >>> from imprint.scipy.stats import poisson
        >>> poisson.entropy(1.5).round(4)
        Array(1.5394, dtype=float32)
    """
    mu, loc = floats("poisson.entropy", mu, loc)
    mu = np.where((mu >= 0) & ~np.isnan(loc), mu, math.nan)
    small = np.where(mu < _LARGE, mu, 1)
    k = with_rank(np.arange(_COUNTED).astype(mu.dtype), mu.ndim + 1)
    each = logpmf(k, np.expand_dims(small, -1))
    value = -np.sum(exp(each) * each, -1)
    large = np.where(mu < _LARGE, _LARGE, mu)
    u = 1 / large
    far = 0.5 * np.log(2 * math.pi * math.e * large)
    far = far - u * (1 / 12 + u * (1 / 24 + u * 19 / 360))
    value = np.where(mu < _LARGE, value, far)
    return np.where(mu == 0, 0, value)
