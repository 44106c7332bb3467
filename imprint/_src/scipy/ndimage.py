"""Interpolation of arrays of any rank under SciPy's names: map_coordinates.

A value between elements is a sum over the surrounding corners, weighted by proximity.
Outside the array, the mode gives another element or one value.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.array_interop import shown
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, did_you_mean
from imprint._src.lax.indexed import index_take
from imprint._src.numpy.creation import asarray
from imprint._src.numpy.elementwise.comparison import where
from imprint._src.numpy.elementwise.rounding import floor
from imprint._src.numpy.promotion import ArrayLike, as_array, broadcast_all
from imprint._src.numpy.shapes.reshape import ravel, reshape
from imprint._src.primitives.elementwise.rounding import round_
from imprint._src.primitives.elementwise.select import clamp

__all__ = ["map_coordinates"]

Corner = tuple[Any, Any, Any]
"""A corner: its index, a mask of those in bounds, or None, and its weight."""


def _mirrored(index: Any, size: int) -> Any:
    last = size - 1
    if not last:
        return index * 0
    return abs((index + last) % (2 * last) - last)


def _reflected(index: Any, size: int) -> Any:
    return (_mirrored(2 * index + 1, 2 * size + 1) - 1) // 2


_FIXED: Final[dict[str, Callable[[Any, int], Any]]] = {
    "constant": lambda index, size: index,
    "nearest": lambda index, size: index,
    "wrap": lambda index, size: index % size,
    "mirror": _mirrored,
    "reflect": _reflected,
}
_ORDERS: Final = (0, 1)


@fuse_eager
def map_coordinates(
    input: ArrayLike,  # noqa: A002 - SciPy's name
    coordinates: Sequence[ArrayLike],
    order: int,
    mode: str = "constant",
    cval: ArrayLike = 0.0,
) -> Array:
    """Interpolate an array at coordinates.

    Args:
        input: the array.
        coordinates: the coordinates along each axis: arrays of one shape, which is that
            of the result.
        order: 0 for the nearest element, 1 for linear interpolation.
        mode: for coordinates outside: "constant" for `cval`; "nearest" for the last
            element; "wrap" for periodic repetition; "mirror" and "reflect" for
            reflection, without and with repetition of the last element.
        cval: the value outside, for mode "constant".

    Returns:
        The values, in the dtype of `input`, rounded for integers, and of the broadcast
        shape of the coordinates.

    Raises:
        NotImplementedError: the order or the mode is another one.
        ArgumentError: there are not as many coordinates as axes.

    References:
        SciPy, `scipy.ndimage.map_coordinates`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> x = np.arange(12.0).reshape(3, 4)
        >>> places = [np.asarray([0.5, 1.5]), np.asarray([1.5, 2.5])]
        >>> imprint.scipy.ndimage.map_coordinates(x, places, order=1)
        Array([3.5, 8.5], dtype=float32)
    """
    x = as_array("map_coordinates", input)
    fixed = _checked(order, mode)
    places = [as_array("map_coordinates", c) for c in coordinates]
    if len(places) != x.ndim:
        raise ArgumentError(
            f"map_coordinates: expected coordinates for each of {x.ndim} axes of "
            f"{x.aval}, got {len(places)}. Give an array of places for each axis."
        )
    if not places:
        return x
    places = broadcast_all("map_coordinates", places)
    corners_of = _nearest if order == 0 else _linear
    axes = [
        [_corner(corner, size, mode, fixed) for corner in corners_of(place)]
        for place, size in zip(places, x.shape, strict=True)
    ]
    outside = asarray(cval, x.dtype)
    total: Any = None
    for corners in itertools.product(*axes):
        taken = _take(x, [index for index, _, _ in corners])
        known = [is_known for _, is_known, _ in corners if is_known is not None]
        if known:
            taken = where(_all_of(known), taken, outside)
        part = taken
        for _, _, weight in corners:
            part = weight * part
        total = part if total is None else total + part
    if dtypes.is_integer(x.dtype) and dtypes.is_floating(total.dtype):
        total = _rounded(total)
    return total.astype(x.dtype)


def _all_of(conditions: Sequence[Any]) -> Any:
    first, *others = conditions
    for other in others:
        first = first & other
    return first


def _checked(order: Any, mode: Any) -> Callable[[Any, int], Any]:
    if order not in _ORDERS:
        raise NotImplementedError(
            f"map_coordinates: expected order 0 or 1, got {shown(order)}. "
            "For other splines call SciPy's, by imprint.pure_callback."
        )
    if mode not in _FIXED:
        hint = did_you_mean(str(mode), _FIXED) or " Pad the array for another."
        raise NotImplementedError(
            f"map_coordinates: expected mode to be one of {list(_FIXED)}, got "
            f"{shown(mode)}.{hint}"
        )
    return _FIXED[mode]


def _nearest(place: Any) -> list[tuple[Any, Any]]:
    return [(_rounded(place).astype(np.int32), place.dtype.type(1))]


def _linear(place: Any) -> list[tuple[Any, Any]]:
    lower = floor(place)
    beyond = place - lower
    index = lower.astype(np.int32)
    return [(index, 1 - beyond), (index + 1, beyond)]


def _rounded(x: Any) -> Any:
    return x if dtypes.is_integer(x.dtype) else round_(x)


def _corner(
    corner: tuple[Any, Any], length: Any, mode: str, fixed: Callable[[Any, int], Any]
) -> Corner:
    index, weight = corner
    size = dims.concrete(length, "map_coordinates")
    known = (index >= 0) & (index < size) if mode == "constant" else None
    low, high = np.int32(0), np.int32(max(size - 1, 0))
    return clamp(low, fixed(index, size), high), known, weight


def _take(x: Any, indices: list[Any]) -> Any:
    shape = indices[0].shape
    flat = index_take(x, [ravel(i) for i in indices], tuple(range(x.ndim)))
    return reshape(flat, shape)
