"""The gamma function of complex numbers, its logarithm, and derivatives.

Outside of programs they are SciPy's. In programs, conjugation moves numbers to the
upper half plane, and the reflection formula those of its left half to the right; there
the sine is an exponential that does not overflow. Right of 1/2, use Stirling's series
after some steps of the recurrence. The derivative of order n is order n + 1.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.core.aval import ShapedArray
from imprint._src.core.host_kernel import HostKernel
from imprint._src.primitives.special.closed_forms import scipy_special
from imprint.custom_derivatives import custom_jvp

_STEPS: Final = 7
_TERMS: Final = 9
_LOGARITHM: Final = -1
"""The order of the logarithm of gamma, whose derivative of order 1 has order 0."""


def complex_gamma(z: Any) -> Array:
    """Return the gamma function of complex numbers."""
    if _gamma_now.applies(z):
        return _gamma_now(z)[0]
    return np.exp(complex_loggamma(z))


def complex_loggamma(z: Any) -> Array:
    """Return the branch of the logarithm of gamma with a cut below 0."""
    if _loggamma_now.applies(z):
        return _loggamma_now(z)[0]
    return _derivative(_LOGARITHM)(z)


def _same(z: ShapedArray) -> tuple[ShapedArray]:
    return (z,)


def _by_scipy(name: str) -> Callable[[Any], tuple[Any]]:
    return lambda z: (numpy.asarray(getattr(scipy_special(), name)(z)).astype(z.dtype),)


_gamma_now: Final = HostKernel("gamma", _same, _by_scipy("gamma"))
_loggamma_now: Final = HostKernel("loggamma", _same, _by_scipy("loggamma"))


# ---- in programs ----


@cache
def _derivative(order: int) -> Callable[[Any], Any]:
    """Return a derivative of the logarithm of gamma: order 0 is digamma."""

    @custom_jvp
    def derivative(z: Any) -> Any:
        return _polygamma(order, z)

    @derivative.defjvp
    def push(primals: Any, tangents: Any) -> Any:
        (z,), (t,) = primals, tangents
        return derivative(z), _derivative(order + 1)(z) * t

    del push
    return derivative


def _polygamma(order: int, z: Array) -> Array:
    x, y = np.real(z), np.imag(z)
    is_below = np.signbit(y)
    upper = np.where(is_below, np.conj(z), z)
    is_left = x < 0.5
    out = _right(order, np.where(is_left, 1 - np.conj(upper), upper))
    mirrored = _reflected(order, np.where(is_left, upper, 0.25), np.conj(out))
    out = np.where(is_left, mirrored, out)
    is_pole = (y == 0) & (x <= 0) & (x == np.floor(x))
    lost = is_pole | ~np.isfinite(x) | np.isnan(y)
    return np.where(
        lost, complex(math.nan, math.nan), np.where(is_below, np.conj(out), out)
    )


def _right(order: int, z: Array) -> Array:
    """Return it right of 1/2 in the upper half plane, by Stirling's series."""
    is_far = (np.real(z) > _STEPS) | (np.imag(z) > _STEPS)
    far = np.where(is_far, z, z + _STEPS)
    near = np.where(is_far, 1, z)
    inverse = 1 / far
    square = inverse * inverse
    coefficients = [_stirling(order, k) for k in range(1, _TERMS + 1)]
    series = coefficients[-1] * square
    for c in reversed(coefficients[:-1]):
        series = (series + c) * square
    if order == _LOGARITHM:
        middle = (far - 0.5) * np.log(far) - far + math.log(2 * math.pi) / 2
        return middle + series * far - np.where(is_far, 0, _logarithms(near))
    back = sum((1 / (near + k)) ** (order + 1) for k in range(_STEPS))
    back = np.where(is_far, 0, back)
    if order == 0:
        return np.log(far) - inverse / 2 + series - back
    sign = -1 if order % 2 == 0 else 1
    first = math.factorial(order - 1) + math.factorial(order) / 2 * inverse
    out = (first + series) * inverse**order + math.factorial(order) * back
    return sign * out


def _logarithms(z: Array) -> Array:
    """Return the sum of the logarithms of z, z + 1, …: the unwound log of the product.

    Each factor rotates by less than a right angle, so the product leaves the upper half
    plane only past the cut of the logarithm.
    """
    product, turns = z, 0
    for k in range(1, _STEPS):
        was_above = np.imag(product) >= 0
        product = product * (z + k)
        turns = turns + (was_above & (np.imag(product) < 0))
    return np.log(product) + 2j * math.pi * turns


def _stirling(order: int, k: int) -> float:
    """Return the coefficient of z**(-2 k) in the series, less the leading terms."""
    bernoulli = _bernoulli(2 * k)
    if order == _LOGARITHM:
        return float(bernoulli / (2 * k * (2 * k - 1)))
    if order == 0:
        return float(-bernoulli / (2 * k))
    return float(bernoulli * math.factorial(2 * k + order - 1) / math.factorial(2 * k))


@cache
def _bernoulli(n: int) -> Fraction:
    if n == 0:
        return Fraction(1)
    return -sum(
        (math.comb(n + 1, k) * _bernoulli(k) for k in range(n)), Fraction(0)
    ) / (n + 1)


def _reflected(order: int, z: Array, mirror: Array) -> Array:
    """Return it left of 1/2 in the upper half plane, by its value at 1 - z.

    There exp(2 pi i z) has at most the magnitude 1. With e as it less 1, the sine of pi
    z is -exp(-i pi z) e / 2i, and the cotangent i + 2 i / e.
    """
    turns = z - np.round(np.real(z))
    less = np.expm1(2j * math.pi * turns)
    if order == _LOGARITHM:
        sine = (0.5j - 1j * z) * math.pi - math.log(2) + np.log(-less)
        return math.log(math.pi) - sine - mirror
    cotangent, total = 1j + 2j / less, 0
    for c in reversed(_cotangent(order)):
        total = total * cotangent + c * math.pi ** (order + 1)
    return (mirror if order % 2 == 0 else -mirror) - total


def _cotangent(order: int) -> list[int]:
    """Return the derivative of the cotangent as a polynomial in it, lowest first."""
    terms = [0, 1]
    for _ in range(order):
        slopes = [k * c for k, c in enumerate(terms)][1:]
        terms = [-x - y for x, y in zip([*slopes, 0, 0], [0, 0, *slopes], strict=True)]
    return terms
