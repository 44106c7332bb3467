"""Noted places: at which names of which owners a trace may have read.

A name that code mentions makes a place of each owner that has it; an owner that is met
waits for its names to be mentioned. So a place is noted once, when both are known, and
before code that mentions the name runs.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Final, TypeAlias, cast

import numpy as np

from imprint.core.identity import ids_of
from imprint.core.libraries import (
    holds,
    is_module,
    is_user,
    is_user_class,
    is_user_function,
)
from imprint.core.trace import Tracer
from imprint.definition.layout import layout_of
from imprint.record.items import ItemUses
from imprint.record.owners import ATOMS, Owners
from imprint.record.parts import (
    is_opaque,
    path_of,
)
from imprint.watch.captures import is_by_texts, places_of
from imprint.watch.classes import (
    MISSING,
    bases_of,
    class_attribute,
    class_namespace,
)
from imprint.watch.places import (
    ClassPlace,
    FunctionPlace,
    ItemPlace,
    Key,
    NamePlace,
    ObjectPlace,
    Place,
)
from imprint.watch.seen import Read, Seen, class_of
from imprint.watch.written import Written

PLAIN: Final = ATOMS | ids_of(str, np.ndarray, np.bool_, np.int64, np.float64)
"""Classes of results, among the most frequent, that hold nothing of the user's."""
OF_FUNCTIONS: Final = frozenset(
    (
        *("__annotations__", "__closure__", "__code__", "__defaults__", "__doc__"),
        *("__globals__", "__kwdefaults__", "__module__", "__name__", "__qualname__"),
        *("__dict__", "__type_params__"),
    )
)

_OF_TOKENS: Final = frozenset(
    ("__closure__", "__code__", "__defaults__", "__kwdefaults__")
)
"""What a function's token covers, of that."""
OF_CLASSES: Final = frozenset(("__name__", "__qualname__", "__subclasses__"))

_BY_KEY: Final = (NamePlace, ObjectPlace, ClassPlace, ItemPlace)

_get: Final = cast("Any", dict).get
Noter: TypeAlias = Callable[["Noted", Any, str, str], None]


@dataclass(slots=True)
class _Items:
    """Dicts of which items are read, by constant keys; by id: kept alive.

    Those of a class of the user's may have methods that are given the keys.
    """

    keys: set[str] = field(default_factory=set[str])
    texts: set[str] = field(default_factory=set[str])
    of_modules: set[str] = field(default_factory=set[str])
    asks_modules: bool = False
    held: set[str] = field(default_factory=set[str])
    """Names in texts that values hold."""
    given: list[tuple[dict[str, Any], str]] = field(
        default_factory=list[tuple[dict[str, Any], str]]
    )
    whole: tuple[set[str], set[str]] = field(
        default_factory=lambda: (set[str](), set[str]())
    )
    """Names that are used otherwise, by the user's code and by libraries'."""
    places: dict[str, list[Place]] = field(default_factory=dict[str, list[Place]])
    dicts: dict[int, tuple[dict[str, Any], str]] = field(
        default_factory=dict[int, tuple[dict[str, Any], str]]
    )


@dataclass(slots=True)
class _Waiting:
    """Which owners have a name, until it is mentioned; `own`: in the user's code."""

    owners: dict[str, list[tuple[Noter, Any, str]]] = field(
        default_factory=dict[str, "list[tuple[Noter, Any, str]]"]
    )
    own: dict[str, list[tuple[Any, str]]] = field(
        default_factory=dict[str, list[tuple[Any, str]]]
    )


class Noted(ABC):
    """The places of one trace, by name.

    Args:
        written: what earlier traces of the function are known to write.
        strict: whether libraries and the contents of arrays and objects count.
    """

    def __init__(self, written: Written, *, strict: bool) -> None:
        self.reads: dict[Key, Read] = {}
        self._taken: set[Key] = set()  # of other traces: nothing was met there
        self.names: set[str] = set()
        self._own_names: set[str] = set()
        self.written: Written = written
        self._strict = strict
        self._waiting = _Waiting()
        self._items = _Items()
        self.owners: Owners = Owners()
        self.is_passing: bool = False
        self.captured: Mapping[int, FunctionType] = {}
        self.absent: frozenset[str] = frozenset()
        self._static: set[int] = set()  # what static arguments lead to, by `id`

    @abstractmethod
    def meet(self, value: Any, path: str) -> None:
        """Take in a value that the trace can come to."""

    @abstractmethod
    def meet_namespace(self, namespace: dict[str, Any]) -> None:
        """Take in the dictionary of a module that code reads itself."""

    @abstractmethod
    def knows(self, value: Any) -> bool:
        """Tell whether a value was met."""

    @abstractmethod
    def is_of_passing(self, value: Any) -> bool:
        """Tell whether nothing that is noted leads to a value."""

    @abstractmethod
    def _stands(self, value: Any) -> None:
        """Take in that a value stands at a place."""

    # ---- names ----

    def mention(self, names: Iterable[str], *, by_library: bool = False) -> None:
        """Take in names by which code that starts now can read."""
        if not by_library:
            self._mention_own(names)
        new = frozenset(names) - self.names
        self.names |= new
        waiting = self._waiting.owners
        for name in [name for name in new if name in waiting]:
            for note, owner, path in waiting.pop(name, ()):
                note(self, owner, name, path)
        for namespace in tuple(self.owners.modules.values()) if new else ():
            for name in [name for name in new if holds(namespace, name)]:
                self.name(namespace, name)

    def _mention_own(self, names: Iterable[str]) -> None:
        """Take in names in the user's code: the objects of libraries count too."""
        for name in frozenset(names) - self._own_names:
            self._own_names.add(name)
            for value, path in self._waiting.own.pop(name, ()):
                note_named(self, value, name, path)
            self._mention_held(name)
            if name in OF_FUNCTIONS:
                for function in tuple(self.owners.functions):
                    note_function(self, function, name, "")
            if name in OF_CLASSES:
                for cls in tuple(self.owners.made.values()):
                    self.class_attribute(cls, name)
            for full in _modules_of(name):
                module: Any = sys.modules.get(full)
                if is_module(module) and (self._strict or is_user(module)):
                    self.name(sys.modules, full)

    def _meet_names(self, cls: type) -> None:
        """Take in what a class is called, which it does not hold as an attribute."""
        if id(cls) not in self.owners.made:
            self.owners.made[id(cls)] = cls
            for name in OF_CLASSES & self._own_names:
                self.class_attribute(cls, name)

    def _meet_library(self, names: Mapping[str, Any]) -> None:
        """Take in what a library's module or class holds, for objects of the user's."""
        if id(names) not in self.owners.libraries:
            self.owners.libraries[id(names)] = names
            for name in [name for name in self._own_names if name in names]:
                self.meet(names[name], name)

    def _mention_held(self, name: str) -> None:
        """Take in what libraries hold under a name."""
        for held in tuple(self.owners.libraries.values()):
            if name in held:
                self.meet(held[name], name)

    def _wait(self, note: Noter, owner: Any, names: Iterable[str], path: str) -> None:
        """Note places of an owner whose names are mentioned, now or later."""
        mentioned, waiting = self.names, self._waiting.owners
        for name in names:
            if name in mentioned:
                note(self, owner, name, path)
            else:
                waiting.setdefault(name, []).append((note, owner, path))

    def _wait_own(self, value: Any, names: Iterable[str], path: str) -> None:
        """Note attributes of a library's object that the user's code mentions."""
        for name in names:
            if name in self._own_names:
                note_named(self, value, name, path)
            else:
                self._waiting.own.setdefault(name, []).append((value, path))

    def _hold(self, names: Mapping[str, Any], place: Callable[[str], Place]) -> None:
        """Remember how many names an owner has; see `Owners.holders`."""
        self.owners.holders.append((names, len(names), place))

    # ---- places ----

    def take(self, read: Read) -> None:
        """Take over what another trace read, unless it is noted.

        Code of this trace that reads the same place may read further. Of a strict trace
        what is inside counts, which this one did not look at.
        """
        key = read.place.key
        known = self.reads.get(key)
        if known is None:
            self.reads[key] = read
            self._taken.add(key)
        elif read.seen.strict and not known.seen.strict:
            self.reads[key] = read

    def is_noted(self, key: Key) -> bool:
        """Tell whether code of this trace read a place."""
        return key in self.reads and key not in self._taken

    def place(self, place: Place, before: Any = MISSING) -> Any:
        """Note a place once, with its value before; return its value now."""
        value = place.get()
        key = place.key
        if not self.is_noted(key):
            self.note(place, key, value, value if before is MISSING else before)
        elif self.owners.unnamed:
            self.meet(value, path_of(place))
        return value

    def note(self, place: Place, key: Key, value: Any, before: Any) -> None:
        """Note a place that is not noted yet, at which a value stands now."""
        is_read = key in self.reads  # by another trace, and before this one could write
        self._taken.discard(key)
        kind = class_of(value)
        if id(kind) in ATOMS or is_opaque(value, kind):
            if not is_read:
                self._read(place, key, before)
            return  # it leads to nothing
        self._stands(value)
        if before is value and self._is_by_key(place, value):
            if not is_read:
                self.reads[key] = Read(place, Seen.as_itself(value))
            self._items.places.setdefault(place.name, []).append(place)
            self.owners.leads(place, value)
            self._meet_items(value, path_of(place))
            return
        by_items = is_read and kind is dict and not self.reads[key].seen.inside
        if by_items or not is_read:
            self._read(place, key, before)
        self.owners.leads(place, value)
        if self.owners.unnamed or not self.knows(value):
            self.meet(value, path_of(place))

    def note_left(self, seen: Seen) -> None:
        """Note what earlier traces left in what is seen, where it is an effect of theirs."""
        left = self.written.left
        for owner in seen.owners() if left else ():
            for key, place in left.get(owner, {}).copy().items():
                if key not in self.written.places:
                    self.place(place)
                    self.reads[key].seen.is_left = True

    def _read(self, place: Place, key: Key, value: Any) -> None:
        is_static = isinstance(place, ObjectPlace) and id(place.owner()) in self._static
        if is_static:
            self._static.add(id(value))
        seen = Seen(value, self.written, strict=self._strict, is_static=is_static)
        if seen.inside:
            seen.note_parts()
        self.reads[key] = Read(place, seen)
        self.note_left(seen)

    def name(self, namespace: dict[str, Any], name: str) -> Any:
        """Note a name of a module."""
        value = _get(namespace, name, MISSING)
        key = "global", id(namespace), name
        if not self.is_noted(key):
            place = NamePlace(namespace, name, is_builtin=value is MISSING)
            if id(namespace) in self.owners.own:
                note_own(self, place)
            else:
                self.place(place)
        return value

    def reach_bases(self) -> None:
        """Take in that code asks for `super()`, which sees what classes hide."""
        if not self.owners.asks_super:
            self.owners.asks_super = True
            for key, names in self.owners.of_classes.copy().items():
                for name in tuple(names) if key in self.owners.made else ():
                    note_overridden(self, self.owners.made[key], name)

    def class_attribute(self, cls: type, name: str) -> Any:
        """Note what a class answers under a name."""
        return self.place(ClassPlace(cls, name))

    # ---- dicts that are read by constant keys ----

    def _is_by_key(self, place: Place, value: Any) -> bool:
        """Tell whether only items of what stands at a place are read, by their keys."""
        return (
            class_of(value) is dict
            and not self._strict
            and isinstance(place, _BY_KEY)
            and place.name not in self._items.whole[False]
            and (
                isinstance(place, NamePlace)
                or place.name not in self._items.whole[True]
            )
            and is_by_texts(value)
        )

    def use(self, uses: ItemUses) -> None:
        """Take in how code that starts now uses items."""
        for key in uses.keys - self._items.keys:
            self._items.keys.add(key)
            for held, path in tuple(self._items.dicts.values()):
                self.place(ItemPlace(held, key, path))
        if self._items.asks_modules:
            self.use_in_modules(filter(str.isidentifier, uses.texts))
        for key in uses.texts - self._items.texts:
            self._items.texts.add(key)
            for held, path in tuple(self._items.given):
                self.place(ItemPlace(held, key, path))
        self.use_whole(uses.whole)

    def ask_modules(self) -> None:
        """Take in that code asks for names by any text: a module may come to have it."""
        self._items.asks_modules = True
        self.use_in_modules(filter(str.isidentifier, self._items.texts))
        self.use_in_modules(self._items.held)

    def use_held(self, names: Iterable[str]) -> None:
        """Take in names in a text that a value holds: code may ask modules for them."""
        self._items.held.update(names)
        if self._items.asks_modules:
            self.use_in_modules(names)

    def use_in_modules(self, names: Iterable[str]) -> None:
        """Take in texts by which code may ask for names of modules."""
        for name in frozenset(names) - self._items.of_modules:
            self._items.of_modules.add(name)
            for namespace in tuple(self.owners.modules.values()):
                self.name(namespace, name)

    def use_whole(self, names: Iterable[str], *, by_library: bool = False) -> None:
        """Take in names whose values are used otherwise than by a constant key.

        A library names attributes, and no global of the user's.
        """
        whole = self._items.whole[by_library]
        new = frozenset(names) - whole
        whole |= new
        for name in [name for name in new if name in self._items.places]:
            found = self._items.places.pop(name, [])
            if by_library:
                kept: list[Place] = [
                    place for place in found if isinstance(place, NamePlace)
                ]
                found = [place for place in found if not isinstance(place, NamePlace)]
                self._items.places[name] = kept
            for place in found:
                value = place.get()
                self._read(place, place.key, value)
                self.meet(value, path_of(place))

    def _meet_items(self, value: dict[str, Any], path: str) -> None:
        if id(value) not in self._items.dicts:
            self._items.dicts[id(value)] = value, path
            keys = {*self._items.keys}
            if class_of(value) is not dict:
                self._items.given.append((value, path))
                keys |= self._items.texts
            for key in keys:
                self.place(ItemPlace(value, key, path))


# ---- what is done when a name of an owner is mentioned ----


def note_own(notes: Noted, place: NamePlace) -> None:
    """Note what a module of imprint has under a name: it, or what a user put there.

    What imprint keeps for itself leads to the tables in which it notes this very trace.
    """
    value = place.get()
    note_itself(notes, place)
    if is_module(value) or is_user_function(value):
        notes.meet(value, place.name)


def note_itself(notes: Noted, place: Place) -> None:
    """Note what stands at a place, whatever is inside."""
    if place.key not in notes.reads:
        notes.reads[place.key] = Read(place, Seen.as_itself(place.get()))


def note_overridden(notes: Noted, cls: type, name: str) -> None:
    """Note what the bases of a class answer under a name that hides theirs."""
    is_hidden = False
    for base in bases_of(cls):
        if is_hidden and is_user_class(base):
            notes.class_attribute(base, name)
        is_hidden = is_hidden or name in class_namespace(base)


def note_function(notes: Noted, function: Any, name: str, _: str) -> None:
    """Note what a function says of itself under a name."""
    if id(function) in notes.captured and name in _OF_TOKENS:
        return
    if name == "__globals__":
        notes.meet_namespace(function.__globals__)
    elif name == "__closure__":
        for place in places_of(function):
            notes.place(place)
    else:
        notes.place(FunctionPlace(function, name))


def note_object(notes: Noted, value: Any, name: str, path: str) -> None:
    """Note an attribute of an object, unless it is of this very trace."""
    place = ObjectPlace(value, name, path, is_passing=notes.is_passing)
    key = place.key
    if notes.is_noted(key):
        if notes.owners.unnamed:
            notes.place(place)
        return
    found = place.get()
    if not issubclass(class_of(found), Tracer):
        notes.note(place, key, found, found)


def note_named(notes: Noted, value: Any, name: str, path: str) -> None:
    """Note an attribute of an object of a library's that the user's code names.

    What a property gives it has from the object: from what its code names there.
    """
    layout, kind = layout_of(value), class_of(value)
    queue = [name]
    for each in queue:  # it grows
        shown = class_attribute(kind, each)
        getter = shown.fget if class_of(shown) is property else None
        if isinstance(getter, FunctionType):
            queue += [n for n in getter.__code__.co_names if n not in queue]
        elif each == name or layout.get(value, each, MISSING) is not MISSING:
            note_object(notes, value, each, path)


def _modules_of(name: str) -> Iterable[str]:
    """Return the modules that a name may stand for; one with a dot before is relative."""
    if not name.startswith("."):
        return (name,)
    end = f".{name.lstrip('.')}"
    return [full for full in tuple(sys.modules) if full.endswith(end)]
