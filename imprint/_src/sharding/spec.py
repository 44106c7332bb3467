"""Partition specs: which axes of a mesh split which axes of an array.

A `PartitionSpec` has one entry for each axis of an array, from the first: the name of a
mesh axis, a tuple of names of which the first is the slowest, None where the axis stays
whole, or `P.UNCONSTRAINED` where the compiler may choose. Axes beyond its length are
whole. It has no mesh, so names are checked when it is combined with one.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias, cast, final

from imprint._src.errors import ArgumentError


@final
class Unconstrained:
    """The entry of an array axis that the compiler may split as it likes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNCONSTRAINED"

    def __reduce__(self) -> str:
        return "UNCONSTRAINED"


UNCONSTRAINED: Final = Unconstrained()

Entry: TypeAlias = str | tuple[str, ...] | Unconstrained | None
"""The entry of a spec for one axis of an array."""


@final
class PartitionSpec:
    """Which axes of a mesh split which axes of an array; also under the name `P`.

    Args:
        partitions: for each axis of the array a name, a tuple of names, None or
            `P.UNCONSTRAINED`.

    Example:
        >>> from imprint import P
        >>> P("data", None), P(("data", "model")), P()
        (P('data', None), P(('data', 'model')), P())
        >>> P("data", None)[0]
        'data'
    """

    __slots__ = ("partitions",)

    UNCONSTRAINED: Final = UNCONSTRAINED

    partitions: tuple[Entry, ...]

    def __init__(self, *partitions: Any) -> None:
        entries = tuple(map(_entry, partitions))
        object.__setattr__(self, "partitions", entries)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"PartitionSpec is immutable; cannot set {name!r}")

    def __len__(self) -> int:
        return len(self.partitions)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.partitions)

    def __getitem__(self, at: Any) -> Any:
        return cast("Any", self.partitions)[at]

    def __add__(self, other: Any) -> "PartitionSpec":
        if not isinstance(other, PartitionSpec | tuple):
            return NotImplemented
        return PartitionSpec(*self.partitions, *other)

    def __radd__(self, other: Any) -> "PartitionSpec":
        if not isinstance(other, tuple):
            return NotImplemented
        return PartitionSpec(*other, *self.partitions)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PartitionSpec):
            return self.partitions == other.partitions
        if isinstance(other, tuple):
            return self.partitions == tuple(map(_entry, cast("tuple[Any, ...]", other)))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.partitions)

    def __repr__(self) -> str:
        return f"P({', '.join(map(repr, self.partitions))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return PartitionSpec, self.partitions

    def index(self, value: Any) -> int:
        """Return the first axis of the array with this entry."""
        return self.partitions.index(_entry(value))

    def count(self, value: Any) -> int:
        """Return how many axes of the array have this entry."""
        return self.partitions.count(_entry(value))

    def update(self, partitions: Any) -> "PartitionSpec":
        """Return a spec with other entries."""
        return PartitionSpec(*partitions)

    @property
    def is_unconstrained(self) -> bool:
        """Whether an entry leaves the choice to the compiler."""
        return UNCONSTRAINED in self.partitions


P = PartitionSpec
"""The short name of `PartitionSpec`."""


def names_of(entry: Entry) -> tuple[str, ...]:
    """Return the mesh axes that an entry names, the slowest first."""
    if isinstance(entry, tuple):
        return entry
    return (entry,) if isinstance(entry, str) else ()


def _entry(given: Any) -> Entry:
    if given is None or given is UNCONSTRAINED or isinstance(given, str):
        return given
    several = isinstance(given, tuple | list)
    names: tuple[Any, ...] = tuple(cast("list[Any]", given)) if several else (0,)
    if all(isinstance(name, str) for name in names):
        return names if len(names) > 1 else names[0] if names else None
    raise ArgumentError(
        "PartitionSpec: expected names of mesh axes, tuples of them, None or "
        f"P.UNCONSTRAINED, got {given!r}. Write P('x', None), or P(('x', 'y')) for two "
        "mesh axes that split one axis of an array."
    )
