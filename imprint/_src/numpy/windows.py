"""Windows for signals: bartlett, blackman, hamming, hanning, kaiser; and i0.

A window is a symmetric vector of concrete length in the default float; one point is 1.
"""

import math

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.dims import Dim
from imprint._src.eager.fusion import fuse_eager
from imprint._src.numpy.creation import ones
from imprint._src.numpy.elementwise.arithmetic import (
    absolute,
    add,
    divide,
    multiply,
    sign,
    subtract,
)
from imprint._src.numpy.elementwise.exponential import exp, sqrt
from imprint._src.numpy.elementwise.trigonometric import cos
from imprint._src.numpy.promotion import ArrayLike, as_array, inexact, refuse_complex
from imprint._src.numpy.ranges import arange
from imprint._src.primitives.shape import as_operand
from imprint._src.primitives.special.bessel import bessel_i0e


@fuse_eager
def bartlett(M: Dim) -> Array:  # noqa: N803 - NumPy's name
    """Return the Bartlett window, a triangle.

    Example:
        >>> import imprint.numpy as np
        >>> np.bartlett(5)
        Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    count = dims.as_dim(M, "bartlett")
    if not dims.at_least(count, 2):
        return ones(count)
    gaps = as_operand(count - 1)
    distance = absolute(subtract(multiply(_points(count), 2), gaps))
    return subtract(1, multiply(distance, 1 / gaps))


@fuse_eager
def hanning(M: Dim) -> Array:  # noqa: N803 - NumPy's name
    """Return the Hann window, one period of a cosine from 0 to 1 and back.

    Example:
        >>> import imprint.numpy as np
        >>> np.hanning(1)
        Array([1.], dtype=float32)
    """
    return _of_cosines("hanning", M, (0.5, -0.5))


@fuse_eager
def hamming(M: Dim) -> Array:  # noqa: N803 - NumPy's name
    """Return the Hamming window, a cosine that does not reach 0.

    Example:
        >>> import imprint.numpy as np
        >>> np.hamming(3).shape
        (3,)
    """
    return _of_cosines("hamming", M, (0.54, -0.46))


@fuse_eager
def blackman(M: Dim) -> Array:  # noqa: N803 - NumPy's name
    """Return the Blackman window, a sum of two cosines.

    Example:
        >>> import imprint.numpy as np
        >>> np.blackman(3).shape
        (3,)
    """
    return _of_cosines("blackman", M, (0.42, -0.5, 0.08))


def _of_cosines(name: str, length: Dim, weights: tuple[float, ...]) -> Array:
    count = dims.as_dim(length, name)
    if not dims.at_least(count, 2):
        return ones(count)
    turn = multiply(_points(count), 2 * math.pi / as_operand(count - 1))
    total = multiply(cos(multiply(turn, 0)), weights[0])
    for i, weight in enumerate(weights[1:], start=1):
        total = add(total, multiply(cos(multiply(turn, i)), weight))
    return total


def _points(count: Dim) -> Array:
    return arange(count, dtype=dtypes.default_float())


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
    size = multiply(x, sign(x))  # its derivative at 0 is 0, unlike that of abs
    return multiply(exp(size), bessel_i0e(x))


@fuse_eager
def kaiser(M: Dim, beta: ArrayLike) -> Array:  # noqa: N803 - NumPy's name
    """Return the Kaiser window.

    Args:
        M: the number of points.
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
    place = divide(subtract(twice, last), last)  # exactly -1 and 1 at the ends
    root = sqrt(subtract(1, multiply(place, place)))
    return divide(i0(multiply(beta, root)), i0(beta))
