"""Insertion points and bins: searchsorted and digitize.

The searched array must be sorted, in the order of `sort`; otherwise the result is
unspecified. Indices are `int32`.
"""

import numpy as np

from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.trace import Tracer
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    filled_like,
    promote_dtypes,
)
from imprint._src.primitives.core_ops import sub
from imprint._src.primitives.elementwise.comparison import ge
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.indexing import searching
from imprint._src.primitives.indexing.slicing import slice_in_dim
from imprint._src.primitives.indexing.take_rows import rows_at
from imprint._src.primitives.shape import number_of, rev


@fuse_eager
def searchsorted(
    a: ArrayLike,
    v: ArrayLike,
    side: str = "left",
    sorter: ArrayLike | None = None,
    *,
    method: str = "scan",
) -> Array:
    """Return the indices at which to insert elements to keep an array sorted.

    Args:
        a: an array with one axis, in ascending order.
        v: the elements.
        side: "left" for the first such index, "right" for the last one.
        sorter: indices that sort `a`, if it is not sorted.
        method: the algorithm of compiled code: "scan" and "scan_unrolled" bisect,
            "sort" sorts both together, "compare_all" compares with each element of `a`.

    Returns:
        The indices, from 0 to the length of `a`, of the shape of `v`.

    Raises:
        ArgumentError: the side or the method is unknown.
        ShapeError: `a` has not one axis.

    References:
        NumPy, `numpy.searchsorted`.

    Example:
        >>> import imprint.numpy as np
        >>> np.searchsorted(np.array([1, 2, 4]), np.array([0, 2, 5]))
        Array([0, 1, 3], dtype=int32)
    """
    return _placed("searchsorted", a, v, side, sorter, method)


def _placed(
    name: str,
    a: ArrayLike,
    v: ArrayLike,
    side: str,
    sorter: ArrayLike | None,
    method: str,
) -> Array:
    if side not in searching.SIDES:
        raise ArgumentError(
            f"{name}: expected side 'left' or 'right', got {side!r}. It is the side of "
            "equal elements."
        )
    if method not in searching.METHODS:
        raise ArgumentError(
            f"{name}: expected a method of {', '.join(searching.METHODS)}, got {method!r}."
            " Leave it out."
        )
    given, elements = as_array(name, a), as_array(name, v)
    if given.ndim != 1:
        raise ShapeError(
            f"{name}: expected an array with one axis to search, got {given.aval}. "
            "Flatten it, or map over the other axes with imprint.vmap."
        )
    x, y = promote_dtypes(name, (given, elements))
    if sorter is not None:
        x = rows_at(x, as_array(name, sorter))
    return searching.searchsorted(x, y, side, method)


def digitize(
    x: ArrayLike,
    bins: ArrayLike,
    right: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    method: str | None = None,
) -> Array:
    """Return the bin numbers of elements.

    Args:
        x: the elements.
        bins: the edges, ascending or descending.
        right: whether an edge belongs to the bin before it.
        method: as for `searchsorted`.

    Returns:
        The numbers, integers of the shape of `x`: 0 before the first edge, the number
        of edges behind the last.

    Raises:
        ShapeError: `bins` has not one axis.

    References:
        NumPy, `numpy.digitize`.

    Example:
        >>> import imprint.numpy as np
        >>> np.digitize(np.array([0.5, 1.0, 3.0]), np.array([0, 1, 2]))
        Array([1, 2, 3], dtype=int32)
    """
    elements, edges = as_array("digitize", x), as_array("digitize", bins)
    if edges.ndim != 1:
        raise ShapeError(
            f"digitize: expected bins with one axis, got {edges.aval}. Flatten them."
        )
    count = edges.shape[0]
    if dims.is_same(count, 0):
        return filled_like(convert_element_type(elements, "int32"), 0)
    side, how = "left" if right else "right", method or "scan"
    if not isinstance(edges, Tracer):
        values = np.asarray(edges)
        return _in_bins(
            elements, edges, side, how, ascends=bool(values[-1] >= values[0])
        )
    first, last = (slice_in_dim(edges, i, i + 1)[0] for i in (0, count - 1))
    up, down = (_in_bins(elements, edges, side, how, ascends=a) for a in (True, False))
    return where(ge(last, first), up, down)


def _in_bins(x: Array, edges: Array, side: str, method: str, *, ascends: bool) -> Array:
    """Return the bin numbers for ascending or descending edges."""
    if ascends:
        return _placed("digitize", edges, x, side, None, method)
    found = _placed("digitize", rev(edges, (0,)), x, side, None, method)
    return sub(number_of(edges.shape[0], np.dtype(np.int32)), found)
