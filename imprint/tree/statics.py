"""Static: the static data of a registered node, compared with its types.

Python says `1 == 1.0 == True` and `0.0 == -0.0`, so a structure that differs in these would
be answered with a program traced for the other. A registered class's static data is
therefore kept in a `Static`, in which two values are the same if they are equal, of one
type, and so are their parts; NaN is the same as NaN.
"""

from collections.abc import Mapping, Set
from typing import Any, final

import numpy as np


@final
class Static:
    """A value that equals only what is the same to the last type."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and _same(self.value, other.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


def _same(a: Any, b: Any) -> bool:
    kind = type(a)  # pyright: ignore[reportUnknownVariableType] - of an Any
    if a is b:
        return True
    if kind is not type(b):
        return False
    if issubclass(kind, tuple | list):
        return len(a) == len(b) and all(map(_same, a, b))
    if issubclass(kind, Mapping):
        return len(a) == len(b) and all(k in b and _same(a[k], b[k]) for k in a)
    if issubclass(kind, Set):
        return a == b and {*map(type, a)} == {*map(type, b)}
    if issubclass(kind, float | complex):
        return repr(a) == repr(b)
    if issubclass(kind, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return bool(a == b)
