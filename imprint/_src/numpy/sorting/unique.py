"""Distinct elements: unique and its relatives of the Array API.

1. Sort the elements; with `axis`, the rows along it, lexicographically.
2. An element is distinct if it differs from the previous one. All NaN are equal, if
   requested.
3. The number of distinct elements is the length of the result. It depends on values, so
   a trace needs `size`; the first element, or `fill_value`, fills up to it.
"""

import builtins
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import DType
from imprint._src.core.trace import Tracer, ensure_compile_time_eval
from imprint._src.errors import ArgumentError, ConcretizationError
from imprint._src.numpy.creation import asarray, full, ones, zeros
from imprint._src.numpy.elementwise.comparison import isnan
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    convert,
    filled_like,
    strong_like,
)
from imprint._src.numpy.ranges import arange
from imprint._src.numpy.reductions.cumulative import cumsum
from imprint._src.numpy.reductions.differences import diff
from imprint._src.numpy.reductions.reductions import any
from imprint._src.numpy.shapes.concatenate import append, concatenate
from imprint._src.numpy.shapes.reshape import moveaxis, ravel, reshape
from imprint._src.numpy.sorting.sorting import lexsort, sort
from imprint._src.primitives.axes import canonical_axis, whole
from imprint._src.primitives.core_ops import broadcast_in_dim
from imprint._src.primitives.elementwise.bitwise import and_, not_
from imprint._src.primitives.elementwise.comparison import ne
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.take_rows import rows_at, set_at
from imprint._src.primitives.shape import expand_dims, iota, number_of


class UniqueAllResult(NamedTuple):
    """The result of `unique_all`."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """The result of `unique_counts`."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """The result of `unique_inverse`."""

    values: Array
    inverse_indices: Array


def unique(  # noqa: PLR0913 - NumPy's signature
    ar: ArrayLike,
    return_index: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    return_inverse: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    return_counts: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
    sorted: bool = True,
) -> Any:
    """Return the distinct elements, sorted.

    Args:
        ar: an array.
        return_index: whether to return the first index of each.
        return_inverse: whether to return the index of the distinct element for each
            element.
        return_counts: whether to return the count of each.
        axis: the axis whose rows are compared; None compares elements.
        equal_nan: whether all NaN are equal.
        size: the number of elements to return, filled up if there are fewer; required
            under a trace.
        fill_value: the value that fills up to `size`; the first element if None.
        sorted: whether to sort them; ignored, they always are.

    Returns:
        The array, or a tuple of it and the requested others, in this order.

    Raises:
        ConcretizationError: the array is traced and there is no `size`.

    References:
        NumPy, `numpy.unique`.

    Example:
        >>> import imprint.numpy as np
        >>> np.unique(np.array([3, 1, 3]), return_counts=True)
        (Array([1, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    del sorted
    wanted = UniqueOptions(
        return_index, return_inverse, return_counts, equal_nan=equal_nan
    )
    x = as_array("unique", ar)
    if axis is None:
        found = _of_elements("unique", x, wanted, size, fill_value)
    else:
        with sized("unique", size, x) as count:
            found = distinct("unique", x, axis, wanted, count, fill_value)
    outs = (found.values, found.index, found.inverse, found.counts)
    given = tuple(out for out in outs if out is not None)
    return given[0] if len(given) == 1 else given


def unique_all(
    x: ArrayLike,
    /,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> UniqueAllResult:
    """Return the distinct elements, their first indices, the inverse, and counts.

    All NaN are distinct.

    Args:
        x: an array.
        size: the number of elements to return, filled up if there are fewer; required
            under a trace.
        fill_value: the value that fills up to `size`; the first element if None.

    Returns:
        The values, sorted; the first index of each in the flat array; its count. The
        inverse has the shape of `x`.

    References:
        NumPy, `numpy.unique_all`.

    Example:
        >>> import imprint.numpy as np
        >>> np.unique_all(np.array([3, 1, 3])).indices
        Array([1, 0], dtype=int32)
    """
    wanted = UniqueOptions(index=True, inverse=True, counts=True)
    found = _of_elements("unique_all", x, wanted, size, fill_value)
    return UniqueAllResult(found.values, found.index, found.inverse, found.counts)


def unique_counts(
    x: ArrayLike,
    /,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> UniqueCountsResult:
    """Return the distinct elements, and the count of each; see `unique_all`.

    Args:
        x: an array.
        size: the number of elements to return, filled up if there are fewer; required
            under a trace.
        fill_value: the value that fills up to `size`; the first element if None.

    Returns:
        The values, sorted, and their counts.

    References:
        NumPy, `numpy.unique_counts`.

    Example:
        >>> import imprint.numpy as np
        >>> np.unique_counts(np.array([3, 1, 3])).counts
        Array([1, 2], dtype=int32)
    """
    found = _of_elements(
        "unique_counts", x, UniqueOptions(counts=True), size, fill_value
    )
    return UniqueCountsResult(found.values, found.counts)


def unique_inverse(
    x: ArrayLike,
    /,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> UniqueInverseResult:
    """Return the distinct elements, and the inverse; see `unique_all`.

    Args:
        x: an array.
        size: the number of elements to return, filled up if there are fewer; required
            under a trace.
        fill_value: the value that fills up to `size`; the first element if None.

    Returns:
        The values, sorted, and the index among them of each element, of the shape of
        `x`.

    References:
        NumPy, `numpy.unique_inverse`.

    Example:
        >>> import imprint.numpy as np
        >>> np.unique_inverse(np.array([3, 1, 3])).inverse_indices
        Array([1, 0, 1], dtype=int32)
    """
    found = _of_elements(
        "unique_inverse", x, UniqueOptions(inverse=True), size, fill_value
    )
    return UniqueInverseResult(found.values, found.inverse)


def unique_values(
    x: ArrayLike,
    /,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array:
    """Return the distinct elements; see `unique_all`.

    Args:
        x: an array.
        size: the number of elements to return, filled up if there are fewer; required
            under a trace.
        fill_value: the value that fills up to `size`; the first element if None.

    Returns:
        The values, sorted, in the dtype of `x`.

    References:
        NumPy, `numpy.unique_values`.

    Example:
        >>> import imprint.numpy as np
        >>> np.unique_values(np.array([3, 1, 3]))
        Array([1, 3], dtype=int32)
    """
    return _of_elements("unique_values", x, UniqueOptions(), size, fill_value).values


# ---- implementation ----


@dataclass(frozen=True)
class UniqueOptions:
    """Which properties of the distinct elements to return.

    Args:
        index: the first index of each.
        inverse: the index of the distinct element for each element.
        counts: the count of each.
        equal_nan: whether all NaN are equal.
    """

    index: bool = False
    inverse: bool = False
    counts: bool = False
    equal_nan: bool = False


@dataclass(frozen=True)
class UniqueResult:
    """Distinct elements, and the requested properties; `count` is their number."""

    values: Array
    index: Any
    inverse: Any
    counts: Any
    count: Array


def _of_elements(
    name: str,
    x: ArrayLike,
    wanted: UniqueOptions,
    size: int | None,
    fill_value: ArrayLike | None,
) -> UniqueResult:
    array = as_array(name, x)
    with sized(name, size, array) as count:
        found = distinct(name, ravel(array), 0, wanted, count, fill_value)
        if wanted.inverse:
            return replace(found, inverse=reshape(found.inverse, array.shape))
    return found


def distinct(
    name: str,
    x: Array,
    axis: int,
    wanted: UniqueOptions,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> UniqueResult:
    """Return the distinct rows along an axis, in a context of `sized`."""
    at = canonical_axis(name, axis, x.ndim)
    if dims.is_same(x.shape[at], 0) and size and fill_value is None:
        raise ArgumentError(
            f"{name}: expected a fill_value where there are no elements and size is "
            f"{size}, got none. There is no first element to fill up with."
        )
    return _unique_rows(name, x, at, wanted, size, fill_value)


@contextmanager
def sized(name: str, size: int | None, *xs: Array) -> Generator[int | None]:
    """Yield the length of a result; None if values decide, under concrete evaluation.

    Args:
        name: the public function, for errors.
        size: the requested length.
        xs: the arrays whose values decide.
    """
    if size is not None:
        count = size if dims.is_symbolic(size) else whole(name, "size", size)
        if not dims.at_least(count, 0):
            raise ArgumentError(
                f"{name}: expected size to be at least 0, got {count}. It is how many "
                "elements to return."
            )
        yield count
        return
    for x in xs:
        if isinstance(x, Tracer):
            raise ConcretizationError(
                f"{name}: expected an array whose values are known, got {x.aval} while "
                "tracing. The length of the result depends on them: pass it as size=."
            )
    with ensure_compile_time_eval():
        yield None


def _unique_rows(
    name: str,
    x: Array,
    axis: int,
    wanted: UniqueOptions,
    size: int | None,
    fill_value: ArrayLike | None,
) -> UniqueResult:
    if dims.is_same(x.size, 0):
        return _unique_empty(x, axis, wanted, size, fill_value)
    rows, order, is_new = _in_order(x, axis, wanted)
    first, count = true_at(is_new, size), is_new.sum()
    values = rows_at(rows, first)
    if size is not None and fill_value is not None:
        is_there = expand_dims(arange(size) < count, tuple(range(1, values.ndim)))
        filling = convert(name, as_array(name, fill_value), values.dtype)
        values = where(is_there, values, filling)
    inverse: Any = None
    if wanted.inverse:
        inverse = cumsum(is_new) - 1
        inverse = set_at(filled_like(inverse, 0), order, inverse)
    return UniqueResult(
        moveaxis(values, 0, axis),
        rows_at(order, first) if wanted.index else None,
        inverse,
        _counts(is_new, size) if wanted.counts else None,
        count,
    )


def _in_order(x: Array, axis: int, wanted: UniqueOptions) -> tuple[Array, Any, Array]:
    """Return the sorted rows, their origins if requested, and which are distinct."""
    rows = moveaxis(x, axis, 0)
    if dtypes.is_complex(x.dtype):  # otherwise NaNs in one part alone are not adjacent
        rows = where(isnan(rows), strong_like(rows, np.nan), rows)
    width = dims.product(rows.shape[1:])
    if dims.is_same(width, 1) and not (wanted.index or wanted.inverse):
        rows, order = sort(rows, 0), None
    else:
        order = lexsort(reshape(rows, (rows.shape[0], width)).T[::-1])
        rows = rows_at(rows, order)
    this, last = rows[1:], rows[:-1]
    differ = ne(this, last)
    if wanted.equal_nan and dtypes.is_inexact(x.dtype):
        differ = and_(differ, not_(and_(ne(this, this), ne(last, last))))
    differ = any(differ, tuple(range(1, rows.ndim)))
    return rows, order, concatenate([ones(1, dtypes.bool_), differ])


def _counts(is_new: Array, size: int | None) -> Array:
    """Return the distance of each distinct row to the next one, or to the end."""
    length = is_new.shape[0]
    if size is None:
        return diff(append(true_at(is_new), length))
    return diff(true_at(is_new, size + 1, length))


def _unique_empty(
    x: Array,
    axis: int,
    wanted: UniqueOptions,
    size: int | None,
    fill_value: ArrayLike | None,
) -> UniqueResult:
    """Return the result for rows without elements, all equal, or for no rows."""
    length = x.shape[axis]
    there = builtins.min(length, 1)
    many = there if size is None else size
    shape = (*x.shape[:axis], many, *x.shape[axis + 1 :])
    integers = dtypes.default_int()
    return UniqueResult(
        full(shape, 0 if fill_value is None else fill_value, x.dtype),
        zeros(many, integers) if wanted.index else None,
        zeros(length, integers) if wanted.inverse else None,
        where(arange(many) < there, length, 0) if wanted.counts else None,
        as_array("unique", np.asarray(there, integers)),
    )


# ---- indices of a mask ----


def true_at(mask: Array, size: int | None = None, fill: int = 0) -> Array:
    """Return the indices at which a boolean vector is true.

    Args:
        mask: the booleans; concrete, if there is no size.
        size: the number of indices to return, filled up if there are fewer.
        fill: the value that fills up to `size`.
    """
    dtype = dtypes.default_int()
    if size is None:
        return asarray(np.flatnonzero(mask), dtype)
    if not isinstance(mask, Tracer) and type(size) is type(fill) is int:
        return asarray(_filled(np.flatnonzero(mask), size, fill, dtype))
    before = cumsum(mask) - 1
    place = select_n(mask, number_of(size, before.dtype), before)
    start = broadcast_in_dim(number_of(fill, dtype), (size,), ())
    return set_at(start, place, iota(dtype, mask.shape[0]))


def _filled(
    found: np.ndarray[Any, Any], size: int, fill: int, dtype: DType
) -> np.ndarray[Any, Any]:
    out = np.full(size, fill, dtype)
    out[: len(found)] = found[:size]
    return out
