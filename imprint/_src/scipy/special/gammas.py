"""Gamma and beta functions, their logarithms, derivatives and incomplete integrals.

Products and quotients of gamma functions are computed from logarithms and signs.
"""

import math
from fractions import Fraction
from functools import partial
from typing import Any, Final, cast

import imprint.numpy as np
from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, DTypeError
from imprint._src.interpreters.derivatives import jvp
from imprint._src.numpy.promotion import ArrayLike, convert, promote
from imprint._src.primitives.special import incomplete
from imprint._src.primitives.special import special as primitives
from imprint._src.scipy.special.arguments import (
    concrete_integer,
    floats,
    strong_floats,
    sum_of_terms,
)
from imprint._src.scipy.special.complex_gammas import complex_gamma, complex_loggamma
from imprint.custom_derivatives import custom_jvp


@fuse_eager
def gammaln(x: ArrayLike) -> Array:
    """Return the logarithm of the magnitude of the gamma function, elementwise.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        The logarithm for each element, a float array of the shape of `x`; inf at the poles.

    References:
        SciPy, `scipy.special.gammaln`; DLMF 5.2(i).

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> special.gammaln(np.array([1.0, 4.0])).round(4)
        Array([0.    , 1.7918], dtype=float32)
    """
    return primitives.lgamma(*floats("gammaln", x))


def loggamma(x: ArrayLike) -> Array:
    """Return the principal branch of the logarithm of the gamma function.

    Args:
        x: real numbers, with NaN for negative ones; or complex numbers.

    Returns:
        The logarithm for each element, of the shape of `x`.

    References:
        SciPy, `scipy.special.loggamma`; DLMF 5.2(i).

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> special.loggamma(np.array([4.0, -0.5])).round(4)
        Array([1.7918,    nan], dtype=float32)
    """
    (x,) = promote("loggamma", (x,), dtypes.to_inexact)
    if dtypes.is_complex(get_aval(x).dtype):
        return complex_loggamma(convert("loggamma", x, get_aval(x).dtype))
    return np.where(np.less(x, 0), math.nan, primitives.lgamma(x))


def gammasgn(x: ArrayLike) -> Array:
    """Return the sign of the gamma function, elementwise; NaN at its poles below 0.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        1 or -1 for each element, a float array of the shape of `x`; at 0, the sign of the
        zero.

    References:
        SciPy, `scipy.special.gammasgn`; DLMF 5.2(i).

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> special.gammasgn(np.array([-1.5, -0.5, 2.0]))
        Array([ 1., -1.,  1.], dtype=float32)
    """
    (x,) = strong_floats("gammasgn", x)
    x = np.asarray(x)
    whole = np.floor(x)
    left = np.where(np.equal(x, whole), math.nan, 1 - 2 * np.abs(np.fmod(whole, 2)))
    sign = np.where(np.less(x, 0), left, np.where(np.isnan(x), x, 1))
    return np.astype(np.where(np.equal(x, 0), np.copysign(1, x), sign), x.dtype)


@fuse_eager
def gamma(x: ArrayLike) -> Array:
    """Return the gamma function of real or complex numbers, elementwise.

    Args:
        x: an array or number; integers become floats.

    Returns:
        The function of each element, of the shape of `x`; for reals, infinity at 0, and NaN
        at the other poles.

    References:
        SciPy, `scipy.special.gamma`; DLMF 5.2(i).

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> special.gamma(np.array([1.0, 4.0])).round(3)
        Array([1., 6.], dtype=float32)
    """
    (x,) = promote("gamma", (x,), dtypes.to_inexact)
    x = convert("gamma", x, get_aval(x).dtype)
    if dtypes.is_complex(get_aval(x).dtype):
        return complex_gamma(x)
    return gammasgn(x) * np.exp(primitives.lgamma(x))


@fuse_eager
def betaln(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the logarithm of the magnitude of the beta function, elementwise.

    Args:
        a: real numbers.
        b: real numbers, which broadcast with `a`.

    Returns:
        The logarithms, a float array of the broadcast shape.

    References:
        SciPy, `scipy.special.betaln`; DLMF 5.12.

    Example:
        >>> from imprint.scipy import special
        >>> special.betaln(1.0, 2.0)
        Array(-0.6931472, dtype=float32, weak_type=True)
    """
    a, b = floats("betaln", a, b)
    return _log_beta(a, b)[0]


def _log_beta(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the log of the magnitude of the beta function, and its sign."""
    a, b = np.minimum(a, b), np.maximum(a, b)
    # At a pole of one gamma function that another cancels, reflect.
    turned = _is_pole(a) & (a > -math.inf) & (b > 0) & (b == np.floor(b))
    turned = turned & (a + b <= 0)
    infinite = (_is_pole(a) | _is_pole(b)) & ~turned
    sign = _finite_sign(a) * _finite_sign(b) * _finite_sign(np.add(a, b))
    sign = np.where(turned, 1 - 2 * np.abs(np.fmod(b, 2)), sign)
    sign = np.where(infinite, 1, sign)
    other = np.where(turned, 1 - a - b, a)
    value = _plain_log_beta(np.minimum(other, b), np.maximum(other, b))
    return np.where(infinite, math.inf, value), sign


def _plain_log_beta(a: Any, b: Any) -> Any:
    """Return the log of the magnitude for a of at most b, of which none is at a pole."""
    total = a + b
    # For large numbers, the logarithms of gamma functions are close together.
    use = (b >= 10) & (total >= 10) & np.isfinite(b)
    large, small = np.where(use, b, 10), np.where(use, a, 1)
    rest = -(large - 0.5) * np.log1p(small / large) - small * np.log(small + large)
    rest = rest + small + (_stirling(large) - _stirling(small + large))
    plain = primitives.lgamma(b) - primitives.lgamma(total)
    # At infinity the quotient is the power of the smaller one.
    endless = np.where(a > 0, -math.inf, np.where(a < 0, math.inf, math.nan))
    plain = np.where(b == math.inf, np.where(a == b, -math.inf, endless), plain)
    return primitives.lgamma(a) + np.where(use, rest, plain)


def _is_pole(x: Any) -> Any:
    return (x <= 0) & (x == np.floor(x))


def _finite_sign(x: Any) -> Any:
    """Return the sign of the gamma function, and 1 at its poles."""
    return np.where(_is_pole(x), 1, gammasgn(x))


def _stirling(a: Any) -> Any:
    """Return the log of the gamma function less Stirling's formula, from 10 on."""
    u = 1 / (a * a)
    total = u * (1 / 1188 - 691 / 360360 * u) - 1 / 1680
    return (1 / 12 + u * (-1 / 360 + u * (1 / 1260 + u * total))) / a


@fuse_eager
def beta(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the beta function, elementwise.

    Args:
        a: real numbers.
        b: real numbers, which broadcast with `a`.

    Returns:
        The function of each pair, a float array of the broadcast shape.

    References:
        SciPy, `scipy.special.beta`; DLMF 5.12.

    Example:
        >>> from imprint.scipy import special
        >>> special.beta(1.0, 2.0).round(4)
        Array(0.5, dtype=float32)
    """
    size, sign = _log_beta(*strong_floats("beta", a, b))
    return sign * np.exp(size)


@fuse_eager
def factorial(n: ArrayLike, exact: bool = False) -> Array:  # noqa: FBT001, FBT002 - JAX's signature
    """Return the factorial, elementwise; 0 for negative numbers.

    Args:
        n: numbers; the gamma function of `n + 1` for non-integers.
        exact: must be False: the result is a float.

    Returns:
        The factorial of each element, a float array of the shape of `n`.

    Raises:
        NotImplementedError: `exact` is True.

    References:
        SciPy, `scipy.special.factorial`; DLMF 5.4(i).

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> special.factorial(np.array([0, 3, -1])).round(4)
        Array([1., 6., 0.], dtype=float32)
    """
    if exact:
        raise NotImplementedError(
            "factorial: expected exact=False, got True. Python's math.factorial is exact."
        )
    (n,) = floats("factorial", n)
    return np.where(np.less(n, 0), 0, np.exp(primitives.lgamma(np.add(n, 1))))


def comb(N: ArrayLike, k: ArrayLike, *, repetition: bool = False) -> Array:  # noqa: N803 - JAX's name
    """Return the number of ways to choose `k` of `N`, elementwise.

    Args:
        N: the number of objects, real.
        k: the number of choices, which broadcasts with `N`.
        repetition: whether an object may be chosen repeatedly.

    Returns:
        The numbers of ways, a float array of the broadcast shape; 0 unless 0 <= `k` <= `N`.

    References:
        SciPy, `scipy.special.comb`; DLMF 26.3(i).

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> special.comb(np.array([4, 2]), 3).round(3)
        Array([4., 0.], dtype=float32)
    """
    n, k = floats("comb", N, k)
    if repetition:
        n = np.subtract(np.add(n, k), 1)
    some = np.greater_equal(k, 0) & np.greater_equal(n, k) & np.greater_equal(n, 0)
    kept = np.where(some, k, 0)
    total = np.where(some, n, 0)
    endless = total == math.inf
    total = np.where(endless, kept, total)
    # By the beta function, where logarithms of gamma functions would cancel.
    size = _plain_log_beta(
        np.minimum(kept, total - kept) + 1, np.maximum(kept, total - kept) + 1
    )
    ways = np.exp(-size - np.log1p(total))
    ways = np.where(endless, np.where(kept == 0, 1, math.inf), ways)
    return np.where(some, ways, 0)


def multigammaln(a: ArrayLike, d: ArrayLike) -> Array:
    """Return the log of the multivariate gamma function of dimension `d`, elementwise.

    Args:
        a: numbers above `(d - 1) / 2`.
        d: a concrete integer.

    Returns:
        The logarithm for each element, a float array of the shape of `a`.

    Raises:
        ArgumentError: `d` is not a concrete integer.

    References:
        SciPy, `scipy.special.multigammaln`; DLMF 35.3(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.multigammaln(3.0, 1).round(4)
        Array(0.6931, dtype=float32)
    """
    size = concrete_integer("multigammaln", "d", d)
    (a,) = floats("multigammaln", a)
    a = np.asarray(a)
    start = math.log(math.pi) * size * (size - 1) / 4
    halves = np.arange(size).astype(a.dtype) / 2
    each = primitives.lgamma(np.expand_dims(a, -1) - halves)
    return np.sum(each, -1) + start


@fuse_eager
def digamma(x: ArrayLike) -> Array:
    """Return the derivative of `gammaln`, elementwise.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        The function of each element, a float array of the shape of `x`; -inf at 0, and NaN
        at the other poles.

    References:
        SciPy, `scipy.special.digamma`; DLMF 5.2(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.digamma(1.0).round(4)
        Array(-0.5772, dtype=float32, weak_type=True)
    """
    return primitives.digamma(*floats("digamma", x))


def polygamma(n: ArrayLike, x: ArrayLike) -> Array:
    """Return the derivative of order `n` of `digamma`, elementwise.

    Args:
        n: the orders, integers; NaN is the result for negative ones.
        x: real numbers, which broadcast with `n`.

    Returns:
        The derivatives, a float array of the broadcast shape; `digamma` for order 0.

    Raises:
        DTypeError: `n` are not integers.

    References:
        SciPy, `scipy.special.polygamma`; DLMF 5.15.

    Example:
        >>> from imprint.scipy import special
        >>> special.polygamma(1, 1.0).round(4)
        Array(1.6449, dtype=float32, weak_type=True)
    """
    (order,) = promote("polygamma", (n,))
    if not dtypes.is_integer(get_aval(order).dtype):
        raise DTypeError(
            f"polygamma: expected integers n, got {get_aval(order)}. Convert with "
            ".astype(int)."
        )
    m, x = floats("polygamma", order, x)
    m, x = np.broadcast_arrays(m, x)
    # The engine has no value at infinity, nor of digamma at 0.
    flat = (m > 0) & (x == math.inf)
    at_zero = (m == 0) & (x == 0)
    value = primitives.polygamma(m, np.where(flat | at_zero, 1, x))
    return np.where(flat, 0, np.where(at_zero, -math.inf, value))


@fuse_eager
def gammainc(a: ArrayLike, x: ArrayLike) -> Array:
    """Return the regularized lower incomplete gamma function, elementwise.

    Args:
        a: positive real numbers.
        x: real numbers of at least 0, the upper limits; broadcast with `a`.

    Returns:
        The function of each pair, in [0, 1]: a float array of the broadcast shape; NaN for
        other arguments.

    References:
        SciPy, `scipy.special.gammainc`; DLMF 8.2(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.gammainc(1.0, 2.0).round(4)
        Array(0.8647, dtype=float32, weak_type=True)
    """
    return incomplete.igamma(*floats("gammainc", a, x))


@fuse_eager
def gammaincc(a: ArrayLike, x: ArrayLike) -> Array:
    """Return the regularized upper incomplete gamma function, elementwise.

    Args:
        a: positive real numbers.
        x: real numbers of at least 0, the lower limits; broadcast with `a`.

    Returns:
        The function of each pair, in [0, 1]: a float array of the broadcast shape; NaN for
        other arguments.

    References:
        SciPy, `scipy.special.gammaincc`; DLMF 8.2(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.gammaincc(1.0, 2.0).round(4)
        Array(0.1353, dtype=float32, weak_type=True)
    """
    return incomplete.igammac(*floats("gammaincc", a, x))


@fuse_eager
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Return the regularized incomplete beta function, elementwise.

    Args:
        a: positive numbers.
        b: positive numbers.
        x: numbers from 0 to 1, the only differentiable argument.

    Returns:
        The function of each triple, in [0, 1]: a float array of the broadcast shape; NaN
        for other arguments.

    References:
        SciPy, `scipy.special.betainc`; DLMF 8.17(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.betainc(1.0, 1.0, 0.25)
        Array(0.25, dtype=float32, weak_type=True)
    """
    return incomplete.betainc(*floats("betainc", a, b, x))


@fuse_eager
def zeta(x: ArrayLike, q: ArrayLike | None = None) -> Array:
    """Return Hurwitz's zeta function: the sum of `(n + q) ** -x` from n = 0.

    Args:
        x: numbers of at least 1; NaN is the result for others.
        q: numbers; None for 1: Riemann's zeta function.

    Returns:
        The sum for each pair, a float array of the broadcast shape; inf where `x` is 1.

    References:
        SciPy, `scipy.special.zeta`; DLMF 25.11(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.zeta(2.0).round(4)
        Array(1.6449, dtype=float32, weak_type=True)
    """
    x, q = floats("zeta", x, 1.0 if q is None else q)
    return _zeta(x, q)


@custom_jvp
def _zeta(x: Any, q: Any) -> Any:
    # For large x, where the engine has no value, the sum is its first term.
    alone = (q >= 0) & (q < math.inf) & (x > 1000 * np.maximum(q, 1))
    none = (q == math.inf) & (x > 1)
    first = np.power(np.where(alone, q, 1), np.negative(x))
    known = alone | none
    rest = primitives.zeta(np.where(known, 2, x), np.where(known, 1, q))
    return np.where(alone, first, np.where(none, 0, rest))


@partial(_zeta.defjvp, symbolic_zeros=True)
def _zeta_jvp(primals: Any, tangents: Any) -> Any:
    (x, q), (dx, dq) = primals, tangents
    by_x = dx, lambda: _zeta_slope(x, q)
    return _zeta(x, q), sum_of_terms(by_x, (dq, lambda: -x * _zeta(np.add(x, 1), q)))


def _zeta_slope(x: Any, q: Any) -> Any:
    """Return the derivative by `x`, from the formula of Euler and Maclaurin."""

    def at(x: Any) -> Any:
        return _euler_maclaurin(x, q)

    return jvp(at, (x,), (np.ones_like(x),))[1]


def _euler_maclaurin(x: Any, q: Any) -> Any:
    end = q + _SUMMED
    total = sum(np.power(q + n, -x) for n in range(_SUMMED))
    last = np.power(end, -x)
    total = total + last * (end / (x - 1) + 0.5)
    x = np.where(last > 0, x, 2)  # no term is left, and its factor may overflow
    factor = x / end
    for k, bernoulli_number in enumerate(_BERNOULLI, start=1):
        total = total + last * factor * (bernoulli_number / math.factorial(2 * k))
        factor = factor * ((x + 2 * k - 1) / end) * ((x + 2 * k) / end)
    return total


_SUMMED: Final = 12
_BERNOULLI: Final = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


def poch(z: ArrayLike, m: ArrayLike) -> Array:
    """Return the rising factorial, `gamma(z + m) / gamma(z)`, elementwise.

    Args:
        z: real numbers.
        m: real numbers, which broadcast with `z`.

    Returns:
        The function of each pair, a float array of the broadcast shape; 1 where `m` is 0.

    References:
        SciPy, `scipy.special.poch`; DLMF 5.2(iii).

    Example:
        >>> from imprint.scipy import special
        >>> special.poch(3.0, 2.0).round(3)
        Array(12., dtype=float32)
    """
    return _poch(*strong_floats("poch", z, m))


@custom_jvp
def _poch(z: Any, m: Any) -> Any:
    end = np.add(z, m)
    size = np.exp(primitives.lgamma(end) - primitives.lgamma(z))
    return np.where(np.equal(m, 0), 1, gammasgn(end) * gammasgn(z) * size)


@partial(_poch.defjvp, symbolic_zeros=True)
def _poch_jvp(primals: Any, tangents: Any) -> Any:
    (z, m), (dz, dm) = primals, tangents
    out = _poch(z, m)
    by_z = dz, lambda: out * _poch_slope(z, m)
    return out, sum_of_terms(by_z, (dm, lambda: out * primitives.digamma(np.add(z, m))))


def _poch_slope(z: Any, m: Any) -> Any:
    """Return the derivative by z of the logarithm."""
    # For a small step the difference of two values of digamma would cancel.
    is_small = np.abs(m) < np.abs(z) * float(
        cast("Any", dtypes.finfo(z.dtype)).eps
    ) ** (1 / 3)
    middle = np.where(is_small, np.add(z, m / 2), 1)
    small = m * primitives.polygamma(np.ones_like(middle), middle)
    away = primitives.digamma(np.add(z, m)) - primitives.digamma(z)
    return np.where(is_small, small, away)


def bernoulli(n: int) -> Array:
    """Return the Bernoulli numbers from 0 to `n`.

    Args:
        n: the last number, a concrete integer.

    Returns:
        The numbers, a vector of `n + 1` elements in the default floating dtype.

    Raises:
        ArgumentError: `n` is not an integer, or negative.

    References:
        SciPy, `scipy.special.bernoulli`; DLMF 24.2(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.bernoulli(2).round(4)
        Array([ 1.    , -0.5   ,  0.1667], dtype=float32)
    """
    count = concrete_integer("bernoulli", "n", n)
    if count < 0:
        raise ArgumentError(f"bernoulli: expected n of at least 0, got {count}.")
    numbers = [Fraction(1)]
    for m in range(1, count + 1):
        total = Fraction(0)
        for k, number in enumerate(numbers):
            total += math.comb(m + 1, k) * number
        numbers.append(-total / (m + 1))
    return np.array([_nearest_float(b) for b in numbers], dtypes.default_float())


def _nearest_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)
