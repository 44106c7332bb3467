"""Error functions, integrals and quantiles that no engine has, elementwise, on floats.

On the host they are SciPy's. In a program their smooth parts are Chebyshev series,
interpolated from SciPy's values when the first program is lowered, and truncated at the
precision of the dtype; logarithms and exponentials are factored out. The range of each is
divided where the functions are, and infinite parts are mapped to the inverse.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any, Final, cast

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.aval import get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.primitive import Primitive, Samples
from imprint._src.primitives.core_ops import (
    FLOATS,
    mul,
    neg,
    scalar_like,
    sub,
)
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.comparison import gt, lt
from imprint._src.primitives.elementwise.exponential import exp, log, square
from imprint._src.primitives.elementwise.rounding import abs_, floor
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.elementwise.trigonometric import cos, sin
from imprint._src.primitives.families import FLOATING, unary, wide, wide_slope
from imprint._src.primitives.special.closed_forms import in_program, scipy_special
from imprint._src.primitives.special.polynomials import polynomial

NDArray = np.ndarray[Any, Any]
Factor = Callable[[Any, Any], Any]

_NODES: Final = 64

# ---- series ----


@cache
def _coefficients(function: Any, low: float, high: float) -> tuple[float, ...]:
    """Return the Chebyshev coefficients of a function of arrays between two places."""
    turns = math.pi * (np.arange(_NODES) + 0.5) / _NODES
    with np.errstate(all="ignore"):
        values = function(low + (high - low) / 2 * (np.cos(turns) + 1))
    found = np.cos(np.outer(np.arange(_NODES), turns)) @ values * (2 / _NODES)
    found[0] /= 2
    return tuple(map(float, found))


def _series(f: Any, function: Any, low: float, high: float, x: Any) -> Any:
    """Return the function at `x`, by the series of it between two places."""
    every = _coefficients(function, low, high)
    least = f.eps / 4 * max(map(abs, every))
    last = max(i for i, c in enumerate(every) if abs(c) > least)
    t = (x - low) * (2 / (high - low)) - 1
    first: Any = 0.0
    second: Any = 0.0
    for c in every[last:0:-1]:
        first, second = 2 * t * first - second + c, first
    return t * first - second + every[0]


def _fitted(name: str, formula: Any, derivative: Factor, samples: Samples) -> Primitive:
    """Declare the function that SciPy has under this name."""
    return unary(
        name,
        dtypes=FLOATING,
        reference=wide(lambda x: getattr(scipy_special(), name)(x)),
        lower=lambda b, x: in_program(formula, b, x),
        fusion=UNFUSED,
        makes_nan=True,
        derivative=derivative,
        samples=samples,
    )


def _scaled(value: float, x: Any) -> Any:
    return mul(scalar_like(x, value), x)


# ---- error functions and quantiles ----


def _scaled_erfcx(u: Any) -> Any:
    return scipy_special().erfcx(4 / u - 4) / u


def _right_erfcx(f: Any, x: Any) -> Any:
    u = 4 / (4 + x)
    return u * _series(f, _scaled_erfcx, 0.0, 1.0, u)


def _erfcx(f: Any, x: Any) -> Any:
    right = _right_erfcx(f, f.abs(x))
    return f.where(x < 0, 2 * f.exp(x * x) - right, right)


def _far_slope(x: Any, near: Any, sign: int, first: float) -> tuple[Any, Any, Any]:
    """Return where the slope is taken from its series at infinity, that, and `x` elsewhere.

    The terms of `near`, the exact slope, cancel there. DLMF 7.12 has the series.

    Args:
        x: the operand.
        near: its magnitude, or `x` itself for a function that is not even or odd.
        sign: of the ratio of terms.
        first: the first coefficient.
    """
    bound, count = {2: (5.0, 6), 4: (5.0, 13)}.get(
        get_aval(x).dtype.itemsize, (8.0, 21)
    )
    is_far = gt(near, scalar_like(x, bound))
    far = select_n(is_far, scalar_like(x, bound), x)
    u = square(div(scalar_like(x, 1), far))
    double_factorial = [math.prod(range(1, 2 * n + 2, 2)) for n in range(count)]
    terms = [first * d * (sign / 2) ** n for n, d in enumerate(double_factorial)]
    series = mul(u, polynomial(u, [scalar_like(x, c) for c in terms]))
    return is_far, series, select_n(is_far, x, scalar_like(x, 0))


def _erfcx_slope(x: Any, out: Any) -> Any:
    root = 1 / math.sqrt(math.pi)
    is_far, far, safe = _far_slope(x, x, -1, -root)
    near = sub(_scaled(2.0, mul(safe, out)), scalar_like(x, 2 * root))
    return select_n(is_far, near, far)


erfcx_p: Final = _fitted(
    "erfcx",
    _erfcx,
    _erfcx_slope,
    Samples(FLOATS, arity=1, ulps=256),
)


def erfcx(x: Any) -> Any:
    """Return `exp(x * x) * erfc(x)`, elementwise."""
    return erfcx_p.bind1(x)


def _log_ndtr(f: Any, x: Any) -> Any:
    right = f.log1p(-0.5 * f.erfc(x * math.sqrt(0.5)))
    left = f.log(0.5 * _right_erfcx(f, f.abs(x) * math.sqrt(0.5))) - 0.5 * x * x
    return f.where(x > -1, right, left)


def _log_ndtr_slope(x: Any, out: Any) -> Any:
    # On the left both logarithms are large, and on the right the scaled function is.
    zero = scalar_like(x, 0)
    bound = scalar_like(x, -2 / math.sqrt(cast("Any", dt.finfo(get_aval(x).dtype)).eps))
    is_left, is_far = lt(x, zero), lt(x, bound)
    right, left = select_n(is_left, x, zero), select_n(is_left, zero, x)
    left = select_n(is_far, left, zero)
    log_root = scalar_like(x, math.log(2 * math.pi) / 2)
    density = sub(_scaled(-0.5, square(right)), log_root)
    scaled = erfcx(_scaled(-math.sqrt(0.5), left))
    ratio = div(scalar_like(x, math.sqrt(2 / math.pi)), scaled)
    ratio = select_n(is_far, ratio, neg(x))
    return select_n(is_left, exp(sub(density, out)), ratio)


log_ndtr_p: Final = _fitted(
    "log_ndtr", _log_ndtr, _log_ndtr_slope, Samples(FLOATS, arity=1, ulps=256)
)


def log_ndtr(x: Any) -> Any:
    """Return the logarithm of the normal distribution's function, elementwise."""
    return log_ndtr_p.bind1(x)


def _central_quantile(square_: NDArray) -> NDArray:
    y = np.sqrt(square_)
    near = math.sqrt(2 * math.pi)
    return np.where(
        y < 1e-6, near, scipy_special().ndtri(0.5 + y) / np.maximum(y, 1e-9)
    )


def _tail_quantile(u: Any) -> Any:
    return -scipy_special().ndtri(np.exp(-0.5 / u**2)) * u


def _ndtri(f: Any, p: Any) -> Any:
    y = p - 0.5
    central = y * _series(f, _central_quantile, 0.0, 0.1764, y * y)
    root = f.sqrt(-2 * f.log(f.minimum(p, 1 - p)))
    size = root * _series(f, _tail_quantile, 1 / 37.5, 1 / 2.1, 1 / root)
    tail = f.where(p < 0.5, -size, size)
    value = f.where(f.abs(y) < 0.41, central, tail)
    value = f.where(f.equal(p, 0.0), -math.inf, value)
    value = f.where(f.equal(p, 1.0), math.inf, value)
    return f.where((p >= 0) & (p <= 1), value, math.nan)


def _ndtri_slope(p: Any, out: Any) -> Any:
    return _scaled(math.sqrt(2 * math.pi), exp(_scaled(0.5, square(out))))


ndtri_p: Final = _fitted(
    "ndtri",
    _ndtri,
    lambda p, out: wide_slope(_ndtri_slope, ndtri, p, out),
    Samples(FLOATS, arity=1, domain=(0.01, 0.99), edges=(0.25, 1e-3, 0.95), ulps=256),
)


def ndtri(p: Any) -> Any:
    """Return the quantile of the normal distribution, elementwise."""
    return ndtri_p.bind1(p)


def _near_dawsn(square_: Any) -> Any:
    x = np.maximum(np.sqrt(square_), 1e-150)
    return scipy_special().dawsn(x) / x


def _far_dawsn(u: Any) -> Any:
    x = 1 / np.sqrt(np.maximum(u, 1e-30))
    return 2 * x * scipy_special().dawsn(x)


def _dawsn(f: Any, x: Any) -> Any:
    near = x * _series(f, _near_dawsn, 0.0, 16.0, x * x)
    far = _series(f, _far_dawsn, 0.0, 0.0625, 1 / (x * x)) / (2 * x)
    return f.where(f.abs(x) < 4, near, far)


def _dawsn_slope(x: Any, out: Any) -> Any:
    is_far, far, safe = _far_slope(x, abs_(x), 1, -0.5)
    near = sub(scalar_like(x, 1), _scaled(2.0, mul(safe, out)))
    return select_n(is_far, near, far)


dawsn_p: Final = _fitted(
    "dawsn",
    _dawsn,
    _dawsn_slope,
    Samples(FLOATS, arity=1, edges=(3.9, 4.1, 100.0), ulps=1024),
)


def dawsn(x: Any) -> Any:
    """Return Dawson's integral, elementwise."""
    return dawsn_p.bind1(x)


# ---- exponential integrals, and the dilogarithm ----


def _entire(x: NDArray) -> NDArray:
    """Return the exponential integral less its logarithm, over x."""
    safe = np.where(np.abs(x) < 1e-4, 1.0, x)
    value = (scipy_special().expi(safe) - np.euler_gamma - np.log(np.abs(safe))) / safe
    result: NDArray = np.where(np.abs(x) < 1e-4, 1 + x / 4 + x * x / 18, value)
    return result


def _scaled_exp1(u: NDArray) -> NDArray:
    x = 1 / u
    direct = scipy_special().exp1(np.minimum(x, 600)) * np.exp(np.minimum(x, 600)) * x
    far = 1 - u + 2 * u**2 - 6 * u**3 + 24 * u**4 - 120 * u**5
    result: NDArray = np.where(x < 600, direct, far)
    return result


def _exp1_of(f: Any, x: Any) -> Any:
    near = -np.euler_gamma - f.log(x) + x * _series(f, _entire, -1.0, 1.0, -x)
    u = 1 / x
    middle = _series(f, _scaled_exp1, 0.15, 0.4, u)
    middle = f.where(u > 0.4, _series(f, _scaled_exp1, 0.4, 1.0, u), middle)
    middle = f.where(u < 0.15, _series(f, _scaled_exp1, 0.0, 0.15, u), middle)
    value = f.where(x <= 1, near, f.exp(-x) * u * middle)
    return f.where(f.equal(x, math.inf), 0.0, value)


def _exp1(f: Any, x: Any) -> Any:
    return f.where(f.equal(x, 0.0), math.inf, f.where(x < 0, math.nan, _exp1_of(f, x)))


exp1_p: Final = _fitted(
    "exp1",
    _exp1,
    lambda x, out: neg(div(exp(neg(x)), x)),
    Samples(FLOATS, arity=1, domain=(0.1, 8.0), edges=(1.9, 2.1, 6.5, 7.0), ulps=256),
)


def exp1(x: Any) -> Any:
    """Return the exponential integral E1, elementwise."""
    return exp1_p.bind1(x)


def _scaled_expi(u: NDArray) -> NDArray:
    x = 1 / u
    direct = scipy_special().expi(np.minimum(x, 600)) * np.exp(-np.minimum(x, 600)) * x
    far = 1 + u + 2 * u**2 + 6 * u**3 + 24 * u**4 + 120 * u**5
    result: NDArray = np.where(x < 600, direct, far)
    return result


def _expi(f: Any, x: Any) -> Any:
    log_part = np.euler_gamma + f.log(f.abs(x))
    near = log_part + x * _series(f, _entire, 0.0, 6.0, x)
    u = 1 / x
    far = _series(f, _scaled_expi, 0.025, 0.07, u)
    far = f.where(u < 0.025, _series(f, _scaled_expi, 0.0, 0.025, u), far)
    far = f.where(u > 0.07, _series(f, _scaled_expi, 0.07, 1 / 6, u), far)
    half = f.exp(x / 2)  # the exponential overflows before the quotient
    right = f.where(x <= 6, near, half * u * far * half)
    right = f.where(x > 1e3, math.inf, right)
    value = f.where(x < 0, -_exp1_of(f, f.abs(x)), right)
    return f.where(f.equal(x, 0.0), -math.inf, value)


def _expi_slope(x: Any, out: Any) -> Any:
    half = exp(_scaled(0.5, x))
    return mul(div(half, x), half)


expi_p: Final = _fitted(
    "expi",
    _expi,
    _expi_slope,
    Samples(
        FLOATS, arity=1, domain=(0.5, 8.0), edges=(-3.0, 6.1, 15.0, 50.0), ulps=256
    ),
)


def expi(x: Any) -> Any:
    """Return the exponential integral Ei, elementwise."""
    return expi_p.bind1(x)


def _scipy_spence(x: NDArray) -> NDArray:
    """Return the dilogarithm over 1 - x, near 1 by its series."""
    rest = 1 - x
    safe = np.where(np.abs(rest) < 1e-4, 0.5, x)
    near = 1 + rest / 4 + rest * rest / 9
    return np.where(
        np.abs(rest) < 1e-4, near, scipy_special().spence(safe) / (1 - safe)
    )


def _spence(f: Any, x: Any) -> Any:
    large = x > 1.5
    y = f.where(large, 1 / x, x)
    low = y < 0.5
    place = f.where(low, 1 - y, y)
    value = (1 - place) * _series(f, _scipy_spence, 0.5, 1.5, place)
    turned = math.pi**2 / 6 - f.log(y) * f.log1p(-y) - value
    turned = f.where(f.equal(y, 0.0), math.pi**2 / 6, turned)
    value = f.where(low, turned, value)
    log_x = f.log(x)
    value = f.where(large, -value - 0.5 * log_x * log_x, value)
    return f.where((x >= 0) & (x < math.inf), value, math.nan)


def _spence_slope(x: Any, out: Any) -> Any:
    one, zero = scalar_like(x, 1), scalar_like(x, 0)
    rest = sub(one, x)
    is_near = lt(abs_(rest), scalar_like(x, 0.125))
    terms = [scalar_like(x, -1 / (k + 1)) for k in range(18)]
    near = polynomial(select_n(is_near, zero, rest), terms)
    away = div(log(x), select_n(is_near, rest, one))
    return select_n(is_near, away, near)


spence_p: Final = _fitted(
    "spence",
    _spence,
    _spence_slope,
    Samples(FLOATS, arity=1, domain=(0.1, 0.9), edges=(0.3, 1.3, 1.9, 2.5), ulps=256),
)


def spence(x: Any) -> Any:
    """Return the integral of `-log(t) / (t - 1)` from 1 to `x`, elementwise."""
    return spence_p.bind1(x)


# ---- sine and cosine integrals ----


def _sici(x: NDArray) -> tuple[NDArray, NDArray]:
    return scipy_special().sici(x)


def _near_si(square_: NDArray) -> NDArray:
    x = np.maximum(np.sqrt(square_), 1e-9)
    return _sici(x)[0] / x


def _near_ci(square_: NDArray) -> NDArray:
    x = np.maximum(np.sqrt(square_), 0.05)
    value = (_sici(x)[1] - np.euler_gamma - np.log(x)) / (x * x)
    s = square_
    series = -1 / 4 + s / 96 - s * s / 4320 + s**3 / 322560
    result: NDArray = np.where(square_ < 0.01, series, value)
    return result


def _turning(u: NDArray) -> tuple[NDArray, NDArray]:
    """Return both amplitudes at `1 / sqrt(u)`, made constant at infinity."""
    x = 1 / np.sqrt(np.maximum(u, 1 / 1600))
    si, ci = _sici(x)
    rest = np.pi / 2 - si
    first = x * (ci * np.sin(x) + rest * np.cos(x))
    second = x * x * (rest * np.sin(x) - ci * np.cos(x))
    orders = np.arange(14)
    signs = (-1.0) ** orders * np.power.outer(u, orders)
    far_first = signs @ [float(math.factorial(2 * k)) for k in orders]
    far_second = signs @ [float(math.factorial(2 * k + 1)) for k in orders]
    is_far = u < 1 / 900
    return np.where(is_far, far_first, first), np.where(is_far, far_second, second)


def _far_first(u: NDArray) -> NDArray:
    return _turning(u)[0]


def _far_second(u: NDArray) -> NDArray:
    return _turning(u)[1]


def _amplitudes(f: Any, x: Any) -> tuple[Any, Any]:
    u = 1 / (x * x)
    first = _series(f, _far_first, 0.0, 0.0625, u) / x
    return first, _series(f, _far_second, 0.0, 0.0625, u) * u


def _si(f: Any, x: Any) -> Any:
    size = f.abs(x)
    near = x * _series(f, _near_si, 0.0, 16.0, x * x)
    first, second = _amplitudes(f, size)
    far = math.pi / 2 - first * f.cos(size) - second * f.sin(size)
    far = f.sign(x) * f.where(f.equal(size, math.inf), math.pi / 2, far)
    return f.where(size < 4, near, far)


def _ci(f: Any, x: Any) -> Any:
    size = f.abs(x)
    square_ = x * x
    near = np.euler_gamma + f.log(size)
    near = near + square_ * _series(f, _near_ci, 0.0, 16.0, square_)
    first, second = _amplitudes(f, size)
    far = first * f.sin(size) - second * f.cos(size)
    far = f.where(f.equal(x, math.inf), 0.0, far)
    value = f.where(size < 4, near, far)
    return f.where(f.equal(x, 0.0), -math.inf, value)


def _si_slope(x: Any, out: Any) -> Any:
    is_near = lt(abs_(x), scalar_like(x, 1))
    terms = [(-1) ** k / math.factorial(2 * k + 1) for k in range(10)]
    square_ = square(select_n(is_near, scalar_like(x, 0), x))
    near = polynomial(square_, [scalar_like(x, c) for c in terms])
    safe = select_n(is_near, x, scalar_like(x, 1))
    return select_n(is_near, div(sin(safe), safe), near)


sine_integral_p: Final = unary(
    "sine_integral",
    dtypes=FLOATING,
    reference=wide(lambda x: np.copysign(_sici(x)[0], x)),
    lower=lambda b, x: in_program(_si, b, x),
    fusion=UNFUSED,
    makes_nan=True,
    derivative=_si_slope,
    samples=Samples(FLOATS, arity=1, edges=(3.9, 4.1, 30.0), ulps=256),
)


def sine_integral(x: Any) -> Any:
    """Return the integral of `sin(t) / t` from 0 to `x`, elementwise."""
    return sine_integral_p.bind1(x)


cosine_integral_p: Final = unary(
    "cosine_integral",
    dtypes=FLOATING,
    reference=wide(lambda x: _sici(x)[1]),
    lower=lambda b, x: in_program(_ci, b, x),
    fusion=UNFUSED,
    makes_nan=True,
    derivative=lambda x, out: div(cos(x), x),
    samples=Samples(FLOATS, arity=1, domain=(0.5, 3.0), edges=(3.9, 4.1), ulps=1024),
)


def cosine_integral(x: Any) -> Any:
    """Return the integral of `cos(t) / t` from infinity to `abs(x)`, elementwise."""
    return cosine_integral_p.bind1(x)


# ---- Fresnel's integrals ----


def _fresnel(x: NDArray) -> tuple[NDArray, NDArray]:
    return scipy_special().fresnel(np.clip(x, -1e100, 1e100))  # it squares x


def _near_fresnel(square_: NDArray) -> tuple[NDArray, NDArray]:
    """Return the sine's over the cube of x, and the cosine's over x, by x to the fourth."""
    x = np.maximum(np.sqrt(np.sqrt(square_)), 1e-3)
    sine, cosine = _fresnel(x)
    return sine / x**3, cosine / x


def _near_fresnel_sine(u: NDArray) -> NDArray:
    return _near_fresnel(u)[0]


def _near_fresnel_cosine(u: NDArray) -> NDArray:
    return _near_fresnel(u)[1]


def _far_fresnel(u: NDArray) -> tuple[NDArray, NDArray]:
    """Return both amplitudes, made constant at infinity, by `x ** -4`: DLMF 7.12."""
    x = np.maximum(u, 1e-3) ** -0.25
    turn = np.pi / 2 * x * x
    sine, cosine = (0.5 - part for part in _fresnel(x))
    first = np.pi * x * (sine * np.cos(turn) - cosine * np.sin(turn))
    second = np.pi**2 * x**3 * (cosine * np.cos(turn) + sine * np.sin(turn))
    odd = np.cumprod(np.arange(1.0, 64.0, 2.0))
    signs = (-1.0) ** np.arange(15) * np.power.outer(u / np.pi**2, np.arange(15))
    is_far = u < 1 / 625
    far_first = signs @ np.concatenate([[1.0], odd[1:28:2]])
    far_second = signs @ odd[0:29:2]
    return np.where(is_far, far_first, first), np.where(is_far, far_second, second)


def _far_fresnel_first(u: NDArray) -> NDArray:
    return _far_fresnel(u)[0]


def _far_fresnel_second(u: NDArray) -> NDArray:
    return _far_fresnel(u)[1]


def _fresnel_far(f: Any, x: Any) -> tuple[Any, Any, Any, Any]:
    """Return both amplitudes, and the sine and the cosine that they multiply."""
    least = f.minimum(x, 1e9)  # the series ends, and a square would overflow
    square_ = least * least
    u = 1 / (square_ * square_)
    first = _series(f, _far_fresnel_first, 0.0, 0.15, u) / (math.pi * x)
    second = _series(f, _far_fresnel_second, 0.0, 0.15, u)
    second = second / (math.pi**2 * square_ * least)
    turn = _quarters(f.floor, x) * (math.pi / 2)
    return first, second, f.sin(turn), f.cos(turn)


def _quarters(floor: Any, x: Any) -> Any:
    """Return `x * x` less a multiple of 4, to a few eps whatever the magnitude `x` is.

    The integer part times the rest is exact: together they have the digits of `x`.
    """
    whole = floor(x)
    rest = x - whole
    product = whole * rest
    return (
        (whole - 2 * floor(whole / 2))
        + 2 * (product - 2 * floor(product / 2))
        + rest * rest
    )


def _fresnel_of(f: Any, x: Any, near: Any, far: Any) -> Any:
    far = f.where(f.abs(x) < math.inf, far, 0.0)
    far = f.sign(x) * (0.5 - far)
    return f.where(f.abs(x) < 1.7, near, f.where(f.equal(x, x), far, math.nan))


def _fresnel_sine(f: Any, x: Any) -> Any:
    square_ = x * x
    fourth = square_ * square_
    near = x * square_ * _series(f, _near_fresnel_sine, 0.0, 8.4, fourth)
    first, second, sine, cosine = _fresnel_far(f, f.abs(x))
    return _fresnel_of(f, x, near, first * cosine + second * sine)


def _fresnel_cosine(f: Any, x: Any) -> Any:
    square_ = x * x
    near = x * _series(f, _near_fresnel_cosine, 0.0, 8.4, square_ * square_)
    first, second, sine, cosine = _fresnel_far(f, f.abs(x))
    return _fresnel_of(f, x, near, second * cosine - first * sine)


def _turn(x: Any) -> Any:
    return _scaled(math.pi / 2, _quarters(floor, abs_(x)))


def _sine_slope(x: Any, out: Any) -> Any:
    return sin(_turn(x))


def _cosine_slope(x: Any, out: Any) -> Any:
    return cos(_turn(x))


_FRESNEL: Final = Samples(FLOATS, arity=1, edges=(1.69, 1.71, 3.0, -8.0), ulps=1024)

fresnel_sine_p: Final = unary(
    "fresnel_sine",
    dtypes=FLOATING,
    reference=wide(lambda x: np.copysign(_fresnel(x)[0], x)),
    lower=lambda b, x: in_program(_fresnel_sine, b, x),
    fusion=UNFUSED,
    makes_nan=True,
    derivative=lambda x, out: wide_slope(_sine_slope, fresnel_sine, x, out),
    samples=_FRESNEL,
)


def fresnel_sine(x: Any) -> Any:
    """Return the integral of `sin(pi / 2 * t * t)` from 0 to `x`, elementwise."""
    return fresnel_sine_p.bind1(x)


fresnel_cosine_p: Final = unary(
    "fresnel_cosine",
    dtypes=FLOATING,
    reference=wide(lambda x: np.copysign(_fresnel(x)[1], x)),
    lower=lambda b, x: in_program(_fresnel_cosine, b, x),
    fusion=UNFUSED,
    makes_nan=True,
    derivative=lambda x, out: wide_slope(_cosine_slope, fresnel_cosine, x, out),
    samples=_FRESNEL,
)


def fresnel_cosine(x: Any) -> Any:
    """Return the integral of `cos(pi / 2 * t * t)` from 0 to `x`, elementwise."""
    return fresnel_cosine_p.bind1(x)
