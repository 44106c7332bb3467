"""Approximate largest and smallest elements: `approx_max_k` and `approx_min_k`.

On the CPU the result is exact, as JAX's is: both sort. So `recall_target` only
determines the number of results if they are not aggregated to `k`.
"""

from typing import Any

from imprint._src import dtypes, runtime
from imprint._src.core import dims
from imprint._src.core.aval import get_aval
from imprint._src.errors import ArgumentError, DTypeError
from imprint._src.primitives.axes import canonical_axis, whole
from imprint._src.primitives.core_ops import neg
from imprint._src.primitives.indexing.sorting import top_k


def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
) -> tuple[Any, Any]:
    """Return the largest elements along an axis, and their indices.

    Args:
        operand: an array of floats.
        k: the number of elements.
        reduction_dimension: the axis.
        recall_target: the fraction of them to find; all are.
        reduction_input_size_override: the length of the axis for the recall, if this is
            a part of a longer one.
        aggregate_to_topk: whether to return `k` elements; else as many as JAX, at least
            `k`.

    Returns:
        The values, the largest first, and their int32 indices along the axis; both have
        the shape of `operand` with `k` elements along it.

    Raises:
        DTypeError: `operand` is not an array of floats.
        ArgumentError: `k` is not between 1 and the length of the axis.

    References:
        Chern et al., "TPU-KNN: K Nearest Neighbor Search at Peak FLOP/s", 2022; the
        search here is exact.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.approx_max_k(np.array([3.0, 9.0, 5.0]), 2)[1]
        Array([1, 2], dtype=int32)
    """
    at, count = _searched(
        "approx_max_k",
        operand,
        k,
        reduction_dimension,
        None if aggregate_to_topk else (recall_target, reduction_input_size_override),
    )
    return top_k(operand, count, axis=at)


def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
) -> tuple[Any, Any]:
    """Return the smallest elements along an axis, and their indices.

    Args:
        operand: an array of floats.
        k: the number of elements.
        reduction_dimension: the axis.
        recall_target: the fraction of them to find; all are.
        reduction_input_size_override: the length of the axis for the recall, if this is
            a part of a longer one.
        aggregate_to_topk: whether to return `k` elements; else as many as JAX, at least
            `k`.

    Returns:
        The values, the smallest first, and their int32 indices along the axis; both
        have the shape of `operand` with `k` elements along it.

    Raises:
        DTypeError: `operand` is not an array of floats.
        ArgumentError: `k` is not between 1 and the length of the axis.

    References:
        Chern et al., "TPU-KNN: K Nearest Neighbor Search at Peak FLOP/s", 2022; the
        search here is exact.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.approx_min_k(np.array([3.0, 9.0, 5.0]), 2)[1]
        Array([0, 2], dtype=int32)
    """
    at, count = _searched(
        "approx_min_k",
        operand,
        k,
        reduction_dimension,
        None if aggregate_to_topk else (recall_target, reduction_input_size_override),
    )
    values, index = top_k(neg(operand), count, axis=at)
    return neg(values), index


def _searched(
    name: str, operand: Any, k: int, axis: int, recall: tuple[float, int] | None
) -> tuple[int, int]:
    """Return the axis, and the number of results."""
    aval = get_aval(operand)
    if not dtypes.is_floating(aval.dtype):
        raise DTypeError(
            f"{name}: expected floats, got {aval}. Of integers write imprint.lax.top_k."
        )
    at = canonical_axis(name, axis, aval.ndim)
    count, length = whole(name, "k", k), aval.shape[at]
    if count < 1 or not dims.at_least(length, count):
        raise ArgumentError(
            f"{name}: expected k between 1 and {length}, the length of axis {at} of "
            f"{aval}, got {count}. There are no more elements."
        )
    if recall is None:
        return at, count
    length = dims.concrete(length, name)
    return at, runtime.approximate_count(length, aval.ndim, count, *recall)
