"""Bits of bytes as elements of their own, and back: packbits, unpackbits.

Eight elements make a byte, along the last axis while they are computed with; which of
them is the highest bit says `bitorder`.
"""

from typing import Final

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.errors import ArgumentError, DTypeError
from imprint._src.numpy.datatypes import astype
from imprint._src.numpy.elementwise.bitwise import bitwise_and, left_shift, right_shift
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.numpy.ranges import arange
from imprint._src.numpy.reductions.reductions import sum
from imprint._src.numpy.shapes.padding import pad
from imprint._src.numpy.shapes.reshape import ravel, reshape, swapaxes

_WIDTH: Final = 8


def packbits(a: ArrayLike, axis: int | None = None, bitorder: str = "big") -> Array:
    """Return bytes whose bits say which elements are not 0; missing ones count as 0.

    Args:
        a: integers or booleans.
        axis: along which eight elements become a byte; None, of the flattened array.
        bitorder: "big", the first element is the highest bit; "little", the lowest.

    Example:
        >>> import imprint.numpy as np
        >>> np.packbits(np.array([0, 0, 0, 0, 0, 1, 0, 1, 1]))
        Array([  5, 128], dtype=uint8)
    """
    x = as_array("packbits", a)
    if not (dtypes.is_integer(x.dtype) or dtypes.is_bool(x.dtype)):
        raise DTypeError(f"packbits: expected integers or booleans, got {x.aval}.")
    places = _places("packbits", bitorder)
    rows = swapaxes(ravel(x) if axis is None else x, axis or 0, -1)
    bits = astype(rows != 0, dtypes.uint8)
    bits = pad(bits, [*((0, 0),) * (bits.ndim - 1), (0, -bits.shape[-1] % _WIDTH)])
    bits = reshape(bits, (*bits.shape[:-1], bits.shape[-1] // _WIDTH, _WIDTH))
    packed = sum(left_shift(bits, places), -1, dtype=dtypes.uint8)
    return swapaxes(packed, axis or 0, -1)


def unpackbits(
    a: ArrayLike,
    axis: int | None = None,
    count: int | None = None,
    bitorder: str = "big",
) -> Array:
    """Return the bits of bytes, each as 0 or 1.

    Args:
        a: an array of uint8.
        axis: along which a byte becomes eight elements; None, of the flattened array.
        count: how many bits, zeros if there are fewer; None, all; negative, all but so
            many.
        bitorder: "big", the highest bit comes first; "little", the lowest.

    Example:
        >>> import imprint.numpy as np
        >>> np.unpackbits(np.array([5], "uint8"))
        Array([0, 0, 0, 0, 0, 1, 0, 1], dtype=uint8)
    """
    x = as_array("unpackbits", a)
    if x.dtype != dtypes.uint8:
        raise DTypeError(
            f"unpackbits: expected uint8, got {x.aval}. Convert with .astype('uint8')."
        )
    places = _places("unpackbits", bitorder)
    rows = swapaxes(ravel(x) if axis is None else x, axis or 0, -1)
    bits = bitwise_and(right_shift(rows[..., None], places), 1)
    bits = reshape(bits, (*rows.shape[:-1], rows.shape[-1] * _WIDTH))
    if count is not None:
        more = max(0, count - bits.shape[-1])
        bits = pad(bits, [*((0, 0),) * (bits.ndim - 1), (0, more)])[..., :count]
    return swapaxes(bits, axis or 0, -1)


def _places(name: str, bitorder: str) -> Array:
    """Return by how many bits each element of a byte is shifted."""
    if bitorder not in ("big", "little"):
        raise ArgumentError(
            f"{name}: expected bitorder 'big' or 'little', got {bitorder!r}."
        )
    places = arange(_WIDTH, dtype=dtypes.uint8)
    return places if bitorder == "little" else places[::-1]
