"""Polynomials at a point, and the upper half of a product of integers.

The coefficients of a polynomial are operands, the constant one first: it is linear in
them, and its derivative by x is a polynomial of their multiples.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import ELEMENTWISE
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import UndefinedPrimal, is_zero, zero_of
from imprint._src.primitives.core_ops import (
    INTS,
    NOT_LINEAR,
    NUMBERS,
    add_tangents,
    broadcast_to,
    elementwise_batch,
    instantiate,
    mul,
    scalar_like,
    unbroadcast,
)
from imprint._src.primitives.elementwise.elementwise import elementwise_aval, repeated
from imprint._src.primitives.families import INTEGER, NUMBER, binary, wide
from imprint._src.stablehlo import Builder, Value

# ---- polynomial ----


def _polynomial_aval(x: ShapedArray, *coefficients: ShapedArray) -> Avals:
    NUMBER.check("polynomial", (x, *coefficients))
    return (elementwise_aval("polynomial", (x, *coefficients)),)


def _horner(x: Any, *coefficients: Any) -> Any:
    total = np.broadcast_arrays(*coefficients, x)[-2]
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total


def _polynomial_reference(x: Any, *coefficients: Any) -> Values:
    return (wide(_horner)(x, *coefficients),)


def _polynomial_lower(b: Builder, *operands: Value) -> tuple[Value, ...]:
    x, *coefficients = repeated(b, operands)
    total = coefficients.pop()
    for c in reversed(coefficients):
        total = b.add(b.multiply(total, x), c)
    return (total,)


def _polynomial_jvp(primals: Values, tangents: Values) -> Any:
    (x, *coefficients), (t, *moved) = primals, tangents
    out = polynomial(x, coefficients)
    total: Any = zero_of(get_aval(out))
    if not is_zero(t) and len(coefficients) > 1:
        rest = enumerate(coefficients[1:], start=1)
        slope = polynomial(x, [mul(scalar_like(c, k), c) for k, c in rest])
        total = broadcast_to(mul(t, slope), get_aval(out).shape)
    if not all(map(is_zero, moved)):
        total = add_tangents(total, polynomial(x, list(map(instantiate, moved))))
    return (out,), (total,)


def _polynomial_transpose(cts: Values, operands: Values) -> Values:
    (ct,), (x, *coefficients) = cts, operands
    if isinstance(x, UndefinedPrimal):
        NOT_LINEAR()
    found: list[Any] = []
    for c in coefficients:
        found.append(
            unbroadcast(ct, c.aval) if isinstance(c, UndefinedPrimal) else None
        )
        ct = mul(ct, x)
    return (None, *found)


def _polynomial_batch(args: Values, at: Dims) -> Any:
    return elementwise_batch(polynomial_p, args, at, {})


polynomial_p: Final = Primitive(
    name="polynomial",
    aval=_polynomial_aval,
    reference=_polynomial_reference,
    lower=_polynomial_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_polynomial_jvp,
    transpose=_polynomial_transpose,
    batch=_polynomial_batch,
    pad=ELEMENTWISE,
    samples=Samples(
        NUMBERS,
        cases=(
            Case(((3,), (), (), ())),
            Case(((2, 3), (2, 3), ())),
            Case(((), (), (2,), ())),
            Case(((2,), (2,))),
            Case(((0,), (), (0,))),
        ),
        domain=(-2.0, 2.0),
        ulps=16,
    ),
)


def polynomial(x: Any, coefficients: Any) -> Any:
    """Return the polynomial of these coefficients, the constant one first, at `x`."""
    return polynomial_p.bind1(x, *coefficients)


# ---- mulhi ----


def _mulhi_reference(x: Any, y: Any) -> Any:
    bits = dt.bit_width(x.dtype)
    if bits < 64:
        wide_dtype = np.int64 if dt.iinfo(x.dtype).min < 0 else np.uint64
        product = x.astype(wide_dtype) * y.astype(wide_dtype)
        return (product >> wide_dtype(bits)).astype(x.dtype)
    half = x.dtype.type(32)
    low = x.dtype.type(0xFFFFFFFF)
    xl, xh, yl, yh = x & low, x >> half, y & low, y >> half
    # Of products of halves each sum fits: a carry is at most 2 ** 32 - 1.
    unsigned = (xl.astype(np.uint64) * yl.astype(np.uint64) >> np.uint64(32)).astype(
        x.dtype
    )
    middle = xh * yl + unsigned
    other = xl * yh + (middle & low)
    return xh * yh + (middle >> half) + (other >> half)


def _mulhi_lower(b: Builder, x: Value, y: Value) -> Value:
    bits = dt.bit_width(x.dtype)
    if bits >= 8:
        return b.mulhi(x, y)
    # The engine's own is wrong for less than a byte.
    wide_dtype = np.int8 if dt.iinfo(x.dtype).min < 0 else np.uint8
    product = b.multiply(b.convert(x, wide_dtype), b.convert(y, wide_dtype))
    shift = b.full(x.shape, bits, wide_dtype)
    signed = wide_dtype is np.int8
    shifted = b.shift_right_arithmetic if signed else b.shift_right_logical
    return b.convert(shifted(product, shift), x.dtype)


mulhi_p: Final = binary(
    "mulhi",
    dtypes=INTEGER,
    reference=_mulhi_reference,
    lower=_mulhi_lower,
    fusion=UNFUSED,
    makes_nan=False,
    derivatives=None,
    samples=Samples(INTS, arity=2, differentiable=False),
)


def mulhi(x: Any, y: Any) -> Any:
    """Return the upper half of the bits of the product of integers, elementwise."""
    return mulhi_p.bind1(x, y)
