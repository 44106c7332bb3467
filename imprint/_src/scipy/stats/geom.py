"""The geometric distribution, as in `scipy.stats.geom`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint.scipy import special


def logpmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the log of the probability mass of the geometric distribution.

    Example:
        >>> from imprint.scipy.stats import geom
        >>> geom.logpmf(2, 0.25).round(4)
        Array(-1.674, dtype=float32, weak_type=True)
    """
    k, p, loc = floats("geom.logpmf", k, p, loc)
    x = k - loc
    value = special.xlog1py(x - 1, -p) + np.log(p)
    return np.where(x <= 0, -math.inf, value)


def pmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Return the probability mass of the geometric distribution.

    Example:
        >>> from imprint.scipy.stats import geom
        >>> geom.pmf(2, 0.25).round(4)
        Array(0.1875, dtype=float32, weak_type=True)
    """
    return np.exp(logpmf(k, p, loc))
