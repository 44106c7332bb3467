"""Polynomials as vectors of coefficients: polyval, polyadd, polyder and others.

The highest power comes first. The number of coefficients is known while tracing, so
Horner's rule is unrolled: two equations for each.
"""

import numpy as np

from imprint._src.core.array import Array
from imprint._src.dtypes import to_inexact
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.elementwise.arithmetic import (
    add,
    multiply,
    negative,
    true_divide,
)
from imprint._src.numpy.promotion import ArrayLike, as_array, broadcast, promote_dtypes
from imprint._src.numpy.shapes.concatenate import concatenate
from imprint._src.numpy.shapes.reshape import atleast_1d
from imprint._src.primitives.axes import whole
from imprint._src.primitives.copying import owned
from imprint._src.primitives.indexing.slicing import slice_in_dim


@fuse_eager
def polyval(p: ArrayLike, x: ArrayLike, *, unroll: int = 16) -> Array:
    """Return the values of a polynomial.

    Args:
        p: the coefficients, the highest power first; further axes are further
            polynomials.
        x: where to evaluate it.
        unroll: how many terms an iteration of JAX's loop adds; here there is no loop.

    Returns:
        An array of the shape of `x`, broadcast with the further axes of `p`, in the
        promoted dtype.

    Raises:
        ShapeError: `p` has no axis.

    References:
        NumPy, `numpy.polyval`; Horner's scheme.

    Example:
        >>> import imprint.numpy as np
        >>> np.polyval(np.array([1, 0, 3]), np.array([0, 1, 2]))
        Array([3, 4, 7], dtype=int32)
    """
    del unroll
    coefficients, at = _promoted("polyval", p, x)
    if not coefficients.ndim:
        raise ShapeError(
            f"polyval: expected a vector of coefficients, got {coefficients.aval}. "
            "Pass a list as an array, also of one."
        )
    value = multiply(at, 0)
    for coefficient in coefficients:
        value = add(multiply(value, at), coefficient)
    return value


@fuse_eager
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Return the sum of two polynomials.

    Args:
        a1: the coefficients of one, the highest power first.
        a2: those of the other.

    Returns:
        The coefficients, as many as the longer operand has, in the promoted dtype.

    References:
        NumPy, `numpy.polyadd`.

    Example:
        >>> import imprint.numpy as np
        >>> np.polyadd(np.array([1, 2, 3]), np.array([10]))
        Array([ 1,  2, 13], dtype=int32)
    """
    x, y = (_vector("polyadd", a) for a in _promoted("polyadd", a1, a2))
    if len(x) < len(y):
        x, y = y, x
    cut = len(x) - len(y)
    tail = add(slice_in_dim(x, cut, None), y)
    return concatenate([slice_in_dim(x, 0, cut), tail])


@fuse_eager
def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Return the difference of two polynomials.

    Args:
        a1: the coefficients of one, the highest power first.
        a2: those of the other.

    Returns:
        The coefficients, as many as the longer operand has, in the promoted dtype.

    References:
        NumPy, `numpy.polysub`.

    Example:
        >>> import imprint.numpy as np
        >>> np.polysub(np.array([1, 2, 3]), np.array([10]))
        Array([ 1,  2, -7], dtype=int32)
    """
    x, y = _promoted("polysub", a1, a2)
    return polyadd(x, negative(y))


@fuse_eager
@owned
def polyder(p: ArrayLike, m: int = 1) -> Array:
    """Return the coefficients of a derivative.

    Args:
        p: the coefficients.
        m: the order of the derivative.

    Returns:
        The coefficients, `m` fewer, in a floating or complex dtype.

    References:
        NumPy, `numpy.polyder`.

    Example:
        >>> import imprint.numpy as np
        >>> np.polyder(np.array([1.0, 2.0, 3.0]))
        Array([2., 2.], dtype=float32)
    """
    times = _times("polyder", m)
    (promoted,) = promote_dtypes("polyder", (p,), to_inexact)
    x = _vector("polyder", promoted)
    if not times:
        return x
    factors = _falling(len(x), times)[times:]
    kept = slice_in_dim(x, 0, max(0, len(x) - times))
    return multiply(kept, factors[::-1].astype(x.dtype))


@fuse_eager
@owned
def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> Array:
    """Return the coefficients of an integral.

    Args:
        p: the coefficients.
        m: the order of the integral.
        k: the constants of integration: one, or one for each order; None for 0.

    Returns:
        The coefficients, `m` more, in a floating or complex dtype.

    Raises:
        ShapeError: there are neither one constant nor `m`.

    References:
        NumPy, `numpy.polyint`.

    Example:
        >>> import imprint.numpy as np
        >>> np.polyint(np.array([2.0, 2.0]), k=5)
        Array([1., 2., 5.], dtype=float32)
    """
    times = _times("polyint", m)
    given = (p, 0 if k is None else k)
    promoted, constants = promote_dtypes("polyint", given, to_inexact)
    x, constants = _vector("polyint", promoted), atleast_1d(constants)
    if constants.ndim != 1 or len(constants) not in (1, times):
        raise ShapeError(
            f"polyint: expected one constant, or one for each of {times} times, got "
            f"{constants.aval}. Give k a vector of that length."
        )
    if not times:
        return x
    constants = broadcast(constants, (times,))
    factors = _falling(len(x) + times, times)
    factors[:times] = [
        1 if n == 0 else np.prod(np.arange(1, n + 1)) for n in range(times)
    ]
    return true_divide(concatenate([x, constants]), factors[::-1].astype(x.dtype))


def _promoted(name: str, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    x, y = promote_dtypes(name, (x, y))
    return as_array(name, x), as_array(name, y)


def _vector(name: str, x: ArrayLike) -> Array:
    array = as_array(name, x)
    if array.ndim != 1:
        raise ShapeError(
            f"{name}: expected a vector of coefficients, got {array.aval}. Map over "
            "several with imprint.vmap."
        )
    return array


def _times(name: str, m: int) -> int:
    times = whole(name, "m", m)
    if times < 0:
        raise ArgumentError(
            f"{name}: expected m of at least 0, got {times}. It is how often to do it."
        )
    return times


def _falling(count: int, times: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return `n (n - 1) …` of `times` factors, for each n below `count`."""
    powers = np.arange(count, dtype=np.float64)[:, None]
    return np.prod(powers - np.arange(times), axis=1)
