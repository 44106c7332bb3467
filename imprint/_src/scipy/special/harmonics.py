"""Spherical harmonics.

Each is a recurrence over degrees, starting at its order, for all elements at once,
which stops at the element's degree; so it needs no table of degrees and orders.
"""

import math
from typing import Any

import numpy

import imprint.numpy as np
from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.trace import Tracer, current_trace, raise_concretization
from imprint._src.errors import ArgumentError, DTypeError
from imprint._src.lax.loops import fori_loop
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.primitives.elementwise.complex import complex_
from imprint._src.scipy.special.arguments import arrays


def sph_harm_y(
    n: ArrayLike,
    m: ArrayLike,
    theta: ArrayLike,
    phi: ArrayLike,
    diff_n: int | None = None,
    n_max: int | None = None,
) -> Array:
    """Return the orthonormal spherical harmonics of degree `n` and order `m`.

    Args:
        n: the degrees, integers of at least 0.
        m: the orders, integers of at most `n` in magnitude; for others the result is 0.
        theta: the polar angles, from 0 to pi.
        phi: the azimuths.
        diff_n: must be None: for derivatives use `imprint.jvp`.
        n_max: the largest degree, concrete; higher ones are clipped. None for that of a
            concrete `n`.

    Returns:
        The harmonics, a complex array of the broadcast shape.

    Raises:
        DTypeError: `n` or `m` are not integers.
        NotImplementedError: `diff_n` is given.
        ArgumentError: `n_max` is negative.
        ConcretizationError: the largest degree is not concrete.

    References:
        SciPy, `scipy.special.sph_harm_y`; DLMF 14.30(i).

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> special.sph_harm_y(np.array([1]), np.array([0]), 0.0, 0.0).round(4)
        Array([0.4886+0.j], dtype=complex64)
    """
    if diff_n is not None:
        raise NotImplementedError(
            f"sph_harm_y: expected diff_n=None, got {diff_n}. For derivatives by the "
            "angles use imprint.jvp."
        )
    degree, order = _whole("n", n), _whole("m", m)
    highest = _highest(n, n_max)
    theta, phi = arrays("sph_harm_y", theta, phi)
    if theta.dtype.itemsize < dtypes.float32.itemsize:
        theta, phi = np.astype(theta, np.float32), np.astype(phi, np.float32)
    degree, order, theta, phi = np.broadcast_arrays(degree, order, theta, phi)
    degree = np.minimum(degree, highest)
    size = np.abs(order)
    values = _legendre(degree, size, theta, highest)
    turn = np.astype(size, phi.dtype) * phi
    odd = np.where((order < 0) & (size % 2 == 1), -1, 1).astype(values.dtype)
    sign = np.where(order < 0, -1, 1).astype(values.dtype)
    real, imaginary = values * np.cos(turn), values * np.sin(turn)
    return complex_(real * odd, imaginary * odd * sign)


def _whole(argument: str, value: Any) -> Array:
    array = np.asarray(value)
    if not dtypes.is_integer(array.dtype):
        raise DTypeError(
            f"sph_harm_y: expected integers {argument}, got {array.aval}. Convert with "
            ".astype(int)."
        )
    return array


def _highest(n: Any, n_max: Any) -> int:
    given = n if n_max is None else n_max
    if isinstance(given, Tracer):
        remedy = "Pass n_max, the greatest degree, as a Python integer"
        raise_concretization(given, "sph_harm_y", "n_max", remedy)
    found = int(numpy.max(numpy.asarray(given), initial=0))
    if n_max is not None and int(n_max) < 0:
        raise ArgumentError(f"sph_harm_y: expected n_max of at least 0, got {n_max}.")
    return found


def _legendre(degree: Array, order: Array, theta: Array, highest: int) -> Array:
    """Return the normalized associated Legendre functions of the cosine."""
    steps = numpy.arange(1, highest + 1)
    start = numpy.cumprod(-numpy.sqrt(1 + 0.5 / steps), dtype=numpy.float64)
    table = numpy.append(1.0, start) * (0.5 / math.sqrt(math.pi))
    x, m = np.cos(theta), np.astype(order, theta.dtype)
    known = np.take(np.asarray(table, theta.dtype), np.minimum(order, highest))
    first = known * np.power(np.abs(np.sin(theta)), order)
    first = np.where(order <= degree, first, 0).astype(theta.dtype)

    def step(k: Any, pair: Any) -> Any:
        before, here = pair
        after = m + k
        free = after * after - m * m
        one = np.sqrt((4 * after * after - 1) / free)
        less = (after - 1) * (after - 1) - m * m
        two = np.sqrt((2 * after + 1) * less / ((2 * after - 3) * free))
        further = one * x * here - two * before
        goes_on = after <= degree
        return np.where(goes_on, here, before), np.where(goes_on, further, here)

    pair = np.zeros_like(first), first
    if current_trace() is None:
        for k in range(1, highest + 1):
            pair = step(k, pair)
        return pair[1]
    return fori_loop(1, highest + 1, step, pair)[1]
