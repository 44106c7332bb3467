"""Bits and keys for samplers, dispatched on the implementation of a key.

A key is the result of `single_key`: raw data `uint32[2]` for threefry, the usual case;
an array of keys for other implementations, so that programs, loops and batches know the
implementation.
"""

from importlib import import_module
from typing import Any

from imprint._src.core.aval import Shape
from imprint._src.random import threefry
from imprint._src.random.key_array import PRNGKeyArray


def random_bits(key: Any, width: int, shape: Shape) -> Any:
    """Draw unsigned integers of 8, 16, 32 or 64 bits."""
    if type(key) is not PRNGKeyArray:
        return threefry.random_bits(key, width, shape)
    return other().random_bits(key.data, width, shape)


def split_data(key: Any, shape: Shape) -> Any:
    """Split a key to a `shape` of keys."""
    if type(key) is not PRNGKeyArray:
        return threefry.split_data(key, shape)
    data = other().split_data(key.data, shape, key.implementation)
    return PRNGKeyArray(data, key.implementation)


def fold_data(key: Any, number: Any) -> Any:
    """Fold a number, `uint32[]`, into a key."""
    if type(key) is not PRNGKeyArray:
        return threefry.fold_data(key, number)
    data = other().fold_data(key.data, number, key.implementation)
    return PRNGKeyArray(data, key.implementation)


def row(keys: Any, i: int) -> Any:
    """Return key `i` of an array of keys."""
    if type(keys) is not PRNGKeyArray:
        return threefry.row(keys, i)
    return PRNGKeyArray(threefry.row(keys.data, i), keys.implementation)


def is_batch_invariant(key: Any) -> bool:
    """Return whether a batch of keys gives the same bits as each key alone."""
    return type(key) is not PRNGKeyArray


def other() -> Any:
    """Return the module of the other implementations; it loads lazily."""
    return import_module("imprint._src.random.rbg")
