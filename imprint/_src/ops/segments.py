"""Reductions over segments: rows of an array with the same number become one row.

A reduction is a scatter into rows of the identity: 0 for sums, 1 for products, the
greatest and the least value for extremes. Empty segments keep the identity. With
`bucket_size`, blocks of that many rows are reduced first, then their results, so long
sums of floats are more accurate.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.trace import Tracer
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.eager.spread import spread
from imprint._src.errors import (
    ArgumentError,
    ConcretizationError,
    DTypeError,
    ShapeError,
)
from imprint._src.numpy.creation import asarray
from imprint._src.numpy.indexing.updating import Mode, Places
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.numpy.reductions import reductions
from imprint._src.primitives.axes import whole
from imprint._src.primitives.core_ops import full
from imprint._src.primitives.elementwise.convert import convert_element_type


class _Segments(NamedTuple):
    """The numbering of rows, and promises about it."""

    ids: Any
    total: int | None
    promises: dict[str, bool]
    bucket_size: int | None
    mode: Mode


class _Reduction(NamedTuple):
    name: str
    put: str
    """The method of `x.at[i]`."""
    over: Callable[..., Array]


_SUM: Final = _Reduction("segment_sum", "add", reductions.sum)
_PROD: Final = _Reduction("segment_prod", "multiply", reductions.prod)
_MIN: Final = _Reduction("segment_min", "min", reductions.min)
_MAX: Final = _Reduction("segment_max", "max", reductions.max)


@filter_traceback
def segment_sum(  # noqa: PLR0913, PLR0917 - JAX's signature
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    unique_indices: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    bucket_size: int | None = None,
    mode: Mode = None,
    out_sharding: Any = None,
) -> Array:
    """Sum the rows of each segment.

    Args:
        data: an array of at least one axis.
        segment_ids: integers, the segment of each row, in any order.
        num_segments: the number of rows of the result; required under a trace; by
            default the largest segment number plus 1.
        indices_are_sorted: the promise that the numbers do not decrease.
        unique_indices: the promise that no number is repeated.
        bucket_size: the number of rows to reduce at a time; None for all.
        mode: for numbers out of range: "drop", the default, ignores their rows; "clip"
            uses the nearest segment.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The sums: row i for segment i; 0 for an empty segment.

    Raises:
        ConcretizationError: the number of segments is not known while tracing.
        ArgumentError: the number of segments or `bucket_size` is invalid.
        ShapeError: the segment numbers do not match the rows.
        DTypeError: the numbers are not integers.

    References:
        JAX, `jax.ops.segment_sum`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import ops
        >>> ops.segment_sum(np.array([5, 2, 3, 4]), np.array([0, 0, 2, 2]), 3)
        Array([7, 0, 7], dtype=int32)
    """
    if out_sharding is not None:
        return spread(
            segment_sum(
                data,
                segment_ids,
                num_segments,
                indices_are_sorted,
                unique_indices,
                bucket_size,
                mode,
            ),
            out_sharding,
        )
    promises = _promises(indices_are_sorted, unique_indices)
    segments = _Segments(segment_ids, num_segments, promises, bucket_size, mode)
    return _reduced(_SUM, data, segments)


@filter_traceback
def segment_prod(  # noqa: PLR0913, PLR0917 - JAX's signature
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    unique_indices: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    bucket_size: int | None = None,
    mode: Mode = None,
    out_sharding: Any = None,
) -> Array:
    """Multiply the rows of each segment.

    Args:
        data: an array of at least one axis.
        segment_ids: integers, the segment of each row, in any order.
        num_segments: the number of rows of the result; required under a trace; by
            default the largest segment number plus 1.
        indices_are_sorted: the promise that the numbers do not decrease.
        unique_indices: the promise that no number is repeated.
        bucket_size: the number of rows to reduce at a time; None for all.
        mode: for numbers out of range: "drop", the default, ignores their rows; "clip"
            uses the nearest segment.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        The products: row i for segment i; 1 for an empty segment.

    Raises:
        ConcretizationError: the number of segments is not known while tracing.
        ArgumentError: the number of segments or `bucket_size` is invalid.
        ShapeError: the segment numbers do not match the rows.
        DTypeError: the numbers are not integers.

    References:
        JAX, `jax.ops.segment_prod`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import ops
        >>> ops.segment_prod(np.array([5, 2, 3, 4]), np.array([0, 0, 2, 2]), 3)
        Array([10,  1, 12], dtype=int32)
    """
    if out_sharding is not None:
        return spread(
            segment_prod(
                data,
                segment_ids,
                num_segments,
                indices_are_sorted,
                unique_indices,
                bucket_size,
                mode,
            ),
            out_sharding,
        )
    promises = _promises(indices_are_sorted, unique_indices)
    segments = _Segments(segment_ids, num_segments, promises, bucket_size, mode)
    return _reduced(_PROD, data, segments)


@filter_traceback
def segment_min(  # noqa: PLR0913, PLR0917 - JAX's signature
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    unique_indices: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    bucket_size: int | None = None,
    mode: Mode = None,
    out_sharding: Any = None,
) -> Array:
    """Return the minimum of the rows of each segment.

    Args:
        data: an array of at least one axis.
        segment_ids: integers, the segment of each row, in any order.
        num_segments: the number of rows of the result; required under a trace; by
            default the largest segment number plus 1.
        indices_are_sorted: the promise that the numbers do not decrease.
        unique_indices: the promise that no number is repeated.
        bucket_size: the number of rows to reduce at a time; None for all.
        mode: for numbers out of range: "drop", the default, ignores their rows; "clip"
            uses the nearest segment.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        The minima: row i for segment i; infinity, or the greatest integer, for an empty
        segment.

    Raises:
        ConcretizationError: the number of segments is not known while tracing.
        ArgumentError: the number of segments or `bucket_size` is invalid.
        ShapeError: the segment numbers do not match the rows.
        DTypeError: the numbers are not integers.

    References:
        JAX, `jax.ops.segment_min`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import ops
        >>> ops.segment_min(np.array([5, 2, 3, 4]), np.array([0, 0, 1, 1]), 2)
        Array([2, 3], dtype=int32)
    """
    if out_sharding is not None:
        return spread(
            segment_min(
                data,
                segment_ids,
                num_segments,
                indices_are_sorted,
                unique_indices,
                bucket_size,
                mode,
            ),
            out_sharding,
        )
    promises = _promises(indices_are_sorted, unique_indices)
    segments = _Segments(segment_ids, num_segments, promises, bucket_size, mode)
    return _reduced(_MIN, data, segments)


@filter_traceback
def segment_max(  # noqa: PLR0913, PLR0917 - JAX's signature
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    unique_indices: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    bucket_size: int | None = None,
    mode: Mode = None,
    out_sharding: Any = None,
) -> Array:
    """Return the maximum of the rows of each segment.

    Args:
        data: an array of at least one axis.
        segment_ids: integers, the segment of each row, in any order.
        num_segments: the number of rows of the result; required under a trace; by
            default the largest segment number plus 1.
        indices_are_sorted: the promise that the numbers do not decrease.
        unique_indices: the promise that no number is repeated.
        bucket_size: the number of rows to reduce at a time; None for all.
        mode: for numbers out of range: "drop", the default, ignores their rows; "clip"
            uses the nearest segment.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        The maxima: row i for segment i; minus infinity, or the least integer, for an
        empty segment.

    Raises:
        ConcretizationError: the number of segments is not known while tracing.
        ArgumentError: the number of segments or `bucket_size` is invalid.
        ShapeError: the segment numbers do not match the rows.
        DTypeError: the numbers are not integers.

    References:
        JAX, `jax.ops.segment_max`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import ops
        >>> ops.segment_max(np.array([5, 2, 3, 4]), np.array([0, 0, 1, 1]), 2)
        Array([5, 4], dtype=int32)
    """
    if out_sharding is not None:
        return spread(
            segment_max(
                data,
                segment_ids,
                num_segments,
                indices_are_sorted,
                unique_indices,
                bucket_size,
                mode,
            ),
            out_sharding,
        )
    promises = _promises(indices_are_sorted, unique_indices)
    segments = _Segments(segment_ids, num_segments, promises, bucket_size, mode)
    return _reduced(_MAX, data, segments)


def _promises(is_sorted: Any, is_unique: Any) -> dict[str, bool]:
    return {"indices_are_sorted": bool(is_sorted), "unique_indices": bool(is_unique)}


def _reduced(by: _Reduction, data: ArrayLike, segments: _Segments) -> Array:
    x = asarray(data)
    ids = _checked(by.name, x, asarray(segments.ids))
    count = _count(by.name, ids, segments.total)
    shape = (count, *x.shape[ids.ndim :])
    neutral = _neutral(by.put, x.dtype)
    options: dict[str, Any] = {
        **segments.promises,
        "mode": "drop" if segments.mode is None else segments.mode,
        "wrap_negative_indices": False,
    }
    size = segments.bucket_size
    if size is None:
        out = full(shape, neutral, x.dtype)
        return getattr(Places(out, ids), by.put)(x, **options)
    size = whole(by.name, "bucket_size", size)
    if size < 1:
        raise ArgumentError(
            f"{by.name}: expected a bucket_size of at least 1, got {size}. It is how many "
            "rows are reduced at a time."
        )
    rows = dims.concrete(ids.shape[0], f"bucket_size of {by.name}")
    buckets = max(1, -(-rows // size))
    out = full((buckets, *shape), neutral, x.dtype)
    index = np.arange(rows, dtype=np.int32) // size, ids
    out = getattr(Places(out, index), by.put)(x, **options)
    return convert_element_type(by.over(out, axis=0), x.dtype)


def _checked(name: str, x: Array, ids: Array) -> Array:
    if not dt.is_integer(ids.dtype):
        raise DTypeError(
            f"{name}: expected segment_ids of an integer dtype, got {ids.aval}. Convert "
            "them with .astype('int32')."
        )
    if ids.ndim != 1 or not x.ndim or not dims.is_same(ids.shape[0], x.shape[0]):
        raise ShapeError(
            f"{name}: expected segment_ids with a number for each row of {x.aval}, got "
            f"{ids.aval}. Reshape both so that data has one axis of rows."
        )
    return ids


def _count(name: str, ids: Array, given: Any) -> Any:
    """Return the number of segments."""
    if dims.is_symbolic(given):
        return given
    if given is not None:
        count = whole(name, "num_segments", given)
    elif isinstance(ids, Tracer):
        raise ConcretizationError(
            f"{name}: expected num_segments, as the greatest number in {ids.aval} is not "
            "known while tracing. Write num_segments=n."
        )
    else:
        numbers = np.asarray(ids)
        count = int(numbers.max()) + 1 if numbers.size else 0
    if count < 0:
        raise ArgumentError(
            f"{name}: expected num_segments of at least 0, got {count}. It is how many "
            "rows the result has."
        )
    return count


def _neutral(put: str, dtype: Any) -> Any:
    """Return the identity of the reduction."""
    if put in ("add", "multiply"):
        return int(put == "multiply")
    if dt.is_bool(dtype):
        return put == "min"
    if dt.is_integer(dtype):
        limits = cast("Any", dt).iinfo(dtype)
        return limits.max if put == "min" else limits.min
    return float("inf") if put == "min" else -float("inf")
