"""Windows for signals: bartlett, blackman, hamming, hanning, kaiser; and i0.

A window is a symmetric vector of concrete length in the default float; one point is 1.
"""

import math
from typing import Any, Final

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
    square,
    subtract,
)
from imprint._src.numpy.elementwise.comparison import less
from imprint._src.numpy.elementwise.exponential import exp, sqrt
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.elementwise.trigonometric import cos, polynomial_at
from imprint._src.numpy.promotion import ArrayLike, as_array, inexact, refuse_complex
from imprint._src.numpy.ranges import arange
from imprint._src.primitives.shape import as_operand
from imprint._src.primitives.special.bessel import bessel_i0e, bessel_i1e
from imprint.custom_derivatives import custom_jvp


@fuse_eager
def bartlett(M: Dim) -> Array:  # noqa: N803 - NumPy's name
    """Return the Bartlett window, a triangle.

    Args:
        M: the number of points.

    Returns:
        A vector of M numbers, in the default float.

    References:
        NumPy, `numpy.bartlett`.

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

    Args:
        M: the number of points.

    Returns:
        A vector of M numbers, in the default float.

    References:
        NumPy, `numpy.hanning`.

    Example:
        >>> import imprint.numpy as np
        >>> np.hanning(1)
        Array([1.], dtype=float32)
    """
    return _of_cosines("hanning", M, (0.5, -0.5))


@fuse_eager
def hamming(M: Dim) -> Array:  # noqa: N803 - NumPy's name
    """Return the Hamming window, a cosine that does not reach 0.

    Args:
        M: the number of points.

    Returns:
        A vector of M numbers, in the default float.

    References:
        NumPy, `numpy.hamming`.

    Example:
        >>> import imprint.numpy as np
        >>> np.hamming(3).shape
        (3,)
    """
    return _of_cosines("hamming", M, (0.54, -0.46))


@fuse_eager
def blackman(M: Dim) -> Array:  # noqa: N803 - NumPy's name
    """Return the Blackman window, a sum of two cosines.

    Args:
        M: the number of points.

    Returns:
        A vector of M numbers, in the default float.

    References:
        NumPy, `numpy.blackman`.

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

    Args:
        x: a real array or number; integers and booleans become floats.

    Returns:
        The values, of the shape of `x`, in its floating dtype.

    Raises:
        DTypeError: `x` is complex.

    References:
        NumPy, `numpy.i0`; DLMF 10.25.

    Example:
        >>> import imprint.numpy as np
        >>> np.i0(np.array([0.0, 1.0])).round(4)
        Array([1.    , 1.2661], dtype=float32)
    """
    refuse_complex("i0", x)
    x = inexact("i0", as_array("i0", x))
    return modified_i0(x)


@custom_jvp
def modified_i0(x: Any) -> Any:
    """Return `i0` of an array of floats; its derivative is `modified_i1`."""
    return _unscaled(x, bessel_i0e(x))


def _unscaled(x: Any, scaled: Any) -> Any:
    """Return a number times the exponential of `|x|`, which may overflow by itself."""
    half = exp(multiply(absolute(x), 0.5))
    return multiply(multiply(half, scaled), half)


@modified_i0.defjvp
def _modified_i0_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return modified_i0(x), multiply(t, modified_i1(x))


@custom_jvp
def modified_i1(x: Any) -> Any:
    """Return the function of order 1 of an array of floats."""
    return _unscaled(x, bessel_i1e(x))


@modified_i1.defjvp
def _modified_i1_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    is_near = less(absolute(x), 1)
    quarter = square(multiply(where(is_near, x, 0), 0.5))
    near = polynomial_at(quarter, _I1_SLOPE)
    safe = where(is_near, 1, x)
    scaled = subtract(bessel_i0e(safe), divide(bessel_i1e(safe), safe))
    slope = where(is_near, near, _unscaled(safe, scaled))
    return modified_i1(x), multiply(t, slope)


_I1_SLOPE: Final = [
    (k + 0.5) / math.factorial(k) / math.factorial(k + 1) for k in range(10)
]


@fuse_eager
def kaiser(M: Dim, beta: ArrayLike) -> Array:  # noqa: N803 - NumPy's name
    """Return the Kaiser window.

    Args:
        M: the number of points.
        beta: 0 gives a window of ones; 5 is like `hamming`, 6 like `hanning`.

    Returns:
        A vector of M numbers, in the default float.

    References:
        NumPy, `numpy.kaiser`.

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
