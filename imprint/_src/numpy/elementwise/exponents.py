"""Parts of floats: frexp, ldexp and spacing.

A float is a fraction in [0.5, 1) times a power of 2. Both are read from its bits, so
they are exact; narrow floats are widened first. Derivatives treat the exponent as
constant.
"""

from typing import Any, Final, cast

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import DType
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import DTypeError
from imprint._src.numpy.creation import full_like
from imprint._src.numpy.datatypes import astype
from imprint._src.numpy.elementwise.arithmetic import (
    absolute,
    floor_divide,
    maximum,
    nextafter,
)
from imprint._src.numpy.elementwise.bitwise import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    left_shift,
    right_shift,
)
from imprint._src.numpy.elementwise.comparison import (
    copysign,
    equal,
    isfinite,
    less,
    logical_and,
    not_equal,
)
from imprint._src.numpy.elementwise.selection import clip, where
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    inexact,
    match_shapes,
    refuse_complex,
)
from imprint._src.primitives.barrier import stop_gradient
from imprint._src.primitives.elementwise.bitwise import clz
from imprint._src.primitives.elementwise.convert import bitcast_convert_type
from imprint.custom_derivatives import custom_jvp

_MOST: Final = 4096
"""A power of 2 that takes every float to 0 or infinity."""


@fuse_eager
def frexp(x: ArrayLike, /) -> tuple[Array, Array]:
    """Return fractions in [0.5, 1) with the signs of `x`, and the exponents of 2.

    Args:
        x: a real array or number; integers and booleans become floats.

    Returns:
        The fractions, of the shape of `x`, in its floating dtype. The exponents, of the
        same shape, in int32. Zero, infinities and NaN are their own fractions, with
        exponent 0.

    Raises:
        DTypeError: `x` is complex.

    References:
        NumPy, `numpy.frexp`.

    Example:
        >>> import imprint.numpy as np
        >>> np.frexp(np.array([6.0, -0.25]))
        (Array([ 0.75, -0.5 ], dtype=float32), Array([ 3, -1], dtype=int32))
    """
    refuse_complex("frexp", x)
    given = as_array("frexp", inexact("frexp", x))
    wide = _wide(given)
    return astype(_fraction(wide), given.dtype), _exponent(wide)


@fuse_eager
def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return `x1 * 2**x2`, elementwise, without intermediate overflow.

    Args:
        x1: numbers.
        x2: integers.

    Returns:
        The products, of the broadcast shape, in the floating dtype of `x1`.

    Raises:
        DTypeError: `x1` is complex, or `x2` has no integers.

    References:
        NumPy, `numpy.ldexp`.

    Example:
        >>> import imprint.numpy as np
        >>> np.ldexp(np.array([0.75, -0.5]), np.array([3, -1]))
        Array([ 6.  , -0.25], dtype=float32)
    """
    refuse_complex("ldexp", x1)
    power = as_array("ldexp", x2)
    if dtypes.is_inexact(power.dtype):
        raise DTypeError(
            f"ldexp: expected integers as x2, got {power.aval}. Write x1 * 2**x2."
        )
    given, power = match_shapes(
        "ldexp", (as_array("ldexp", inexact("ldexp", x1)), power)
    )
    wide = _wide(given)
    exponent = _exponent(wide)
    if power.dtype.itemsize < dtypes.int32.itemsize:
        power = astype(power, dtypes.int32)
    least = 0 if dtypes.is_unsigned(power.dtype) else -_MOST
    power = astype(clip(power, least, _MOST), dtypes.int32)
    scaled = _scaled(_fraction(wide), exponent + power)
    return astype(scaled, given.dtype)


@fuse_eager
def spacing(x: ArrayLike, /) -> Array:
    """Return the distance to the next float away from 0, with the sign of `x`.

    Args:
        x: a real array or number; integers and booleans become floats.

    Returns:
        The distances, of the shape of `x`, in its floating dtype. NaN for infinities
        and NaN.

    Raises:
        DTypeError: `x` is complex.

    References:
        NumPy, `numpy.spacing`.

    Example:
        >>> import imprint.numpy as np
        >>> np.spacing(np.array([1.0, -4.0]))
        Array([ 1.1920929e-07, -4.7683716e-07], dtype=float32)
    """
    refuse_complex("spacing", x)
    given = as_array("spacing", inexact("spacing", x))
    if given.dtype == dtypes.float16:  # NumPy rounds up here
        return nextafter(given, float("inf")) - given
    # Bits alone: the engine flushes a difference below the normal numbers to 0.
    size = absolute(stop_gradient(given))
    info = cast("Any", dtypes.finfo(given.dtype))
    holder = dtypes.int16 if given.dtype.itemsize == 2 else _layout(given.dtype)[0]
    behind = info.nmant
    whole = bitcast_convert_type(size, holder)
    stored = right_shift(whole, behind)
    normal = left_shift(maximum(stored - behind, 0), behind)
    subnormal = left_shift(full_like(stored, 1), clip(stored - 1, 0, behind))
    bits = where(stored > behind, normal, subnormal)
    step = bitcast_convert_type(bits, given.dtype)
    step = where(isfinite(given), step, float("nan"))
    at_end = equal(size, info.max)
    away = where(equal(whole, 0), 1, given)  # NumPy's is positive at -0.
    return copysign(where(at_end, float("inf"), step), away)


def _wide(x: Array) -> Array:
    """Return floats in a dtype whose bits these functions read."""
    is_narrow = dtypes.bit_width(x.dtype) < 32
    return astype(x, dtypes.float32) if is_narrow else x


def _layout(dtype: DType) -> tuple[DType, int, int]:
    """Return a float's bits as integers, the mantissa width, and the bias."""
    info = cast("Any", dtypes.finfo(dtype))
    holder = dtypes.int64 if dtypes.bit_width(dtype) == 64 else dtypes.int32
    return holder, info.nmant, info.maxexp - 1


@custom_jvp
def _fraction(x: Any) -> Any:
    """Return the number in [0.5, 1) with the sign of `x`; `x` if it has no exponent."""
    _, behind, bias = _layout(x.dtype)
    bits, size = _bits(x)
    digits = bitwise_and(left_shift(size, _shift(size, x.dtype)), (1 << behind) - 1)
    sign = bitwise_xor(bits, size)
    out = bitwise_or(bitwise_or(sign, digits), (bias - 1) << behind)
    return bitcast_convert_type(where(_has_exponent(size, x.dtype), out, bits), x.dtype)


@_fraction.defjvp
def _fraction_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return _fraction(x), _scaled(t, -_exponent(x))


def _exponent(x: Array) -> Array:
    """Return the exponent of the fraction, in int32; 0 for numbers without one."""
    _, behind, bias = _layout(x.dtype)
    _, size = _bits(x)
    stored = maximum(right_shift(size, behind), 1) - _shift(size, x.dtype)
    found = where(_has_exponent(size, x.dtype), stored - (bias - 1), 0)
    return astype(found, dtypes.int32)


def _bits(x: Array) -> tuple[Array, Array]:
    """Return the bits of floats as integers, and those of their magnitudes."""
    bits = bitcast_convert_type(stop_gradient(x), _layout(x.dtype)[0])
    return bits, bitwise_and(bits, dtypes.iinfo(bits.dtype).max)


def _has_exponent(size: Array, dtype: DType) -> Array:
    """Return which magnitudes are neither 0 nor infinite nor NaN."""
    _, behind, bias = _layout(dtype)
    return logical_and(not_equal(size, 0), less(size, (2 * bias + 1) << behind))


def _shift(size: Array, dtype: DType) -> Array:
    """Return by how many bits subnormal numbers lack the digit before the point."""
    ahead = dtypes.bit_width(dtype) - 1 - _layout(dtype)[1]
    return maximum(clz(size) - ahead, 0)


def _scaled(x: Array, power: Array) -> Array:
    """Return `x * 2**power` in three steps: the power alone may overflow."""
    holder, behind, bias = _layout(x.dtype)
    power = astype(clip(power, -3 * (bias - 1), 3 * bias), holder)
    first = floor_divide(power, 3)
    second = floor_divide(power - first, 2)
    for step in (first, second, power - first - second):
        x = x * bitcast_convert_type(left_shift(step + bias, behind), x.dtype)
    return x
