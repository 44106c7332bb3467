"""Indices of extremes: argmax, argmin and variants that ignore NaN.

Ties give the first index; NaN is the extreme. Indices are `int32`, or `int64` under
`enable_x64`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.promotion import ArrayLike, as_array, refuse_out
from imprint._src.numpy.reductions.reductions import all, is_inexact, replace_nan
from imprint._src.numpy.shapes.reshape import ravel
from imprint._src.primitives import arg_reductions
from imprint._src.primitives.axes import canonical_axis
from imprint._src.primitives.core_ops import scalar_like
from imprint._src.primitives.elementwise.comparison import ne
from imprint._src.primitives.shape import expand_dims

Search = Callable[[Any, int, Any], Any]


@fuse_eager
def argmax(
    a: ArrayLike,
    axis: int | None = None,
    out: None = None,
    keepdims: bool | None = None,  # noqa: FBT001 - NumPy's signature
) -> Array:
    """Return the index of the largest element; of the first NaN if there is one.

    Args:
        a: an array with at least one element along the axis.
        axis: the axis to search; None flattens first.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the axis with length 1.

    Returns:
        The indices, in the default integer dtype, of the shape of `a` without the axis;
        of rank 0 if it is None.

    References:
        NumPy, `numpy.argmax`.

    Example:
        >>> import imprint.numpy as np
        >>> np.argmax(np.array([[1, 5], [7, 2]]), axis=1)
        Array([1, 0], dtype=int32)
    """
    refuse_out("argmax", out)
    x = as_array("argmax", a)
    return _search("argmax", arg_reductions.argmax, x, axis, keepdims=bool(keepdims))


@fuse_eager
def argmin(
    a: ArrayLike,
    axis: int | None = None,
    out: None = None,
    keepdims: bool | None = None,  # noqa: FBT001 - NumPy's signature
) -> Array:
    """Return the index of the smallest element; of the first NaN if there is one.

    Args:
        a: an array with at least one element along the axis.
        axis: the axis to search; None flattens first.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the axis with length 1.

    Returns:
        The indices, in the default integer dtype, of the shape of `a` without the axis;
        of rank 0 if it is None.

    References:
        NumPy, `numpy.argmin`.

    Example:
        >>> import imprint.numpy as np
        >>> np.argmin(np.array([[1, 5], [7, 2]]), axis=1)
        Array([0, 1], dtype=int32)
    """
    refuse_out("argmin", out)
    x = as_array("argmin", a)
    return _search("argmin", arg_reductions.argmin, x, axis, keepdims=bool(keepdims))


@fuse_eager
def nanargmax(
    a: ArrayLike,
    axis: int | None = None,
    out: None = None,
    keepdims: bool | None = None,  # noqa: FBT001 - NumPy's signature
) -> Array:
    """Return the index of the largest element that is not NaN; -1 if all are NaN.

    Args:
        a: an array with at least one element along the axis.
        axis: the axis to search; None flattens first.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the axis with length 1.

    Returns:
        The indices, in the default integer dtype, of the shape of `a` without the axis;
        of rank 0 if it is None.

    References:
        NumPy, `numpy.nanargmax`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nanargmax(np.array([1.0, np.nan, 2.0]))
        Array(2, dtype=int32)
    """
    refuse_out("nanargmax", out)
    found = argmax(replace_nan("nanargmax", a, -np.inf), axis, keepdims=bool(keepdims))
    return _minus_one_if_all_nan(a, found, axis, keepdims=bool(keepdims))


@fuse_eager
def nanargmin(
    a: ArrayLike,
    axis: int | None = None,
    out: None = None,
    keepdims: bool | None = None,  # noqa: FBT001 - NumPy's signature
) -> Array:
    """Return the index of the smallest element that is not NaN; -1 if all are NaN.

    Args:
        a: an array with at least one element along the axis.
        axis: the axis to search; None flattens first.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the axis with length 1.

    Returns:
        The indices, in the default integer dtype, of the shape of `a` without the axis;
        of rank 0 if it is None.

    References:
        NumPy, `numpy.nanargmin`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nanargmin(np.array([np.nan, 1.0, 2.0]))
        Array(1, dtype=int32)
    """
    refuse_out("nanargmin", out)
    found = argmin(replace_nan("nanargmin", a, np.inf), axis, keepdims=bool(keepdims))
    return _minus_one_if_all_nan(a, found, axis, keepdims=bool(keepdims))


def _search(
    name: str, search: Search, x: Array, axis: int | None, *, keepdims: bool
) -> Array:
    along = ravel(x) if axis is None else x
    at = canonical_axis(name, 0 if axis is None else axis, along.ndim)
    if dims.is_same(along.shape[at], 0):
        raise ArgumentError(
            f"{name}: expected at least one element along axis {at}, got {x.aval}. "
            "Nothing has no extreme."
        )
    found = search(along, at, dtypes.default_int())
    if not keepdims:
        return found
    return expand_dims(found, tuple(range(x.ndim)) if axis is None else (at,))


def _minus_one_if_all_nan(
    a: ArrayLike, found: Array, axis: int | None, *, keepdims: bool
) -> Array:
    x = as_array("nanarg", a)
    if not is_inexact(x):
        return found
    all_nan = all(ne(x, x), axis, keepdims=bool(keepdims))
    return where(all_nan, scalar_like(found, -1), found)
