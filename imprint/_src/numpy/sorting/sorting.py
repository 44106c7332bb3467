"""Sorting: sort, argsort, lexsort, partition, and the largest elements.

NaN is last, -0.0 and 0.0 are equal, and complex numbers compare by real part, then by
imaginary part. Equal elements keep their order unless stated otherwise. Indices are
`int32`, or `int64` under `enable_x64`; those of `top_k` and `argpartition` are `int32`.
A partition finds the largest or smallest elements by `top_k`, which sorts only these.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.dims import Dim
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.numpy.promotion import ArrayLike, as_array, convert, refuse_complex
from imprint._src.numpy.shapes.reshape import moveaxis, ravel
from imprint._src.primitives.axes import canonical_axis, whole
from imprint._src.primitives.core_ops import neg
from imprint._src.primitives.elementwise.bitwise import not_
from imprint._src.primitives.indexing import searching, sorting
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.indexing.take_rows import each_at
from imprint._src.primitives.shape import broadcasted_iota, rev


@fuse_eager
def sort(
    a: ArrayLike,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """Return the elements in ascending order along an axis.

    Args:
        a: an array.
        axis: the axis; None flattens first.
        kind: must be None; use `stable`.
        order: must be None; there are no record arrays.
        stable: whether equal elements keep their order.
        descending: whether to sort in descending order.

    Returns:
        An array of the shape and dtype of `a`, or one axis if flattened. NaN come last,
        or first if descending.

    Raises:
        ArgumentError: `kind` or `order` is given.

    References:
        NumPy, `numpy.sort`.

    Example:
        >>> import imprint.numpy as np
        >>> np.sort(np.array([[3, 1, 2], [9, 7, 8]]))
        Array([[1, 2, 3],
               [7, 8, 9]], dtype=int32)
    """
    x, at = _along("sort", a, axis, kind, order)
    out = sorting.sort(x, at, stable)
    return rev(out, (at,)) if descending else out


@fuse_eager
def argsort(  # noqa: PLR0913 - JAX's signature
    a: ArrayLike,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
    dtype: DTypeLike | None = None,
) -> Array:
    """Return the indices that sort the elements along an axis.

    Args:
        a: an array.
        axis: the axis; None flattens first.
        kind: must be None; use `stable`.
        order: must be None; there are no record arrays.
        stable: whether indices of equal elements ascend.
        descending: whether to sort in descending order.
        dtype: the dtype of the indices.

    Returns:
        The indices, of the shape of `a`, or one axis if flattened; in the default
        integer dtype unless `dtype` is given.

    Raises:
        ArgumentError: `kind` or `order` is given.

    References:
        NumPy, `numpy.argsort`.

    Example:
        >>> import imprint.numpy as np
        >>> np.argsort(np.array([3, 1, 2]))
        Array([1, 2, 0], dtype=int32)
    """
    x, at = _along("argsort", a, axis, kind, order)
    wanted = (
        dtypes.default_int() if dtype is None else dtypes.requested(dtype, "argsort")
    )
    index = broadcasted_iota(wanted, x.shape, at)
    if descending and stable:  # makes indices of equal elements ascend at the end
        x, index = rev(x, (at,)), rev(index, (at,))
    _, out = sorting.sort_key_val(x, index, at, stable)
    return rev(out, (at,)) if descending else out


def _along(
    name: str, a: ArrayLike, axis: int | None, kind: object, order: object
) -> tuple[Array, int]:
    """Return the array and the axis to sort."""
    if kind is not None:
        raise ArgumentError(
            f"{name}: expected kind to be None, got {kind!r}. There is one algorithm: "
            "say stable=True or stable=False."
        )
    if order is not None:
        raise ArgumentError(
            f"{name}: expected order to be None, got {order!r}. There are no arrays of "
            "records: sort by several arrays with imprint.numpy.lexsort."
        )
    x = as_array(name, a)
    if axis is None:
        return ravel(x), 0
    return x, canonical_axis(name, axis, x.ndim)


@fuse_eager
def sort_complex(a: ArrayLike) -> Array:
    """Return the elements sorted along the last axis, as complex numbers.

    Args:
        a: an array of at least one axis.

    Returns:
        A complex array of the shape of `a`, ordered by real parts, then by imaginary
        ones.

    References:
        NumPy, `numpy.sort_complex`.

    Example:
        >>> import imprint.numpy as np
        >>> np.sort_complex(np.array([2 + 1j, 1 - 1j]))
        Array([1.-1.j, 2.+1.j], dtype=complex64)
    """
    out = sorting.sort(as_array("sort_complex", a))
    return convert("sort_complex", out, dtypes.to_complex(out.dtype))


# ---- the largest and smallest elements ----


@fuse_eager
def top_k(
    a: ArrayLike,
    k: int,
    /,
    *,
    axis: int = -1,
    mode: str = "largest",
    sorted: bool = True,
) -> tuple[Array, Array]:
    """Return the largest or smallest elements along an axis, and their indices.

    Args:
        a: an array of real numbers or booleans.
        k: the number of elements.
        axis: the axis.
        mode: "largest" or "smallest".
        sorted: whether to sort them; ignored, they always are.

    Returns:
        Values in the dtype of `a`, and indices in int32, both `k` long along the axis;
        the largest, or the smallest, first.

    Raises:
        ArgumentError: the mode is unknown.
        DTypeError: `a` is complex.

    References:
        JAX, `jax.numpy.top_k`.

    Example:
        >>> import imprint.numpy as np
        >>> np.top_k(np.array([3, 9, 5]), 2, mode="smallest")[0]
        Array([3, 5], dtype=int32)
    """
    del sorted
    x = as_array("top_k", a)
    refuse_complex("top_k", x)
    if mode not in ("largest", "smallest"):
        raise ArgumentError(
            f"top_k: expected mode 'largest' or 'smallest', got {mode!r}."
            " Leave it out for the largest."
        )
    if mode == "largest":
        return sorting.top_k(x, k, axis=axis)
    values, index = sorting.top_k(backwards(x), k, axis=axis)
    return backwards(values), index


def backwards(x: Any) -> Any:
    """Return values with the order reversed; an involution."""
    return neg(x) if dtypes.is_inexact(x.dtype) else not_(x)


@fuse_eager
def lexsort(
    keys: ArrayLike | Sequence[ArrayLike], axis: int = -1, *, batch_size: int = 16
) -> Array:
    """Return the indices that sort by several keys; the last key is primary.

    Args:
        keys: a sequence of arrays of one shape, or one array of them.
        axis: the axis along which each key is sorted.
        batch_size: the number of keys in one sort: more take longer to compile.

    Returns:
        The indices, of the shape of a key, in the default integer dtype.

    Raises:
        ArgumentError: there is no key, or `batch_size` is below 1.
        ShapeError: the keys have different shapes.

    References:
        NumPy, `numpy.lexsort`.

    Example:
        >>> import imprint.numpy as np
        >>> np.lexsort((np.array([3, 2, 1]), np.array([0, 1, 0])))
        Array([2, 0, 1], dtype=int32)
    """
    if whole("lexsort", "batch_size", batch_size) < 1:
        raise ArgumentError(
            f"lexsort: expected batch_size to be at least 1, got {batch_size}. "
            "Leave it out."
        )
    arrays = [as_array("lexsort", key) for key in cast("Sequence[ArrayLike]", keys)]
    if not arrays:
        raise ArgumentError(
            "lexsort: expected at least one key, got none. Pass a sequence of arrays."
        )
    first = arrays[0]
    if not all(dims.equal_shapes(x.shape, first.shape) for x in arrays):
        raise ShapeError(
            "lexsort: expected keys of one shape, got "
            f"{', '.join(str(x.aval) for x in arrays)}. Broadcast them first."
        )
    if not first.ndim:
        return convert("lexsort", np.asarray(0), dtypes.default_int())
    at = canonical_axis("lexsort", axis, first.ndim)
    order = broadcasted_iota(dtypes.default_int(), first.shape, at)
    for start in range(0, len(arrays), batch_size):  # the last group is primary
        group = arrays[start : start + batch_size][::-1]
        if start:
            group = [each_at(key, order, at) for key in group]
        order = sorting.sort((*group, order), at, num_keys=len(group))[-1]
    return order


@fuse_eager
def partition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """Return the elements partitioned around the one with index `kth`.

    Args:
        a: an array of real numbers.
        kth: the index of the element that is in its sorted position; no element before
            it is larger, none after it smaller.
        axis: the axis.

    Returns:
        An array of the shape and dtype of `a`.

    Raises:
        DTypeError: `a` is complex.

    References:
        NumPy, `numpy.partition`.

    Example:
        >>> import imprint.numpy as np
        >>> np.partition(np.array([6, 8, 4, 3, 1, 9]), 2)
        Array([1, 3, 4, 9, 8, 6], dtype=int32)
    """
    x, at, first = _parted("partition", a, kth, axis)
    rest = x.shape[at] - first
    if dims.is_symbolic(first) or dims.is_symbolic(rest):
        ordered = sorting.sort(x, at)
        low = slice_in_dim(ordered, 0, first, axis=at)
        high = slice_in_dim(rev(ordered, (at,)), 0, rest, axis=at)
    else:
        low = backwards(sorting.top_k(backwards(x), first, axis=at)[0])
        high = sorting.top_k(x, rest, axis=at)[0]
    return concatenate([low, high], at)


@fuse_eager
def argpartition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """Return the indices that partition the elements around index `kth`.

    The other indices ascend.

    Args:
        a: an array of real numbers.
        kth: the index of the element that is in its sorted position, as for
            `partition`.
        axis: the axis.

    Returns:
        The indices, of the shape of `a`, in int32.

    Raises:
        DTypeError: `a` is complex.

    References:
        NumPy, `numpy.argpartition`.

    Example:
        >>> import imprint.numpy as np
        >>> np.argpartition(np.array([6, 8, 4, 3, 1, 9]), 2)
        Array([4, 3, 2, 0, 1, 5], dtype=int32)
    """
    x, at, first = _parted("argpartition", a, kth, axis)
    if dims.is_symbolic(first):
        low = slice_in_dim(argsort(x, at, dtype=dtypes.int32), 0, first, axis=at)
    else:
        low = sorting.top_k(backwards(x), first, axis=at)[1]
    low, rest = moveaxis(low, at, -1), moveaxis(x, at, -1).shape[:-1]
    rest = (*rest, x.shape[at] - first)
    # Of the remaining elements, number j is after as many of the chosen as have at
    # most j others before them.
    chosen = sorting.sort(low)
    others = chosen - broadcasted_iota(dtypes.int32, chosen.shape, x.ndim - 1)
    number = broadcasted_iota(dtypes.int32, rest, x.ndim - 1)
    before = searching.searchsorted(others, number, "right", "scan")
    return moveaxis(concatenate([low, number + before], x.ndim - 1), -1, at)


def _parted(name: str, a: ArrayLike, kth: int, axis: int) -> tuple[Array, int, Dim]:
    """Return the array, the axis, and the number of smallest elements."""
    x = as_array(name, a)
    if dtypes.is_complex(x.dtype):
        raise DTypeError(
            f"{name}: expected real numbers, got {x.aval}. Sort complex ones with "
            "imprint.numpy.sort."
        )
    at = canonical_axis(name, axis, x.ndim)
    place = dims.element(kth, x.shape[at]) if dims.is_symbolic(kth) else None
    place = canonical_axis(name, kth, x.shape[at]) if place is None else place
    return x, at, place + 1
