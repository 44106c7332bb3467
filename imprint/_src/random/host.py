"""Threefry-2x32 on the host: keys outside any trace, without a compilation.

Few blocks are hashed one by one with Python's integers, 3 us each, many at once with
NumPy, from 50 us; the one function of `hashing` does both. A compiled call takes 5 us, and 30 ms to
compile for each number of keys. The streams are explained in `threefry`.
"""

from typing import Any, Final

import numpy as np

from imprint._src.primitives.hashing import MASK, threefry2x32

NDArray = np.ndarray[Any, Any]

_FEW: Final = 16
"""Blocks from which NumPy is faster."""


def seed_data(seed: int, *, wide: bool) -> NDArray:
    """Make a raw key from a number; only a wide one has a high word."""
    return np.array(((seed >> 32) & MASK if wide else 0, seed & MASK), np.uint32)


def split_data(data: NDArray, count: int, *, partitionable: bool) -> NDArray:
    """Make `count` raw keys from one."""
    key1, key2 = data.tolist()
    if count <= _FEW:
        pairs = [(0, i) if partitionable else (i, count + i) for i in range(count)]
        hashed = [threefry2x32(key1, key2, x1, x2) for x1, x2 in pairs]
        keys = np.array(hashed, np.uint32).reshape(count, 2)
    else:
        index = np.arange(count, dtype=np.uint32)
        first = np.zeros_like(index) if partitionable else index
        second = index if partitionable else index + np.uint32(count)
        keys = np.stack(threefry2x32(key1, key2, first, second), axis=-1)
    return keys if partitionable else keys.T.reshape(count, 2)


def fold_data(data: NDArray, number: int) -> NDArray:
    """Make a raw key from one and a number of 32 bits."""
    key1, key2 = data.tolist()
    return np.array(threefry2x32(key1, key2, 0, number), np.uint32)
