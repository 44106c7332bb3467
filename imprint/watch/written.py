"""Written: what the traces of one function are known to write.

A trace that writes a place each time would be its own reason to trace again, so what is
there does not count. Where there was nothing before, it may be what is worked out once and
kept, as in a table that is filled when it is first asked for: that counts from then on.
"""

from typing import Any, Final, final
from weakref import WeakValueDictionary

from imprint.core.identity import Identity, Pinned, identity
from imprint.definition.walk import NO_EFFECTS, Effects
from imprint.watch.classes import MISSING
from imprint.watch.places import ItemPlace, Key


@final
class Written:
    """What the traces of one function are known to write, for all that they saw.

    Attributes:
        effects: what they write inside values.
        places: the places that they write each time.
        left: what they wrote in dicts and lists where nothing was, by `id` of these.
    """

    __slots__ = ("__weakref__", "_new", "effects", "left", "places")

    def __init__(self, effects: Effects) -> None:
        self.effects: Effects = effects
        self.places: set[Key] = set()
        self.left: dict[int, dict[Key, ItemPlace]] = {}
        self._new: dict[Key, int] = {}  # how often there was nothing before

    def is_effect(self, key: Key, before: Any) -> bool:
        """Tell whether what a trace wrote at a place does not count.

        Where there was nothing before, it may be what is worked out once and kept: that
        counts from then on, until traces have written there more often than a user is
        expected to empty a table.

        Args:
            key: the place's.
            before: what was there.
        """
        is_new = before is MISSING or before is None
        self._new[key] = count = self._new.get(key, 0) + 1
        if not is_new or count > _REFILLS:
            self.places.add(key)
        return key in self.places

    def write_inside(self, key: Key) -> None:
        """Take in that a trace wrote into what is at a place: perhaps what one left there."""
        if key in self._new:
            self.places.add(key)

    def leave(self, place: ItemPlace) -> None:
        """Take in that a trace left something; of the oldest dicts and lists it is lost."""
        self.left.setdefault(id(place.container), {})[place.key] = place
        if len(self.left) > _LEFT:
            del self.left[next(iter(self.left))]

    def take(self, other: "Written") -> None:
        """Take over what traces of another function are known to write."""
        self.effects |= other.effects
        self.places |= other.places
        for places in other.left.copy().values():
            for place in places.copy().values():
                self.leave(place)

    def mark(self) -> tuple[Any, ...]:
        """Return what is known by now, to which `reset` goes back."""
        left = {key: {**places} for key, places in self.left.items()}
        return self.effects, {*self.places}, {**self._new}, left

    def reset(self, mark: tuple[Any, ...]) -> None:
        """Forget what was learnt since, of a trace that does not count."""
        self.effects, self.places, self._new, self.left = mark


_REFILLS: Final = 3
"""How often a place may be written where nothing was, and still count."""
_LEFT: Final = 256
"""Dicts and lists in which something was left: they are kept alive for it."""


def written_by(fun: object) -> Written:
    """Return what the traces of a function are known to write.

    The traces share it: where each counts its calls under a key of its own, what one
    writes would else be a change for the others, which would write in their turn.
    """
    standin, written = identity(fun), Written(NO_EFFECTS)
    if isinstance(standin, Pinned):  # the table would keep the function alive
        return written
    return _written.setdefault(standin, written)


# A table of what is alive, not state: an entry leaves with what the last trace saw.
_written: Final[WeakValueDictionary[Identity, Written]] = WeakValueDictionary()
