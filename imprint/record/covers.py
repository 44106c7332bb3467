"""Covers: descriptors that stand in a class for an attribute, and note who reads it.

A cover gives what was there, as Python would: an attribute of a class as the class holds
it, one of an object from its `__dict__` or its slot, else what the class has. Writing goes
through to the object; what is written to the class replaces the cover, and stays. Traces
around each other and beside each other share a cover, and the last that leaves puts back
what was hidden. imprint's own looks at attributes are no reads (`places.uncovered`).
"""

import os
import sys
import threading
from collections.abc import Callable, Iterable
from types import CodeType, MemberDescriptorType
from typing import Any, Final, NamedTuple, final
from weakref import WeakKeyDictionary

from imprint.definition.layout import Layout, layout_of_class, layouts
from imprint.watch.classes import (
    MISSING,
    Cover,
    bases_of,
    class_attribute,
    class_namespace,
    class_of,
    uncovered,
)
from imprint.watch.places import Key

TIMES: Final = 100
"""How often the attributes of one class are covered. Each time changes the class twice,
and 3.13 stops to look up attributes fast in a class that was changed 1,000 times."""
_HERE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LOOKING: Final = tuple(
    os.path.join(_HERE, part, "")
    for part in ("definition", "record", "static", "watch")
)
"""Where imprint looks at attributes itself: not the trace."""

_read: Final = object.__getattribute__
_set: Final[Callable[[type, str, object], None]] = type.__setattr__
_delete: Final[Callable[[type, str], None]] = type.__delattr__
subclasses_of: Final[Callable[[type], list[type]]] = type.__subclasses__


class Watcher(NamedTuple):
    """Who wants to know of a place: its object, if it has one, and where to note it."""

    owner: object
    key: Key
    read: set[Key]


class ClassCover(Cover):
    """Stands for an attribute of a class."""

    __slots__ = ("cls", "name", "watchers")

    def __init__(self, cls: type, name: str, hidden: Any) -> None:
        self.cls: type = cls
        self.name: str = name
        self.hidden = hidden
        self.watchers: tuple[Watcher, ...] = ()

    def __get__(self, value: Any, cls: Any = None) -> Any:
        if not _is_looking(sys._getframe(1).f_code):  # pyright: ignore[reportPrivateUsage] - no other way
            self.note([w for w in self.watchers if w.owner is None])
        return self.hidden

    def note(self, watchers: Iterable[Watcher]) -> None:
        """Note that somebody read."""
        for _, key, read in watchers:
            read.add(key)

    def leave(self, read: set[Key]) -> None:
        """Watch no more for one who did; put back what was there after the last."""
        with _lock:
            gone = [w for w in self.watchers if w.read is read]
            if not gone:
                return
            if not self._is_there():  # it was written, so not all readers were heard
                self.note(gone)
            moved = (
                w
                for w in gone
                if w.owner is not None and class_of(w.owner) is not self.cls
            )
            self.note(moved)
            if len(gone) == len(self.watchers):
                self._put_back()
            self.watchers = tuple([w for w in self.watchers if w.read is not read])

    def give_up(self) -> None:
        """Put back what was there, and take it for read."""
        with _lock:
            self.note(self.watchers)
            self._put_back()

    def _is_there(self) -> bool:
        return class_namespace(self.cls).get(self.name) is self

    def _put_back(self) -> None:
        cls, name, hidden, held = self.cls, self.name, self.hidden, _set
        names, delete = class_namespace(cls), _delete
        try:  # between asking and writing no other thread runs: only calls give way
            if names[name] is self:
                if hidden is MISSING:
                    delete(cls, name)
                else:
                    held(cls, name, hidden)
        except KeyError:  # it was deleted meanwhile
            pass
        if type(hidden) is MemberDescriptorType:
            _forget_layouts(cls)
        if self in COVERS:
            COVERS.remove(self)


@final
class ObjectCover(ClassCover):
    """Stands for an attribute of objects, and for what their class has of that name."""

    __slots__ = ()

    def __get__(self, value: Any, cls: Any = None) -> Any:
        looks = _is_looking(sys._getframe(1).f_code)  # pyright: ignore[reportPrivateUsage] - no other way
        of_class = self._of_class(cls if value is None else class_of(value))
        is_slot = type(of_class) is MemberDescriptorType
        held: Any = {} if value is None or is_slot else _read(value, "__dict__")
        is_own = value is not None and (is_slot or self.name in held)
        if not looks:
            self.note(
                w
                for w in self.watchers
                if (w.owner is value if w.owner is not None else not is_own)
            )
        if is_own and not is_slot:
            return held[self.name]
        if of_class is MISSING:
            raise self._error(value, cls)
        get = class_attribute(class_of(of_class), "__get__")
        return of_class if get is MISSING else get(of_class, value, cls)

    def __set__(self, value: Any, new: Any) -> None:
        of_class = self._of_class(class_of(value))
        if type(of_class) is MemberDescriptorType:
            of_class.__set__(value, new)
        else:
            _read(value, "__dict__")[self.name] = new

    def __delete__(self, value: Any) -> None:
        of_class = self._of_class(class_of(value))
        if type(of_class) is MemberDescriptorType:
            of_class.__delete__(value)
        elif _read(value, "__dict__").pop(self.name, MISSING) is MISSING:
            raise self._error(value, None)

    def _of_class(self, cls: type) -> Any:
        """Return what the class holds from here on."""
        bases = bases_of(cls)
        for base in bases[bases.index(self.cls) :]:
            found = class_namespace(base).get(self.name, MISSING)
            if issubclass(class_of(found), ClassCover) and found is not self:
                found.note([w for w in found.watchers if w.owner is None])
            if (found := uncovered(found)) is not MISSING:
                return found
        return MISSING

    def _error(self, value: Any, cls: Any) -> AttributeError:
        of = f"type object {cls.__name__!r}"
        if value is not None:
            of = f"{type(value).__name__!r} object"
        text = f"{of} has no attribute {self.name!r}"
        return AttributeError(text, name=self.name, obj=cls if value is None else value)


def cover(cls: type, name: str, kind: type[ClassCover], watcher: Watcher) -> bool:
    """Put a cover into a class, for one who watches; return False if none can stand."""
    with _lock:
        names, set_ = class_namespace(cls), _set
        hidden = names.get(name, MISSING)
        if issubclass(
            class_of(hidden), ClassCover
        ):  # of a trace around this one, or beside it
            if issubclass(class_of(hidden), kind):
                hidden.watchers += (watcher,)
            return issubclass(class_of(hidden), kind)
        layout = layout_of_class(cls)  # read before it is changed, and kept
        times = _times.get(layout, 0)
        if times >= TIMES:
            return False
        _times[layout] = times + 1
        made = kind(cls, name, hidden)
        made.watchers = (watcher,)
        COVERS.append(made)
        try:
            if hidden is MISSING or names[name] is hidden:
                set_(cls, name, made)
        except (
            KeyError,
            TypeError,
        ):  # deleted just now; a class that cannot be changed
            COVERS.remove(made)
            return False
    return True


def _is_looking(code: CodeType) -> bool:
    return code.co_filename.startswith(_LOOKING)


def _forget_layouts(cls: type) -> None:
    """Forget how subclasses are laid out that were made while a slot was covered."""
    for subclass in subclasses_of(cls):
        layouts.pop(id(subclass), None)
        _forget_layouts(subclass)


# Tables of what is alive, not state.
COVERS: Final[list[ClassCover]] = []
_times: Final[WeakKeyDictionary[Layout, int]] = WeakKeyDictionary()
_lock = threading.RLock()


def _renew() -> None:
    """Make the lock anew, in the child of a fork."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_renew)
