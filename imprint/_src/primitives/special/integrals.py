"""Integrals of two parameters, elementwise, on floats: E_n, and Owen's T.

References are SciPy's. In a program E_n is a series or a continued fraction (DLMF 8.19), and
Owen's T a sum over Gauss nodes between 0 and `a`, where that is at most 1; larger `a` follow
from the normal distribution's function.
"""

import math
from typing import Any, Final

import numpy as np

from imprint._src.core.fusion import UNFUSED
from imprint._src.core.primitive import Samples
from imprint._src.primitives.core_ops import FLOATS, add, mul, neg, scalar_like, sub
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.comparison import ge
from imprint._src.primitives.elementwise.exponential import exp, square
from imprint._src.primitives.elementwise.rounding import floor
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.families import FLOATING, binary, wide
from imprint._src.primitives.special.closed_forms import in_program, scipy_special
from imprint._src.primitives.special.special import erf

NDArray = np.ndarray[Any, Any]

# ---- exponential integrals ----


def _by_series(f: Any, n: Any, x: Any, asked: Any) -> Any:
    """Return E_n up to 1: a power series, and one term with a logarithm."""

    def step(k: Any, power: Any, total: Any) -> Any:
        power = power * (-x / k)
        order = k - n + 1
        term = f.where(f.equal(order, 0.0), 0.0, power / order)
        total = total + term
        return asked & (f.abs(power) > f.eps), power, total

    first = f.where(f.equal(n, 1.0), 0.0, 1 / (n - 1))
    total = -f.loop(40, step, 1.0, -first)[1]
    rest = f.exp((n - 1) * f.log(x) - f.lgamma(n)) * (f.digamma(n) - f.log(x))
    half = (n - 1) * 0.5
    return total + f.where(f.equal(half, f.floor(half)), rest, -rest)


def _by_fraction(f: Any, n: Any, x: Any, asked: Any) -> Any:
    """Return `exp(x)` times E_n: its continued fraction, by Lentz."""
    start = x + n

    def step(k: Any, c: Any, d: Any, total: Any) -> Any:
        above, below = -k * (n + k - 1), start + 2 * k
        d = 1 / (above * d + below)
        c = below + above / c
        total = total * (c * d)
        return asked & (f.abs(c * d - 1) > 2 * f.eps), c, d, total

    return f.loop(1000, step, 1 / f.tiny, 1 / start, 1 / start)[2]


def _expn(f: Any, n: Any, x: Any) -> Any:
    n = f.floor(n)
    fine = (n > 0) & (n < math.inf) & (x > 0) & (x < math.inf)
    near = fine & (x <= 1) & (n <= 50)
    order = f.where(fine, n, 1.0)
    place = f.where(fine, x, 2.0)
    small = f.where(near, order, 1.0)
    by_series = _by_series(f, small, f.where(near, x, 1.0), near)
    by_fraction = f.exp(-place) * _by_fraction(f, order, place, fine & ~near)
    value = f.where(near, by_series, by_fraction)
    value = f.where(f.equal(n, 0.0), f.exp(-x) / x, value)
    at_0 = f.where(n < 2, math.inf, 1 / (n - 1))
    value = f.where(f.equal(x, 0.0), at_0, f.where(x < math.inf, value, 0.0))
    known = (n >= 0) & (n < math.inf) & (x >= 0)
    return f.where(known, value, math.nan)


def _expn_reference(n: Any, x: Any) -> Any:
    n, x = np.broadcast_arrays(np.floor(n), x)
    known = (n >= 0) & (n < np.inf) & (x >= 0)
    order = np.where(known, np.minimum(n, 2.0**31 - 1), 0).astype(np.int32)
    value = scipy_special().expn(order, np.where(known, x, 1))
    return np.where(known, value, np.nan).astype(x.dtype)


def _expn_slope(n: Any, x: Any, out: Any) -> Any:
    one, whole = scalar_like(n, 1), floor(n)
    is_later = ge(whole, one)
    below = expn(select_n(is_later, whole, sub(whole, one)), x)
    first = mul(out, div(add(x, scalar_like(x, 1)), x))  # of E_0, exp(-x) / x
    return neg(select_n(is_later, first, below))


expn_p: Final = binary(
    "expn",
    dtypes=FLOATING,
    reference=wide(_expn_reference),
    lower=lambda b, n, x: in_program(_expn, b, n, x),
    fusion=UNFUSED,
    makes_nan=True,
    derivatives=(None, _expn_slope),
    samples=Samples(
        FLOATS,
        arity=2,
        operand_domains=((1.1, 1.9), (0.2, 6.0)),
        edges=(2.0, 3.0, 60.0, 0.5, 0.01),
        ulps=256,
    ),
)


def expn(n: Any, x: Any) -> Any:
    """Return the integral of `exp(-x * t) / t**n` from 1 on, for whole `n`, elementwise."""
    return expn_p.bind1(n, x)


# ---- Owen's T ----


def _inside(f: Any, h: Any, a: Any) -> Any:
    """Return it where `a` is at most 1, and neither is negative."""
    is_single = f.eps > 1e-10
    # Beyond so many deviations the integrand vanishes next to its sum.
    count, end = (26, 5.8) if is_single else (40, 8.6)
    a = f.where(h * a > end, end / h, a)
    total: Any = 0.0
    half = h * h * -0.5
    places, weights = np.polynomial.legendre.leggauss(count)
    for i in range(count // 2, count):  # the integrand is even
        growth = 1 + a * a * float(places[i] ** 2)
        total = total + f.exp(half * growth) * float(weights[i] / math.tau) / growth
    return a * total


def _owens_t(f: Any, h: Any, a: Any) -> Any:
    size, h = f.abs(a), f.abs(h)
    outside = size > 1
    turned = f.where(outside, size * h, h)
    inside = _inside(f, turned, f.where(outside, 1 / size, size))
    upper = f.erfc(h * math.sqrt(0.5))
    other = f.erfc(size * h * math.sqrt(0.5))
    far = 0.25 * (upper + other - upper * other) - inside
    close = 0.25 - 0.25 * (1 - upper) * (1 - other) - inside
    value = f.where(outside, f.where(turned <= 0.67, close, far), inside)
    value = f.where(f.equal(size, 1.0), 0.125 * upper * (2 - upper), value)
    # Of infinite ones the sum is not defined.
    value = f.where(f.equal(size, math.inf), 0.25 * upper, value)
    value = f.where(f.equal(h, math.inf), 0.0, value)
    value = f.sign(a) * value
    return f.where(f.equal(a, a) & f.equal(h, h), value, math.nan)


def _owens_t_reference(h: NDArray, a: NDArray) -> NDArray:
    # Of a small `a`, where SciPy has few digits or none, its series has one term.
    linear = a / (2 * math.pi) * np.exp(-0.5 * np.square(h))
    exact: NDArray = scipy_special().owens_t(h, a)
    return np.copysign(np.where(abs(a) < 1e-8, linear, exact), a)


def _owens_t_by_h(h: Any, a: Any, out: Any) -> Any:
    fall = exp(mul(scalar_like(h, -0.5), square(h)))
    rest = erf(mul(mul(a, h), scalar_like(h, math.sqrt(0.5))))
    return mul(scalar_like(h, -0.5 / math.sqrt(2 * math.pi)), mul(fall, rest))


def _owens_t_by_a(h: Any, a: Any, out: Any) -> Any:
    growth = add(square(a), scalar_like(a, 1))
    fall = exp(mul(scalar_like(h, -0.5), mul(growth, square(h))))
    return div(fall, mul(scalar_like(a, 2 * math.pi), growth))


owens_t_p: Final = binary(
    "owens_t",
    dtypes=FLOATING,
    reference=wide(_owens_t_reference),
    lower=lambda b, h, a: in_program(_owens_t, b, h, a),
    fusion=UNFUSED,
    makes_nan=True,
    derivatives=(_owens_t_by_h, _owens_t_by_a),
    samples=Samples(FLOATS, arity=2, edges=(1.0, -1.0, 0.5, 3.0), ulps=256),
)


def owens_t(h: Any, a: Any) -> Any:
    """Return Owen's T function, elementwise."""
    return owens_t_p.bind1(h, a)
