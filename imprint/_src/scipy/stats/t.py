"""Student's t distribution, as in `scipy.stats.t`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint.scipy import special


def logpdf(
    x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the density of Student's t distribution.

    Example:
        >>> from imprint.scipy.stats import t
        >>> t.logpdf(0.5, 2.0).round(4)
        Array(-1.2164, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = floats("t.logpdf", x, df, loc, scale)
    z = np.divide(np.subtract(x, loc), scale)
    half = df / 2
    size = special.gammaln(half + 0.5) - special.gammaln(half)
    size = size - np.log(df * math.pi) / 2 - np.log(scale)
    return size - (half + 0.5) * np.log1p(z * z / df)


def pdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of Student's t distribution.

    Example:
        >>> from imprint.scipy.stats import t
        >>> t.pdf(0.5, 2.0).round(4)
        Array(0.2963, dtype=float32, weak_type=True)
    """
    return np.exp(logpdf(x, df, loc, scale))
