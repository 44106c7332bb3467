"""Cumulative sums and products along an axis.

Without an axis the array is flattened first. Booleans count as integers; small integers
stay small, except in the Array API's `cumulative_sum`.
"""

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ShapeError
from imprint._src.numpy.elementwise.selection import as_bool
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    broadcast,
    convert,
    refuse_out,
)
from imprint._src.numpy.reductions.reductions import replace_nan, wide_integer
from imprint._src.numpy.shapes.concatenate import concatenate
from imprint._src.numpy.shapes.reshape import ravel
from imprint._src.primitives import cumulative
from imprint._src.primitives.axes import canonical_axis


@fuse_eager
def cumsum(
    a: ArrayLike,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
) -> Array:
    """Return the cumulative sums along an axis.

    Args:
        a: numbers.
        axis: the axis; None flattens first.
        dtype: the dtype of the result; None for that of the elements.
        out: must be None; arrays are immutable.

    Returns:
        The sums, of the shape of `a`, or one axis if flattened. Booleans become
        integers.

    References:
        NumPy, `numpy.cumsum`.

    Example:
        >>> import imprint.numpy as np
        >>> np.cumsum(np.array([1, 2, 3]))
        Array([1, 3, 6], dtype=int32)
    """
    refuse_out("cumsum", out)
    return _cumulative("cumsum", as_array("cumsum", a), axis, dtype)


@fuse_eager
def cumprod(
    a: ArrayLike,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
) -> Array:
    """Return the cumulative products along an axis.

    Args:
        a: numbers.
        axis: the axis; None flattens first.
        dtype: the dtype of the result; None for that of the elements.
        out: must be None; arrays are immutable.

    Returns:
        The products, of the shape of `a`, or one axis if flattened. Booleans become
        integers.

    References:
        NumPy, `numpy.cumprod`.

    Example:
        >>> import imprint.numpy as np
        >>> np.cumprod(np.array([1, 2, 3]))
        Array([1, 2, 6], dtype=int32)
    """
    refuse_out("cumprod", out)
    return _cumulative("cumprod", as_array("cumprod", a), axis, dtype)


@fuse_eager
def nancumsum(
    a: ArrayLike,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
) -> Array:
    """Return the cumulative sums along an axis, with NaN as 0.

    Args:
        a: numbers.
        axis: the axis; None flattens first.
        dtype: the dtype of the result; None for that of the elements.
        out: must be None; arrays are immutable.

    Returns:
        The sums, of the shape of `a`, or one axis if flattened. Booleans become
        integers.

    References:
        NumPy, `numpy.nancumsum`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nancumsum(np.array([2.0, np.nan, 3.0]))
        Array([2., 2., 5.], dtype=float32)
    """
    refuse_out("nancumsum", out)
    return _cumulative("cumsum", replace_nan("nancumsum", a, 0), axis, dtype)


@fuse_eager
def nancumprod(
    a: ArrayLike,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
) -> Array:
    """Return the cumulative products along an axis, with NaN as 1.

    Args:
        a: numbers.
        axis: the axis; None flattens first.
        dtype: the dtype of the result; None for that of the elements.
        out: must be None; arrays are immutable.

    Returns:
        The products, of the shape of `a`, or one axis if flattened. Booleans become
        integers.

    References:
        NumPy, `numpy.nancumprod`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nancumprod(np.array([2.0, np.nan, 3.0]))
        Array([2., 2., 6.], dtype=float32)
    """
    refuse_out("nancumprod", out)
    return _cumulative("cumprod", replace_nan("nancumprod", a, 1), axis, dtype)


@fuse_eager
def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Array:
    """Return the cumulative sums along an axis, optionally with the initial 0.

    Args:
        x: numbers.
        axis: the axis; None if there is only one.
        dtype: the dtype of the result; None for that of `x`, small integers as the
            default integer.
        include_initial: whether to begin with 0.

    Returns:
        The sums, of the shape of `x`, or one longer along the axis.

    Raises:
        ShapeError: `axis` is None for several axes.

    References:
        NumPy, `numpy.cumulative_sum`.

    Example:
        >>> import imprint.numpy as np
        >>> np.cumulative_sum(np.array([1, 2, 3]), include_initial=True)
        Array([0, 1, 3, 6], dtype=int32)
    """
    array = as_array("cumulative_sum", x)
    at = _only_axis("cumulative_sum", array, axis)
    array = convert("cumulative_sum", array, wide_integer(array.dtype))
    out = _cumulative("cumsum", array, at, dtype)
    return _with_initial(out, at, 0) if include_initial else out


@fuse_eager
def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Array:
    """Return the cumulative products along an axis, optionally with the initial 1.

    Args:
        x: numbers.
        axis: the axis; None if there is only one.
        dtype: the dtype of the result; None for that of `x`, booleans as integers.
        include_initial: whether to begin with 1.

    Returns:
        The products, of the shape of `x`, or one longer along the axis.

    Raises:
        ShapeError: `axis` is None for several axes.

    References:
        NumPy, `numpy.cumulative_prod`.

    Example:
        >>> import imprint.numpy as np
        >>> np.cumulative_prod(np.array([2, 3]), include_initial=True)
        Array([1, 2, 6], dtype=int32)
    """
    array = as_array("cumulative_prod", x)
    at = _only_axis("cumulative_prod", array, axis)
    out = _cumulative("cumprod", array, at, dtype)
    return _with_initial(out, at, 1) if include_initial else out


def _cumulative(
    name: str, x: Array, axis: int | None, dtype: DTypeLike | None
) -> Array:
    x = ravel(x) if axis is None or not x.ndim else x
    at = canonical_axis(name, 0 if axis is None else axis, x.ndim)
    wanted = x.dtype if dtype is None else dtypes.requested(dtype, name)
    if dtypes.is_bool(wanted) and dtype is not None:
        x = as_bool(name, x)  # `any` of the prefixes: count, then compare with 0
    computed = wide_integer(wanted) if dtypes.is_bool(wanted) else wanted
    run = cumulative.cumsum if name == "cumsum" else cumulative.cumprod
    result = run(convert(name, x, computed), at)
    return result if dtype is None else convert(name, result, wanted)


def _only_axis(name: str, x: Array, axis: int | None) -> int:
    if axis is None and x.ndim != 1:
        raise ShapeError(
            f"{name}: expected an axis for {x.aval}, got None. "
            "Only an array with one axis needs none."
        )
    return canonical_axis(name, 0 if axis is None else axis, x.ndim)


def _with_initial(x: Array, axis: int, value: int) -> Array:
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    initial = broadcast(np.asarray(value, x.dtype), shape)
    return concatenate([initial, x], axis)
