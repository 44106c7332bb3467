"""Arithmetic, elementwise: the operators `+ - * / // %` and their relatives.

Each function promotes its operands (`promotion`), broadcasts them, and binds one or a
few primitives. On booleans `add` and `multiply` are "or" and "and". Integer division by
zero gives XLA's results without a warning: -1 for `//`, and 0 for `%`, which replaces a
divisor 0 by 1.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import Array, NumberArray, is_operand
from imprint._src.core.aval import get_aval
from imprint._src.eager.fusion import fuse_eager
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.elementwise.ufunc import refuse_options, universal
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    broadcast,
    convert,
    filled_like,
    inexact,
    inexact_operands,
    is_bool,
    match_shapes,
    numeric,
    numeric_operands,
    operands,
    refuse_complex,
)
from imprint._src.primitives.barrier import stop_gradient
from imprint._src.primitives.copying import owned
from imprint._src.primitives.core_ops import add_p, mul_p, neg_p, scalar_like, sub_p
from imprint._src.primitives.elementwise.arithmetic import (
    div_p,
    integer_pow,
    max_p,
    min_p,
    nextafter_p,
    rem_p,
)
from imprint._src.primitives.elementwise.bitwise import and_p, or_p
from imprint._src.primitives.elementwise.comparison import eq, lt, ne
from imprint._src.primitives.elementwise.exponential import square_p
from imprint._src.primitives.elementwise.rounding import abs_p, round_, sign_p
from imprint._src.primitives.elementwise.select import select_n, select_n_p


@universal(identity=0)
def add(x: ArrayLike, y: ArrayLike, /, out: None = None, where: None = None) -> Array:
    """Add, elementwise; "or" for booleans.

    Args:
        x: an array or number.
        y: an array or number, which broadcasts with `x`.
        out: must be None; arrays are immutable.
        where: must be None; for a mask, call `imprint.numpy.where`.

    Returns:
        The sums, of the broadcast shape and the promoted dtype.

    References:
        NumPy, `numpy.add`.

    Example:
        >>> import imprint.numpy as np
        >>> np.add(np.array([1.0, 2.0]), 1)
        Array([2., 3.], dtype=float32)
    """
    if out is not None or where is not None:
        refuse_options("add", out, where)
    x, y = operands("add", x, y)
    return (or_p if is_bool(x) else add_p).bind1(x, y)


@universal()
def subtract(
    x: ArrayLike,
    y: ArrayLike,
    /,
    out: None = None,
    where: None = None,
) -> Array:
    """Subtract `y` from `x`, elementwise.

    Args:
        x: an array or number, not of booleans.
        y: an array or number, which broadcasts with `x`.
        out: must be None; arrays are immutable.
        where: must be None; for a mask, call `imprint.numpy.where`.

    Returns:
        The differences, of the broadcast shape and the promoted dtype.

    References:
        NumPy, `numpy.subtract`.

    Example:
        >>> import imprint.numpy as np
        >>> np.subtract(np.arange(3), 1)
        Array([-1,  0,  1], dtype=int32)
    """
    if out is not None or where is not None:
        refuse_options("subtract", out, where)
    x, y = operands("subtract", x, y)
    return sub_p.bind1(x, y)


@universal(identity=1)
def multiply(
    x: ArrayLike,
    y: ArrayLike,
    /,
    out: None = None,
    where: None = None,
) -> Array:
    """Multiply, elementwise; "and" for booleans.

    Args:
        x: an array or number.
        y: an array or number, which broadcasts with `x`.
        out: must be None; arrays are immutable.
        where: must be None; for a mask, call `imprint.numpy.where`.

    Returns:
        The products, of the broadcast shape and the promoted dtype. False times a float
        is 0, of infinity and NaN too.

    References:
        NumPy, `numpy.multiply`.

    Example:
        >>> import imprint.numpy as np
        >>> np.multiply(np.arange(3), 2)
        Array([0, 2, 4], dtype=int32)
    """
    if out is not None or where is not None:
        refuse_options("multiply", out, where)
    if x.__class__ not in _NUMBERS and y.__class__ not in _NUMBERS:
        if _is_mask(x) and _is_inexact(y):
            return _masked(x, y)
        if _is_mask(y) and _is_inexact(x):
            return _masked(y, x)
    x, y = operands("multiply", x, y)
    return (and_p if is_bool(x) else mul_p).bind1(x, y)


_NUMBERS: Final = frozenset({bool, int, float, complex})


def _is_mask(x: Any) -> bool:
    if isinstance(x, NumberArray):
        return x.aval.dtype is dtypes.bool_
    return isinstance(x, np.ndarray) and get_aval(x).dtype is dtypes.bool_


def _is_inexact(x: Any) -> bool:
    return is_operand(x) and dtypes.is_inexact(get_aval(x).dtype)


def _masked(mask: Any, values: Any) -> Array:
    """Return a product with booleans: 0 where they are false, of infinity and NaN too.

    XLA computes the product of a converted boolean so; NumPy's product is another.
    """
    dtype, weak = dtypes.promote((dtypes.typed(mask), dtypes.typed(values)))
    values = convert("multiply", values, dtype, weak_type=weak)
    mask, values = match_shapes("multiply", (as_array("multiply", mask), values))
    if not get_aval(values).shape:
        values = broadcast(values, get_aval(mask).shape)
    return select_n_p.bind1(mask, filled_like(values, 0), values)


@universal(nin=1)
def negative(x: ArrayLike, /, out: None = None, where: None = None) -> Array:
    """Return `-x`, elementwise.

    Args:
        x: an array or number, not of booleans; unsigned integers wrap around.
        out: must be None; arrays are immutable.
        where: must be None; for a mask, call `imprint.numpy.where`.

    Returns:
        An array of the shape and dtype of `x`.

    References:
        NumPy, `numpy.negative`.

    Example:
        >>> import imprint.numpy as np
        >>> np.negative(np.array([1, -2]))
        Array([-1,  2], dtype=int32)
    """
    if out is not None or where is not None:
        refuse_options("negative", out, where)
    return neg_p.bind1(as_array("negative", x))


@owned
def positive(x: ArrayLike, /) -> Array:
    """Return `x`.

    Args:
        x: an array or number.

    Returns:
        An array of the shape, dtype and values of `x`.

    References:
        NumPy, `numpy.positive`.

    Example:
        >>> import imprint.numpy as np
        >>> np.positive(np.array([1, -2]))
        Array([ 1, -2], dtype=int32)
    """
    return as_array("positive", x)


@owned
def absolute(x: ArrayLike, /) -> Array:
    """Return the absolute value, elementwise; the magnitude of complex numbers.

    Args:
        x: an array or number.

    Returns:
        The magnitudes, of the shape and dtype of `x`; floats for complex numbers.

    References:
        NumPy, `numpy.absolute`.

    Example:
        >>> import imprint.numpy as np
        >>> np.absolute(np.array([-1, 2, -3]))
        Array([1, 2, 3], dtype=int32)
    """
    x = as_array("absolute", x)
    if dtypes.is_bool(x.dtype) or dtypes.is_unsigned(x.dtype):
        return x
    return abs_p.bind1(x)


abs = absolute


def fabs(x: ArrayLike, /) -> Array:
    """Return the absolute value as a float, elementwise.

    Args:
        x: a real array or number. Integers and booleans become floats.

    Returns:
        The magnitudes, of the shape of `x`, in its floating dtype.

    Raises:
        DTypeError: `x` is complex.

    References:
        NumPy, `numpy.fabs`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fabs(np.array([-1, 2]))
        Array([1., 2.], dtype=float32)
    """
    refuse_complex("fabs", x)
    return abs_p.bind1(inexact("fabs", x))


def sign(x: ArrayLike, /) -> Array:
    """Return the sign, -1, 0 or 1, elementwise; `x / abs(x)` for complex numbers.

    Args:
        x: an array or number, not of booleans.

    Returns:
        The signs, of the shape and dtype of `x`. NaN for NaN; a zero keeps its sign.

    References:
        NumPy, `numpy.sign`.

    Example:
        >>> import imprint.numpy as np
        >>> np.sign(np.array([-3, 0, 5]))
        Array([-1,  0,  1], dtype=int32)
    """
    return sign_p.bind1(as_array("sign", x))


def square(x: ArrayLike, /) -> Array:
    """Return `x * x`, elementwise.

    Args:
        x: an array or number.

    Returns:
        The squares, of the shape and dtype of `x`; int32 for booleans.

    References:
        NumPy, `numpy.square`.

    Example:
        >>> import imprint.numpy as np
        >>> np.square(np.array([-3, 4]))
        Array([ 9, 16], dtype=int32)
    """
    return square_p.bind1(numeric("square", x))


def reciprocal(x: ArrayLike, /) -> Array:
    """Return `1 / x`, elementwise, as a float.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The reciprocals, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.reciprocal`.

    Example:
        >>> import imprint.numpy as np
        >>> np.reciprocal(np.array([2.0, -4.0]))
        Array([ 0.5 , -0.25], dtype=float32)
    """
    return integer_pow(inexact("reciprocal", x), -1)


# ---- division ----


def true_divide(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Divide, elementwise; integers give floats.

    Args:
        x: an array or number; integers and booleans become floats.
        y: likewise, which broadcasts with `x`.

    Returns:
        The quotients, of the broadcast shape, in the promoted floating or complex
        dtype.

    References:
        NumPy, `numpy.true_divide`.

    Example:
        >>> import imprint.numpy as np
        >>> np.true_divide(np.arange(4), 2)
        Array([0. , 0.5, 1. , 1.5], dtype=float32)
    """
    x, y = inexact_operands("true_divide", x, y)
    return div_p.bind1(x, y)


divide = true_divide


@fuse_eager
def floor_divide(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Divide and round toward minus infinity, elementwise.

    Args:
        x: a real array or number. Booleans become integers.
        y: likewise, which broadcasts with `x`.

    Returns:
        The quotients, of the broadcast shape and the promoted dtype. An integer divided
        by 0 is unspecified.

    Raises:
        DTypeError: an operand is complex.

    References:
        NumPy, `numpy.floor_divide`.

    Example:
        >>> import imprint.numpy as np
        >>> np.floor_divide(np.array([-7, 7]), 2)
        Array([-4,  3], dtype=int32)
    """
    by_positive = type(y) is int and y > 0
    x, y = _arrays(numeric_operands("floor_divide", x, y))
    refuse_complex("floor_divide", x)
    if dtypes.is_unsigned(x.dtype):
        return div_p.bind1(x, y)
    if not dtypes.is_integer(x.dtype):
        return _float_divmod(x, y)[0]
    quotient = div_p.bind1(x, y)
    if by_positive:  # `x // 2`: half the equations of the general case
        below = lt(rem_p.bind1(x, y), scalar_like(x, 0))
        return select_n(below, quotient, sub_p.bind1(quotient, scalar_like(x, 1)))
    unequal = ne(sign_p.bind1(x), sign_p.bind1(y))
    inexact_quotient = ne(rem_p.bind1(x, y), scalar_like(x, 0))
    return where(
        and_p.bind1(*_arrays(operands("floor_divide", unequal, inexact_quotient))),
        sub_p.bind1(quotient, scalar_like(x, 1)),
        quotient,
    )


@fuse_eager
def remainder(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Return the remainder of `floor_divide`, elementwise, with the sign of `y`.

    Args:
        x: a real array or number. Booleans become integers.
        y: likewise, which broadcasts with `x`.

    Returns:
        The remainders, of the broadcast shape and the promoted dtype. By 0: 0 for
        integers, NaN for floats.

    Raises:
        DTypeError: an operand is complex.

    References:
        NumPy, `numpy.remainder`.

    Example:
        >>> import imprint.numpy as np
        >>> np.remainder(np.array([-7, 7]), 3)
        Array([2, 1], dtype=int32)
    """
    by_positive = type(y) is int and y > 0
    x, y = _arrays(numeric_operands("remainder", x, y))
    refuse_complex("remainder", x)
    zero = scalar_like(x, 0)
    if by_positive and dtypes.is_integer(x.dtype):
        rest = rem_p.bind1(x, y)
        return select_n(lt(rest, zero), rest, add_p.bind1(rest, y))
    if dtypes.is_integer(x.dtype):
        y = where(eq(y, zero), scalar_like(y, 1), y)
    truncated = rem_p.bind1(x, y)
    is_negative = lt(y, zero)
    across = ne(*_arrays(operands("remainder", lt(truncated, zero), is_negative)))
    plus = add_p.bind1(truncated, y)
    if dtypes.is_integer(x.dtype):
        return where(and_p.bind1(across, ne(truncated, zero)), plus, truncated)
    rest = where(across, plus, truncated)
    signed = _signed_zero(truncated, is_negative)
    return where(eq(truncated, zero), signed, rest)


mod = remainder


@fuse_eager
def fmod(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Return the remainder of division toward zero, elementwise, with the sign of `x`.

    Args:
        x: a real array or number. Booleans become integers.
        y: likewise, which broadcasts with `x`.

    Returns:
        The remainders, of the broadcast shape and the promoted dtype. By 0: 0 for
        integers, NaN for floats.

    Raises:
        DTypeError: an operand is complex.

    References:
        NumPy, `numpy.fmod`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fmod(np.array([-7, 7]), 3)
        Array([-1,  1], dtype=int32)
    """
    x, y = _arrays(numeric_operands("fmod", x, y))
    refuse_complex("fmod", x)
    if dtypes.is_integer(x.dtype):
        y = where(eq(y, scalar_like(y, 0)), scalar_like(y, 1), y)
    return rem_p.bind1(x, y)


@fuse_eager
def divmod(x: ArrayLike, y: ArrayLike, /) -> tuple[Array, Array]:
    """Return `floor_divide(x, y)` and `remainder(x, y)`.

    Args:
        x: a real array or number. Booleans become integers.
        y: likewise, which broadcasts with `x`.

    Returns:
        Quotients and remainders, both of the broadcast shape and the promoted dtype.

    Raises:
        DTypeError: an operand is complex.

    References:
        NumPy, `numpy.divmod`.

    Example:
        >>> import imprint.numpy as np
        >>> np.divmod(np.array([7, -7]), 3)
        (Array([ 2, -3], dtype=int32), Array([1, 2], dtype=int32))
    """
    x, y = _arrays(numeric_operands("divmod", x, y))
    refuse_complex("divmod", x)
    if dtypes.is_integer(x.dtype):
        return floor_divide(x, y), remainder(x, y)
    return _float_divmod(x, y)


def _float_divmod(x: Array, y: Array) -> tuple[Array, Array]:
    zero, one = scalar_like(x, 0), scalar_like(x, 1)
    mod = rem_p.bind1(x, y)
    exact = where(eq(y, zero), x, sub_p.bind1(x, mod))
    div = div_p.bind1(exact, y)
    across = ne(*_arrays(operands("divmod", sign_p.bind1(y), sign_p.bind1(mod))))
    crosses = and_p.bind1(ne(mod, zero), across)
    mod = where(crosses, add_p.bind1(mod, y), mod)
    quotient = round_(where(crosses, sub_p.bind1(div, one), div))
    sign = stop_gradient(div_p.bind1(x, y))
    none = mul_p.bind1(zero, sign)  # 0 with the sign of the quotient
    signed = where(eq(mod, zero), _signed_zero(mod, lt(y, zero)), mod)
    return where(eq(quotient, zero), none, quotient), signed


def _signed_zero(rest: Array, is_negative: Array) -> Array:
    """Return -0.0 or 0.0, with the derivatives of `rest`."""
    known = stop_gradient(rest)
    negative = neg_p.bind1(sub_p.bind1(known, rest))
    return where(is_negative, negative, sub_p.bind1(rest, known))


# ---- maximum and minimum ----


@universal()
@fuse_eager
def maximum(
    x: ArrayLike,
    y: ArrayLike,
    /,
    out: None = None,
    where: None = None,
) -> Array:
    """Return the larger operand, elementwise; NaN if either is.

    Args:
        x: an array or number; complex ones compare by real, then imaginary part.
        y: an array or number, which broadcasts with `x`.
        out: must be None; arrays are immutable.
        where: must be None; for a mask, call `imprint.numpy.where`.

    Returns:
        The larger values, of the broadcast shape and the promoted dtype.

    References:
        NumPy, `numpy.maximum`.

    Example:
        >>> import imprint.numpy as np
        >>> np.maximum(np.array([-1.0, 2.0]), 0)
        Array([0., 2.], dtype=float32)
    """
    if out is not None or where is not None:
        refuse_options("maximum", out, where)
    x, y = operands("maximum", x, y)
    return max_p.bind1(x, y)


@universal()
@fuse_eager
def minimum(
    x: ArrayLike,
    y: ArrayLike,
    /,
    out: None = None,
    where: None = None,
) -> Array:
    """Return the smaller operand, elementwise; NaN if either is.

    Args:
        x: an array or number; complex ones compare by real, then imaginary part.
        y: an array or number, which broadcasts with `x`.
        out: must be None; arrays are immutable.
        where: must be None; for a mask, call `imprint.numpy.where`.

    Returns:
        The smaller values, of the broadcast shape and the promoted dtype.

    References:
        NumPy, `numpy.minimum`.

    Example:
        >>> import imprint.numpy as np
        >>> np.minimum(np.array([-1.0, 2.0]), 0)
        Array([-1.,  0.], dtype=float32)
    """
    if out is not None or where is not None:
        refuse_options("minimum", out, where)
    x, y = operands("minimum", x, y)
    return min_p.bind1(x, y)


def nextafter(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Return the next representable number from `x` toward `y`, elementwise.

    Args:
        x: a real array or number. Integers and booleans become floats.
        y: likewise, which broadcasts with `x`.

    Returns:
        The neighbors, of the broadcast shape, in the promoted floating dtype; `y` where
        the two are equal.

    References:
        NumPy, `numpy.nextafter`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nextafter(np.zeros(1), 1.0) > 0
        Array([ True], dtype=bool)
    """
    x, y = inexact_operands("nextafter", x, y)
    return nextafter_p.bind1(x, y)


# ---- shared ----


def _arrays(pair: Any) -> tuple[Array, Array]:
    """Return promoted operands as arrays, for formulas that need their dtype."""
    x, y = pair
    return as_array("operand", x), as_array("operand", y)
