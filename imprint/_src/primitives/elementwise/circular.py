"""sin, cos and tan of many real numbers, by vectors.

XLA:CPU calls a scalar function for each number: 4 to 20 ns. Here the operand is reduced by
multiples of π/2, and sine and cosine of the rest are polynomials, those of FreeBSD's msun
(`k_sin.c`, `k_cos.c`): 1 to 3 ns. float32 is computed in float64, and within 0.501 ulp, as
XLA's are within 0.57. Its multiples come from the digits of 1/2π (Payne and Hanek), for
numbers of all sizes, so it is one kernel. Those of float64 are in three parts whose products
with a whole number below 2**20 are exact (Cody and Waite), within 0.8 ulp; one number above
the limit sends all to XLA, and both are compiled. From jaxlib 0.12 on
XLA itself computes a sine by vectors where it is summed: programs with sums are left to it.
"""

from collections.abc import Callable
from functools import reduce
from math import pi
from typing import Final, NamedTuple

import numpy as np

from imprint._src.core import dims
from imprint._src.primitives.elementwise.by_vectors import polynomial
from imprint._src.primitives.elementwise.rare import unless_any
from imprint._src.stablehlo import Builder, Value

MANY: Final = 1 << 14
_LIMIT: Final = 1.0e6  # 2**20 π/2 and less
_FLOAT64: Final = np.dtype(np.float64)
_PARTS: Final = (
    float.fromhex("0x1.921fb544p+0"),  # π/2, 33 bits at a time
    float.fromhex("0x1.0b4611a6p-34"),
    float.fromhex("0x1.3198a2e037073p-69"),
)
_TURNS: Final = (
    *(float.fromhex(c) for c in ("0x1.45f306dp-3", "0x1.9391054p-32")),
    *(float.fromhex(c) for c in ("0x1.4fe13abp-61", "0x1.d1f534dp-90")),
    *(float.fromhex(c) for c in ("0x1.b81b6c5p-119", "0x1.5993c4p-150")),
    float.fromhex("0x1.c820ff2p-177"),
)
"""1/2π, 29 bits at a time: the products with a float32 are exact in float64."""
_LARGE_TURNS: Final = 5
"""Products with the later parts are less than a turn."""
_SINE: Final = (
    *(-1.66666666666666324348e-01, 8.33333333332248946124e-03),
    *(-1.98412698298579493134e-04, 2.75573137070700676789e-06),
    *(-2.50507602534068634195e-08, 1.58969099521155010221e-10),
)
_COSINE: Final = (
    *(4.16666666666666019037e-02, -1.38888888888741095749e-03),
    *(2.48015872894767294178e-05, -2.75573143513906633035e-07),
    *(2.08757232129817482790e-09, -1.13596475577881948265e-11),
)
_TERMS: Final = {"float32": 5, "float64": 6}
"""How many coefficients there are for a dtype."""


class _Rest(NamedTuple):
    """An operand less `n` times π/2, as a sum of two numbers."""

    n: Value
    high: Value
    low: Value | None


def is_vectorized(b: Builder, x: Value) -> bool:
    """Return whether a circular function of `x` is computed here."""
    is_fast = b.module.is_fast and not b.module.vectorizes_sums
    return is_fast and x.dtype.name in _TERMS and dims.product(x.shape) >= MANY


def lower_sine(b: Builder, x: Value) -> Value:
    """Return the sine of many real numbers."""

    def sine(b: Builder, rest: _Rest, terms: int) -> Value:
        return _of_quadrant(b, rest.n, _sine(b, rest, terms), _cosine(b, rest, terms))

    return _lower(b, x, sine, Builder.sine, is_odd=True)


def lower_cosine(b: Builder, x: Value) -> Value:
    """Return the cosine of many real numbers."""

    def cosine(b: Builder, rest: _Rest, terms: int) -> Value:
        one = b.full(x.shape, 1, np.int32)
        shifted = b.add(rest.n, one)
        return _of_quadrant(b, shifted, _sine(b, rest, terms), _cosine(b, rest, terms))

    return _lower(b, x, cosine, Builder.cosine, is_odd=False)


def lower_tangent(b: Builder, x: Value) -> Value:
    """Return the tangent of many numbers of float32: a quotient in float64."""

    def tangent(b: Builder, rest: _Rest, terms: int) -> Value:
        sine, cosine = _sine(b, rest, terms), _cosine(b, rest, terms)
        zero, one = (b.full(x.shape, k, np.int32) for k in (0, 1))
        is_odd = b.compare(b.and_(rest.n, one), zero, "NE")
        above = b.select(is_odd, b.negate(cosine), sine)
        return b.divide(above, b.select(is_odd, sine, cosine))

    return _lower(b, x, tangent, Builder.tan, is_odd=True)


def _lower(
    b: Builder,
    x: Value,
    function: Callable[[Builder, _Rest, int], Value],
    scalar: Callable[[Builder, Value], Value],
    *,
    is_odd: bool,
) -> Value:
    is_wide = x.dtype == _FLOAT64

    def by_vectors(b: Builder) -> Value:
        rest = _less_quarters(b, x) if is_wide else _of_turns(b, x)
        out = b.convert(function(b, rest, _TERMS[x.dtype.name]), x.dtype)
        if not is_odd:
            return out
        tiny = b.full(x.shape, 2.0**-30, x.dtype)  # also -0.0, whose sign was lost
        return b.select(b.compare(b.abs(x), tiny, "LT"), x, out)

    if not is_wide:
        return by_vectors(b)
    size, limit = b.abs(x), b.full(x.shape, _LIMIT, x.dtype)
    is_large = b.and_(b.compare(size, limit, "GT"), b.is_finite(x))
    return unless_any(b, is_large, x.type, by_vectors, lambda b: scalar(b, x))


def _of_turns(b: Builder, x: Value) -> _Rest:
    """Subtract the nearest multiple of π/2 from float32 of any size.

    Whole turns are dropped from each product with a part of 1/2π. The quarters are subtracted
    from the largest product first, since near a multiple of π/2 the others cancel it.
    """
    wide = b.convert(x, _FLOAT64)
    turns = [b.multiply(wide, b.full(x.shape, c, _FLOAT64)) for c in _TURNS]
    large = [b.subtract(t, b.round_nearest_even(t)) for t in turns[:_LARGE_TURNS]]
    parts = [*large, reduce(b.add, reversed(turns[_LARGE_TURNS:]))]
    four, quarter, turn = (b.full(x.shape, k, _FLOAT64) for k in (4, 0.25, 2 * pi))
    n = b.round_nearest_even(b.multiply(reduce(b.add, parts), four))
    first = b.subtract(parts[0], b.multiply(n, quarter))
    rest = b.multiply(reduce(b.add, [first, *parts[1:]]), turn)
    return _Rest(b.convert(n, np.int32), rest, None)


def _less_quarters(b: Builder, x: Value) -> _Rest:
    """Subtract the nearest multiple of π/2 from float64 below the limit."""
    part = [b.full(x.shape, n, _FLOAT64) for n in (2 / pi, *_PARTS)]
    q = b.round_nearest_even(b.multiply(x, part[0]))
    first = b.subtract(x, b.multiply(q, part[1]))
    middle = b.multiply(q, part[2])
    high = b.subtract(first, middle)
    lost = b.subtract(b.subtract(first, high), middle)
    low = b.subtract(lost, b.multiply(q, part[3]))
    total = b.add(high, low)
    low = b.add(b.subtract(high, total), low)
    return _Rest(b.convert(q, np.int32), total, low)


def _sine(b: Builder, rest: _Rest, terms: int) -> Value:
    x, y = rest.high, rest.low
    z = b.multiply(x, x)
    v = b.multiply(z, x)
    r = polynomial(b, z, _SINE[1:terms])
    first = b.full(x.shape, _SINE[0], _FLOAT64)
    if y is None:
        return b.add(x, b.multiply(v, b.add(first, b.multiply(z, r))))
    half = b.multiply(b.full(x.shape, 0.5, _FLOAT64), y)
    inner = b.subtract(b.multiply(z, b.subtract(half, b.multiply(v, r))), y)
    return b.subtract(x, b.subtract(inner, b.multiply(v, first)))


def _cosine(b: Builder, rest: _Rest, terms: int) -> Value:
    x, y = rest.high, rest.low
    one = b.full(x.shape, 1, _FLOAT64)
    z = b.multiply(x, x)
    tail = b.multiply(b.multiply(z, z), polynomial(b, z, _COSINE[:terms]))
    half = b.multiply(b.full(x.shape, 0.5, _FLOAT64), z)
    near = b.subtract(one, half)
    if y is None:
        return b.add(near, tail)
    lost = b.subtract(b.subtract(one, near), half)
    return b.add(near, b.add(lost, b.subtract(tail, b.multiply(x, y))))


def _of_quadrant(b: Builder, n: Value, sine: Value, cosine: Value) -> Value:
    """Return the sine of an angle n π/2 further than that of which sine and cosine are given."""
    zero, one, two = (b.full(n.shape, k, np.int32) for k in (0, 1, 2))
    is_cosine = b.compare(b.and_(n, one), zero, "NE")
    out = b.select(is_cosine, cosine, sine)
    return b.select(b.compare(b.and_(n, two), zero, "NE"), b.negate(out), out)
