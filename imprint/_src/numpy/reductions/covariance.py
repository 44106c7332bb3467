"""Covariances and correlations of variables: cov and corrcoef.

Each row is a variable and each column an observation, or the reverse with
`rowvar=False`. For one variable the result has rank 0.
"""

from typing import Any, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.numpy.creation import full
from imprint._src.numpy.elementwise.arithmetic import (
    absolute,
    divide,
    multiply,
    subtract,
    true_divide,
)
from imprint._src.numpy.elementwise.exponential import sqrt
from imprint._src.numpy.elementwise.rounding import conj, imag, real
from imprint._src.numpy.elementwise.selection import clip
from imprint._src.numpy.linear import dot
from imprint._src.numpy.matrices import diag
from imprint._src.numpy.promotion import ArrayLike, as_array, convert, promote_dtypes
from imprint._src.numpy.reductions.reductions import sum
from imprint._src.numpy.reductions.statistics import average
from imprint._src.numpy.shapes.concatenate import concatenate
from imprint._src.numpy.shapes.reshape import atleast_2d, squeeze
from imprint._src.primitives.elementwise.complex import complex_


@fuse_eager
def cov(  # noqa: PLR0913, PLR0917 - NumPy's signature
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,  # noqa: FBT001, FBT002 - NumPy's signature
    bias: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    ddof: int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """Return the covariance matrix of variables.

    Args:
        m: a variable in each row, an observation in each column; or a vector.
        y: further variables.
        rowvar: whether rows are variables; else columns are.
        bias: whether to divide by the number of observations, not by one less.
        ddof: the number to subtract instead.
        fweights: the number of times each observation was made; integers.
        aweights: the weight of each observation.
        dtype: the dtype of the computation.

    Returns:
        A square matrix with a row for each variable, in a floating or complex dtype; of
        rank 0 for one variable.

    Raises:
        ShapeError: an operand has more than two axes, or weights are not one for each
            observation.
        DTypeError: `fweights` has no integers.
        ArgumentError: `dtype` has integers.

    References:
        NumPy, `numpy.cov`.

    Example:
        >>> import imprint.numpy as np
        >>> np.cov(np.array([[0.0, 2.0], [2.0, 0.0]]))
        Array([[ 2., -2.],
               [-2.,  2.]], dtype=float32)
    """
    x = _variables("cov", m, y, rowvar=rowvar)
    if dtype is not None:
        x = convert("cov", x, _inexact_dtype("cov", dtype))
    if dims.is_same(x.shape[0], 0):
        return x[:, :0]
    if dims.is_same(x.shape[1], 0):
        count = x.shape[0]
        return full(() if count == 1 else (count, count), np.nan, x.dtype)
    less = (0 if bias else 1) if ddof is None else ddof
    weights = _weights(x, fweights, aweights)
    if weights is not None and dtype is not None:
        weights = convert("cov", weights, x.dtype)
    centre, totals = cast("Any", average(x, 1, weights, returned=True))
    distances = subtract(x, centre[:, None])
    free: Any = x.shape[1] - less if weights is None else totals[0]
    if weights is not None and less:
        shares = (
            less
            if aweights is None
            else multiply(
                true_divide(sum(multiply(weights, absolute(aweights))), free), less
            )
        )
        free = subtract(free, shares)
    other = distances if weights is None else multiply(distances, weights[None, :])
    products = dot(distances, conj(other).T)
    return squeeze(true_divide(products, free))


@fuse_eager
def corrcoef(
    x: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,  # noqa: FBT001, FBT002 - NumPy's signature
    dtype: DTypeLike | None = None,
) -> Array:
    """Return the matrix of Pearson's correlation coefficients; see `cov`.

    Args:
        x: a variable in each row, an observation in each column; or a vector.
        y: further variables.
        rowvar: whether rows are variables; else columns are.
        dtype: the dtype of the computation.

    Returns:
        A square matrix with a row for each variable, in [-1, 1] in each part; of rank 0
        for one variable.

    References:
        NumPy, `numpy.corrcoef`.

    Example:
        >>> import imprint.numpy as np
        >>> np.corrcoef(np.array([[0.0, 2.0], [2.0, 0.0]]))[0, 0] > 0.99
        Array(True, dtype=bool)
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return divide(c, c)
    deviations = convert("corrcoef", sqrt(real(diag(c))), c.dtype)
    c = divide(divide(c, deviations[:, None]), deviations[None, :])
    if dtypes.is_complex(c.dtype):
        return complex_(clip(real(c), -1, 1), clip(imag(c), -1, 1))
    return clip(c, -1, 1)


def _inexact_dtype(name: str, dtype: DTypeLike) -> Any:
    wanted = dtypes.requested(dtype, name)
    if not dtypes.is_inexact(wanted):
        raise ArgumentError(
            f"{name}: expected a float or complex dtype, got {wanted}. Leave it out, "
            "and convert the result."
        )
    return wanted


def _variables(name: str, m: ArrayLike, y: ArrayLike | None, *, rowvar: bool) -> Array:
    given = (m,) if y is None else (m, y)
    rows: list[Array] = []
    for x in promote_dtypes(name, given, dtypes.to_inexact):
        array = as_array(name, x)
        if array.ndim > 2:
            raise ShapeError(
                f"{name}: expected at most two axes, got {array.aval}. Variables are "
                "rows, observations columns."
            )
        rows.append(atleast_2d(array) if rowvar or array.ndim < 2 else array.T)
    return rows[0] if y is None else concatenate(rows, 0)


def _weights(
    x: Array, fweights: ArrayLike | None, aweights: ArrayLike | None
) -> Array | None:
    """Return the product of both kinds of weights."""
    weights: Array | None = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        own = as_array("cov", given)
        if own.ndim != 1 or not dims.equal(own.shape[0], x.shape[1]):
            raise ShapeError(
                f"cov: expected a vector of {x.shape[1]} {name}, got {own.aval}. Give "
                "one for each observation."
            )
        if name == "fweights" and not dtypes.is_integer(own.dtype):
            raise DTypeError(
                f"cov: expected integers for fweights, got {own.aval}. Weights that "
                "are no counts are aweights."
            )
        own = absolute(own)
        weights = own if weights is None else multiply(weights, own)
    return weights
