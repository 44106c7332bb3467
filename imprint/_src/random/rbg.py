"""The implementations rbg and unsafe_rbg, by XLA's own generator.

A key is four words. Both draw by `rng_bit_generator`, which is faster than threefry on
accelerators; a batch of keys gives other bits than each key alone. "rbg" splits its two
halves by threefry; "unsafe_rbg" splits by drawn bits. All bits are JAX's. Each function
has a traced version and one on the host.
"""

from typing import Any, Final

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import Shape
from imprint._src.primitives.elementwise.bitwise import xor
from imprint._src.primitives.indexing.slicing import concatenate, slice_, slice_in_dim
from imprint._src.primitives.random_bits import (
    RandomAlgorithm,
    rng_bit_generator,
    rng_bit_generator_p,
)
from imprint._src.primitives.shape import reshape
from imprint._src.random import threefry
from imprint._src.random.key_array import RBG, Implementation

NDArray = np.ndarray[Any, Any]

_EACH: Final = 10
"""The number of rows to draw for each new key of unsafe_rbg."""

# ---- in a program ----


def random_bits(data: Any, width: int, shape: Shape) -> Any:
    """Draw unsigned integers of 8, 16, 32 or 64 bits."""
    return rng_bit_generator(data, shape, threefry.UINTS[width])[1]


def split_data(data: Any, shape: Shape, implementation: Implementation) -> Any:
    """Make raw keys of `shape` from one."""
    if implementation is RBG:
        halves = [threefry.split_data(half, shape) for half in _halves(data)]
        return concatenate(halves, len(shape))
    count = dims.product(shape)
    rows = random_bits(data, 32, (_EACH * count, 4))
    return reshape(slice_in_dim(rows, 0, _EACH * count, _EACH), (*shape, 4))


def fold_data(data: Any, number: Any, implementation: Implementation) -> Any:
    """Make one raw key from one and a number, `uint32[]`."""
    if implementation is RBG:
        folded = [threefry.fold_data(half, number) for half in _halves(data)]
        return concatenate(folded, 0)
    rows = random_bits(seed_data(number), 32, (_EACH, 4))
    last = slice_(rows, (_EACH - 1, 0), (_EACH, 4))
    return xor(data, reshape(last, (4,)))


def seed_data(seed: Any) -> Any:
    """Make a raw key from an integer of rank 0."""
    half = threefry.seed_data(seed)
    return concatenate((half, half), 0)


def _halves(data: Any) -> tuple[Any, Any]:
    return slice_in_dim(data, 0, 2), slice_in_dim(data, 2, 4)


# ---- on the host ----


def split_on_host(
    data: NDArray, count: int, implementation: Implementation, *, partitionable: bool
) -> NDArray:
    """Make `count` raw keys from one."""
    if implementation is RBG:
        halves = [
            threefry.split_on_host(half, count, partitionable=partitionable)
            for half in (data[:2], data[2:])
        ]
        return np.concatenate(halves, axis=1)
    return _rows(data, _EACH * count)[::_EACH]


def fold_on_host(data: NDArray, number: int, implementation: Implementation) -> NDArray:
    """Make a raw key from one and a number of 32 bits."""
    if implementation is RBG:
        halves = [threefry.fold_on_host(half, number) for half in (data[:2], data[2:])]
        return np.concatenate(halves)
    return data ^ _rows(seed_on_host(number, wide=False), _EACH)[-1]


def seed_on_host(seed: int, *, wide: bool) -> NDArray:
    """Make a raw key from a number; only a wide one has a high word."""
    return np.tile(threefry.seed_on_host(seed, wide=wide), 2)


def _rows(data: NDArray, count: int) -> NDArray:
    _, bits = rng_bit_generator_p.reference(
        data,
        shape=(count, 4),
        dtype=threefry.UINTS[32],
        algorithm=RandomAlgorithm.RNG_DEFAULT,
    )
    return bits
