"""Matrices with a pattern, and diagonals of matrices.

Patterns are comparisons of row and column numbers, so compiled programs need no memory
for them.
"""

from functools import reduce
from typing import Any, Final

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import DType, Shape, get_aval
from imprint._src.core.dims import Dim
from imprint._src.core.trace import Tracer
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.device_put import DeviceLike, placed
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import DTypeError, ShapeError
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.promotion import ArrayLike, as_array, convert, refuse_out
from imprint._src.numpy.reductions.reductions import sum
from imprint._src.numpy.shapes.concatenate import resize, stack
from imprint._src.numpy.shapes.reshape import moveaxis, ravel, shape_of
from imprint._src.primitives.axes import canonical_axes, whole
from imprint._src.primitives.core_ops import add, broadcast_in_dim, full, scalar_like
from imprint._src.primitives.elementwise.arithmetic import integer_pow
from imprint._src.primitives.elementwise.bitwise import and_
from imprint._src.primitives.elementwise.comparison import eq, ge
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.indexing.slicing import pad, slice_, slice_in_dim
from imprint._src.primitives.shape import broadcasted_iota, reshape, squeeze


def eye(
    N: Dim,  # noqa: N803 - NumPy's name
    M: Dim | None = None,  # noqa: N803 - NumPy's name
    k: int = 0,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
) -> Array:
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Args:
        N: the number of rows.
        M: the number of columns, if not `N`.
        k: the number of the diagonal: 0 for the main one, 1 for the one above.
        dtype: the dtype; None for the default float.
        device: the device or sharding of the result, as in `imprint.device_put`.

    Returns:
        A matrix of shape (N, M).

    References:
        NumPy, `numpy.eye`.

    Example:
        >>> import imprint.numpy as np
        >>> np.eye(2)
        Array([[1., 0.],
               [0., 1.]], dtype=float32)
    """
    wanted = dtypes.requested(float if dtype is None else dtype, "eye")
    shape = _rows_and_columns("eye", N, M)
    ones = convert("eye", _on_diagonal(shape, _number("eye", k)), wanted)
    return placed("eye", ones, device)


def identity(n: Dim, dtype: DTypeLike | None = None) -> Array:
    """Return a square matrix with ones on the diagonal; see `eye`.

    Args:
        n: the number of rows and columns.
        dtype: the dtype; None for the default float.

    Returns:
        A matrix of shape (n, n).

    References:
        NumPy, `numpy.identity`.

    Example:
        >>> import imprint.numpy as np
        >>> np.identity(2)
        Array([[1., 0.],
               [0., 1.]], dtype=float32)
    """
    return eye(n, dtype=dtype)


def tri(
    N: Dim,  # noqa: N803 - NumPy's name
    M: Dim | None = None,  # noqa: N803 - NumPy's name
    k: int = 0,
    dtype: DTypeLike | None = None,
) -> Array:
    """Return a matrix with ones on and below a diagonal; see `eye`.

    Args:
        N: the number of rows.
        M: the number of columns, if not `N`.
        k: the number of the diagonal: 0 for the main one, 1 for the one above.
        dtype: the dtype; None for the default float.

    Returns:
        A matrix of shape (N, M).

    References:
        NumPy, `numpy.tri`.

    Example:
        >>> import imprint.numpy as np
        >>> np.tri(2, 3)
        Array([[1., 0., 0.],
               [1., 1., 0.]], dtype=float32)
    """
    wanted = dtypes.requested(float if dtype is None else dtype, "tri")
    shape = _rows_and_columns("tri", N, M)
    return convert("tri", _at_or_below(shape, _number("tri", k)), wanted)


def fill_diagonal(
    a: ArrayLike,
    val: ArrayLike,
    wrap: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    inplace: bool = True,
) -> Array:
    """Return an array with the diagonal replaced; requires `inplace=False`.

    Args:
        a: an array of at least two axes; if more, of one length.
        val: the values, repeated as needed.
        wrap: must be False; the diagonal does not restart in a tall matrix.
        inplace: must be False; arrays are immutable.

    Returns:
        An array of the shape and dtype of `a`.

    Raises:
        NotImplementedError: `inplace` or `wrap` is true.
        ShapeError: `a` has fewer than two axes, or more and of different lengths.

    References:
        NumPy, `numpy.fill_diagonal`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fill_diagonal(np.zeros((2, 2)), 7.0, inplace=False)
        Array([[7., 0.],
               [0., 7.]], dtype=float32)
    """
    if inplace or wrap:
        raise NotImplementedError(
            f"fill_diagonal: expected inplace=False and wrap=False, got {inplace=} and "
            f"{wrap=}. Arrays are immutable: use what it returns."
        )
    x = _matrices("fill_diagonal", a)
    if x.ndim > 2 and len(set(x.shape)) > 1:
        raise ShapeError(
            f"fill_diagonal: expected axes of one length, got {x.aval}. Only of two axes "
            "may lengths differ."
        )
    values = convert("fill_diagonal", as_array("fill_diagonal", val), x.dtype)
    row = broadcasted_iota(dtypes.int32, x.shape, 0)
    found = reduce(
        and_,
        [eq(row, broadcasted_iota(dtypes.int32, x.shape, i)) for i in range(1, x.ndim)],
    )
    if values.ndim:
        values = resize(values, (x.shape[0], *(1,) * (x.ndim - 1)))
    return where(found, values, x)


@fuse_eager
def tril(m: ArrayLike, k: int = 0) -> Array:
    """Return the lower triangle of matrices: zeros above a diagonal.

    Args:
        m: matrices along the last two axes.
        k: the number of the diagonal: 0 for the main one, 1 for the one above.

    Returns:
        An array of the shape and dtype of `m`.

    References:
        NumPy, `numpy.tril`.

    Example:
        >>> import imprint.numpy as np
        >>> np.tril(np.ones((2, 2)))
        Array([[1., 0.],
               [1., 1.]], dtype=float32)
    """
    x = _matrices("tril", m)
    return where(_at_or_below(x.shape[-2:], k), x, scalar_like(x, 0))


@fuse_eager
def triu(m: ArrayLike, k: int = 0) -> Array:
    """Return the upper triangle of matrices: zeros below a diagonal.

    Args:
        m: matrices along the last two axes.
        k: the number of the diagonal: 0 for the main one, 1 for the one above.

    Returns:
        An array of the shape and dtype of `m`.

    References:
        NumPy, `numpy.triu`.

    Example:
        >>> import imprint.numpy as np
        >>> np.triu(np.ones((2, 2)))
        Array([[1., 1.],
               [0., 1.]], dtype=float32)
    """
    x = _matrices("triu", m)
    return where(_at_or_below(x.shape[-2:], k - 1), scalar_like(x, 0), x)


@fuse_eager
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Return a diagonal of matrices, along a new last axis.

    Args:
        a: an array of at least two axes.
        offset: the number of the diagonal; positive, above the main one.
        axis1: the axis of the rows.
        axis2: the axis of the columns.

    Returns:
        The other axes of `a` and the diagonal, in its dtype.

    References:
        NumPy, `numpy.diagonal`.

    Example:
        >>> import imprint.numpy as np
        >>> np.diagonal(np.array([[1, 2], [3, 4]]))
        Array([1, 4], dtype=int32)
    """
    x = _last_axes("diagonal", a, axis1, axis2)
    rows, columns = x.shape[-2:]
    offset = whole("diagonal", "offset", offset)
    low, right = max(0, -offset), max(0, offset)
    length = dims.maximum(0, dims.minimum(rows - low, columns - right))
    lead = (0,) * (x.ndim - 2)
    top, left = dims.minimum(low, rows), dims.minimum(right, columns)
    block = slice_(
        x,
        (*lead, top, left),
        (*x.shape[:-2], top + length, left + length),
    )
    flat = reshape(block, (*x.shape[:-2], length * length))
    if not dims.is_symbolic(length):
        return slice_in_dim(flat, 0, length * length, length + 1, axis=-1)
    # In rows one longer than the matrix, its diagonal is the first column.
    none, ahead = (0, 0, 0), (0, length, 0)
    padded = pad(flat, scalar_like(x, 0), (*[none] * (x.ndim - 2), ahead))
    rows = reshape(padded, (*x.shape[:-2], length, length + 1))
    first = slice_in_dim(rows, 0, 1, axis=-1)
    return squeeze(first, (-1,))


@fuse_eager
def diag(v: ArrayLike, k: int = 0) -> Array:
    """Return the diagonal of a matrix, or a matrix with a vector as diagonal.

    Args:
        v: a vector or a matrix.
        k: the number of the diagonal: 0 for the main one, 1 for the one above.

    Returns:
        The diagonal, or a square matrix that is longer than the vector by |k|, in the
        dtype of `v`.

    Raises:
        ShapeError: `v` has no axis, or more than two.

    References:
        NumPy, `numpy.diag`.

    Example:
        >>> import imprint.numpy as np
        >>> np.diag(np.array([1, 2]))
        Array([[1, 0],
               [0, 2]], dtype=int32)
    """
    x = as_array("diag", v)
    k = whole("diag", "k", k)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ShapeError(
            f"diag: expected a vector or a matrix, got {x.aval}. "
            "For more axes call imprint.numpy.diagonal."
        )
    x = pad(x, scalar_like(x, 0), ((max(0, k), max(0, -k), 0),))
    size = x.shape[0]
    wide = broadcast_in_dim(x, (size, size), (1,))
    return where(_on_diagonal((size, size), k), wide, scalar_like(wide, 0))


@fuse_eager
def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """Return a matrix with the flattened elements as a diagonal.

    Args:
        v: an array.
        k: the number of the diagonal: 0 for the main one, 1 for the one above.

    Returns:
        A square matrix that is longer than the flat array by |k|, in the dtype of `v`.

    References:
        NumPy, `numpy.diagflat`.

    Example:
        >>> import imprint.numpy as np
        >>> np.diagflat(np.array([[1], [2]]))
        Array([[1, 0],
               [0, 2]], dtype=int32)
    """
    return diag(ravel(v), k)


@fuse_eager
def trace(
    a: ArrayLike,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike | None = None,
    out: None = None,
) -> Array:
    """Return the sum of a diagonal of matrices.

    Args:
        a: an array of at least two axes.
        offset: the number of the diagonal; positive, above the main one.
        axis1: the axis of the rows.
        axis2: the axis of the columns.
        dtype: the dtype of the sum.
        out: must be None; arrays are immutable.

    Returns:
        The sums, of the shape of the other axes; booleans and narrow integers are
        summed in the default integer dtype.

    References:
        NumPy, `numpy.trace`.

    Example:
        >>> import imprint.numpy as np
        >>> np.trace(np.array([[1, 2], [3, 4]]))
        Array(5, dtype=int32)
    """
    refuse_out("trace", out)
    x = _last_axes("trace", a, axis1, axis2)
    on = _on_diagonal(x.shape[-2:], _number("trace", offset))
    return sum(where(on, x, scalar_like(x, 0)), (-2, -1), dtype)


@fuse_eager
def vander(
    x: ArrayLike,
    N: int | None = None,  # noqa: N803 - NumPy's name
    increasing: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
) -> Array:
    """Return the Vandermonde matrix: powers of a vector, a column for each exponent.

    Args:
        x: a vector.
        N: the number of columns; None for a square matrix.
        increasing: whether exponents ascend from 0, not descend to it.

    Returns:
        A matrix of shape (length of `x`, N), in the dtype of `x`.

    Raises:
        ShapeError: `x` is no vector.

    References:
        NumPy, `numpy.vander`.

    Example:
        >>> import imprint.numpy as np
        >>> np.vander(np.array([2, 3]), 3)
        Array([[4, 2, 1],
               [9, 3, 1]], dtype=int32)
    """
    vector = as_array("vander", x)
    if vector.ndim != 1:
        raise ShapeError(
            f"vander: expected a vector, got {vector.aval}. Ravel it, or map over it "
            "with imprint.vmap."
        )
    count = dims.concrete(vector.shape[0] if N is None else N, "vander")
    exponents = range(count) if increasing else reversed(range(count))
    columns = [integer_pow(vector, n) for n in exponents]
    return stack(columns, 1) if columns else full((*vector.shape, 0), 0, vector.dtype)


# ---- patterns ----


def _number(name: str, k: Any) -> Any:
    """Return the number of a diagonal, which may be traced."""
    if not isinstance(k, Tracer):
        return whole(name, "k", k)
    aval = get_aval(k)
    if aval.ndim or not dtypes.is_integer(aval.dtype):
        raise DTypeError(f"{name}: expected k to be an integer, got {aval}. Round it.")
    return k


def _on_diagonal(shape: Shape, k: Any) -> Array:
    rows, columns = _numbered(shape)
    return eq(_shifted(rows, k), columns)


def _at_or_below(shape: Shape, k: Any) -> Array:
    rows, columns = _numbered(shape)
    return ge(_shifted(rows, k), columns)


def _shifted(rows: Array, k: Any) -> Array:
    if isinstance(k, Tracer):
        return add(rows, convert_element_type(k, rows.dtype))
    if isinstance(k, int):  # diagonals outside of the matrix, whatever their number
        k = max(-_FAR, min(k, _FAR))
    return add(rows, scalar_like(rows, k))


_FAR: Final = 2**30


def _numbered(shape: Shape) -> tuple[Array, Array]:
    dtype: DType = dtypes.int32
    return broadcasted_iota(dtype, shape, 0), broadcasted_iota(dtype, shape, 1)


def _rows_and_columns(name: str, rows: Dim, columns: Dim | None) -> Shape:
    sizes = (rows, rows if columns is None else columns)
    return shape_of(name, dims.as_shape(sizes, name))


def _matrices(name: str, m: ArrayLike) -> Array:
    x = as_array(name, m)
    if x.ndim < 2:
        raise ShapeError(
            f"{name}: expected at least two axes, got {x.aval}. "
            "Insert one with `x[None]`."
        )
    return x


def _last_axes(name: str, a: ArrayLike, axis1: int, axis2: int) -> Array:
    """Return matrices with the two given axes moved to the end."""
    x = _matrices(name, a)
    axes = canonical_axes(name, (axis1, axis2), x.ndim)
    return moveaxis(x, axes, (-2, -1))
