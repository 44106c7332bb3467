"""Sign, magnitude and rounding to integers, elementwise; is_finite.

Zeros keep their sign: `sign(-0.0)` and `ceil(-0.5)` are -0.0. The sign of a complex number
is the number of magnitude 1 in its direction. The magnitude of the least integer of a
dtype is itself. Steps have the derivative zero, as in JAX; that of `abs` at 0 is 1.
"""

import enum
from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import ARITHMETIC
from imprint._src.core.padding import ELEMENTWISE
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import zero_of
from imprint._src.primitives.core_ops import (
    COMPLEXES,
    FLOATS,
    NOT_LINEAR,
    NUMBERS,
    mul,
    neg,
    not_differentiable,
    scalar_like,
)
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.comparison import eq, ge
from imprint._src.primitives.elementwise.complex import complex_, conj, imag, real
from imprint._src.primitives.elementwise.elementwise import where_reference
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.families import (
    FLOATING,
    NUMBER,
    DTypeClass,
    bool_result,
    unary,
)
from imprint._src.stablehlo import Builder, Value

NDArray = np.ndarray[Any, Any]

_SIGNED = DTypeClass(
    lambda d: dt.is_signed(d) or dt.is_inexact(d),
    "a signed integer, float or complex dtype",
)

# ---- sign, abs ----


def _sign_reference(x: NDArray) -> NDArray:
    zeros = x == 0  # NumPy gives 0.0 for -0.0
    return where_reference(zeros, x, np.sign(x)) if zeros.any() else np.sign(x)


def _sign_lower(b: Builder, x: Value) -> Value:
    if not dt.is_unsigned(x.dtype):
        return b.sign(x)
    return b.convert(b.compare(x, b.full(x.shape, 0, x.dtype), "NE"), x.dtype)


def _sign_tangent(t: Any, x: Any, out: Any) -> Any:
    """Return the tangent: for a complex number at right angles to it, else zero."""
    if not dt.is_complex(get_aval(x).dtype):
        return zero_of(get_aval(out))
    radius = abs_(x)
    one, zero = scalar_like(radius, 1), scalar_like(radius, 0)
    turn = div(imag(mul(conj(out), t)), select_n(eq(radius, zero), radius, one))
    return mul(out, complex_(zero, turn))


sign_p: Final = unary(
    "sign",
    dtypes=NUMBER,
    reference=_sign_reference,
    lower=_sign_lower,
    fusion=ARITHMETIC,
    makes_nan=False,
    derivative=None,
    tangent=_sign_tangent,
    samples=Samples(NUMBERS, arity=1),
)


def sign(x: Any) -> Any:
    """Return -1, 0 or 1 with the sign of `x`, elementwise; complex: `x / abs(x)`.

    Args:
        x: numbers.

    Returns:
        An array of the dtype and shape of `x`. For 0 it is 0, for NaN it is NaN.

    References:
        StableHLO, `sign`.
    """
    return sign_p.bind1(x)


def _abs_tangent(t: Any, x: Any, out: Any) -> Any:
    if dt.is_complex(get_aval(x).dtype):
        return real(mul(t, conj(sign(x))))
    return select_n(ge(x, scalar_like(x, 0)), neg(t), t)


def _abs_lower(b: Builder, x: Value) -> Value:
    size = b.abs(x)
    if not dt.is_complex(x.dtype):
        return size
    infinite = b.full(size.shape, np.inf, size.dtype)  # also next to a NaN
    parts = [b.compare(b.abs(part), infinite, "EQ") for part in (b.real(x), b.imag(x))]
    return b.select(b.or_(*parts), infinite, size)


abs_p: Final = unary(
    "abs",
    dtypes=_SIGNED,
    reference=np.abs,
    lower=_abs_lower,
    fusion=ARITHMETIC,
    makes_nan=False,
    derivative=None,
    tangent=_abs_tangent,
    result=dt.real_part_dtype,
    samples=Samples(("int8", "int16", "int32", "int64", *FLOATS, *COMPLEXES), arity=1),
)


def abs_(x: Any) -> Any:
    """Return the magnitude of `x`, elementwise; real for complex `x`.

    Args:
        x: signed integers, floats or complex numbers; the least integer stays negative.

    Returns:
        An array of the same shape, for complex numbers of floats of half the width.

    References:
        StableHLO, `abs`.
    """
    return abs_p.bind1(x)


# ---- rounding ----

floor_p: Final = unary(
    "floor",
    dtypes=FLOATING,
    reference=np.floor,
    lower=lambda b, x: b.floor(x),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivative=None,
    samples=Samples(FLOATS, arity=1, edges=(0.5, -0.5), differentiable=False),
)


def floor(x: Any) -> Any:
    """Return the largest integer that is not above `x`, elementwise.

    Args:
        x: floats.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        StableHLO, `floor`.
    """
    return floor_p.bind1(x)


ceil_p: Final = unary(
    "ceil",
    dtypes=FLOATING,
    reference=np.ceil,
    lower=lambda b, x: b.ceil(x),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivative=None,
    samples=Samples(FLOATS, arity=1, edges=(0.5, -0.5), differentiable=False),
)


def ceil(x: Any) -> Any:
    """Return the smallest integer that is not below `x`, elementwise.

    Args:
        x: floats.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        StableHLO, `ceil`.
    """
    return ceil_p.bind1(x)


class RoundingMethod(enum.IntEnum):
    """Where `round` takes a number that lies half way between two integers."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def _round_aval(x: ShapedArray, *, rounding_method: RoundingMethod) -> Avals:
    FLOATING.check("round", (x,))
    return (x,)


def _round_reference(x: NDArray, *, rounding_method: RoundingMethod) -> Any:
    if rounding_method is RoundingMethod.TO_NEAREST_EVEN:
        return (np.rint(x),)
    whole = np.trunc(x)  # `floor(x + 0.5)` is 1 for the largest number below 0.5
    step = np.copysign((np.abs(x - whole) >= 0.5).astype(x.dtype), x)
    return (whole + step,)


def _round_lower(b: Builder, x: Value, *, rounding_method: RoundingMethod) -> Any:
    if rounding_method is RoundingMethod.TO_NEAREST_EVEN:
        return (b.round_nearest_even(x),)
    return (b.round_nearest_afz(x),)


def _round_jvp(primals: Values, _: Values, *, rounding_method: RoundingMethod) -> Any:
    return not_differentiable(round_p, primals, rounding_method=rounding_method)


def _round_batch(args: Values, at: Dims, *, rounding_method: RoundingMethod) -> Any:
    return (round_(args[0], rounding_method),), at


round_p: Final = Primitive(
    name="round",
    aval=_round_aval,
    reference=_round_reference,
    lower=_round_lower,
    fusion=ARITHMETIC,
    makes_nan=False,
    jvp=_round_jvp,
    transpose=NOT_LINEAR,
    batch=_round_batch,
    pad=ELEMENTWISE,
    samples=Samples(
        FLOATS,
        cases=tuple(
            Case((shape,), {"rounding_method": method})
            for method in RoundingMethod
            for shape in ((24,), (2, 3), ())
        ),
        edges=(
            0.5,
            1.5,
            2.5,
            -0.5,
            -2.5,
            -0.3,
            0.49999997,
            8388609.0,
            4503599627370497.0,
        ),
        differentiable=False,
    ),
)


def round_(
    x: Any, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO
) -> Any:
    """Return the integer nearest to `x`, elementwise.

    Args:
        x: floats.
        rounding_method: where a number half between two integers goes: away from zero,
            or to the even one with `RoundingMethod.TO_NEAREST_EVEN`.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        StableHLO, `round_nearest_afz`, `round_nearest_even`.
    """
    return round_p.bind1(x, rounding_method=RoundingMethod(rounding_method))


# ---- is_finite ----

is_finite_p: Final = unary(
    "is_finite",
    dtypes=FLOATING,
    reference=np.isfinite,
    lower=lambda b, x: b.is_finite(x),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivative=None,
    samples=Samples(FLOATS, arity=1, differentiable=False),
    result=bool_result,
)


def is_finite(x: Any) -> Any:
    """Return where `x` is neither infinite nor NaN, elementwise.

    Args:
        x: floats.

    Returns:
        A boolean array of the same shape.

    References:
        StableHLO, `is_finite`.
    """
    return is_finite_p.bind1(x)
