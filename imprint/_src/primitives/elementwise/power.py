"""pow: a base to a power that is an array too.

The base is inexact; the power has its dtype, or is an integer and is converted to it. A real
power is IEEE's: anything to the 0 is 1, a negative base to a fraction NaN. A complex one is
`exp(y log(x))`, split into modulus and angle as the engine does. A power that is a Python
integer is `integer_pow`, in `arithmetic`, exact and faster.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import EXPENSIVE
from imprint._src.core.padding import ELEMENTWISE
from imprint._src.core.primitive import Avals, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import is_zero, zero_of
from imprint._src.primitives.core_ops import (
    INEXACTS,
    NOT_LINEAR,
    add_tangents,
    broadcast_to,
    elementwise_batch,
    mul,
    scalar_like,
    sub,
)
from imprint._src.primitives.elementwise.comparison import eq
from imprint._src.primitives.elementwise.convert import convert_element_type_p
from imprint._src.primitives.elementwise.elementwise import elementwise_aval, repeated
from imprint._src.primitives.elementwise.exponential import log
from imprint._src.primitives.elementwise.inverses import is_many
from imprint._src.primitives.elementwise.real_power import MANY, lower_real_power
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.families import INEXACT, wide
from imprint._src.stablehlo import Builder, Value

NDArray = np.ndarray[Any, Any]


def _pow_aval(x: ShapedArray, y: ShapedArray) -> Avals:
    INEXACT.check("pow", (x,))
    if dt.is_integer(y.dtype):
        y = y.with_dtype(x.dtype, weak_type=y.weak_type)
    return (elementwise_aval("pow", (x, y)),)


def _pow_reference(x: NDArray, y: NDArray) -> Values:
    return (_power(x, y.astype(x.dtype)),)


@wide
def _power(x: NDArray, y: NDArray) -> NDArray:
    return _complex_power(x, y) if dt.is_complex(x.dtype) else np.power(x, y)


def _complex_power(x: NDArray, y: NDArray) -> NDArray:
    square, angle = x.real**2 + x.imag**2, np.angle(x)
    half = x.real.dtype.type(0.5)
    modulus = square ** (half * y.real) * np.exp(-y.imag * angle)
    turn = y.real * angle + half * y.imag * np.log(square)
    parts = np.stack([modulus * np.cos(turn), modulus * np.sin(turn)], axis=-1)
    out = np.ascontiguousarray(parts).view(x.dtype)[..., 0]
    # Where the formula has no limit the engine takes that of the real axis.
    real = (y.imag == 0) & (y.real != 0) & (x.imag == 0)
    at_limit = real & (((x == 0) & (y.real > 0)) | (x.real == np.inf))
    limit = np.where((x == 0) | (y.real < 0), 0, np.inf)
    out = np.where(at_limit & ~np.isnan(y), limit, out)
    return np.where((y == 0) | (x == 1), 1, out).astype(x.dtype)


def _pow_lower(b: Builder, x: Value, y: Value) -> tuple[Value, ...]:
    if y.dtype != x.dtype:
        y = b.convert(y, x.dtype)
    x, y = repeated(b, (x, y))
    return (lower_real_power(b, x, y) if is_many(b, x, MANY) else b.power(x, y),)


def _pow_jvp(primals: Values, tangents: Values) -> Any:
    (x, y), (tx, ty) = primals, tangents
    out = pow_(x, y)
    total: Any = zero_of(get_aval(out))
    for t, factor in ((tx, _base_factor), (ty, _power_factor)):
        if not is_zero(t):
            term = mul(t, factor(x, y, out))
            total = add_tangents(total, broadcast_to(term, get_aval(out).shape))
    return (out,), (total,)


def _base_factor(x: Any, y: Any, _: Any) -> Any:
    one = scalar_like(x, 1)
    if dt.is_inexact(get_aval(y).dtype):
        return mul(y, pow_(x, sub(y, one)))
    exponent = convert_element_type_p.bind1(
        y, new_dtype=get_aval(x).dtype, weak_type=get_aval(y).weak_type
    )
    # A power of 0 has derivative 0, where the formula gives 0 * inf at a base of 0.
    is_zero_power = eq(exponent, scalar_like(x, 0))
    slope = mul(exponent, pow_(x, sub(exponent, one)))
    return select_n(is_zero_power, slope, scalar_like(slope, 0))


def _power_factor(x: Any, y: Any, out: Any) -> Any:
    base = select_n(eq(x, scalar_like(x, 0)), x, scalar_like(x, 1))
    return mul(log(base), out)


def _pow_batch(args: Values, dims: Dims) -> Any:
    return elementwise_batch(pow_p, args, dims, {})


pow_p: Final = Primitive(
    name="pow",
    aval=_pow_aval,
    reference=_pow_reference,
    lower=_pow_lower,
    fusion=EXPENSIVE._replace(wide=(1120, 3500)),
    makes_nan=True,
    jvp=_pow_jvp,
    transpose=NOT_LINEAR,
    batch=_pow_batch,
    pad=ELEMENTWISE,
    samples=Samples(INEXACTS, arity=2, edges=(2, 0.5, -3), domain=(0.5, 3.0), ulps=16),
)


def pow_(x: Any, y: Any) -> Any:
    """Return `x` to the power `y`, elementwise; `y` may be an integer array.

    Args:
        x: the bases: floats or complex numbers.
        y: the exponents, of the dtype of `x` or integers; rank 0 and axes of length 1
            are repeated.

    Returns:
        An array of the dtype of `x` and the common shape. It is 1 for an exponent of 0,
        NaN for a negative base with a fraction.

    References:
        StableHLO, `power`; IEEE 754-2019, 9.2.
    """
    return pow_p.bind1(x, y)
