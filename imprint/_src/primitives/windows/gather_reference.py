"""Windows at indices that are data, with NumPy: the reference of `gather` and the scatters.

`gather_dims` defines the dimension numbers. An operand's axes are of two kinds: those that
indices select (`taken`), and those that each window has whole. The first are moved to the
front; then reads and writes are of an array of rows, and the elements of a window are found
by the numbers of its rows.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import DType, Shape
from imprint._src.primitives.axes import inverse
from imprint._src.primitives.windows.gather_dims import Numbers, sizes_of

NDArray = np.ndarray[Any, Any]
Ints = tuple[int, ...]
Put = Callable[[NDArray, NDArray, NDArray], None]


def read_windows(
    x: NDArray, indices: NDArray, sizes: Shape, numbers: Numbers
) -> tuple[NDArray, NDArray]:
    """Return windows, those outside moved inside, and which are inside; none is empty."""
    indices = _wide(indices)
    found = _places(x.shape, indices.ndim, indices.dtype, sizes, numbers)
    within = _inside(indices, found.limits)
    if found.taken_back is not None:
        near = indices if indices.dtype.kind == "i" else _clamped(indices, found.limits)
        out = x.take(near[..., 0], found.taken[0], mode="clip")
        return out.transpose(found.taken_back), within
    starts = _clamped(indices, found.limits)
    at = _positions(x.shape, starts, sizes, numbers, found.taken)
    out = x.transpose(found.order)[tuple(at)] if at else x[None]
    along = indices.shape[:-1]
    out = np.broadcast_to(out, (dims.product(along), *out.shape[1:]))
    return out.reshape((*along, *out.shape[1:])).transpose(found.back), within


def put_windows(
    x: NDArray,
    indices: NDArray,
    updates: NDArray,
    numbers: Numbers,
    put: Put | None,
    *,
    clips: bool,
) -> NDArray:
    """Join updates with the elements at their places.

    Args:
        x: the operand.
        indices: where the windows begin.
        updates: the windows.
        numbers: which axes belong together.
        put: joins on a flat array: given it, the numbers of the elements and the updates;
            None where an update replaces the element.
        clips: whether windows outside are moved inside, and not left out.
    """
    if not x.size or not updates.size:
        return np.array(x)
    indices = _wide(indices)
    sizes = sizes_of(x.shape, updates.shape, numbers)
    found = _places(x.shape, indices.ndim, indices.dtype, sizes, numbers)
    starts = _clamped(indices, found.limits)
    at = _positions(x.shape, starts, sizes, numbers, found.taken)
    out = np.array(x.transpose(found.order), order="C")
    given = updates.transpose(found.spread)
    first = indices.ndim - 1
    spans = given.shape[first : first + (at[0].ndim - 1 if at else 0)]
    row = np.zeros((dims.product(indices.shape[:-1]), *spans), np.intp)
    for axis, i in zip(found.taken, at, strict=True):
        row = row * x.shape[axis] + i
    inner = dims.product(x.shape[i] for i in found.order[len(at) :])
    row = row.reshape(row.shape[0], -1)
    given = given.reshape(*row.shape, inner)
    if not clips:
        within = _inside(indices, found.limits).reshape(-1)
        if not within.all():
            row, given = row[within], given[within]
    if put is None:
        out.reshape(-1, inner)[row.reshape(-1)] = given.reshape(-1, inner)
    else:
        if inner > 1:
            row = row[..., None] * inner + np.arange(inner)
        put(out.reshape(-1), row.reshape(-1), given.reshape(-1))
    return out.transpose(inverse(found.order))


class _Places(NamedTuple):
    """How windows lie in an operand, for NumPy.

    `taken` are the operand's axes that indices select or that windows lack; along the
    others each window has all. `order` moves these behind the taken ones, and `spread` maps
    each axis of an array of (places of windows, taken axes of windows, others) to an axis of
    the result or the updates; `back` undoes it. `taken_back` does so for the result of
    `ndarray.take`, where that is enough. `limits` are the last places of windows, in the
    dtype of the indices.
    """

    taken: Ints
    order: Ints
    spread: Ints
    back: Ints
    taken_back: Ints | None
    limits: NDArray


@lru_cache(maxsize=1024)
def _places(
    x: Shape, ndim: int, dtype: DType, sizes: Shape, numbers: Numbers
) -> _Places:
    """Return how windows of `sizes` lie in an operand.

    Args:
        x: its shape.
        ndim: the number of axes of the indices.
        dtype: that of the indices.
        sizes: those of a window.
        numbers: which axes belong together.
    """
    window, absent, index_map, batch, _ = numbers
    placed = {*absent, *index_map, *batch}
    taken = [i for i in range(len(x)) if i in placed or sizes[i] != x[i]]
    order = (*taken, *(i for i in range(len(x)) if i not in taken))
    of_windows = [i for i in range(len(x)) if i not in absent and i not in batch]
    out_axis = dict(zip(of_windows, window, strict=True))
    along = [i for i in range(ndim - 1 + len(window)) if i not in window]
    spread = (*along, *(out_axis[i] for i in order if i in out_axis))
    taken_back = None
    if tuple(taken) == absent == index_map and len(taken) == 1:
        others = [out_axis[i] for i in of_windows]
        at = taken[0]
        taken_back = inverse((*others[:at], *along, *others[at:]))
    most = int(np.iinfo(dtype).max)
    limits = np.array([max(0, min(x[i] - sizes[i], most)) for i in index_map], dtype)
    return _Places(tuple(taken), order, spread, inverse(spread), taken_back, limits)


def _wide(indices: NDArray) -> NDArray:
    """Return indices in a dtype of NumPy's own."""
    return indices if indices.dtype.kind in "iu" else indices.astype(np.int32)


def _inside(indices: NDArray, limits: NDArray) -> NDArray:
    """Return which index vectors place their window inside."""
    return np.asarray(((indices >= 0) & (indices <= limits)).all(-1))


def _clamped(indices: NDArray, limits: NDArray) -> NDArray:
    """Return index vectors of the nearest windows inside."""
    return np.minimum(np.maximum(indices, 0), limits).astype(np.intp)


def _positions(
    x: Shape, starts: NDArray, sizes: Shape, numbers: Numbers, taken: Ints
) -> list[NDArray]:
    """Return for each taken axis the index of each element of each window.

    They broadcast to (places of windows in a row, taken axes that windows have).
    """
    _, absent, index_map, batch, walked = numbers
    along = starts.shape[:-1]
    spans = [i for i in taken if i not in absent and i not in batch]
    found: list[NDArray] = []
    for axis in taken:
        if axis in index_map:
            at = starts[..., index_map.index(axis)]
        elif axis in batch:
            own = walked[batch.index(axis)]
            shape = [-1 if i == own else 1 for i in range(len(along))]
            at = np.broadcast_to(np.arange(x[axis]).reshape(shape), along)
        else:
            at = np.zeros(1, np.intp)
        at = at.reshape(-1, *[1] * len(spans))
        if axis in spans:
            span = [-1 if i == axis else 1 for i in spans]
            at = at + np.arange(sizes[axis]).reshape(1, *span)
        found.append(at)
    return found
