"""Writes: what the code of a trace may have bound or changed.

What differs after a trace was written by it, an effect; or, if no code that ran can have
done it, by another thread, and then the trace saw a state that never was as a whole.
"""

from collections.abc import Iterable, Mapping
from types import CellType
from typing import Any, final

from imprint.definition.walk import Effects
from imprint.record.mentions import Mentions
from imprint.watch.places import (
    CellPlace,
    ClassPlace,
    FunctionPlace,
    ItemPlace,
    NamePlace,
    ObjectPlace,
    Place,
)


@final
class Writes:
    """What the code that ran may have bound or changed.

    Args:
        strict: whether the attributes of an object count as its content.
    """

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._attributes = False  # which are content where contents are read
        self._names: set[str] = set()
        self._keys: set[str] = set()
        self._any = False
        self._items = False
        self._imports = False
        self._given: set[int] = set()  # by `id`: who asks knows that they live

    def add(self, mentions: Mentions) -> None:
        """Take in code that starts."""
        self._names |= mentions.stored
        self._keys |= mentions.uses.stored
        self._attributes |= self._strict and bool(mentions.stored)
        self._any |= mentions.stores_any
        self._items |= mentions.changes_items
        self._imports |= bool(mentions.imports)

    def add_library(self, mentions: Mentions, given: Iterable[Any]) -> None:
        """Take in a library's code that starts, and what it is given.

        What it may do to anything, it is taken to do to what it is given.
        """
        self._names |= mentions.stored
        if mentions.stores_any or mentions.changes_items:
            for value in given:
                self._given.add(id(value))
                if type(value) in (tuple, list):
                    self._given.update(map(id, value))

    def may_write(self, place: Place, *, rebinds: bool) -> bool:
        """Tell whether that code can have made another value stand at a place.

        Args:
            place: the place.
            rebinds: whether it is another object, or the same with other contents.
        """
        owner = place.get() if not rebinds else _owner_of(place)
        if id(owner) in self._given:
            return True
        if not rebinds:
            return bool(self._items or self._any or self._keys or self._attributes)
        if isinstance(place, ItemPlace):
            return self._items or self._any or place.name in self._keys
        if place.name in self._names:
            return True
        if isinstance(place, NamePlace):  # an import binds names of modules
            return self._any or self._imports
        return self._any and not isinstance(place, CellPlace)

    def are_own(self, effects: Effects, names: Mapping[int, set[str]]) -> bool:
        """Tell whether that code can have written state of what it captures.

        Args:
            effects: what was written.
            names: those of closure variables, by the `id` of their cell, and of what
                they hold.
        """
        return all(
            self._is_own(owner(), name, names[id(owner())])
            for owner, name in effects
            if id(owner()) in names
        )

    def _is_own(self, owner: Any, name: object, names: set[str]) -> bool:
        if type(owner) is CellType:
            return not self._names.isdisjoint(names)
        changed = self._items or self._keys or self._any or id(owner) in self._given
        return bool(changed) or name in self._names


def _owner_of(place: Place) -> Any:
    """Return what a place is an attribute of; None for a name."""
    if isinstance(place, ObjectPlace):
        return place.owner()
    if isinstance(place, ClassPlace):
        return place.cls
    if isinstance(place, ItemPlace):
        return place.container
    return place.function if isinstance(place, FunctionPlace) else None
