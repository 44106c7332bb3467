"""Threefry-2x32: the hash that makes random bits from a key and a counter.

A key is two words of 32 bits: raw data, `uint32[2]`. The hash mixes them into a pair of
counter words in twenty rounds. A draw hashes consecutive counters. With
`threefry_partitionable` an element's counter is its own index, in 64 bits, so a part of
a draw does not depend on the rest. Without it, the numbers 0, 1, 2, … are cut into
halves, and each of the first is paired with one of the second. All bits are JAX's.

Outside of a trace, keys are hashed on the host: few blocks by Python integers, 3 us each,
many by NumPy, 50 us. A compiled call takes 5 us, but 30 ms to compile per number of keys.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from imprint._src.config import settings
from imprint._src.core import dims
from imprint._src.core.aval import Shape, ShapedArray, get_aval
from imprint._src.core.dims import Dim
from imprint._src.core.host_kernel import HostKernel
from imprint._src.errors import ShapeError
from imprint._src.jit.api import jit
from imprint._src.primitives import hashing
from imprint._src.primitives.barrier import materialize
from imprint._src.primitives.core_ops import add, full, scalar_like
from imprint._src.primitives.elementwise.bitwise import (
    or_,
    shift_left,
    shift_right_logical,
    xor,
)
from imprint._src.primitives.elementwise.convert import (
    bitcast_convert_type,
    convert_element_type,
)
from imprint._src.primitives.hashing import MASK, PARITY, ROTATIONS
from imprint._src.primitives.indexing.slicing import concatenate, pad, slice_in_dim
from imprint._src.primitives.shape import expand_dims, iota, reshape, squeeze

Words = tuple[Any, Any]

UINTS: Final = {width: np.dtype(f"uint{width}") for width in (8, 16, 32, 64)}

_COUNTERS: Final = 1 << 32


def _threefry2x32(key1: Any, key2: Any, x1: Any, x2: Any) -> Words:
    schedule = (key1, key2, xor(xor(key1, key2), np.uint32(PARITY)))
    x1, x2 = add(x1, key1), add(x2, key2)
    for group in range(5):
        for distance in ROTATIONS[group % 2]:
            x1 = add(x1, x2)
            x2 = xor(x1, _rotated(x2, distance))
        late = add(schedule[(group + 2) % 3], np.uint32(group + 1))
        x1, x2 = add(x1, schedule[(group + 1) % 3]), add(x2, late)
    return x1, x2


def _rotated(x: Any, distance: int) -> Any:
    up = shift_left(x, np.uint32(distance))
    return or_(up, shift_right_logical(x, np.uint32(32 - distance)))


threefry2x32: Final = jit(_threefry2x32)
"""Hash counter words under key words; one equation in a jaxpr, traced once a shape."""


def _hashed_aval(*words: ShapedArray) -> tuple[ShapedArray, ShapedArray]:
    return words[3], words[3]


def _hashed_reference(key1: Any, key2: Any, x1: Any, x2: Any) -> Words:
    return hashing.threefry2x32(int(key1), int(key2), x1, x2)


_hashed_now: Final = HostKernel("threefry2x32", _hashed_aval, _hashed_reference)


def _hashed(*words: Any) -> Words:
    """Hash counter words: by a program under a trace, else by NumPy."""
    if _hashed_now.applies(*words):
        first, second = _hashed_now(*words)
        return first, second
    return threefry2x32(*words)


# ---- bits ----


def random_bits(data: Any, width: int, shape: Shape) -> Any:
    """Draw unsigned integers of 8, 16, 32 or 64 bits."""
    if not settings().threefry_partitionable:
        return reshape(_paired_bits(data, width, dims.product(shape)), shape)
    high, low = _hashed(*_words(data), *_indices(shape))
    if width == 64:
        return _joined(high, low)
    return convert_element_type(xor(high, low), UINTS[width])


def _paired_bits(data: Any, width: int, size: Dim) -> Any:
    count = dims.ceil_divide(width * size, 32)
    pair = _paired(data, count)
    if width == 64:
        return _joined(*pair)
    bits = slice_in_dim(concatenate(pair, 0), 0, count)
    if width == 32:
        return bits
    parts = bitcast_convert_type(bits, UINTS[width])  # the low bits come first
    return slice_in_dim(reshape(parts, (get_aval(parts).size,)), 0, size)


def _paired(data: Any, count: Dim) -> Words:
    """Hash 0, …, `count` - 1, each of the first half with one of the second."""
    _check_counters(count)
    half = (count + 1) // 2
    counters = iota(np.uint32, count)
    if not dims.divides(2, count):
        counters = pad(counters, np.uint32(0), ((0, 1, 0),))
    halves = slice_in_dim(counters, 0, half), slice_in_dim(counters, half, 2 * half)
    return _hashed(*_words(data), *halves)


def _indices(shape: Shape) -> Words:
    """Return the high and the low words of the index of each element."""
    size = dims.product(shape)
    _check_counters(size)
    low = reshape(iota(np.uint32, size), shape) if shape else np.uint32(0)
    return np.uint32(0), low


def _check_counters(count: Dim) -> None:
    if dims.is_surely_at_least(count, _COUNTERS):
        raise ShapeError(
            f"imprint.random: expected a draw of fewer than 2**32 numbers, got {count}. "
            "Split the key and draw it in parts."
        )


def _joined(high: Any, low: Any) -> Any:
    high, low = (convert_element_type(x, np.uint64) for x in (high, low))
    return or_(shift_left(high, scalar_like(high, 32)), low)


def _words(data: Any) -> Words:
    return row(data, 0), row(data, 1)


def row(x: Any, i: int) -> Any:
    """Return `x[i]`."""
    return squeeze(slice_in_dim(x, i, i + 1), (0,))


# ---- keys ----


# Keys are materialized: else XLA:CPU hashes them again in each kernel that draws with
# one, and compiles each such kernel. 16 splits and draws in sequence took one second
# instead of five.


def split_data(data: Any, shape: Shape) -> Any:
    """Split a raw key to a `shape` of raw keys."""
    if settings().threefry_partitionable:
        return materialize(stacked(_hashed(*_words(data), *_indices(shape))))
    pair = _paired(data, 2 * dims.product(shape))
    return materialize(reshape(concatenate(pair, 0), (*shape, 2)))


def fold_data(data: Any, number: Any) -> Any:
    """Fold a number, `uint32[]`, into a raw key."""
    return materialize(stacked(_hashed(*_words(data), np.uint32(0), number)))


def seed_data(seed: Any) -> Any:
    """Create a raw key from an integer of rank 0."""
    low = convert_element_type(seed, np.uint32)
    if get_aval(seed).dtype.itemsize < 8:
        return stacked((np.uint32(0), low))
    high = shift_right_logical(seed, scalar_like(seed, 32))
    return stacked((convert_element_type(high, np.uint32), low))


def stacked(words: Sequence[Any]) -> Any:
    """Join words to raw keys along a new last axis."""
    ndim = get_aval(words[-1]).ndim
    parts = [
        expand_dims(x, (ndim,)) if hasattr(x, "aval") else full((1,), x, UINTS[32])
        for x in words
    ]
    return concatenate(parts, ndim)


NDArray = np.ndarray[Any, Any]

_FEW: Final = 16
"""The number of blocks from which NumPy is faster."""


def seed_on_host(seed: int, *, wide: bool) -> NDArray:
    """Create a raw key from a number; only a wide one has a high word."""
    return np.array(((seed >> 32) & MASK if wide else 0, seed & MASK), np.uint32)


def split_on_host(data: NDArray, count: int, *, partitionable: bool) -> NDArray:
    """Split a raw key to `count` raw keys."""
    key1, key2 = data.tolist()
    if count <= _FEW:
        pairs = [(0, i) if partitionable else (i, count + i) for i in range(count)]
        hashed = [hashing.threefry2x32(key1, key2, x1, x2) for x1, x2 in pairs]
        keys = np.array(hashed, np.uint32).reshape(count, 2)
    else:
        index = np.arange(count, dtype=np.uint32)
        first = np.zeros_like(index) if partitionable else index
        second = index if partitionable else index + np.uint32(count)
        keys = np.stack(hashing.threefry2x32(key1, key2, first, second), axis=-1)
    return keys if partitionable else keys.T.reshape(count, 2)


def fold_on_host(data: NDArray, number: int) -> NDArray:
    """Fold a number of 32 bits into a raw key."""
    key1, key2 = data.tolist()
    return np.array(hashing.threefry2x32(key1, key2, 0, number), np.uint32)
