"""The incomplete gamma and beta functions, their derivatives, elementwise, on floats.

Each is its factor times a sum: a power series left of the mode, a continued fraction
right of it, which converge in about 9 times the root of the shape. For the factor of
large shapes logarithms of near 1 are taken, and above `_MANY` the uniform expansion in the
normal distribution. References are SciPy's where it has them, else the same formula in
float64. DLMF 5.11, 8.7, 8.9, 8.12 and 8.17 have the series.
"""

import dataclasses
import math
from typing import Any, Final

from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import ELEMENTWISE
from imprint._src.core.primitive import Absent, Avals, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import is_zero, zero_of
from imprint._src.errors import NotDifferentiableError
from imprint._src.primitives.core_ops import (
    FLOATS,
    NOT_LINEAR,
    add,
    broadcast_to,
    elementwise_batch,
    mul,
    neg,
    scalar_like,
    sub,
)
from imprint._src.primitives.elementwise.elementwise import elementwise_aval, repeated
from imprint._src.primitives.elementwise.exponential import exp, log, log1p
from imprint._src.primitives.families import FLOATING, binary, wide
from imprint._src.primitives.special.closed_forms import (
    in_program,
    on_host,
    scipy_special,
)
from imprint._src.primitives.special.special import lgamma
from imprint._src.stablehlo import Builder, Value

_MANY: Final = 5e4
_STEPS: Final = 2000
_STEPS_TO_DERIVE: Final = 10000
_STIRLING: Final = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
_FIRST: Final = (-1 / 3, 1 / 12, -2 / 135, 1 / 864, 1 / 2835, -139 / 777600)
_SECOND: Final = (-1 / 540, -1 / 288, 1 / 378)


# ---- parts of both ----


def _horner(coefficients: tuple[float, ...], x: Any) -> Any:
    total: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total


def _stirling(a: Any) -> Any:
    """Return the logarithm of the gamma function less Stirling's formula, from 10 on."""
    return _horner(_STIRLING, 1 / (a * a)) / a


def _log_less_rest(f: Any, ratio: Any, rest: Any) -> Any:
    """Return `log(ratio) - rest`, where `rest` is `ratio - 1`, precisely."""
    return f.where(f.abs(rest) < 0.5, f.log1p(rest), f.log(ratio)) - rest


# ---- the incomplete gamma function ----


def _factor(f: Any, a: Any, x: Any) -> Any:
    """Return x to the power of a times exp(-x), over the gamma function of a."""
    small = f.exp(a * f.log(x) - x - f.lgamma(a))
    fall = _log_less_rest(f, x / a, (x - a) / a)
    large = f.exp(a * fall - _stirling(a)) * f.sqrt(a / (2 * math.pi))
    return f.where(a < 10, small, large)


def _by_series(f: Any, a: Any, x: Any, asked: Any) -> Any:
    """Return the lower function over the factor, times a."""

    def step(n: Any, term: Any, total: Any) -> Any:
        term = term * (x / (a + n))
        total = total + term
        return asked & (term > f.eps * total), term, total

    return f.loop(_STEPS, step, 1.0, 1.0)[1]


def _by_fraction(f: Any, a: Any, x: Any, asked: Any) -> Any:
    """Return the upper function over the factor: its continued fraction, by Lentz."""
    start = x + 1 - a

    def step(n: Any, c: Any, d: Any, total: Any) -> Any:
        above, below = n * (a - n), start + 2 * n
        d = 1 / (above * d + below)
        c = below + above / c
        total = total * (c * d)
        return asked & (f.abs(c * d - 1) > 4 * f.eps), c, d, total

    return f.loop(_STEPS, step, 1 / f.tiny, 1 / start, 1 / start)[2]


def _of_many(f: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """Return both functions of a large a."""
    half_square = -_log_less_rest(f, x / a, (x - a) / a)
    eta = f.sign(x - a) * f.sqrt(2 * half_square)
    near = f.where(f.abs(eta) < 1, eta, 0.0)
    rest = _horner(_FIRST, near) + _horner(_SECOND, near) / a
    rest = rest * f.exp(-a * half_square) / f.sqrt(2 * math.pi * a)
    scaled = eta * f.sqrt(a / 2)
    return 0.5 * f.erfc(-scaled) - rest, 0.5 * f.erfc(scaled) + rest


def _both(f: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """Return the lower and the upper function, whose sum is 1."""
    is_many = a >= _MANY
    fine = (a > 0) & (x > 0) & (x < math.inf) & ~is_many
    right = (x > 1) & (x > a)
    factor = _factor(f, a, x)
    lower = factor * _by_series(f, a, x, fine & ~right) / a
    upper = factor * _by_fraction(f, a, x, fine & right)
    lower, upper = f.where(right, 1 - upper, lower), f.where(right, upper, 1 - lower)
    far = _of_many(f, a, x)
    lower, upper = f.where(is_many, far[0], lower), f.where(is_many, far[1], upper)
    is_none, is_all = _ends(f, a, x)
    lower = f.where(is_none, 0.0, f.where(is_all, 1.0, lower))
    upper = f.where(is_none, 1.0, f.where(is_all, 0.0, upper))
    known = (a >= 0) & (x >= 0) & ~(is_none & is_all)
    return f.where(known, lower, math.nan), f.where(known, upper, math.nan)


def _ends(f: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """Return where the lower function is 0, and where it is 1; both is undefined."""
    none = f.equal(x, 0.0) | f.equal(a, math.inf)
    return none, f.equal(a, 0.0) | f.equal(x, math.inf)


def _lower_function(f: Any, a: Any, x: Any) -> Any:
    return _both(f, a, x)[0]


def _upper_function(f: Any, a: Any, x: Any) -> Any:
    return _both(f, a, x)[1]


def _igamma_lower(b: Builder, a: Value, x: Value) -> Value:
    return in_program(_lower_function, b, a, x)


def _igammac_lower(b: Builder, a: Value, x: Value) -> Value:
    return in_program(_upper_function, b, a, x)


def _density(a: Any, x: Any) -> Any:
    power = mul(sub(a, scalar_like(a, 1)), log(x))
    return exp(sub(sub(power, x), lgamma(a)))


_AROUND_GAMMA: Final = Samples(FLOATS, arity=2, domain=(0.5, 8.0), ulps=512)

igamma_p: Final = binary(
    "igamma",
    dtypes=FLOATING,
    reference=wide(lambda a, x: scipy_special().gammainc(a, x)),
    lower=_igamma_lower,
    fusion=UNFUSED,
    makes_nan=True,
    derivatives=(
        lambda a, x, out: igamma_grad_a(a, x),
        lambda a, x, out: _density(a, x),
    ),
    samples=_AROUND_GAMMA,
)


def igamma(a: Any, x: Any) -> Any:
    """Return the regularized lower incomplete gamma function, elementwise."""
    return igamma_p.bind1(a, x)


igammac_p: Final = binary(
    "igammac",
    dtypes=FLOATING,
    reference=wide(lambda a, x: scipy_special().gammaincc(a, x)),
    lower=_igammac_lower,
    fusion=UNFUSED,
    makes_nan=True,
    derivatives=(
        lambda a, x, out: neg(igamma_grad_a(a, x)),
        lambda a, x, out: neg(_density(a, x)),
    ),
    samples=_AROUND_GAMMA,
)


def igammac(a: Any, x: Any) -> Any:
    """Return the regularized upper incomplete gamma function, elementwise."""
    return igammac_p.bind1(a, x)


# ---- its derivative by the shape ----


def _derived_series(f: Any, a: Any, x: Any, asked: Any) -> Any:
    """Return the derivative by a of the lower function, over the factor."""

    def step(n: Any, term: Any, total: Any, moved: Any, slope: Any) -> Any:
        r = a + n
        moved = (moved - term / r) * (x / r)
        term = term * (x / r)
        slope = slope + moved
        going = asked & (f.abs(moved) > 8 * f.eps * f.abs(slope))
        return going, term, total + term, moved, slope

    carry = f.loop(_STEPS_TO_DERIVE, step, 1.0, 1.0, 0.0, 0.0)
    total, slope = carry[1], carry[3]
    return (slope + total * (f.log(x) - f.digamma(a + 1))) / a


def _derived_fraction(f: Any, a: Any, x: Any, asked: Any) -> Any:
    """Return the derivative by a of the upper function, over the factor."""
    start = x + 1 - a

    def step(n: Any, *carry: Any) -> Any:
        c, d, total, dc, dd, slope = carry
        above, below = n * (a - n), start + 2 * n
        dc = (n - above * dc / c) / c - 1
        new_d = 1 / (above * d + below)
        dd = (1 - n * d - above * dd) * new_d * new_d
        c = below + above / c
        change = total * (dc * new_d + c * dd)
        moved = slope * (c * new_d - 1) + change
        slope = slope + moved
        total = total * (c * new_d)
        going = asked & (f.abs(moved) > 8 * f.eps * f.abs(slope))
        return going, c, new_d, total, dc, dd, slope

    first = 1 / start
    flat = first * first
    carry = f.loop(_STEPS_TO_DERIVE, step, 1 / f.tiny, first, first, 0.0, flat, flat)
    total, slope = carry[2], carry[5]
    return slope + total * (f.log(x) - f.digamma(a))


def _sampled_of_many(f: Any, a: Any, x: Any) -> Any:
    """Return how a quantile of a large a moves with a: Cornish and Fisher's series."""
    root = f.sqrt(a)
    y = (x - a) / root
    z = y - (y * y - 1) / (3 * root) + y * (7 * y * y - 1) / (36 * a)
    second = (3 * z * z * z * z + 7 * z * z - 16) / (810 * a * a)
    return 1 + z / (2 * root) - z * (z * z - 7) / (72 * a * root) + second


def _sampled(f: Any, a: Any, x: Any) -> Any:
    """Return how the quantile at x moves with a."""
    is_many = a >= (1e6 if f.eps < 1e-10 else 1e3)
    fine = (a > 0) & (x > 0) & (x < math.inf) & ~is_many
    right = (x > 1) & (x > a)
    left_slope = _derived_series(f, a, x, fine & ~right)
    right_slope = _derived_fraction(f, a, x, fine & right)
    slope = x * f.where(right, right_slope, -left_slope)
    slope = f.where(is_many, _sampled_of_many(f, a, x), slope)
    slope = f.where(f.equal(x, 0.0), 0.0, slope)
    fine = (a > 0) & (x >= 0) & (x < math.inf)
    return f.where(fine & ((a < math.inf) | f.equal(x, 0.0)), slope, math.nan)


def _grad_a(f: Any, a: Any, x: Any) -> Any:
    """Return the derivative by a of the lower function."""
    slope = _sampled(f, a, x)
    density = _factor(f, a, x) / x
    return f.where(f.equal(slope, 0.0), 0.0, -density * slope)


_NO_FURTHER: Final = Absent(
    "of igamma there is the derivative by a, but no second one: use stop_gradient"
)
_AT_ONCE: Final = dataclasses.replace(_AROUND_GAMMA, differentiable=False)

igamma_grad_a_p: Final = binary(
    "igamma_grad_a",
    dtypes=FLOATING,
    reference=lambda a, x: on_host(_grad_a, a, x),
    lower=lambda b, a, x: in_program(_grad_a, b, a, x),
    fusion=UNFUSED,
    makes_nan=True,
    derivatives=_NO_FURTHER,
    samples=_AT_ONCE,
)


def igamma_grad_a(a: Any, x: Any) -> Any:
    """Return the derivative of `igamma` by `a`, elementwise."""
    return igamma_grad_a_p.bind1(a, x)


random_gamma_grad_p: Final = binary(
    "random_gamma_grad",
    dtypes=FLOATING,
    reference=lambda a, x: on_host(_sampled, a, x),
    lower=lambda b, a, x: in_program(_sampled, b, a, x),
    fusion=UNFUSED,
    makes_nan=True,
    derivatives=_NO_FURTHER,
    samples=_AT_ONCE,
)


def random_gamma_grad(a: Any, x: Any) -> Any:
    """Return how the draw `x` of a gamma distribution moves with its shape `a`."""
    return random_gamma_grad_p.bind1(a, x)


# ---- the incomplete beta function ----


def _beta_factor(f: Any, a: Any, b: Any, x: Any) -> Any:
    """Return x to the power of a times (1 - x) to that of b, over a times beta(a, b)."""
    power = a * f.log(x) + b * f.log1p(-x)
    small = f.exp(power + f.lgamma(a + b) - f.lgamma(a + 1) - f.lgamma(b))
    n, less = a + b, x * b - (1 - x) * a
    fall = a * _log_less_rest(f, x * n / a, less / a)
    fall = fall + b * _log_less_rest(f, (1 - x) * n / b, -less / b)
    rest = _stirling(n) - _stirling(a) - _stirling(b)
    large = f.exp(fall + rest) * f.sqrt(b / (2 * math.pi * a * n))
    return f.where(f.minimum(a, b) < 10, small, large)


def _beta_fraction(f: Any, a: Any, b: Any, x: Any, asked: Any) -> Any:
    """Return the continued fraction, two of its terms in a step, by Lentz."""

    def away(y: Any) -> Any:
        return f.where(f.abs(y) < f.tiny, f.tiny, y)

    def step(m: Any, c: Any, d: Any, total: Any) -> Any:
        place = a + 2 * m
        even = m * (b - m) * x / ((place - 1) * place)
        d, c = 1 / away(1 + even * d), away(1 + even / c)
        total = total * (c * d)
        odd = -(a + m) * (a + b + m) * x / (place * (place + 1))
        d, c = 1 / away(1 + odd * d), away(1 + odd / c)
        going = asked & (f.abs(c * d - 1) > 4 * f.eps)
        return going, c, d, total * (c * d)

    first = 1 / away(1 - (a + b) * x / (a + 1))
    return f.loop(_STEPS, step, 1.0, first, first)[2]


def _betainc(f: Any, a: Any, b: Any, x: Any) -> Any:
    turned = x >= (a + 1) / (a + b + 2)
    p, q, y = f.where(turned, b, a), f.where(turned, a, b), f.where(turned, 1 - x, x)
    inside = (a > 0) & (b > 0) & (a < math.inf) & (b < math.inf) & (x > 0) & (x < 1)
    value = _beta_factor(f, p, q, y) * _beta_fraction(f, p, q, y, inside)
    value = f.where(turned, 1 - value, value)
    at_0, at_1 = f.equal(x, 0.0), f.equal(x, 1.0)
    low = f.equal(a, 0.0) | f.equal(b, math.inf)  # all of it is at 0
    high = f.equal(b, 0.0) | f.equal(a, math.inf)
    value = f.where(at_0 | (high & ~at_1), 0.0, value)
    value = f.where(at_1 | (low & ~at_0), 1.0, value)
    known = (a >= 0) & (b >= 0) & (x >= 0) & (x <= 1) & ~(low & high)
    return f.where(known, value, math.nan)


def _betainc_aval(a: ShapedArray, b: ShapedArray, x: ShapedArray) -> Avals:
    FLOATING.check("betainc", (a, b, x))
    return (elementwise_aval("betainc", (a, b, x)),)


def _betainc_reference(a: Any, b: Any, x: Any) -> Values:
    return (wide(lambda *xs: scipy_special().betainc(*xs))(a, b, x),)


def _betainc_lower(builder: Builder, *operands: Value) -> tuple[Value, ...]:
    return (in_program(_betainc, builder, *repeated(builder, operands)),)


def _betainc_jvp(primals: Values, tangents: Values) -> Any:
    (a, b, x), t = primals, tangents[2]
    if not (is_zero(tangents[0]) and is_zero(tangents[1])):
        raise NotDifferentiableError(
            "betainc: expected to differentiate by x, got a tangent of a or of b, for "
            "which there is no rule. Hold both constant: close over them, or use "
            "stop_gradient."
        )
    out = betainc(a, b, x)
    if is_zero(t):
        return (out,), (zero_of(get_aval(out)),)
    one = scalar_like(a, 1)
    power = add(mul(sub(a, one), log(x)), mul(sub(b, one), log1p(neg(x))))
    size = sub(add(lgamma(a), lgamma(b)), lgamma(add(a, b)))
    slope = mul(t, exp(sub(power, size)))
    return (out,), (broadcast_to(slope, get_aval(out).shape),)


def _betainc_batch(args: Values, at: Dims) -> Any:
    return elementwise_batch(regularized_incomplete_beta_p, args, at, {})


regularized_incomplete_beta_p: Final = Primitive(
    name="regularized_incomplete_beta",
    aval=_betainc_aval,
    reference=_betainc_reference,
    lower=_betainc_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_betainc_jvp,
    transpose=NOT_LINEAR,
    batch=_betainc_batch,
    pad=ELEMENTWISE,
    samples=Absent("it has no derivative by a and b, and the laws ask for all"),
)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """Return the regularized incomplete beta function, elementwise."""
    return regularized_incomplete_beta_p.bind1(a, b, x)
