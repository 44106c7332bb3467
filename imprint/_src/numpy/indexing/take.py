"""Elements by index, and indices of elements: `take`, `nonzero` and others.

Out of bounds, `take` and `take_along_axis` give NaN, or the least integer, as in JAX.
If values determine the length of a result, a trace needs its `size`; `fill_value` fills
up to it.
"""

from typing import Any, cast

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.trace import Tracer
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import (
    ArgumentError,
    ConcretizationError,
    DTypeError,
    ShapeError,
)
from imprint._src.numpy.creation import array
from imprint._src.numpy.elementwise.arithmetic import mod
from imprint._src.numpy.elementwise.selection import as_bool, clip, where
from imprint._src.numpy.indexing.advanced import take_at
from imprint._src.numpy.indexing.updating import Places
from imprint._src.numpy.promotion import ArrayLike, as_array, broadcast, refuse_out
from imprint._src.numpy.reductions.cumulative import cumsum
from imprint._src.primitives.axes import canonical_axis, whole
from imprint._src.primitives.core_ops import full
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.indexing.gather import gather
from imprint._src.primitives.shape import (
    as_operand,
    expand_dims,
    iota,
    number_of,
    reshape,
)
from imprint._src.primitives.windows.gather_dims import (
    GatherDimensionNumbers,
    GatherScatterMode,
)


def _integers(name: str, indices: Any) -> Array:
    found = array(indices) if isinstance(indices, list | tuple) else indices
    found = as_array(name, found)
    if not dt.is_integer(found.dtype):
        raise DTypeError(
            f"{name}: expected indices of an integer dtype, got {found.aval}. "
            "Convert them with .astype('int32')."
        )
    return found


@fuse_eager
@filter_traceback
def take(  # noqa: PLR0913, PLR0917 - JAX's signature
    a: ArrayLike,
    indices: Any,
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    unique_indices: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    indices_are_sorted: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    fill_value: Any = None,
) -> Array:
    """Take elements along an axis, of the flat array if it is None.

    Args:
        a: an array.
        indices: integers; their axes replace the axis.
        axis: the axis.
        out: must be None; arrays are immutable.
        mode: for indices out of bounds: None or "fill" gives `fill_value`, "clip" the
            nearest element (for negative indices too), "wrap" wraps around.
        unique_indices: the promise that no index is repeated.
        indices_are_sorted: the promise that indices are in ascending order.
        fill_value: if None: NaN, the least signed or the greatest unsigned integer.

    Returns:
        An array in the dtype of `a`; the axes of `indices` stand in place of the axis.

    Raises:
        ArgumentError: the mode is unknown.

    References:
        NumPy, `numpy.take`.

    Example:
        >>> import imprint.numpy as np
        >>> np.take(np.array([5.0, 6.0, 7.0]), np.array([2, -3, 3]))
        Array([ 7.,  5., nan], dtype=float32)
    """
    refuse_out("take", out)
    x, places = as_array("take", a), _integers("take", indices)
    x = reshape(x, (dims.product(x.shape),)) if axis is None else x
    at = canonical_axis("take", axis or 0, x.ndim)
    length = x.shape[at]
    if mode not in (None, "fill", "clip", "wrap"):
        raise ArgumentError(
            f"take: expected the mode 'fill', 'clip' or 'wrap', got {mode!r}. Values "
            "cannot raise inside a compiled function: leave it out for NaN."
        )
    if mode == "wrap" and not dims.is_same(length, 0):
        places = mod(places, number_of(length, places.dtype))
    chosen = {"wrap": "promise_in_bounds"}.get(mode or "fill", mode or "fill")
    return take_at(
        x,
        (slice(None),) * at + (places,),
        mode=chosen,
        fill_value=fill_value,
        wraps=mode != "clip",
        unique_indices=unique_indices,
        indices_are_sorted=indices_are_sorted,
    )


@fuse_eager
@filter_traceback
def take_along_axis(
    arr: ArrayLike,
    indices: Any,
    axis: int | None = -1,
    mode: Any = None,
    fill_value: Any = None,
    *,
    wrap_negative_indices: bool | None = None,
) -> Array:
    """Take from each row along an axis the elements at its own indices.

    Args:
        arr: an array.
        indices: integers; other axes are as long as those of `arr`, or one of both is
            1.
        axis: the axis; None for the flat array, with one axis of indices.
        mode: as for `x.at[i].get`; by default, fill out of bounds.
        fill_value: the value out of bounds; None as for `take`.
        wrap_negative_indices: whether these count from the end.

    Returns:
        An array in the dtype of `arr`, as long along the axis as `indices`; other axes
        are broadcast.

    Raises:
        ShapeError: `indices` has another number of axes, or lengths that do not
            broadcast.

    References:
        NumPy, `numpy.take_along_axis`.

    Example:
        >>> import imprint.numpy as np
        >>> x = np.array([[3, 1], [2, 4]])
        >>> np.take_along_axis(x, np.argmax(x, axis=1, keepdims=True), axis=1)
        Array([[3],
               [4]], dtype=int32)
    """
    x, places = as_array("take_along_axis", arr), _integers("take_along_axis", indices)
    x = reshape(x, (dims.product(x.shape),)) if axis is None else x
    if x.ndim != places.ndim:
        raise ShapeError(
            "take_along_axis: expected indices with as many axes as the array, got "
            f"{x.aval} and {places.aval}. Insert an axis with `indices[..., None]`."
        )
    at = canonical_axis("take_along_axis", 0 if axis is None else axis, x.ndim)
    chosen = GatherScatterMode.from_any(mode)
    wraps = wrap_negative_indices
    if wraps is None:
        wraps = chosen is not GatherScatterMode.PROMISE_IN_BOUNDS
    if chosen is GatherScatterMode.ONE_HOT:
        chosen, fill_value = GatherScatterMode.FILL_OR_DROP, 0
    others = [i for i in range(x.ndim) if i != at]
    shape = dims.broadcast_shapes(
        [tuple(s[i] for i in others) for s in (x.shape, places.shape)]
    )
    if shape is None:
        raise ShapeError(
            f"take_along_axis: expected axes but {at} that are equal or of length 1, got "
            f"{x.aval} and {places.aval}. Repeat one with imprint.numpy.broadcast_to."
        )
    length, count = x.shape[at], places.shape[at]
    x = broadcast(x, (*shape[:at], length, *shape[at:]))
    places = broadcast(places, (*shape[:at], count, *shape[at:]))
    if dims.has_zero(x.shape) or dims.has_zero(places.shape):
        return full(places.shape, 0, x.dtype)
    places = _from_zero(places, length) if wraps else places
    walked = tuple(others)
    return gather(
        x,
        expand_dims(places, (places.ndim,)),
        GatherDimensionNumbers((), (at,), (at,), walked, walked),
        (1,) * x.ndim,
        mode=chosen,
        fill_value=fill_value,
    )


def _from_zero(places: Array, length: int) -> Array:
    """Return nonnegative indices."""
    if dt.is_unsigned(places.dtype):
        return places
    if dt.bit_width(places.dtype) < 32:
        places = convert_element_type(places, np.int32)
    n = number_of(length, places.dtype)
    return where(places < 0, places + n, places)


@filter_traceback
def put_along_axis(
    arr: ArrayLike,
    indices: Any,
    values: Any,
    axis: int | None,
    inplace: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
    *,
    mode: Any = None,
) -> Array:
    """Return an array with values replaced along an axis, at each row's own indices.

    Args:
        arr: an array.
        indices: integers, with as many axes.
        values: the values, broadcast to the shape of the indices.
        axis: the axis; None for the flat array.
        inplace: must be False; arrays are immutable.
        mode: for indices out of bounds, as for `x.at[i].set`.

    Returns:
        An array of the shape and dtype of `arr`.

    Raises:
        ArgumentError: `inplace` is true.
        ShapeError: `indices` has another number of axes.

    References:
        NumPy, `numpy.put_along_axis`.

    Example:
        >>> import imprint.numpy as np
        >>> x = np.array([[3, 1], [2, 4]])
        >>> np.put_along_axis(x, np.array([[0], [1]]), 9, axis=1, inplace=False)
        Array([[9, 1],
               [2, 9]], dtype=int32)
    """
    if inplace:
        raise ArgumentError(
            "put_along_axis: expected inplace=False, got True. Arrays are immutable: write "
            "x = put_along_axis(x, ..., inplace=False)."
        )
    whole_array = as_array("put_along_axis", arr)
    places = _integers("put_along_axis", indices)
    x = whole_array
    x = reshape(x, (dims.product(x.shape),)) if axis is None else x
    if x.ndim != places.ndim:
        raise ShapeError(
            "put_along_axis: expected indices with as many axes as the array, got "
            f"{x.aval} and {places.aval}. Insert an axis with `indices[..., None]`."
        )
    at = canonical_axis("put_along_axis", 0 if axis is None else axis, x.ndim)
    index: list[Any] = []
    for i, n in enumerate(x.shape):
        along: Any = np.arange(n) if type(n) is int else iota(dt.default_int(), n)
        index.append(along.reshape([-1 if k == i else 1 for k in range(x.ndim)]))
    index[at] = places
    out = Places(x, tuple(index)).set(values, mode=mode)
    return reshape(out, whole_array.shape)


@filter_traceback
def nonzero(
    a: ArrayLike, *, size: int | None = None, fill_value: Any = None
) -> tuple[Array, ...]:
    """Return the indices of nonzero elements, an array for each axis.

    Args:
        a: an array with at least one axis.
        size: the number of indices to return; required under a trace.
        fill_value: the index, or one for each axis, that fills up to `size`.

    Returns:
        Vectors of equal length, one for each axis, in the default integer dtype.

    References:
        NumPy, `numpy.nonzero`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nonzero(np.array([0, 5, 0, 6]), size=3, fill_value=-1)
        (Array([ 1,  3, -1], dtype=int32),)
    """
    return places_of("nonzero", a, size, fill_value)


def places_of(
    name: str, a: ArrayLike, size: int | None = None, fill_value: Any = None
) -> tuple[Array, ...]:
    """Implement `nonzero`; `name` is the public function, for errors."""
    x = as_array(name, a)
    if not x.ndim:
        raise ArgumentError(
            f"{name}: expected an array with an axis, got {x.aval}. Write "
            "imprint.numpy.atleast_1d(x) first."
        )
    mask = as_bool(name, x)
    kind = dt.default_int()
    if size is None:
        if isinstance(mask, Tracer):
            raise ConcretizationError(
                f"{name}: expected size, as the number of places in {x.aval} is not known "
                f"while tracing. Write {name}(x, size=n), or mark elements with "
                "imprint.numpy.where."
            )
        found = np.nonzero(np.asarray(mask))
        return tuple([as_array(name, i.astype(kind)) for i in found])
    count = size if dims.is_symbolic(size) else whole(name, "size", size)
    if not dims.at_least(count, 0):
        raise ArgumentError(
            f"{name}: expected a size of at least 0, got {count}. It is how many places "
            "are returned."
        )
    fills: tuple[Any, ...] = (fill_value,) * x.ndim
    if isinstance(fill_value, tuple):
        fills = cast("tuple[Any, ...]", fill_value)
    length = dims.product(x.shape)
    flat = reshape(mask, (length,))
    rank = cumsum(flat) - 1
    beyond = as_operand(count)
    at = clip(where(flat, rank, beyond), 0, beyond)  # one index, for the others
    places = full((count + 1,), 0, kind)
    places = Places(places, at).set(iota(kind, length))[:count]
    is_true = iota(kind, count) < flat.sum()
    out: list[Array] = []
    for n, fill in zip(reversed(x.shape), reversed(fills), strict=True):
        n = as_operand(dims.maximum(n, 1))
        out.append(where(is_true, places % n, 0 if fill is None else fill))
        places = places // n
    return tuple([convert_element_type(i, kind) for i in reversed(out)])


@filter_traceback
def flatnonzero(
    a: ArrayLike, *, size: int | None = None, fill_value: Any = None
) -> Array:
    """Return the indices of nonzero elements of the flat array.

    Args:
        a: an array.
        size: the number of indices to return; required under a trace.
        fill_value: the index, or one for each axis, that fills up to `size`; None for
            0.

    Returns:
        A vector, in the default integer dtype.

    References:
        NumPy, `numpy.flatnonzero`.

    Example:
        >>> import imprint.numpy as np
        >>> np.flatnonzero(np.array([[0, 5], [0, 6]]))
        Array([1, 3], dtype=int32)
    """
    x = as_array("flatnonzero", a)
    flat = reshape(x, (dims.product(x.shape),))
    return places_of("flatnonzero", flat, size, fill_value)[0]
