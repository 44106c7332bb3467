"""The modified Bessel function of order 0, and Kaiser's window, which is made of it.

`imprint.scipy.special` has the other orders.
"""

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.dims import Dim
from imprint._src.eager.fusion import fuse_eager
from imprint._src.numpy.creation import ones
from imprint._src.numpy.elementwise.arithmetic import divide, multiply, sign, subtract
from imprint._src.numpy.elementwise.exponential import exp, sqrt
from imprint._src.numpy.promotion import ArrayLike, as_array, inexact, refuse_complex
from imprint._src.numpy.ranges import arange
from imprint._src.primitives.shape import as_operand
from imprint._src.primitives.special.bessel import bessel_i0e


@fuse_eager
def i0(x: ArrayLike) -> Array:
    """Return the modified Bessel function of the first kind, of order 0.

    Example:
        >>> import imprint.numpy as np
        >>> np.i0(np.array([0.0, 1.0])).round(4)
        Array([1.    , 1.2661], dtype=float32)
    """
    refuse_complex("i0", x)
    x = inexact("i0", as_array("i0", x))
    size = multiply(x, sign(x))  # its derivative at 0 is 0, which that of abs is not
    return multiply(exp(size), bessel_i0e(x))


@fuse_eager
def kaiser(M: Dim, beta: ArrayLike) -> Array:  # noqa: N803 - NumPy's name
    """Return the window whose shape is given by a number.

    Args:
        M: how many points.
        beta: 0 gives a window of ones; 5 is like `hamming`, 6 like `hanning`.

    Example:
        >>> import imprint.numpy as np
        >>> np.kaiser(3, 0.0)
        Array([1., 1., 1.], dtype=float32)
    """
    count = dims.as_dim(M, "kaiser")
    if not dims.at_least(count, 2):
        return ones(count)
    last = as_operand(count - 1)
    twice = multiply(arange(count, dtype=dtypes.default_float()), 2)
    place = divide(
        subtract(twice, last), last
    )  # which is -1 and 1 at the ends, exactly
    root = sqrt(subtract(1, multiply(place, place)))
    return divide(i0(multiply(beta, root)), i0(beta))
