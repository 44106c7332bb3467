"""The geometric distribution, as in `scipy.stats.geom`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math
from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import exp, mass
from imprint.scipy import special


def logpmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the log of the probability mass of the geometric distribution.

    Args:
        k: the numbers of trials up to the first success.
        p: the probability of a success, in (0, 1].
        loc: the shift of the distribution.

    Returns:
        The log of the probability, of the broadcast shape and the common floating dtype;
        -inf where `k` less `loc` is no integer of at least 1, and NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.geom`.

    Example:
        >>> from imprint.scipy.stats import geom
        >>> geom.logpmf(2, 0.25).round(4)
        Array(-1.674, dtype=float32, weak_type=True)
    """
    k, p, loc = floats("geom.logpmf", k, p, loc)

    def inside(x: Any) -> Any:
        return special.xlog1py(x - 1, -p) + np.log(p)

    return mass(k - loc, inside, 1, math.inf, (p > 0) & (p <= 1))


def pmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the probability mass of the geometric distribution.

    Args:
        k: the numbers of trials up to the first success.
        p: the probability of a success, in (0, 1].
        loc: the shift of the distribution.

    Returns:
        The probability, of the broadcast shape and the common floating dtype; 0 where `k`
        less `loc` is no integer of at least 1, and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.geom`.

    Example:
        >>> from imprint.scipy.stats import geom
        >>> geom.pmf(2, 0.25).round(4)
        Array(0.1875, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, p, loc))
