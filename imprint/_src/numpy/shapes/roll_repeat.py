"""Roll and repeat by numbers that are arrays, or that only the running program knows.

Which elements come where is worked out by the program; how many there are is not: so a
repetition needs to be told how long it gets.
"""

from collections.abc import Sequence
from typing import Any

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.errors import DTypeError, ShapeError
from imprint._src.numpy.elementwise.arithmetic import mod
from imprint._src.numpy.indexing.take import take
from imprint._src.numpy.promotion import as_array
from imprint._src.numpy.ranges import arange
from imprint._src.numpy.reductions.cumulative import cumsum
from imprint._src.numpy.shapes.reshape import ravel, unstack
from imprint._src.numpy.sorting.searchsorted import searchsorted
from imprint._src.primitives.core_ops import broadcast_in_dim, neg
from imprint._src.primitives.indexing.dynamic_slicing import dynamic_slice
from imprint._src.primitives.indexing.slicing import concatenate


def rolled(x: Array, shift: Any, axes: Sequence[int]) -> Array:
    """Return an array with its elements moved along axes, as `roll` does."""
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


def repeated(x: Array, repeats: Any, at: int, total: int) -> Array:
    """Return `total` elements along an axis, each as often as an array says.

    The last one fills what remains.
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
