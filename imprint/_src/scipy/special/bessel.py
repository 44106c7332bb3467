"""Bessel functions of the first kind, and modified ones of orders 0 and 1.

Those with suffix `e` are scaled by `exp(-|x|)`, so they do not overflow.
"""

from typing import Any

from imprint._src.core.array import Array
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.numpy.windows import modified_i0, modified_i1
from imprint._src.primitives.special import bessel
from imprint._src.scipy.special.arguments import concrete_integer, floats, strong_floats


def bessel_jn(z: ArrayLike, *, v: int, n_iter: int = 50) -> Array:
    """Return the Bessel functions of order 0 to `v`, elementwise, along a new first axis.

    Args:
        z: real numbers, smaller than `n_iter` in magnitude.
        v: the last order, concrete.
        n_iter: the order at which the backward recurrence starts, at least `v`.

    Returns:
        The functions, of shape `(v + 1, *shape)` for `z` of a shape, in its floating dtype.

    Raises:
        ArgumentError: an order is not an integer, or negative.

    References:
        SciPy, `scipy.special.jv`; DLMF 10.2(ii).

    Example:
        >>> from imprint.scipy import special
        >>> special.bessel_jn(1.0, v=2).round(4)
        Array([0.7652, 0.4401, 0.1149], dtype=float32)
    """
    last = _order("v", v)
    (z,) = strong_floats("bessel_jn", z)
    return bessel.bessel_jn(z, last, max(last, _order("n_iter", n_iter)))


def _order(argument: str, value: Any) -> int:
    order = concrete_integer("bessel_jn", argument, value)
    if order < 0:
        raise ArgumentError(
            f"bessel_jn: expected {argument} of at least 0, got {order}."
        )
    return order


@fuse_eager
def i0(x: ArrayLike) -> Array:
    """Return the modified Bessel function of order 0, elementwise.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        The function of each element, a float array of the shape of `x`; it overflows to
        infinity.

    References:
        SciPy, `scipy.special.i0`; DLMF 10.25(ii).

    Example:
        >>> from imprint.scipy import special
        >>> special.i0(1.0).round(4)
        Array(1.2661, dtype=float32, weak_type=True)
    """
    (x,) = floats("i0", x)
    return modified_i0(x)


@fuse_eager
def i0e(x: ArrayLike) -> Array:
    """Return `i0(x) * exp(-abs(x))`, elementwise.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        The function of each element, in (0, 1]: a float array of the shape of `x`.

    References:
        SciPy, `scipy.special.i0e`; DLMF 10.25(ii).

    Example:
        >>> from imprint.scipy import special
        >>> special.i0e(1.0).round(4)
        Array(0.4658, dtype=float32, weak_type=True)
    """
    return bessel.bessel_i0e(*floats("i0e", x))


@fuse_eager
def i1(x: ArrayLike) -> Array:
    """Return the modified Bessel function of order 1, elementwise.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        The function of each element, a float array of the shape of `x`; it overflows to
        infinity.

    References:
        SciPy, `scipy.special.i1`; DLMF 10.25(ii).

    Example:
        >>> from imprint.scipy import special
        >>> special.i1(1.0).round(4)
        Array(0.5652, dtype=float32, weak_type=True)
    """
    (x,) = floats("i1", x)
    return modified_i1(x)


@fuse_eager
def i1e(x: ArrayLike) -> Array:
    """Return `i1(x) * exp(-abs(x))`, elementwise.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        The function of each element, in (-1, 1): a float array of the shape of `x`.

    References:
        SciPy, `scipy.special.i1e`; DLMF 10.25(ii).

    Example:
        >>> from imprint.scipy import special
        >>> special.i1e(1.0).round(4)
        Array(0.2079, dtype=float32, weak_type=True)
    """
    return bessel.bessel_i1e(*floats("i1e", x))
