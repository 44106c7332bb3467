"""Error functions and functions of the gamma family, elementwise, on floats.

The references are SciPy's, loaded at the first use: it is installed with jaxlib, but takes
0.2 s. Until then few numbers use C's own functions, if there are such. The engine's
approximations are within few ulps, but for lgamma and digamma near their zeros, where they
are precise to a few eps of 1 only. `polygamma` is here because it is the derivative of
digamma; its order is a natural number.
"""

import math
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final

import numpy as np

from imprint._src.core.fusion import EXPENSIVE, POLYNOMIAL, UNFUSED
from imprint._src.core.primitive import Absent, Case, Samples
from imprint._src.errors import NotDifferentiableError
from imprint._src.primitives.core_ops import FLOATS, add, mul, neg, scalar_like
from imprint._src.primitives.elementwise.exponential import exp, square
from imprint._src.primitives.families import FLOATING, binary, unary, wide
from imprint._src.primitives.special.closed_forms import in_program
from imprint._src.stablehlo import Builder, Value

NDArray = np.ndarray[Any, Any]


@cache
def _scipy() -> Any:
    return import_module("scipy.special")


def _until_loaded(name: str, of_c: Callable[[float], float]) -> Callable[[Any], Any]:
    """Return the function of that name of SciPy's; `of_c` rounds to the same float32."""
    each = np.frompyfunc(of_c, 1, 1)

    def computed(x: NDArray) -> NDArray:
        is_few = x.dtype == np.float32 and x.nbytes <= _FEW
        if is_few and "scipy.special" not in sys.modules:
            return np.asarray(each(x), np.float32)
        return getattr(_scipy(), name)(x)

    return computed


_FEW: Final = 4096  # bytes

# ---- error functions ----


def _gaussian(x: Any, scale: float) -> Any:
    return mul(scalar_like(x, scale), exp(neg(square(x))))


erf_p: Final = unary(
    "erf",
    dtypes=FLOATING,
    reference=wide(_until_loaded("erf", math.erf)),
    lower=lambda b, x: b.erf(x),
    fusion=POLYNOMIAL._replace(wide=(-90, 0)),
    makes_nan=True,
    derivative=lambda x, out: _gaussian(x, 2 / np.sqrt(np.pi)),
    samples=Samples(FLOATS, arity=1),
)


def erf(x: Any) -> Any:
    """Return the error function of `x`, elementwise.

    Args:
        x: floats.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        DLMF 7.2.1; CHLO, `erf`.
    """
    return erf_p.bind1(x)


erfc_p: Final = unary(
    "erfc",
    dtypes=FLOATING,
    reference=wide(_until_loaded("erfc", math.erfc)),
    lower=lambda b, x: b.erfc(x),
    fusion=POLYNOMIAL._replace(wide=(-310, -360)),
    makes_nan=True,
    derivative=lambda x, out: _gaussian(x, -2 / np.sqrt(np.pi)),
    samples=Samples(FLOATS, arity=1, ulps=16),
)


def erfc(x: Any) -> Any:
    """Return `1 - erf(x)`, elementwise, precisely also for large `x`.

    Args:
        x: floats.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        DLMF 7.2.2; CHLO, `erfc`.
    """
    return erfc_p.bind1(x)


_ROOT_PI_HALF: Final = np.sqrt(np.pi) / 2


def _erf_inv_reference(y: NDArray) -> NDArray:
    # SciPy's erfinv takes 1.7 us an element. 1. The quantile of the normal distribution,
    # from its tail. 2. Near 0 a Newton step, for the digits that the tail leaves out.
    special = _scipy()
    size = np.abs(y, dtype=np.float64)
    x: NDArray = special.ndtri((1 - size) / 2) / -np.sqrt(2)
    step = (special.erf(x) - size) * np.exp(x * x) * _ROOT_PI_HALF
    x = np.where(size < 0.5, x - step, x)
    return np.copysign(x, y).astype(y.dtype)


erf_inv_p: Final = unary(
    "erf_inv",
    dtypes=FLOATING,
    reference=wide(_erf_inv_reference),
    lower=lambda b, x: b.erf_inv(x),
    fusion=EXPENSIVE._replace(wide=(0, -590)),
    makes_nan=True,
    derivative=lambda x, out: mul(scalar_like(x, _ROOT_PI_HALF), exp(square(out))),
    samples=Samples(FLOATS, arity=1, domain=(-0.99, 0.99), ulps=32),
)


def erf_inv(x: Any) -> Any:
    """Return the number whose error function is `x`, elementwise.

    Args:
        x: floats.

    Returns:
        An array of the dtype and shape of `x`. It is ±inf for ±1, NaN outside [-1, 1].

    References:
        DLMF 7.17; CHLO, `erf_inv`.
    """
    return erf_inv_p.bind1(x)


# ---- gamma family ----


def _lgamma_of_c(x: float) -> float:
    try:
        return math.lgamma(x)
    except (OverflowError, ValueError):  # at a pole, or beyond the floats
        return math.inf


_gammaln: Final = _until_loaded("gammaln", _lgamma_of_c)


def _lgamma_reference(x: NDArray) -> NDArray:
    return np.where(np.isinf(x), np.abs(x), _gammaln(x))


def _log_of_gamma(f: Any, x: Any) -> Any:
    return f.lgamma(x)


lgamma_p: Final = unary(
    "lgamma",
    dtypes=FLOATING,
    reference=wide(_lgamma_reference),
    lower=lambda b, x: in_program(_log_of_gamma, b, x),
    fusion=EXPENSIVE._replace(wide=(0, 4200)),
    makes_nan=True,
    derivative=lambda x, out: digamma(x),
    # As a case: its error is measured by its operand, for it is a sum with zeros.
    samples=Samples(
        FLOATS,
        cases=(Case(((16,),)), Case(((2, 3),)), Case(((),))),
        domain=(0.5, 8.0),
        ulps=16,
    ),
)


def lgamma(x: Any) -> Any:
    """Return the logarithm of the magnitude of the gamma function, elementwise.

    Args:
        x: floats.

    Returns:
        An array of the dtype and shape of `x`. It is inf for 0, -1, -2, …

    References:
        DLMF 5.2.1; CHLO, `lgamma`.
    """
    return lgamma_p.bind1(x)


def _digamma_reference(x: NDArray) -> NDArray:
    # SciPy's psi takes 1 us an element on the left of 0, so that half is reflected.
    wide_x = np.asarray(x, np.float64)
    left = wide_x < 0
    right = _scipy().psi(np.where(left, 1 - wide_x, wide_x))
    turn = np.pi * (wide_x - np.rint(wide_x))
    out = right - np.where(left, np.pi / np.tan(turn), 0)
    out = np.where(left & (turn == 0), np.nan, np.where(x == 0, -np.inf, out))
    return out.astype(x.dtype)


def _digamma_lower(b: Builder, x: Value) -> Value:
    # jaxlib 0.10 gives NaN at 0, later ones -inf.
    at_zero = b.compare(x, b.full(x.shape, 0, x.dtype), "EQ")
    return b.select(at_zero, b.full(x.shape, -np.inf, x.dtype), b.digamma(x))


digamma_p: Final = unary(
    "digamma",
    dtypes=FLOATING,
    reference=_digamma_reference,
    lower=_digamma_lower,
    fusion=EXPENSIVE._replace(wide=(1000, 6300)),
    makes_nan=True,
    derivative=lambda x, out: polygamma(scalar_like(x, 1), x),
    samples=Samples(
        FLOATS,
        cases=(Case(((16,),)), Case(((2, 3),)), Case(((),))),
        domain=(0.5, 8.0),
        ulps=16,
    ),
)


def digamma(x: Any) -> Any:
    """Return the derivative of `lgamma` at `x`, elementwise.

    Args:
        x: floats.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        DLMF 5.2.2; CHLO, `digamma`.
    """
    return digamma_p.bind1(x)


def _polygamma_reference(m: NDArray, x: NDArray) -> NDArray:
    natural = (m >= 0) & np.isfinite(m) & (m == np.floor(m))
    pole = (x <= 0) & (x == np.floor(x))
    # As the engine has it: no limit at infinity, nor where the sides of a pole differ.
    undefined = (m > 0) & ((x == np.inf) | (pole & (m % 2 == 0)))
    higher = _scipy().polygamma(np.where(natural, m, 0), x)
    out = np.where(m == 0, _digamma_reference(x), higher)
    return np.where(natural & ~undefined, out, np.nan).astype(x.dtype)


def _zeta_reference(x: NDArray, q: NDArray) -> NDArray:
    # As the engine has it: no limit at infinity; a pole where both sides agree.
    out = _scipy().zeta(x, q)
    pole = (q <= 0) & (q == np.floor(q))
    even = np.isfinite(x) & (x % 2 == 0)
    out = np.where(pole, np.where(even, np.inf, np.nan), out)
    at_end = np.isnan(x) | np.isinf(x) | (q == np.inf)
    return np.where(x == 1, np.inf, np.where(at_end, np.nan, out)).astype(x.dtype)


zeta_p: Final = binary(
    "zeta",
    dtypes=FLOATING,
    reference=wide(_zeta_reference),
    lower=lambda b, x, q: b.zeta(x, q),
    fusion=UNFUSED,
    makes_nan=True,
    derivatives=Absent("zeta has no rule: by q it is -x * zeta(x + 1, q)"),
    samples=Samples(FLOATS, arity=2, domain=(1.5, 8.0), differentiable=False, ulps=64),
)


def zeta(x: Any, q: Any) -> Any:
    """Return Hurwitz's zeta function: the sum of `(n + q) ** -x` from n = 0."""
    return zeta_p.bind1(x, q)


def _no_order_derivative(*_: Any) -> Any:
    raise NotDifferentiableError(
        "polygamma: expected to differentiate by x, got a tangent of the order m, which "
        "is a natural number. Hold m constant: close over it, or use stop_gradient."
    )


polygamma_p: Final = binary(
    "polygamma",
    dtypes=FLOATING,
    reference=wide(_polygamma_reference),
    lower=lambda b, m, x: b.polygamma(m, x),
    fusion=UNFUSED,
    makes_nan=True,
    derivatives=(
        _no_order_derivative,
        lambda m, x, out: polygamma(add(m, scalar_like(m, 1)), x),
    ),
    samples=Absent("the order is a natural number, and the laws draw any float"),
)


def polygamma(m: Any, x: Any) -> Any:
    """Return derivative number `m` of `digamma` at `x`, elementwise."""
    return polygamma_p.bind1(m, x)
