"""Sets of numbers: membership, union, intersection and differences.

Results are sorted and distinct. Their lengths depend on values, so a trace needs
`size`; `fill_value` fills up to it.
"""

import builtins
from typing import Any, Final

from imprint._src import dtypes
from imprint._src.bootstrap import hooks
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError
from imprint._src.numpy.creation import full, ones
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    convert,
    fit_shapes,
    promote_dtypes,
    strong_like,
)
from imprint._src.numpy.ranges import arange
from imprint._src.numpy.reductions.reductions import any
from imprint._src.numpy.shapes.concatenate import concatenate
from imprint._src.numpy.shapes.reshape import ravel
from imprint._src.numpy.sorting.unique import UniqueOptions, distinct, sized, true_at
from imprint._src.primitives.elementwise.bitwise import and_, not_, or_
from imprint._src.primitives.elementwise.comparison import eq, ne
from imprint._src.primitives.indexing import sorting
from imprint._src.primitives.indexing.take_rows import rows_at
from imprint._src.primitives.shape import expand_dims, rev


def union1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array:
    """Return the sorted elements that are in either array.

    Args:
        ar1: an array.
        ar2: another one.
        size: the number of elements to return; required under a trace.
        fill_value: the value that fills up to `size`; the smallest element if None.

    Returns:
        A vector, in the promoted dtype.

    Raises:
        ConcretizationError: an array is traced and there is no `size`.

    References:
        NumPy, `numpy.union1d`.

    Example:
        >>> import imprint.numpy as np
        >>> np.union1d(np.array([3, 1]), np.array([2, 3]))
        Array([1, 2, 3], dtype=int32)
    """
    given = _operands("union1d", ar1, ar2)
    with sized("union1d", size, *given) as count:
        joined = concatenate(_flat("union1d", given), 0)
        wanted = UniqueOptions(equal_nan=True)
        return distinct("union1d", joined, 0, wanted, count, fill_value).values


def _operands(name: str, ar1: ArrayLike, ar2: ArrayLike) -> tuple[Array, Array]:
    return as_array(name, ar1), as_array(name, ar2)


def _flat(name: str, given: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return both arrays flat, in one dtype."""
    x, y = promote_dtypes(name, given)
    return ravel(x), ravel(y)


def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    return_indices: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Any:
    """Return the sorted elements that are in both arrays.

    Args:
        ar1: an array.
        ar2: another one.
        assume_unique: whether each array has distinct elements; ignored.
        return_indices: whether to return the first index of each in both arrays, too.
        size: the number of elements to return; required under a trace.
        fill_value: the value that fills up to `size`; the smallest of them if None.

    Returns:
        A vector, in the promoted dtype; with `return_indices`, also the indices in each
        flat array.

    Raises:
        ConcretizationError: an array is traced and there is no `size`.

    References:
        NumPy, `numpy.intersect1d`.

    Example:
        >>> import imprint.numpy as np
        >>> np.intersect1d(np.array([3, 1, 2]), np.array([2, 3, 4]))
        Array([2, 3], dtype=int32)
    """
    given = _operands("intersect1d", ar1, ar2)
    with sized("intersect1d", size, *given) as count:
        x, y = _flat("intersect1d", given)
        values, place, is_last = _together(x, y)
        n, both = x.shape[0], not_(is_last)
        both = and_(both, and_(place[:-1] < n, place[1:] >= n))
        index, there = _chosen(both, count)
        found = _filled(values[:-1], index, there, fill_value)
        if not return_indices:
            return found
        narrow = assume_unique and size is None  # as in JAX
        dtype = dtypes.int32 if narrow else dtypes.default_int()
        firsts = (n - 1 - place[:-1], n), (place[1:] - n, y.shape[0])
        return found, *[
            convert("intersect1d", _filled(at, index, there, end), dtype)
            for at, end in firsts
        ]


def setxor1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array:
    """Return the sorted elements that are in exactly one of the arrays.

    Args:
        ar1: an array.
        ar2: another one.
        assume_unique: whether each array has distinct elements; ignored.
        size: the number of elements to return; required under a trace.
        fill_value: the value that fills up to `size`; the smallest of them if None.

    Returns:
        A vector, in the promoted dtype.

    Raises:
        ConcretizationError: an array is traced and there is no `size`.

    References:
        NumPy, `numpy.setxor1d`.

    Example:
        >>> import imprint.numpy as np
        >>> np.setxor1d(np.array([3, 1, 2]), np.array([2, 3, 4]))
        Array([1, 4], dtype=int32)
    """
    del assume_unique
    given = _operands("setxor1d", ar1, ar2)
    with sized("setxor1d", size, *given) as count:
        x, y = _flat("setxor1d", given)
        values, place, is_last = _together(x, y)
        edge = ones(builtins.min(values.shape[0], 1), dtypes.bool_)
        ends, begins = concatenate([is_last, edge]), concatenate([edge, is_last])
        n = x.shape[0]
        of_x = place < n
        alone = or_(and_(ends, of_x), and_(begins, not_(of_x)))
        return _filled(values, *_chosen(alone, count), fill_value)


def _together(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return both arrays sorted together, their origins, and the ends of runs.

    In a run of equal elements those of `x` come first, in reverse: so the first ones of
    both are neighbours in the middle. NaN is equal in one array only.
    """
    joined = concatenate([rev(x, (0,)), y])
    place = arange(joined.shape[0])
    values, place = sorting.sort_key_val(joined, place)
    this, after = values[:-1], values[1:]
    differ = ne(this, after)
    if dtypes.is_inexact(values.dtype):
        n = x.shape[0]
        of_one = eq(place[:-1] < n, place[1:] < n)
        nans = and_(ne(this, this), ne(after, after))
        differ = and_(differ, not_(and_(of_one, nans)))
    return values, place, differ


def _chosen(mask: Array, size: int | None) -> tuple[Array, Array | None]:
    """Return where a mask is true, and which of these indices are not filling."""
    if size is None:
        return true_at(mask), None
    return true_at(mask, size), arange(size) < mask.sum()


def _filled(
    x: Array, index: Array, there: Array | None, fill_value: ArrayLike | None
) -> Array:
    """Return elements at indices; fill out-of-range ones, by default with the first."""
    if there is None:
        return rows_at(x, index)
    if not x.size or not index.size:
        fill = 0 if fill_value is None else fill_value
        return full(index.shape, fill, x.dtype)
    found = rows_at(x, index)
    if fill_value is None:
        fill_value = where(there[0], found[0], strong_like(found, 0))
    return where(there, found, fill_value)


def setdiff1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    size: int | None = None,
    fill_value: ArrayLike | None = None,
) -> Array:
    """Return the sorted elements of an array that are not in another one.

    Args:
        ar1: an array.
        ar2: another one.
        assume_unique: whether `ar1` has distinct elements; they then keep their order.
        size: the number of elements to return; required under a trace.
        fill_value: the value that fills up to `size`; 0 if None.

    Returns:
        A vector, in the dtype of `ar1`.

    Raises:
        ConcretizationError: an array is traced and there is no `size`.

    References:
        NumPy, `numpy.setdiff1d`.

    Example:
        >>> import imprint.numpy as np
        >>> np.setdiff1d(np.array([3, 1, 2]), np.array([2, 4]))
        Array([1, 3], dtype=int32)
    """
    given = _operands("setdiff1d", ar1, ar2)
    with sized("setdiff1d", size, *given) as count:
        x, y = (ravel(ar) for ar in given)
        there: Any = True
        if not assume_unique and x.shape[0]:
            many = None if count is None else x.shape[0]
            found = distinct("setdiff1d", x, 0, UniqueOptions(equal_nan=True), many)
            x = found.values
            there = arange(x.shape[0]) < found.count
        alone = and_(there, is_in("setdiff1d", x, y, "auto", invert=True))
        return _filled(
            x, *_chosen(alone, count), 0 if fill_value is None else fill_value
        )


@fuse_eager
def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    invert: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    method: str = "auto",
) -> Array:
    """Return which elements are in another array.

    Args:
        element: an array.
        test_elements: the other array.
        assume_unique: whether elements are distinct; ignored.
        invert: whether to return which are not.
        method: "compare_all" compares all pairs; "binary_search" and "sort" sort the
            other array; "auto" compares all pairs if it is small.

    Returns:
        Booleans, of the shape of `element`.

    Raises:
        ArgumentError: the method is unknown.

    References:
        NumPy, `numpy.isin`.

    Example:
        >>> import imprint.numpy as np
        >>> np.isin(np.array([1, 2, 3]), np.array([3, 1]))
        Array([ True, False,  True], dtype=bool)
    """
    del assume_unique
    x, among = as_array("isin", element), as_array("isin", test_elements)
    return is_in("isin", x, ravel(among), method, invert=invert)


_FEW: Final = 64
_SEARCHES: Final = {"binary_search": "scan", "sort": "sort"}


def is_in(name: str, x: Array, among: Array, method: str, *, invert: bool) -> Array:
    """Implement `isin` for a function `name` and a flat second array."""
    if method not in ("auto", "compare_all", *_SEARCHES):
        raise ArgumentError(
            f"{name}: expected method 'auto', 'compare_all', 'binary_search' or 'sort', "
            f"got {method!r}. Leave it out."
        )
    if dims.has_zero(among.shape):
        return full(x.shape, invert, dtypes.bool_)
    if method == "auto":
        few = not dims.is_surely_at_least(among.shape[0], _FEW)
        method = "compare_all" if few else "binary_search"
    x, among = promote_dtypes(name, (x, among))
    if method == "compare_all":
        each = fit_shapes(name, (expand_dims(x, (x.ndim,)), among))
        found = any(eq(*each), -1)
    else:
        ordered = hooks.numpy.sort(among)
        place = hooks.numpy.searchsorted(ordered, x, method=_SEARCHES[method])
        found = eq(x, hooks.numpy.take(ordered, place, mode="clip"))
    return not_(found) if invert else found
