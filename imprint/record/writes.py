"""Writes: what the code of a trace may have bound or changed.

What differs after a trace was written by it, an effect; or, if no code that ran can have
done it, by another thread, and then the trace saw a state that never was as a whole.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from types import CellType, ModuleType
from typing import Any, Final, final

import numpy as np

from imprint.core.identity import Standin, ids_of, module_name
from imprint.core.libraries import (
    is_user_class,
    is_user_namespace,
    module_namespace,
)
from imprint.definition.layout import CHAIN
from imprint.definition.share import is_one_more
from imprint.definition.walk import Effects, Name
from imprint.record.mentions import Mentions
from imprint.watch.classes import bases_of, class_of
from imprint.watch.places import (
    CONTENT,
    KEYS,
    CellPlace,
    ClassPlace,
    FunctionPlace,
    ItemPlace,
    NamePlace,
    ObjectPlace,
    Place,
    SpecialsPlace,
    ValuePlace,
)

_PARTS: Final[dict[int, Callable[[Any], Iterable[Any]]]] = {
    id(tuple): iter,
    id(list): iter,
    id(dict): lambda held: held.values(),
}
"""What is in a container, by the `id` of its class."""
_UNOWNED: Final = ids_of(int, bool, float, str, type(None), np.ndarray)
"""Classes, among the most frequent, in whose instances no place is that is bound."""
_BUILTINS: Final = frozenset(sys.builtin_module_names)


@final
class Writes:
    """What the code that ran may have bound or changed."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._keys: set[str] = set()
        self._any = False
        self._any_global = False
        self._items = False
        self._grown: set[str] = set()
        self._imports = False
        self._of_libraries: set[str] = set()
        self._items_of_libraries = False
        self._given: set[int] = set()  # by `id`: who asks knows that they live

    def add(self, mentions: Mentions) -> None:
        """Take in code that starts."""
        self._names |= mentions.stored
        self._keys |= mentions.uses.stored
        self._any |= mentions.stores_any
        self._any_global |= mentions.reads_module
        self._items |= mentions.changes_items
        self._grown |= mentions.grown
        self._imports |= bool(mentions.imports)

    def add_library(self, mentions: Mentions) -> None:
        """Take in a library's code that starts: by name it writes into what is its own."""
        self._of_libraries |= mentions.stored
        self._items_of_libraries |= mentions.changes_items or bool(
            mentions.uses.stored or mentions.grown
        )

    def add_given(self, given: Collection[Any]) -> None:
        """Take in what a library's code is given that may change anything.

        What it may do to anything, it is taken to do to that.
        """
        for value in given:
            kind = class_of(value)
            if id(kind) in _UNOWNED:
                continue
            self._given.add(id(value))
            parts = _PARTS.get(id(kind))
            if parts is not None:
                self._given.update(map(id, parts(value)))
            elif issubclass(kind, ModuleType):
                self._given.add(id(module_namespace(value)))

    def give(self, containers: Iterable[Any], kept: Iterable[int]) -> None:
        """Take in containers that code may change which does not name them.

        Args:
            containers: those that it changes by methods of theirs, as by `put(1)`.
            kept: what objects of libraries lead to, by `id`: their code writes items there.
        """
        self._given.update(map(id, containers))
        if self._items_of_libraries:
            self._given.update(kept)

    def may_bind(self, place: Place, *, was_missing: bool) -> bool:
        """Tell whether that code can have bound a place to another value.

        Args:
            place: the place.
            was_missing: whether nothing was there before.
        """
        owner = _owner_of(place)
        if id(owner) in self._given:
            return True
        if isinstance(place, ItemPlace):
            return self._items or self._any or place.name in self._keys
        if isinstance(place, NamePlace):
            if place.name in self._names or self._any_global:
                return True
            if is_user_namespace(owner):  # an import binds what is not there yet
                return self._imports and was_missing
            return was_missing or place.name in self._of_libraries
        if isinstance(place, CellPlace):
            return place.name in self._names
        if isinstance(place, ValuePlace):  # no name leads to it
            return False
        return self._may_set(owner, place.name)

    def may_change(self, effects: Effects, names: Mapping[int, set[str]]) -> bool:
        """Tell whether that code can have written all this state.

        Args:
            effects: what was written.
            names: those of closure variables, by the `id` of their cell.
        """
        return all(self._may_change(owner(), name, names) for owner, name in effects)

    def _may_change(
        self, owner: Any, name: Name, names: Mapping[int, set[str]]
    ) -> bool:
        if id(owner) in self._given or self._any:
            return True
        kind = class_of(owner)
        if kind is CellType:
            known = names.get(id(owner))
            return known is None or not self._names.isdisjoint(known)
        if issubclass(kind, np.ndarray):  # by functions in C, which are given it
            return True
        if type(name) is str:
            return self._may_set(owner, name)
        if name is not None and name[0] == "key" and type(name[1]) is str:
            return self._items or name[1] in self._keys
        return bool(self._items or self._keys or self._names)  # `self.losses += [1]`

    def is_count(self, place: Place, was: Any, now: Any) -> bool:
        """Tell whether a place has a count that this code, which names it, keeps."""
        stored = self._keys if isinstance(place, ItemPlace) else self._names
        return place.name in stored and is_one_more(was, now)

    def own_counts(self, counts: Effects, names: Mapping[int, set[str]]) -> Effects:
        """Return those of some counts that this code, which names them, keeps.

        Args:
            counts: numbers that went on by one, lists that have one more item.
            names: those of closure variables and lists, by the `id` of cell or list.
        """
        return frozenset(each for each in counts if self._names_count(*each, names))

    def _names_count(
        self, owner: Standin, name: Name, names: Mapping[int, set[str]]
    ) -> bool:
        if type(name) is str:
            return name in self._names
        if name is not None and name[0] == "key":
            return name[1] in self._keys
        known = names.get(id(owner()), set[str]())
        return not known.isdisjoint(self._names if name is None else self._grown)

    def _may_set(self, owner: Any, name: str) -> bool:
        """Tell whether that code can have set an attribute."""
        if self._any or name in self._names or name in CHAIN:  # Python writes the last
            return True
        if name == "__dict__":  # which names there are
            return bool(self._names)
        if name in {CONTENT, KEYS}:
            return bool(self._items or self._keys or self._names)  # `l += [1]`
        cls = owner if issubclass(class_of(owner), type) else class_of(owner)
        return name in self._of_libraries and not is_all_users(cls)


def is_all_users(cls: type) -> bool:
    """Tell whether a class has nothing of a library's that is written in Python."""
    return all(
        is_user_class(base) or module_name(base) in _BUILTINS for base in bases_of(cls)
    )


def _owner_of(place: Place) -> Any:
    """Return what a place is in."""
    if isinstance(place, ObjectPlace):
        return place.owner()
    if isinstance(place, ClassPlace | SpecialsPlace):
        return place.cls
    if isinstance(place, ItemPlace):
        return place.container
    if isinstance(place, NamePlace):
        return place.namespace
    return place.function if isinstance(place, FunctionPlace) else None
