"""The hypergeometric functions 1F1 and 2F1 of real numbers, and their derivatives.

References are SciPy's. In a program both are power series where these converge without
cancelling: left of 0 the function is turned to one right of it (DLMF 13.2.39, 15.8.1), far
out 1F1 is its expansion (13.7.1), and near 1 the function 2F1 is one of the distance from 1
(15.8.4, and 15.8.10 where that has a logarithm). Derivatives by parameters are the series,
term by term; of these there is no further derivative by a parameter.
"""

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from imprint._src.core.aval import Shape, ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import ELEMENTWISE
from imprint._src.core.primitive import (
    Absent,
    Avals,
    Case,
    Dims,
    Primitive,
    Samples,
    Values,
)
from imprint._src.core.tangents import is_zero, zero_of
from imprint._src.primitives.core_ops import (
    FLOATS,
    NOT_LINEAR,
    add,
    add_tangents,
    broadcast_to,
    elementwise_batch,
    mul,
    scalar_like,
)
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.elementwise import elementwise_aval, repeated
from imprint._src.primitives.families import FLOATING, wide
from imprint._src.primitives.special.closed_forms import (
    Formula,
    in_program,
    on_host,
    scipy_special,
)
from imprint._src.stablehlo import Builder, Value

Slopes = tuple[Callable[..., Any], ...]

_STEPS: Final = 1000
_STEPS_NEAR_1: Final = 20000

# ---- parts of both ----


def _gamma_sign(f: Any, x: Any) -> Any:
    """Return the sign of the gamma function, where it has one."""
    return f.where(x < 0, f.sign(f.sin((x - 2 * f.floor(x * 0.5)) * math.pi)), 1.0)


def _gammas(f: Any, above: tuple[Any, ...], below: tuple[Any, ...], log: Any) -> Any:
    """Return a quotient of products of two gamma functions, times `exp(log)`."""
    sign: Any = 1.0
    for x in above:
        sign, log = sign * _gamma_sign(f, x), log + f.lgamma(x)
    for x in below:
        sign, log = sign * _gamma_sign(f, x), log - f.lgamma(x)
        log = f.where((x <= 0) & f.equal(x, f.floor(x)), -math.inf, log)
    return sign * f.exp(log)


def _is_whole(f: Any, x: Any) -> Any:
    return f.equal(x, f.floor(x))


def _ends(f: Any, x: Any) -> Any:
    """Return where a parameter ends the series: at 0, and at negative whole numbers."""
    return (x <= 0) & _is_whole(f, x)


def _both_end(f: Any, x: Any, y: Any) -> Any:
    return _ends(f, x) | _ends(f, y)


# ---- 1F1 ----


def _series_1f1(f: Any, a: Any, b: Any, x: Any, asked: Any) -> Any:
    def step(n: Any, term: Any, total: Any) -> Any:
        k = n - 1
        new = term * ((a + k) / (b + k) * (x / n))
        term = f.where(f.equal(term, 0.0), 0.0, new)
        total = total + term
        return asked & (f.abs(term) > f.eps * f.abs(total)), term, total

    return f.loop(_STEPS, step, 1.0, 1.0)[1]


def _far_1f1(f: Any, a: Any, b: Any, x: Any, fall: Any) -> Any:
    """Return `exp(fall)` times it, of a large x above 0."""

    def step(n: Any, term: Any, total: Any) -> Any:
        new: Any = term * ((b - a + n - 1) * (n - a) / (n * x))
        smaller = f.abs(new) < f.abs(term)
        term = f.where(smaller & (f.abs(new) > f.eps * f.abs(total)), new, 0.0)
        return f.abs(term) > 0, term, total + term

    total = f.loop(_STEPS, step, 1.0, 1.0)[1]
    growth = x + (a - b) * f.log(x) + fall
    return total * _gammas(f, (b, b), (a, b), growth)


def _hyp1f1(f: Any, a: Any, b: Any, x: Any) -> Any:
    far = f.abs(x) > 100
    left = (x < 0) & ((b > a) | (x < -1)) & ~_ends(f, a)
    p, y = f.where(left, b - a, a), f.where(left, -x, x)
    far = far & ~_ends(f, p)
    near = f.exp(f.where(left, x, 0.0)) * _series_1f1(f, p, b, y, ~far)
    place = f.where(far, y, 200.0)
    by_parts = _far_1f1(f, p, b, place, f.where(left, x, 0.0))
    value = f.where(far, by_parts, near)
    value = f.where(_ends(f, b) & ~(_ends(f, a) & (a > b)), math.inf, value)
    value = f.where(f.equal(a, b), f.exp(x), value)
    value = f.where(f.equal(a, 0.0) | (f.equal(x, 0.0) & (f.abs(b) > 0)), 1.0, value)
    return f.where(f.equal(a + b + x, a + b + x), value, math.nan)


def _hyp1f1_reference(a: Any, b: Any, x: Any) -> Any:
    value = scipy_special().hyp1f1(a, b, x)
    value = np.where((b == 0) & (a != 0), np.inf, value)
    value = np.where(a == b, np.exp(x), value)  # SciPy ends the series, if they do
    value = np.where((a == 0) | ((x == 0) & (b != 0)), 1.0, value)
    return np.where(np.isnan(a + b + x), np.nan, value).astype(x.dtype)


def _derived_1f1(f: Any, a: Any, b: Any, x: Any, by: int) -> Any:
    """Return the derivative of the series by `a` or `b`."""

    def step(n: Any, term: Any, moved: Any, total: Any) -> Any:
        above, below, rest = a + n - 1, b + n - 1, x / n
        change = term if by == 0 else -term * above / below
        moved = (moved * above + change) / below * rest
        term = term * (above / below * rest)
        total = total + moved
        return f.abs(moved) > f.eps * f.abs(total), term, moved, total

    return f.loop(_STEPS, step, 1.0, 0.0, 0.0)[2]


def _hyp1f1_grad(f: Any, a: Any, b: Any, x: Any, by: int) -> Any:
    left = (x < 0) & ((b > a) | (x < -1))
    p, y = f.where(left, b - a, a), f.where(left, -x, x)
    by_first = _derived_1f1(f, p, b, y, 0)
    fall = f.where(_ends(f, b), math.nan, f.exp(f.where(left, x, 0.0)))
    if by == 0:
        return f.where(left, -fall * by_first, by_first)
    by_second = _derived_1f1(f, p, b, y, 1)
    return fall * f.where(left, by_first + by_second, by_second)


# ---- 2F1 ----


def _series_2f1(f: Any, a: Any, b: Any, c: Any, x: Any, asked: Any) -> Any:
    def step(n: Any, term: Any, total: Any) -> Any:
        k = n - 1
        above = term * ((a + k) * (b + k) * x)
        term = f.where(f.equal(above, 0.0), 0.0, above / ((c + k) * n))
        total = total + term
        return asked & (f.abs(term) > 0.25 * f.eps * f.abs(total)), term, total

    return f.loop(_STEPS_NEAR_1, step, 1.0, 1.0)[1]


def _with_logarithm(f: Any, a: Any, b: Any, m: Any, rest: Any) -> Any:
    """Return it for `c = a + b + m`, at `1 - rest`."""

    def finite(n: Any, term: Any, total: Any) -> Any:
        going = n < m
        new = -term * (a + n - 1) * (b + n - 1) * rest / (n * (m - n))
        term = f.where(going, new, 0.0)
        return going, term, total + term

    start = f.where(m > 0, f.exp(f.lgamma(f.where(m > 0, m, 1.0))), 0.0)
    first = f.loop(_STEPS, finite, start, start)[1]
    first = first * _gammas(f, (a + b + m, m + 1), (a + m, b + m), -f.lgamma(m + 1))

    def step(n: Any, term: Any, bracket: Any, total: Any) -> Any:
        p, q = a + m + n - 1, b + m + n - 1
        term = term * (p * q * rest / (n * (m + n)))
        bracket = bracket - 1 / n - 1 / (m + n) + 1 / p + 1 / q
        part = term * bracket
        total = total + part
        return f.abs(part) > 0.25 * f.eps * f.abs(total), term, bracket, total

    psi = f.digamma(a + m) + f.digamma(b + m) - f.digamma(m + 1)
    bracket = f.log(rest) + np.euler_gamma + psi
    start = f.exp(-f.lgamma(m + 1))
    second = f.loop(_STEPS, step, start, bracket, start * bracket)[2]
    second = second * _gammas(f, (a + b + m, m + 1), (a, b), m * f.log(rest))
    second = second * f.exp(-f.lgamma(m + 1))
    half = m * 0.5
    return first - f.where(f.equal(half, f.floor(half)), second, -second)


def _near_1(f: Any, a: Any, b: Any, c: Any, rest: Any, asked: Any) -> Any:
    """Return it at `1 - rest`, where `c - a - b` is no whole number."""
    d = c - a - b
    first = _series_2f1(f, a, b, 1 - d, rest, asked)
    second = _series_2f1(f, c - a, c - b, 1 + d, rest, asked)
    first = first * _gammas(f, (c, d), (c - a, c - b), rest * 0.0)
    return first + second * _gammas(f, (c, -d), (a, b), d * f.log(rest))


def _right_2f1(f: Any, a: Any, b: Any, c: Any, x: Any, rest: Any) -> Any:
    """Return it between 0 and 1; `rest` is `1 - x`, precisely."""
    d = c - a - b
    whole = f.floor(d + 0.5)
    near = (x > 0.9) & ~_both_end(f, a, b)
    logarithmic = near & (f.abs(d - whole) < 64 * f.eps)
    apart = near & (f.abs(d - whole) > 0.05)
    # Left of 0, d is turned to -d, by Euler.
    turned = logarithmic & (whole < 0)
    p, q = f.where(turned, c - a, a), f.where(turned, c - b, b)
    scale = f.exp(f.where(turned, d * f.log(rest), 0.0))
    safe = f.where(near, rest, 0.05)
    by_log = scale * _with_logarithm(
        f,
        f.where(logarithmic, p, 1.0),
        f.where(logarithmic, q, 1.0),
        f.where(logarithmic, f.abs(whole), 1.0),
        safe,
    )
    value = _series_2f1(f, a, b, c, x, ~logarithmic & ~apart)
    p, q, r = f.where(apart, a, 0.5), f.where(apart, b, 0.5), f.where(apart, c, 1.5)
    by_parts = _near_1(f, p, q, r, safe, apart)
    return f.where(logarithmic, by_log, f.where(apart, by_parts, value))


def _hyp2f1(f: Any, a: Any, b: Any, c: Any, x: Any) -> Any:
    ends = _both_end(f, a, b)
    left = (x < 0) & ~ends
    p = f.where(left & (b < a), b, a)
    q = f.where(left & (b < a), a, b)
    inside = f.abs(x) < 1
    below = 1 - x
    place = f.where(left, x / (x - 1), f.where(inside | ends, x, 0.5))
    rest = f.where(left, 1 / below, f.where(inside, below, 0.5))
    value = _right_2f1(f, p, f.where(left, c - q, q), c, place, rest)
    value = f.where(left, f.exp(-p * f.log(f.where(left, below, 1.0))) * value, value)
    for y, other in ((b, a), (a, b)):
        plain = f.equal(c, y) & (x < 1)
        power = f.exp(-other * f.log(f.where(plain, below, 1.0)))
        value = f.where(plain, power, value)
    value = f.where((x >= 1) & ~ends, _from_1(f, a, b, c, x), value)
    value = f.where(_ends(f, c), math.inf, value)
    is_1 = f.equal(x, 0.0) | ((f.equal(a, 0.0) | f.equal(b, 0.0)) & ~f.equal(c, 0.0))
    value = f.where(is_1, 1.0, value)
    total = a + b + c + x
    return f.where(f.equal(total, total), value, math.nan)


def _from_1(f: Any, a: Any, b: Any, c: Any, x: Any) -> Any:
    """Return it from 1 on, where it is not finite: Gauss' sum, and the quotient."""
    d = c - a - b
    sum_ = _gammas(f, (c, f.where(d > 0, d, 1.0)), (c - a, c - b), d * 0.0)
    away = _gammas(f, (c, f.where(d > 0, 1.0, -d)), (a, b), d * 0.0)
    away = f.where(d <= -1, f.sign(away), 1.0) * math.inf
    at_1 = f.where(d > 0, sum_, away)
    # By Euler a power of 1 - x, times a series with an end.
    ends = _both_end(f, c - a, c - b) & (x > 1) & (d <= -1) & _is_whole(f, d)
    safe = f.where(ends, x, 0.0)
    series = _series_2f1(f, c - a, c - b, c, safe, ends)
    half = d * 0.5
    sign = f.where(f.equal(half, f.floor(half)), 1.0, -1.0)
    power = sign * f.exp(d * f.log(f.abs(1 - safe) + f.where(ends, 0.0, 1.0)))
    beyond = f.where(ends, power * series, math.inf)
    return f.where(f.equal(x, 1.0), at_1, beyond)


def _hyp2f1_reference(a: Any, b: Any, c: Any, x: Any) -> Any:
    value = scipy_special().hyp2f1(a, b, c, x)
    pole = (c <= 0) & (c == np.floor(c))  # as JAX; SciPy has series that end before
    value = np.where(((x > 1) & np.isinf(value)) | pole, np.inf, value)
    value = np.where((x == 0) | (((a == 0) | (b == 0)) & (c != 0)), 1.0, value)
    d = c - a - b
    off = np.abs(d - np.rint(d))
    ends = ((a <= 0) & (a == np.floor(a))) | ((b <= 0) & (b == np.floor(b)))
    # SciPy 1.18 is wrong where d is all but whole, and where a polynomial is at 1.
    wrong = ((x > 0.9) & (x < 1) & (off > 0) & (off < 1e-12)) | (ends & (x == 1))
    if np.any(wrong):
        value = np.where(
            wrong, on_host(_hyp2f1, *np.broadcast_arrays(a, b, c, x)), value
        )
    return np.where(np.isnan(a + b + c + x), np.nan, value).astype(x.dtype)


def _hyp2f1_grad(f: Any, a: Any, b: Any, c: Any, x: Any, by: int) -> Any:
    inside = f.abs(x) < 1

    def step(n: Any, term: Any, moved: Any, total: Any) -> Any:
        k = n - 1
        p, q, below, rest = a + k, b + k, c + k, x / n
        change = (term * q, term * p, -term * p * q / below)[by]
        moved = (moved * p * q + change) / below * rest
        term = term * (p * q / below * rest)
        total = total + moved
        going = inside & (f.abs(moved) > f.eps * f.abs(total))
        return going, term, moved, total

    total = f.loop(_STEPS_NEAR_1, step, 1.0, 0.0, 0.0)[2]
    return f.where(inside & ~_ends(f, c), total, math.nan)


# ---- the primitives ----


def _declare(
    name: str,
    reference: Callable[..., Any],
    formula: Formula,
    slopes: Slopes | Absent,
    samples: Samples,
) -> Primitive:
    """Declare an elementwise primitive; `(*operands) -> the factor of each tangent`."""

    def aval(*avals: ShapedArray, **_: Any) -> Avals:
        FLOATING.check(name, avals)
        return (elementwise_aval(name, avals),)

    def lower(b: Builder, *operands: Value, **params: Any) -> tuple[Value, ...]:
        def written(f: Any, *terms: Any) -> Any:
            return formula(f, *terms, **params)

        return (in_program(written, b, *repeated(b, operands)),)

    def jvp(primals: Values, tangents: Values, **params: Any) -> Any:
        if isinstance(slopes, Absent):
            slopes()
        out = primitive.bind1(*primals, **params)
        total: Any = zero_of(get_aval(out))
        for t, slope in zip(tangents, slopes, strict=True):
            if not is_zero(t):
                term = mul(t, slope(*primals, **params))
                total = add_tangents(total, broadcast_to(term, get_aval(out).shape))
        return (out,), (total,)

    def batch(args: Values, at: Dims, **params: Any) -> Any:
        return elementwise_batch(primitive, args, at, params)

    primitive = Primitive(
        name=name,
        aval=aval,
        reference=lambda *xs, **params: (reference(*xs, **params),),
        lower=lower,
        fusion=UNFUSED,
        makes_nan=True,
        jvp=jvp,
        transpose=NOT_LINEAR,
        batch=batch,
        pad=ELEMENTWISE,
        samples=samples,
    )
    return primitive


def _next(*parameters: Any) -> list[Any]:
    return [add(y, scalar_like(y, 1)) for y in parameters]


def _derived_on_host(formula: Formula) -> Callable[..., Any]:
    def reference(*operands: Any, by: int) -> Any:
        arrays = np.broadcast_arrays(*operands)

        def written(f: Any, *terms: Any) -> Any:
            return formula(f, *terms, by=by)

        return on_host(written, *arrays)

    return reference


def _cases(count: int) -> tuple[Case, ...]:
    mixed: tuple[Shape, ...] = ((2,), (), (2,), ())[:count]
    return (Case(((3,),) * count), Case(((),) * count), Case(mixed))


def _cases_by(count: int) -> tuple[Case, ...]:
    shapes: tuple[Shape, ...] = (*((),) * count, (2,))
    return tuple(Case(shapes, {"by": by}) for by in range(count))


_NO_FURTHER: Final = Absent(
    "of hyp1f1 and hyp2f1 there is one derivative by a parameter, but no second one: use "
    "stop_gradient"
)
_IN_1F1: Final = ((0.5, 3.0), (1.0, 4.0), (-3.0, 3.0))
_IN_2F1: Final = ((0.5, 3.0), (0.5, 3.0), (1.0, 4.0), (-0.6, 0.6))

hyp1f1_grad_p: Final = _declare(
    "hyp1f1_grad",
    _derived_on_host(_hyp1f1_grad),
    _hyp1f1_grad,
    _NO_FURTHER,
    Samples(
        FLOATS,
        cases=_cases_by(2),
        operand_domains=_IN_1F1,
        finite=True,
        differentiable=False,
        ulps=512,
    ),
)


def _grad_1f1(by: int) -> Callable[..., Any]:
    def slope(*operands: Any) -> Any:
        return hyp1f1_grad_p.bind1(*operands, by=by)

    return slope


def _slope_1f1(a: Any, b: Any, x: Any) -> Any:
    a1, b1 = _next(a, b)
    return mul(div(a, b), hyp1f1(a1, b1, x))


hyp1f1_p: Final = _declare(
    "hyp1f1",
    wide(_hyp1f1_reference),
    _hyp1f1,
    (
        _grad_1f1(0),
        _grad_1f1(1),
        _slope_1f1,
    ),
    Samples(FLOATS, cases=_cases(3), operand_domains=_IN_1F1, finite=True, ulps=512),
)


def hyp1f1(a: Any, b: Any, x: Any) -> Any:
    """Return Kummer's function, the hypergeometric function 1F1, elementwise."""
    return hyp1f1_p.bind1(a, b, x)


hyp2f1_grad_p: Final = _declare(
    "hyp2f1_grad",
    _derived_on_host(_hyp2f1_grad),
    _hyp2f1_grad,
    _NO_FURTHER,
    Samples(
        FLOATS,
        cases=_cases_by(3),
        operand_domains=_IN_2F1,
        finite=True,
        differentiable=False,
        ulps=512,
    ),
)


def _grad_2f1(by: int) -> Callable[..., Any]:
    def slope(*operands: Any) -> Any:
        return hyp2f1_grad_p.bind1(*operands, by=by)

    return slope


def _slope_2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    a1, b1, c1 = _next(a, b, c)
    return mul(div(mul(a, b), c), hyp2f1(a1, b1, c1, x))


hyp2f1_p: Final = _declare(
    "hyp2f1",
    wide(_hyp2f1_reference),
    _hyp2f1,
    (
        _grad_2f1(0),
        _grad_2f1(1),
        _grad_2f1(2),
        _slope_2f1,
    ),
    Samples(FLOATS, cases=_cases(4), operand_domains=_IN_2F1, finite=True, ulps=1024),
)


def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    """Return Gauss' function, the hypergeometric function 2F1, elementwise."""
    return hyp2f1_p.bind1(a, b, c, x)
