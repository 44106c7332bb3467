"""Counts of elements: bincount, and histograms of one or several variables.

Bins are half open, except the last one, which has both edges. If the number of bins
depends on values, it must be concrete; in traced functions pass `length`.
"""

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.trace import Tracer
from imprint._src.eager.fusion import fuse_eager
from imprint._src.eager.spread import spread
from imprint._src.errors import (
    ArgumentError,
    ConcretizationError,
    DTypeError,
    ShapeError,
)
from imprint._src.numpy.creation import asarray, ones, ones_like, zeros
from imprint._src.numpy.elementwise.selection import clip, where
from imprint._src.numpy.indexing.index_tricks import ix_, ravel_multi_index
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    convert,
    is_operand,
    promote_dtypes,
)
from imprint._src.numpy.ranges import linspace
from imprint._src.numpy.reductions.differences import diff
from imprint._src.numpy.reductions.reductions import max, min
from imprint._src.numpy.shapes.concatenate import stack
from imprint._src.numpy.sorting.searchsorted import searchsorted
from imprint._src.primitives.axes import whole
from imprint._src.primitives.indexing.take_rows import added_at

Bounds = ArrayLike | Sequence[ArrayLike]
Bins = ArrayLike | Sequence[Any]


def bincount(
    x: ArrayLike,
    weights: ArrayLike | None = None,
    minlength: int = 0,
    *,
    length: int | None = None,
    out_sharding: Any = None,
) -> Array:
    """Count the occurrences of each integer from 0 on.

    Args:
        x: integers; negative ones count as 0.
        weights: the weight of each; 1 if None.
        minlength: the minimum number of counts.
        length: the number of counts, without larger integers; required in traced
            functions.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        A vector of counts, in the default integer dtype, or of sums, in the dtype of
        the weights.

    Raises:
        DTypeError: `x` has no integers.
        ShapeError: `x` has not one axis, or the weights another length.
        ConcretizationError: `x` is traced and `length` is None.

    References:
        NumPy, `numpy.bincount`.

    Example:
        >>> import imprint.numpy as np
        >>> np.bincount(np.array([1, 3, 1]))
        Array([0, 2, 0, 1], dtype=int32)
    """
    if out_sharding is not None:
        return spread(bincount(x, weights, minlength, length=length), out_sharding)
    numbers = given = as_array("bincount", x)
    if dtypes.is_bool(given.dtype):
        numbers = convert("bincount", numbers, dtypes.int32)
    if not dtypes.is_integer(numbers.dtype):
        raise DTypeError(
            f"bincount: expected integers, got {numbers.aval}. Convert them with "
            ".astype('int32')."
        )
    if numbers.ndim != 1:
        raise ShapeError(
            f"bincount: expected an array with one axis, got {numbers.aval}. Flatten it."
        )
    if weights is None:
        counted = ones(numbers.shape, dtypes.default_int())
    else:
        counted = as_array("bincount", weights)
        if not dims.equal_shapes(counted.shape, numbers.shape):
            raise ShapeError(
                f"bincount: expected a weight for each number, got {counted.aval} for "
                f"{numbers.aval}. Give as many."
            )
    start = zeros(_count(given, minlength, length), counted.dtype)
    return added_at(start, clip(numbers, 0), counted)


def _count(x: Array, minlength: int, length: int | None) -> int:
    if length is not None:
        return dims.as_dim(length, "bincount")
    least = whole("bincount", "minlength", minlength)
    if isinstance(x, Tracer):
        raise ConcretizationError(
            f"bincount: expected numbers that are known, got {x.aval} while tracing. How "
            "many counts there are depends on the largest: pass it as length=."
        )
    largest = int(np.max(np.asarray(x))) if x.size else -1
    return builtins.max(least, largest + 1)


# ---- histograms ----


def histogram_bin_edges(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: Bounds | None = None,
    weights: ArrayLike | None = None,
) -> Array:
    """Return the edges of the bins of a histogram.

    Args:
        a: the elements.
        bins: the number of bins of equal width, or their edges.
        range: the first and the last edge; by default the extremes of the elements.
        weights: ignored.

    Returns:
        A vector, longer by one than the number of bins, in the floating dtype of `a`.

    Raises:
        NotImplementedError: `bins` is a name of a rule.

    References:
        NumPy, `numpy.histogram_bin_edges`.

    Example:
        >>> import imprint.numpy as np
        >>> np.histogram_bin_edges(np.array([0, 4]), 4)
        Array([0., 1., 2., 3., 4.], dtype=float32)
    """
    del weights
    return _edges(
        "histogram_bin_edges", as_array("histogram_bin_edges", a), bins, range
    )


def _edges(name: str, x: Array, bins: Bins, bounds: Bounds | None) -> Array:
    if isinstance(bins, str):
        raise NotImplementedError(
            f"{name}: expected bins to be a number or edges, got {bins!r}. Rules that "
            "choose a number of bins by the values are NumPy's: call "
            "numpy.histogram_bin_edges outside of traced functions."
        )
    dtype = dtypes.to_inexact(x.dtype)
    if _ndim(bins) == 1:
        return asarray(bins, dtype)
    count = whole(name, "bins", bins)
    if bounds is None:
        bounds = (0, 1) if dims.has_zero(x.shape) else (min(x), max(x))
    ends = [convert(name, as_array(name, end), dtype) for end in _pair(name, bounds)]
    is_point = ends[0] == ends[1]
    first = where(is_point, ends[0] - 0.5, ends[0])
    last = where(is_point, ends[1] + 0.5, ends[1])
    return linspace(first, last, count + 1, dtype=dtype)


def _ndim(bins: Any) -> int:
    return bins.ndim if hasattr(bins, "ndim") else np.ndim(bins)


def _pair(name: str, bounds: Any) -> tuple[Any, Any]:
    if len(bounds) != 2:
        raise ArgumentError(
            f"{name}: expected a range of two numbers, got {len(bounds)} of them. Pass "
            "the first and the last edge."
        )
    return bounds[0], bounds[1]


@fuse_eager
def histogram(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[ArrayLike] | None = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,  # noqa: FBT001 - NumPy's signature
) -> tuple[Array, Array]:
    """Count the elements in each bin.

    Args:
        a: the elements.
        bins: the number of bins of equal width, or their edges.
        range: the first and the last edge; by default the extremes of the elements.
        weights: the weight of each element; 1 if None.
        density: whether to normalize the area to 1.

    Returns:
        The counts, as floats, and the edges, one more.

    Raises:
        ShapeError: the weights have another shape than `a`.
        NotImplementedError: `bins` is a name of a rule.

    References:
        NumPy, `numpy.histogram`.

    Example:
        >>> import imprint.numpy as np
        >>> np.histogram(np.array([1, 2, 2, 5]), bins=2)
        (Array([3., 1.], dtype=float32), Array([1., 3., 5.], dtype=float32))
    """
    x = as_array("histogram", a)
    if weights is None:
        (x,) = promote_dtypes("histogram", (x,), dtypes.to_inexact)
        counted = ones_like(x)
    else:
        counted = as_array("histogram", weights)
        if not dims.equal_shapes(counted.shape, x.shape):
            raise ShapeError(
                f"histogram: expected a weight for each element, got {counted.aval} for "
                f"{x.aval}. Broadcast them first."
            )
        x, counted = promote_dtypes("histogram", (x, counted), dtypes.to_inexact)
    edges = _edges("histogram", x, bins, range)
    count = edges.shape[0]
    index = searchsorted(edges, x, side="right")
    index = where(x == edges[-1], count - 1, index)
    counts = added_at(zeros(count, counted.dtype), index, counted)[1:]
    if density:
        counts = counts / diff(edges) / counts.sum()
    return counts, edges


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: Bins = 10,
    range: Sequence[Bounds | None] | None = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,  # noqa: FBT001 - NumPy's signature
) -> tuple[Array, Array, Array]:
    """Count the pairs in each bin of two variables; see `histogramdd`.

    Args:
        x: the first element of each pair.
        y: the second one.
        bins: the number of bins, or their edges; or a pair, for each variable.
        range: for each variable the first and the last edge.
        weights: the weight of each pair; 1 if None.
        density: whether to normalize the volume to 1.

    Returns:
        The counts, as floats if weighted or normalized, and the edges of both.

    References:
        NumPy, `numpy.histogram2d`.

    Example:
        >>> import imprint.numpy as np
        >>> np.histogram2d(np.array([0, 1, 1]), np.array([0, 2, 2]), bins=2)[0]
        Array([[1, 0],
               [0, 2]], dtype=int32)
    """
    first, second = promote_dtypes(
        "histogram2d", (as_array("histogram2d", x), as_array("histogram2d", y))
    )
    if hasattr(bins, "__len__") and len(bins) not in (1, 2):  # pyright: ignore[reportArgumentType] - just asked
        bins = [bins, bins]
    samples = stack([first, second], 1)
    counts, edges = _counted("histogram2d", samples, bins, range, weights, density)
    return counts, edges[0], edges[1]


def histogramdd(
    sample: ArrayLike,
    bins: Bins = 10,
    range: Sequence[Bounds | None] | None = None,
    weights: ArrayLike | None = None,
    density: bool | None = None,  # noqa: FBT001 - NumPy's signature
) -> tuple[Array, list[Array]]:
    """Count the points in each bin of several variables.

    Args:
        sample: a row for each point, a column for each variable.
        bins: the number of bins, or for each variable their number or edges.
        range: for each variable the first and the last edge, or None.
        weights: the weight of each point; 1 if None.
        density: whether to normalize the volume to 1.

    Returns:
        The counts, with an axis for each variable, and a list of the edges.

    Raises:
        ShapeError: `sample` has not two axes, or the weights another length.

    References:
        NumPy, `numpy.histogramdd`.

    Example:
        >>> import imprint.numpy as np
        >>> np.histogramdd(np.array([[0, 0], [1, 2], [1, 2]]), bins=2)[0]
        Array([[1, 0],
               [0, 2]], dtype=int32)
    """
    x = as_array("histogramdd", sample)
    return _counted("histogramdd", x, bins, range, weights, density)


def _counted(
    name: str,
    x: Array,
    bins: Bins,
    bounds: Sequence[Bounds | None] | None,
    weights: ArrayLike | None,
    density: bool | None,  # noqa: FBT001 - NumPy's signature
) -> tuple[Array, list[Array]]:
    x, w = _weighted(name, x, weights)
    count = x.shape[1]
    each = _for_each(name, "bins", bins, count)
    ends = [None] * count if bounds is None else _for_each(name, "range", bounds, count)
    columns = [x[:, i] for i in builtins.range(count)]
    edges = [_edges(name, *given) for given in zip(columns, each, ends, strict=True)]
    index: list[Array] = []
    for column, own in zip(columns, edges, strict=True):
        found = searchsorted(own, column, side="right")
        index.append(where(column == own[-1], found - 1, found))
    sizes = tuple(own.shape[0] + 1 for own in edges)
    flat = ravel_multi_index(tuple(index), sizes, mode="clip")
    counts = bincount(flat, w, length=dims.product(sizes)).reshape(sizes)
    counts = counts[(slice(1, -1),) * count]
    if density:
        counts = convert(name, counts, x.dtype)
        counts = counts / counts.sum()
        for width in ix_(*[diff(own) for own in edges]):
            counts = counts / width
    return counts, edges


def _weighted(
    name: str, x: Array, weights: ArrayLike | None
) -> tuple[Array, Array | None]:
    if x.ndim != 2:
        raise ShapeError(
            f"{name}: expected a row for each point, got {x.aval}. Stack the variables as "
            "columns."
        )
    if weights is None:
        (x,) = promote_dtypes(name, (x,), dtypes.to_inexact)
        return x, None
    w = as_array(name, weights)
    if not dims.equal_shapes(w.shape, x.shape[:1]):
        raise ShapeError(
            f"{name}: expected a weight for each point, got {w.aval} for {x.aval}. Give "
            "as many as there are rows."
        )
    x, w = promote_dtypes(name, (x, w), dtypes.to_inexact)
    return x, w


def _for_each(name: str, what: str, given: Any, count: int) -> list[Any]:
    """Return one value for each variable."""
    if what == "bins" and (is_operand(given) and not _ndim(given)):
        return [given] * count
    values = list(given)
    if len(values) != count:
        raise ArgumentError(
            f"{name}: expected {what} for each of {count} variables, got {len(values)}. "
            "Give one for each."
        )
    return values
