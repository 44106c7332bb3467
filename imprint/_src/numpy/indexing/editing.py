"""Insertion, deletion and replacement of elements: insert, delete, put and place.

They return new arrays; functions that write into their operand in NumPy require
`inplace=False`.
"""

import operator
from typing import Any

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.dims import Dim
from imprint._src.core.trace import Tracer
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import (
    ArgumentError,
    ConcretizationError,
    DTypeError,
    ShapeError,
)
from imprint._src.numpy.creation import asarray, ones
from imprint._src.numpy.elementwise.arithmetic import mod
from imprint._src.numpy.elementwise.selection import as_bool, clip, where
from imprint._src.numpy.indexing.advanced import take_at
from imprint._src.numpy.indexing.take import places_of
from imprint._src.numpy.indexing.updating import Places
from imprint._src.numpy.promotion import ArrayLike, broadcast, convert
from imprint._src.numpy.ranges import arange
from imprint._src.numpy.reductions.cumulative import cumsum
from imprint._src.numpy.shapes.concatenate import concatenate, resize
from imprint._src.numpy.shapes.reshape import moveaxis, ravel, reshape
from imprint._src.numpy.sorting.sorting import argsort
from imprint._src.primitives.axes import canonical_axis
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.indexing.slicing import slice_in_dim
from imprint._src.primitives.shape import as_operand, iota


@filter_traceback
def insert(
    arr: ArrayLike, obj: Any, values: ArrayLike, axis: int | None = None
) -> Array:
    """Return an array with values inserted before the elements at some indices.

    Args:
        arr: an array.
        obj: an integer, integers or a slice: indices of `arr`; those out of bounds are
            clipped.
        values: the values to insert, broadcast to the shape needed, in the dtype of
            `arr`.
        axis: the axis; None for the flat array.

    Returns:
        An array in the dtype of `arr`, longer along the axis by the number of values.

    Raises:
        ShapeError: the values do not repeat to the shape needed.

    References:
        NumPy, `numpy.insert`.

    Example:
        >>> import imprint.numpy as np
        >>> np.insert(np.array([1, 2, 3]), np.array([1, 3]), np.array([8, 9]))
        Array([1, 8, 2, 3, 9], dtype=int32)
    """
    x, at = _rows("insert", arr, axis)
    length = x.shape[at]
    places = _places("insert", obj, length)
    new = convert("insert", values, x.dtype)
    new = reshape(new, (1,) * (x.ndim - new.ndim) + new.shape)
    if dims.equal(places.size, 1):
        if not places.ndim:
            new = moveaxis(new, 0, at)
        places = broadcast(ravel(places), (new.shape[at],))
    shape = (*x.shape[:at], places.shape[0], *x.shape[at + 1 :])
    if new.ndim != x.ndim or not dims.repeats_to(new.shape, shape):
        raise ShapeError(
            f"insert: expected values that are repeated to {shape}, an index each, got "
            f"{new.aval}. Give one value for each index of axis {at}."
        )
    joined = concatenate([broadcast(new, shape), x], at)
    return _take_in_bounds(joined, _order(places, length), at)


def _order(places: Array, length: Dim) -> Any:
    """Return the order of new and old elements."""
    if isinstance(places, Tracer) or dims.is_symbolic(length):
        end = as_operand(length)
        places = clip(where(places < 0, places + end, places), 0, end)
        rows = iota(places.dtype, length)
        return argsort(concatenate([places * 2, rows * 2 + 1]))
    known = np.asarray(places).astype(np.int64)
    known = np.clip(np.where(known < 0, known + length, known), 0, length)
    keys = np.concatenate([known * 2, np.arange(length) * 2 + 1])
    return np.argsort(keys, kind="stable")


@filter_traceback
def delete(
    arr: ArrayLike,
    obj: Any,
    axis: int | None = None,
    *,
    assume_unique_indices: bool = False,
) -> Array:
    """Return an array without the elements at some indices.

    Args:
        arr: an array.
        obj: an integer, integers, a slice or a mask; concrete.
        axis: the axis; None for the flat array.
        assume_unique_indices: the promise that no index is repeated or out of bounds;
            integers may then be traced.

    Returns:
        An array in the dtype of `arr`, shorter along the axis by the number of distinct
        indices.

    Raises:
        ShapeError: the mask is not as long as the axis.
        IndexError: a concrete index is out of bounds.
        ConcretizationError: integers are traced without `assume_unique_indices`.

    References:
        NumPy, `numpy.delete`.

    Example:
        >>> import imprint.numpy as np
        >>> np.delete(np.array([5, 6, 7, 8]), np.array([0, 2]))
        Array([6, 8], dtype=int32)
    """
    x, at = _rows("delete", arr, axis)
    length = x.shape[at]
    if isinstance(obj, slice) and dims.is_symbolic(length):
        return _without_slice(x, obj, at)
    if not isinstance(obj, slice | Tracer) and dt.is_bool(asarray(obj).dtype):
        mask = np.asarray(obj)
        if not dims.equal_shapes(mask.shape, (length,)):
            raise ShapeError(
                f"delete: expected a mask of shape {(length,)}, that of axis {at}, got "
                f"one of shape {mask.shape}. Compare an array of that shape."
            )
        return _take_in_bounds(x, np.flatnonzero(~mask), at)
    places = _places("delete", obj, length)
    if isinstance(places, Tracer):
        return _take_in_bounds(
            x, _remaining(places, length, is_unique=assume_unique_indices), at
        )
    known = _distinct(np.asarray(places).ravel().tolist(), x, at)
    if dims.is_symbolic(length):
        distinct = asarray(np.array([*known.values()], np.int32))
        return _take_in_bounds(x, _remaining(distinct, length, is_unique=True), at)
    mask = np.ones(length, bool)
    mask[[*known]] = False
    return _take_in_bounds(x, np.flatnonzero(mask), at)


def _distinct(places: list[int], x: Array, at: int) -> dict[Dim, int]:
    """Return which elements of an axis are at indices, which may be negative."""
    length = x.shape[at]
    found: dict[Dim, int] = {}
    for place in places:
        element = dims.element(place, length)
        if element is None:
            raise IndexError(
                f"delete: expected indices in [{-length}, {length}) for axis {at} of "
                f"{x.aval}, got {place}. Check them against x.shape[{at}]."
            )
        if not any(dims.equal(element, y) for y in found if dims.is_symbolic(length)):
            found[element] = place
    return found


def _without_slice(x: Array, part: Any, at: int) -> Array:
    """Return an axis of symbolic length without the elements of a slice."""
    length = x.shape[at]
    if part.step not in (None, 1):
        return _take_in_bounds(
            x, _remaining(_stepped(part, length), length, is_unique=True), at
        )
    first, last = dims.slice_bounds(part.start, part.stop, length)
    spans = (0, first), (last, length)
    return concatenate([slice_in_dim(x, i, j, axis=at) for i, j in spans], at)


def _remaining(places: Array, length: Dim, *, is_unique: bool) -> Array:
    """Return the indices that are not at traced positions."""
    if not is_unique:
        raise ConcretizationError(
            f"delete: expected indices that are known while tracing, got {places.aval}. "
            "How many are distinct says how long the result is: promise that all are, "
            "with assume_unique_indices=True."
        )
    mask = Places(ones((length,), bool), ravel(places)).set(False, mode="drop")
    count = dims.maximum(0, length - places.size)
    return places_of("delete", mask, count)[0]


@filter_traceback
def put(
    a: ArrayLike,
    ind: ArrayLike,
    v: ArrayLike,
    mode: str | None = None,
    *,
    inplace: bool = True,
) -> Array:
    """Return an array with values replaced at indices of the flat array.

    Args:
        a: an array.
        ind: integers.
        v: the values, repeated if they are fewer.
        mode: for indices out of bounds: None or "clip" uses the nearest element ("clip"
            also for negative indices), "wrap" wraps around.
        inplace: must be False; arrays are immutable.

    Returns:
        An array of the shape and dtype of `a`.

    Raises:
        ArgumentError: `inplace` is true, or the mode is unknown.
        NotImplementedError: the mode is "raise".

    References:
        NumPy, `numpy.put`.

    Example:
        >>> import imprint.numpy as np
        >>> np.put(np.zeros(4), np.array([0, 3]), np.array([5.0, 6.0]), inplace=False)
        Array([5., 0., 0., 6.], dtype=float32)
    """
    _refuse_inplace("put", inplace)
    x, places, values = asarray(a), ravel(asarray(ind)), ravel(asarray(v))
    if mode == "raise":
        raise NotImplementedError(
            "put: expected the mode 'clip' or 'wrap' or None, got 'raise'. Values cannot "
            "raise inside a compiled function: leave it out."
        )
    if mode not in (None, "clip", "wrap"):
        raise ArgumentError(
            f"put: expected the mode 'clip' or 'wrap' or None, got {mode!r}. "
            "Without one, negative indices count from the end."
        )
    places = _integers("put", places)
    size = dims.concrete(x.size, "put")
    if not (size and places.size and values.size):
        return x
    if mode == "wrap":
        places = mod(places, size)
    elif mode is None and not dt.is_unsigned(places.dtype):
        places = where(places < 0, places + size, places)
    places = clip(places, 0, size - 1)
    values = resize(values, places.shape)
    return reshape(Places(ravel(x), places).set(values), x.shape)


@filter_traceback
def place(
    arr: ArrayLike, mask: ArrayLike, vals: ArrayLike, *, inplace: bool = True
) -> Array:
    """Return an array with values placed, in order, where a mask is true.

    Args:
        arr: an array.
        mask: booleans, as many as elements.
        vals: the values, repeated if they are fewer.
        inplace: must be False; arrays are immutable.

    Returns:
        An array of the shape and dtype of `arr`.

    Raises:
        ArgumentError: `inplace` is true.
        ShapeError: the mask has another number of elements, or there are no values.

    References:
        NumPy, `numpy.place`.

    Example:
        >>> import imprint.numpy as np
        >>> x = np.array([1, 2, 3, 4])
        >>> np.place(x, x > 1, np.array([7, 8]), inplace=False)
        Array([1, 7, 8, 7], dtype=int32)
    """
    _refuse_inplace("place", inplace)
    x, flags, values = asarray(arr), as_bool("place", asarray(mask)), asarray(vals)
    if not dims.equal(x.size, flags.size) or not values.size:
        raise ShapeError(
            f"place: expected a mask with as many elements as the array, and a value at "
            f"least, got {x.aval}, {flags.aval} and {values.aval}."
        )
    if not x.size:
        return x
    flat, flags = ravel(x), ravel(flags)
    rank = mod(cumsum(flags) - 1, dims.concrete(values.size, "place"))
    new = Places(flat, slice(None)).set(take_at(ravel(values), rank))
    return reshape(where(flags, new, flat), x.shape)


# ---- operands ----


def _rows(name: str, arr: ArrayLike, axis: int | None) -> tuple[Array, int]:
    """Return an array, flattened if the axis is None, and its axis."""
    x = ravel(arr) if axis is None else asarray(arr)
    return x, canonical_axis(name, 0 if axis is None else axis, x.ndim)


def _places(name: str, obj: Any, length: Dim) -> Array:
    """Return indices as an array of at most one axis."""
    if isinstance(obj, slice):
        return _stepped(obj, length)
    places = asarray(obj)
    if not places.size and not isinstance(obj, Array):
        places = asarray(np.zeros(places.shape, np.int32))  # concrete under a trace too
    places = _integers(name, places)
    if name == "insert" and places.ndim > 1:
        raise ShapeError(
            f"insert: expected an integer, one axis of integers or a slice, got "
            f"{places.aval}. Ravel it."
        )
    return places


def _stepped(part: Any, length: Dim) -> Array:
    """Return the indices that a slice selects."""
    if not dims.is_symbolic(length):
        return asarray(np.arange(*part.indices(length)))
    step = 1 if part.step is None else operator.index(part.step)
    if step > 0:
        return arange(*dims.slice_bounds(part.start, part.stop, length), step)
    return arange(length)[part.start : part.stop : -1][::-step]


def _integers(name: str, places: Array) -> Array:
    """Return indices in a dtype that can count all elements."""
    if not dt.is_integer(places.dtype):
        raise DTypeError(
            f"{name}: expected indices of an integer dtype, got {places.aval}. "
            "Convert them with .astype('int32')."
        )
    if dt.bit_width(places.dtype) < 32:
        return convert_element_type(places, np.int32)
    return places


def _take_in_bounds(x: Array, places: Any, axis: int) -> Array:
    """Return the slices of an axis at positions that are in bounds."""
    index = (slice(None),) * axis + (places,)
    return take_at(x, index, mode="promise_in_bounds")


def _refuse_inplace(name: str, inplace: Any) -> None:
    if operator.truth(inplace):
        raise ArgumentError(
            f"{name}: expected inplace=False, got {inplace!r}. Arrays are immutable: "
            f"write x = {name}(x, ..., inplace=False)."
        )
