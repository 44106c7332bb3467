"""The error functions that the engine has: `erf`, `erfc` and the inverse of `erf`.

They are apart from their relatives in `normal`, which load more.
"""

from imprint._src.core.array import Array
from imprint._src.eager.fusion import fuse_eager
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.primitives.special import special as primitives
from imprint._src.scipy.special.arguments import floats


@fuse_eager
def erf(x: ArrayLike) -> Array:
    """Return the error function, elementwise.

    Example:
        >>> from imprint.scipy import special
        >>> special.erf(0.5).round(4)
        Array(0.5205, dtype=float32, weak_type=True)
    """
    return primitives.erf(*floats("erf", x))


@fuse_eager
def erfc(x: ArrayLike) -> Array:
    """Return 1 less the error function, elementwise, precisely for large `x`.

    Example:
        >>> from imprint.scipy import special
        >>> special.erfc(0.5).round(4)
        Array(0.4795, dtype=float32, weak_type=True)
    """
    return primitives.erfc(*floats("erfc", x))


@fuse_eager
def erfinv(x: ArrayLike) -> Array:
    """Return the number whose error function is `x`, elementwise.

    Example:
        >>> from imprint.scipy import special
        >>> special.erfinv(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return primitives.erf_inv(*floats("erfinv", x))
