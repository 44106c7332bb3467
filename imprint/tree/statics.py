"""Static: the static data of a registered node, compared with its types.

Python says `1 == 1.0 == True` and `0.0 == -0.0`, so a structure that differs in these would
be answered with a program traced for the other. A registered class's static data is
therefore kept in a `Static`, in which two values are the same if they are equal, of one
type, and so are their parts; NaN is the same as NaN. Who registers a class may say
better what each value is compared by.
"""

from collections.abc import Callable, Hashable, Mapping, Set
from typing import Any, TypeAlias, final

import numpy as np

from imprint.errors import ArgumentError

Exact: TypeAlias = Callable[[Any], Hashable]
"""Gives what a value is compared by, or raises `ArgumentError`."""


@final
class Static:
    """A value that equals only what is the same to the last type.

    Args:
        value: the value.
        exact: what to compare its items by; then it is a tuple.
    """

    __slots__ = ("exact", "key", "value")

    def __init__(self, value: Any, exact: Exact | None = None) -> None:
        self.value = value
        self.exact = exact
        self.key = None if exact is None else _key(value, exact)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static):
            return False
        if self.key is None or other.key is None or self.exact is None:
            return _same(self.value, other.value)
        if self.key != other.key:
            return False
        # One will stand for the other, so they must still be the same: the variables of
        # a closure may have changed since.
        pairs = zip(self.value, other.value, strict=True)
        return all(a is b or self.exact(a) == self.exact(b) for a, b in pairs)

    def __hash__(self) -> int:
        return hash(self.value if self.key is None else self.key)

    def __repr__(self) -> str:
        return repr(self.value)


def _key(values: tuple[Any, ...], exact: Exact) -> tuple[Hashable, ...] | None:
    try:
        return tuple(map(exact, values))
    except ArgumentError:  # a list, perhaps: it can be compared, but is no key
        return None


def _same(a: Any, b: Any) -> bool:
    kind = type(a)  # pyright: ignore[reportUnknownVariableType] - of an Any
    if a is b:
        return True
    if kind is not type(b):
        return False
    if issubclass(kind, tuple | list):
        return len(a) == len(b) and all(map(_same, a, b))
    if issubclass(kind, Mapping):
        return _same_members(a, b) and all(_same(a[k], b[k]) for k in a)
    if issubclass(kind, Set):
        return _same_members(a, b)
    if issubclass(kind, float | complex | np.inexact):
        return repr(a) == repr(b)
    if issubclass(kind, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return bool(a == b) and all(
        _same(getattr(a, f.name), getattr(b, f.name))
        for f in getattr(a, "__dataclass_fields__", {}).values()
        if f.compare and hasattr(a, f.name)
    )


def _same_members(a: Any, b: Any) -> bool:
    held = {x: x for x in b}
    return len(a) == len(held) and all(x in held and _same(x, held[x]) for x in a)
