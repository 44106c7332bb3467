"""Mean, average, variance and standard deviation, and variants that ignore NaN.

Integers give floats; float16 and bfloat16 are summed in float32 and rounded once. The
variance is the mean of squared distances from the mean, in two passes, so no digits
cancel; with too few elements it is NaN.
"""

from typing import Any

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import DType
from imprint._src.core.trace import Tracer
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.numpy.elementwise.selection import where as choose
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    broadcast,
    convert,
    match_shapes,
    promote,
    refuse_out,
)
from imprint._src.numpy.reductions.reductions import (
    SUM,
    Axis,
    Over,
    axes_of,
    is_inexact,
    mask_of,
    nansum,
    not_nan,
    reduce,
    sum,
    upcast,
)
from imprint._src.primitives.core_ops import mul, scalar_like, sub
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.comparison import gt, le
from imprint._src.primitives.elementwise.complex import conj, real
from imprint._src.primitives.elementwise.exponential import sqrt, square
from imprint._src.primitives.shape import as_value, reshape


@fuse_eager
def mean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    where: ArrayLike | None = None,
) -> Array:
    """Return the arithmetic mean along axes.

    Args:
        a: numbers.
        axis: the axes to reduce: one, several, or None for all.
        dtype: the dtype of the computation; a float for integers.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the reduced axes with length 1.
        where: mask of the elements to include.

    Returns:
        The means, of the shape of `a` without the reduced axes. NaN without elements.

    References:
        NumPy, `numpy.mean`.

    Example:
        >>> import imprint.numpy as np
        >>> np.mean(np.array([[1, 2], [3, 5]]), axis=0)
        Array([2. , 3.5], dtype=float32)
    """
    refuse_out("mean", out)
    x = as_array("mean", a)
    given = dtype is not None
    wanted = dtypes.requested(dtype, "mean") if given else dtypes.to_inexact(x.dtype)
    computed = wanted if given else upcast(wanted)
    return convert(
        "mean", _mean(x, computed, Over(axis, keepdims, None, where)), wanted
    )


def _mean(x: Array, computed: DType, over: Over) -> Array:
    total = reduce(SUM, convert("mean", x, computed), over)
    return div(*match_shapes("mean", (total, _count(x, computed, over))))


def _count(x: Array, dtype: DType, over: Over) -> Any:
    """Return the number of included elements, as a scalar or in the result's shape."""
    if over.where is not None:
        mask = broadcast(mask_of("mean", over.where), x.shape)
        ones = convert("mean", mask, dtype)
        return reduce(SUM, ones, Over(over.axis, over.keepdims))
    axes = axes_of("mean", over.axis, x.ndim)
    count = dims.product(x.shape[axis] for axis in axes)
    if dims.is_symbolic(count):
        return convert("mean", as_value(count), dtype)
    return dtype.type(count)


@fuse_eager
def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike | None = None,
    returned: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
) -> Array | tuple[Array, Array]:
    """Return the weighted mean along axes.

    Args:
        a: numbers.
        axis: the axes to reduce: one, several, or None for all.
        weights: of the shape of `a`, or of its lengths along `axis`; None for equal
            ones.
        returned: whether to return the sum of the weights too.
        keepdims: whether to keep the reduced axes with length 1.

    Returns:
        The means, of the shape of `a` without the reduced axes, in a floating or
        complex dtype; with `returned`, also the sums of weights, of the same shape.

    Raises:
        ShapeError: the weights have neither the shape of `a` nor its lengths along
            `axis`.

    References:
        NumPy, `numpy.average`.

    Example:
        >>> import imprint.numpy as np
        >>> np.average(np.array([1.0, 2.0]), weights=np.array([3.0, 1.0]))
        Array(1.25, dtype=float32)
    """
    if weights is None:
        (x,) = promote("average", (as_array("average", a),), dtypes.to_inexact)
        result = mean(x, axis, keepdims=keepdims)
        total = broadcast(_count(x, result.dtype, Over(axis)), result.shape)
    else:
        x, w = as_array("average", a), as_array("average", weights)
        if not dims.equal_shapes(x.shape, w.shape):
            w = _along(w, x, axis)
        x, w = promote("average", (x, w), dtypes.to_inexact)
        total = sum(w, axis, keepdims=keepdims)
        weighted = sum(mul(*match_shapes("average", (x, w))), axis, keepdims=keepdims)
        result = div(*match_shapes("average", (weighted, total)))
        total = broadcast(total, result.shape)
    return (result, total) if returned else result


def _along(w: Array, x: Array, axis: Axis) -> Array:
    """Return weights for `axis` with the rank of `x`."""
    axes = axes_of("average", axis, x.ndim)
    along = tuple(x.shape[a] for a in axes)
    if axis is None or not dims.equal_shapes(w.shape, along):
        raise ShapeError(
            "average: expected weights of the shape of the array or of its lengths "
            f"along axis={axis}, got {w.aval} for {x.aval}. Reshape the weights."
        )
    order = tuple(int(i) for i in np.argsort(axes))
    return reshape(w, [n if i in axes else 1 for i, n in enumerate(x.shape)], order)


# ---- variance ----


@fuse_eager
def var(  # noqa: PLR0913 - NumPy's signature
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
    correction: float | None = None,
) -> Array:
    """Return the variance along axes.

    Args:
        a: numbers; for complex ones, the mean of squared magnitudes.
        axis: the axes to reduce: one, several, or None for all.
        dtype: the dtype of the computation; a float for integers.
        out: must be None; arrays are immutable.
        ddof: the number to subtract from the count: 1 for a sample.
        correction: the Array API's name for `ddof`.
        keepdims: whether to keep the reduced axes with length 1.
        where: mask of the elements to include.
        mean: the mean, with the axes kept, if known.

    Returns:
        The variances, of the shape of `a` without the reduced axes, in a real dtype
        unless `dtype` is complex. NaN if not more than `ddof` elements are included.

    Raises:
        ArgumentError: `ddof` and `correction` are given.
        DTypeError: `dtype` is not complex for complex numbers.

    References:
        NumPy, `numpy.var`.

    Example:
        >>> import imprint.numpy as np
        >>> np.var(np.array([1.0, 3.0]), ddof=1)
        Array(2., dtype=float32)
    """
    refuse_out("var", out)
    x = as_array("var", a)
    computed, wanted = _variance_dtypes("var", x.dtype, dtype)
    x = convert("var", x, computed)
    centre = (
        _mean(x, computed, Over(axis, keepdims=axis is not None, where=where))
        if mean is None
        else mean
    )
    distances = _squared_distances(x, convert("var", centre, computed))
    over = Over(axis, keepdims, None, where)
    total = reduce(SUM, distances, over)
    count, less = _count(x, total.dtype, over), _ddof("var", ddof, correction)
    is_known = isinstance(count, np.generic) and type(less) in (int, float)
    if is_known and dtypes.is_inexact(wanted):  # five operations fewer
        free = count - total.dtype.type(less)
        divisor = free if free > 0 else total.dtype.type(np.nan)
        return convert("var", div(total, divisor), wanted)
    free = sub(count, convert("var", less, total.dtype))
    result = convert("var", div(*match_shapes("var", (total, free))), wanted)
    return choose(gt(free, scalar_like(free, 0)), result, np.nan)


@fuse_eager
def std(  # noqa: PLR0913 - NumPy's signature
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
    correction: float | None = None,
) -> Array:
    """Return the standard deviation along axes.

    Args:
        a: numbers; for complex ones, the root of the mean of squared magnitudes.
        axis: the axes to reduce: one, several, or None for all.
        dtype: the dtype of the computation; a float for integers.
        out: must be None; arrays are immutable.
        ddof: the number to subtract from the count: 1 for a sample.
        correction: the Array API's name for `ddof`.
        keepdims: whether to keep the reduced axes with length 1.
        where: mask of the elements to include.
        mean: the mean, with the axes kept, if known.

    Returns:
        The deviations, of the shape of `a` without the reduced axes, in a real dtype
        unless `dtype` is complex. NaN if not more than `ddof` elements are included.

    Raises:
        ArgumentError: `ddof` and `correction` are given.
        DTypeError: `dtype` has integers, or is not complex for complex numbers.

    References:
        NumPy, `numpy.std`.

    Example:
        >>> import imprint.numpy as np
        >>> np.std(np.array([1.0, 3.0]))
        Array(1., dtype=float32)
    """
    refuse_out("std", out)
    if dtype is not None and not dtypes.is_inexact(dtypes.requested(dtype, "std")):
        raise DTypeError(
            f"std: expected a float or complex dtype, got {dtypes.as_dtype(dtype)}. "
            "Leave dtype out, and convert the result."
        )
    return sqrt(
        var(
            a,
            axis,
            dtype,
            ddof=ddof,
            correction=correction,
            keepdims=keepdims,
            where=where,
            mean=mean,
        )
    )


def _ddof(name: str, ddof: float, correction: float | None) -> float:
    if correction is None:
        return ddof
    if ddof != 0:
        raise ArgumentError(
            f"{name}: expected ddof or correction, got both. They mean the same."
        )
    return correction


def _variance_dtypes(
    name: str, own: DType, dtype: DTypeLike | None
) -> tuple[DType, DType]:
    """Return the dtypes of the computation and of the result."""
    if dtype is None:
        computed = dtypes.to_inexact(own)
        return upcast(computed), dtypes.real_part_dtype(computed)
    wanted = dtypes.requested(dtype, name)
    if dtypes.is_complex(own) and not dtypes.is_complex(wanted):
        raise DTypeError(
            f"{name}: expected a complex dtype for complex numbers, got {wanted}. "
            "Leave dtype out, and convert the result."
        )
    return upcast(wanted), wanted


def _squared_distances(x: Array, centre: Array) -> Array:
    distances = sub(*match_shapes("var", (x, centre)))
    if dtypes.is_complex(distances.dtype):
        return real(mul(distances, conj(distances)))
    return square(distances)


# ---- without NaN ----


@fuse_eager
def nanmean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    where: ArrayLike | None = None,
) -> Array:
    """Return the mean of the elements that are not NaN.

    Args:
        a: numbers.
        axis: the axes to reduce: one, several, or None for all.
        dtype: the dtype of the computation; a float for integers.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the reduced axes with length 1.
        where: mask of the elements to include.

    Returns:
        The means, of the shape of `a` without the reduced axes. NaN if all are NaN.

    References:
        NumPy, `numpy.nanmean`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nanmean(np.array([1.0, np.nan, 3.0]))
        Array(2., dtype=float32)
    """
    refuse_out("nanmean", out)
    x = as_array("nanmean", a)
    if not is_inexact(x):
        return mean(x, axis, dtype, keepdims=keepdims, where=where)
    wanted = x.dtype if dtype is None else dtypes.requested(dtype, "nanmean")
    count = sum(not_nan(x), axis, wanted, keepdims=keepdims, where=where)
    total = nansum(x, axis, wanted, keepdims=keepdims, where=where)
    return div(total, count)


@fuse_eager
def nanvar(  # noqa: PLR0913, PLR0917 - NumPy's signature
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
) -> Array:
    """Return the variance of the elements that are not NaN.

    Args:
        a: numbers; for complex ones, the mean of squared magnitudes.
        axis: the axes to reduce: one, several, or None for all.
        dtype: the dtype of the computation; a float for integers.
        out: must be None; arrays are immutable.
        ddof: the number to subtract from the count: 1 for a sample.
        keepdims: whether to keep the reduced axes with length 1.
        where: mask of the elements to include.
        mean: the mean, with the axes kept, if known.

    Returns:
        The variances, of the shape of `a` without the reduced axes, in a real dtype
        unless `dtype` is complex. NaN if not more than `ddof` elements are left.

    Raises:
        DTypeError: `dtype` is not complex for complex numbers.

    References:
        NumPy, `numpy.nanvar`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nanvar(np.array([1.0, np.nan, 3.0]))
        Array(1., dtype=float32)
    """
    refuse_out("nanvar", out)
    x = as_array("nanvar", a)
    computed, wanted = _variance_dtypes("nanvar", x.dtype, dtype)
    x = convert("nanvar", x, computed)
    if mean is None:
        mean = nanmean(x, axis, computed, keepdims=True, where=where)
    safe = choose(not_nan(x), x, scalar_like(x, 0))  # derivatives of NaN would be NaN
    distances = _squared_distances(safe, convert("nanvar", mean, computed))
    distances = choose(not_nan(x), distances, scalar_like(distances, 0))
    count = sum(not_nan(x), axis, keepdims=keepdims, where=where)
    total = sum(distances, axis, keepdims=keepdims, where=where)
    inexact = dtypes.to_inexact(total.dtype)
    less = as_array("nanvar", ddof) if isinstance(ddof, Tracer) else inexact.type(ddof)
    free = sub(convert("nanvar", count, inexact), convert("nanvar", less, inexact))
    none_left = le(free, scalar_like(free, 0))
    total = choose(none_left, np.nan, total)
    divisor = convert("nanvar", choose(none_left, 1, free), total.dtype)
    return convert("nanvar", div(*match_shapes("nanvar", (total, divisor))), wanted)


@fuse_eager
def nanstd(  # noqa: PLR0913, PLR0917 - NumPy's signature
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    where: ArrayLike | None = None,
    mean: ArrayLike | None = None,
) -> Array:
    """Return the standard deviation of the elements that are not NaN.

    Args:
        a: numbers; for complex ones, the root of the mean of squared magnitudes.
        axis: the axes to reduce: one, several, or None for all.
        dtype: the dtype of the computation; a float for integers.
        out: must be None; arrays are immutable.
        ddof: the number to subtract from the count: 1 for a sample.
        keepdims: whether to keep the reduced axes with length 1.
        where: mask of the elements to include.
        mean: the mean, with the axes kept, if known.

    Returns:
        The deviations, of the shape of `a` without the reduced axes, in a real dtype
        unless `dtype` is complex. NaN if not more than `ddof` elements are left.

    References:
        NumPy, `numpy.nanstd`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nanstd(np.array([1.0, np.nan, 3.0]))
        Array(1., dtype=float32)
    """
    refuse_out("nanstd", out)
    return sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean))
