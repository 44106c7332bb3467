"""The hypergeometric functions 1F1 and 2F1 of real numbers.

By each operand there is one derivative, by the last any number.
"""

from imprint._src.core.array import Array
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.primitives.special import hypergeometric
from imprint._src.scipy.special.arguments import strong_floats


def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Return Kummer's function 1F1, elementwise; 1 where `a` is 0.

    Args:
        a: the parameter above.
        b: the parameter below.
        x: real numbers.

    Example:
        >>> from imprint.scipy import special
        >>> special.hyp1f1(1.0, 2.0, 1.0).round(4)
        Array(1.7183, dtype=float32)
    """
    return hypergeometric.hyp1f1(*strong_floats("hyp1f1", a, b, x))


def hyp2f1(a: ArrayLike, b: ArrayLike, c: ArrayLike, x: ArrayLike) -> Array:
    """Return Gauss' function 2F1, elementwise; infinity above 1, unless it is a polynomial.

    Args:
        a: the first parameter above.
        b: the second parameter above.
        c: the parameter below.
        x: real numbers; derivatives by a parameter are there between -1 and 1.

    Example:
        >>> from imprint.scipy import special
        >>> special.hyp2f1(1.0, 1.0, 2.0, 0.5).round(4)
        Array(1.3863, dtype=float32)
    """
    return hypergeometric.hyp2f1(*strong_floats("hyp2f1", a, b, c, x))
