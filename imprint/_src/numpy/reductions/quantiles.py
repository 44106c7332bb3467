"""Order statistics: medians, quantiles, percentiles, also without NaN, and minmax.

1. Move the reduced axes to the end and sort; NaN comes last.
2. A quantile is between two neighbours; `method` chooses the interpolation.
3. With weights, which only "inverted_cdf" accepts, it is where their cumulative sum
   reaches the part.

The result is NaN if a NaN takes part; functions that ignore NaN count the other
elements.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import NDArray, Shape, get_aval
from imprint._src.core.trace import Tracer
from imprint._src.eager.fusion import fuse_eager
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.numpy.elementwise.selection import clip, where
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    broadcast,
    convert,
    filled_like,
    fit_shapes,
    inexact,
    promote_dtypes,
    refuse_out,
    strong_like,
    with_rank,
)
from imprint._src.numpy.reductions.reductions import (
    Axis,
    any,
    axes_of,
    max,
    min,
    not_nan,
    sum,
)
from imprint._src.numpy.shapes.reshape import moveaxis
from imprint._src.primitives.cumulative import cumsum
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.bitwise import or_
from imprint._src.primitives.elementwise.comparison import lt, ne
from imprint._src.primitives.elementwise.rounding import (
    RoundingMethod,
    ceil,
    floor,
    round_,
)
from imprint._src.primitives.indexing import sorting
from imprint._src.primitives.indexing.slicing import slice_in_dim
from imprint._src.primitives.indexing.take_rows import each_at, rows_at
from imprint._src.primitives.shape import (
    as_operand,
    expand_dims,
    number_of,
    reshape,
    squeeze,
)

METHODS: Final = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf")

# ---- the functions ----


@fuse_eager
def median(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
) -> Array:
    """Return the median along axes: the middle element, or the mean of the middle two.

    Args:
        a: real numbers.
        axis: the axes to reduce: one, several, or None for all.
        out: must be None; arrays are immutable.
        overwrite_input: must be False, for the same reason.
        keepdims: whether to keep the reduced axes with length 1.

    Returns:
        The medians, of the shape of `a` without the reduced axes, in its floating
        dtype. NaN if an element is.

    Raises:
        ArgumentError: there is no element along the axes.
        DTypeError: `a` is complex.

    References:
        NumPy, `numpy.median`.

    Example:
        >>> import imprint.numpy as np
        >>> np.median(np.array([[1, 9, 2], [4, 3, 8]]), axis=1)
        Array([2., 4.], dtype=float32)
    """
    _refuse("median", out, overwrite_input)
    return _quantile("median", a, 0.5, QuantileOptions(axis, keepdims, "midpoint"))


@fuse_eager
def nanmedian(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
) -> Array:
    """Return the median of the elements that are not NaN along axes.

    Args:
        a: real numbers.
        axis: the axes to reduce: one, several, or None for all.
        out: must be None; arrays are immutable.
        overwrite_input: must be False, for the same reason.
        keepdims: whether to keep the reduced axes with length 1.

    Returns:
        The medians, of the shape of `a` without the reduced axes, in its floating
        dtype. NaN if all are NaN.

    References:
        NumPy, `numpy.nanmedian`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nanmedian(np.array([3.0, np.nan, 1.0]))
        Array(2., dtype=float32)
    """
    _refuse("nanmedian", out, overwrite_input)
    wanted = QuantileOptions(axis, keepdims, "midpoint", skips_nan=True)
    return _quantile("nanmedian", a, 0.5, wanted)


@fuse_eager
def quantile(  # noqa: PLR0913, PLR0917 - NumPy's signature
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    method: str = "linear",
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """Return quantiles of the elements along axes.

    Args:
        a: real numbers.
        q: the probabilities, between 0 and 1: a number, or an array with one axis,
            which comes first in the result.
        axis: the axes to reduce: one, several, or None for all.
        out: must be None; arrays are immutable.
        overwrite_input: must be False, for the same reason.
        method: the interpolation: "linear", "lower", "higher", "midpoint", "nearest" or
            "inverted_cdf".
        keepdims: whether to keep the reduced axes with length 1.
        weights: of the shape of `a`, or of its lengths along `axis`; for "inverted_cdf".

    Returns:
        The quantiles: the axis of `q`, then the shape of `a` without the reduced axes,
        in its floating dtype. NaN if an element is.

    Raises:
        ArgumentError: the method is unknown or takes no weights, or there is no
            element.
        DTypeError: an operand is complex.
        ShapeError: `q` has several axes, or the weights do not fit.

    References:
        NumPy, `numpy.quantile`.

    Example:
        >>> import imprint.numpy as np
        >>> np.quantile(np.arange(5), np.array([0.25, 0.6]))
        Array([1. , 2.4], dtype=float32)
    """
    _refuse("quantile", out, overwrite_input)
    return _quantile("quantile", a, q, QuantileOptions(axis, keepdims, method, weights))


@fuse_eager
def nanquantile(  # noqa: PLR0913, PLR0917 - NumPy's signature
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    method: str = "linear",
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """Return quantiles of the elements that are not NaN along axes.

    Args:
        a: real numbers.
        q: the probabilities, between 0 and 1: a number, or an array with one axis,
            which comes first in the result.
        axis: the axes to reduce: one, several, or None for all.
        out: must be None; arrays are immutable.
        overwrite_input: must be False, for the same reason.
        method: the interpolation, as for `quantile`.
        keepdims: whether to keep the reduced axes with length 1.
        weights: as for `quantile`.

    Returns:
        The quantiles, as from `quantile`. NaN if all elements are.

    References:
        NumPy, `numpy.nanquantile`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nanquantile(np.array([0.0, np.nan, 4.0]), 0.25)
        Array(1., dtype=float32)
    """
    _refuse("nanquantile", out, overwrite_input)
    wanted = QuantileOptions(axis, keepdims, method, weights, skips_nan=True)
    return _quantile("nanquantile", a, q, wanted)


@fuse_eager
def percentile(  # noqa: PLR0913, PLR0917 - NumPy's signature
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    method: str = "linear",
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    weights: ArrayLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return percentiles of the elements along axes.

    Args:
        a: real numbers.
        q: the percentages, between 0 and 100: a number, or an array with one axis,
            which comes first in the result.
        axis: the axes to reduce: one, several, or None for all.
        out: must be None; arrays are immutable.
        overwrite_input: must be False, for the same reason.
        method: the interpolation, as for `quantile`.
        keepdims: whether to keep the reduced axes with length 1.
        weights: as for `quantile`.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        The percentiles, as from `quantile`. NaN if an element is.

    References:
        NumPy, `numpy.percentile`.

    Example:
        >>> import imprint.numpy as np
        >>> np.percentile(np.arange(5), 25)
        Array(1., dtype=float32)
    """
    if out_sharding is not None:
        return spread(
            percentile(
                a, q, axis, out, overwrite_input, method, keepdims, weights=weights
            ),
            out_sharding,
        )
    _refuse("percentile", out, overwrite_input)
    wanted = QuantileOptions(axis, keepdims, method, weights)
    return _quantile("percentile", a, _hundredth("percentile", q), wanted)


@fuse_eager
def nanpercentile(  # noqa: PLR0913, PLR0917 - NumPy's signature
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    method: str = "linear",
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """Return percentiles of the elements that are not NaN along axes.

    Args:
        a: real numbers.
        q: the percentages, between 0 and 100: a number, or an array with one axis,
            which comes first in the result.
        axis: the axes to reduce: one, several, or None for all.
        out: must be None; arrays are immutable.
        overwrite_input: must be False, for the same reason.
        method: the interpolation, as for `quantile`.
        keepdims: whether to keep the reduced axes with length 1.
        weights: as for `quantile`.

    Returns:
        The percentiles, as from `quantile`. NaN if all elements are.

    References:
        NumPy, `numpy.nanpercentile`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nanpercentile(np.array([0.0, np.nan, 4.0]), 25)
        Array(1., dtype=float32)
    """
    _refuse("nanpercentile", out, overwrite_input)
    wanted = QuantileOptions(axis, keepdims, method, weights, skips_nan=True)
    return _quantile("nanpercentile", a, _hundredth("nanpercentile", q), wanted)


def _refuse(name: str, out: object, overwrite_input: object) -> None:
    refuse_out(name, out)
    if overwrite_input:
        raise ArgumentError(
            f"{name}: expected overwrite_input to be False, got {overwrite_input!r}. "
            f"Arrays are immutable: use what {name} returns."
        )


def _hundredth(name: str, q: ArrayLike) -> Array:
    percent = as_array(name, inexact(name, q))
    return div(percent, strong_like(percent, 100))


@fuse_eager
def minmax(
    a: ArrayLike,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    initial: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    where: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """Return the smallest and the largest element along axes; see `min` and `max`.

    Args:
        a: an array with at least one element along the axes, unless `initial`.
        axis: the axes to reduce: one, several, or None for all.
        out: must be None; arrays are immutable.
        keepdims: whether to keep the reduced axes with length 1.
        initial: a value to include, or one for each.
        where: mask of the elements to include; needs `initial`.

    Returns:
        The smallest and the largest elements, both of the shape of `a` without the
        reduced axes, in its dtype.

    References:
        JAX, `jax.numpy.minmax`.

    Example:
        >>> import imprint.numpy as np
        >>> np.minmax(np.array([3, 1, 2]))
        (Array(1, dtype=int32), Array(3, dtype=int32))
    """
    refuse_out("minmax", out)
    low, high = initial if isinstance(initial, tuple) else (initial, initial)
    return (
        min(a, axis, None, keepdims, low, where),
        max(a, axis, None, keepdims, high, where),
    )


# ---- implementation ----


class QuantileOptions(NamedTuple):
    """The arguments that all these functions share.

    Args:
        axis: the axes to reduce.
        keepdims: whether to keep them with length 1.
        method: the interpolation.
        weights: the weights of the elements, or None.
        skips_nan: whether to ignore NaN.
    """

    axis: Axis
    keepdims: bool
    method: str
    weights: ArrayLike | None = None
    skips_nan: bool = False


def _quantile(name: str, a: ArrayLike, q: ArrayLike, wanted: QuantileOptions) -> Array:
    x = as_array(name, a)
    parts = as_array(name, inexact(name, q))
    _check(name, x, parts, wanted.method)
    axes = axes_of(name, wanted.axis, x.ndim)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    w = None
    if wanted.weights is not None:
        w = _weights(name, x, as_array(name, wanted.weights), axes, wanted)
        x, w = promote_dtypes(name, (x, w), dtypes.to_inexact)
        w = _last(w, axes)
    x = _last(as_array(name, inexact(name, x)), axes)
    if dims.is_same(x.shape[-1], 0):
        return _of_nothing(name, x, kept, wanted)
    if wanted.method == "inverted_cdf":
        result = _inverted(x, w, parts, skips_nan=wanted.skips_nan)
    else:
        result = _between(x, parts, wanted)
    if wanted.keepdims:
        result = reshape(result, (*parts.shape, *kept))
    return convert(name, result, x.dtype)


def _check(name: str, x: Array, q: Array, method: str) -> None:
    if method not in METHODS:
        raise ArgumentError(
            f"{name}: expected a method of {', '.join(METHODS)}, got {method!r}. Leave it "
            "out for 'linear'."
        )
    if dtypes.is_complex(x.dtype) or dtypes.is_complex(q.dtype):
        raise DTypeError(
            f"{name}: expected real numbers, got {x.aval} and {q.aval}. Complex numbers "
            "have no middle: take a part first."
        )
    if q.ndim > 1:
        raise ShapeError(
            f"{name}: expected q with at most one axis, got {q.aval}. Flatten it, and "
            "reshape the result."
        )


def _last(x: Array, axes: Sequence[int]) -> Array:
    """Return an array with the axes joined into the last one."""
    rest = [i for i in range(x.ndim) if i not in axes]
    shape = [x.shape[i] for i in rest]
    joined = dims.product(x.shape[i] for i in axes)
    if tuple(axes) == tuple(range(len(rest), x.ndim)) and len(axes) == 1:
        return x
    return reshape(x, (*shape, joined), (*rest, *sorted(axes)))


def _weights(
    name: str, x: Array, w: Array, axes: Sequence[int], wanted: QuantileOptions
) -> Array:
    """Return weights with the shape of `x`."""
    if wanted.method != "inverted_cdf":
        raise ArgumentError(
            f"{name}: expected no weights with method {wanted.method!r}, got {w.aval}. "
            "Weights are for method='inverted_cdf'."
        )
    if dtypes.is_complex(w.dtype):
        raise DTypeError(
            f"{name}: expected real weights, got {w.aval}. Take a part first."
        )
    if dims.equal_shapes(w.shape, x.shape):
        return w
    along = tuple(x.shape[i] for i in axes)
    if wanted.axis is None or not dims.equal_shapes(w.shape, along):
        raise ShapeError(
            f"{name}: expected weights of the shape of the array or of its lengths along "
            f"axis={wanted.axis}, got {w.aval} for {x.aval}. Reshape the weights."
        )
    order = tuple(int(i) for i in np.argsort(axes))
    spread = [n if i in axes else 1 for i, n in enumerate(x.shape)]
    return broadcast(reshape(w, spread, order), x.shape)


def _of_nothing(name: str, x: Array, kept: Shape, wanted: QuantileOptions) -> Array:
    if not wanted.skips_nan:
        raise ArgumentError(
            f"{name}: expected at least one element along axis={wanted.axis}, got none. "
            "Check the length before."
        )
    return broadcast(strong_like(x, np.nan), kept if wanted.keepdims else x.shape[:-1])


# ---- interpolation ----


def _between(x: Array, q: Array, wanted: QuantileOptions) -> Array:
    """Return the quantile for each probability of sorted elements."""
    x = sorting.sort(x, -1, is_stable=False)
    if wanted.skips_nan:
        low, high, share = _neighbours(q, sum(not_nan(x), -1, q.dtype), wanted)
        below, above = _of_rows(x, low, q.ndim), _of_rows(x, high, q.ndim)
        return _joined(below, above, share, wanted.method)
    count = x.shape[-1]
    if isinstance(q, Tracer) or dims.is_symbolic(count):
        low, high, share = _neighbours(q, number_of(count, q.dtype), wanted)
    else:
        low, high, share = _known_neighbours(np.asarray(q), count, wanted)
    below = _of_all(x, low)
    above = below if low is high else _of_all(x, high)
    if share.ndim:
        share = reshape(share, (*share.shape, *(1,) * (x.ndim - 1)))
    result = _joined(below, above, share, wanted.method)
    if not isinstance(x, Tracer) and not np.isnan(np.asarray(x)[..., -1]).any():
        return result
    last = slice_in_dim(x, -1, None, axis=-1)
    return where(squeeze(ne(last, last), (-1,)), strong_like(result, np.nan), result)


def _neighbours(
    q: Array, count: Any, wanted: QuantileOptions
) -> tuple[Array, Array, Array]:
    """Return the indices of both neighbours, and the fraction between them."""
    rank = q.ndim + get_aval(count).ndim
    q, count = expand_dims(q, tuple(range(q.ndim, rank))), with_rank(count, rank)
    place = q * (count - 1)
    if wanted.method == "nearest":
        place = round_(place, RoundingMethod.TO_NEAREST_EVEN)
    low, high = floor(place), ceil(place)
    index = [
        convert("quantile", clip(at, 0, count - 1), dtypes.default_int())
        for at in (low, high)
    ]
    return index[0], index[1], place - low


def _known_neighbours(
    q: NDArray, count: int, wanted: QuantileOptions
) -> tuple[Any, Any, Any]:
    """Do the same for concrete probabilities, now: so a median is two slices."""
    place = q * q.dtype.type(count - 1)
    if wanted.method == "nearest":
        place = np.rint(place)
    low = np.floor(place)
    share = np.asarray(place - low)
    low, high = (
        np.clip(at, 0, count - 1).astype(dtypes.default_int())
        for at in (low, np.ceil(place))
    )
    return (low, low, share) if np.array_equal(low, high) else (low, high, share)


def _of_all(x: Array, index: Any) -> Array:
    """Return the elements of the last axis at indices, whose axis comes first."""
    if not isinstance(index, Array) and not index.ndim:
        at = int(index)
        return squeeze(slice_in_dim(x, at, at + 1, axis=-1), (-1,))
    found = rows_at(x, index, x.ndim - 1)
    return moveaxis(found, -1, 0) if index.ndim else found


def _of_rows(x: Array, index: Array, axes: int) -> Array:
    """Return the elements of the last axis at each row's own indices."""
    if not axes:
        return squeeze(each_at(x, expand_dims(index, (-1,)), x.ndim - 1), (-1,))
    return moveaxis(each_at(x, moveaxis(index, 0, -1), x.ndim - 1), -1, 0)


def _joined(below: Array, above: Array, share: Array, method: str) -> Array:
    if method == "linear":
        low, high = (convert("quantile", v, share.dtype) for v in (below, above))
        return low * (1 - share) + high * share
    if method == "midpoint":
        return (below + above) * 0.5
    return above if method == "higher" else below


# ---- weighted ----


def _inverted(x: Array, w: Array | None, q: Array, *, skips_nan: bool) -> Array:
    """Return the first element at which the cumulative weight is large enough."""
    if w is None:
        x, heights = sorting.sort(x, -1), filled_like(x, 1)
    else:
        x, heights = sorting.sort_key_val(x, w, -1)
    is_bad = or_(lt(heights, strong_like(x, 0)), ne(heights, heights))
    has_nan = ne(x, x)
    counted = where(or_(is_bad, has_nan), strong_like(x, 0), heights)
    sums = cumsum(counted, x.ndim - 1)
    total = slice_in_dim(sums, -1, None, axis=-1)
    rank = q.ndim + x.ndim
    q = expand_dims(q, tuple(range(q.ndim, rank)))
    index = sum(lt(*fit_shapes("quantile", (sums, q * with_rank(total, rank)))), -1)
    count = sum(not_nan(x), -1) if skips_nan else as_operand(x.shape[-1])
    index = clip(index, 0, with_rank(count - 1, rank - 1))
    result = _of_rows(x, index, q.ndim - x.ndim)
    is_nan = count == 0 if skips_nan else any(has_nan, -1)
    return where(any(is_bad, -1) | is_nan, strong_like(result, np.nan), result)
