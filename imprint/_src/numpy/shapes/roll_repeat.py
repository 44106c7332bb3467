"""Roll and repeat: `roll` and `repeat`.

Shifts and counts may be traced: the program then computes where elements go. The length
of the result must be concrete, so `repeat` needs `total_repeat_length` for traced
counts.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.dims import Dim
from imprint._src.core.trace import Tracer
from imprint._src.eager.fusion import fuse_eager
from imprint._src.eager.spread import spread
from imprint._src.errors import DTypeError, ShapeError
from imprint._src.interpreters.keys import accepts_keys
from imprint._src.numpy.elementwise.arithmetic import mod
from imprint._src.numpy.indexing.take import take
from imprint._src.numpy.promotion import ArrayLike, NDArray, as_array
from imprint._src.numpy.ranges import arange
from imprint._src.numpy.reductions.cumulative import cumsum
from imprint._src.numpy.shapes.reshape import (
    Axes,
    atleast_1d,
    axis_tuple,
    ravel,
    reshape,
    size_tuple,
    unstack,
)
from imprint._src.numpy.sorting.searchsorted import searchsorted
from imprint._src.primitives.axes import canonical_axis, int_tuple
from imprint._src.primitives.copying import owned
from imprint._src.primitives.core_ops import broadcast_in_dim, neg
from imprint._src.primitives.indexing.dynamic_slicing import dynamic_slice
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim


@fuse_eager
@accepts_keys(0)
@owned
def roll(
    a: ArrayLike,
    shift: Dim | ArrayLike | Sequence[Dim | ArrayLike],
    axis: Axes | None = None,
) -> Array:
    """Roll the elements along axes; those that leave at one end enter at the other.

    Args:
        a: an array.
        shift: a number, or one for each axis; may be traced.
        axis: the axes; None flattens first.

    Returns:
        An array of the shape and dtype of `a`.

    Raises:
        ShapeError: there are several shifts, but not one for each axis.

    References:
        NumPy, `numpy.roll`.

    Example:
        >>> import imprint.numpy as np
        >>> np.roll(np.arange(5), 2)
        Array([3, 4, 0, 1, 2], dtype=int32)
    """
    x = as_array("roll", a)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes = [canonical_axis("roll", i, x.ndim) for i in axis_tuple("roll", axis)]
    if _is_array(shift) or (
        isinstance(shift, Sequence) and any(map(_is_array, cast("Any", shift)))
    ):
        return _roll_dynamic(x, shift, axes)
    shifts = size_tuple("roll", cast("Any", shift))
    if 1 not in (len(shifts), len(axes)) and len(shifts) != len(axes):
        raise ShapeError(
            f"roll: expected a shift for each axis, got {shifts} for axes {axes}. "
            "One shift stands for all."
        )
    count = max(len(shifts), len(axes))
    for i in range(count):
        by, at = shifts[i % len(shifts)], axes[i % len(axes)]
        cut = _cut(by, x.shape[at])
        if not dims.is_same(cut, 0):
            tail = slice_in_dim(x, cut, None, axis=at)
            x = concatenate([tail, slice_in_dim(x, 0, cut, axis=at)], at)
    return x


def _is_array(shift: object) -> bool:
    return isinstance(shift, Tracer | Array)


def _cut(by: Dim, length: Dim) -> Dim:
    """Return where to cut an axis, so that exchanging the parts rolls it `by`."""
    if not dims.is_symbolic(length):
        return -by % length if length else 0
    if dims.is_surely_at_least(by, 1) and dims.is_surely_at_least(length, by):
        return length - by
    return -by if dims.is_surely_at_least(length, 1 - by) else -by % length


def _roll_dynamic(x: Array, shift: Any, axes: Sequence[int]) -> Array:
    """Roll by shifts that are arrays or tracers."""
    is_one = isinstance(shift, Array)
    given: Sequence[Any] = unstack(ravel(shift)) if is_one else shift
    shifts = [_whole("roll", "shift", each) for each in given]
    if 1 not in (len(shifts), len(axes)) and len(shifts) != len(axes):
        raise ShapeError(
            f"roll: expected a shift for each axis, got {len(shifts)} for axes "
            f"{[*axes]}. One shift stands for all."
        )
    for i in range(max(len(shifts), len(axes))):
        by, at = shifts[i % len(shifts)], axes[i % len(axes)]
        length = dims.concrete(x.shape[at], "roll")
        if length:
            twice = concatenate([x, x], at)
            starts: list[Any] = [0] * x.ndim
            starts[at] = mod(neg(by), length)
            x = dynamic_slice(twice, starts, x.shape)
    return x


@accepts_keys(0)
@owned
def repeat(
    a: ArrayLike,
    repeats: int | Sequence[int] | NDArray,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: Any = None,
) -> Array:
    """Repeat each element along an axis.

    Args:
        a: an array.
        repeats: the number of repetitions; one, or one for each element. A tracer needs
            `total_repeat_length`.
        axis: the axis; None flattens first.
        total_repeat_length: the length of the result along the axis; the last element
            is repeated if it is too short.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array in the dtype of `a`, as long along the axis as the sum of repetitions,
        or `total_repeat_length`.

    Raises:
        ShapeError: the numbers are negative, or not one for each element.

    References:
        NumPy, `numpy.repeat`.

    Example:
        >>> import imprint.numpy as np
        >>> np.repeat(np.array([1, 2]), 2)
        Array([1, 1, 2, 2], dtype=int32)
    """
    if out_sharding is not None:
        return spread(
            repeat(a, repeats, axis, total_repeat_length=total_repeat_length),
            out_sharding,
        )
    x = ravel(a) if axis is None else as_array("repeat", a)
    x = atleast_1d(x)
    at = canonical_axis("repeat", axis or 0, x.ndim)
    is_one = isinstance(repeats, int | np.integer) or dims.is_symbolic(repeats)
    if total_repeat_length is None and is_one:
        times = dims.as_dim(repeats, "repeat")
        if dims.at_least(times, 0):
            return _each_repeated(x, times, at)
    length = dims.concrete(x.shape[at], "repeat")
    if total_repeat_length is not None and isinstance(repeats, Tracer):
        return _repeat_dynamic(x, repeats, at, total_repeat_length)
    # NumPy's `ravel` of an array would be traced, and its numbers be tracers.
    given: Any = repeats if isinstance(repeats, Tracer) else np.asarray(repeats)
    times = list(int_tuple(cast("Any", np.ravel(given))))
    times = times * length if len(times) == 1 else times
    if len(times) != length or any(n < 0 for n in times):
        raise ShapeError(
            f"repeat: expected a number of at least 0 for each of the {length} "
            f"elements along axis {at}, got {times}. One number stands for all."
        )
    times = _limited(times, total_repeat_length)
    if len(set(times)) == 1:
        return _each_repeated(x, times[0], at)
    parts = [
        _each_repeated(slice_in_dim(x, i, i + 1, axis=at), n, at)
        for i, n in enumerate(times)
    ]
    return concatenate(parts, at) if parts else x


def _limited(times: list[int], total: int | None) -> list[int]:
    """Return the repetitions with the sum `total`: cut, or the last one increased."""
    if total is None or not times:
        return times
    limited: list[int] = []
    left = total
    for n in times:
        limited.append(min(n, left))
        left -= limited[-1]
    limited[-1] += left
    return limited


def _each_repeated(x: Array, times: Dim, axis: int) -> Array:
    if dims.is_same(times, 1):
        return x
    wide = (*x.shape[: axis + 1], times, *x.shape[axis + 1 :])
    kept = tuple(i for i in range(x.ndim + 1) if i != axis + 1)
    shape = (*x.shape[:axis], x.shape[axis] * times, *x.shape[axis + 1 :])
    return reshape(broadcast_in_dim(x, wide, kept), shape)


def _repeat_dynamic(x: Array, repeats: Any, at: int, total: int) -> Array:
    """Repeat elements by counts in an array; return `total` elements.

    The last one is repeated as needed.
    """
    length = dims.concrete(x.shape[at], "repeat")
    counts = _whole("repeat", "repeats", repeats)
    is_one = dims.is_same(counts.size, 1)
    if counts.ndim > 1 or not (is_one or dims.is_same(counts.size, length)):
        raise ShapeError(
            f"repeat: expected a number for each of the {length} elements along axis "
            f"{at}, got {counts.aval}. One number stands for all."
        )
    counts = ravel(counts)
    if is_one:
        counts = broadcast_in_dim(counts, (length,), (0,))
    place = searchsorted(cumsum(counts), arange(total), side="right")
    return take(x, place, at, mode="clip")


def _whole(caller: str, name: str, value: Any) -> Array:
    found = as_array(caller, value)
    if not dtypes.is_integer(found.dtype):
        raise DTypeError(
            f"{caller}: expected {name} to be integers, got {found.aval}. Round it: "
            "`.astype(int)`."
        )
    return found
