"""Names for axes that `abstracted_axes` does not name.

With `config.generalise` at "auto", calls of a function that differ only in sizes are
compared. An axis that had three sizes gets a name; axes whose sizes were always equal get
the same name. Sizes 0 and 1 are ignored: they broadcast, and calls with them have their
own programs. `bucket_dispatch` checks that the named program gives equal results.
"""

from collections.abc import Hashable, Iterable
from typing import Any, Final, TypeAlias, final

from imprint._src.jit.calls.axes import AxisEntry
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
        self._axes: dict[Hashable, tuple[AxisEntry, ...]] = {}
        self._proposed: set[Hashable] = set()

    def of(self, key: PackedKey) -> tuple[AxisEntry, ...]:
        """Return the axes of a call that have names."""
        return self._axes.get(_alike(CallKey.unpack(key)), ()) if self._axes else ()

    def propose(self, key: PackedKey, known: Iterable[PackedKey]) -> bool:
        """Name the axes of a call that had three sizes; return whether names are new.

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

    def restore(self, key: PackedKey, entries: tuple[AxisEntry, ...]) -> None:
        """Restore the names of the axes of a call."""
        self._axes[_alike(CallKey.unpack(key))] = entries


def _alike(key: CallKey) -> Hashable:
    """Return a key that calls share which differ only in sizes."""
    avals = [(a.ndim, a.dtype, a.weak_type) for a in key.avals]
    return *key[:4], key.axes, *avals


def _shapes(key: CallKey) -> Shapes | None:
    """Return the shapes of a call; None for a bucket program."""
    shapes: tuple[tuple[Any, ...], ...] = tuple([aval.shape for aval in key.avals])
    return shapes if all(type(n) is int for x in shapes for n in x) else None


def named_axes(rows: list[Shapes]) -> tuple[AxisEntry, ...]:
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
    found: list[AxisEntry] = []
    for (leaf, axis), sizes in varied.items():
        together = tuple([sizes[i] for i in counted])
        name = names.setdefault(together, _name(len(names)))
        found.append(AxisEntry(leaf, axis, name))
    return tuple(found)


def _name(number: int) -> str:
    return _NAMES[number] if number < len(_NAMES) else f"n{number}"
