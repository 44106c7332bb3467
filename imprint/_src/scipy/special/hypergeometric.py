"""The hypergeometric functions 1F1 and 2F1 of real numbers.

Parameters have first derivatives; the argument has derivatives of any order.
"""

from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.primitives.special import hypergeometric
from imprint._src.scipy.special.arguments import strong_floats


def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Return Kummer's function 1F1, elementwise; 1 where `a` is 0.

    Args:
        a: the upper parameter, real.
        b: the lower parameter, real.
        x: real numbers; all broadcast.

    Returns:
        The function of each triple, a float array of the broadcast shape.

    References:
        SciPy, `scipy.special.hyp1f1`; DLMF 13.2(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.hyp1f1(1.0, 2.0, 1.0).round(4)
        Array(1.7183, dtype=float32)
    """
    return hypergeometric.hyp1f1(*strong_floats("hyp1f1", a, b, x))


def hyp2f1(a: ArrayLike, b: ArrayLike, c: ArrayLike, x: ArrayLike) -> Array:
    """Return Gauss' function 2F1, elementwise; infinity above 1, unless a polynomial.

    Args:
        a: the first upper parameter, real.
        b: the second upper parameter, real.
        c: the lower parameter, real.
        x: real numbers; parameters are differentiable for x between -1 and 1.

    Returns:
        The function for each element, a float array of the broadcast shape.

    References:
        SciPy, `scipy.special.hyp2f1`; DLMF 15.2(i).

    Example:
        >>> from imprint.scipy import special
        >>> special.hyp2f1(1.0, 1.0, 2.0, 0.5).round(4)
        Array(1.3863, dtype=float32)
    """
    return hypergeometric.hyp2f1(*strong_floats("hyp2f1", a, b, c, x))
