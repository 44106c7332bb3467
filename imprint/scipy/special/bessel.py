"""Modified Bessel functions of the first kind, of orders 0 and 1.

Those that end in `e` are scaled by `exp(-|x|)`, so they do not overflow.
"""

from typing import Any

from imprint.core.array import Array
from imprint.numpy.arithmetic import multiply, sign
from imprint.numpy.exponential import exp
from imprint.numpy.promotion import ArrayLike
from imprint.primitives import bessel
from imprint.scipy.special.arguments import floats


def i0(x: ArrayLike) -> Array:
    """Return the modified Bessel function of order 0, elementwise.

    Example:
        >>> from imprint.scipy import special
        >>> special.i0(1.0).round(4)
        Array(1.2661, dtype=float32, weak_type=True)
    """
    (x,) = floats("i0", x)
    return multiply(_growth(x), bessel.bessel_i0e(x))


def i0e(x: ArrayLike) -> Array:
    """Return `i0(x) * exp(-abs(x))`, elementwise.

    Example:
        >>> from imprint.scipy import special
        >>> special.i0e(1.0).round(4)
        Array(0.4658, dtype=float32, weak_type=True)
    """
    return bessel.bessel_i0e(*floats("i0e", x))


def i1(x: ArrayLike) -> Array:
    """Return the modified Bessel function of order 1, elementwise.

    Example:
        >>> from imprint.scipy import special
        >>> special.i1(1.0).round(4)
        Array(0.5652, dtype=float32, weak_type=True)
    """
    (x,) = floats("i1", x)
    return multiply(_growth(x), bessel.bessel_i1e(x))


def i1e(x: ArrayLike) -> Array:
    """Return `i1(x) * exp(-abs(x))`, elementwise.

    Example:
        >>> from imprint.scipy import special
        >>> special.i1e(1.0).round(4)
        Array(0.2079, dtype=float32, weak_type=True)
    """
    return bessel.bessel_i1e(*floats("i1e", x))


def _growth(x: Any) -> Any:
    """Return `exp(abs(x))`, with the derivative 0 at 0, which that of `abs` is not."""
    return exp(multiply(x, sign(x)))
