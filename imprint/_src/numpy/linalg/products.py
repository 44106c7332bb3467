"""Products, powers, transposes and diagonals under the names of `linalg`.

Most are functions of `imprint.numpy`, bound to the last axes, that raise for operands
of another rank. A power is repeated squaring. A chain of matrices is one `einsum`,
which finds the cheapest order.
"""

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.fusion import fuse_eager
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy import linear, matrices
from imprint._src.numpy.einsum import einsum
from imprint._src.numpy.linalg.solving import inv
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.numpy.shapes.reshape import matrix_transpose as transposed
from imprint._src.primitives.axes import canonical_axis
from imprint._src.primitives.elementwise.elementwise import listed
from imprint._src.primitives.matrices import check_square, identity


@fuse_eager
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """Return the cross products of vectors of three elements.

    Args:
        x1: vectors.
        x2: vectors.
        axis: their axis.

    Returns:
        The products, of the broadcast shape, in the promoted dtype.

    Raises:
        ShapeError: the vectors have not three elements.

    References:
        NumPy, `numpy.linalg.cross`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
        Array([0, 0, 1], dtype=int32)
    """
    for x in (x1, x2):
        aval = get_aval(as_array("linalg.cross", x))
        at = canonical_axis("linalg.cross", axis, aval.ndim)
        if not dims.equal(aval.shape[at], 3):
            raise ShapeError(
                f"linalg.cross: expected vectors of three elements along axis {axis}, got "
                f"{aval}. Name their axis, or append zeros."
            )
    return linear.cross(x1, x2, axis=axis)


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return the products of all pairs of elements of two vectors.

    Args:
        x1: a vector of m elements.
        x2: a vector of n elements.

    Returns:
        A matrix of shape (m, n), in the promoted dtype.

    Raises:
        ShapeError: an operand is no vector.

    References:
        NumPy, `numpy.linalg.outer`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.outer(np.array([1, 2]), np.array([3, 4]))
        Array([[3, 4],
               [6, 8]], dtype=int32)
    """
    avals = [get_aval(as_array("linalg.outer", x)) for x in (x1, x2)]
    if any(aval.ndim != 1 for aval in avals):
        raise ShapeError(
            f"linalg.outer: expected two vectors, got {listed((*avals,))}. To flatten "
            "what has more axes, call imprint.numpy.outer."
        )
    return linear.outer(x1, x2)


@fuse_eager
def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Return the sums of a diagonal of matrices along the last two axes.

    Args:
        x: an array of at least two axes.
        offset: the number of the diagonal; positive, above the main one.
        dtype: the dtype of the sum.

    Returns:
        The sums, of the shape of `x` without the last two axes; booleans and narrow
        integers are summed in the default integer dtype.

    References:
        NumPy, `numpy.linalg.trace`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.trace(np.array([[1, 2], [3, 4]]))
        Array(5, dtype=int32)
    """
    return matrices.trace(x, offset, -2, -1, dtype)


@fuse_eager
def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """Return a diagonal of matrices along the last two axes.

    Args:
        x: an array of at least two axes.
        offset: the number of the diagonal; positive, above the main one.

    Returns:
        The elements, along a new last axis in place of two, in the dtype of `x`.

    References:
        NumPy, `numpy.linalg.diagonal`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.diagonal(np.array([[1, 2], [3, 4]]))
        Array([1, 4], dtype=int32)
    """
    return matrices.diagonal(x, offset, -2, -1)


def matmul(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Return the products of stacks of matrices, as `imprint.numpy.matmul` does.

    Args:
        x1: matrices along the last two axes, or a row.
        x2: matrices along the last two axes, or a column.
        precision: the precision of float products; None for the default.
        preferred_element_type: the dtype of the sums and the result; None for the
            promoted dtype.

    Returns:
        The products, whose leading axes are broadcast, in the promoted dtype unless
        `preferred_element_type` is given.

    References:
        NumPy, `numpy.linalg.matmul`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.matmul(np.ones((2, 3)), np.ones((3, 1)))
        Array([[3.],
               [3.]], dtype=float32)
    """
    return linear.matmul(
        x1, x2, precision=precision, preferred_element_type=preferred_element_type
    )


def matrix_transpose(x: ArrayLike, /) -> Array:
    """Transpose matrices along the last two axes.

    Args:
        x: an array of at least two axes.

    Returns:
        An array of the dtype of `x`, with the last two axes exchanged.

    References:
        NumPy, `numpy.linalg.matrix_transpose`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.matrix_transpose(np.array([[1, 2], [3, 4]]))
        Array([[1, 3],
               [2, 4]], dtype=int32)
    """
    return transposed(x)


@fuse_eager
def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Return the dot products of vectors, the first ones conjugated.

    Args:
        x1: vectors.
        x2: vectors of the same length; other axes broadcast.
        axis: their axis.
        precision: the precision of float products; None for the default.
        preferred_element_type: the dtype of the sums and the result; None for the
            promoted dtype.

    Returns:
        The products, without the axis, in the promoted dtype unless
        `preferred_element_type` is given.

    References:
        NumPy, `numpy.linalg.vecdot`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.vecdot(np.ones((2, 3)), np.arange(3.0))
        Array([3., 3.], dtype=float32)
    """
    return linear.vecdot(
        x1,
        x2,
        axis=axis,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def tensordot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axes: int | Sequence[Any] = 2,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Contract axes of two arrays, as `imprint.numpy.tensordot` does.

    Args:
        x1: an array.
        x2: an array.
        axes: the number of last axes of `x1` and first axes of `x2`, or the axes of
            each.
        precision: the precision of float products; None for the default.
        preferred_element_type: the dtype of the sums and the result; None for the
            promoted dtype.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of the remaining axes of `x1`, then those of `x2`, in the promoted
        dtype unless `preferred_element_type` is given.

    References:
        NumPy, `numpy.linalg.tensordot`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1).shape
        (2, 4)
    """
    if out_sharding is not None:
        return spread(
            tensordot(
                x1,
                x2,
                axes=axes,
                precision=precision,
                preferred_element_type=preferred_element_type,
            ),
            out_sharding,
        )
    return linear.tensordot(
        x1,
        x2,
        axes,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


@fuse_eager
def matrix_power(a: ArrayLike, n: int) -> Array:
    """Return square matrices to an integer power, by repeated squaring.

    Args:
        a: square matrices along the last two axes.
        n: the power; a negative one is of the inverse.

    Returns:
        Matrices of the shape and dtype of `a`; a negative power of integers has floats.

    Raises:
        ShapeError: `a` has fewer than two axes, or matrices that are not square.
        ArgumentError: `n` is no integer.

    References:
        NumPy, `numpy.linalg.matrix_power`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.matrix_power(np.array([[1, 1], [1, 0]]), 10)
        Array([[89, 55],
               [55, 34]], dtype=int32)
    """
    x = as_array("linalg.matrix_power", a)
    if x.ndim < 2:
        raise ShapeError(
            "linalg.matrix_power: expected matrices along the last two axes, got "
            f"{x.aval}. Elementwise powers are imprint.numpy.power."
        )
    check_square("linalg.matrix_power", x.aval)
    try:
        power = operator.index(n)
    except TypeError:
        raise ArgumentError(
            f"linalg.matrix_power: expected a whole number as the power, got {n!r:.60}. "
            "For others there are the eigenvalues, imprint.numpy.linalg.eigh."
        ) from None
    if power == 0:
        return identity(x.shape, x.dtype)
    square = inv(x) if power < 0 else x
    power = abs(power)
    out: Any = None
    while power:
        if power & 1:
            out = square if out is None else linear.matmul(out, square)
        power >>= 1
        square = linear.matmul(square, square) if power else square
    return out


@fuse_eager
def multi_dot(arrays: Sequence[ArrayLike], *, precision: Any = None) -> Array:
    """Return the product of several matrices, in the cheapest order.

    Args:
        arrays: matrices; the first may be a row and the last a column, as vectors.
        precision: the precision of float products; None for the default.

    Returns:
        A matrix, a vector or a number, in the promoted dtype.

    Raises:
        ArgumentError: there are fewer than two arrays.
        ShapeError: the arrays are no matrices, or do not fit together.

    References:
        NumPy, `numpy.linalg.multi_dot`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.multi_dot([np.ones((2, 3)), np.ones((3, 4)), np.ones(4)])
        Array([12., 12.], dtype=float32)
    """
    given = [as_array("linalg.multi_dot", x) for x in arrays]
    shown = listed(tuple(x.aval for x in given))
    if len(given) < 2:
        raise ArgumentError(
            f"linalg.multi_dot: expected at least two arrays, got {len(given)}. Leave the "
            "product out."
        )
    ends = (given[0], given[-1])
    inner = all(x.ndim == 2 for x in given[1:-1])
    if not inner or not all(x.ndim in (1, 2) for x in ends):
        raise ShapeError(
            "linalg.multi_dot: expected matrices, the first and the last perhaps vectors, "
            f"got {shown}. For stacks write a @ b @ c."
        )
    if not all(dims.equal(x.shape[-1], y.shape[0]) for x, y in pairwise(given)):
        raise ShapeError(
            "linalg.multi_dot: expected each matrix to have as many columns as the next "
            f"has rows, got {shown}. Transpose some."
        )
    names = [[i, i + 1] for i in range(len(given))]
    if given[0].ndim == 1:
        names[0] = names[0][1:]
    if given[-1].ndim == 1:
        names[-1] = names[-1][:1]
    operands = [part for pair in zip(given, names, strict=True) for part in pair]
    return einsum(operands[0], *operands[1:], optimize="optimal", precision=precision)
