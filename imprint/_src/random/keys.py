"""Keys: creation from seeds, splitting, folding, and raw data.

Outside of a trace keys are computed on the host, which compiles nothing and is faster
for few keys; under a trace they are equations. Raw data in place of a key gives raw
data.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from imprint._src import dtypes
from imprint._src.array import (
    ArrayImpl,
    from_host,
    from_operand,
    host_of,
    to_array,
)
from imprint._src.config import settings
from imprint._src.core import dims
from imprint._src.core.array import Array, NumberArray
from imprint._src.core.aval import Shape, ShapedArray, get_aval
from imprint._src.core.trace import current_trace
from imprint._src.errors import ArgumentError
from imprint._src.jit.api import jit
from imprint._src.primitives import key_uses
from imprint._src.primitives.elementwise.convert import cast, convert_element_type
from imprint._src.random import streams, threefry
from imprint._src.random.arguments import sizes
from imprint._src.random.key_array import (
    SINGLE,
    THREEFRY,
    Implementation,
    KeyDType,
    KeyLike,
    PRNGKeyArray,
    checked_key,
    default_implementation,
    implementation_of,
    raw_data,
    single_key,
    words_of,
)

# ---- from seeds ----


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> PRNGKeyArray:
    """Create a key from a seed.

    Args:
        seed: an integer; its low 32 bits are used, or 64 under `enable_x64`.
        impl: the implementation: "threefry2x32"; "rbg", by XLA's own generator; or
            "unsafe_rbg", which also splits by it. None for the flag
            `default_prng_impl`.
        dtype: a dtype of keys in place of `impl`, such as that of another key.

    Returns:
        A key, of shape `()`; its words are the seed's, repeated for implementations other
        than threefry.

    Raises:
        ArgumentError: the seed is not an integer of rank 0, or `impl` is unknown.

    References:
        Salmon et al. 2011 (threefry).

    Example:
        >>> import imprint
        >>> imprint.random.normal(imprint.random.key(0))
        Array(1.6226422, dtype=float32)
    """
    implementation = _chosen("key", impl, dtype)
    return PRNGKeyArray(_seeded("key", seed, implementation), implementation)


def PRNGKey(seed: Any, *, impl: Any = None) -> Array:  # noqa: N802 - JAX's name
    """Create the raw data of a key from a seed, `uint32[2]` for threefry.

    Args:
        seed: as in `key`; prefer that function.
        impl: as in `key`.

    Returns:
        The words, a `uint32` vector; of length 4 for implementations other than threefry.

    Raises:
        ArgumentError: the seed is not an integer of rank 0, or `impl` is unknown.

    Example:
        >>> import imprint
        >>> imprint.random.PRNGKey(42)
        Array([ 0, 42], dtype=uint32)
    """
    return _seeded("PRNGKey", seed, implementation_of("PRNGKey", impl))


def key_dtype(impl_spec: Any = None) -> KeyDType:
    """Return the dtype of the keys of an implementation.

    Args:
        impl_spec: as in `key`.

    Returns:
        The dtype, which `key` accepts.

    Raises:
        ArgumentError: `impl_spec` is unknown.

    Example:
        >>> import imprint
        >>> imprint.random.key_dtype("rbg")
        key<rbg>
    """
    return KeyDType(implementation_of("key_dtype", impl_spec))


def _chosen(name: str, impl: Any, dtype: Any) -> Implementation:
    if impl is not None and dtype is not None:
        raise ArgumentError(
            f"{name}: expected one of impl and dtype, got impl={impl!r} and "
            f"dtype={dtype!r}. Leave one out."
        )
    return implementation_of(name, dtype if impl is None else impl)


def _seeded(name: str, seed: Any, implementation: Implementation) -> Any:
    if isinstance(seed, int):
        return _seeded_by_int(name, seed, implementation)
    if not isinstance(seed, NumberArray | np.ndarray | np.generic):
        raise ArgumentError(
            f"{name}: expected an integer as seed, got {type(seed).__name__} {seed!r}. "
            f"Pass an int, as in {name}(0)."
        )
    aval = get_aval(seed)
    if not dtypes.is_integer(aval.dtype):
        raise ArgumentError(
            f"{name}: expected an integer as seed, got {aval}. Convert it with "
            "`.astype(int)`."
        )
    if aval.ndim:
        raise ArgumentError(
            f"{name}: expected a seed of rank 0, got {aval}. For a key of each seed, "
            f"call imprint.vmap(imprint.random.{name})(seeds)."
        )
    if current_trace() is not None:
        if implementation is THREEFRY:
            return threefry.seed_data(seed)
        return streams.other().seed_data(seed)
    number = int(cast(np.asarray(seed), aval.dtype))
    words = _seed_on_host(number, implementation, wide=aval.dtype.itemsize == 8)
    return _from_host(words, seed if isinstance(seed, ArrayImpl) else None)


def _seed_on_host(
    seed: int, implementation: Implementation, *, wide: bool
) -> np.ndarray[Any, Any]:
    if implementation is THREEFRY:
        return threefry.seed_on_host(seed, wide=wide)
    return streams.other().seed_on_host(seed, wide=wide)


def _seeded_by_int(name: str, seed: int, implementation: Implementation) -> Any:
    if not -(1 << 63) <= seed < 1 << 63:
        raise OverflowError(
            f"{name}: expected a seed of at most 64 bits, got {seed}. "
            "Take its lower bits: seed % 2**63."
        )
    data = _seed_on_host(seed, implementation, wide=settings().enable_x64)
    if current_trace() is None:
        return _from_host(data)
    return threefry.stacked(tuple(data))  # literals, where an array would be a constant


# ---- from keys ----


def split(key: KeyLike, num: int | tuple[int, ...] = 2) -> Any:
    """Return new, independent keys; do not use the old key again.

    Args:
        key: a key.
        num: the number of keys, or a shape.

    Returns:
        Keys of shape `(num,)`, or `num` if that is a shape; raw data, if `key` is.

    Raises:
        ArgumentError: `key` is not a single key.

    References:
        Claessen and Pałka 2013; Salmon et al. 2011.

    Example:
        >>> import imprint
        >>> key, subkey = imprint.random.split(imprint.random.key(0))
        >>> imprint.random.uniform(subkey)
        Array(0.00729382, dtype=float32)
    """
    given = single_key("split", key)
    shape = sizes("split", num if isinstance(num, tuple | list) else (num,))
    if current_trace() is not None:
        return _like(key, _split_of(shape)(given))
    words = _words(given)
    keys = _split_on_host(
        host_of(words),
        dims.concrete(dims.product(shape), "split"),
        _implementation(given),
    )
    return _like(key, _from_host(keys.reshape(*shape, keys.shape[-1]), words))


def _split(shape: Shape, key: Any) -> Any:
    return streams.split_data(key, shape)


def _split_on_host(
    data: np.ndarray[Any, Any], count: int, implementation: Implementation
) -> np.ndarray[Any, Any]:
    partitionable = settings().threefry_partitionable
    if implementation is THREEFRY:
        return threefry.split_on_host(data, count, partitionable=partitionable)
    return streams.other().split_on_host(
        data, count, implementation, partitionable=partitionable
    )


@lru_cache(maxsize=256)
def _split_of(shape: Shape) -> Callable[[Any], Any]:
    return jit(partial(_split, shape))


def fold_in(key: KeyLike, data: Any) -> Any:
    """Return a key derived from a key and a number, such as a loop counter.

    Args:
        key: a key.
        data: an integer of rank 0; its low 32 bits are used.

    Returns:
        The key; raw data, if `key` is.

    Raises:
        ArgumentError: `key` is not a single key, or `data` has axes.
        OverflowError: a Python integer is not in [0, 2**32).

    Example:
        >>> import imprint
        >>> key = imprint.random.key(0)
        >>> [imprint.random.bits(imprint.random.fold_in(key, i)).item() for i in (0, 1)]
        [3617712097, 31327077]
    """
    given = checked_key("fold_in", key)
    aval = get_aval(data)
    if aval.ndim:
        raise ArgumentError(
            f"fold_in: expected a number of rank 0, got {aval}. "
            "For a key of each number, use imprint.vmap."
        )
    if type(data) is int:
        data = _word(data)
    if current_trace() is not None:
        return _like(key, _fold_in(given, convert_element_type(data, np.uint32)))
    number = int(cast(np.asarray(data), dtypes.uint32))
    array = _words(given)
    follows = isinstance(data, ArrayImpl) and not array.committed
    folded = _fold_on_host(host_of(array), number, _implementation(given))
    return _like(key, _from_host(folded, data if follows else array))


def _word(number: int) -> np.uint32:
    if not 0 <= number < 1 << 32:
        raise OverflowError(
            f"fold_in: expected an integer in [0, 2**32), got {number}. "
            "Take 32 bits of it: data % 2**32."
        )
    return np.uint32(number)


_fold_in = jit(streams.fold_data)


def _fold_on_host(
    data: np.ndarray[Any, Any], number: int, implementation: Implementation
) -> np.ndarray[Any, Any]:
    if implementation is THREEFRY:
        return threefry.fold_on_host(data, number)
    return streams.other().fold_on_host(data, number, implementation)


def _words(given: Any) -> Any:
    return to_array(given.data if type(given) is PRNGKeyArray else given)


def _implementation(given: Any) -> Implementation:
    return given.implementation if type(given) is PRNGKeyArray else THREEFRY


def clone(key: KeyLike) -> Any:
    """Return a copy of a key, to draw the same numbers on purpose.

    Args:
        key: keys of any shape.

    Returns:
        The same keys; under `debug_key_reuse` they count as unused.

    Raises:
        ArgumentError: `key` is none.

    Example:
        >>> import imprint
        >>> key = imprint.random.key(0)
        >>> imprint.random.clone(key) == key
        Array(True, dtype=bool)
    """
    return _like(key, _new_key("clone", raw_data("clone", key)))


def _new_key(name: str, data: Any) -> Any:
    """Return raw data as that of new keys, for `debug_key_reuse`."""
    if settings().debug_key_reuse:
        return key_uses.use_key(data, key_uses.CLONE, name)
    return data


# ---- raw data ----


def key_data(keys: KeyLike) -> Any:
    """Return the raw data of keys, `uint32[..., 2]` for threefry.

    Args:
        keys: keys of any shape.

    Returns:
        The words, of the shape of the keys with the number of words as last axis.

    Raises:
        ArgumentError: `keys` are none.

    Example:
        >>> import imprint
        >>> imprint.random.key_data(imprint.random.key(42))
        Array([ 0, 42], dtype=uint32)
    """
    return _as_array(raw_data("key_data", keys))


def wrap_key_data(
    key_bits_array: Any, *, impl: Any = None, dtype: Any = None
) -> PRNGKeyArray:
    """Return the keys of raw data; the inverse of `key_data`.

    Args:
        key_bits_array: a `uint32` array whose last axis has length 2, or 4 for
            implementations other than threefry.
        impl: as in `key`.
        dtype: as in `key`.

    Returns:
        The keys, of the shape of the data without its last axis.

    Raises:
        ArgumentError: the data has another dtype or last axis, or `impl` is unknown.

    Example:
        >>> import imprint
        >>> key = imprint.random.key(42)
        >>> imprint.random.wrap_key_data(imprint.random.key_data(key)) == key
        Array(True, dtype=bool)
    """
    implementation = _chosen("wrap_key_data", impl, dtype)
    data = words_of("wrap_key_data", key_bits_array, implementation)
    made = _new_key("wrap_key_data", _as_array(data))
    return PRNGKeyArray(made, implementation)


def key_impl(keys: KeyLike) -> str:
    """Return the name of the implementation of keys.

    Args:
        keys: keys of any shape.

    Returns:
        The name, as for `key`; the default one for raw data.

    Raises:
        ArgumentError: `keys` are none.

    Example:
        >>> import imprint
        >>> imprint.random.key_impl(imprint.random.key(0))
        'threefry2x32'
    """
    raw_data("key_impl", keys)
    if type(keys) is PRNGKeyArray:
        return keys.implementation.name
    return default_implementation().name


def _as_array(data: Any) -> Any:
    return data if isinstance(data, NumberArray) else to_array(data)


def _like(key: KeyLike, made: Any) -> Any:
    """Return keys in the form of the argument: an array of keys, or raw data."""
    if type(key) is PRNGKeyArray:
        is_keys = type(made) is PRNGKeyArray
        return made if is_keys else PRNGKeyArray(made, key.implementation)
    return made.data if type(made) is PRNGKeyArray else made


def _from_host(data: np.ndarray[Any, Any], of: ArrayImpl | None = None) -> Array:
    is_single = dims.is_same_shape(data.shape, SINGLE.shape)
    aval = SINGLE if is_single else ShapedArray(data.shape, dtypes.uint32)
    return from_host(aval, data) if of is None else from_operand(of, aval, data)
