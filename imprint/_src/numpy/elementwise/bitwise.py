"""Bits of integers, elementwise; on booleans the logical operations.

A shift by the width or more gives 0, or the sign for a right shift of a negative number;
a negative shift counts as such a one too.
"""

from typing import Final

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.numpy.elementwise.ufunc import refuse_options, universal
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    convert,
    numeric,
    numeric_operands,
    operands,
)
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
    """Return the bits set in both, elementwise.

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
    """Return the bits set in either, elementwise.

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
    """Return the bits set in exactly one, elementwise.

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
    """Return the bits not set, elementwise.

    Example:
        >>> import imprint.numpy as np
        >>> np.bitwise_not(np.array([0, 5]))
        Array([-1, -6], dtype=int32)
    """
    return not_p.bind1(as_array("bitwise_not", x))


invert: Final = bitwise_not
bitwise_invert: Final = bitwise_not


def left_shift(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Shift the bits of `x` left by `y`, elementwise; past the width gives 0.

    Example:
        >>> import imprint.numpy as np
        >>> np.left_shift(1, np.arange(4))
        Array([1, 2, 4, 8], dtype=int32)
    """
    x, y = numeric_operands("left_shift", x, y)
    return shift_left_p.bind1(x, y)


def right_shift(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Shift the bits of `x` right by `y`, elementwise; the sign stays.

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


def bitwise_count(x: ArrayLike, /) -> Array:
    """Return the number of bits set in the absolute value, elementwise.

    Example:
        >>> import imprint.numpy as np
        >>> np.bitwise_count(np.array([7, 8]))
        Array([3, 1], dtype=uint8)
    """
    x = as_array("bitwise_count", numeric("bitwise_count", x))
    size = x if dtypes.is_unsigned(x.dtype) else abs_(x)
    return convert("bitwise_count", population_count_p.bind1(size), dtypes.uint8)
