"""Bucket lengths, and arrays that are padded to them.

By default, lengths are the powers of two and their 1.5-fold, from 16 on. So at most a third
of the work is on padding from 16 elements on, and 4,096 sizes have 17 programs.

An argument is copied once into zeros as long as the bucket, unless it is already the
beginning of such an array: the result of a call in the same bucket, or of `pad_to`. The
memory behind those may hold anything, so programs that need zeros get copies only.
"""

from collections.abc import Callable, Sequence
from itertools import count
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
from imprint._src.diagnostics.source import warn
from imprint._src.dtypes import DType
from imprint._src.errors import ArgumentError
from imprint._src.jit.calls.options import Buckets
from imprint._src.sharding.named import NamedSharding

LEAST_BUCKET: Final = 16


def bucket_of(buckets: Buckets, name: str, size: int, function: str) -> int:
    """Return the length of the bucket in which a size is.

    Args:
        buckets: the option of `jit`.
        name: the name of the axis.
        size: its size.
        function: its name.

    Raises:
        ArgumentError: a function gives a length that is no bucket of the size.
    """
    assert buckets is not None
    if callable(buckets):
        return _called(buckets, name, size, function)
    if isinstance(buckets, str):
        return _power(size)
    return _listed(buckets, name, size, function)


def _power(size: int) -> int:
    below = 1 << max(size - 1, 1).bit_length() - 1  # below < size <= 2*below
    least = max(below * 3 // 2, LEAST_BUCKET)
    return least if size <= least else below * 2


def _listed(buckets: Sequence[int], name: str, size: int, function: str) -> int:
    found = next((n for n in buckets if size <= n), None)
    if found is not None:
        return found
    last = buckets[-1]
    found = next(last << k for k in count(1) if size <= last << k)
    added = function, name, found, tuple(buckets)
    if added not in _warned:
        _warned.add(added)
        warn(
            f"{function}: expected sizes of {name} up to the last bucket, {last}, got "
            f"{size}: a bucket of {found} is added. Put it into buckets=, or use 'pow2'."
        )
    return found


_warned: Final[set[tuple[Any, ...]]] = set()
"""Added buckets that were warned about."""


def _called(buckets: Callable[[int], int], name: str, size: int, function: str) -> int:
    found: Any = buckets(size)
    if type(found) is not int or found < size:
        raise ArgumentError(
            f"{function}: expected buckets({size}), for a size of {name}, to be a whole "
            f"number of at least {size}, got {found!r}. Round up: "
            "lambda n: -(-n // 64) * 64."
        )
    return found


# ---- arrays in a bucket ----


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
    """Return whether an array is the beginning of a longer one of this shape."""
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
        # Untouched pages share one physical page, which AMD caches read slowly.
        values[(*map(slice, aval.shape[:axis]), slice(n, None))] = 0
    long = aval.with_shape(shape).with_sharding(aval.sharding)
    return from_host(long, values) if is_spread(aval) else wrap_host(long, values)


def is_spread(aval: ShapedArray) -> bool:
    """Return whether an array is spread over devices: a view cannot be the beginning of one."""
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
