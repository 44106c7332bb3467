"""Error functions, and the normal distribution.

All but `wofz` are of real numbers.
"""

import math

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError
from imprint._src.numpy.elementwise.arithmetic import multiply
from imprint._src.numpy.promotion import ArrayLike, convert, promote
from imprint._src.primitives.special import faddeeva, minimax_coeffs
from imprint._src.primitives.special import special as primitives
from imprint._src.scipy.special.arguments import floats, strong_floats


def erfcx(x: ArrayLike) -> Array:
    """Return `exp(x * x) * erfc(x)`, elementwise, without overflow.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        The function of each element, a float array of the shape of `x`.

    References:
        SciPy, `scipy.special.erfcx`; DLMF 7.2(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.erfcx(0.5).round(4)
        Array(0.6157, dtype=float32, weak_type=True)
    """
    return minimax_coeffs.erfcx(*floats("erfcx", x))


def erfcinv(y: ArrayLike) -> Array:
    """Return the inverse of `erfc`, elementwise, accurately near 0.

    Args:
        y: real numbers in [0, 2].

    Returns:
        The inverse for each element, a float array of the shape of `y`; inf for 0, -inf for
        2, and NaN outside of [0, 2].

    References:
        SciPy, `scipy.special.erfcinv`; DLMF 7.17.

    Example:
        >>> from imprint.scipy import special
        >>> special.erfcinv(0.5).round(4)
        Array(0.4769, dtype=float32, weak_type=True)
    """
    (y,) = floats("erfcinv", y)
    return multiply(minimax_coeffs.ndtri(multiply(y, 0.5)), -math.sqrt(0.5))


def wofz(z: ArrayLike) -> Array:
    """Return the Faddeeva function, `exp(-z * z) * erfc(-1j * z)`, elementwise.

    Args:
        z: numbers, which become complex.

    Returns:
        The function of each element, a complex array of the shape of `z`.

    References:
        SciPy, `scipy.special.wofz`; DLMF 7.2(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.wofz(1j).round(4)
        Array(0.4276+0.j, dtype=complex64)
    """
    (z,) = promote("wofz", (z,))
    aval = get_aval(z)
    return faddeeva.wofz(convert("wofz", z, dtypes.to_complex(aval.dtype)))


def dawsn(x: ArrayLike) -> Array:
    """Return Dawson's integral, elementwise.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        The integral for each element, a float array of the shape of `x`.

    References:
        SciPy, `scipy.special.dawsn`; DLMF 7.2(ii).

    Example:
        >>> from imprint.scipy import special
        >>> special.dawsn(0.5).round(4)
        Array(0.4244, dtype=float32, weak_type=True)
    """
    return minimax_coeffs.dawsn(*floats("dawsn", x))


@fuse_eager
def ndtr(x: ArrayLike) -> Array:
    """Return the cumulative distribution of the normal distribution, elementwise.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        The probability of a value up to each element, a float array of the shape of `x`.

    References:
        SciPy, `scipy.special.ndtr`.

    Example:
        >>> from imprint.scipy import special
        >>> special.ndtr(0.0)
        Array(0.5, dtype=float32)
    """
    (x,) = strong_floats("ndtr", x)
    return multiply(primitives.erfc(multiply(x, -math.sqrt(0.5))), 0.5)


@fuse_eager
def ndtri(p: ArrayLike) -> Array:
    """Return the quantile function of the normal distribution, elementwise.

    Args:
        p: probabilities in [0, 1].

    Returns:
        The quantile for each element, a float array of the shape of `p`; -inf for 0, inf
        for 1, and NaN outside of [0, 1].

    References:
        SciPy, `scipy.special.ndtri`.

    Example:
        >>> from imprint.scipy import special
        >>> special.ndtri(0.5)
        Array(0., dtype=float32)
    """
    return minimax_coeffs.ndtri(*strong_floats("ndtri", p))


@fuse_eager
def log_ndtr(x: ArrayLike, series_order: int = 3) -> Array:
    """Return the log of the normal distribution's cumulative function, elementwise.

    Args:
        x: real numbers.
        series_order: ignored, as in JAX: no series is used, and the result is as
            precise as the dtype.

    Returns:
        The log of the probability of a value up to each element, a float array of the shape
        of `x`.

    Raises:
        ArgumentError: the order is negative.

    References:
        SciPy, `scipy.special.log_ndtr`.

    Example:
        >>> from imprint.scipy import special
        >>> special.log_ndtr(0.0).round(4)
        Array(-0.6931, dtype=float32)
    """
    if series_order < 0:
        raise ArgumentError(
            f"log_ndtr: expected series_order of at least 0, got {series_order}. "
            "Leave it out."
        )
    return minimax_coeffs.log_ndtr(*strong_floats("log_ndtr", x))


@fuse_eager
def erf(x: ArrayLike) -> Array:
    """Return the error function, elementwise.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        The function of each element, in [-1, 1]: a float array of the shape of `x`.

    References:
        SciPy, `scipy.special.erf`; DLMF 7.2(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.erf(0.5).round(4)
        Array(0.5205, dtype=float32, weak_type=True)
    """
    return primitives.erf(*floats("erf", x))


@fuse_eager
def erfc(x: ArrayLike) -> Array:
    """Return `1 - erf(x)`, elementwise, accurately for large `x`.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        The function of each element, in [0, 2]: a float array of the shape of `x`.

    References:
        SciPy, `scipy.special.erfc`; DLMF 7.2(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.erfc(0.5).round(4)
        Array(0.4795, dtype=float32, weak_type=True)
    """
    return primitives.erfc(*floats("erfc", x))


@fuse_eager
def erfinv(x: ArrayLike) -> Array:
    """Return the inverse error function, elementwise.

    Args:
        x: real numbers in [-1, 1].

    Returns:
        The inverse for each element, a float array of the shape of `x`; -inf for -1, inf
        for 1, and NaN outside of [-1, 1].

    References:
        SciPy, `scipy.special.erfinv`; DLMF 7.17.

    Example:
        >>> from imprint.scipy import special
        >>> special.erfinv(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return primitives.erf_inv(*floats("erfinv", x))
