"""Exponentials, logarithms, roots and squares, elementwise.

All but cbrt take complex operands too; the branch cuts are NumPy's, and of `sqrt` the
engine's, which does not distinguish -0.0 from 0.0 there. `exp2` is exact for integers, since
it is lowered as a power of two. `rsqrt` is `1 / sqrt(x)`, `square` and
`one_minus_square`, whose derivative does not cancel, also take integers.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.fusion import (
    ARITHMETIC,
    DIVISION,
    EXPENSIVE,
    POLYNOMIAL,
    UNFUSED,
)
from imprint._src.core.primitive import Samples
from imprint._src.primitives.core_ops import (
    FLOATS,
    INEXACTS,
    NUMBERS,
    add,
    mul,
    scalar_like,
)
from imprint._src.primitives.elementwise.arithmetic import div, integer_pow
from imprint._src.primitives.elementwise.inverses import is_many, lower_cube_root
from imprint._src.primitives.elementwise.real_power import lower_power_of_two
from imprint._src.primitives.families import (
    FLOATING,
    INEXACT,
    NUMBER,
    unary,
    unsigned_zeros,
    wide,
)
from imprint._src.stablehlo import Builder, Value

NDArray = np.ndarray[Any, Any]

# ---- exponentials ----

exp_p: Final = unary(
    "exp",
    dtypes=INEXACT,
    reference=np.exp,
    lower=lambda b, x: b.exponential(x),
    fusion=POLYNOMIAL._replace(wide=(-180, -400)),
    makes_nan=True,
    derivative=lambda x, out: out,
    samples=Samples(INEXACTS, arity=1),
)


def exp(x: Any) -> Any:
    """Return e to the power of `x`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        StableHLO, `exponential`; DLMF 4.2.
    """
    return exp_p.bind1(x)


def _exp2_lower(b: Builder, x: Value) -> Value:
    if is_many(b, x):
        return lower_power_of_two(b, x)
    if not dt.is_complex(x.dtype):
        return b.power(b.full(x.shape, 2, x.dtype), x)
    return b.exponential(b.multiply(b.full(x.shape, np.log(2), x.dtype), x))


exp2_p: Final = unary(
    "exp2",
    dtypes=INEXACT,
    reference=np.exp2,
    lower=_exp2_lower,
    fusion=EXPENSIVE._replace(wide=(800, 1240)),
    makes_nan=False,
    derivative=lambda x, out: mul(scalar_like(x, np.log(2)), out),
    samples=Samples(INEXACTS, arity=1),
)


def exp2(x: Any) -> Any:
    """Return 2 to the power of `x`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        C, `exp2`.
    """
    return exp2_p.bind1(x)


def _log2_lower(b: Builder, x: Value) -> Value:
    return b.multiply(b.log(x), b.full(x.shape, 1 / np.log(2), x.dtype))


log2_p: Final = unary(
    "log2",
    dtypes=INEXACT,
    reference=wide(lambda x: np.log(x) * x.dtype.type(1 / np.log(2))),
    lower=_log2_lower,
    fusion=UNFUSED,
    makes_nan=True,
    derivative=lambda x, out: div(scalar_like(x, 1 / np.log(2)), x),
    samples=Samples(INEXACTS, arity=1, domain=(0.2, 4.0)),
)


def log2(x: Any) -> Any:
    """Return the logarithm of `x` to base 2, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`. It is NaN for a negative float, -inf for
        0.

    References:
        C, `log2`.
    """
    return log2_p.bind1(x)


def _expm1_reference(x: NDArray) -> NDArray:
    out: NDArray = np.asarray(np.expm1(x))
    if dt.is_complex(x.dtype):  # NumPy multiplies an infinity by a zero of the sine
        out.imag = np.where(x.imag == 0, x.imag, out.imag)
    return out


expm1_p: Final = unary(
    "expm1",
    dtypes=INEXACT,
    reference=_expm1_reference,
    lower=lambda b, x: b.exponential_minus_one(x),
    fusion=POLYNOMIAL._replace(wide=(-240, -570)),
    makes_nan=True,
    derivative=lambda x, out: exp(
        x
    ),  # `out + 1` has no digits left where out is near -1
    samples=Samples(INEXACTS, arity=1, edges=(1e-7,)),
)


def expm1(x: Any) -> Any:
    """Return `exp(x) - 1`, elementwise, precisely also near 0.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        StableHLO, `exponential_minus_one`.
    """
    return expm1_p.bind1(x)


# ---- logarithms ----

log_p: Final = unary(
    "log",
    dtypes=INEXACT,
    reference=np.log,
    lower=lambda b, x: b.log(x),
    fusion=POLYNOMIAL._replace(wide=(-110, 900)),
    makes_nan=True,
    derivative=lambda x, out: div(scalar_like(x, 1), x),
    samples=Samples(INEXACTS, arity=1, domain=(0.1, 4.0), ulps=32),
)


def log(x: Any) -> Any:
    """Return the natural logarithm of `x`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`. It is NaN for a negative float, -inf for
        0; for complex numbers, the principal value.

    References:
        StableHLO, `log`; DLMF 4.2.
    """
    return log_p.bind1(x)


def _log1p_reference(x: NDArray) -> NDArray:
    if not dt.is_complex(x.dtype):
        return np.log1p(x)
    # NumPy adds 1 first, which leaves nothing of a small real part.
    re, im = x.real, x.imag
    near = np.maximum(np.abs(re), np.abs(im)) < 0.5
    small = np.log1p(np.where(near, re * (2 + re) + im * im, 0)) / 2
    out = np.empty_like(x)
    out.real = np.where(near, small, np.log(np.hypot(re + 1, im)))
    out.imag = np.arctan2(im, re + 1)
    return out


log1p_p: Final = unary(
    "log1p",
    dtypes=INEXACT,
    reference=_log1p_reference,
    lower=lambda b, x: b.log_plus_one(x),
    fusion=POLYNOMIAL._replace(wide=(0, 2300)),
    makes_nan=True,
    derivative=lambda x, out: div(scalar_like(x, 1), add(x, scalar_like(x, 1))),
    # jaxlib 0.10 is off by 120 ulps in float64; 0.12 by 5.
    samples=Samples(INEXACTS, arity=1, domain=(-0.9, 4.0), edges=(1e-7,), ulps=128),
)


def log1p(x: Any) -> Any:
    """Return `log(1 + x)`, elementwise, precisely also near 0.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`. It is NaN for a float below -1, -inf for
        -1.

    References:
        StableHLO, `log_plus_one`.
    """
    return log1p_p.bind1(x)


# ---- powers and roots ----

sqrt_p: Final = unary(
    "sqrt",
    dtypes=INEXACT,
    reference=unsigned_zeros(np.sqrt),
    lower=lambda b, x: b.sqrt(x),
    fusion=DIVISION,
    makes_nan=True,
    derivative=lambda x, out: div(scalar_like(x, 0.5), out),
    samples=Samples(INEXACTS, arity=1, domain=(0.1, 4.0)),
)


def sqrt(x: Any) -> Any:
    """Return the square root of `x`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`. It is NaN for a negative float; for
        complex numbers, the principal value.

    References:
        StableHLO, `sqrt`.
    """
    return sqrt_p.bind1(x)


rsqrt_p: Final = unary(
    "rsqrt",
    dtypes=INEXACT,
    reference=wide(lambda x: np.reciprocal(np.sqrt(x))),
    lower=lambda b, x: b.rsqrt(x),
    fusion=DIVISION._replace(wide=(-65, -110)),
    makes_nan=True,
    derivative=lambda x, out: mul(scalar_like(x, -0.5), div(out, x)),
    samples=Samples(INEXACTS, arity=1, domain=(0.1, 4.0)),
)


def rsqrt(x: Any) -> Any:
    """Return `1 / sqrt(x)`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`. It is NaN for a negative float, inf for
        0.

    References:
        StableHLO, `rsqrt`.
    """
    return rsqrt_p.bind1(x)


cbrt_p: Final = unary(
    "cbrt",
    dtypes=FLOATING,
    reference=np.cbrt,
    lower=lambda b, x: lower_cube_root(b, x) if is_many(b, x) else b.cbrt(x),
    fusion=EXPENSIVE,
    makes_nan=True,
    derivative=lambda x, out: mul(scalar_like(x, 1 / 3), integer_pow(out, -2)),
    samples=Samples(FLOATS, arity=1, domain=(0.1, 4.0)),
)


def cbrt(x: Any) -> Any:
    """Return the real cube root of `x`, elementwise.

    Args:
        x: floats.

    Returns:
        An array of the dtype and shape of `x`. It has the sign of `x`.

    References:
        StableHLO, `cbrt`.
    """
    return cbrt_p.bind1(x)


square_p: Final = unary(
    "square",
    dtypes=NUMBER,
    reference=np.square,
    lower=lambda b, x: b.multiply(x, x),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivative=lambda x, out: mul(scalar_like(x, 2), x),
    samples=Samples(NUMBERS, arity=1),
)


def square(x: Any) -> Any:
    """Return `x * x`, elementwise.

    Args:
        x: numbers; integers wrap around.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        CHLO, `square`.
    """
    return square_p.bind1(x)


def _one_minus_square_lower(b: Builder, x: Value) -> Value:
    one = b.full(x.shape, 1, x.dtype)
    return b.multiply(b.add(one, x), b.subtract(one, x))


def _one_minus_square_reference(x: NDArray) -> NDArray:
    one = x.dtype.type(1)
    return (one + x) * (one - x)


one_minus_square_p: Final = unary(
    "one_minus_square",
    dtypes=NUMBER,
    reference=_one_minus_square_reference,
    lower=_one_minus_square_lower,
    fusion=ARITHMETIC,
    makes_nan=True,
    derivative=lambda x, out: mul(scalar_like(x, -2), x),
    samples=Samples(NUMBERS, arity=1),
)


def one_minus_square(x: Any) -> Any:
    """Return `1 - x * x`, elementwise, precisely also where `x` is near 1 or -1.

    Args:
        x: numbers; integers wrap around.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        JAX, `jax.lax.one_minus_square`.
    """
    return one_minus_square_p.bind1(x)
