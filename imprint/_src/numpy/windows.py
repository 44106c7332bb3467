"""Windows for signals: bartlett, blackman, hamming, hanning.

Each is a vector of known length, symmetric, in the default float; one point is 1.
"""

import math

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.dims import Dim
from imprint._src.eager.fusion import fuse_eager
from imprint._src.numpy.creation import ones
from imprint._src.numpy.elementwise.arithmetic import absolute, add, multiply, subtract
from imprint._src.numpy.elementwise.trigonometric import cos
from imprint._src.numpy.ranges import arange
from imprint._src.primitives.shape import as_operand


@fuse_eager
def bartlett(M: Dim) -> Array:  # noqa: N803 - NumPy's name
    """Return the window that rises and falls in a line.

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
    """Return the window of one period of a cosine, from 0 to 1 and back.

    Example:
        >>> import imprint.numpy as np
        >>> np.hanning(1)
        Array([1.], dtype=float32)
    """
    return _of_cosines("hanning", M, (0.5, -0.5))


@fuse_eager
def hamming(M: Dim) -> Array:  # noqa: N803 - NumPy's name
    """Return the window of a cosine that does not reach 0.

    Example:
        >>> import imprint.numpy as np
        >>> np.hamming(3).shape
        (3,)
    """
    return _of_cosines("hamming", M, (0.54, -0.46))


@fuse_eager
def blackman(M: Dim) -> Array:  # noqa: N803 - NumPy's name
    """Return the window of two cosines.

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
