"""Operations on the bits of integers, elementwise; no derivative.

`and`, `or`, `xor` and `not` take booleans too. A shift reads its distance as unsigned, so a
negative one is far: from the width on, bits are lost (`shift_right_arithmetic` goes on
copying the sign bit, also of unsigned integers). `population_count` and `clz` have the dtype
of the operand, and read a negative integer as its stored bits.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.fusion import ARITHMETIC, UNFUSED
from imprint._src.core.primitive import Samples
from imprint._src.primitives.core_ops import INTS
from imprint._src.primitives.families import BITS, INTEGER, binary, unary

NDArray = np.ndarray[Any, Any]

not_p: Final = unary(
    "not",
    dtypes=BITS,
    reference=np.invert,
    lower=lambda b, x: b.not_(x),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivative=None,
    samples=Samples(("bool", *INTS), arity=1, differentiable=False),
)


def not_(x: Any) -> Any:
    """Return `x` with every bit inverted, elementwise; of a boolean, the other one.

    Args:
        x: integers or booleans.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        StableHLO, `not`.
    """
    return not_p.bind1(x)


def _bits(x: NDArray) -> NDArray:
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))


population_count_p: Final = unary(
    "population_count",
    dtypes=INTEGER,
    reference=lambda x: np.bitwise_count(_bits(x)).astype(x.dtype),
    lower=lambda b, x: b.popcnt(x),
    fusion=UNFUSED,
    makes_nan=False,
    derivative=None,
    samples=Samples(INTS, arity=1, edges=(6,), differentiable=False),
)


def population_count(x: Any) -> Any:
    """Return the number of bits of `x` that are 1, elementwise.

    Args:
        x: integers; of negative ones the two's complement counts.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        StableHLO, `popcnt`.
    """
    return population_count_p.bind1(x)


def _clz_reference(x: NDArray) -> NDArray:
    bits = _bits(x)
    width = dt.bit_width(x.dtype)
    distance = 1
    while distance < width:  # fills every place below the first 1
        bits = bits | (bits >> bits.dtype.type(distance))
        distance *= 2
    return (width - np.bitwise_count(bits)).astype(x.dtype)


clz_p: Final = unary(
    "clz",
    dtypes=INTEGER,
    reference=_clz_reference,
    lower=lambda b, x: b.count_leading_zeros(x),
    fusion=UNFUSED,
    makes_nan=False,
    derivative=None,
    samples=Samples(INTS, arity=1, edges=(6, 127), differentiable=False),
)


def clz(x: Any) -> Any:
    """Return the number of bits of `x` before the first that is 1, elementwise.

    Args:
        x: integers; of negative ones the two's complement counts.

    Returns:
        An array of the dtype and shape of `x`. For 0 it is the number of bits of the
        dtype.

    References:
        StableHLO, `count_leading_zeros`.
    """
    return clz_p.bind1(x)


_LOGIC: Final = Samples(("bool", *INTS), arity=2, differentiable=False)
_SHIFTS: Final = Samples(
    INTS, arity=2, edges=(7, 8, 9, 31, 32, 33, 63, 64), differentiable=False
)

# ---- logic ----

and_p: Final = binary(
    "and",
    dtypes=BITS,
    reference=np.bitwise_and,
    lower=lambda b, x, y: b.and_(x, y),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivatives=None,
    samples=_LOGIC,
)


def and_(x: Any, y: Any) -> Any:
    """Return `x & y`, elementwise.

    Args:
        x: integers or booleans.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape.

    References:
        StableHLO, `and`.
    """
    return and_p.bind1(x, y)


or_p: Final = binary(
    "or",
    dtypes=BITS,
    reference=np.bitwise_or,
    lower=lambda b, x, y: b.or_(x, y),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivatives=None,
    samples=_LOGIC,
)


def or_(x: Any, y: Any) -> Any:
    """Return `x | y`, elementwise.

    Args:
        x: integers or booleans.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape.

    References:
        StableHLO, `or`.
    """
    return or_p.bind1(x, y)


xor_p: Final = binary(
    "xor",
    dtypes=BITS,
    reference=np.bitwise_xor,
    lower=lambda b, x, y: b.xor(x, y),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivatives=None,
    samples=_LOGIC,
)


def xor(x: Any, y: Any) -> Any:
    """Return `x ^ y`, elementwise.

    Args:
        x: integers or booleans.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape.

    References:
        StableHLO, `xor`.
    """
    return xor_p.bind1(x, y)


# ---- shifts ----


def _shift_left_reference(x: NDArray, y: NDArray) -> NDArray:
    distance, far = _distance(y)
    return np.where(far, x.dtype.type(0), np.left_shift(x, distance.view(x.dtype)))


def _shift_right_logical_reference(x: NDArray, y: NDArray) -> NDArray:
    distance, far = _distance(y)
    bits = x.view(distance.dtype)
    shifted = np.where(far, distance.dtype.type(0), np.right_shift(bits, distance))
    return shifted.view(x.dtype)


def _shift_right_arithmetic_reference(x: NDArray, y: NDArray) -> NDArray:
    distance, _ = _distance(y)
    whole = np.dtype(f"i{x.dtype.itemsize}")
    unused = 8 * x.dtype.itemsize - dt.bit_width(x.dtype)  # of a byte with 4 bits
    signed = np.right_shift(np.left_shift(x.view(whole), unused), unused)
    return np.right_shift(signed, distance.view(whole)).astype(x.dtype)


def _distance(y: NDArray) -> tuple[NDArray, NDArray]:
    """Return distances below the width, as unsigned, and which were not below it."""
    distance = y.view(np.dtype(f"u{y.dtype.itemsize}"))
    last = distance.dtype.type(8 * y.dtype.itemsize - 1)
    return np.minimum(distance, last), distance > last


shift_left_p: Final = binary(
    "shift_left",
    dtypes=INTEGER,
    reference=_shift_left_reference,
    lower=lambda b, x, y: b.shift_left(x, y),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivatives=None,
    samples=_SHIFTS,
)


def shift_left(x: Any, y: Any) -> Any:
    """Return the bits of `x` moved `y` places up, zeros following, elementwise.

    Args:
        x: integers.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape. It is 0 where `y` is negative or at
        least the number of bits.

    References:
        StableHLO, `shift_left`.
    """
    return shift_left_p.bind1(x, y)


shift_right_logical_p: Final = binary(
    "shift_right_logical",
    dtypes=INTEGER,
    reference=_shift_right_logical_reference,
    lower=lambda b, x, y: b.shift_right_logical(x, y),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivatives=None,
    samples=_SHIFTS,
)


def shift_right_logical(x: Any, y: Any) -> Any:
    """Return the bits of `x` moved `y` places down, zeros following, elementwise.

    Args:
        x: integers.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape. It is 0 where `y` is negative or at
        least the number of bits.

    References:
        StableHLO, `shift_right_logical`.
    """
    return shift_right_logical_p.bind1(x, y)


shift_right_arithmetic_p: Final = binary(
    "shift_right_arithmetic",
    dtypes=INTEGER,
    reference=_shift_right_arithmetic_reference,
    lower=lambda b, x, y: b.shift_right_arithmetic(x, y),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivatives=None,
    samples=_SHIFTS,
)


def shift_right_arithmetic(x: Any, y: Any) -> Any:
    """Return the bits of `x` moved `y` places down, copies of the top bit following.

    Args:
        x: integers.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape. All bits are the top bit where `y`
        is negative or at least the number of bits.

    References:
        StableHLO, `shift_right_arithmetic`.
    """
    return shift_right_arithmetic_p.bind1(x, y)
