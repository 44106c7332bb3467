"""Arrays in a bucket: longer in memory than they are.

An argument is copied once into zeros as long as the bucket, unless it is the beginning of
such an array already: a result of a call in the same bucket, or of `pad_to`. Behind those
is anything, so a program that counts on zeros is given copies only.
"""

from math import prod
from typing import Any, Final

import numpy as np

from imprint._src.array import (
    ArrayImpl,
    from_host,
    host_of,
    padding_of,
    unpadded,
    wrap_host,
)
from imprint._src.core.aval import NDArray, ShapedArray
from imprint._src.core.dims import Shape
from imprint._src.dtypes import DType
from imprint._src.sharding.named import NamedSharding

_ALIGNMENT: Final = 64
"""Bytes to which memory is aligned that the engine shares and does not copy."""
_SMALL: Final = 8192
"""Bytes up to which a call has memory of its own for an argument from the host."""


def in_bucket(x: Any, aval: ShapedArray, shape: Shape, *, zeros: bool) -> Any:
    """Return an argument as an array of the shape of its bucket.

    Args:
        x: an array, of imprint or NumPy.
        aval: its aval.
        shape: as long as the bucket.
        zeros: whether all of the padding must be zeros.
    """
    if shape == aval.shape:
        return x
    if isinstance(x, ArrayImpl):
        if not zeros and is_beginning(x, shape):
            return padding_of(x)
        x = host_of(x)
    if aval.sharding is None and prod(shape) * aval.dtype.itemsize <= _SMALL:
        values = np.zeros(shape, aval.dtype)
        _write(values, aval, x)
        return values  # written once more, into memory that the engine has: 20 µs less
    return _long(x, aval, shape)


def is_beginning(x: ArrayImpl, shape: Shape) -> bool:
    """Tell whether an array is the beginning of a longer one of this shape."""
    known = padding_of(x)
    return known is not None and known.aval.shape == shape != x.aval.shape


def padded_to(x: ArrayImpl, shape: Shape) -> ArrayImpl:
    """Return an array that is the beginning of one of this shape."""
    if shape == x.aval.shape or is_beginning(x, shape) or is_spread(x.aval):
        return x
    return unpadded(_long(host_of(x), x.aval, shape), x.aval.shape)


def _long(x: NDArray, aval: ShapedArray, shape: Shape) -> ArrayImpl:
    values = _empty(shape, aval.dtype)
    _write(values, aval, x)
    for axis, n in enumerate(aval.shape):
        # Pages that nobody wrote to are one page, which AMD's caches read slowly.
        values[(*map(slice, aval.shape[:axis]), slice(n, None))] = 0
    long = aval.with_shape(shape).with_sharding(aval.sharding)
    return from_host(long, values) if is_spread(aval) else wrap_host(long, values)


def is_spread(aval: ShapedArray) -> bool:
    """Tell whether an array is spread over devices: a view cannot be the beginning of one."""
    return type(aval.sharding) is NamedSharding


def _write(values: NDArray, aval: ShapedArray, x: NDArray) -> None:
    at = tuple(map(slice, aval.shape))
    if x.dtype is values.dtype:
        values[at] = x
        return
    with np.errstate(over="ignore", invalid="ignore"):  # to infinity, as in a put
        values[at] = x


def _empty(shape: Shape, dtype: DType) -> NDArray:
    count = prod(shape) * dtype.itemsize
    memory = np.empty(count + _ALIGNMENT, np.uint8)
    start = -memory.__array_interface__["data"][0] % _ALIGNMENT
    return memory[start : start + count].view(dtype).reshape(shape)
