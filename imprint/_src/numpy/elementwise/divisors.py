"""Common divisors and multiples of integers: gcd and lcm.

Results are nonnegative, in the common integer dtype.
"""

from typing import Any

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import DTypeError
from imprint._src.numpy.elementwise.arithmetic import absolute, floor_divide, multiply
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.promotion import ArrayLike, fit_shapes, promote_dtypes
from imprint._src.primitives.elementwise import arithmetic as primitives


def gcd(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Return the greatest common divisor of integers, elementwise.

    Args:
        x1: integers.
        x2: integers.

    Returns:
        The nonnegative divisors, of the broadcast shape, in the promoted dtype; 0 for
        two zeros.

    Raises:
        DTypeError: an operand is not an integer.

    References:
        NumPy, `numpy.gcd`.

    Example:
        >>> import imprint.numpy as np
        >>> np.gcd(np.array([12, 0, -9]), 6)
        Array([6, 6, 3], dtype=int32)
    """
    return primitives.gcd(*_integers("gcd", x1, x2))


@fuse_eager
def lcm(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Return the least common multiple of integers, elementwise.

    Args:
        x1: integers.
        x2: integers.

    Returns:
        The nonnegative multiples, of the broadcast shape, in the promoted dtype; 0 if
        an operand is 0.

    Raises:
        DTypeError: an operand is not an integer.

    References:
        NumPy, `numpy.lcm`.

    Example:
        >>> import imprint.numpy as np
        >>> np.lcm(np.array([12, 0, -9]), 6)
        Array([12,  0, 18], dtype=int32)
    """
    x, y = _integers("lcm", x1, x2)
    divisor = primitives.gcd(x, y)
    some = where(divisor == 0, 1, divisor)
    return absolute(multiply(x, floor_divide(y, some)))


def _integers(name: str, x1: ArrayLike, x2: ArrayLike) -> list[Any]:
    x, y = fit_shapes(name, promote_dtypes(name, (x1, x2)))
    if not dtypes.is_integer(get_aval(x).dtype):
        raise DTypeError(
            f"{name}: expected integers, got {get_aval(x)} and {get_aval(y)}. Convert "
            "with .astype(int)."
        )
    return [x, y]
