"""Reductions: sum, prod, min, max, all, any, and variants that ignore NaN.

Sums and products of small integers use the default integer; those of float16 and
bfloat16 use float32 and round once. `where` replaces excluded elements by the identity
of the operation; `min` and `max` have none, so they then need `initial`. Means and
variances are in `statistics`, indices of extremes in `searching`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, final

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import DType, get_aval
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.elementwise.selection import as_bool
from imprint._src.numpy.elementwise.selection import where as choose
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    convert,
    numeric,
    refuse_out,
)
from imprint._src.primitives.axes import canonical_axes
from imprint._src.primitives.core_ops import add, mul, reduce_sum, scalar_like
from imprint._src.primitives.elementwise.arithmetic import max_, min_
from imprint._src.primitives.elementwise.bitwise import and_, not_, or_
from imprint._src.primitives.elementwise.comparison import ne
from imprint._src.primitives.reductions import (
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
)
from imprint._src.primitives.shape import expand_dims

Axis: TypeAlias = int | Sequence[int] | None


@dataclass(frozen=True)
class Reduction:
    """A reduction along axes, of two values, and of nothing.

    Args:
        name: the public function, for errors.
        along: reduces an array along axes.
        pair: reduces two arrays.
        identity: the result of an empty reduction; None if there is none.
    """

    name: str
    along: Callable[[Any, tuple[int, ...]], Any]
    pair: Callable[[Any, Any], Any]
    identity: float | None


@final
class Over:
    """The arguments that all reductions share.

    Args:
        axis: the axes to reduce: one, several, or None for all.
        keepdims: whether to keep them with length 1.
        initial: a value to include.
        where: mask of the elements to include.
    """

    __slots__ = ("axis", "initial", "keepdims", "where")

    def __init__(
        self,
        axis: Axis = None,
        keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's order
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> None:
        self.axis: Axis = axis
        self.keepdims: bool = keepdims
        self.initial: ArrayLike | None = initial
        self.where: ArrayLike | None = where


SUM: Final = Reduction("sum", reduce_sum, add, 0)
PROD: Final = Reduction("prod", reduce_prod, mul, 1)
MAX: Final = Reduction("max", reduce_max, max_, None)
MIN: Final = Reduction("min", reduce_min, min_, None)
ALL: Final = Reduction("all", reduce_and, and_, 1)
ANY: Final = Reduction("any", reduce_or, or_, 0)


def reduce(kind: Reduction, x: Array, over: Over) -> Array:
    """Reduce an array in its own dtype; the result is strong."""
    x = convert(kind.name, x, x.dtype)
    axes = axes_of(kind.name, over.axis, x.ndim)
    if kind.identity is None and over.initial is None:
        _check_has_elements(kind.name, x, axes, over)
    if over.where is not None:
        x = choose(mask_of(kind.name, over.where), x, _neutral(kind, x))
    result = kind.along(x, axes)
    if over.initial is not None:
        initial = convert(kind.name, over.initial, x.dtype)
        if get_aval(initial).shape:
            raise ShapeError(
                f"{kind.name}: expected a scalar for initial, got "
                f"{get_aval(initial)}. Reduce it first."
            )
        result = kind.pair(initial, result)
    return expand_dims(result, sorted(axes)) if over.keepdims else result


def axes_of(name: str, axis: Axis, ndim: int) -> tuple[int, ...]:
    """Return the axes that `axis` names, counted from 0, in the order given."""
    if axis is None:
        return _EVERY[ndim] if ndim < len(_EVERY) else tuple(range(ndim))
    is_one = type(axis) is int or isinstance(axis, str)  # a class of `abc` takes 2 µs
    if not is_one and isinstance(axis, Sequence | np.ndarray):
        return canonical_axes(name, axis, ndim)
    return canonical_axes(name, (axis,), ndim)


_EVERY: Final = tuple(tuple(range(n)) for n in range(8))


def mask_of(name: str, where: ArrayLike) -> Array:
    """Return the `where` of a reduction, which must be boolean."""
    mask = as_array(name, where)
    if not dtypes.is_bool(mask.dtype):
        raise ArgumentError(
            f"{name}: expected booleans for where, got {mask.aval}. "
            "Compare it first: where=x != 0."
        )
    return mask


def upcast(dtype: DType) -> DType:
    """Return the dtype of the sum: float32 for the 16-bit floats."""
    return dtypes.float32 if dtype in _SHORT_FLOATS else dtype


_SHORT_FLOATS: Final = (dtypes.float16, dtypes.bfloat16)


def _check_has_elements(name: str, x: Array, axes: tuple[int, ...], over: Over) -> None:
    if over.where is not None:
        raise ArgumentError(
            f"{name}: expected initial beside where, got only where. No element may "
            f"be left, and nothing has no {name}: pass initial=."
        )
    if dims.has_zero(x.shape[a] for a in axes):
        raise ArgumentError(
            f"{name}: expected at least one element along axes {axes}, got {x.aval}. "
            f"Nothing has no {name}: pass initial=."
        )


def _neutral(kind: Reduction, x: Array) -> Any:
    """Return the identity in the dtype of `x`."""
    if kind.identity is not None:
        return scalar_like(x, kind.identity)
    lowest = kind.along is reduce_max
    if dtypes.is_bool(x.dtype):
        return scalar_like(x, not lowest)
    if dtypes.is_integer(x.dtype):
        info = dtypes.iinfo(x.dtype)
        return scalar_like(x, info.min if lowest else info.max)
    return scalar_like(x, -np.inf if lowest else np.inf)


# ---- sum and prod ----


@fuse_eager
def sum(  # noqa: PLR0913, PLR0917 - NumPy's signature
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
    promote_integers: bool = True,  # noqa: FBT001, FBT002 - NumPy's signature
) -> Array:
    """Return the sum of the elements along axes.

    Args:
        a: numbers; booleans count as 0 and 1.
        axis: the axes to reduce: one, several, or None for all.
        dtype: the dtype of the result; small integers become the default integer.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the reduced axes with length 1.
        initial: a value to add.
        where: mask of the elements to include.
        promote_integers: whether small integers become the default integer.

    Returns:
        The sums, of the shape of `a` without the reduced axes. 0 without elements.

    References:
        NumPy, `numpy.sum`.

    Example:
        >>> import imprint.numpy as np
        >>> np.sum(np.ones((2, 3)), axis=0)
        Array([2., 2., 2.], dtype=float32)
    """
    refuse_out("sum", out)
    over = Over(axis, keepdims, initial, where)
    return add_up(SUM, a, dtype, over, promote_integers=promote_integers)


@fuse_eager
def prod(  # noqa: PLR0913, PLR0917 - NumPy's signature
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
    promote_integers: bool = True,  # noqa: FBT001, FBT002 - NumPy's signature
) -> Array:
    """Return the product of the elements along axes.

    Args:
        a: numbers; booleans count as 0 and 1.
        axis: the axes to reduce: one, several, or None for all.
        dtype: the dtype of the result; None for that of `a`, small integers as the
            default integer.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the reduced axes with length 1.
        initial: a value to multiply by.
        where: mask of the elements to include.
        promote_integers: whether small integers become the default integer.

    Returns:
        The products, of the shape of `a` without the reduced axes. 1 without elements.

    References:
        NumPy, `numpy.prod`.

    Example:
        >>> import imprint.numpy as np
        >>> np.prod(np.array([[1, 2], [3, 4]]))
        Array(24, dtype=int32)
    """
    refuse_out("prod", out)
    over = Over(axis, keepdims, initial, where)
    return add_up(PROD, a, dtype, over, promote_integers=promote_integers)


def add_up(
    kind: Reduction,
    a: ArrayLike,
    dtype: DTypeLike | None,
    over: Over,
    *,
    promote_integers: bool = True,
) -> Array:
    """Reduce an array by `SUM` or `PROD` in a dtype wide enough for many elements."""
    x = as_array(kind.name, numeric(kind.name, a))
    if dtype is not None:
        wanted = dtypes.requested(dtype, kind.name)
        computed = wanted
    else:
        wanted = wide_integer(x.dtype) if promote_integers else x.dtype
        computed = upcast(wanted)
    if dtypes.is_bool(computed):
        kind = replace(ANY if kind.along is reduce_sum else ALL, name=kind.name)
    return convert(
        kind.name, reduce(kind, convert(kind.name, x, computed), over), wanted
    )


def wide_integer(dtype: DType) -> DType:
    """Return the integer dtype of the sum: at least as wide as the default."""
    if dtypes.is_bool(dtype):
        return dtypes.default_int()
    if not dtypes.is_integer(dtype):
        return dtype
    signed = dtypes.is_signed(dtype)
    default = dtypes.default_int() if signed else dtypes.default_uint()
    return default if dtypes.bit_width(dtype) < dtypes.bit_width(default) else dtype


# ---- max, min, all, any ----


@fuse_eager
def max(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Return the largest element along axes; NaN if there is one.

    Args:
        a: an array with at least one element along the axes, unless `initial`.
        axis: the axes to reduce: one, several, or None for all.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the reduced axes with length 1.
        initial: a value to include.
        where: mask of the elements to include; needs `initial`.

    Returns:
        The largest elements, of the shape of `a` without the reduced axes, in its
        dtype.

    Raises:
        ArgumentError: there is no element along the axes, or `where` is given, and
            `initial` is not.

    References:
        NumPy, `numpy.max`.

    Example:
        >>> import imprint.numpy as np
        >>> np.max(np.array([[1, 5], [3, 2]]), axis=1)
        Array([5, 3], dtype=int32)
    """
    refuse_out("max", out)
    return reduce(MAX, as_array("max", a), Over(axis, keepdims, initial, where))


@fuse_eager
def min(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Return the smallest element along axes; NaN if there is one.

    Args:
        a: an array with at least one element along the axes, unless `initial`.
        axis: the axes to reduce: one, several, or None for all.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the reduced axes with length 1.
        initial: a value to include.
        where: mask of the elements to include; needs `initial`.

    Returns:
        The smallest elements, of the shape of `a` without the reduced axes, in its
        dtype.

    Raises:
        ArgumentError: there is no element along the axes, or `where` is given, and
            `initial` is not.

    References:
        NumPy, `numpy.min`.

    Example:
        >>> import imprint.numpy as np
        >>> np.min(np.array([[1, 5], [3, 2]]), axis=1)
        Array([1, 2], dtype=int32)
    """
    refuse_out("min", out)
    return reduce(MIN, as_array("min", a), Over(axis, keepdims, initial, where))


amax: Final = max
amin: Final = min


@fuse_eager
def all(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    where: ArrayLike | None = None,
) -> Array:
    """Return whether all elements along axes are true (nonzero).

    Args:
        a: an array; 0 is false, anything else true.
        axis: the axes to reduce: one, several, or None for all.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the reduced axes with length 1.
        where: mask of the elements to include.

    Returns:
        Booleans, of the shape of `a` without the reduced axes. True without elements.

    References:
        NumPy, `numpy.all`.

    Example:
        >>> import imprint.numpy as np
        >>> np.all(np.array([[True, False], [True, True]]), axis=0)
        Array([ True, False], dtype=bool)
    """
    refuse_out("all", out)
    return reduce(ALL, _booleans("all", a), Over(axis, keepdims, None, where))


@fuse_eager
def any(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    where: ArrayLike | None = None,
) -> Array:
    """Return whether any element along axes is true (nonzero).

    Args:
        a: an array; 0 is false, anything else true.
        axis: the axes to reduce: one, several, or None for all.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the reduced axes with length 1.
        where: mask of the elements to include.

    Returns:
        Booleans, of the shape of `a` without the reduced axes. False without elements.

    References:
        NumPy, `numpy.any`.

    Example:
        >>> import imprint.numpy as np
        >>> np.any(np.array([[True, False], [False, False]]), axis=0)
        Array([ True, False], dtype=bool)
    """
    refuse_out("any", out)
    return reduce(ANY, _booleans("any", a), Over(axis, keepdims, None, where))


def _booleans(name: str, a: ArrayLike) -> Array:
    x = as_array(name, a)
    if dtypes.is_complex(x.dtype):  # a conversion would take the real part
        return as_bool(name, x)
    return convert(name, x, dtypes.bool_)


@fuse_eager
def ptp(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
) -> Array:
    """Return the range, maximum less minimum, along axes.

    Args:
        a: an array, not of booleans, with at least one element along the axes.
        axis: the axes to reduce: one, several, or None for all.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the reduced axes with length 1.

    Returns:
        The ranges, of the shape of `a` without the reduced axes, in its dtype.

    References:
        NumPy, `numpy.ptp`.

    Example:
        >>> import imprint.numpy as np
        >>> np.ptp(np.array([1, 5, 3]))
        Array(4, dtype=int32)
    """
    refuse_out("ptp", out)
    high = max(a, axis, keepdims=keepdims)
    return high - min(a, axis, keepdims=keepdims)


@fuse_eager
def count_nonzero(
    a: ArrayLike,
    axis: Axis = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
) -> Array:
    """Return the number of nonzero elements along axes.

    Args:
        a: an array.
        axis: the axes to reduce: one, several, or None for all.
        keepdims: whether to keep the reduced axes with length 1.

    Returns:
        The numbers, of the shape of `a` without the reduced axes, in the default
        integer dtype.

    References:
        NumPy, `numpy.count_nonzero`.

    Example:
        >>> import imprint.numpy as np
        >>> np.count_nonzero(np.array([0, 3, 0, 4]))
        Array(2, dtype=int32)
    """
    x = as_array("count_nonzero", a)
    return sum(ne(x, scalar_like(x, 0)), axis, keepdims=keepdims)


# ---- without NaN ----


@fuse_eager
def nansum(  # noqa: PLR0913, PLR0917 - NumPy's signature
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Return the sum of the elements that are not NaN along axes.

    Args:
        a: numbers; booleans count as 0 and 1.
        axis: the axes to reduce: one, several, or None for all.
        dtype: the dtype of the result; None for that of `a`, small integers as the
            default integer.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the reduced axes with length 1.
        initial: a value to add.
        where: mask of the elements to include.

    Returns:
        The sums, of the shape of `a` without the reduced axes. 0 if all are NaN.

    References:
        NumPy, `numpy.nansum`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nansum(np.array([1.0, np.nan, 2.0]))
        Array(3., dtype=float32)
    """
    refuse_out("nansum", out)
    x = replace_nan("nansum", a, 0)
    return sum(x, axis, dtype, keepdims=keepdims, initial=initial, where=where)


@fuse_eager
def nanprod(  # noqa: PLR0913, PLR0917 - NumPy's signature
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Return the product of the elements that are not NaN along axes.

    Args:
        a: numbers; booleans count as 0 and 1.
        axis: the axes to reduce: one, several, or None for all.
        dtype: the dtype of the result; None for that of `a`, small integers as the
            default integer.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the reduced axes with length 1.
        initial: a value to multiply by.
        where: mask of the elements to include.

    Returns:
        The products, of the shape of `a` without the reduced axes. 1 if all are NaN.

    References:
        NumPy, `numpy.nanprod`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nanprod(np.array([2.0, np.nan, 3.0]))
        Array(6., dtype=float32)
    """
    refuse_out("nanprod", out)
    x = replace_nan("nanprod", a, 1)
    return prod(x, axis, dtype, keepdims=keepdims, initial=initial, where=where)


@fuse_eager
def nanmax(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Return the largest element that is not NaN along axes.

    Args:
        a: an array with at least one element along the axes, unless `initial`.
        axis: the axes to reduce: one, several, or None for all.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the reduced axes with length 1.
        initial: a value to include.
        where: mask of the elements to include; needs `initial`.

    Returns:
        The largest elements, of the shape of `a` without the reduced axes, in its
        dtype. NaN if all are and there is no `initial`.

    References:
        NumPy, `numpy.nanmax`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nanmax(np.array([1.0, np.nan, 2.0]))
        Array(2., dtype=float32)
    """
    refuse_out("nanmax", out)
    x = replace_nan("nanmax", a, -np.inf)
    found = max(x, axis, keepdims=keepdims, initial=initial, where=where)
    if initial is not None:
        return found
    return _nan_if_all(a, found, axis, keepdims=keepdims)


@fuse_eager
def nanmin(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    initial: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Array:
    """Return the smallest element that is not NaN along axes.

    Args:
        a: an array with at least one element along the axes, unless `initial`.
        axis: the axes to reduce: one, several, or None for all.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the reduced axes with length 1.
        initial: a value to include.
        where: mask of the elements to include; needs `initial`.

    Returns:
        The smallest elements, of the shape of `a` without the reduced axes, in its
        dtype. NaN if all are and there is no `initial`.

    References:
        NumPy, `numpy.nanmin`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nanmin(np.array([1.0, np.nan, 2.0]))
        Array(1., dtype=float32)
    """
    refuse_out("nanmin", out)
    x = replace_nan("nanmin", a, np.inf)
    found = min(x, axis, keepdims=keepdims, initial=initial, where=where)
    if initial is not None:
        return found
    return _nan_if_all(a, found, axis, keepdims=keepdims)


def replace_nan(name: str, a: ArrayLike, value: float) -> Array:
    """Return an array with NaN replaced by `value`."""
    x = as_array(name, a)
    return choose(ne(x, x), scalar_like(x, value), x) if is_inexact(x) else x


def not_nan(x: Array) -> Array:
    """Return which elements are not NaN."""
    return not_(ne(x, x))


def is_inexact(x: Array) -> bool:
    """Return whether an array can hold NaN."""
    return dtypes.is_inexact(x.dtype)


def _nan_if_all(a: ArrayLike, out: Array, axis: Axis, *, keepdims: bool) -> Array:
    x = as_array("nan", a)
    if not is_inexact(x):
        return out
    return choose(all(ne(x, x), axis, keepdims=keepdims), scalar_like(x, np.nan), out)
