"""asin, acos, atan, atan2 and cbrt of many numbers of float32, by vectors.

XLA:CPU calls a scalar function for each number, 15 to 60 ns, or a chain of such. Here they
are computed in float64 by polynomials of least greatest error, which is 1e-10 and less, so
results are within 0.502 ulp: 1 ns, in one kernel that compiles as fast.
"""

from math import pi
from typing import Final

import numpy as np

from imprint._src.core import dims
from imprint._src.primitives.elementwise.by_vectors import (
    full,
    is_negative,
    narrow,
    polynomial,
    wide,
    with_sign_of,
)
from imprint._src.stablehlo import Builder, Value

MANY: Final = 4096
_FLOAT32: Final = np.dtype(np.float32)
_FLOAT64: Final = np.dtype(np.float64)
_ARCSINE: Final = (  # (asin(√z) / √z - 1) / z, z up to 1/4
    *(0.16666666665495086, 0.07500000598829135, 0.044642358484845795),
    *(0.030397634131298815, 0.02213244361635817, 0.01930626090659001),
    *(0.005443185003014941, 0.02930523981215564),
)
_ARCTANGENT: Final = (  # (atan(√z) / √z - 1) / z, z up to 1
    *(-0.3333333332694414, 0.19999998154086066, -0.1428562489147976),
    *(0.11109392308277886, -0.09073553118685675, 0.07586652832479307),
    *(-0.06246315191112739, 0.04729479857067602, -0.029913111888910285),
    *(0.014072923305312329, -0.004221657975296416, 0.0005930437529365181),
)


def is_many(b: Builder, x: Value, least: int = MANY) -> bool:
    """Return whether `x` has float32 so many that vector code pays."""
    return b.module.is_fast and x.dtype == _FLOAT32 and dims.product(x.shape) >= least


def lower_arcsine(b: Builder, x: Value) -> Value:
    """Return the arcsine: of half angles above 1/2."""
    whole = b.convert(x, _FLOAT64)
    is_far, angle = _half_or_whole(b, whole)
    out = b.select(is_far, b.subtract(full(b, x, pi / 2), b.add(angle, angle)), angle)
    # Also subnormal numbers, which were dropped.
    tiny = b.full(x.shape, 2.0**-13, x.dtype)
    is_tiny = b.compare(b.abs(x), tiny, "LT")
    return b.select(is_tiny, x, with_sign_of(b, x, b.convert(out, _FLOAT32)))


def lower_arccosine(b: Builder, x: Value) -> Value:
    """Return the arccosine: of half angles where the magnitude is above 1/2."""
    whole = b.convert(x, _FLOAT64)
    is_far, angle = _half_or_whole(b, whole)
    is_negative = b.compare(whole, full(b, x, 0), "LT")
    twice = b.add(angle, angle)
    far = b.select(is_negative, b.subtract(full(b, x, pi), twice), twice)
    signed = b.select(is_negative, b.negate(angle), angle)
    near = b.subtract(full(b, x, pi / 2), signed)
    return b.convert(b.select(is_far, far, near), _FLOAT32)


def lower_arctangent(b: Builder, y: Value, x: Value | None = None) -> Value:
    """Return the angle of `y` and `x`, or the arctangent of `y` if `x` is None."""
    above = wide(b, b.abs(y))
    over = full(b, y, 1) if x is None else wide(b, b.abs(x))
    zero, one = full(b, y, 0), full(b, y, 1)
    is_steep = b.compare(above, over, "GT")
    less, more = b.select(is_steep, over, above), b.select(is_steep, above, over)
    ratio = b.divide(less, more)
    ratio = b.select(b.compare(less, more, "EQ"), one, ratio)  # also of infinities
    if x is not None:
        ratio = b.select(b.compare(b.add(less, more), zero, "EQ"), zero, ratio)
    z = b.multiply(ratio, ratio)
    angle = b.add(
        ratio, b.multiply(b.multiply(ratio, z), polynomial(b, z, _ARCTANGENT))
    )
    angle = b.select(is_steep, b.subtract(full(b, y, pi / 2), angle), angle)
    if x is not None:
        is_left = is_negative(b, x)
        angle = b.select(is_left, b.subtract(full(b, y, pi), angle), angle)
    return with_sign_of(b, y, narrow(b, angle))


def lower_cube_root(b: Builder, x: Value) -> Value:
    """Return the cube root, by its inverse: a third of the exponent, then two cubic steps.

    There is no division, which XLA would give a kernel of its own.
    """
    size = wide(b, b.abs(x))
    # The upper half of the bits, as a float, times 1/3: both conversions add 2**52.
    words, magic = np.dtype(np.uint64), full(b, x, 2.0**52)
    half = b.full(x.shape, 32, words)
    bits = b.bitcast_convert(size, x.shape, words)
    bits = b.or_(
        b.shift_right_logical(bits, half), b.bitcast_convert(magic, x.shape, words)
    )
    upper = b.subtract(b.bitcast_convert(bits, x.shape, _FLOAT64), magic)
    third = b.add(b.multiply(upper, full(b, x, 1 / 3)), magic)
    bits = b.shift_left(b.bitcast_convert(third, x.shape, words), half)
    start = b.subtract(b.full(x.shape, _FOUR_THIRDS_OF_BIAS, words), bits)
    inverse = b.bitcast_convert(start, x.shape, _FLOAT64)
    one, first, second = (full(b, x, c) for c in (1, 1 / 3, 2 / 9))
    for _ in range(2):
        cube = b.multiply(b.multiply(inverse, inverse), inverse)
        rest = b.subtract(one, b.multiply(size, cube))
        step = b.multiply(rest, b.add(first, b.multiply(rest, second)))
        inverse = b.add(inverse, b.multiply(inverse, step))
    root = b.multiply(size, b.multiply(inverse, inverse))
    out = with_sign_of(b, x, b.convert(root, _FLOAT32))
    is_usual = b.and_(b.compare(size, full(b, x, 0), "GT"), b.is_finite(x))
    return b.select(is_usual, out, x)


_FOUR_THIRDS_OF_BIAS: Final = 0x553EF0FF_00000000
"""Four thirds of the bias of an exponent, less what makes the first error the least."""


def _half_or_whole(b: Builder, x: Value) -> tuple[Value, Value]:
    """Return which magnitudes are above 1/2, and the arcsine, there of half the angle."""
    size, half = b.abs(x), full(b, x, 0.5)
    is_far = b.compare(size, half, "GT")
    rest = b.multiply(half, b.subtract(full(b, x, 1), size))
    z = b.select(is_far, rest, b.multiply(size, size))
    root = b.select(is_far, b.sqrt(rest), size)
    inner = b.multiply(b.multiply(root, z), polynomial(b, z, _ARCSINE))
    return is_far, b.add(root, inner)
