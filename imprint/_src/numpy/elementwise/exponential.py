"""Exponentials, logarithms, powers and roots, elementwise.

Integers become floats first, except in `power` and `square`. `power` with a concrete
integer exponent is repeated multiplication, exact for integers and differentiable at
zero. With an array as exponent it is `exp(y * log(x))`; for two integers it is six
squarings, enough for every exponent whose result fits 64 bits.
"""

import math
import operator
from typing import Any, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.array import ArrayImpl
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.eager.fusion import fuse_eager
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.elementwise.ufunc import refuse_options, universal
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    constant_like,
    inexact,
    inexact_operands,
    match_shapes,
    numeric,
    numeric_operands,
    strong_like,
)
from imprint._src.primitives.core_ops import add, mul, scalar_like, sub
from imprint._src.primitives.elementwise.arithmetic import div, integer_pow, max_, rem
from imprint._src.primitives.elementwise.bitwise import and_, shift_right_logical
from imprint._src.primitives.elementwise.comparison import eq, ge, lt, ne
from imprint._src.primitives.elementwise.complex import complex_, imag, real
from imprint._src.primitives.elementwise.exponential import (
    cbrt_p,
    exp2_p,
    exp_p,
    expm1_p,
    log1p_p,
    log_p,
    sqrt_p,
)
from imprint._src.primitives.elementwise.power import pow_p


def exp(x: ArrayLike, /) -> Array:
    """Return e to the power of `x`, elementwise.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The powers, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.exp`.

    Example:
        >>> import imprint.numpy as np
        >>> np.exp(np.array([0.0, -np.inf]))
        Array([1., 0.], dtype=float32)
    """
    return exp_p.bind1(inexact("exp", x))


def exp2(x: ArrayLike, /) -> Array:
    """Return 2 to the power of `x`, elementwise.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The powers, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.exp2`.

    Example:
        >>> import imprint.numpy as np
        >>> np.exp2(np.array([0.0, 3.0]))
        Array([1., 8.], dtype=float32)
    """
    return exp2_p.bind1(inexact("exp2", x))


def expm1(x: ArrayLike, /) -> Array:
    """Return `exp(x) - 1`, elementwise, accurate near 0.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The values, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.expm1`.

    Example:
        >>> import imprint.numpy as np
        >>> np.expm1(np.array([0.0, -np.inf]))
        Array([ 0., -1.], dtype=float32)
    """
    return expm1_p.bind1(inexact("expm1", x))


def log(x: ArrayLike, /) -> Array:
    """Return the natural logarithm, elementwise; NaN below 0.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The logarithms, of the shape of `x`, in its floating or complex dtype. That of 0
        is -inf; the imaginary part of a complex one is in [-π, π].

    References:
        NumPy, `numpy.log`.

    Example:
        >>> import imprint.numpy as np
        >>> np.log(np.array([0.0, 1.0]))
        Array([-inf,   0.], dtype=float32)
    """
    return log_p.bind1(inexact("log", x))


def log1p(x: ArrayLike, /) -> Array:
    """Return `log(1 + x)`, elementwise, accurate near 0.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The logarithms, of the shape of `x`, in its floating or complex dtype. NaN for
        real numbers below -1.

    References:
        NumPy, `numpy.log1p`.

    Example:
        >>> import imprint.numpy as np
        >>> np.log1p(np.array([0.0, -1.0]))
        Array([  0., -inf], dtype=float32)
    """
    return log1p_p.bind1(inexact("log1p", x))


@fuse_eager
def log2(x: ArrayLike, /) -> Array:
    """Return the logarithm to the base 2, elementwise.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The logarithms, of the shape of `x`, in its floating or complex dtype. That of 0
        is -inf; NaN for real numbers below 0.

    References:
        NumPy, `numpy.log2`.

    Example:
        >>> import imprint.numpy as np
        >>> np.log2(np.array([1.0, 2.0]))
        Array([0., 1.], dtype=float32)
    """
    r = log_p.bind1(inexact("log2", x))
    if not dtypes.is_complex(r.dtype):
        return div(r, log_p.bind1(scalar_like(r, 2)))
    re, im = real(r), imag(r)
    ln2 = log_p.bind1(scalar_like(re, 2))
    return complex_(div(re, ln2), div(im, ln2))


@fuse_eager
def log10(x: ArrayLike, /) -> Array:
    """Return the logarithm to the base 10, elementwise.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The logarithms, of the shape of `x`, in its floating or complex dtype. That of 0
        is -inf; NaN for real numbers below 0.

    References:
        NumPy, `numpy.log10`.

    Example:
        >>> import imprint.numpy as np
        >>> np.log10(np.array([0.0, 1.0]))
        Array([-inf,   0.], dtype=float32)
    """
    r = log_p.bind1(inexact("log10", x))
    if not dtypes.is_complex(r.dtype):
        return mul(r, strong_like(r, _LOG10_E))
    re, im = real(r), imag(r)
    factor = strong_like(re, _LOG10_E)
    return complex_(mul(re, factor), mul(im, factor))


_LOG10_E = 0.4342944819032518


@universal(identity=-np.inf)
@fuse_eager
def logaddexp(
    x: ArrayLike,
    y: ArrayLike,
    /,
    out: None = None,
    where: None = None,
) -> Array:
    """Return `log(exp(x) + exp(y))`, elementwise, without overflow.

    Args:
        x: an array or number; integers and booleans become floats.
        y: likewise, which broadcasts with `x`.
        out: must be None; arrays are immutable.
        where: must be None; for a mask, call `imprint.numpy.where`.

    Returns:
        The logarithms, of the broadcast shape, in the promoted floating or complex
        dtype.

    References:
        NumPy, `numpy.logaddexp`.

    Example:
        >>> import imprint.numpy as np
        >>> np.logaddexp(np.array([1000.0]), 0.0)
        Array([1000.], dtype=float32)
    """
    if out is not None or where is not None:
        refuse_options("logaddexp", out, where)
    x, y = inexact_operands("logaddexp", x, y)
    return _logaddexp(as_array("logaddexp", x), as_array("logaddexp", y), base=None)


@universal(identity=-np.inf)
@fuse_eager
def logaddexp2(
    x: ArrayLike,
    y: ArrayLike,
    /,
    out: None = None,
    where: None = None,
) -> Array:
    """Return `log2(2**x + 2**y)`, elementwise, without overflow.

    Args:
        x: an array or number; integers and booleans become floats.
        y: likewise, which broadcasts with `x`.
        out: must be None; arrays are immutable.
        where: must be None; for a mask, call `imprint.numpy.where`.

    Returns:
        The logarithms, of the broadcast shape, in the promoted floating or complex
        dtype.

    References:
        NumPy, `numpy.logaddexp2`.

    Example:
        >>> import imprint.numpy as np
        >>> np.logaddexp2(np.array([1.0]), 1.0)
        Array([2.], dtype=float32)
    """
    if out is not None or where is not None:
        refuse_options("logaddexp2", out, where)
    x, y = inexact_operands("logaddexp2", x, y)
    return _logaddexp(as_array("logaddexp2", x), as_array("logaddexp2", y), base=2.0)


def sqrt(x: ArrayLike, /) -> Array:
    """Return the square root, elementwise; NaN below 0.

    Args:
        x: an array or number; integers and booleans become floats.

    Returns:
        The square roots, of the shape of `x`, in its floating or complex dtype.

    References:
        NumPy, `numpy.sqrt`.

    Example:
        >>> import imprint.numpy as np
        >>> np.sqrt(np.array([4, 9]))
        Array([2., 3.], dtype=float32)
    """
    return sqrt_p.bind1(inexact("sqrt", x))


def cbrt(x: ArrayLike, /) -> Array:
    """Return the cube root, elementwise.

    Args:
        x: a real array or number; integers and booleans become floats.

    Returns:
        The real cube roots, of the shape of `x`, in its floating dtype.

    References:
        NumPy, `numpy.cbrt`.

    Example:
        >>> import imprint.numpy as np
        >>> np.cbrt(np.array([0.0, 1.0]))
        Array([0., 1.], dtype=float32)
    """
    return cbrt_p.bind1(inexact("cbrt", x))


# ---- powers ----


def power(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Raise `x` to the power of `y`, elementwise.

    Args:
        x: the base.
        y: the exponent. A Python integer or a concrete array of rank 0 is known while
            tracing, so the power is repeated multiplication.

    Returns:
        The powers, of the broadcast shape: in the dtype of `x` if `y` is a known
        integer, or if `x` is inexact and `y` integers; else in the promoted dtype.
        Booleans become integers. NaN for a negative float to a fraction.

    References:
        NumPy, `numpy.power`.

    Example:
        >>> import imprint.numpy as np
        >>> np.power(np.arange(4), 3)
        Array([ 0,  1,  8, 27], dtype=int32)
    """
    exponent = _static_integer(y)
    if exponent is not None:
        return integer_pow(numeric("power", as_array("power", x)), exponent)
    base_dtype = as_array("power", x).dtype
    exponent_dtype = as_array("power", y).dtype
    if dtypes.is_inexact(base_dtype) and dtypes.is_integer(exponent_dtype):
        dtypes.promote((dtypes.typed(x), dtypes.typed(y)))  # which may refuse them
        return pow_p.bind1(*match_shapes("power", (x, y)))
    x, y = numeric_operands("power", x, y)
    if dtypes.is_integer(get_aval(x).dtype):
        return _integer_power(as_array("power", x), as_array("power", y))
    return pow_p.bind1(x, y)


pow = power


def float_power(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Raise `x` to the power of `y`, elementwise, as floats.

    Args:
        x: the base, an array or number.
        y: the exponent, which broadcasts with `x`.

    Returns:
        The powers, of the broadcast shape, in the promoted floating or complex dtype.

    References:
        NumPy, `numpy.float_power`.

    Example:
        >>> import imprint.numpy as np
        >>> np.float_power(np.array([1, 2]), 2)
        Array([1., 4.], dtype=float32)
    """
    x, y = inexact_operands("float_power", x, y)
    return pow_p.bind1(x, y)


def _static_integer(y: Any) -> int | None:
    """Return an exponent that is a concrete integer; None if it is not."""
    if type(y) is int:
        return y
    known = isinstance(y, np.generic | np.ndarray | ArrayImpl | bool)
    try:
        return operator.index(cast("Any", y)) if known else None
    except TypeError:
        return None


def _integer_power(x: Array, y: Array) -> Array:
    zero, one = strong_like(x, 0), strong_like(x, 1)
    vanishes = and_(*match_shapes("power", (eq(x, zero), ne(y, zero))))
    result = where(vanishes, zero, one)
    if not dtypes.is_unsigned(y.dtype):  # a negative one is none: as in JAX
        y = where(lt(y, strong_like(y, 0)), and_(y, strong_like(y, 63)), y)
    for _ in range(dtypes.bit_width(y.dtype) - (not dtypes.is_unsigned(y.dtype))):
        result = where(and_(y, one), mul(result, x), result)
        x = mul(x, x)
        y = shift_right_logical(y, one)
    return result


# ---- logaddexp ----


def _logaddexp(x: Array, y: Array, *, base: float | None) -> Array:
    """Compute relative to the larger operand, so that nothing overflows."""
    if dtypes.is_complex(x.dtype):
        return _complex_logaddexp(x, y, base=base)
    ordered = ge(x, y)  # not max and abs: their derivatives at ties disagree
    larger, smaller = where(ordered, x, y), where(ordered, y, x)
    gap = sub(smaller, larger)
    no_gap = and_(
        eq(x, y), ne(gap, gap)
    )  # equal infinities; a NaN makes its derivative
    below = where(no_gap, scalar_like(gap, 0), gap)
    result = add(larger, _log1p_exp(below, larger, base=base))
    return where(no_gap, add(x, y), result)


def _complex_logaddexp(x: Array, y: Array, *, base: float | None) -> Array:
    larger = max_(x, y)
    below = sub(add(x, y), mul(larger, constant_like(larger, 2)))
    result = add(larger, _log1p_exp(below, larger, base=base))
    turn = math.pi if base is None else math.pi / math.log(base)
    return complex_(real(result), _wrapped(imag(result), turn))


def _log1p_exp(x: Array, like: Array, *, base: float | None) -> Array:
    """Return the logarithm to a base of 1 plus the base to the power of `x`."""
    if base is None:
        return log1p_p.bind1(exp_p.bind1(x))
    tail = log1p_p.bind1(exp2_p.bind1(x))
    return mul(tail, constant_like(like, 1 / math.log(base)))


def _wrapped(x: Array, limit: float) -> Array:
    """Return `x` modulo `2 * limit`, in `[-limit, limit]`."""
    period = scalar_like(x, 2 * limit)
    rest = rem(add(x, scalar_like(x, limit)), period)
    rest = where(lt(rest, scalar_like(x, 0)), add(rest, period), rest)
    return sub(rest, scalar_like(x, limit))
