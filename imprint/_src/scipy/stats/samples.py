"""Statistics of samples: mode, rankdata and sem.

Equal elements are runs of the sorted array. The start and the end of a run are a
cumulative maximum and minimum of indices, so no table of values is needed.
"""

from typing import Any, NamedTuple

import imprint.numpy as np
from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.dtypes import to_inexact
from imprint._src.errors import ArgumentError
from imprint._src.numpy.promotion import ArrayLike, as_array, promote_dtypes
from imprint._src.primitives.axes import canonical_axis
from imprint._src.primitives.cumulative import cummax, cummin
from imprint._src.primitives.elementwise.comparison import ne
from imprint._src.primitives.indexing.sorting import sort_key_val


class ModeResult(NamedTuple):
    """The result of `mode`: the most common values, and their counts."""

    mode: Array
    count: Array  # pyright: ignore[reportIncompatibleMethodOverride] - SciPy's name


def mode(
    a: ArrayLike,
    axis: int | None = 0,
    nan_policy: str = "propagate",
    keepdims: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
) -> ModeResult:
    """Return the most common element along an axis, the least of ties, and its count.

    Args:
        a: an array.
        axis: the axis; None for all elements.
        nan_policy: "propagate", where NaN is a value like others, or "omit".
        keepdims: whether to keep the axis with length 1.

    Returns:
        The values, in the dtype of `a`, and their counts, both of the shape of `a` without
        the axis. An empty axis has the mode NaN, in the default floating dtype, and the
        count 0.

    Raises:
        ArgumentError: the policy is unknown.

    References:
        SciPy, `scipy.stats.mode`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import stats
        >>> stats.mode(np.array([2, 4, 1, 1, 3, 4, 4]))
        ModeResult(mode=Array(4, dtype=int32), count=Array(3, dtype=int32))
    """
    x = np.atleast_1d(as_array("mode", a))
    _check_policy("mode", nan_policy)
    at = 0 if axis is None else canonical_axis("mode", axis, x.ndim)
    kept = [1 if axis is None or i == at else n for i, n in enumerate(x.shape)]
    x = x.ravel() if axis is None else np.moveaxis(x, at, -1)
    if x.shape[-1] == 0:
        none = np.zeros(x.shape[:-1], float)
        found, often = none + float("nan"), none
    else:
        x = np.sort(x, axis=-1)
        place, first, _ = _runs(x)
        length = place - first + 1
        if nan_policy == "omit":
            length = np.where(_is_nan(x), 0, length)
        often = length.max(axis=-1)
        end = length.argmax(axis=-1)
        found = np.take_along_axis(x, end[..., None], axis=-1)[..., 0]
        if nan_policy == "omit" and dtypes.is_inexact(x.dtype):
            found = np.where(often == 0, float("nan"), found)
    shape = kept if keepdims else x.shape[:-1]
    return ModeResult(found.reshape(shape), often.reshape(shape))


def rankdata(
    a: ArrayLike,
    method: str = "average",
    *,
    axis: int | None = None,
    nan_policy: str = "propagate",
) -> Array:
    """Return the rank of each element; 1 for the least.

    Args:
        a: an array.
        method: the rank of ties: "average", "min" or "max" of their ranks, "dense" for
            the rank among values, or "ordinal" for ranks in the order of the array.
        axis: the axis; None flattens first.
        nan_policy: "propagate", where one NaN makes all ranks NaN, or "omit", where
            NaNs have no rank.

    Returns:
        The ranks, in the default floating dtype, of the shape of `a`; flat if `axis` is
        None.

    Raises:
        ArgumentError: the method or policy is unknown.

    References:
        SciPy, `scipy.stats.rankdata`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import stats
        >>> stats.rankdata(np.array([1, 3, 2, 3]))
        Array([1. , 3.5, 2. , 3.5], dtype=float32)
    """
    x = as_array("rankdata", a)
    _check_policy("rankdata", nan_policy)
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise ArgumentError(
            "rankdata: expected a method of average, min, max, dense or ordinal, got "
            f"{method!r}."
        )
    at = -1 if axis is None else canonical_axis("rankdata", axis, x.ndim)
    x = x.ravel() if axis is None else np.moveaxis(x, at, -1)
    place = np.broadcast_to(np.arange(x.shape[-1]), x.shape)
    ordered, came_from = sort_key_val(x, place)
    ranks = _ranks(ordered, method).astype(dtypes.default_float())
    out = np.put_along_axis(ranks, came_from, ranks, axis=-1, inplace=False)
    is_nan = _is_nan(x)
    if nan_policy == "propagate":
        is_nan = is_nan.any(axis=-1, keepdims=True)
    return np.moveaxis(np.where(is_nan, float("nan"), out), -1, at)


def sem(
    a: ArrayLike,
    axis: int | None = 0,
    ddof: int = 1,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """Return the standard error of the mean along an axis.

    Args:
        a: an array.
        axis: the axis; None for all elements.
        ddof: the number to subtract from the count in the standard deviation.
        nan_policy: "propagate" NaN, or "omit" it.
        keepdims: whether to keep the axis with length 1.

    Returns:
        The standard error, a float array of the shape of `a` without the axis.

    Raises:
        ArgumentError: the policy is unknown.

    References:
        SciPy, `scipy.stats.sem`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import stats
        >>> stats.sem(np.array([2.0, 4, 1, 1, 3])).round(3)
        Array(0.583, dtype=float32)
    """
    (promoted,) = promote_dtypes("sem", (a,), to_inexact)
    x = as_array("sem", promoted)
    _check_policy("sem", nan_policy)
    if nan_policy == "omit":
        count = (~np.isnan(x)).sum(axis=axis, keepdims=keepdims)
        spread = np.nanstd(x, axis=axis, ddof=ddof, keepdims=keepdims)
    else:
        count = x.size if axis is None else x.shape[canonical_axis("sem", axis, x.ndim)]
        spread = np.std(x, axis=axis, ddof=ddof, keepdims=keepdims)
    return spread / np.sqrt(count).astype(x.dtype)


# ---- implementation ----


def _check_policy(name: str, policy: str) -> None:
    if policy not in ("propagate", "omit"):
        raise ArgumentError(
            f"{name}: expected a nan_policy of propagate or omit, got {policy!r}. To raise "
            "where there is a NaN, call imprint.debug.check."
        )


def _is_nan(x: Array) -> Array:
    return np.asarray(ne(x, x))


def _runs(ordered: Array) -> tuple[Array, Array, Array]:
    """Return the index of each element of a sorted array, and the ends of its run.

    NaNs are equal.
    """
    count = ordered.shape[-1]
    place = np.broadcast_to(np.arange(count), ordered.shape)
    here, before = ordered[..., 1:], ordered[..., :-1]
    changes = (here != before) & ~(_is_nan(here) & _is_nan(before))
    edge = np.ones((*ordered.shape[:-1], 1), bool)
    starts = np.concatenate([edge, changes], axis=-1)[..., :count]
    ends = np.concatenate([changes, edge], axis=-1)[..., :count]
    axis = ordered.ndim - 1
    first = cummax(np.where(starts, place, 0), axis)
    last = cummin(np.where(ends, place, count), axis, reverse=True)
    return place, first, last


def _ranks(ordered: Array, method: str) -> Any:
    """Return the ranks of the elements of a sorted array."""
    place, first, last = _runs(ordered)
    if method == "average":
        return (first + last) / 2 + 1
    if method == "dense":
        return np.cumsum(first == place, axis=-1)
    return {"ordinal": place, "min": first, "max": last}[method] + 1
