"""Exponential, trigonometric, Fresnel and Owen's integrals, and the dilogarithm.

Arguments are real.
"""

from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.primitives.special import integrals, minimax_coeffs
from imprint._src.scipy.special.arguments import strong_floats


def exp1(x: ArrayLike) -> Array:
    """Return the exponential integral E1, elementwise: of `exp(-t) / t` from `x` on.

    Args:
        x: real numbers of at least 0; NaN is the result for others.

    Returns:
        The integral for each element, a float array of the shape of `x`; inf at 0.

    References:
        SciPy, `scipy.special.exp1`; DLMF 6.2(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.exp1(1.0).round(4)
        Array(0.2194, dtype=float32)
    """
    return minimax_coeffs.exp1(*strong_floats("exp1", x))


def expi(x: ArrayLike) -> Array:
    """Return the exponential integral Ei, elementwise: of `exp(t) / t` up to `x`.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        The integral for each element, a float array of the shape of `x`; -inf at 0.

    References:
        SciPy, `scipy.special.expi`; DLMF 6.2(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.expi(1.0).round(4)
        Array(1.8951, dtype=float32)
    """
    return minimax_coeffs.expi(*strong_floats("expi", x))


def expn(n: ArrayLike, x: ArrayLike) -> Array:
    """Return the exponential integral E_n: of `exp(-x * t) / t**n` from 1 on.

    Args:
        n: nonnegative integers; fractions are truncated. Not differentiable.
        x: real numbers of at least 0.

    Returns:
        The integral for each pair, a float array of the broadcast shape; NaN for other
        arguments.

    References:
        SciPy, `scipy.special.expn`; DLMF 8.19(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.expn(2, 1.0).round(4)
        Array(0.1485, dtype=float32)
    """
    return integrals.expn(*strong_floats("expn", n, x))


def fresnel(x: ArrayLike) -> tuple[Array, Array]:
    """Return the integrals of `sin(pi / 2 * t**2)` and of its cosine, from 0 to `x`.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        The integral of the sine and that of the cosine, float arrays of the shape of `x`.

    References:
        SciPy, `scipy.special.fresnel`; DLMF 7.2(iii).

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> sine, cosine = special.fresnel(np.array([0.0, 1.0]))
        >>> cosine.round(4)
        Array([0.    , 0.7799], dtype=float32)
    """
    (x,) = strong_floats("fresnel", x)
    return minimax_coeffs.fresnel_sine(x), minimax_coeffs.fresnel_cosine(x)


def owens_t(h: ArrayLike, a: ArrayLike) -> Array:
    """Return Owen's T: P(X > `h` and 0 < Y < `a` X) for normal X and Y.

    Args:
        h: real numbers.
        a: real numbers, which broadcast with `h`.

    Returns:
        The probability for each pair, a float array of the broadcast shape.

    References:
        SciPy, `scipy.special.owens_t`; Owen 1956.

    Example:
        >>> from imprint.scipy import special
        >>> special.owens_t(0.5, 1.0).round(4)
        Array(0.1067, dtype=float32)
    """
    return integrals.owens_t(*strong_floats("owens_t", h, a))


def spence(x: ArrayLike) -> Array:
    """Return the dilogarithm: the integral of `log(t) / (1 - t)` from 1 to `x`.

    Args:
        x: real numbers of at least 0; NaN is the result for others.

    Returns:
        The integral for each element, a float array of the shape of `x`.

    References:
        SciPy, `scipy.special.spence`; DLMF 25.12(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.spence(0.0).round(4)
        Array(1.6449, dtype=float32)
    """
    return minimax_coeffs.spence(*strong_floats("spence", x))


def sici(x: ArrayLike) -> tuple[Array, Array]:
    """Return the integrals of `sin(t) / t` up to `x`, and of `cos(t) / t`.

    Args:
        x: real numbers; the second result is that of their magnitudes.

    Returns:
        The sine integral and the cosine integral, float arrays of the shape of `x`.

    References:
        SciPy, `scipy.special.sici`; DLMF 6.2(ii).

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> sine, cosine = special.sici(np.array([0.0, 2.0]))
        >>> sine.round(4)
        Array([0.    , 1.6054], dtype=float32)
    """
    (x,) = strong_floats("sici", x)
    return minimax_coeffs.sine_integral(x), minimax_coeffs.cosine_integral(x)
