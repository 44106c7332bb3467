"""The wrapped Cauchy distribution, as in `scipy.stats.wrapcauchy`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math
from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import density, exp, standard


def logpdf(x: ArrayLike, c: ArrayLike) -> Array:
    """Return the log of the density of the wrapped Cauchy distribution.

    Args:
        x: the angles, in radians; real.
        c: the concentration, in (0, 1).

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; -inf
        outside of [0, 2π], and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.wrapcauchy`.

    Example:
        >>> from imprint.scipy.stats import wrapcauchy
        >>> wrapcauchy.logpdf(0.5, 0.5).round(4)
        Array(-1.1378, dtype=float32, weak_type=True)
    """
    x, c = floats("wrapcauchy.logpdf", x, c)
    z = standard(x, 0, 1, (c > 0) & (c < 1))

    def inside(z: Any) -> Any:
        value = np.log1p(-c * c) - math.log(2 * math.pi)
        return value - np.log1p(c * c - 2 * c * np.cos(z))

    return density(z, inside, 0, 2 * math.pi, 1)


def pdf(x: ArrayLike, c: ArrayLike) -> Array:
    """Return the density of the wrapped Cauchy distribution.

    Args:
        x: the angles, in radians; real.
        c: the concentration, in (0, 1).

    Returns:
        The density, of the broadcast shape and the common floating dtype; 0 outside of
        [0, 2π], and NaN for invalid parameters.

    References:
        SciPy, `scipy.stats.wrapcauchy`.

    Example:
        >>> from imprint.scipy.stats import wrapcauchy
        >>> wrapcauchy.pdf(0.5, 0.5).round(4)
        Array(0.3205, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, c))
