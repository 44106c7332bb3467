"""Trigonometric, hyperbolic and logistic functions, inverses, elementwise; in radians.

All take complex operands too. The branch cuts are NumPy's, but the engine does not
distinguish -0.0 from 0.0 on the cuts of asin, acos, asinh and acosh, nor do the references.
sin, cos, sinh and cosh of complex operands are lowered to products of real functions: the
engine's own have few digits where the imaginary (sinh: real) part is small.
"""

import math
from typing import Any, Final, NamedTuple, cast

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.aval import get_aval
from imprint._src.core.fusion import EXPENSIVE, POLYNOMIAL, SCALAR_CALL
from imprint._src.core.primitive import Case, Samples
from imprint._src.primitives.barrier import stop_gradient_p
from imprint._src.primitives.core_ops import (
    INEXACTS,
    add,
    mul,
    neg,
    scalar_like,
    sub,
)
from imprint._src.primitives.elementwise.arithmetic import div, max_
from imprint._src.primitives.elementwise.bitwise import and_, or_
from imprint._src.primitives.elementwise.circular import (
    is_vectorized,
    lower_cosine,
    lower_sine,
    lower_tangent,
)
from imprint._src.primitives.elementwise.comparison import eq, gt, lt
from imprint._src.primitives.elementwise.complex import imag, real
from imprint._src.primitives.elementwise.exponential import (
    one_minus_square,
    rsqrt,
    square,
)
from imprint._src.primitives.elementwise.inverses import (
    is_many,
    lower_arccosine,
    lower_arcsine,
    lower_arctangent,
)
from imprint._src.primitives.elementwise.rounding import abs_
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.families import (
    INEXACT,
    binary,
    unary,
    unsigned_zeros,
    wide,
)
from imprint._src.stablehlo import Builder, Value

NDArray = np.ndarray[Any, Any]

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


class _Halves(NamedTuple):
    """An operand in two: where `1 + x²` is `x²`, rounded, and elsewhere."""

    is_far: Any
    far: Any
    near: Any


def _halves(x: Any) -> _Halves:
    """Split an operand, so that no square overflows; each half is harmless elsewhere."""
    size = abs_(x)
    bound = 2 / math.sqrt(float(cast("Any", dt.finfo(get_aval(x).dtype)).eps))
    is_far = gt(size, scalar_like(size, bound))
    far = select_n(is_far, scalar_like(x, bound), x)
    return _Halves(is_far, far, select_n(is_far, x, scalar_like(x, 1)))


# ---- circular ----


def _sin_lower(b: Builder, x: Value) -> Value:
    if is_vectorized(b, x):
        return lower_sine(b, x)
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
    """Return the sine of `x`, elementwise.

    Args:
        x: floats or complex numbers, in radians.

    Returns:
        An array of the dtype and shape of `x`. It is NaN for ±inf.

    References:
        StableHLO, `sine`; DLMF 4.14.
    """
    return sin_p.bind1(x)


def _cos_lower(b: Builder, x: Value) -> Value:
    if is_vectorized(b, x):
        return lower_cosine(b, x)
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
    """Return the cosine of `x`, elementwise.

    Args:
        x: floats or complex numbers, in radians.

    Returns:
        An array of the dtype and shape of `x`. It is NaN for ±inf.

    References:
        StableHLO, `cosine`; DLMF 4.14.
    """
    return cos_p.bind1(x)


def _tan_lower(b: Builder, x: Value) -> Value:
    # The quotient of float64 would be two roundings further from the truth.
    if x.dtype == np.float32 and is_vectorized(b, x):
        return lower_tangent(b, x)
    return b.tan(x)


tan_p: Final = unary(
    "tan",
    dtypes=INEXACT,
    reference=np.tan,
    lower=_tan_lower,
    fusion=SCALAR_CALL._replace(wide=(2000, 1660)),
    makes_nan=True,
    derivative=lambda x, out: _one_plus_square(out),
    samples=Samples(INEXACTS, arity=1, domain=(-1.4, 1.4), ulps=8),
)


def tan(x: Any) -> Any:
    """Return the tangent of `x`, elementwise.

    Args:
        x: floats or complex numbers, in radians.

    Returns:
        An array of the dtype and shape of `x`. It is NaN for ±inf.

    References:
        StableHLO, `tan`; DLMF 4.14.
    """
    return tan_p.bind1(x)


# ---- inverse circular ----

asin_p: Final = unary(
    "asin",
    dtypes=INEXACT,
    reference=unsigned_zeros(np.arcsin),
    lower=lambda b, x: lower_arcsine(b, x) if is_many(b, x) else b.asin(x),
    fusion=EXPENSIVE._replace(wide=(1500, 2960)),
    makes_nan=True,
    derivative=lambda x, out: rsqrt(one_minus_square(x)),
    samples=Samples(INEXACTS, arity=1, domain=(-0.95, 0.95)),
)


def asin(x: Any) -> Any:
    """Return the angle in [-π/2, π/2] whose sine is `x`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`. The angle is in radians; NaN for a float
        outside [-1, 1].

    References:
        CHLO, `asin`; DLMF 4.23.
    """
    return asin_p.bind1(x)


acos_p: Final = unary(
    "acos",
    dtypes=INEXACT,
    reference=unsigned_zeros(np.arccos),
    lower=lambda b, x: lower_arccosine(b, x) if is_many(b, x) else b.acos(x),
    fusion=EXPENSIVE._replace(wide=(1270, 2280)),
    makes_nan=True,
    derivative=lambda x, out: neg(rsqrt(one_minus_square(x))),
    samples=Samples(INEXACTS, arity=1, domain=(-0.95, 0.95)),
)


def acos(x: Any) -> Any:
    """Return the angle in [0, π] whose cosine is `x`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`. The angle is in radians; NaN for a float
        outside [-1, 1].

    References:
        CHLO, `acos`; DLMF 4.23.
    """
    return acos_p.bind1(x)


def _atan_derivative(x: Any, _: Any) -> Any:
    is_far, far, near = _halves(x)
    one = scalar_like(x, 1)
    return select_n(is_far, div(one, _one_plus_square(near)), square(div(one, far)))


atan_p: Final = unary(
    "atan",
    dtypes=INEXACT,
    reference=np.arctan,
    lower=lambda b, x: lower_arctangent(b, x) if is_many(b, x) else b.atan(x),
    fusion=EXPENSIVE,
    makes_nan=True,
    derivative=_atan_derivative,
    samples=Samples(INEXACTS, arity=1),
)


def atan(x: Any) -> Any:
    """Return the angle in [-π/2, π/2] whose tangent is `x`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`. The angle is in radians.

    References:
        CHLO, `atan`; DLMF 4.23.
    """
    return atan_p.bind1(x)


def _atan2_reference(y: NDArray, x: NDArray) -> NDArray:
    if not dt.is_complex(x.dtype):
        return np.arctan2(y, x)
    return -1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y))


def _over_square_sum(x: Any, y: Any, part: Any) -> Any:
    """Return `part / (x² + y²)`, without a square of an operand that overflows.

    It is independent of the scale, which counts as a constant.
    """
    if dt.is_complex(get_aval(x).dtype):
        return div(part, add(mul(x, x), mul(y, y)))
    size = max_(abs_(x), abs_(y))
    zero, one = scalar_like(x, 0), scalar_like(x, 1)
    scale = stop_gradient_p.bind1(select_n(eq(size, zero), size, one))
    x, y, part = div(x, scale), div(y, scale), div(part, scale)
    return div(div(part, add(mul(x, x), mul(y, y))), scale)


def _atan2_lower(b: Builder, y: Value, x: Value) -> Value:
    return lower_arctangent(b, y, x) if is_many(b, x) else b.atan2(y, x)


atan2_p: Final = binary(
    "atan2",
    dtypes=INEXACT,
    reference=wide(_atan2_reference),
    lower=_atan2_lower,
    fusion=EXPENSIVE._replace(wide=(1350, 1960)),
    makes_nan=True,
    derivatives=(
        lambda y, x, _: _over_square_sum(y, x, x),
        lambda y, x, _: _over_square_sum(y, x, neg(y)),
    ),
    samples=Samples(  # no tuples of edges: complex ones lie on branch cuts
        INEXACTS,
        cases=tuple(map(Case, (((16,),) * 2, ((2, 3), ()), ((), (2,)), ((), ())))),
        domain=(0.5, 4.0),
    ),
)


def atan2(x: Any, y: Any) -> Any:
    """Return the angle of the point `(y, x)`, in radians in [-π, π], elementwise.

    Args:
        x: the ordinates: floats or complex numbers.
        y: the abscissas, of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape.

    References:
        StableHLO, `atan2`; C, `atan2`.
    """
    return atan2_p.bind1(x, y)


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
    """Return the hyperbolic sine of `x`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        CHLO, `sinh`; DLMF 4.28.
    """
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
    """Return the hyperbolic cosine of `x`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        CHLO, `cosh`; DLMF 4.28.
    """
    return cosh_p.bind1(x)


tanh_p: Final = unary(
    "tanh",
    dtypes=INEXACT,
    reference=np.tanh,
    lower=lambda b, x: b.tanh(x),
    fusion=POLYNOMIAL._replace(wide=(-65, -290)),
    makes_nan=True,
    derivative=lambda x, out: one_minus_square(out),
    samples=Samples(INEXACTS, arity=1),
)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent of `x`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        StableHLO, `tanh`; DLMF 4.28.
    """
    return tanh_p.bind1(x)


# ---- inverse hyperbolic ----


def _asinh_derivative(x: Any, _: Any) -> Any:
    is_far, far, near = _halves(x)
    if dt.is_complex(get_aval(x).dtype):
        re, im = real(far), imag(far)
        zero = scalar_like(re, 0)
        is_left = or_(lt(re, zero), and_(eq(re, zero), lt(im, zero)))
        size = select_n(is_left, far, neg(far))
    else:
        size = abs_(far)
    slope = div(scalar_like(x, 1), size)
    return select_n(is_far, rsqrt(_one_plus_square(near)), slope)


asinh_p: Final = unary(
    "asinh",
    dtypes=INEXACT,
    reference=unsigned_zeros(np.arcsinh),
    lower=lambda b, x: b.asinh(x),
    fusion=EXPENSIVE._replace(wide=(0, 3600)),
    makes_nan=True,
    derivative=_asinh_derivative,
    samples=Samples(INEXACTS, arity=1),
)


def asinh(x: Any) -> Any:
    """Return the number whose hyperbolic sine is `x`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        CHLO, `asinh`; DLMF 4.37.
    """
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
    """Return the number of at least 0 whose hyperbolic cosine is `x`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`. It is NaN for a float below 1.

    References:
        CHLO, `acosh`; DLMF 4.37.
    """
    return acosh_p.bind1(x)


atanh_p: Final = unary(
    "atanh",
    dtypes=INEXACT,
    reference=np.arctanh,
    lower=lambda b, x: b.atanh(x),
    fusion=EXPENSIVE._replace(wide=(0, 5000)),
    makes_nan=True,
    derivative=lambda x, out: div(scalar_like(x, 1), one_minus_square(x)),
    # jaxlib 0.10 is off by 75 ulps in float64; 0.12 by 2.
    samples=Samples(INEXACTS, arity=1, domain=(-0.95, 0.95), ulps=96),
)


def atanh(x: Any) -> Any:
    """Return the number whose hyperbolic tangent is `x`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`. It is NaN for a float outside [-1, 1],
        ±inf for ±1.

    References:
        CHLO, `atanh`; DLMF 4.37.
    """
    return atanh_p.bind1(x)


# ---- logistic ----


@wide
def _logistic_reference(x: NDArray) -> NDArray:
    if not dt.is_complex(x.dtype):
        return 1 / (1 + np.exp(-x))
    # A complex infinity has no direction, so here `exp` must not overflow.
    left = x.real < 0
    decay = np.exp(np.where(left, x, -x))
    return np.where(left, decay, 1) / (1 + decay)


logistic_p: Final = unary(
    "logistic",
    dtypes=INEXACT,
    reference=_logistic_reference,
    lower=lambda b, x: b.logistic(x),
    fusion=POLYNOMIAL._replace(wide=(-145, -265)),
    makes_nan=True,
    derivative=lambda x, out: mul(out, sub(scalar_like(x, 1), out)),
    samples=Samples(INEXACTS, arity=1),
)


def logistic(x: Any) -> Any:
    """Return `1 / (1 + exp(-x))`, elementwise: the sigmoid function.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        StableHLO, `logistic`.
    """
    return logistic_p.bind1(x)
