"""The Dirichlet distribution, as in `scipy.stats.dirichlet`.

Draws are probabilities along the first axis of `x`; the last one may be omitted.
"""

import math

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.errors import ShapeError
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import exp
from imprint.scipy import special


def logpdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """Return the log of the density of the Dirichlet distribution.

    Args:
        x: probabilities along the first axis; the last one may be omitted.
        alpha: a positive number for each of them, a vector.

    Returns:
        The log of the density, of the shape of `x` without its first axis; -inf where the
        probabilities are not in [0, 1] with the sum 1, and NaN for an invalid `alpha`.

    Raises:
        ShapeError: their number is neither that of `alpha` nor one less.

    References:
        SciPy, `scipy.stats.dirichlet`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy.stats import dirichlet
        >>> dirichlet.logpdf(np.array([0.25, 0.75]), np.ones(2))
        Array(0., dtype=float32)
    """
    x, alpha = floats("dirichlet.logpdf", x, alpha)
    if alpha.ndim != 1 or not x.ndim or x.shape[0] - alpha.shape[0] not in (0, -1):
        raise ShapeError(
            "dirichlet.logpdf: expected a vector alpha, and x with as many along its "
            f"first axis, or one less, got {x.aval} and {alpha.aval}."
        )
    if x.shape[0] != alpha.shape[0]:
        x = np.concatenate([x, 1 - np.sum(x, 0, keepdims=True)])
    size = np.sum(special.gammaln(alpha)) - special.gammaln(np.sum(alpha))
    powers = np.reshape(alpha - 1, (-1,) + (1,) * (x.ndim - 1))
    outside = np.any((x < 0) | (x > 1), 0) | (np.abs(np.sum(x, 0) - 1) >= 1e-6)
    outside = outside & (x.shape[0] != 1)
    value = np.sum(special.xlogy(powers, np.where(outside, 0.5, x)), 0) - size
    value = np.where(outside, -math.inf, value)
    return np.where(np.all(alpha > 0), value, math.nan)


def pdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """Return the density of the Dirichlet distribution.

    Args:
        x: probabilities along the first axis; the last one may be omitted.
        alpha: a positive number for each of them, a vector.

    Returns:
        The density, of the shape of `x` without its first axis; 0 where the probabilities
        are not in [0, 1] with the sum 1, and NaN for an invalid `alpha`.

    Raises:
        ShapeError: as for `logpdf`.

    References:
        SciPy, `scipy.stats.dirichlet`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy.stats import dirichlet
        >>> dirichlet.pdf(np.array([0.25, 0.75]), np.ones(2))
        Array(1., dtype=float32)
    """
    return exp(logpdf(x, alpha))
