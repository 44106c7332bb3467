"""Rounding and parts of numbers, elementwise.

Integers are unchanged by rounding, but to tens. Complex numbers round in both parts.
"""

import math
from typing import Any, cast

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    convert,
    filled_like,
    inexact,
    refuse_complex,
    refuse_out,
)
from imprint._src.primitives.axes import whole
from imprint._src.primitives.barrier import stop_gradient
from imprint._src.primitives.copying import owned
from imprint._src.primitives.core_ops import add, mul, neg, scalar_like, sub
from imprint._src.primitives.elementwise.arithmetic import div, rem
from imprint._src.primitives.elementwise.bitwise import and_, or_
from imprint._src.primitives.elementwise.comparison import eq, ge, gt, lt, ne
from imprint._src.primitives.elementwise.complex import complex_, imag_p, real_p
from imprint._src.primitives.elementwise.complex import conj as conj_
from imprint._src.primitives.elementwise.rounding import (
    RoundingMethod,
    abs_,
    ceil_p,
    floor_p,
    is_finite,
    round_,
)


@owned
def floor(x: ArrayLike, /) -> Array:
    """Round down, elementwise.

    Args:
        x: a real array or number.

    Returns:
        The rounded values, of the shape and dtype of `x`; integers and booleans as they
        are.

    References:
        NumPy, `numpy.floor`.

    Example:
        >>> import imprint.numpy as np
        >>> np.floor(np.array([-1.5, 1.5]))
        Array([-2.,  1.], dtype=float32)
    """
    x = as_array("floor", x)
    return floor_p.bind1(x) if dtypes.is_inexact(x.dtype) else x


@owned
def ceil(x: ArrayLike, /) -> Array:
    """Round up, elementwise.

    Args:
        x: a real array or number.

    Returns:
        The rounded values, of the shape and dtype of `x`; integers and booleans as they
        are.

    References:
        NumPy, `numpy.ceil`.

    Example:
        >>> import imprint.numpy as np
        >>> np.ceil(np.array([-1.5, 1.5]))
        Array([-1.,  2.], dtype=float32)
    """
    x = as_array("ceil", x)
    return ceil_p.bind1(x) if dtypes.is_inexact(x.dtype) else x


@fuse_eager
@owned
def trunc(x: ArrayLike) -> Array:
    """Round toward 0, elementwise.

    Args:
        x: a real array or number.

    Returns:
        The rounded values, of the shape and dtype of `x`; integers and booleans as they
        are.

    References:
        NumPy, `numpy.trunc`.

    Example:
        >>> import imprint.numpy as np
        >>> np.trunc(np.array([-1.5, 1.5]))
        Array([-1.,  1.], dtype=float32)
    """
    x = as_array("trunc", x)
    if not dtypes.is_inexact(x.dtype):
        return x
    return where(lt(x, scalar_like(x, 0)), ceil_p.bind1(x), floor_p.bind1(x))


fix = trunc


def rint(x: ArrayLike, /) -> Array:
    """Round to the nearest integer, ties to even, elementwise.

    Args:
        x: an array or number. The parts of complex numbers are rounded.

    Returns:
        The rounded values, of the shape of `x`, in its dtype; integers become floats.

    References:
        NumPy, `numpy.rint`.

    Example:
        >>> import imprint.numpy as np
        >>> np.rint(np.array([0.5, 1.5]))
        Array([0., 2.], dtype=float32)
    """
    x = as_array("rint", x)
    if dtypes.is_complex(x.dtype):
        return complex_(rint(real_p.bind1(x)), rint(imag_p.bind1(x)))
    if not dtypes.is_inexact(x.dtype):
        return convert("rint", x, dtypes.default_float())
    return _nearest(x)


@fuse_eager
@owned
def round(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """Round to a number of decimals, ties to even, elementwise.

    Args:
        a: numbers.
        decimals: the number of digits after the point; negative, before it.
        out: must be None; arrays are immutable.

    Returns:
        The rounded values, of the shape and dtype of `a`.

    Raises:
        ArgumentError: `decimals` is negative and `a` has booleans.

    References:
        NumPy, `numpy.round`.

    Example:
        >>> import imprint.numpy as np
        >>> np.round(np.array([0.5, 1.5, 2.25]))
        Array([0., 2., 2.], dtype=float32)
    """
    refuse_out("round", out)
    x = as_array("round", a)
    decimals = whole("round", "decimals", decimals)
    if dtypes.is_complex(x.dtype):
        return complex_(
            round(real_p.bind1(x), decimals), round(imag_p.bind1(x), decimals)
        )
    if not dtypes.is_inexact(x.dtype):
        return _whole_to_tens(x, -decimals) if decimals < 0 else x
    if decimals == 0:
        return _nearest(x)
    largest = float(cast("Any", dtypes.finfo(x.dtype)).max)
    if decimals > math.log10(largest):
        return x
    if -decimals > math.log10(largest) + math.log10(2):
        x = stop_gradient(x)
        return where(is_finite(x), mul(x, scalar_like(x, 0)), x)
    wide = convert("round", x, dtypes.float32) if x.dtype == dtypes.float16 else x
    tens = scalar_like(wide, 10 ** abs(decimals))
    scale, unscale = (mul, div) if decimals > 0 else (div, mul)
    rounded = unscale(_nearest(scale(wide, tens)), tens)
    return convert("round", rounded, x.dtype, weak_type=x.weak_type)


around = round


def _whole_to_tens(x: Array, zeros: int) -> Array:
    """Return the nearest multiples of a power of ten, ties to even multiples."""
    if x.dtype == dtypes.bool_:
        raise ArgumentError(
            f"round: expected decimals >= 0 for {x.aval}, got {-zeros}. "
            "Convert it to integers first."
        )
    if zeros > math.log10(dtypes.iinfo(x.dtype).max):
        return mul(x, scalar_like(x, 0))
    unit = scalar_like(x, 10**zeros)
    rest = rem(x, unit)
    below = where(lt(rest, scalar_like(x, 0)), neg(rest), rest)
    is_odd = ne(rem(div(x, unit), scalar_like(x, 2)), scalar_like(x, 0))
    above = sub(unit, below)
    is_up = or_(gt(below, above), and_(eq(below, above), is_odd))
    step = where(lt(x, scalar_like(x, 0)), neg(unit), unit)
    return add(sub(x, rest), where(is_up, step, scalar_like(x, 0)))


def _nearest(x: Array) -> Array:
    return round_(x, RoundingMethod.TO_NEAREST_EVEN)


@fuse_eager
def modf(x: ArrayLike, /, out: None = None) -> tuple[Array, Array]:
    """Return the fractional and integral parts, both with the sign of `x`.

    Args:
        x: a real array or number. Integers and booleans become floats.
        out: must be None; arrays are immutable.

    Returns:
        The fractional and the integral parts, both of the shape of `x`, in its floating
        dtype. The fraction of an infinity is 0.

    Raises:
        DTypeError: `x` is complex.

    References:
        NumPy, `numpy.modf`.

    Example:
        >>> import imprint.numpy as np
        >>> np.modf(np.array([-1.5, 2.25]))
        (Array([-0.5 ,  0.25], dtype=float32), Array([-1.,  2.], dtype=float32))
    """
    refuse_out("modf", out)
    refuse_complex("modf", x)
    x = as_array("modf", inexact("modf", x))
    whole = where(ge(x, scalar_like(x, 0)), floor_p.bind1(x), ceil_p.bind1(x))
    zero = scalar_like(x, 0)
    is_negative = lt(
        stop_gradient(where(eq(x, zero), div(scalar_like(x, 1), x), x)), zero
    )
    fraction = where(is_negative, neg(sub(whole, x)), sub(x, whole))
    none = where(is_negative, scalar_like(x, -0.0), zero)
    return where(eq(abs_(x), scalar_like(x, math.inf)), none, fraction), whole


# ---- parts of complex numbers ----


@owned
def real(val: ArrayLike, /) -> Array:
    """Return the real part, elementwise.

    Args:
        val: an array or number.

    Returns:
        The real parts, of the shape of `val`, in the dtype of its parts; real numbers
        as they are.

    References:
        NumPy, `numpy.real`.

    Example:
        >>> import imprint.numpy as np
        >>> np.real(np.array([1 + 2j]))
        Array([1.], dtype=float32)
    """
    x = as_array("real", val)
    return real_p.bind1(x) if dtypes.is_complex(x.dtype) else x


def imag(val: ArrayLike, /) -> Array:
    """Return the imaginary part, elementwise; 0 for real numbers.

    Args:
        val: an array or number.

    Returns:
        The imaginary parts, of the shape of `val`, in the dtype of its parts.

    References:
        NumPy, `numpy.imag`.

    Example:
        >>> import imprint.numpy as np
        >>> np.imag(np.array([1 + 2j]))
        Array([2.], dtype=float32)
    """
    x = as_array("imag", val)
    return imag_p.bind1(x) if dtypes.is_complex(x.dtype) else filled_like(x, 0)


@owned
def conjugate(x: ArrayLike, /) -> Array:
    """Return the complex conjugate, elementwise.

    Args:
        x: an array or number.

    Returns:
        The conjugates, of the shape and dtype of `x`; real numbers as they are.

    References:
        NumPy, `numpy.conjugate`.

    Example:
        >>> import imprint.numpy as np
        >>> np.conjugate(np.array([1 + 2j]))
        Array([1.-2.j], dtype=complex64)
    """
    x = as_array("conjugate", x)
    return conj_(x) if dtypes.is_complex(x.dtype) else x


conj = conjugate
