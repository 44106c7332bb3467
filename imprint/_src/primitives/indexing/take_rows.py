"""Reads and writes of composite functions at indices that they computed themselves.

The indices are in bounds and count from the front, so they are neither checked nor
normalized, which is half the cost of `x[index]`. The index of a dropped write is the length
of the axis.
"""

from typing import Any

from imprint._src.core.aval import get_aval
from imprint._src.primitives.indexing.gather import gather
from imprint._src.primitives.indexing.scatter import scatter, scatter_add
from imprint._src.primitives.shape import expand_dims
from imprint._src.primitives.windows.gather_dims import (
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
)


def rows_at(x: Any, index: Any, axis: int = 0) -> Any:
    """Return `x[:, index]`, with as many `:` before the index as `axis` says."""
    shape, own = get_aval(x).shape, get_aval(index).ndim
    offsets = (*range(axis), *range(axis + own, len(shape) - 1 + own))
    numbers = GatherDimensionNumbers(offsets, (axis,), (axis,))
    sizes = tuple(1 if i == axis else n for i, n in enumerate(shape))
    return gather(x, expand_dims(index, (own,)), numbers, sizes)


def each_at(x: Any, index: Any, axis: int) -> Any:
    """Return the elements along an axis at indices of their own, in the other axes."""
    ndim = get_aval(x).ndim
    others = tuple(i for i in range(ndim) if i != axis)
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    return gather(x, expand_dims(index, (ndim,)), numbers, (1,) * ndim)


def set_at(x: Any, index: Any, values: Any) -> Any:
    """Return a vector with `values` at distinct indices."""
    numbers, places = _elements(index)
    return scatter(x, places, values, numbers, unique_indices=True, mode="drop")


def added_at(x: Any, index: Any, values: Any) -> Any:
    """Return a vector to whose elements `values` were added at indices."""
    numbers, places = _elements(index)
    return scatter_add(x, places, values, numbers, mode="drop")


def _elements(index: Any) -> tuple[ScatterDimensionNumbers, Any]:
    """Return how a vector is written to, and the indices as index vectors."""
    ndim = get_aval(index).ndim
    return ScatterDimensionNumbers((), (0,), (0,)), expand_dims(index, (ndim,))
