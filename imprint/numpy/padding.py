"""Make an array larger at its ends: `pad` and its modes.

Constant padding is one primitive. The other modes work one axis at a time, each on the
result of the one before, so corners come out as in NumPy.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from imprint.core import dims
from imprint.core.array import Array
from imprint.core.aval import get_aval
from imprint.core.dims import Dim
from imprint.errors import ArgumentError, ShapeError, did_you_mean
from imprint.numpy.joining import flip
from imprint.numpy.promotion import (
    ArrayLike,
    NDArray,
    as_array,
    broadcast,
    convert,
    is_operand,
)
from imprint.primitives.basis import broadcast_in_dim
from imprint.primitives.shape import squeeze
from imprint.primitives.slicing import concatenate, slice_in_dim
from imprint.primitives.slicing import pad as pad_

Widths: TypeAlias = tuple[tuple[Dim, Dim], ...]


def pad(
    array: ArrayLike,
    pad_width: Dim | Sequence[Any] | NDArray,
    mode: str = "constant",
    *,
    constant_values: ArrayLike | Sequence[Any] = 0,
) -> Array:
    """Add elements before and after each axis.

    Args:
        array: an array.
        pad_width: how many: one number, (before, after), or a pair for each axis.
        mode: "constant", "edge" (the outermost element), "wrap" (the other end),
            "reflect" (a mirror on the outermost element), "symmetric" (a mirror behind
            it) or "empty".
        constant_values: what to add in mode "constant"; given as `pad_width` is.

    Example:
        >>> import imprint.numpy as np
        >>> np.pad(np.array([1, 2, 3]), 1, mode="reflect")
        Array([2, 1, 2, 3, 2], dtype=int32)
    """
    x = as_array("pad", array)
    widths = _pairs(pad_width, x.ndim)
    if not all(dims.at_least(n, 0) for pair in widths for n in pair):
        raise ShapeError(
            f"pad: expected widths of at least 0, got {widths}. Cut with a slice."
        )
    if mode in ("constant", "empty"):
        return _pad_constant(x, widths, constant_values)
    extend = _MODES.get(mode)
    if extend is None:
        raise ArgumentError(
            f"pad: expected one of the modes {', '.join(sorted(_MODES))}, constant and "
            f"empty, got {mode!r}.{did_you_mean(mode, _MODES)}"
        )
    for axis, (before, after) in enumerate(widths):
        if dims.is_same(before + after, 0):
            continue
        if dims.is_same(x.shape[axis], 0):
            raise ShapeError(
                f"pad: expected elements to extend along axis {axis}, got {x.aval}. "
                "Use mode='constant'."
            )
        x = extend(x, axis, before, after)
    return x


def _pairs(pad_width: Any, rank: int) -> Widths:
    """Return widths as a pair for each axis."""
    given = np.asarray(pad_width)
    is_symbolic = given.dtype.kind == "O" and any(map(dims.is_symbolic, given.flat))
    if given.dtype.kind not in "iu" and not is_symbolic:
        raise ArgumentError(
            f"pad: expected whole numbers for pad_width, got {pad_width!r}. "
            "Widths must be known while tracing."
        )
    try:
        pairs = np.broadcast_to(given, (rank, 2))
    except ValueError as err:
        raise ShapeError(
            f"pad: expected a number, a pair, or {rank} pairs for pad_width, got "
            f"{pad_width!r}. Give (before, after) for each axis."
        ) from err
    return tuple((dims.as_dim(before), dims.as_dim(after)) for before, after in pairs)


def _pad_constant(x: Array, widths: Widths, values: Any) -> Array:
    given = values if is_operand(values) else np.asarray(values)
    fill = convert("pad", given, x.dtype, weak_type=x.weak_type)
    if get_aval(fill).ndim == 0:
        return pad_(x, fill, [(before, after, 0) for before, after in widths])
    fill = broadcast(fill, (x.ndim, 2))
    for axis, (before, after) in enumerate(widths):
        for side, config in ((0, (before, 0, 0)), (1, (0, after, 0))):
            row = slice_in_dim(fill, axis, axis + 1, axis=0)
            value = squeeze(slice_in_dim(row, side, side + 1, axis=1), (0, 1))
            x = pad_(
                x, value, [config if i == axis else (0, 0, 0) for i in range(x.ndim)]
            )
    return x


def _pad_edge(x: Array, axis: int, before: Dim, after: Dim) -> Array:
    length = x.shape[axis]
    first = slice_in_dim(x, 0, 1, axis=axis)
    last = slice_in_dim(x, length - 1, length, axis=axis)
    parts = [_stretched(first, axis, before), x, _stretched(last, axis, after)]
    kept = [part for part in parts if not dims.is_same(part.shape[axis], 0)]
    return concatenate(kept, axis)


def _stretched(x: Array, axis: int, times: Dim) -> Array:
    shape = (*x.shape[:axis], times, *x.shape[axis + 1 :])
    return broadcast_in_dim(x, shape, tuple(range(x.ndim)))


def _pad_wrap(x: Array, axis: int, before: Dim, after: Dim) -> Array:
    length, before, after = (
        dims.concrete(n, "pad with mode='wrap'") for n in (x.shape[axis], before, after)
    )
    whole_before, rest_before = divmod(before, length)
    whole_after, rest_after = divmod(after, length)
    parts = [x] * (whole_before + 1 + whole_after)
    if rest_before:
        parts.insert(0, slice_in_dim(x, length - rest_before, length, axis=axis))
    if rest_after:
        parts.append(slice_in_dim(x, 0, rest_after, axis=axis))
    return concatenate(parts, axis)


def _pad_reflect(x: Array, axis: int, before: Dim, after: Dim) -> Array:
    skip = 1 if dims.at_least(x.shape[axis], 2) else 0
    return _mirror(x, axis, (before, after), skip=skip)


def _pad_symmetric(x: Array, axis: int, before: Dim, after: Dim) -> Array:
    return _mirror(x, axis, (before, after), skip=0)


def _mirror(x: Array, axis: int, wanted: tuple[Dim, Dim], *, skip: int) -> Array:
    """Mirror at both ends as often as it takes; `skip` elements are not repeated."""
    room = x.shape[axis] - skip
    before, after = wanted
    if not dims.is_surely_at_least(room, dims.maximum(before, after)):
        room, before, after = (
            dims.concrete(n, "pad by more than the length") for n in (room, *wanted)
        )
    while not dims.is_same(before, 0):
        n = dims.minimum(before, room)
        mirrored = flip(slice_in_dim(x, skip, skip + n, axis=axis), axis)
        x, before = concatenate([mirrored, x], axis), before - n
    while not dims.is_same(after, 0):
        n, end = dims.minimum(after, room), x.shape[axis] - skip
        mirrored = flip(slice_in_dim(x, end - n, end, axis=axis), axis)
        x, after = concatenate([x, mirrored], axis), after - n
    return x


_MODES: Final[dict[str, Callable[[Array, int, Dim, Dim], Array]]] = {
    "edge": _pad_edge,
    "reflect": _pad_reflect,
    "symmetric": _pad_symmetric,
    "wrap": _pad_wrap,
}
