"""Join, stack, tile and reverse arrays.

Joined arrays are promoted to one dtype. An array in place of a sequence stands for its
slices along the first axis.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import Shape, get_aval
from imprint._src.core.dims import Dim
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.interpreters.keys import accepts_keys
from imprint._src.numpy.promotion import (
    ArrayLike,
    NDArray,
    as_array,
    convert,
    promote_dtypes,
    refuse_out,
)
from imprint._src.numpy.shapes.reshape import (
    Axes,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    axis_tuple,
    ravel,
    reshape,
    size_tuple,
    transpose,
    unstack,
)
from imprint._src.primitives.axes import canonical_axes, canonical_axis, whole
from imprint._src.primitives.copying import owned
from imprint._src.primitives.core_ops import broadcast_in_dim
from imprint._src.primitives.indexing.slicing import concatenate as concatenate_
from imprint._src.primitives.indexing.slicing import slice_in_dim
from imprint._src.primitives.shape import expand_dims, rev

Arrays: TypeAlias = Sequence[ArrayLike] | Array | NDArray


@fuse_eager
@accepts_keys(0)
def concatenate(
    arrays: Arrays, axis: int | None = 0, dtype: DTypeLike | None = None
) -> Array:
    """Join arrays along an existing axis.

    Args:
        arrays: arrays of equal lengths along the other axes.
        axis: the axis to join along; None flattens them first.
        dtype: the dtype of the result; None for the common one.

    Returns:
        An array as long along the axis as all together, in the common dtype unless
        `dtype` is given.

    Raises:
        ShapeError: the arrays have no axes, or other lengths differ.

    References:
        NumPy, `numpy.concatenate`.

    Example:
        >>> import imprint.numpy as np
        >>> np.concatenate([np.arange(2), np.ones(1)])
        Array([0., 1., 1.], dtype=float32)
    """
    parts = _parts("concatenate", arrays, dtype)
    if axis is None:
        return concatenate_([ravel(x) for x in parts], 0)
    avals = [x.aval for x in parts]
    first = avals[0]
    if not first.ndim:
        raise ShapeError(
            f"concatenate: expected arrays with an axis, got {first}. "
            "Join scalars with imprint.numpy.stack."
        )
    at = canonical_axis("concatenate", axis, first.ndim)
    if not _are_equal([(*a.shape[:at], *a.shape[at + 1 :]) for a in avals]):
        raise ShapeError(
            f"concatenate: expected equal shapes but for axis {at}, got "
            f"{', '.join(map(str, avals))}. Join along another axis, or reshape."
        )
    return concatenate_(parts, at)


@accepts_keys(0)
def concat(arrays: Arrays, /, *, axis: int | None = 0) -> Array:
    """Join arrays along an existing axis; see `concatenate`.

    Args:
        arrays: arrays of equal lengths along the other axes.
        axis: the axis to join along; None flattens them first.

    Returns:
        An array as long along the axis as all together, in the common dtype.

    References:
        NumPy, `numpy.concat`.

    Example:
        >>> import imprint.numpy as np
        >>> np.concat([np.array([1, 2]), np.array([3])])
        Array([1, 2, 3], dtype=int32)
    """
    return concatenate(arrays, axis)


@fuse_eager
@accepts_keys(0)
def stack(
    arrays: Arrays,
    axis: int = 0,
    out: None = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """Join arrays of one shape along a new axis.

    Args:
        arrays: arrays of one shape.
        axis: the new axis of the result.
        out: must be None; arrays are immutable.
        dtype: the dtype of the result; None for the common one.

    Returns:
        An array with one axis more, as long as there are arrays, in the common dtype
        unless `dtype` is given.

    Raises:
        ShapeError: the arrays have different shapes.

    References:
        NumPy, `numpy.stack`.

    Example:
        >>> import imprint.numpy as np
        >>> np.stack([np.array([1, 2]), np.array([3, 4])], axis=1)
        Array([[1, 3],
               [2, 4]], dtype=int32)
    """
    refuse_out("stack", out)
    parts = _parts("stack", arrays, dtype)
    if not _are_equal([x.shape for x in parts]):
        raise ShapeError(
            "stack: expected arrays of one shape, got "
            f"{', '.join(str(x.aval) for x in parts)}. Broadcast them first."
        )
    at = canonical_axis("stack", axis, parts[0].ndim + 1)
    return concatenate_([expand_dims(x, (at,)) for x in parts], at)


@fuse_eager
@accepts_keys(0)
@owned
def vstack(tup: Arrays, dtype: DTypeLike | None = None) -> Array:
    """Join arrays along the first axis; vectors are rows.

    Args:
        tup: arrays of equal lengths along the other axes.
        dtype: the dtype of the result; None for the common one.

    Returns:
        An array of at least two axes, in the common dtype unless `dtype` is given.

    References:
        NumPy, `numpy.vstack`.

    Example:
        >>> import imprint.numpy as np
        >>> np.vstack([np.array([1, 2]), np.array([3, 4])])
        Array([[1, 2],
               [3, 4]], dtype=int32)
    """
    return concatenate([atleast_2d(x) for x in _sequence("vstack", tup)], 0, dtype)


@fuse_eager
@accepts_keys(0)
@owned
def hstack(tup: Arrays, dtype: DTypeLike | None = None) -> Array:
    """Join arrays along the second axis, vectors along the first.

    Args:
        tup: arrays of equal lengths along the other axes; numbers are vectors of one
            element.
        dtype: the dtype of the result; None for the common one.

    Returns:
        An array of at least one axis, in the common dtype unless `dtype` is given.

    References:
        NumPy, `numpy.hstack`.

    Example:
        >>> import imprint.numpy as np
        >>> np.hstack([np.array([1, 2]), np.array([3])])
        Array([1, 2, 3], dtype=int32)
    """
    parts = [atleast_1d(x) for x in _sequence("hstack", tup)]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1, dtype)


@fuse_eager
@accepts_keys(0)
@owned
def dstack(tup: Arrays, dtype: DTypeLike | None = None) -> Array:
    """Join arrays along the third axis.

    Args:
        tup: arrays of equal lengths along the other axes; those of fewer axes as by
            `atleast_3d`.
        dtype: the dtype of the result; None for the common one.

    Returns:
        An array of at least three axes, in the common dtype unless `dtype` is given.

    References:
        NumPy, `numpy.dstack`.

    Example:
        >>> import imprint.numpy as np
        >>> np.dstack([np.ones((2, 3)), np.zeros((2, 3))]).shape
        (2, 3, 2)
    """
    return concatenate([atleast_3d(x) for x in _sequence("dstack", tup)], 2, dtype)


@fuse_eager
@accepts_keys(0)
def column_stack(tup: Arrays) -> Array:
    """Join arrays along the second axis; vectors are columns.

    Args:
        tup: vectors of one length, or matrices of as many rows.

    Returns:
        A matrix, in the common dtype.

    References:
        NumPy, `numpy.column_stack`.

    Example:
        >>> import imprint.numpy as np
        >>> np.column_stack([np.array([1, 2]), np.array([3, 4])])
        Array([[1, 3],
               [2, 4]], dtype=int32)
    """
    parts = [as_array("column_stack", x) for x in _sequence("column_stack", tup)]
    columns = [transpose(atleast_2d(x)) if x.ndim < 2 else x for x in parts]
    return concatenate(columns, 1)


@fuse_eager
@accepts_keys(0, 1)
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """Join two arrays along an axis; None flattens them first.

    Args:
        arr: an array.
        values: an array of equal lengths along the other axes.
        axis: the axis to join along; None flattens them first.

    Returns:
        An array as long along the axis as both together, in the common dtype.

    References:
        NumPy, `numpy.append`.

    Example:
        >>> import imprint.numpy as np
        >>> np.append(np.array([1, 2]), 3)
        Array([1, 2, 3], dtype=int32)
    """
    return concatenate([arr, values], axis)


@fuse_eager
@owned
def block(arrays: Any) -> Array:
    """Join nested lists of blocks: the innermost along the last axis.

    Args:
        arrays: an array or number, or nested lists of them of one depth.

    Returns:
        An array with at least an axis for each level of the lists, in the common dtype.

    References:
        NumPy, `numpy.block`.

    Example:
        >>> import imprint.numpy as np
        >>> np.block([[np.ones((1, 1)), np.zeros((1, 2))], [np.full((1, 3), 2.0)]])
        Array([[1., 0., 0.],
               [2., 2., 2.]], dtype=float32)
    """
    return _block(arrays)[0]


def _block(arrays: Any) -> tuple[Array, int]:
    """Return the joined blocks, and the depth of the lists plus 1."""
    if not isinstance(arrays, list):
        return as_array("block", arrays), 1
    parts = [_block(part) for part in cast("list[Any]", arrays)]
    depths = {depth for _, depth in parts}
    if len(depths) != 1:
        raise ArgumentError(
            "block: expected lists that are equally deep and not empty, got "
            f"{len(parts)} parts in {len(depths)} depths. Put single arrays into lists."
        )
    (depth,) = depths
    rank = max(depth, *[x.ndim for x, _ in parts])
    whole = [reshape(x, (*(1,) * (rank - x.ndim), *x.shape)) for x, _ in parts]
    return concatenate(whole, -depth), depth + 1


def _are_equal(shapes: Sequence[Shape]) -> bool:
    first, *others = set(shapes)
    return all(dims.equal_shapes(first, other) for other in others)


def _parts(name: str, arrays: Arrays, dtype: DTypeLike | None) -> list[Any]:
    """Return the arrays to join, in one dtype."""
    parts = [as_array(name, x) for x in _sequence(name, arrays)]
    if dtype is None:
        return promote_dtypes(name, parts)
    wanted = dtypes.requested(dtype, name)
    return [convert(name, x, wanted) for x in parts]


def _sequence(name: str, arrays: Arrays) -> Sequence[ArrayLike]:
    if isinstance(arrays, Array | np.ndarray):
        arrays = unstack(arrays)
    elif not hasattr(arrays, "__len__"):
        raise ArgumentError(
            f"{name}: expected a sequence of arrays, got {type(arrays).__name__}. "
            "Pass a list, also of one array."
        )
    if not arrays:
        raise ArgumentError(
            f"{name}: expected at least one array, got none. "
            "Call imprint.numpy.empty for an array without elements."
        )
    return arrays


# ---- repeating ----


@fuse_eager
@accepts_keys(0)
def tile(A: ArrayLike, reps: Dim | Sequence[Dim]) -> Array:  # noqa: N803 - NumPy's name
    """Repeat a whole array along each axis.

    Args:
        A: an array.
        reps: the number of repetitions along each axis; the shorter of `reps` and the
            shape of `A` gets leading ones.

    Returns:
        An array in the dtype of `A`, whose lengths are multiplied by `reps`.

    References:
        NumPy, `numpy.tile`.

    Example:
        >>> import imprint.numpy as np
        >>> np.tile(np.array([1, 2]), (2, 2))
        Array([[1, 2, 1, 2],
               [1, 2, 1, 2]], dtype=int32)
    """
    x = as_array("tile", A)
    times = size_tuple("tile", reps)
    rank = max(x.ndim, len(times))
    times = (*(1,) * (rank - len(times)), *times)
    lengths = (*(1,) * (rank - x.ndim), *x.shape)
    kept = tuple(range(2 * (rank - x.ndim) + 1, 2 * rank, 2))
    shape = tuple(n for pair in zip(times, lengths, strict=True) for n in pair)
    result = tuple(t * n for t, n in zip(times, lengths, strict=True))
    return reshape(broadcast_in_dim(x, shape, kept), result)


def resize(a: ArrayLike, new_shape: Dim | Sequence[Dim]) -> Array:
    """Return an array of another size, with the elements repeated or cut.

    Args:
        a: an array; if it is empty, the result has zeros.
        new_shape: the lengths of the axes: an integer or a tuple.

    Returns:
        An array of this shape, in the dtype of `a`.

    References:
        NumPy, `numpy.resize`.

    Example:
        >>> import imprint.numpy as np
        >>> np.resize(np.arange(2), (2, 3))
        Array([[0, 1, 0],
               [1, 0, 1]], dtype=int32)
    """
    flat, shape = ravel(a), size_tuple("resize", new_shape)
    size = dims.product(shape)
    if dims.has_zero((flat.size, size)):
        return broadcast_in_dim(flat.dtype.type(0), shape, ())
    tiled = tile(flat, dims.ceil_divide(size, get_aval(flat).size))
    return reshape(slice_in_dim(tiled, 0, size), shape)


# ---- reversing ----


@accepts_keys(0)
def flip(m: ArrayLike, axis: Axes | None = None) -> Array:
    """Reverse the order of the elements along axes, or along all.

    Args:
        m: an array.
        axis: the axes: one, several, or None for all.

    Returns:
        An array of the shape and dtype of `m`.

    References:
        NumPy, `numpy.flip`.

    Example:
        >>> import imprint.numpy as np
        >>> np.flip(np.arange(3))
        Array([2, 1, 0], dtype=int32)
    """
    x = as_array("flip", m)
    if axis is None:
        return rev(x, range(x.ndim))
    return rev(x, canonical_axes("flip", axis_tuple("flip", axis), x.ndim))


@accepts_keys(0)
def fliplr(m: ArrayLike) -> Array:
    """Reverse the order of the columns.

    Args:
        m: an array of at least two axes.

    Returns:
        An array of the shape and dtype of `m`.

    References:
        NumPy, `numpy.fliplr`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fliplr(np.array([[1, 2], [3, 4]]))
        Array([[2, 1],
               [4, 3]], dtype=int32)
    """
    return flip(m, 1)


@accepts_keys(0)
def flipud(m: ArrayLike) -> Array:
    """Reverse the order of the rows.

    Args:
        m: an array of at least one axis.

    Returns:
        An array of the shape and dtype of `m`.

    References:
        NumPy, `numpy.flipud`.

    Example:
        >>> import imprint.numpy as np
        >>> np.flipud(np.array([[1, 2], [3, 4]]))
        Array([[3, 4],
               [1, 2]], dtype=int32)
    """
    return flip(m, 0)


@fuse_eager
@accepts_keys(0)
@owned
def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """Rotate an array by `k` right angles, from the first axis to the second.

    Args:
        m: an array of at least two axes.
        k: the number of right angles; negative ones turn the other way.
        axes: the two axes of the plane.

    Returns:
        An array in the dtype of `m`; for odd `k`, with the lengths of both axes
        exchanged.

    References:
        NumPy, `numpy.rot90`.

    Example:
        >>> import imprint.numpy as np
        >>> np.rot90(np.array([[1, 2], [3, 4]]))
        Array([[2, 4],
               [1, 3]], dtype=int32)
    """
    x = as_array("rot90", m)
    first, second = canonical_axes("rot90", axes, x.ndim)
    order = list(range(x.ndim))
    order[first], order[second] = second, first
    turns: tuple[Callable[[], Array], ...] = (
        lambda: x,
        lambda: transpose(flip(x, second), order),
        lambda: flip(x, (first, second)),
        lambda: flip(transpose(x, order), second),
    )
    return turns[whole("rot90", "k", k) % 4]()
