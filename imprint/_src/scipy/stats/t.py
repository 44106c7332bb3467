"""Student's t distribution, as in `scipy.stats.t`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import exp, log1p_square, standard
from imprint.scipy import special


def logpdf(
    x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Array:
    """Return the log of the density of Student's t distribution.

    Args:
        x: the points, real.
        df: the degrees of freedom, positive; infinity is the normal distribution.
        loc: the median.
        scale: the factor of the width, positive.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; NaN
        for invalid parameters.

    References:
        SciPy, `scipy.stats.t`.

    Example:
        >>> from imprint.scipy.stats import t
        >>> t.logpdf(0.5, 2.0).round(4)
        Array(-1.2164, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = floats("t.logpdf", x, df, loc, scale)
    z = standard(x, loc, scale, df > 0)
    endless = df == math.inf
    n = np.where(endless, 1, df)
    half = n / 2
    # The quotient of gamma functions as a beta function, which is precise for large df.
    size = -special.betaln(0.5, half) - np.log(n) / 2
    value = size - (half + 0.5) * log1p_square(z / np.sqrt(n))
    limit = -0.5 * z * z - math.log(2 * math.pi) / 2
    return np.where(endless, limit, value) - np.log(scale)


def pdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array:
    """Return the density of Student's t distribution.

    Args:
        x: the points, real.
        df: the degrees of freedom, positive; infinity is the normal distribution.
        loc: the median.
        scale: the factor of the width, positive.

    Returns:
        The density, of the broadcast shape and the common floating dtype; NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.t`.

    Example:
        >>> from imprint.scipy.stats import t
        >>> t.pdf(0.5, 2.0).round(4)
        Array(0.2963, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, df, loc, scale))
