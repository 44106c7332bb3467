"""Bitwise functions of integers, logical ones of booleans, and packed bits.

A shift by the width or more, or by a negative number, gives 0; a right shift of a
negative number then gives the sign. A packed byte holds eight elements of the last
axis; `bitorder` chooses the highest bit.
"""

from typing import Final

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, DTypeError
from imprint._src.numpy.datatypes import astype
from imprint._src.numpy.elementwise.ufunc import refuse_options, universal
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    broadcast,
    convert,
    numeric,
    numeric_operands,
    operands,
)
from imprint._src.numpy.ranges import arange
from imprint._src.numpy.reductions.reductions import sum
from imprint._src.numpy.shapes.padding import pad
from imprint._src.numpy.shapes.reshape import ravel, reshape, swapaxes
from imprint._src.primitives.elementwise.bitwise import (
    and_p,
    not_p,
    or_p,
    population_count_p,
    shift_left_p,
    shift_right_arithmetic_p,
    shift_right_logical_p,
    xor_p,
)
from imprint._src.primitives.elementwise.rounding import abs_


@universal(identity=-1)
def bitwise_and(
    x: ArrayLike,
    y: ArrayLike,
    /,
    out: None = None,
    where: None = None,
) -> Array:
    """Return the bitwise AND, elementwise.

    Args:
        x: an array or number of integers or booleans.
        y: likewise, which broadcasts with `x`.
        out: must be None; arrays are immutable.
        where: must be None; for a mask, call `imprint.numpy.where`.

    Returns:
        The bits that both have, of the broadcast shape and the promoted dtype.

    References:
        NumPy, `numpy.bitwise_and`.

    Example:
        >>> import imprint.numpy as np
        >>> np.bitwise_and(np.array([12, 10]), 6)
        Array([4, 2], dtype=int32)
    """
    if out is not None or where is not None:
        refuse_options("bitwise_and", out, where)
    x, y = operands("bitwise_and", x, y)
    return and_p.bind1(x, y)


@universal(identity=0)
def bitwise_or(
    x: ArrayLike,
    y: ArrayLike,
    /,
    out: None = None,
    where: None = None,
) -> Array:
    """Return the bitwise OR, elementwise.

    Args:
        x: an array or number of integers or booleans.
        y: likewise, which broadcasts with `x`.
        out: must be None; arrays are immutable.
        where: must be None; for a mask, call `imprint.numpy.where`.

    Returns:
        The bits that either has, of the broadcast shape and the promoted dtype.

    References:
        NumPy, `numpy.bitwise_or`.

    Example:
        >>> import imprint.numpy as np
        >>> np.bitwise_or(np.array([12, 10]), 6)
        Array([14, 14], dtype=int32)
    """
    if out is not None or where is not None:
        refuse_options("bitwise_or", out, where)
    x, y = operands("bitwise_or", x, y)
    return or_p.bind1(x, y)


@universal(identity=0)
def bitwise_xor(
    x: ArrayLike,
    y: ArrayLike,
    /,
    out: None = None,
    where: None = None,
) -> Array:
    """Return the bitwise XOR, elementwise.

    Args:
        x: an array or number of integers or booleans.
        y: likewise, which broadcasts with `x`.
        out: must be None; arrays are immutable.
        where: must be None; for a mask, call `imprint.numpy.where`.

    Returns:
        The bits that exactly one has, of the broadcast shape and the promoted dtype.

    References:
        NumPy, `numpy.bitwise_xor`.

    Example:
        >>> import imprint.numpy as np
        >>> np.bitwise_xor(np.array([12, 10]), 6)
        Array([10, 12], dtype=int32)
    """
    if out is not None or where is not None:
        refuse_options("bitwise_xor", out, where)
    x, y = operands("bitwise_xor", x, y)
    return xor_p.bind1(x, y)


def bitwise_not(x: ArrayLike, /) -> Array:
    """Return the bitwise NOT, elementwise.

    Args:
        x: an array or number of integers or booleans.

    Returns:
        The inverted bits, of the shape and dtype of `x`; "not" for booleans.

    References:
        NumPy, `numpy.bitwise_not`.

    Example:
        >>> import imprint.numpy as np
        >>> np.bitwise_not(np.array([0, 5]))
        Array([-1, -6], dtype=int32)
    """
    return not_p.bind1(as_array("bitwise_not", x))


invert: Final = bitwise_not
bitwise_invert: Final = bitwise_not


def left_shift(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Shift the bits of `x` left by `y`, elementwise; 0 beyond the width.

    Args:
        x: an array or number of integers; booleans become int32.
        y: the numbers of bits, likewise, which broadcast with `x`.

    Returns:
        The shifted integers, of the broadcast shape and the promoted dtype.

    References:
        NumPy, `numpy.left_shift`.

    Example:
        >>> import imprint.numpy as np
        >>> np.left_shift(1, np.arange(4))
        Array([1, 2, 4, 8], dtype=int32)
    """
    x, y = numeric_operands("left_shift", x, y)
    return shift_left_p.bind1(x, y)


def right_shift(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Shift the bits of `x` right by `y`, elementwise, keeping the sign.

    Args:
        x: an array or number of integers; booleans become int32.
        y: the numbers of bits, likewise, which broadcast with `x`.

    Returns:
        The shifted integers, of the broadcast shape and the promoted dtype. Beyond the
        width: 0, or -1 for negative ones.

    References:
        NumPy, `numpy.right_shift`.

    Example:
        >>> import imprint.numpy as np
        >>> np.right_shift(np.array([8, -8]), 1)
        Array([ 4, -4], dtype=int32)
    """
    x, y = numeric_operands("right_shift", x, y)
    unsigned = dtypes.is_unsigned(as_array("right_shift", x).dtype)
    shift = shift_right_logical_p if unsigned else shift_right_arithmetic_p
    return shift.bind1(x, y)


bitwise_left_shift: Final = left_shift
bitwise_right_shift: Final = right_shift


@fuse_eager
def bitwise_count(x: ArrayLike, /) -> Array:
    """Return the number of 1 bits of the absolute value, elementwise.

    Args:
        x: an array or number of integers or booleans.

    Returns:
        The counts, of the shape of `x`, in uint8.

    References:
        NumPy, `numpy.bitwise_count`.

    Example:
        >>> import imprint.numpy as np
        >>> np.bitwise_count(np.array([7, 8]))
        Array([3, 1], dtype=uint8)
    """
    x = as_array("bitwise_count", numeric("bitwise_count", x))
    size = x if dtypes.is_unsigned(x.dtype) else abs_(x)
    return convert("bitwise_count", population_count_p.bind1(size), dtypes.uint8)


_WIDTH: Final = 8


@fuse_eager
def packbits(a: ArrayLike, axis: int | None = None, bitorder: str = "big") -> Array:
    """Pack elements into the bits of bytes: 1 for nonzero, padded with 0.

    Args:
        a: integers or booleans.
        axis: the axis to pack; None flattens first.
        bitorder: "big" if the first element is the highest bit; "little" if the lowest.

    Returns:
        The bytes, in uint8: an eighth as many along the axis, rounded up. One axis if
        flattened.

    Raises:
        DTypeError: `a` has neither integers nor booleans.
        ArgumentError: `bitorder` is another word.

    References:
        NumPy, `numpy.packbits`.

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
    packed = sum(
        left_shift(bits, broadcast(places, bits.shape)), -1, dtype=dtypes.uint8
    )
    return swapaxes(packed, axis or 0, -1)


@fuse_eager
def unpackbits(
    a: ArrayLike,
    axis: int | None = None,
    count: int | None = None,
    bitorder: str = "big",
) -> Array:
    """Unpack bytes into bits, each 0 or 1.

    Args:
        a: an array of uint8.
        axis: the axis to unpack; None flattens first.
        count: the number of bits, padded with 0; None for all; negative leaves out so
            many at the end.
        bitorder: "big" if the highest bit comes first; "little" if the lowest.

    Returns:
        The bits, in uint8: eight times as many along the axis, or `count`. One axis if
        flattened.

    Raises:
        DTypeError: `a` is not of uint8.
        ArgumentError: `bitorder` is another word.

    References:
        NumPy, `numpy.unpackbits`.

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
    shape = (*rows.shape, _WIDTH)
    shifts = broadcast(places, shape)
    bits = bitwise_and(right_shift(broadcast(rows[..., None], shape), shifts), 1)
    bits = reshape(bits, (*rows.shape[:-1], rows.shape[-1] * _WIDTH))
    if count is not None:
        more = max(0, count - bits.shape[-1])
        bits = pad(bits, [*((0, 0),) * (bits.ndim - 1), (0, more)])[..., :count]
    return swapaxes(bits, axis or 0, -1)


def _places(name: str, bitorder: str) -> Array:
    """Return the shift of each bit of a byte."""
    if bitorder not in ("big", "little"):
        raise ArgumentError(
            f"{name}: expected bitorder 'big' or 'little', got {bitorder!r}."
        )
    places = arange(_WIDTH, dtype=dtypes.uint8)
    return places if bitorder == "little" else places[::-1]
