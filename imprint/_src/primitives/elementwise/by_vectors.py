"""What functions of floats that are computed by vectors share: constants, polynomials, bits.

Numbers that are subnormal in float32 are not in float64, but XLA's conversions drop them:
`wide` and `narrow` go through their bits.
"""

from functools import reduce
from typing import Final

import numpy as np

from imprint._src.stablehlo import Builder, Value

_FLOAT32: Final = np.dtype(np.float32)
_FLOAT64: Final = np.dtype(np.float64)


def full(b: Builder, like: Value, number: float) -> Value:
    """Return a number of float64 in the shape of `like`."""
    return b.full(like.shape, number, _FLOAT64)


def wide(b: Builder, x: Value) -> Value:
    """Return magnitudes of float32 in float64."""
    bits = b.bitcast_convert(x, x.shape, np.int32)
    scaled = b.multiply(b.convert(bits, _FLOAT64), full(b, x, 2.0**-149))
    is_least = b.compare(bits, b.full(x.shape, 1 << 23, np.int32), "LT")
    return b.select(is_least, scaled, b.convert(x, _FLOAT64))


def narrow(b: Builder, x: Value) -> Value:
    """Return magnitudes in float32."""
    scaled = b.round_nearest_even(b.multiply(x, full(b, x, 2.0**149)))
    least = full(b, x, 2.0**-126)
    is_least = b.compare(x, least, "LT")
    bits = b.convert(b.select(is_least, scaled, full(b, x, 0)), np.int32)
    small = b.bitcast_convert(bits, x.shape, _FLOAT32)
    return b.select(is_least, small, b.convert(x, _FLOAT32))


def is_negative(b: Builder, x: Value) -> Value:
    """Return which float32 have the sign bit, as -0.0 has."""
    bits = b.bitcast_convert(x, x.shape, np.int32)
    return b.compare(bits, b.full(x.shape, 0, np.int32), "LT")


def with_sign_of(b: Builder, x: Value, magnitude: Value) -> Value:
    """Return magnitudes of the dtype of `x` with its signs."""
    word = np.dtype(f"u{x.dtype.itemsize}")
    sign = b.full(x.shape, 1 << (8 * word.itemsize - 1), word)
    signs = b.and_(b.bitcast_convert(x, x.shape, word), sign)
    bits = b.or_(b.bitcast_convert(magnitude, x.shape, word), signs)
    return b.bitcast_convert(bits, x.shape, x.dtype)


def polynomial(b: Builder, z: Value, coefficients: tuple[float, ...]) -> Value:
    *lower, last = (b.full(z.shape, c, z.dtype) for c in coefficients)
    return reduce(lambda out, c: b.add(c, b.multiply(z, out)), reversed(lower), last)
