"""Buckets: how long are the axes of the program that answers a size?

By default the powers of two and their 1.5-fold, from 16 on: so at most a third of a
program's work is on padding once there are 16 elements, and 4,096 sizes have 17 programs.
"""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final

from imprint._src.diagnostics.source import warn
from imprint._src.errors import ArgumentError
from imprint._src.jit.calls.options import Buckets

LEAST_BUCKET: Final = 16


def bucket_of(buckets: Buckets, name: str, size: int, function: str) -> int:
    """Return the length of the bucket in which a size is.

    Args:
        buckets: what `jit` was given.
        name: the name of the axis.
        size: its size.
        function: the function's name.

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
    told = function, name, found, tuple(buckets)
    if told not in _told:
        _told.add(told)
        warn(
            f"{function}: expected sizes of {name} up to the last bucket, {last}, got "
            f"{size}: a bucket of {found} is added. Put it into buckets=, or use 'pow2'."
        )
    return found


_told: Final[set[tuple[Any, ...]]] = set()
"""The buckets of which was told that they were added."""


def _called(buckets: Callable[[int], int], name: str, size: int, function: str) -> int:
    found: Any = buckets(size)
    if type(found) is not int or found < size:
        raise ArgumentError(
            f"{function}: expected buckets({size}), for a size of {name}, to be a whole "
            f"number of at least {size}, got {found!r}. Round up: "
            "lambda n: -(-n // 64) * 64."
        )
    return found
