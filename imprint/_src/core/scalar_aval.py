"""The avals of host values on the way into a call; hot.

An aval is found by (dtype, shape), without a check of anything else: what is in the
table was checked when it was put there. None means that the value needs the slow,
careful way: foreign byte order, a number too large, something that is not an array.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes
from imprint._src.config import settings
from imprint._src.core.aval import ShapedArray

_LIMIT: Final = 4096
_KnownAvals = dict[tuple[Any, ...], ShapedArray]
_arrays: Final[tuple[_KnownAvals, _KnownAvals]] = ({}, {})  # without and with x64


def host_aval(x: np.ndarray[Any, Any]) -> ShapedArray | None:
    """Return the aval of a NumPy array as an argument, or None."""
    wide = settings().enable_x64
    known = _arrays[wide].get((x.dtype, x.shape))
    return _array_aval(x, wide) if known is None else known


def scalar_aval(x: Any, kind: type[Any]) -> ShapedArray | None:
    """Return the aval of a Python number or a NumPy scalar as an argument, or None."""
    if kind is float or kind is bool or kind is complex:
        return ShapedArray((), dtypes.scalar_type_dtype(kind), kind is not bool)
    if kind is int:
        aval = ShapedArray((), dtypes.scalar_type_dtype(int), True)  # noqa: FBT003 - by position, it is hot
        bits = 8 * aval.dtype.itemsize - 1
        return aval if -(1 << bits) <= x < 1 << bits else None
    return None


def _array_aval(x: np.ndarray[Any, Any], wide: bool) -> ShapedArray | None:  # noqa: FBT001 - by position, it is hot
    known = _arrays[wide]
    if (x.dtype.kind in "OSUMmV" and x.dtype not in dtypes.ALL) or not x.dtype.isnative:
        return None
    if len(known) >= _LIMIT:
        known.clear()
    aval = ShapedArray(x.shape, dtypes.canonicalize(x.dtype))
    return known.setdefault((x.dtype, x.shape), aval)
