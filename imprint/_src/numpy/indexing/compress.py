"""Selection by conditions: argwhere, extract, compress, choose and mask_indices.

If values determine the length of a result, a trace needs its `size`; `fill_value` fills
up to it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.array import Array
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
from imprint._src.numpy.indexing.take import places_of, take_along_axis
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    broadcast_all,
    convert,
    promote_dtypes,
    refuse_out,
)
from imprint._src.numpy.shapes.concatenate import stack
from imprint._src.numpy.shapes.reshape import atleast_1d, moveaxis, ravel
from imprint._src.primitives.axes import canonical_axis, whole
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.shape import expand_dims, iota, reshape


@filter_traceback
def argwhere(a: ArrayLike, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Return the indices of nonzero elements, a row for each.

    Args:
        a: an array.
        size: the number of indices to return; required under a trace.
        fill_value: the index, or one for each axis, that fills up to `size`; None for
            0.

    Returns:
        Integers of shape (number of indices, axes of `a`), in the default integer
        dtype.

    References:
        NumPy, `numpy.argwhere`.

    Example:
        >>> import imprint.numpy as np
        >>> np.argwhere(np.array([[0, 5], [6, 0]]))
        Array([[0, 1],
               [1, 0]], dtype=int32)
    """
    x = as_array("argwhere", a)
    places = places_of("argwhere", atleast_1d(x), size, fill_value)
    found = stack(places, axis=1)
    return found if x.ndim else found[:, :0]


@filter_traceback
def mask_indices(
    n: int,
    mask_func: Callable[[Any, int], ArrayLike],
    k: int = 0,
    *,
    size: int | None = None,
) -> tuple[Array, Array]:
    """Return the indices in an n by n matrix that a function such as `triu` keeps.

    Args:
        n: the number of rows and columns.
        mask_func: a function of a matrix and `k` that sets elements to zero.
        k: the second argument of `mask_func`, such as the number of a diagonal.
        size: the number of indices to return; required if the function traces.

    Returns:
        The row and the column of each, two vectors of integers.

    References:
        NumPy, `numpy.mask_indices`.

    Example:
        >>> import imprint.numpy as np
        >>> np.mask_indices(3, np.triu, 1)
        (Array([0, 0, 1], dtype=int32), Array([1, 2, 2], dtype=int32))
    """
    count = whole("mask_indices", "n", n)
    rows, columns = places_of("mask_indices", mask_func(ones((count, count)), k), size)
    return rows, columns


@filter_traceback
def extract(
    condition: ArrayLike,
    arr: ArrayLike,
    *,
    size: int | None = None,
    fill_value: ArrayLike = 0,
) -> Array:
    """Return the elements of the flat array where a condition of its shape holds.

    Args:
        condition: an array of booleans, as long as `arr` when both are flattened.
        arr: an array.
        size: the number of elements to return; required if the condition is traced.
        fill_value: the value of elements beyond the selected ones.

    Returns:
        A vector, in the dtype of `arr`.

    References:
        NumPy, `numpy.extract`.

    Example:
        >>> import imprint.numpy as np
        >>> x = np.array([[1, 2], [3, 4]])
        >>> np.extract(x % 2 == 0, x)
        Array([2, 4], dtype=int32)
    """
    flat = ravel(arr)
    return _compressed("extract", ravel(condition), flat, size, fill_value)


@filter_traceback
def compress(
    condition: ArrayLike,
    a: ArrayLike,
    axis: int | None = None,
    *,
    size: int | None = None,
    fill_value: ArrayLike = 0,
    out: None = None,
) -> Array:
    """Return the slices along an axis for which a condition holds.

    Args:
        condition: one axis of booleans; slices beyond it are left out.
        a: an array.
        axis: the axis; None for the elements of the flat array.
        size: the number of slices to return; required if the condition is traced.
        fill_value: the value of slices beyond the selected ones.
        out: must be None; arrays are immutable.

    Returns:
        An array in the dtype of `a`, with as many slices along the axis as the
        condition holds for, or `size`.

    References:
        NumPy, `numpy.compress`.

    Example:
        >>> import imprint.numpy as np
        >>> x = np.array([[1, 2], [3, 4], [5, 6]])
        >>> np.compress(np.array([True, False, True]), x, axis=0)
        Array([[1, 2],
               [5, 6]], dtype=int32)
    """
    refuse_out("compress", out)
    x = ravel(a) if axis is None else asarray(a)
    at = canonical_axis("compress", 0 if axis is None else axis, x.ndim)
    rows = moveaxis(x, at, 0)
    kept = _compressed("compress", condition, rows, size, fill_value)
    return moveaxis(kept, 0, at)


def _compressed(
    name: str, condition: ArrayLike, x: Array, size: Any, fill_value: ArrayLike
) -> Array:
    """Return the rows of an array for which a condition holds."""
    mask = as_bool(name, asarray(condition))
    if mask.ndim != 1:
        raise ShapeError(
            f"{name}: expected a condition of one axis, got {mask.aval}. Ravel it, or "
            "write imprint.numpy.extract."
        )
    length = x.shape[0]
    count = dims.minimum(mask.shape[0], length)
    if size is None:
        return x[_known(name, mask, length)]
    size = size if dims.is_symbolic(size) else whole(name, "size", size)
    if not (dims.at_least(size, 0) and dims.at_least(count, size)):
        raise ArgumentError(
            f"{name}: expected a size from 0 to {count}, the number of slices, got "
            f"{size}. No more can be chosen."
        )
    mask = mask[:count]
    (places,) = places_of(name, mask, size, 0)
    chosen = take_at(x, places, mode="clip")
    is_chosen = iota(places.dtype, size) < mask.sum()
    is_chosen = expand_dims(is_chosen, tuple(range(1, x.ndim)))
    return where(is_chosen, chosen, convert(name, fill_value, x.dtype))


def _known(name: str, mask: Array, length: int) -> Any:
    """Return the indices of the selected rows."""
    if isinstance(mask, Tracer):
        raise ConcretizationError(
            f"{name}: expected size, as the number of places in {mask.aval} is not known "
            f"while tracing. Write {name}(condition, x, size=n), or mark elements with "
            "imprint.numpy.where."
        )
    chosen = np.flatnonzero(np.asarray(mask))
    if chosen.size and chosen[-1] >= length:
        raise ArgumentError(
            f"{name}: expected a condition that holds for some of {length} slices, got "
            f"one that holds for slice {chosen[-1]}. Shorten it."
        )
    return chosen


@filter_traceback
def choose(
    a: ArrayLike,
    choices: Sequence[ArrayLike] | Array,
    out: None = None,
    mode: str = "raise",
) -> Array:
    """Select elementwise from several arrays by number.

    Args:
        a: integers, the numbers of the choices.
        choices: arrays that broadcast with `a`; or one array of them.
        out: must be None; arrays are immutable.
        mode: for numbers out of range: "raise" an error (not under a trace), "clip" to
            the nearest choice, or "wrap" around.

    Returns:
        The values, of the broadcast shape, in the promoted dtype of the choices.

    Raises:
        DTypeError: the numbers are no integers.
        ArgumentError: there is no choice, the mode is unknown, or a number is out of
            range with "raise".

    References:
        NumPy, `numpy.choose`.

    Example:
        >>> import imprint.numpy as np
        >>> np.choose(np.array([0, 1, 5]), [10, np.array([1, 2, 3])], mode="clip")
        Array([10,  2,  3], dtype=int32)
    """
    refuse_out("choose", out)
    numbers = asarray(a)
    if not dt.is_integer(numbers.dtype):
        raise DTypeError(
            f"choose: expected integers, got {numbers.aval}. Choose by booleans with "
            "imprint.numpy.where."
        )
    values = list(choices)
    if not values or mode not in ("raise", "wrap", "clip"):
        raise ArgumentError(
            "choose: expected a choice at least, and the mode 'raise', 'wrap' or 'clip', "
            f"got {len(values)} and {mode!r}."
        )
    numbers = _inside(numbers, len(values), mode)
    numbers, *values = broadcast_all(
        "choose", [numbers, *promote_dtypes("choose", values)]
    )
    found = take_along_axis(
        stack(values), expand_dims(numbers, (0,)), 0, mode="promise_in_bounds"
    )
    return convert_element_type(reshape(found, numbers.shape), found.dtype)


def _inside(numbers: Array, count: int, mode: str) -> Array:
    """Return numbers of choices within range."""
    if dt.bit_width(numbers.dtype) < 32:
        numbers = convert_element_type(numbers, np.int32)
    if mode != "raise":
        return mod(numbers, count) if mode == "wrap" else clip(numbers, 0, count - 1)
    if isinstance(numbers, Tracer):
        raise ConcretizationError(
            f"choose: expected numbers that are known, for the mode 'raise', got "
            f"{numbers.aval}. Write mode='clip' or mode='wrap' in what is traced."
        )
    given = np.asarray(numbers)
    if given.size and not 0 <= given.min() <= given.max() < count:
        raise ArgumentError(
            f"choose: expected numbers from 0 to {count - 1}, got {given.min()} to "
            f"{given.max()}. Write mode='clip' or mode='wrap'."
        )
    return numbers
