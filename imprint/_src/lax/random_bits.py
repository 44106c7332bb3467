"""The engine's random bits, with the sharding of the result.

See `primitives.random_bits` for the generators.
"""

from collections.abc import Sequence
from typing import Any

from imprint._src import dtypes
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.spread import spread
from imprint._src.primitives import random_bits


def rng_bit_generator(
    key: Any,
    shape: Sequence[int],
    dtype: DTypeLike = dtypes.uint32,
    algorithm: random_bits.RandomAlgorithm = random_bits.RandomAlgorithm.RNG_DEFAULT,
    *,
    out_sharding: Any = None,
) -> tuple[Any, Any]:
    """Return the next state of the engine's generator, and random bits.

    Args:
        key: the state, `uint32[4]`.
        shape: the shape of the bits.
        dtype: an unsigned integer dtype.
        algorithm: which generator.
        out_sharding: how the bits are spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The next state, like `key`, and an array of random bits of that shape and dtype.

    References:
        StableHLO, `rng_bit_generator`; Salmon et al., "Parallel random numbers: as easy
        as 1, 2, 3", 2011.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> state = np.asarray([1, 2, 3, 4], dtype="uint32")
        >>> imprint.lax.rng_bit_generator(state, (2,))[1]
        Array([ 512747620, 1298009047], dtype=uint32)
    """
    state, bits = random_bits.rng_bit_generator(key, shape, dtype, algorithm)
    return state, bits if out_sharding is None else spread(bits, out_sharding)
