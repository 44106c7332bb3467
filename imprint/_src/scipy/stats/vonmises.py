"""The von Mises distribution, as in `scipy.stats.vonmises`.

Functions broadcast; integers become floats; invalid parameters give NaN.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import exp
from imprint.scipy import special


def logpdf(x: ArrayLike, kappa: ArrayLike) -> Array:
    """Return the log of the density of the von Mises distribution.

    Args:
        x: the angles, in radians; real.
        kappa: the concentration, at least 0.

    Returns:
        The log of the density, of the broadcast shape and the common floating dtype; NaN
        for invalid parameters.

    References:
        SciPy, `scipy.stats.vonmises`.

    Example:
        >>> from imprint.scipy.stats import vonmises
        >>> vonmises.logpdf(0.5, 2.0).round(4)
        Array(-0.9067, dtype=float32, weak_type=True)
    """
    x, kappa = floats("vonmises.logpdf", x, kappa)
    kappa = np.where(kappa >= 0, kappa, math.nan)
    return kappa * (np.cos(x) - 1) - np.log(2 * math.pi * special.i0e(kappa))


def pdf(x: ArrayLike, kappa: ArrayLike) -> Array:
    """Return the density of the von Mises distribution.

    Args:
        x: the angles, in radians; real.
        kappa: the concentration, at least 0.

    Returns:
        The density, of the broadcast shape and the common floating dtype; NaN for invalid
        parameters.

    References:
        SciPy, `scipy.stats.vonmises`.

    Example:
        >>> from imprint.scipy.stats import vonmises
        >>> vonmises.pdf(0.5, 2.0).round(4)
        Array(0.4039, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, kappa))
