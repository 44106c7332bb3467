"""Settling: what of the places that a trace noted counts when it is over.

What the trace itself wrote is an effect of it and no input (rule E). What it works out
once and keeps counts from then on; so does what it read of objects that it made and left
behind, as long as they live. What no code that ran can have written was changed by
another thread: such a trace saw a state that never was as a whole.
"""

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import partial
from threading import get_ident
from types import BuiltinFunctionType, FunctionType, SimpleNamespace
from typing import Any, Final, final

import numpy as np

from imprint.core.identity import ids_of, module_name
from imprint.core.libraries import is_fixed
from imprint.core.trace import Tracer
from imprint.definition.layout import layout_of
from imprint.definition.share import written_places
from imprint.record.noters import meet_shown
from imprint.record.notes import Notes
from imprint.record.owners import ATOMS
from imprint.record.parts import MEMO, is_giver, kept_by, path_of, places_at
from imprint.record.reach import reachable
from imprint.record.writes import Writes
from imprint.tree.walk import registered
from imprint.watch.captures import CONTAINERS, captured_names, parts_of
from imprint.watch.classes import MISSING, class_attribute, is_data
from imprint.watch.places import (
    GONE,
    KEYS,
    ItemPlace,
    Key,
    LeavesPlace,
    ObjectPlace,
    Place,
    SpecialsPlace,
)
from imprint.watch.seen import SHARED, Read, Seen, Weak, class_of, hold, left_behind


def settle(
    notes: Notes, writes: Writes, captured: Iterable[Read], *, strict: bool
) -> tuple[tuple[Read, ...], tuple[str, ...], frozenset[Any]]:
    """Return what counts, the places that something else changed, and what it changed.

    Args:
        notes: of the trace.
        writes: what its code may have written.
        captured: what the function captured before.
        strict: whether contents count too.
    """
    writes.give(notes.owners.written_into.values(), notes.owners.kept)
    settling = _Settling(notes, writes, strict=strict)
    reads = tuple(settling.run(captured))
    return reads, tuple(settling.disturbed), frozenset(settling.changed)


@final
class _Settling:
    def __init__(self, notes: Notes, writes: Writes, *, strict: bool) -> None:
        self._notes = notes
        self._writes = writes
        self._strict = strict
        self.disturbed: list[str] = []
        self.changed: set[Any] = set()
        self._left: list[Any] = []  # at the places that the trace wrote
        self._counts: dict[str, list[Key]] = {}  # by the name that its code keeps
        self._asked = 0, 0
        """How many objects, and classes and modules, were asked for shadows."""

    def run(self, captured: Iterable[Read]) -> list[Read]:
        """Return what counts; see `settle`."""
        self._find_new_names()
        reads = [*self._settled(), *self._shadows(), *self._leaves()]
        gone = self._notes.owners.displaced()
        for read in captured:
            now = read.place.get()
            if not read.seen.matches(now):
                reads += self._left_items(read, now)
                if not read.seen.held.is_(now):
                    gone.append(read.seen.held.get())
        for keys in self._counts.copy().values():
            if len(keys) > 1:  # of one name, so any may be another thread's
                self.changed.update(keys)
        if self._left:
            _let_go(reads)
        elif gone:
            known = {id(x) for x in reachable(gone)}
            _let_go(read for read in reads if _owner_id(read) in known)
        return [*reads, *self._left_behind()]

    def _find_new_names(self) -> None:
        """Find what came to be after its owner was met, which may have been read."""
        for held, size, place_of in self._notes.owners.holders:
            if len(held) > size:
                for name in self._notes.names.intersection(tuple(held)):
                    place = place_of(name)
                    if place.key in self._notes.reads or place.get() is MISSING:
                        continue
                    if self._writes.may_bind(place, was_missing=True):
                        self._notes.reads[place.key] = Read(place, Seen(MISSING))
                    else:
                        self.changed.add(place.key)

    def _shadows(self) -> Iterator[Read]:
        """Yield the places where a name could come to hide another.

        Asked again, those of what was met since.
        """
        known, owners = self._asked, self._notes.owners
        self._asked = len(owners.objects), len(owners.shadowed)
        for read in hiding(self._notes, *known):
            place, now = read.place, read.now()
            if now is GONE:
                continue
            if read.seen.held.is_(now):
                yield read
            elif not self._writes.may_bind(place, was_missing=True):
                self.disturbed.append(f"{place} in {place.module}")
                yield read
            else:
                self.changed.add(place.key)
                if not _is_effect(self._notes, read, now):
                    yield Read(place, self._seen(now))

    def _leaves(self) -> Iterator[Read]:
        """Yield the place where classes become nodes; what the trace made one is one."""
        kinds = self._notes.owners.leaves.values()
        place = LeavesPlace(filter(_may_become_node, kinds))
        makers = {registered.threads.get(id(cls)) for cls in kinds}
        if makers - {None, get_ident()}:
            self.disturbed.append(f"{place} in {place.module}")
        if place.classes:
            place.get()  # it notes up to where it looked
            yield Read(place, Seen(()))

    def _left_behind(self) -> Iterator[Read]:
        """Yield what the trace read of objects that it made and left behind.

        A fresh trace would find them. They are watched as long as they live.
        """
        known = {*self._notes.reads}
        for value in self._left:
            self._notes.meet_passing(value, layout_of(value).name)
        for value, path in self._givers():
            kind = class_of(value)
            for part in kept_by(value) if kind is MEMO else ():
                self._notes.meet_passing(part, f"{path}()")
            meet_shown(self._notes, value, kind, path)
        for key, read in self._notes.reads.copy().items():
            if key not in known:
                seen = read.seen.settle(read.now())
                if seen is not None:
                    yield Read(read.place, seen)
        yield from self._shadows()

    def _givers(self) -> list[tuple[Any, str]]:
        """Return what may give other containers by now, and what leads there."""
        known = tuple(self._notes.known.values())
        givers = [value for value in known if is_giver(class_of(value))]
        reads = tuple(self._notes.reads.values()) if givers else ()
        paths = {id(read.seen.held.get()): path_of(read.place) for read in reads}
        return [(x, paths.get(id(x), layout_of(x).name)) for x in givers]

    def _settled(self) -> Iterator[Read]:
        """Yield what was read, but for what the trace wrote."""
        for read in tuple(self._notes.reads.values()):
            place, now = read.place, read.now()
            if now is GONE:  # the trace made it; or what led to it is another now
                continue
            if read.seen.stands(now):  # as most do
                yield read
                continue
            is_same = read.seen.matches(now)
            if is_same or self._is_own(read, now):
                if not is_same:
                    left = [*self._left_items(read, now)]
                    yield from left
                    if read.seen.held.is_(now) and all(map(_is_in_list, left)):
                        self._notes.written.write_inside(place.key)
                seen = read.seen.settle(now)
                if seen is not None:
                    yield Read(place, seen)
                    continue
                self._left.append(now)
                if not _is_effect(self._notes, read, now):
                    yield Read(place, self._seen(now))
            else:
                self.disturbed.append(f"{place} in {place.module}")
                yield read

    def _left_items(self, read: Read, now: Any) -> Iterator[Read]:
        """Yield what the trace left in dicts and lists where nothing was before."""
        for owner, key in read.seen.added() if read.seen.held.is_(now) else ():
            place = ItemPlace(owner, key, path_of(read.place))
            if not _is_safe_key(key):
                pairs: Any = tuple(_items_of(owner))
                self._left += [x for k, x in pairs if k is key]
                continue
            if place.key in self._notes.reads:
                continue
            left, value = Read(place, Seen(MISSING)), place.get()
            self._notes.reads[place.key] = left
            if id(class_of(value)) not in ATOMS:
                self._left.append(value)
            if not _is_effect(self._notes, left, value):
                self._notes.written.leave(place)
                yield Read(place, self._seen(value))

    def _seen(self, now: Any) -> Seen:
        return left_behind(now, self._notes.written, strict=self._strict)

    def _is_own(self, read: Read, now: Any) -> bool:
        """Tell whether the trace may have written what is at a place now."""
        held = read.seen.held
        if not held.is_(now):
            if self._writes.is_count(read.place, held.get(), now):
                self._counts.setdefault(read.place.name, []).append(read.place.key)
            else:
                self.changed.add(read.place.key)
            return self._writes.may_bind(read.place, was_missing=held.get() is MISSING)
        written = read.seen.written()
        names = captured_names(now)
        if written:
            known = {**names, id(now): {read.place.name}}
            counts = self._writes.own_counts(read.seen.counts(), known)
            self.changed |= written_places(written - counts)
        else:
            self.changed.add(read.place.key)
        return self._writes.may_change(written, names)


def _may_become_node(cls: type) -> bool:
    """Tell whether users register such a class: it holds values, and is not imprint's."""
    if id(cls) in registered.threads or module_name(cls).partition(".")[0] == "imprint":
        return False
    return id(cls) in _HOLD_VALUES or bool(_flags_of(cls) & _HEAP_TYPE)


_flags_of: Final[Callable[[type], int]] = vars(type)["__flags__"].__get__
_HEAP_TYPE: Final = 1 << 9
"""Set where a class is no fixed part of the interpreter."""
_HOLD_VALUES: Final = ids_of(SimpleNamespace, set, frozenset, range, slice)


def _owner_id(read: Read) -> int:
    return id(read.place.owner()) if isinstance(read.place, ObjectPlace) else 0


def _let_go(reads: Iterable[Read]) -> None:
    """Let objects count only while they live, as one may go with what the trace wrote.

    Of one that something watched leads to, that tells when it goes.
    """
    for read in reads:
        if isinstance(read.place, ObjectPlace):
            read.place.is_passing = True


def _is_effect(notes: Notes, read: Read, now: Any) -> bool:
    """Tell whether what the trace wrote at a place does not count.

    What would have to be kept alive does not: it may be large, or hold tracers.
    """
    before: Any = read.seen.held.get()
    own = read.place.hidden(now) if isinstance(read.place, ObjectPlace) else now
    if own is not now:
        now, before = own, MISSING if is_data(before) else before
    if not _is_light(now):
        return True
    if _are_names(read.place) and {*now} > {*before}:  # one came to be
        before = MISSING
    return notes.written.is_effect(read.place.key, before)


def _are_names(place: Place) -> bool:
    """Tell whether a place is of the names that an object, a class or a dict has."""
    if isinstance(place, ObjectPlace):
        return place.name in {"__dict__", KEYS}
    return isinstance(place, SpecialsPlace) or place.name == KEYS


def _is_in_list(read: Read) -> bool:
    return isinstance(read.place, ItemPlace) and type(read.place.container) is list


def _is_safe_key(key: Any) -> bool:
    """Tell whether to look a key up runs no code of the user's, and to keep it is right."""
    kind, layout = class_of(key), layout_of(key)
    if kind is tuple or kind is frozenset:
        return all(map(_is_safe_key, key))
    if layout.is_frozen and layout.is_open:
        return all(map(_is_safe_key, layout.state(key).values()))
    if id(kind) in ATOMS or id(kind) in _OF_PYTHON:
        return True
    return _asked_of(kind) in _COMPARED and issubclass(kind, (*SHARED, Enum))


def _asked_of(cls: type) -> list[Any]:
    """Return what a dict asks of a key of a class."""
    return [class_attribute(cls, name) for name in ("__hash__", "__eq__")]


_items_of: Final[Callable[[Any], Iterable[Any]]] = vars(dict)["items"]
_OF_PYTHON: Final = ids_of(str, BuiltinFunctionType)
_COMPARED: Final = [*map(_asked_of, (object, Enum, np.dtype))]


def hiding(notes: Notes, objects: int = 0, shadowed: int = 0) -> Iterator[Read]:
    """Yield the places at which objects could come to hide what their class has.

    Args:
        notes: of the trace.
        objects: how many of the objects to leave out.
        shadowed: how many of the classes and modules.
    """
    for value, kind, path, is_passing in notes.owners.objects[objects:]:
        names = notes.owners.of_classes.get(id(kind), ())
        if (names or notes.owners.asks_class) and not is_fixed(kind):
            place = ObjectPlace(value, "__class__", path, is_passing=is_passing)
            yield Read(place, Seen(kind))
        for name in names if layout_of(value).has_dict else ():
            if name.startswith("__") or is_data(class_attribute(kind, name)):
                continue  # looked up in the class
            place = ObjectPlace(value, name, path, is_passing=is_passing)
            if place.key not in notes.reads:
                yield Read(place, Seen(MISSING))
    for value in notes.owners.shadowed[shadowed:]:
        names = notes.owners.of_classes[id(class_of(value))]
        for place in places_at(value, [n for n in names if not n.startswith("__")]):
            if place.key not in notes.reads:
                yield Read(place, Seen(MISSING))


def _is_light(value: Any) -> bool:
    """Tell whether to remember a value keeps nothing alive but data and parts of a program.

    An object is held weakly where that is possible, but not by what holds it.
    """
    if not issubclass(class_of(value), Tracer) and isinstance(hold(value), Weak):
        return True
    queue = [value]
    for each in queue:  # it grows
        kind = class_of(each)
        if id(kind) in _OF_PARTS or issubclass(kind, tuple):
            queue += [x for x in _parts_of(each) if id(class_of(x)) not in ATOMS]
        elif not _is_plain(each, kind) or len(queue) > _LIMIT:
            return False
    return True


def _parts_of(value: Any) -> Iterable[Any]:
    """Return what keeping a value keeps alive."""
    if class_of(value) is SimpleNamespace:
        return layout_of(value).state(value).values()
    keys = value if issubclass(class_of(value), dict) else ()
    return (*parts_of(value), *keys)


def _is_plain(value: Any, kind: Any) -> bool:
    """Tell whether a value of a class is data in itself, or a part of a program."""
    if issubclass(kind, np.ndarray):
        return not value.dtype.hasobject
    return id(kind) in ATOMS or issubclass(
        kind, (*SHARED, str, Enum, np.generic, *_SPANS)
    )


_LIMIT: Final = 4096
_SPANS: Final = range, slice
_OF_PARTS: Final = CONTAINERS | ids_of(FunctionType, SimpleNamespace, partial)
