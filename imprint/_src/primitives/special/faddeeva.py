"""The Faddeeva function: the complex error function, scaled, elementwise.

The reference is SciPy's. In a program it is Weideman's rational series (SIAM J. Numer.
Anal. 31, 1994) of the upper half of the plane; the lower one is reflected to it. The terms
of the series are the Fourier coefficients of the interpolated function.
"""

import math
from typing import Any, Final

import numpy as np

from imprint._src.core.fusion import UNFUSED
from imprint._src.core.primitive import Samples
from imprint._src.primitives.core_ops import COMPLEXES, add, mul, neg, scalar_like
from imprint._src.primitives.families import COMPLEX, unary
from imprint._src.primitives.special.closed_forms import scipy_special
from imprint._src.stablehlo import Builder, Value

_TERMS: Final = 40
_WIDTH: Final = math.sqrt(_TERMS / math.sqrt(2))


def _coefficients() -> list[float]:
    """Return the coefficients of the series, that of the highest power first."""
    turns = np.pi * np.arange(1 - 2 * _TERMS, 2 * _TERMS) / (2 * _TERMS)
    places = (_WIDTH * np.tan(turns / 2)) ** 2
    values = np.append(0.0, np.exp(-places) * (_WIDTH**2 + places))
    found = np.fft.fft(np.fft.fftshift(values)).real / (4 * _TERMS)
    return [float(c) for c in found[_TERMS:0:-1]]


def _upper(b: Builder, z: Value) -> Value:
    """Return it where the imaginary part is not negative."""

    def number(x: complex) -> Value:
        return b.full(z.shape, x, z.dtype)

    turned, width = b.multiply(number(1j), z), number(_WIDTH)
    below = b.subtract(width, turned)
    place = b.divide(b.add(width, turned), below)
    first, *rest = _coefficients()
    total = number(first)
    for c in rest:
        total = b.add(b.multiply(total, place), number(c))
    total = b.divide(b.multiply(number(2), total), b.multiply(below, below))
    return b.add(total, b.divide(number(1 / math.sqrt(math.pi)), below))


def _lower(b: Builder, z: Value) -> Value:
    part = b.imag(z)
    zero = b.full(z.shape, 0.0, part.dtype)
    above = b.compare(part, zero, "GE")
    turned = b.select(above, z, b.negate(z))
    value = _upper(b, turned)
    end = b.full(z.shape, math.inf, part.dtype)
    wide = b.compare(b.abs(b.real(z)), end, "EQ")
    high = b.compare(b.abs(part), end, "EQ")
    nothing = b.full(z.shape, 0.0, z.dtype)
    value = b.select(b.or_(wide, high), nothing, value)
    grown = b.exponential(b.negate(b.multiply(z, z)))
    other = b.subtract(b.multiply(b.full(z.shape, 2.0, z.dtype), grown), value)
    other = b.select(b.and_(wide, b.not_(high)), nothing, other)
    return b.select(above, value, other)


def _slope(z: Any, out: Any) -> Any:
    turn = scalar_like(z, 2j / math.sqrt(math.pi))
    return add(neg(mul(scalar_like(z, 2), mul(z, out))), turn)


wofz_p: Final = unary(
    "wofz",
    dtypes=COMPLEX,
    reference=lambda z: scipy_special().wofz(z),
    lower=_lower,
    fusion=UNFUSED,
    makes_nan=True,
    derivative=_slope,
    samples=Samples(COMPLEXES, arity=1, domain=(-2.0, 2.0), finite=True, ulps=512),
)


def wofz(z: Any) -> Any:
    """Return the Faddeeva function, elementwise."""
    return wofz_p.bind1(z)
