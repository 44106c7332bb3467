"""Naming: which axes have names that nobody gave them?

With `config.generalise` at "auto", the calls of a function that are alike but for their
sizes are laid side by side. An axis that had three sizes has a name; axes that always had
the same size have the same one. Sizes of 0 and 1 are not counted: they broadcast, and
calls with them are compiled by themselves. Whether a program for the names is as good as
one for the size is tried in `jitted.trial`.
"""

from collections.abc import Hashable, Iterable
from typing import Any, Final, TypeAlias, final

from imprint._src.jit.calls.axes import NamedAxis
from imprint._src.jit.calls.key import CallKey, PackedKey

Shapes: TypeAlias = tuple[tuple[int, ...], ...]
LEAST: Final = 2
"""The least size of an axis that has a name by itself."""
_SIZES: Final = 3
_NAMES: Final = ("n", "m", "k")


@final
class AxisNames:
    """Which axes have names, in the calls of one definition."""

    __slots__ = ("_axes", "_proposed")

    def __init__(self) -> None:
        self._axes: dict[Hashable, tuple[NamedAxis, ...]] = {}
        self._proposed: set[Hashable] = set()

    def of(self, key: PackedKey) -> tuple[NamedAxis, ...]:
        """Return the axes of a call that have names."""
        return self._axes.get(_alike(CallKey.unpack(key)), ()) if self._axes else ()

    def propose(self, key: PackedKey, known: Iterable[PackedKey]) -> bool:
        """Name the axes of a call that had three sizes; tell whether that is news.

        Args:
            key: the key of the call.
            known: the keys of the calls that have versions.
        """
        call = CallKey.unpack(key)
        alike = _alike(call)
        calls = [x for x in map(CallKey.unpack, known) if _alike(x) == alike]
        rows = [
            *filter(None, map(_shapes, calls)),
            tuple([a.shape for a in call.avals]),
        ]
        entries = named_axes(rows)
        if not entries or (alike, entries) in self._proposed:
            return False
        self._proposed.add((alike, entries))
        self._axes[alike] = entries
        return True

    def restore(self, key: PackedKey, entries: tuple[NamedAxis, ...]) -> None:
        """Let the axes of a call have the names that they had."""
        self._axes[_alike(CallKey.unpack(key))] = entries


def _alike(key: CallKey) -> Hashable:
    """Return what is the same in calls that differ in their sizes alone."""
    avals = [(a.ndim, a.dtype, a.weak_type) for a in key.avals]
    return *key[:4], key.axes, *avals


def _shapes(key: CallKey) -> Shapes | None:
    """Return the shapes of a call; None if it stands for a bucket."""
    shapes: tuple[tuple[Any, ...], ...] = tuple([aval.shape for aval in key.avals])
    return shapes if all(type(n) is int for x in shapes for n in x) else None


def named_axes(rows: list[Shapes]) -> tuple[NamedAxis, ...]:
    """Return the axes that had three sizes, with their names.

    Args:
        rows: the shapes of the arguments in each call, those of this one last.
    """
    columns = {
        (leaf, axis): [shapes[leaf][axis] for shapes in rows]
        for leaf, shape in enumerate(rows[-1])
        for axis in range(len(shape))
    }
    varied = {
        at: sizes
        for at, sizes in columns.items()
        if len({n for n in sizes if n >= LEAST}) >= _SIZES
    }
    if any(sizes[-1] < LEAST for sizes in varied.values()):
        return ()
    counted = [
        i for i in range(len(rows)) if all(x[i] >= LEAST for x in varied.values())
    ]
    names: dict[tuple[int, ...], str] = {}
    found: list[NamedAxis] = []
    for (leaf, axis), sizes in varied.items():
        together = tuple([sizes[i] for i in counted])
        name = names.setdefault(together, _name(len(names)))
        found.append(NamedAxis(leaf, axis, name))
    return tuple(found)


def _name(number: int) -> str:
    return _NAMES[number] if number < len(_NAMES) else f"n{number}"
