"""Comparison, logic and classification of numbers, elementwise; all give booleans.

`==` of a NaN is false and `!=` true, as in IEEE 754. Complex numbers compare by real
parts, then by imaginary parts. Logic accepts any numbers: 0 is false.
"""

from operator import eq
from typing import Any, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.array import to_array
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.primitive import Primitive
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import DTypeError
from imprint._src.interpreters.keys import compares_keys
from imprint._src.numpy.creation import asarray
from imprint._src.numpy.elementwise.selection import as_bool, where
from imprint._src.numpy.elementwise.ufunc import refuse_options, universal
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    broadcast_all,
    constant_like,
    convert,
    fit_shapes,
    inexact_operands,
    match_shapes,
    operands,
    promote_dtypes,
    refuse_complex,
    refuse_out,
    strong_like,
)
from imprint._src.numpy.reductions.reductions import all
from imprint._src.primitives.core_ops import add, full, mul, neg, sub
from imprint._src.primitives.elementwise.bitwise import (
    and_,
    and_p,
    not_p,
    or_,
    or_p,
    xor_p,
)
from imprint._src.primitives.elementwise.comparison import (
    eq_p,
    ge_p,
    gt_p,
    le,
    le_p,
    lt_p,
    ne_p,
)
from imprint._src.primitives.elementwise.complex import imag, real
from imprint._src.primitives.elementwise.convert import bitcast_convert_type
from imprint._src.primitives.elementwise.rounding import abs_, is_finite


def equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Return `x == y`, elementwise.

    Args:
        x: an array or number.
        y: an array or number, which broadcasts with `x`.

    Returns:
        Booleans, of the broadcast shape. False where an operand is NaN.

    References:
        NumPy, `numpy.equal`.

    Example:
        >>> import imprint.numpy as np
        >>> np.equal(np.arange(3), 1)
        Array([False,  True, False], dtype=bool)
    """
    x, y = _comparands("equal", x, y)
    return eq_p.bind1(x, y)


def not_equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Return `x != y`, elementwise.

    Args:
        x: an array or number.
        y: an array or number, which broadcasts with `x`.

    Returns:
        Booleans, of the broadcast shape. True where an operand is NaN.

    References:
        NumPy, `numpy.not_equal`.

    Example:
        >>> import imprint.numpy as np
        >>> np.not_equal(np.arange(3), 1)
        Array([ True, False,  True], dtype=bool)
    """
    x, y = _comparands("not_equal", x, y)
    return ne_p.bind1(x, y)


def less(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Return `x < y`, elementwise.

    Args:
        x: an array or number; complex ones compare by real, then imaginary part.
        y: an array or number, which broadcasts with `x`.

    Returns:
        Booleans, of the broadcast shape. False where an operand is NaN.

    References:
        NumPy, `numpy.less`.

    Example:
        >>> import imprint.numpy as np
        >>> np.less(np.arange(3), 1)
        Array([ True, False, False], dtype=bool)
    """
    return _ordered("less", lt_p, x, y)


def less_equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Return `x <= y`, elementwise.

    Args:
        x: an array or number; complex ones compare by real, then imaginary part.
        y: an array or number, which broadcasts with `x`.

    Returns:
        Booleans, of the broadcast shape. False where an operand is NaN.

    References:
        NumPy, `numpy.less_equal`.

    Example:
        >>> import imprint.numpy as np
        >>> np.less_equal(np.arange(3), 1)
        Array([ True,  True, False], dtype=bool)
    """
    return _ordered("less_equal", le_p, x, y)


def greater(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Return `x > y`, elementwise.

    Args:
        x: an array or number; complex ones compare by real, then imaginary part.
        y: an array or number, which broadcasts with `x`.

    Returns:
        Booleans, of the broadcast shape. False where an operand is NaN.

    References:
        NumPy, `numpy.greater`.

    Example:
        >>> import imprint.numpy as np
        >>> np.greater(np.arange(3), 1)
        Array([False, False,  True], dtype=bool)
    """
    return _ordered("greater", gt_p, x, y)


def greater_equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Return `x >= y`, elementwise.

    Args:
        x: an array or number; complex ones compare by real, then imaginary part.
        y: an array or number, which broadcasts with `x`.

    Returns:
        Booleans, of the broadcast shape. False where an operand is NaN.

    References:
        NumPy, `numpy.greater_equal`.

    Example:
        >>> import imprint.numpy as np
        >>> np.greater_equal(np.arange(3), 1)
        Array([False,  True,  True], dtype=bool)
    """
    return _ordered("greater_equal", ge_p, x, y)


def _ordered(name: str, primitive: Primitive, x: ArrayLike, y: ArrayLike) -> Array:
    x, y = _comparands(name, x, y)
    if not dtypes.is_complex(as_array(name, x).dtype):
        return primitive.bind1(x, y)
    by_real = primitive.bind1(real(x), real(y))
    by_imag = primitive.bind1(imag(x), imag(y))
    return where(eq_p.bind1(real(x), real(y)), by_imag, by_real)


def _comparands(name: str, x: Any, y: Any) -> Any:
    """Return two operands of one dtype; an integer that fits no dtype is beyond all others."""
    try:
        return operands(name, x, y)
    except OverflowError:
        if type(y) is int and _holds_integers(x):
            return _zeros_like(cast("Array", x)), np.int32(1 if y > 0 else -1)
        if type(x) is int and _holds_integers(y):
            return np.int32(1 if x > 0 else -1), _zeros_like(cast("Array", y))
        raise


def _holds_integers(x: Any) -> bool:
    return isinstance(x, Array) and dtypes.is_integer(x.dtype)


def _zeros_like(x: Array) -> Array:
    return full(x.shape, 0, np.dtype(np.int32))


@fuse_eager
def fmax(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Return the larger operand, elementwise; ignore a NaN if the other is none.

    Args:
        x1: an array or number.
        x2: an array or number, which broadcasts with `x1`.

    Returns:
        The larger values, of the broadcast shape and the promoted dtype; NaN where both
        are.

    References:
        NumPy, `numpy.fmax`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fmax(np.array([1.0, np.nan]), 0.5)
        Array([1. , 0.5], dtype=float32)
    """
    x, y = operands("fmax", x1, x2)
    return where(logical_or(greater(x, y), isnan(y)), x, y)


@fuse_eager
def fmin(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Return the smaller operand, elementwise; ignore a NaN if the other is none.

    Args:
        x1: an array or number.
        x2: an array or number, which broadcasts with `x1`.

    Returns:
        The smaller values, of the broadcast shape and the promoted dtype; NaN where
        both are.

    References:
        NumPy, `numpy.fmin`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fmin(np.array([1.0, np.nan]), 0.5)
        Array([0.5, 0.5], dtype=float32)
    """
    x, y = operands("fmin", x1, x2)
    return where(logical_or(less(x, y), isnan(y)), x, y)


# ---- logic ----


@universal(identity=True)
def logical_and(
    x: ArrayLike, y: ArrayLike, /, out: None = None, where: None = None
) -> Array:
    """Return whether both are true, elementwise.

    Args:
        x: an array or number; 0 is false, anything else true.
        y: likewise, which broadcasts with `x`.
        out: must be None; arrays are immutable.
        where: must be None; for a mask, call `imprint.numpy.where`.

    Returns:
        Booleans, of the broadcast shape.

    References:
        NumPy, `numpy.logical_and`.

    Example:
        >>> import imprint.numpy as np
        >>> np.logical_and(np.array([0, 1, 2]), True)
        Array([False,  True,  True], dtype=bool)
    """
    if out is not None or where is not None:
        refuse_options("logical_and", out, where)
    return _logical("logical_and", and_p, x, y)


@universal(identity=False)
def logical_or(
    x: ArrayLike, y: ArrayLike, /, out: None = None, where: None = None
) -> Array:
    """Return whether either is true, elementwise.

    Args:
        x: an array or number; 0 is false, anything else true.
        y: likewise, which broadcasts with `x`.
        out: must be None; arrays are immutable.
        where: must be None; for a mask, call `imprint.numpy.where`.

    Returns:
        Booleans, of the broadcast shape.

    References:
        NumPy, `numpy.logical_or`.

    Example:
        >>> import imprint.numpy as np
        >>> np.logical_or(np.array([0, 1]), False)
        Array([False,  True], dtype=bool)
    """
    if out is not None or where is not None:
        refuse_options("logical_or", out, where)
    return _logical("logical_or", or_p, x, y)


@universal(identity=False)
def logical_xor(
    x: ArrayLike, y: ArrayLike, /, out: None = None, where: None = None
) -> Array:
    """Return whether exactly one is true, elementwise.

    Args:
        x: an array or number; 0 is false, anything else true.
        y: likewise, which broadcasts with `x`.
        out: must be None; arrays are immutable.
        where: must be None; for a mask, call `imprint.numpy.where`.

    Returns:
        Booleans, of the broadcast shape.

    References:
        NumPy, `numpy.logical_xor`.

    Example:
        >>> import imprint.numpy as np
        >>> np.logical_xor(np.array([0, 1]), True)
        Array([ True, False], dtype=bool)
    """
    if out is not None or where is not None:
        refuse_options("logical_xor", out, where)
    return _logical("logical_xor", xor_p, x, y)


def logical_not(x: ArrayLike, /) -> Array:
    """Return whether `x` is false, elementwise.

    Args:
        x: an array or number; 0 is false, anything else true.

    Returns:
        Booleans, of the shape of `x`.

    References:
        NumPy, `numpy.logical_not`.

    Example:
        >>> import imprint.numpy as np
        >>> np.logical_not(np.array([0, 2]))
        Array([ True, False], dtype=bool)
    """
    return not_p.bind1(as_bool("logical_not", x))


def _logical(name: str, primitive: Primitive, x: ArrayLike, y: ArrayLike) -> Array:
    x, y = operands(name, x, y)
    return primitive.bind1(as_bool(name, x), as_bool(name, y))


# ---- classification ----


def isnan(x: ArrayLike, /) -> Array:
    """Return whether `x` is NaN, elementwise.

    Args:
        x: an array or number; a complex number is NaN if a part is.

    Returns:
        Booleans, of the shape of `x`.

    References:
        NumPy, `numpy.isnan`.

    Example:
        >>> import imprint.numpy as np
        >>> np.isnan(np.array([1.0, np.nan]))
        Array([False,  True], dtype=bool)
    """
    x = as_array("isnan", x)
    return ne_p.bind1(x, x)


def isfinite(x: ArrayLike, /) -> Array:
    """Return whether `x` is finite, neither infinite nor NaN, elementwise.

    Args:
        x: an array or number; a complex number is finite if both parts are.

    Returns:
        Booleans, of the shape of `x`.

    References:
        NumPy, `numpy.isfinite`.

    Example:
        >>> import imprint.numpy as np
        >>> np.isfinite(np.array([1.0, np.inf, np.nan]))
        Array([ True, False, False], dtype=bool)
    """
    x = as_array("isfinite", x)
    if dtypes.is_complex(x.dtype):
        return and_(is_finite(real(x)), is_finite(imag(x)))
    return is_finite(x) if dtypes.is_floating(x.dtype) else _filled(x, value=True)


def isinf(x: ArrayLike, /) -> Array:
    """Return whether `x` is infinite, elementwise.

    Args:
        x: an array or number; a complex number is infinite if a part is.

    Returns:
        Booleans, of the shape of `x`.

    References:
        NumPy, `numpy.isinf`.

    Example:
        >>> import imprint.numpy as np
        >>> np.isinf(np.array([1.0, -np.inf]))
        Array([False,  True], dtype=bool)
    """
    x = as_array("isinf", x)
    if dtypes.is_complex(x.dtype):
        return or_(isinf(real(x)), isinf(imag(x)))
    if not dtypes.is_floating(x.dtype):
        return _filled(x, value=False)
    return eq_p.bind1(abs_(x), strong_like(x, np.inf))


@fuse_eager
def isposinf(x: ArrayLike, /, out: None = None) -> Array:
    """Return whether `x` is positive infinity, elementwise.

    Args:
        x: a real array or number.
        out: must be None; arrays are immutable.

    Returns:
        Booleans, of the shape of `x`.

    References:
        NumPy, `numpy.isposinf`.

    Example:
        >>> import imprint.numpy as np
        >>> np.isposinf(np.array([np.inf, -np.inf]))
        Array([ True, False], dtype=bool)
    """
    refuse_out("isposinf", out)
    return _is_value("isposinf", x, np.inf)


@fuse_eager
def isneginf(x: ArrayLike, /, out: None = None) -> Array:
    """Return whether `x` is negative infinity, elementwise.

    Args:
        x: a real array or number.
        out: must be None; arrays are immutable.

    Returns:
        Booleans, of the shape of `x`.

    References:
        NumPy, `numpy.isneginf`.

    Example:
        >>> import imprint.numpy as np
        >>> np.isneginf(np.array([np.inf, -np.inf]))
        Array([False,  True], dtype=bool)
    """
    refuse_out("isneginf", out)
    return _is_value("isneginf", x, -np.inf)


def _is_value(name: str, x: ArrayLike, value: float) -> Array:
    x = as_array(name, x)
    refuse_complex(name, x)
    if not dtypes.is_floating(x.dtype):
        return _filled(x, value=False)
    return eq_p.bind1(x, strong_like(x, value))


def iscomplex(x: ArrayLike) -> Array:
    """Return whether the imaginary part is nonzero, elementwise.

    Args:
        x: an array or number.

    Returns:
        Booleans, of the shape of `x`. False for real numbers.

    References:
        NumPy, `numpy.iscomplex`.

    Example:
        >>> import imprint.numpy as np
        >>> np.iscomplex(np.array([1j, 1]))
        Array([ True, False], dtype=bool)
    """
    x = as_array("iscomplex", x)
    if not dtypes.is_complex(x.dtype):
        return _filled(x, value=False)
    part = imag(x)
    return ne_p.bind1(part, strong_like(part, 0))


def isreal(x: ArrayLike) -> Array:
    """Return whether the imaginary part is zero, elementwise.

    Args:
        x: an array or number.

    Returns:
        Booleans, of the shape of `x`. True for real numbers.

    References:
        NumPy, `numpy.isreal`.

    Example:
        >>> import imprint.numpy as np
        >>> np.isreal(np.array([1j, 1]))
        Array([False,  True], dtype=bool)
    """
    x = as_array("isreal", x)
    if not dtypes.is_complex(x.dtype):
        return _filled(x, value=True)
    return not_p.bind1(iscomplex(x))


@fuse_eager
def signbit(x: ArrayLike, /) -> Array:
    """Return whether the sign bit is set, elementwise; true of -0.0.

    Args:
        x: a real array or number. Floats have 16, 32 or 64 bits.

    Returns:
        Booleans, of the shape of `x`.

    Raises:
        DTypeError: `x` is complex, or a float of another width.

    References:
        NumPy, `numpy.signbit`.

    Example:
        >>> import imprint.numpy as np
        >>> np.signbit(np.array([-0.0, 0.0, -1.0]))
        Array([ True, False,  True], dtype=bool)
    """
    x = as_array("signbit", x)
    refuse_complex("signbit", x)
    if dtypes.is_bool(x.dtype):
        return _filled(x, value=False)
    if dtypes.is_integer(x.dtype):
        return lt_p.bind1(x, strong_like(x, 0))
    integer = _INTEGER_OF_BITS.get(dtypes.bit_width(x.dtype))
    if integer is None:
        raise DTypeError(
            f"signbit: expected a float of 16, 32 or 64 bits, got {x.aval}. "
            "Convert it with .astype('float32')."
        )
    bits = bitcast_convert_type(x, integer)
    return lt_p.bind1(bits, strong_like(bits, 0))


@fuse_eager
def copysign(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Return the magnitude of `x` with the sign of `y`, elementwise.

    Args:
        x: the magnitudes, a real array or number; integers and booleans become floats.
        y: the signs, likewise, which broadcast with `x`.

    Returns:
        The values, of the broadcast shape, in the promoted floating dtype.

    Raises:
        DTypeError: an operand is complex.

    References:
        NumPy, `numpy.copysign`.

    Example:
        >>> import imprint.numpy as np
        >>> np.copysign(np.array([1.0, 2.0]), -0.0)
        Array([-1., -2.], dtype=float32)
    """
    refuse_complex("copysign", x, y)
    x, y = inexact_operands("copysign", x, y)
    size = abs_(x)
    return where(signbit(y), neg(size), size)


@fuse_eager
def heaviside(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Return 0 where `x < 0`, 1 where `x > 0` and `y` where `x == 0`, elementwise.

    Args:
        x: a real array or number. Integers and booleans become floats.
        y: the values at 0, likewise, which broadcast with `x`.

    Returns:
        The values, of the broadcast shape, in the promoted floating dtype; NaN where
        `x` is.

    References:
        NumPy, `numpy.heaviside`.

    Example:
        >>> import imprint.numpy as np
        >>> np.heaviside(np.array([-2.0, 0.0, 2.0]), 0.5)
        Array([0. , 0.5, 1. ], dtype=float32)
    """
    x, y = fit_shapes(
        "heaviside", promote_dtypes("heaviside", (x, y), dtypes.to_inexact)
    )
    zero, one = constant_like(x, 0), constant_like(x, 1)
    at_zero = where(isnan(x), x, y)
    positive = where(gt_p.bind1(x, zero), one, at_zero)
    return where(lt_p.bind1(x, zero), zero, positive)


# ---- closeness ----


@fuse_eager
@compares_keys(eq)
def isclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1e-05,
    atol: ArrayLike = 1e-08,
    equal_nan: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
) -> Array:
    """Return whether `|a - b| <= atol + rtol * |b|`, elementwise.

    Args:
        a: numbers.
        b: the numbers to compare with.
        rtol: the relative tolerance.
        atol: the absolute tolerance.
        equal_nan: whether two NaNs are close.

    Returns:
        Booleans, of the broadcast shape. Equal infinities are close.

    References:
        NumPy, `numpy.isclose`.

    Example:
        >>> import imprint.numpy as np
        >>> np.isclose(np.array([1.0, 2.0]), np.array([1.0000001, 2.1]))
        Array([ True, False], dtype=bool)
    """
    x, y = inexact_operands("isclose", a, b)
    x, y = as_array("isclose", x), as_array("isclose", y)
    dtype = dtypes.real_part_dtype(x.dtype)
    relative, absolute = (convert("isclose", t, dtype) for t in (rtol, atol))
    distance = abs_(sub(x, y))
    allowed = add(*match_shapes("isclose", (absolute, multiply_sizes(relative, y))))
    near = and_(*match_shapes("isclose", (isfinite(y), le(distance, allowed))))
    near = or_(eq_p.bind1(x, y), near)
    if not equal_nan:
        return near
    both_nan = and_(*match_shapes("isclose", (isnan(x), isnan(y))))
    return or_(near, both_nan)


def multiply_sizes(factor: Array, y: Array) -> Array:
    """Return `factor * |y|`, broadcast to one shape."""
    return mul(*match_shapes("isclose", (factor, abs_(y))))


@fuse_eager
@compares_keys(lambda a, b: all(a == b))
def allclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1e-05,
    atol: ArrayLike = 1e-08,
    equal_nan: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
) -> Array:
    """Return whether all elements are close; see `isclose`.

    Args:
        a: numbers.
        b: the numbers to compare with, which broadcast with `a`.
        rtol: the relative tolerance.
        atol: the absolute tolerance.
        equal_nan: whether two NaNs are close.

    Returns:
        A boolean array of rank 0.

    References:
        NumPy, `numpy.allclose`.

    Example:
        >>> import imprint.numpy as np
        >>> np.allclose(np.ones(3), 1.0)
        Array(True, dtype=bool)
    """
    return all(isclose(a, b, rtol, atol, equal_nan))


def _is_same_keys(a: Any, b: Any) -> Any:
    if a.shape != b.shape:
        return _filled(to_array(0), value=False)
    return all(a == b)


@fuse_eager
@compares_keys(_is_same_keys)
def array_equal(
    a1: Any,
    a2: Any,
    equal_nan: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
) -> Array:
    """Return whether two arrays have the same shape and elements.

    Args:
        a1: an array, number or nested sequence.
        a2: likewise.
        equal_nan: whether two NaNs are equal.

    Returns:
        A boolean array of rank 0.

    References:
        NumPy, `numpy.array_equal`.

    Example:
        >>> import imprint.numpy as np
        >>> np.array_equal(np.arange(3), np.array([0, 1, 2]))
        Array(True, dtype=bool)
    """
    x, y = asarray(a1), asarray(a2)
    if not dims.equal_shapes(x.shape, y.shape):
        return _filled(to_array(0), value=False)
    same = equal(x, y)
    if equal_nan:
        same = or_(same, and_(isnan(x), isnan(y)))
    return all(same)


def array_equiv(a1: Any, a2: Any) -> Array:
    """Return whether two arrays have the same elements after broadcasting.

    Args:
        a1: an array, number or nested sequence.
        a2: likewise.

    Returns:
        A boolean array of rank 0; False if the shapes do not broadcast together.

    References:
        NumPy, `numpy.array_equiv`.

    Example:
        >>> import imprint.numpy as np
        >>> np.array_equiv(np.ones(3), np.ones((2, 3)))
        Array(True, dtype=bool)
    """
    x, y = asarray(a1), asarray(a2)
    if dims.broadcast_shapes((x.shape, y.shape)) is None:
        return _filled(to_array(0), value=False)
    return all(equal(*broadcast_all("array_equiv", (x, y))))


def _filled(x: Array, *, value: bool) -> Array:
    return as_array("full", full(x.shape, value, dtypes.bool_))


_INTEGER_OF_BITS = {16: dtypes.int16, 32: dtypes.int32, 64: dtypes.int64}
