"""The ways in which keys make random bits, by JAX's names.

Which one a key is of is part of its dtype, and so of the type of each program that takes
it. What each does is in `threefry` and in `rbg`.
"""

from typing import Any, Final, NamedTuple

from imprint._src.config import settings
from imprint._src.errors import ArgumentError, did_you_mean


class Implementation(NamedTuple):
    """A way in which keys make random bits.

    Args:
        name: by which `key` takes it.
        tag: what stands for it in the name of the dtype.
        words: how many words a key has.
    """

    name: str
    tag: str
    words: int


THREEFRY: Final = Implementation("threefry2x32", "fry", 2)
RBG: Final = Implementation("rbg", "rbg", 4)
UNSAFE_RBG: Final = Implementation("unsafe_rbg", "urbg", 4)

BY_NAME: Final = {x.name: x for x in (THREEFRY, RBG, UNSAFE_RBG)}
"""Each of them, by its name."""


def default_implementation() -> Implementation:
    """Return that of new keys, which the flag `default_prng_impl` names."""
    return BY_NAME[settings().default_prng_impl]


def implementation_of(name: str, given: Any) -> Implementation:
    """Return the implementation that the function `name` was given.

    Args:
        name: the function, for errors.
        given: a name, the dtype of keys, or None for the default.
    """
    if given is None:
        return default_implementation()
    known = getattr(given, "implementation", None)
    if isinstance(known, Implementation):
        return known
    if isinstance(given, str) and given in BY_NAME:
        return BY_NAME[given]
    raise ArgumentError(
        f"{name}: expected impl to be one of {list(BY_NAME)}, or None, got {given!r}."
        f"{did_you_mean(str(given), BY_NAME)} None stands for the flag "
        "default_prng_impl."
    )
