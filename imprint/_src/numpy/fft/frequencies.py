"""Sample frequencies of Fourier transforms, and shifts of frequency 0.

Element 0 has frequency 0; positive frequencies follow, then negative ones.
"""

from collections.abc import Callable, Sequence
from typing import Any

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array, NumberArray
from imprint._src.core.array_interop import shown
from imprint._src.core.dims import Dim
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.device_put import DeviceLike, placed
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError
from imprint._src.numpy.creation import asarray
from imprint._src.numpy.elementwise.arithmetic import multiply, remainder, true_divide
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.numpy.ranges import arange
from imprint._src.numpy.shapes.reshape import axis_tuple
from imprint._src.numpy.shapes.roll_repeat import roll
from imprint._src.primitives.axes import canonical_axis, whole
from imprint._src.primitives.shape import as_operand


@fuse_eager
def fftfreq(
    n: int,
    d: ArrayLike = 1.0,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Array:
    """Return the sample frequencies of `fft`, in cycles per unit of `d`.

    Args:
        n: the number of samples.
        d: the sample spacing.
        dtype: the dtype of the result; None for the default float.
        device: where it is to be, as in `imprint.device_put`.

    Returns:
        A vector of `n` frequencies: 0 and the positive ones, then the negative ones.

    Raises:
        ArgumentError: `d` is a sequence, or `n` an array with axes.

    References:
        NumPy, `numpy.fft.fftfreq`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.fftfreq(4, d=0.5)
        Array([ 0. ,  0.5, -1. , -0.5], dtype=float32)
    """
    count = _count("fftfreq", n, d)
    wanted = dtypes.requested(float if dtype is None else dtype, "fftfreq")
    computed = dtypes.real_part_dtype(dtypes.to_inexact(wanted))
    half, whole_turn = as_operand(count // 2), as_operand(count)
    turns = remainder(arange(count, dtype=computed) + half, whole_turn) - half
    out = true_divide(turns, asarray(multiply(d, whole_turn), computed)).astype(wanted)
    return placed("fftfreq", out, device)


@fuse_eager
def rfftfreq(
    n: int,
    d: ArrayLike = 1.0,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Array:
    """Return the sample frequencies of `rfft`, in cycles per unit of `d`.

    Args:
        n: the number of samples.
        d: the sample spacing.
        dtype: the dtype of the computation; None for the default float.
        device: where it is to be, as in `imprint.device_put`.

    Returns:
        A vector of n // 2 + 1 frequencies, from 0 on.

    Raises:
        ArgumentError: `d` is a sequence, or `n` an array with axes.

    References:
        NumPy, `numpy.fft.rfftfreq`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.rfftfreq(4, d=0.5)
        Array([0. , 0.5, 1. ], dtype=float32)
    """
    count = _count("rfftfreq", n, d)
    wanted = dtypes.requested(float if dtype is None else dtype, "rfftfreq")
    turns = arange(count // 2 + 1, dtype=wanted)
    out = true_divide(turns, asarray(multiply(d, as_operand(count)), wanted))
    return placed("rfftfreq", out, device)


def _count(name: str, n: Any, d: Any) -> int:
    if isinstance(d, list | tuple):
        raise ArgumentError(
            f"{name}: expected one number as d, the distance of two samples, got "
            f"{shown(d)}. For several call it through imprint.vmap."
        )
    if isinstance(n, NumberArray) and n.ndim:
        raise ArgumentError(
            f"{name}: expected the number of samples, got {n.aval}. Pass its length, "
            "x.shape[0]."
        )
    if dims.is_symbolic(n):
        return dims.as_dim(n)
    return whole(name, "the number of samples", n)


@fuse_eager
def fftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """Shift frequency 0 to the middle of axes.

    Args:
        x: an array, in the order of elements of `fft`.
        axes: one axis or several; all by default.

    Returns:
        An array of the shape and dtype of `x`.

    References:
        NumPy, `numpy.fft.fftshift`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.fftshift(np.fft.fftfreq(4))
        Array([-0.5 , -0.25,  0.  ,  0.25], dtype=float32)
    """
    return _shifted("fftshift", x, axes, lambda n: n // 2)


@fuse_eager
def ifftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """Shift frequency 0 back to the front of axes: the inverse of `fftshift`.

    Args:
        x: an array.
        axes: one axis or several; all by default.

    Returns:
        An array of the shape and dtype of `x`.

    References:
        NumPy, `numpy.fft.ifftshift`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.ifftshift(np.arange(-2, 3))
        Array([ 0,  1,  2, -2, -1], dtype=int32)
    """
    return _shifted("ifftshift", x, axes, lambda n: -(n // 2))


def _shifted(
    name: str,
    x: ArrayLike,
    axes: int | Sequence[int] | None,
    by: Callable[[Dim], Dim],
) -> Array:
    array = as_array(name, x)
    given = range(array.ndim) if axes is None else axis_tuple(name, axes)
    along = [canonical_axis(name, axis, array.ndim) for axis in given]
    return roll(array, [by(array.shape[axis]) for axis in along], along)
