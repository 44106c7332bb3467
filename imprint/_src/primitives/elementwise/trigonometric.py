"""Trigonometric and hyperbolic functions and their inverses, elementwise; in radians.

All take complex operands too. The branch cuts are NumPy's, but the engine does not
distinguish -0.0 from 0.0 on the cuts of asin, acos, asinh and acosh, nor do the references.
sin, cos, sinh and cosh of complex operands are lowered to products of real functions: the
engine's own have few digits where the imaginary (sinh: real) part is small.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.fusion import EXPENSIVE, POLYNOMIAL, SCALAR_CALL
from imprint._src.core.primitive import Samples
from imprint._src.primitives.core_ops import INEXACTS, add, mul, neg, scalar_like, sub
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.exponential import rsqrt, square
from imprint._src.primitives.families import INEXACT, unary, unsigned_zeros
from imprint._src.stablehlo import Builder, Value

# ---- parts of rules ----


class _Products(NamedTuple):
    """Products of sine and cosine of `a` with hyperbolic sine and cosine of `h`."""

    sin_cosh: Value
    cos_sinh: Value
    cos_cosh: Value
    sin_sinh: Value


def _products(b: Builder, a: Value, h: Value) -> _Products:
    up, down = b.exponential_minus_one(h), b.exponential_minus_one(b.negate(h))
    two = b.full(h.shape, 2, h.dtype)
    sinh = b.divide(b.subtract(up, down), two)
    cosh = b.divide(b.add(b.add(up, down), two), two)
    sine, cosine = b.sine(a), b.cosine(a)
    is_zero = b.compare(a, b.full(a.shape, 0, a.dtype), "EQ")

    def times_sine(y: Value) -> Value:
        return b.select(is_zero, a, b.multiply(sine, y))  # 0, also times infinity

    return _Products(
        times_sine(cosh),
        b.multiply(cosine, sinh),
        b.multiply(cosine, cosh),
        times_sine(sinh),
    )


def _one_plus_square(x: Any) -> Any:
    return add(scalar_like(x, 1), square(x))


def _one_minus_square(x: Any) -> Any:
    """Return `1 - x²`, precisely also where `x` is near 1 or -1."""
    one = scalar_like(x, 1)
    return mul(add(one, x), sub(one, x))


# ---- circular ----


def _sin_lower(b: Builder, x: Value) -> Value:
    if not dt.is_complex(x.dtype):
        return b.sine(x)
    of = _products(b, b.real(x), b.imag(x))
    return b.complex(of.sin_cosh, of.cos_sinh)


sin_p: Final = unary(
    "sin",
    dtypes=INEXACT,
    reference=np.sin,
    lower=_sin_lower,
    fusion=SCALAR_CALL._replace(wide=(1190, 1150)),
    makes_nan=True,
    derivative=lambda x, out: cos(x),
    samples=Samples(INEXACTS, arity=1, edges=(1e3,)),
)


def sin(x: Any) -> Any:
    """Return the sine of `x`, elementwise."""
    return sin_p.bind1(x)


def _cos_lower(b: Builder, x: Value) -> Value:
    if not dt.is_complex(x.dtype):
        return b.cosine(x)
    of = _products(b, b.real(x), b.imag(x))
    return b.complex(of.cos_cosh, b.negate(of.sin_sinh))


cos_p: Final = unary(
    "cos",
    dtypes=INEXACT,
    reference=np.cos,
    lower=_cos_lower,
    fusion=SCALAR_CALL._replace(wide=(870, 1190)),
    makes_nan=True,
    derivative=lambda x, out: neg(sin(x)),
    samples=Samples(INEXACTS, arity=1, edges=(1e3,)),
)


def cos(x: Any) -> Any:
    """Return the cosine of `x`, elementwise."""
    return cos_p.bind1(x)


tan_p: Final = unary(
    "tan",
    dtypes=INEXACT,
    reference=np.tan,
    lower=lambda b, x: b.tan(x),
    fusion=SCALAR_CALL._replace(wide=(2000, 1660)),
    makes_nan=True,
    derivative=lambda x, out: _one_plus_square(out),
    samples=Samples(INEXACTS, arity=1, domain=(-1.4, 1.4), ulps=8),
)


def tan(x: Any) -> Any:
    """Return the tangent of `x`, elementwise."""
    return tan_p.bind1(x)


# ---- inverse circular ----

asin_p: Final = unary(
    "asin",
    dtypes=INEXACT,
    reference=unsigned_zeros(np.arcsin),
    lower=lambda b, x: b.asin(x),
    fusion=EXPENSIVE._replace(wide=(1500, 2960)),
    makes_nan=True,
    derivative=lambda x, out: rsqrt(_one_minus_square(x)),
    samples=Samples(INEXACTS, arity=1, domain=(-0.95, 0.95)),
)


def asin(x: Any) -> Any:
    """Return the angle in [-π/2, π/2] whose sine is `x`, elementwise."""
    return asin_p.bind1(x)


acos_p: Final = unary(
    "acos",
    dtypes=INEXACT,
    reference=unsigned_zeros(np.arccos),
    lower=lambda b, x: b.acos(x),
    fusion=EXPENSIVE._replace(wide=(1270, 2280)),
    makes_nan=True,
    derivative=lambda x, out: neg(rsqrt(_one_minus_square(x))),
    samples=Samples(INEXACTS, arity=1, domain=(-0.95, 0.95)),
)


def acos(x: Any) -> Any:
    """Return the angle in [0, π] whose cosine is `x`, elementwise."""
    return acos_p.bind1(x)


atan_p: Final = unary(
    "atan",
    dtypes=INEXACT,
    reference=np.arctan,
    lower=lambda b, x: b.atan(x),
    fusion=EXPENSIVE,
    makes_nan=True,
    derivative=lambda x, out: div(scalar_like(x, 1), _one_plus_square(x)),
    samples=Samples(INEXACTS, arity=1),
)


def atan(x: Any) -> Any:
    """Return the angle in [-π/2, π/2] whose tangent is `x`, elementwise."""
    return atan_p.bind1(x)


# ---- hyperbolic ----


def _sinh_lower(b: Builder, x: Value) -> Value:
    if not dt.is_complex(x.dtype):
        return b.sinh(x)
    of = _products(b, b.imag(x), b.real(x))
    return b.complex(of.cos_sinh, of.sin_cosh)


sinh_p: Final = unary(
    "sinh",
    dtypes=INEXACT,
    reference=np.sinh,
    lower=_sinh_lower,
    fusion=EXPENSIVE._replace(wide=(-490, -1220)),
    makes_nan=True,
    derivative=lambda x, out: cosh(x),
    samples=Samples(INEXACTS, arity=1),
)


def sinh(x: Any) -> Any:
    """Return the hyperbolic sine of `x`, elementwise."""
    return sinh_p.bind1(x)


def _cosh_lower(b: Builder, x: Value) -> Value:
    if not dt.is_complex(x.dtype):
        return b.cosh(x)
    of = _products(b, b.imag(x), b.real(x))
    return b.complex(of.cos_cosh, of.sin_sinh)


cosh_p: Final = unary(
    "cosh",
    dtypes=INEXACT,
    reference=np.cosh,
    lower=_cosh_lower,
    fusion=EXPENSIVE._replace(wide=(-350, -780)),
    makes_nan=True,
    derivative=lambda x, out: sinh(x),
    samples=Samples(INEXACTS, arity=1),
)


def cosh(x: Any) -> Any:
    """Return the hyperbolic cosine of `x`, elementwise."""
    return cosh_p.bind1(x)


tanh_p: Final = unary(
    "tanh",
    dtypes=INEXACT,
    reference=np.tanh,
    lower=lambda b, x: b.tanh(x),
    fusion=POLYNOMIAL._replace(wide=(-65, -290)),
    makes_nan=True,
    derivative=lambda x, out: _one_minus_square(out),
    samples=Samples(INEXACTS, arity=1),
)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent of `x`, elementwise."""
    return tanh_p.bind1(x)


# ---- inverse hyperbolic ----

asinh_p: Final = unary(
    "asinh",
    dtypes=INEXACT,
    reference=unsigned_zeros(np.arcsinh),
    lower=lambda b, x: b.asinh(x),
    fusion=EXPENSIVE._replace(wide=(0, 3600)),
    makes_nan=True,
    derivative=lambda x, out: rsqrt(_one_plus_square(x)),
    samples=Samples(INEXACTS, arity=1),
)


def asinh(x: Any) -> Any:
    """Return the number whose hyperbolic sine is `x`, elementwise."""
    return asinh_p.bind1(x)


def _acosh_derivative(x: Any, _: Any) -> Any:
    # Two roots: that of the product has the wrong sign in the left half of the plane.
    one = scalar_like(x, 1)
    return mul(rsqrt(sub(x, one)), rsqrt(add(x, one)))


acosh_p: Final = unary(
    "acosh",
    dtypes=INEXACT,
    reference=unsigned_zeros(np.arccosh),
    lower=lambda b, x: b.acosh(x),
    fusion=EXPENSIVE._replace(wide=(0, 1790)),
    makes_nan=True,
    derivative=_acosh_derivative,
    samples=Samples(INEXACTS, arity=1, domain=(1.1, 4.0)),
)


def acosh(x: Any) -> Any:
    """Return the number of at least 0 whose hyperbolic cosine is `x`, elementwise."""
    return acosh_p.bind1(x)


atanh_p: Final = unary(
    "atanh",
    dtypes=INEXACT,
    reference=np.arctanh,
    lower=lambda b, x: b.atanh(x),
    fusion=EXPENSIVE._replace(wide=(0, 5000)),
    makes_nan=True,
    derivative=lambda x, out: div(scalar_like(x, 1), _one_minus_square(x)),
    # jaxlib 0.10 is off by 75 ulps in float64; 0.12 by 2.
    samples=Samples(INEXACTS, arity=1, domain=(-0.95, 0.95), ulps=96),
)


def atanh(x: Any) -> Any:
    """Return the number whose hyperbolic tangent is `x`, elementwise."""
    return atanh_p.bind1(x)
