"""Memory for more elements than an array has: `pad_to`.

What is put into the memory of a bucket once need not be copied at each call of a function
that has one (`jit(abstracted_axes=)`). The array is what it was; only its memory is
longer.
"""

from typing import Any

from imprint._src.array import ArrayImpl, padding_of
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.errors import ShapeError
from imprint._src.jit.bucketing.buckets import padded_to
from imprint._src.numpy.promotion import ArrayLike, as_array


def pad_to(x: ArrayLike, size: int, axis: int = 0) -> Array:
    """Return an array with memory for `size` elements along an axis.

    Its shape, its elements and what is computed with it stay as they are. A function that
    `jit` made with `abstracted_axes` takes the memory as it is if `size` is the length of
    its bucket, and copies the array into such memory if it is not.

    Args:
        x: an array.
        size: for how many elements there is room, at least as many as there are.
        axis: the axis.

    Returns:
        The array; one that is traced or spread over devices is returned as it is.

    Raises:
        ShapeError: there are more elements.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> x = np.pad_to(np.arange(50.0), 64)
        >>> x.shape
        (50,)
        >>> total = imprint.jit(lambda x: x.sum(), abstracted_axes={0: "n"})
        >>> total(x), total(np.pad_to(np.arange(60.0), 64))
        (Array(1225., dtype=float32), Array(1770., dtype=float32))
        >>> len(total.versions)
        1
    """
    array: Any = as_array("pad_to", x)
    at = dims.as_dim(axis, "pad_to")
    if not -array.ndim <= at < array.ndim:
        raise ShapeError(
            f"pad_to: expected an axis of {array.aval}, got {axis}. Count from 0, or from "
            "the end with -1."
        )
    room = dims.as_dim(size, "pad_to")
    if not dims.at_least(room, array.shape[at]):
        raise ShapeError(
            f"pad_to: expected room for the {array.shape[at]} elements along axis {axis} "
            f"of {array.aval}, got size={size}. Take a part of the array, or more room."
        )
    if not isinstance(array, ArrayImpl):
        return array
    known = padding_of(array)
    shape = list(array.shape if known is None else known.shape)
    shape[at] = room
    return padded_to(array, tuple(shape))
