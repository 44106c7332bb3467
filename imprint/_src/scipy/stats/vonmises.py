"""The distribution of von Mises, of an angle: as `scipy.stats.vonmises` has it.

Its functions broadcast; integers become floats, and NaN is outside of what parameters
may be.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint.scipy import special


def logpdf(x: ArrayLike, kappa: ArrayLike) -> Array:
    """Return the logarithm of the density of the distribution of von Mises, of an angle.

    Example:
        >>> from imprint.scipy.stats import vonmises
        >>> vonmises.logpdf(0.5, 2.0).round(4)
        Array(-0.9067, dtype=float32, weak_type=True)
    """
    x, kappa = floats("vonmises.logpdf", x, kappa)
    return kappa * (np.cos(x) - 1) - np.log(2 * math.pi * special.i0e(kappa))


def pdf(x: ArrayLike, kappa: ArrayLike) -> Array:
    """Return the density of the distribution of von Mises, of an angle.

    Example:
        >>> from imprint.scipy.stats import vonmises
        >>> vonmises.pdf(0.5, 2.0).round(4)
        Array(0.4039, dtype=float32, weak_type=True)
    """
    return np.exp(logpdf(x, kappa))
