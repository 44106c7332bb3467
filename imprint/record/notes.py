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
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import attrgetter
from types import FunctionType, ModuleType
from typing import Any, Final, final

from numpy import ndarray

from imprint.core.libraries import (
    holds,
    is_fixed,
    is_own_class,
    is_own_namespace,
    is_user_class,
    is_user_code,
    is_user_function,
    is_user_namespace,
    keys_of,
    module_namespace,
)
from imprint.definition.layout import (
    Layout,
    instance_dict,
    layout_of,
    layout_of_class,
)
from imprint.record.asking import MOST, Asking, holds_users, note_all
from imprint.record.mentions import words_of, words_of_fields
from imprint.record.noted import (
    OF_FUNCTIONS,
    Noted,
    note_function,
    note_object,
)
from imprint.record.noters import (
    look_into,
    meet_shown,
    note_class,
    note_defaults,
    note_inherited,
    note_item,
    note_lacking,
    note_shown,
    note_specials,
)
from imprint.record.owners import ATOMS
from imprint.record.parts import (
    COMPOSITES,
    is_opaque,
    parts_of,
)
from imprint.tree.walk import fields_of, registered
from imprint.watch.classes import (
    MISSING,
    bases_of,
    class_attribute,
    class_namespace,
    is_data,
)
from imprint.watch.places import (
    CONTENT,
    KEYS,
    PLAIN_ITEMS,
    ClassPlace,
    FunctionPlace,
    NamePlace,
    ObjectPlace,
)
from imprint.watch.seen import SHARED, class_of
from imprint.watch.written import Written

_BUILTINS: Final = vars(builtins)
"""It stands in each namespace in which text was executed; names of it are watched."""
_ASKING: Final = frozenset(map(id, (getattr, hasattr, vars, dir)))
"""What asks for names that are worked out, whatever it is called."""
_TEXT: Final = 4096
"""Characters of a text that somebody may evaluate."""


@final
class Notes(Asking):
    """The places that a trace read, and the owners that it can come to.

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
        super().__init__(written, strict=strict)
        self._on_value = on_value
        self._on_place = on_place
        self.captured = captured
        self._root = root
        self.texts: dict[str, None] = {}  # no names, but somebody may evaluate them
        self._queue: deque[tuple[Any, str]] = deque()
        self._of_passing: set[int] = set()
        self._is_covered = False
        self._covered: dict[int, tuple[Any, str]] = {}

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
        self.note_named()

    def meet_argument(self, value: Any, path: str) -> None:
        """Take in a static argument, whose token covers objects that define `==`."""
        self._is_covered = True
        self._static.add(id(value))
        try:
            self.meet(value, path)
        finally:
            self._is_covered = False

    def _stands(self, value: Any) -> None:
        self._on_place(value)
        if id(value) in self._covered:
            self._watch(*self._covered.pop(id(value)))

    def _know(self, value: Any, path: str) -> None:
        self.known[id(value)] = value
        self.owners.paths[id(value)] = path
        if self.is_passing:
            self._of_passing.add(id(value))
        self._on_value(value)

    def _meet(self, value: Any, path: str) -> None:
        kind = class_of(value)
        if id(kind) in ATOMS or value is _BUILTINS:
            return
        if kind is str:
            _meet_text(self, value)
            return
        if id(value) in _ASKING:
            _meet_asking(self, value, path)
            return
        if id(value) in self.known or not _has_room(self, kind):
            if self.owners.unnamed:
                self.name_again(value)
            return
        self._know(value, path)
        self._take_in(value, kind, path)
        note_lacking(self, value, self.absent)
        self.met(value)

    def _take_in(self, value: Any, kind: Any, path: str) -> None:
        """Take in what a value leads to."""
        if issubclass(kind, ModuleType):
            self.meet_namespace(module_namespace(value))
            self._meet_class(kind)
            self.owners.shadowed.append(value)
        elif issubclass(kind, type):
            self.owners.meet_leaf(value)
            self._meet_class(value)
            self._meet_class(kind)
            self.owners.shadowed.append(value)
            self._meet_names(value)
        elif kind is FunctionType:
            self._meet_function(value)
        elif not is_opaque(value, kind):
            self.owners.meet_leaf(kind)
            parts = tuple(parts_of(value, kind, path))
            if id(value) in self._static:
                self._static.update(id(part) for part, _ in parts)
            self._queue.extend(parts)
            meet_shown(self, value, kind, path)
            if kind is not ndarray:
                self._meet_object(value, kind, path)
            self.owners.meet_parts(value, [part for part, _ in parts])

    def meet_namespace(self, namespace: dict[str, Any]) -> None:
        """Take in the dictionary of a module."""
        if id(namespace) in self.owners.modules:
            return
        is_users = is_user_namespace(namespace)
        is_own = not is_users and is_own_namespace(namespace)
        if self._strict or is_users:
            self.owners.modules[id(namespace)] = namespace
            if is_own:
                self.owners.own.add(id(namespace))
            else:
                self._hold(namespace, partial(NamePlace, namespace))
            for name in [n for n in self.names if holds(namespace, n)]:
                self.name(namespace, name)
            for name in tuple(self._items.of_modules):
                self.name(namespace, name)
        elif not is_own:
            self._meet_library(namespace)

    def _meet_class(self, cls: type) -> None:
        if id(cls) in self.owners.of_classes:
            return
        strict = self._strict
        counting = [base for base in bases_of(cls) if _counts(base, strict=strict)]
        names = {
            name: None for base in counting for name in class_namespace(base).copy()
        }
        self.owners.of_classes[id(cls)] = []
        self.known[id(cls)] = cls
        if id(cls) in self.owners.new:
            return
        self._wait(note_class, cls, names, "")
        if self.owners.is_users(class_of(cls)):  # it may answer for the class
            self._meet_class(class_of(cls))
            self.owners.shadowed.append(cls)
        if names:
            self._wait(note_inherited, cls, _hideable(cls).difference(names), "")
        for base in counting:
            self._hold(class_namespace(base), partial(ClassPlace, cls))
        self._queue.extend((each, "") for each in registered.functions.get(id(cls), ()))
        if names:
            self._on_value(cls)
            note_specials(self, cls)
            self._meet_names(cls)
            note_defaults(self, cls)
        elif layout_of_class(cls).module != "builtins":
            self._meet_library(class_namespace(cls))

    def _meet_function(self, function: FunctionType) -> None:
        if is_user_code(function.__code__, function.__globals__):
            self.owners.functions.append(function)
            self._wait(note_function, function, OF_FUNCTIONS & self._own_names, "")
            if id(function) not in self.captured:
                self._wait(note_function, function, [*function.__dict__], "")
                self._hold(function.__dict__, partial(FunctionPlace, function))

    def _meet_object(self, value: Any, kind: type, path: str) -> None:
        """Take in what an object has of its own, and its class."""
        if kind is attrgetter:  # who calls it may go on without
            expect(self, _words_of(value))
        self._meet_class(kind)
        if value is sys.modules:
            self._meet_items(value, path)
        layout = layout_of(value)
        names = layout.names(value)
        is_own = holds_users(self, value, layout)
        if self._strict and id(kind) not in COMPOSITES and not is_own_class(kind):
            is_own = True
        if layout.speaks or (layout.is_frozen and layout.is_open) or not is_own:
            self._wait(look_into, value, names, path)
            if value is not self._root:
                self._wait_own(value, _names_set(layout, names), path)
            return
        if self._is_covered and layout.defines_eq:
            self._covered[id(value)] = value, path
            self._wait(look_into, value, names, path)
        else:
            self._watch(value, path)

    def _watch(self, value: Any, path: str) -> None:
        _note_content(self, value, path)
        if layout_of(value).storage is dict:
            self._meet_items(value, path)
            own = [key for key in list(keys_of(value)) if type(key) is str]
            self._wait(note_item, value, own, path)
            shows = class_attribute(class_of(value), "__getattr__")
            if shows is not MISSING and not is_user_function(shows):
                self._wait(note_shown, value, own, path)
        self.owners.objects.append((value, class_of(value), path, self.is_passing))
        for name in _fields_of(class_of(value)):
            note_object(self, value, name, path)
        layout = layout_of(value)
        if self.owners.keeps(value, layout):  # its methods run unheard in a profiler
            note_all(self, value)
        self._wait(note_object, value, [*layout.names(value), *layout.chain], path)
        if layout.has_dict:
            if layout.is_holder and not self.owners.is_users(class_of(value)):
                self._wait(note_object, value, _defaults_of(value), path)
            self._hold(instance_dict(value), partial(_attribute, value, path))

    def is_of_passing(self, value: Any) -> bool:
        """Tell whether nothing that is noted leads to a value, or one equal to it may come.

        What is frozen counts by what it holds, as does a partial, a static argument by its
        token.
        """
        if id(value) in self._of_passing or not self.knows(value):
            return True
        is_frozen = layout_of(value).is_frozen or class_of(value) is partial
        return id(value) in self._covered or is_frozen

    def of_object(self, owner: Any, name: str) -> ObjectPlace:
        """Return the place of an attribute of an object, met or not."""
        is_passing = self.is_of_passing(owner)
        path = self.owners.path_to(owner)
        return ObjectPlace(owner, name, path, is_passing=is_passing)

    # ---- afterwards ----

    def meet_passing(self, value: Any, path: str) -> None:
        """Take in an object that lives on, to which nothing leads that is noted."""
        outer = self.is_passing
        self.is_passing = True
        try:
            self.meet(value, path)
        finally:
            self.is_passing: bool = outer


def expect(notes: Notes, names: Iterable[str]) -> None:
    """Take in names of attributes without which code may go on.

    Of whatever was met, or will be: it may be the result of a call.
    """
    new = frozenset(names) - notes.absent
    if new:
        notes.absent |= new
        for value in tuple(notes.known.values()):
            note_lacking(notes, value, new)


def _has_room(notes: Notes, kind: type) -> bool:
    """Tell whether one more of a class is met: of parts of a program, any number."""
    return len(notes.known) <= MOST or issubclass(kind, SHARED)


def _meet_asking(notes: Notes, value: Any, path: str) -> None:
    if path != value.__name__:  # else the code has told that mentions it
        notes.ask_any()


def _meet_text(notes: Notes, text: str) -> None:
    words = words_of(text)
    if not words and len(text) < _TEXT:
        notes.texts[text] = None
        words = words_of_fields(text)
    notes.mention(words)
    notes.use_whole(words)
    notes.use_held(words)


def _words_of(getter: Any) -> list[str]:
    """Return the names of attributes for which an `attrgetter` asks."""
    return [word for text in getter.__reduce__()[1] for word in text.split(".")]


def _note_content(notes: Noted, value: Any, path: str) -> None:
    """Note what is in an object of a container's subclass: each item of texts by its key."""
    storage = layout_of(value).storage
    if storage is class_of(value) or storage not in PLAIN_ITEMS:
        return  # what holds it tells of a plain one
    by_key = storage is dict or storage is defaultdict
    by_key = by_key and all(type(key) is str for key in list(keys_of(value)))
    note_object(notes, value, KEYS if by_key else CONTENT, path)


def _names_set(layout: Layout, names: list[str]) -> list[str]:
    """Return the names by which a user may have set what nothing else tells.

    A function of imprint's keeps what is its own by others.
    """
    if layout.module.startswith("imprint"):
        return [name for name in names if name[:1] != "_"] if layout.speaks else []
    says_all = layout.speaks or (layout.is_frozen and layout.is_open)
    return [] if says_all else [*names, *layout.properties]


def _fields_of(cls: type) -> tuple[str, ...]:
    """Return the attributes by which trees take objects apart, which no code names."""
    if id(cls) not in registered.threads:  # a metaclass may say what is equal
        return ()
    fields = fields_of.get(cls)
    return () if fields is None else (*fields.data, *fields.meta)


def _defaults_of(value: Any) -> list[str]:
    """Return the names that a library's class answers for an object, until it has them."""
    cls, held = class_of(value), instance_dict(value)
    names = {name for base in bases_of(cls) for name in class_namespace(base).copy()}
    return [
        name
        for name in names
        if not (name[:2] == "__" or name in held or is_data(class_attribute(cls, name)))
    ]


def _hideable(cls: type) -> set[str]:
    """Return the names of libraries' classes that a class of the user's may come to hide."""
    return {
        name
        for base in bases_of(cls)
        if not is_user_class(base)
        for name in class_namespace(base).copy()
        if name[:2] != "__"
    }


def _counts(cls: type, *, strict: bool) -> bool:
    """Tell whether what a class holds is watched: a library's only if it can change."""
    if is_user_class(cls) or not strict:
        return is_user_class(cls)
    return not (is_fixed(cls) or is_own_class(cls))


def _attribute(owner: object, path: str, name: str) -> ObjectPlace:
    return ObjectPlace(owner, name, path)
