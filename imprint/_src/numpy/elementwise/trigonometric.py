"""Trigonometric and hyperbolic functions, elementwise; angles are in radians.

Integers become floats first. NumPy's older names (`arcsin`) and the Array API's
(`asin`) are the same functions.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.eager.fusion import fuse_eager
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    constant_like,
    convert,
    filled_like,
    inexact,
    inexact_operands,
    refuse_complex,
    strong_like,
)
from imprint._src.primitives.core_ops import add, mul, neg, scalar_like, sub
from imprint._src.primitives.elementwise.arithmetic import (
    div,
)
from imprint._src.primitives.elementwise.comparison import eq, lt
from imprint._src.primitives.elementwise.complex import imag, real
from imprint._src.primitives.elementwise.exponential import square
from imprint._src.primitives.elementwise.lengths import hypot_p
from imprint._src.primitives.elementwise.rounding import RoundingMethod, abs_, round_
from imprint._src.primitives.elementwise.trigonometric import (
    acos_p,
    acosh_p,
    asin_p,
    asinh_p,
    atan2_p,
    atan_p,
    atanh_p,
    cos_p,
    cosh_p,
    sin_p,
    sinh_p,
    tan_p,
    tanh_p,
)


def sin(x: ArrayLike, /) -> Array:
    """Return the sine, elementwise.

    Args:
        x: an array or number; integers and booleans become floats. In radians.

    Returns:
        The sines, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.sin`.

    Example:
        >>> import imprint.numpy as np
        >>> np.sin(np.array([0.0, np.pi / 2]))
        Array([0., 1.], dtype=float32)
    """
    return sin_p.bind1(inexact("sin", x))


def cos(x: ArrayLike, /) -> Array:
    """Return the cosine, elementwise.

    Args:
        x: an array or number; integers and booleans become floats. In radians.

    Returns:
        The cosines, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.cos`.

    Example:
        >>> import imprint.numpy as np
        >>> np.cos(0.0)
        Array(1., dtype=float32, weak_type=True)
    """
    return cos_p.bind1(inexact("cos", x))


def tan(x: ArrayLike, /) -> Array:
    """Return the tangent, elementwise.

    Args:
        x: an array or number; integers and booleans become floats. In radians.

    Returns:
        The tangents, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.tan`.

    Example:
        >>> import imprint.numpy as np
        >>> np.tan(np.array([0.0]))
        Array([0.], dtype=float32)
    """
    return tan_p.bind1(inexact("tan", x))


def arcsin(x: ArrayLike, /) -> Array:
    """Return the inverse sine, between -π/2 and π/2, elementwise.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The angles in radians, of the shape of `x`, in its floating or complex dtype.
        NaN for real numbers outside [-1, 1].

    References:
        NumPy, `numpy.arcsin`.

    Example:
        >>> import imprint.numpy as np
        >>> np.arcsin(np.array([0.0]))
        Array([0.], dtype=float32)
    """
    return asin_p.bind1(inexact("arcsin", x))


def arccos(x: ArrayLike, /) -> Array:
    """Return the inverse cosine, between 0 and π, elementwise.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The angles in radians, of the shape of `x`, in its floating or complex dtype.
        NaN for real numbers outside [-1, 1].

    References:
        NumPy, `numpy.arccos`.

    Example:
        >>> import imprint.numpy as np
        >>> np.arccos(np.array([1.0]))
        Array([0.], dtype=float32)
    """
    return acos_p.bind1(inexact("arccos", x))


def arctan(x: ArrayLike, /) -> Array:
    """Return the inverse tangent, between -π/2 and π/2, elementwise.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The angles in radians, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.arctan`.

    Example:
        >>> import imprint.numpy as np
        >>> np.arctan(np.array([0.0]))
        Array([0.], dtype=float32)
    """
    return atan_p.bind1(inexact("arctan", x))


def arctan2(y: ArrayLike, x: ArrayLike, /) -> Array:
    """Return the angle of the point `(x, y)`, between -π and π, elementwise.

    Args:
        y: the ordinates, an array or number; integers and booleans become floats.
        x: the abscissas, likewise, which broadcast with `y`.

    Returns:
        The angles in radians, of the broadcast shape, in the promoted floating or
        complex dtype.

    References:
        NumPy, `numpy.arctan2`.

    Example:
        >>> import imprint.numpy as np
        >>> np.arctan2(np.array([1.0, -1.0]), -1.0)
        Array([ 2.3561945, -2.3561945], dtype=float32)
    """
    y, x = inexact_operands("arctan2", y, x)
    return atan2_p.bind1(y, x)


def sinh(x: ArrayLike, /) -> Array:
    """Return the hyperbolic sine, elementwise.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The hyperbolic sines, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.sinh`.

    Example:
        >>> import imprint.numpy as np
        >>> np.sinh(np.array([0.0, np.inf]))
        Array([ 0., inf], dtype=float32)
    """
    return sinh_p.bind1(inexact("sinh", x))


def cosh(x: ArrayLike, /) -> Array:
    """Return the hyperbolic cosine, elementwise.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The hyperbolic cosines, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.cosh`.

    Example:
        >>> import imprint.numpy as np
        >>> np.cosh(np.array([0.0]))
        Array([1.], dtype=float32)
    """
    return cosh_p.bind1(inexact("cosh", x))


def tanh(x: ArrayLike, /) -> Array:
    """Return the hyperbolic tangent, elementwise.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The hyperbolic tangents, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.tanh`.

    Example:
        >>> import imprint.numpy as np
        >>> np.tanh(np.array([0.0, 100.0]))
        Array([0., 1.], dtype=float32)
    """
    return tanh_p.bind1(inexact("tanh", x))


def arcsinh(x: ArrayLike, /) -> Array:
    """Return the inverse hyperbolic sine, elementwise.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The inverse hyperbolic sines, of the shape of `x`, in its floating or complex
        dtype.

    References:
        NumPy, `numpy.arcsinh`.

    Example:
        >>> import imprint.numpy as np
        >>> np.arcsinh(np.array([0.0]))
        Array([0.], dtype=float32)
    """
    return asinh_p.bind1(inexact("arcsinh", x))


def arccosh(x: ArrayLike, /) -> Array:
    """Return the inverse hyperbolic cosine, nonnegative, elementwise.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The inverse hyperbolic cosines, of the shape of `x`, in its floating or complex
        dtype. NaN for real numbers below 1. The real parts of complex results are
        nonnegative.

    References:
        NumPy, `numpy.arccosh`.

    Example:
        >>> import imprint.numpy as np
        >>> np.arccosh(np.array([1.0]))
        Array([0.], dtype=float32)
    """
    result = acosh_p.bind1(inexact("arccosh", x))
    if dtypes.is_complex(result.dtype):
        re = real(result)
        result = where(lt(re, scalar_like(re, 0)), neg(result), result)
    return result


def arctanh(x: ArrayLike, /) -> Array:
    """Return the inverse hyperbolic tangent, elementwise.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The inverse hyperbolic tangents, of the shape of `x`, in its floating or complex
        dtype. NaN for real numbers outside [-1, 1].

    References:
        NumPy, `numpy.arctanh`.

    Example:
        >>> import imprint.numpy as np
        >>> np.arctanh(np.array([0.0, 1.0]))
        Array([ 0., inf], dtype=float32)
    """
    return atanh_p.bind1(inexact("arctanh", x))


asin: Final = arcsin
acos: Final = arccos
atan: Final = arctan
atan2: Final = arctan2
asinh: Final = arcsinh
acosh: Final = arccosh
atanh: Final = arctanh

# ---- compositions ----


@fuse_eager
def deg2rad(x: ArrayLike, /) -> Array:
    """Convert degrees to radians, elementwise.

    Args:
        x: an array or number; integers and booleans become floats. In degrees.

    Returns:
        The angles in radians, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.deg2rad`.

    Example:
        >>> import imprint.numpy as np
        >>> np.deg2rad(np.array([0.0]))
        Array([0.], dtype=float32)
    """
    x = inexact("deg2rad", x)
    return mul(x, constant_like(x, math.pi / 180))


@fuse_eager
def rad2deg(x: ArrayLike, /) -> Array:
    """Convert radians to degrees, elementwise.

    Args:
        x: an array or number; integers and booleans become floats. In radians.

    Returns:
        The angles in degrees, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.rad2deg`.

    Example:
        >>> import imprint.numpy as np
        >>> np.rad2deg(np.array([0.0]))
        Array([0.], dtype=float32)
    """
    x = inexact("rad2deg", x)
    return mul(x, constant_like(x, 180 / math.pi))


radians: Final = deg2rad
degrees: Final = rad2deg


@fuse_eager
def sinc(x: ArrayLike, /) -> Array:
    """Return `sin(πx) / (πx)`, elementwise; 1 at 0 and exactly 0 at other integers.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The values, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.sinc`.

    Example:
        >>> import imprint.numpy as np
        >>> np.sinc(np.array([0.0, 2.0, np.inf]))
        Array([1., 0., 0.], dtype=float32)
    """
    x = as_array("sinc", inexact("sinc", x))
    wide = x if x.dtype.itemsize > _SHORT else convert("sinc", x, dtypes.float32)
    is_near = lt(abs_(wide), strong_like(abs_(wide), 0.5))
    zero, one = constant_like(wide, 0), constant_like(wide, 1)
    near = polynomial_at(square(where(is_near, wide, zero)), _SINC)
    safe = where(is_near, one, wide)
    angle = mul(safe, constant_like(wide, math.pi))
    sine = sin_p.bind1(angle) if dtypes.is_complex(x.dtype) else _sin_pi(safe)
    away = div(sine, angle)
    return convert(
        "sinc",
        where(is_near, near, away),
        x.dtype,
        weak_type=x.weak_type and not x.ndim,
    )


_SHORT: Final = 2
_SINC: Final = [
    (-1) ** k * math.pi ** (2 * k) / math.factorial(2 * k + 1) for k in range(12)
]
"""The series of `sinc` by the square: its derivatives do not cancel near 0."""


def polynomial_at(x: Array, coefficients: Sequence[float]) -> Array:
    """Return the polynomial of these coefficients, the constant one first, at `x`."""
    total = constant_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = add(mul(total, x), constant_like(x, c))
    return total


def _sin_pi(x: Array) -> Array:
    """Return `sin(πx)`, reduced to the nearest integer, so that it is 0 at integers."""
    nearest = round_(x, RoundingMethod.TO_NEAREST_EVEN)
    half = round_(mul(nearest, constant_like(x, 0.5)), RoundingMethod.TO_NEAREST_EVEN)
    is_even = eq(add(half, half), nearest)
    is_infinite = eq(abs_(x), constant_like(x, np.inf))
    rest = where(is_infinite, constant_like(x, 0), sub(x, nearest))
    sine = sin_p.bind1(mul(rest, constant_like(x, math.pi)))
    return where(is_even, sine, neg(sine))


def hypot(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Return `sqrt(x**2 + y**2)`, elementwise, without intermediate overflow.

    Args:
        x: a real array or number; integers and booleans become floats.
        y: likewise, which broadcasts with `x`.

    Returns:
        The lengths, of the broadcast shape, in the promoted floating dtype. Infinity if
        an operand is infinite, even if the other is NaN.

    Raises:
        DTypeError: an operand is complex.

    References:
        NumPy, `numpy.hypot`.

    Example:
        >>> import imprint.numpy as np
        >>> np.hypot(3.0, np.array([4.0, np.inf]))
        Array([ 5., inf], dtype=float32)
    """
    refuse_complex("hypot", x, y)
    x, y = inexact_operands("hypot", x, y)
    return hypot_p.bind1(x, y)


@fuse_eager
def angle(z: ArrayLike, deg: bool = False) -> Array:  # noqa: FBT001, FBT002 - NumPy's signature
    """Return the angle of complex numbers, elementwise, in radians or degrees.

    Args:
        z: an array or number, real or complex.
        deg: whether to return degrees.

    Returns:
        The angles, in [-π, π] or [-180, 180], of the shape of `z`, in the floating
        dtype of its parts. Real numbers have angle 0, or π if negative.

    References:
        NumPy, `numpy.angle`.

    Example:
        >>> import imprint.numpy as np
        >>> np.angle(np.array([2.0, -2.0]), deg=True)
        Array([  0., 180.], dtype=float32)
    """
    z = as_array("angle", z)
    is_complex = dtypes.is_complex(z.dtype)
    re = real(z) if is_complex else z
    im = imag(z) if is_complex else filled_like(z, 0)
    if not dtypes.is_inexact(re.dtype) or (not is_complex and re.ndim == 0):
        dtype = dtypes.default_float()
        re, im = convert("angle", re, dtype), convert("angle", im, dtype)
    result = atan2_p.bind1(im, re)
    return rad2deg(result) if deg else result
