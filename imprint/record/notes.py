"""Notes: the places that a trace read, each with what stood there before.

Two things make a place: an owner that the trace can come to (`meet`), and a name that
code which has started mentions (`mention`). A global that is noted leads to an object,
the object by a name that is mentioned to another one. Which receiver a read has is not
asked: every known owner that has the name counts. A place is noted once, when both are
known, so before code that mentions the name runs. What is a library's counts only when
the trace is strict.
"""

import builtins
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType, ModuleType
from typing import Any, Final, TypeAlias, cast, final

from imprint.core.identity import ids_of
from imprint.core.libraries import (
    holds,
    is_module,
    is_user,
    is_user_class,
    is_user_code,
    is_user_namespace,
    keys_of,
    module_namespace,
)
from imprint.core.trace import Tracer
from imprint.definition.layout import layout_of
from imprint.record.items import ItemUses
from imprint.record.mentions import words_of
from imprint.record.parts import COMPOSITES, ITEMS, OPAQUE, parts_of, path_of
from imprint.watch.captures import contained, places_of
from imprint.watch.places import (
    MISSING,
    ClassPlace,
    FunctionPlace,
    ItemPlace,
    Key,
    NamePlace,
    ObjectPlace,
    Place,
    bases_of,
    class_attribute,
    class_namespace,
)
from imprint.watch.seen import Read, Seen, Written, as_itself, class_of

_KNOWN: Final = 20_000
"""Values that are met."""
ATOMS: Final = ids_of(int, bool, float, complex, bytes, type(None), type(Ellipsis))
_OF_FUNCTIONS: Final = frozenset(
    (
        *("__annotations__", "__closure__", "__code__", "__defaults__", "__doc__"),
        *("__globals__", "__kwdefaults__", "__module__", "__name__", "__qualname__"),
    )
)

_OF_CLASSES: Final = frozenset(("__name__", "__qualname__"))

_BY_KEY: Final = (NamePlace, ObjectPlace, ClassPlace, ItemPlace)

_get: Final = cast("Any", dict).get
_Noter: TypeAlias = Callable[["Notes", Any, str, str], None]


@final
class Notes:
    """The places that a trace read.

    Args:
        on_value: is told of each value that is met.
        on_place: is told of each value that stands at a place.
        captured: functions whose attributes a token covers, by `id`.
        root: what is traced, which may be made anew.
        written: what earlier traces of the function are known to write.
        strict: whether libraries and the contents of arrays and objects count.
    """

    def __init__(
        self,
        on_value: Callable[[Any], None],
        on_place: Callable[[Any], None],
        captured: Mapping[int, FunctionType],
        root: object,
        written: Written,
        *,
        strict: bool,
    ) -> None:
        self.reads: dict[Key, Read] = {}
        self.names: set[str] = set()
        self._own_names: set[str] = set()
        self._on_value = on_value
        self._on_place = on_place
        self._captured = captured
        self._root = root
        self.written: Written = written
        self._strict = strict
        # By name, which owners have it, until it is mentioned.
        self._waiting: dict[str, list[tuple[_Noter, Any, str]]] = {}
        self._keys: set[str] = set()
        self._whole_names: set[tuple[str, bool]] = set()
        self._by_key: dict[str, list[Place]] = {}
        self._dicts: dict[int, tuple[dict[str, Any], str]] = {}  # by id: kept alive
        self._waiting_own: dict[str, list[tuple[Any, str]]] = {}
        self.known: dict[int, Any] = {}  # by id: kept alive while the trace runs
        self._queue: deque[tuple[Any, str]] = deque()
        self._is_meeting = False
        self.modules: dict[int, dict[str, Any]] = {}
        self._functions: list[FunctionType] = []
        self.objects: list[tuple[Any, type, str, bool]] = []
        self._made: list[type] = []
        self.shadowed: list[Any] = []  # classes and modules, of classes of the user's
        self._whole: dict[int, Any] = {}  # by id: kept alive
        self._users: dict[int, bool] = {}
        self.of_classes: dict[int, list[str]] = {}  # names that are noted, by class
        self.is_passing = False
        self._of_passing: set[int] = set()
        self._is_covered = False
        self._covered: dict[int, tuple[Any, str]] = {}
        self._static: set[int] = set()  # what static arguments lead to, by `id`

    # ---- names ----

    def mention(self, names: Iterable[str], *, by_library: bool = False) -> None:
        """Take in names by which code that starts now can read."""
        if not by_library:
            self._mention_own(names)
        for name in frozenset(names) - self.names:
            self.names.add(name)
            for note, owner, path in self._waiting.pop(name, ()):
                note(self, owner, name, path)
            for namespace in tuple(self.modules.values()):
                if holds(namespace, name):
                    self.name(namespace, name)

    def _mention_own(self, names: Iterable[str]) -> None:
        """Take in names in the user's code: the objects of libraries count too."""
        for name in frozenset(names) - self._own_names:
            self._own_names.add(name)
            for value, path in self._waiting_own.pop(name, ()):
                _note_object(self, value, name, path)
            if name in _OF_FUNCTIONS:
                for function in tuple(self._functions):
                    _note_function(self, function, name, "")
            if name in _OF_CLASSES:
                for cls in tuple(self._made):
                    self.class_attribute(cls, name)
            for full in _modules_of(name):
                module: Any = sys.modules.get(full)
                if is_module(module) and is_user(module):
                    self.name(sys.modules, full)

    def _wait(self, note: _Noter, owner: Any, names: Iterable[str], path: str) -> None:
        """Note places of an owner whose names are mentioned, now or later."""
        mentioned, waiting = self.names, self._waiting
        for name in names:
            if name in mentioned:
                note(self, owner, name, path)
            else:
                waiting.setdefault(name, []).append((note, owner, path))

    def _wait_own(self, value: Any, names: Iterable[str], path: str) -> None:
        """Note attributes of a library's object that the user's code mentions."""
        for name in names:
            if name in self._own_names:
                _note_object(self, value, name, path)
            else:
                self._waiting_own.setdefault(name, []).append((value, path))

    # ---- places ----

    def place(self, place: Place, before: Any = MISSING) -> Any:
        """Note a place once, with its value before; return its value now."""
        value = place.get()
        key = place.key
        if key not in self.reads:
            self.note(place, key, value, value if before is MISSING else before)
        return value

    def note(self, place: Place, key: Key, value: Any, before: Any) -> None:
        """Note a place that is not noted yet, at which a value stands now."""
        kind = class_of(value)
        if id(kind) in ATOMS or issubclass(kind, OPAQUE):
            self._read(place, key, before)
            return  # it leads to nothing
        self._on_place(value)
        if id(value) in self._covered:
            self._watch(*self._covered.pop(id(value)))
        if before is value and self._is_by_key(place, value):
            self.reads[key] = Read(place, as_itself(value))
            self._by_key.setdefault(place.name, []).append(place)
            self._meet_items(value, path_of(place))
            return
        self._read(place, key, before)
        if id(value) not in self.known:
            self.meet(value, path_of(place))

    def _read(self, place: Place, key: Key, value: Any) -> None:
        is_static = isinstance(place, ObjectPlace) and id(place.owner()) in self._static
        if is_static:
            self._static.add(id(value))
        seen = Seen(value, self.written, strict=self._strict, is_static=is_static)
        if seen.inside:
            seen.note_parts()
        self.reads[key] = Read(place, seen)

    def name(self, namespace: dict[str, Any], name: str) -> Any:
        """Note a name of a module."""
        value = _get(namespace, name, MISSING)
        key = "global", id(namespace), name
        if key not in self.reads:
            is_builtin = value is MISSING and name in vars(builtins)
            self.place(NamePlace(namespace, name, is_builtin=is_builtin))
        return value

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
            and (place.name, False) not in self._whole_names
            and (
                isinstance(place, NamePlace)
                or (place.name, True) not in self._whole_names
            )
            and len(value) <= ITEMS
            and all(type(key) is str for key in tuple(value))
        )

    def use(self, uses: ItemUses) -> None:
        """Take in how code that starts now uses items."""
        for key in uses.keys - self._keys:
            self._keys.add(key)
            for held, path in tuple(self._dicts.values()):
                self.place(ItemPlace(held, key, path))
        self.use_whole(uses.whole)

    def use_whole(self, names: Iterable[str], *, by_library: bool = False) -> None:
        """Take in names whose values are used otherwise than by a constant key.

        A library names attributes, and no global of the user's.
        """
        for name in names:
            if (name, by_library) in self._whole_names:
                continue
            self._whole_names.add((name, by_library))
            found = self._by_key.pop(name, [])
            if by_library:
                kept: list[Place] = [
                    place for place in found if isinstance(place, NamePlace)
                ]
                found = [place for place in found if not isinstance(place, NamePlace)]
                self._by_key[name] = kept
            for place in found:
                value = place.get()
                self._read(place, place.key, value)
                self.meet(value, path_of(place))

    def _meet_items(self, value: dict[str, Any], path: str) -> None:
        if id(value) not in self._dicts:
            self._dicts[id(value)] = value, path
            for key in tuple(self._keys):
                self.place(ItemPlace(value, key, path))

    # ---- owners ----

    def meet(self, value: Any, path: str) -> None:
        """Take in a value that the trace can come to.

        Args:
            value: it.
            path: what leads to it, as a user would write it.
        """
        self._queue.append((value, path))
        if self._is_meeting:
            return
        self._is_meeting = True
        try:
            while self._queue:
                self._meet(*self._queue.popleft())
        finally:
            self._is_meeting = False
            self._queue.clear()

    def meet_argument(self, value: Any, path: str) -> None:
        """Take in a static argument, whose token covers objects that define `==`."""
        self._is_covered = True
        self._static.add(id(value))
        try:
            self.meet(value, path)
        finally:
            self._is_covered = False

    def meet_namespace(self, namespace: dict[str, Any]) -> None:
        """Take in the dictionary of a module that code reads itself."""
        self._meet_module(namespace)

    def knows(self, value: Any) -> bool:
        """Tell whether a value was met."""
        return id(value) in self.known

    def _know(self, value: Any) -> None:
        self.known[id(value)] = value
        if self.is_passing:
            self._of_passing.add(id(value))
        self._on_value(value)

    def _meet(self, value: Any, path: str) -> None:
        kind = class_of(value)
        if id(kind) in ATOMS:
            return
        if kind is str:
            words = words_of(value)
            self.mention(words)
            self.use_whole(words)
            return
        if id(value) in self.known or len(self.known) > _KNOWN:
            return
        self._know(value)
        if issubclass(kind, ModuleType):
            self._meet_module(module_namespace(value))
            self._meet_class(kind)
            self.shadowed.append(value)
        elif issubclass(kind, type):
            self._meet_class(value)
            self._meet_class(kind)
            self.shadowed.append(value)
            self._made.append(value)
            for name in _OF_CLASSES & self._own_names:
                self.class_attribute(value, name)
        elif kind is FunctionType:
            self._meet_function(value)
        elif not issubclass(kind, OPAQUE):
            parts = tuple(parts_of(value, kind, path))
            if id(value) in self._static:
                self._static.update(id(part) for part, _ in parts)
            self._queue.extend(parts)
            self._meet_object(value, kind, path)

    def _meet_module(self, namespace: dict[str, Any]) -> None:
        if id(namespace) in self.modules:
            return
        if self._strict or is_user_namespace(namespace):
            self.modules[id(namespace)] = namespace
            for name in [n for n in self.names if holds(namespace, n)]:
                self.name(namespace, name)

    def _meet_class(self, cls: type) -> None:
        if id(cls) in self.of_classes:
            return
        names = {
            name: None
            for base in bases_of(cls)
            if self._strict or is_user_class(base)
            for name in class_namespace(base).copy()
        }
        self.of_classes[id(cls)] = []
        self.known[id(cls)] = cls
        self._wait(_note_class, cls, names, "")
        if names:
            self._on_value(cls)
        new = class_attribute(cls, "__new__")
        if names and tuple in bases_of(cls) and class_of(new) is staticmethod:
            self.class_attribute(cls, "__new__")
            self.place(FunctionPlace(new.__func__, "__defaults__"))

    def _meet_function(self, function: FunctionType) -> None:
        if id(function) in self._captured:
            return
        if is_user_code(function.__code__, function.__globals__):
            self._functions.append(function)
            names = [*function.__dict__, *(_OF_FUNCTIONS & self._own_names)]
            self._wait(_note_function, function, names, "")

    def _meet_object(self, value: Any, kind: type, path: str) -> None:
        """Take in what an object has of its own, and its class."""
        self._meet_class(kind)
        layout = layout_of(value)
        names = layout.names(value)
        is_own = layout.is_holder or self._is_users(kind)
        if self._strict and id(kind) not in COMPOSITES:
            is_own = True
        says_all = layout.speaks or (layout.is_frozen and layout.is_open)
        if says_all or not is_own:
            self._wait(_look_into, value, names, path)
            if says_all:
                return
            if value is not self._root and not layout.module.startswith("imprint"):
                self._wait_own(value, names, path)
            return
        if self._is_covered and layout.defines_eq:
            self._covered[id(value)] = value, path
            self._wait(_look_into, value, names, path)
        else:
            self._watch(value, path)

    def _is_users(self, kind: type) -> bool:
        """Tell whether a class that was met is the user's; asked once for each."""
        known = self._users.get(id(kind))
        if known is None:
            known = self._users[id(kind)] = is_user_class(kind)
        return known

    def _watch(self, value: Any, path: str) -> None:
        if layout_of(value).storage is dict:
            self._meet_items(value, path)
            own = [key for key in list(keys_of(value)) if type(key) is str]
            self._wait(_note_item, value, own, path)
        kind = class_of(value)
        self.objects.append((value, kind, path, self.is_passing))
        self._wait(_note_object, value, layout_of(value).names(value), path)

    def of_object(self, owner: Any, name: str) -> ObjectPlace:
        """Return the place of an attribute of an object, met or not."""
        is_passing = id(owner) in self._of_passing or not self.knows(owner)
        return ObjectPlace(owner, name, layout_of(owner).name, is_passing=is_passing)

    # ---- everything that an object has ----

    def whole(self, value: Any) -> None:
        """Note all that an object has, and what that has: its names are worked out."""
        outer = self.is_passing
        # What nothing leads to was perhaps made by the trace, and goes with it.
        self.is_passing = outer or not self.knows(value)
        try:
            self._note_whole(value)
        finally:
            self.is_passing = outer

    def _note_whole(self, value: Any) -> None:
        queue = [value]
        for each in queue:  # it grows
            if id(each) in self._whole or len(self._whole) > _KNOWN:
                continue
            self._whole[id(each)] = each
            queue += contained(each)[:ITEMS]
            layout = layout_of(each)
            if not (is_user_class(class_of(each)) or layout.is_holder):
                continue
            if not self.knows(each):
                self.meet_passing(each, layout.name)
            names = layout.names(each)
            self.use_whole(names)
            queue += [layout.get(each, name) for name in names]
            for name in () if layout.is_frozen else (*names, "__dict__"):
                place = self.of_object(each, name)
                if not issubclass(class_of(place.get()), Tracer):
                    self.place(place)

    # ---- afterwards ----

    def meet_passing(self, value: Any, path: str) -> None:
        """Take in an object that lives on, to which nothing leads that is noted."""
        outer, self.is_passing = self.is_passing, True
        try:
            self.meet(value, path)
        finally:
            self.is_passing = outer


# ---- what is done when a name of an owner is mentioned ----


def _note_class(notes: Notes, cls: Any, name: str, _: str) -> None:
    notes.of_classes[id(cls)].append(name)
    notes.class_attribute(cls, name)


def _note_function(notes: Notes, function: Any, name: str, _: str) -> None:
    if name == "__globals__":
        notes.meet_namespace(function.__globals__)
    elif name == "__closure__":
        for place in places_of(function):
            notes.place(place)
    else:
        notes.place(FunctionPlace(function, name))


def _note_object(notes: Notes, value: Any, name: str, path: str) -> None:
    place = ObjectPlace(value, name, path, is_passing=notes.is_passing)
    key = place.key
    if key in notes.reads:
        return
    found = place.get()
    if not issubclass(class_of(found), Tracer):
        notes.note(place, key, found, found)


def _note_item(notes: Notes, value: Any, name: str, path: str) -> None:
    notes.place(ItemPlace(value, name, path))


def _look_into(notes: Notes, value: Any, name: str, path: str) -> None:
    if layout_of(value).is_frozen:  # all that may change: its class comes to hide it
        notes.class_attribute(class_of(value), name)
    notes.meet(layout_of(value).get(value, name), f"{path}.{name}")


def _modules_of(name: str) -> Iterable[str]:
    """Return the modules that a name may stand for; one with a dot before is relative."""
    if not name.startswith("."):
        return (name,)
    end = f".{name.lstrip('.')}"
    return [full for full in tuple(sys.modules) if full.endswith(end)]
