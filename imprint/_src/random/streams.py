"""Bits and keys of a key of any implementation: what samplers are written with.

A key is here what `single_key` returns: raw data `uint32[2]` for threefry, which most keys
are of; an array of keys for the other implementations, so that programs, loops and batches
know which one it is.
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
    """Make keys of `shape` from one."""
    if type(key) is not PRNGKeyArray:
        return threefry.split_data(key, shape)
    data = other().split_data(key.data, shape, key.implementation)
    return PRNGKeyArray(data, key.implementation)


def fold_data(key: Any, number: Any) -> Any:
    """Make one key from one and a number, `uint32[]`."""
    if type(key) is not PRNGKeyArray:
        return threefry.fold_data(key, number)
    data = other().fold_data(key.data, number, key.implementation)
    return PRNGKeyArray(data, key.implementation)


def row(keys: Any, i: int) -> Any:
    """Return key `i` of an array of keys."""
    if type(keys) is not PRNGKeyArray:
        return threefry.row(keys, i)
    return PRNGKeyArray(threefry.row(keys.data, i), keys.implementation)


def makes_bits_of_batches(key: Any) -> bool:
    """Tell whether a batch of keys has the bits that each of them has alone."""
    return type(key) is not PRNGKeyArray


def other() -> Any:
    """Return the module of the implementations that are not threefry; few need it."""
    return import_module("imprint._src.random.rbg")
