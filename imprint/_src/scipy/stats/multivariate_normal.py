"""The multivariate normal distribution, as in `scipy.stats.multivariate_normal`.

Draws are vectors along the last axis; covariances are factored by Cholesky.
"""

import math
from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.lax.linalg import cholesky, triangular_solve
from imprint._src.numpy.promotion import ArrayLike, fit_shapes
from imprint._src.scipy.special.arguments import arrays as floats
from imprint._src.scipy.stats.support import exp


def logpdf(
    x: ArrayLike, mean: ArrayLike, cov: ArrayLike, allow_singular: None = None
) -> Array:
    """Return the log of the density of the multivariate normal distribution.

    Args:
        x: vectors along the last axis; numbers, if `mean` is a number.
        mean: vectors.
        cov: covariances, positive definite matrices; or a number, the variance of each.
        allow_singular: must be None: covariances must have an inverse.

    Returns:
        The log of the density, of the broadcast shape of vectors without their last axis;
        NaN where the covariance is not positive definite.

    Raises:
        ArgumentError: `allow_singular` is given.
        ShapeError: the covariance is not a square matrix of the size of `mean`.

    References:
        SciPy, `scipy.stats.multivariate_normal`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy.stats import multivariate_normal
        >>> multivariate_normal.logpdf(np.zeros(2), np.zeros(2), np.eye(2)).round(4)
        Array(-1.8379, dtype=float32)
    """
    if allow_singular is not None:
        raise ArgumentError(
            "multivariate_normal.logpdf: expected allow_singular=None, got "
            f"{allow_singular!r}. Add a small multiple of the identity to cov."
        )
    x, mean, cov = floats("multivariate_normal.logpdf", x, mean, cov)
    rest = np.subtract(*fit_shapes("multivariate_normal.logpdf", (x, mean)))
    if not mean.ndim or not cov.ndim:
        count = mean.shape[-1] if mean.ndim else 1
        squares = rest * rest
        total = np.sum(squares, -1) if mean.ndim else squares
        return -0.5 * (total / cov + count * (math.log(2 * math.pi) + np.log(cov)))
    count = mean.shape[-1]
    if cov.ndim < 2 or cov.shape[-2:] != (count, count):
        raise ShapeError(
            "multivariate_normal.logpdf: expected cov to be a number or matrices of "
            f"shape ({count}, {count}), as mean is {mean.aval}, got {cov.aval}."
        )
    return _by_factor(rest, cholesky(cov), count)


def _by_factor(rest: Any, factor: Any, count: int) -> Array:
    """Return the log density for vectors; those of one factor are solved at once."""
    batch = factor.shape[:-2]
    if not batch:
        columns = np.reshape(rest, (-1, count)).T
        solved = triangular_solve(factor, columns, left_side=True, lower=True)
        square = np.reshape(np.sum(solved * solved, 0), rest.shape[:-1])
    else:
        batch = np.broadcast_shapes(rest.shape[:-1], batch)
        rest = np.broadcast_to(rest, (*batch, count))[..., None]
        wide = np.broadcast_to(factor, (*batch, count, count))
        solved = triangular_solve(wide, rest, left_side=True, lower=True)
        square = np.sum(solved * solved, (-2, -1))
    size = np.sum(np.log(np.diagonal(factor, axis1=-2, axis2=-1)), -1)
    return -0.5 * square - count / 2 * math.log(2 * math.pi) - size


def pdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike) -> Array:
    """Return the density of the multivariate normal distribution.

    Args:
        x: vectors along the last axis; numbers, if `mean` is a number.
        mean: vectors.
        cov: covariances, positive definite matrices; or a number, the variance of each.

    Returns:
        The density, of the broadcast shape of vectors without their last axis; NaN where
        the covariance is not positive definite.

    Raises:
        ShapeError: the covariance is not a square matrix of the size of `mean`.

    References:
        SciPy, `scipy.stats.multivariate_normal`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy.stats import multivariate_normal
        >>> multivariate_normal.pdf(np.zeros(2), np.zeros(2), np.eye(2)).round(4)
        Array(0.1592, dtype=float32)
    """
    return exp(logpdf(x, mean, cov))
