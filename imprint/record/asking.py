"""Asking: what is noted where code asks for attributes by names that are worked out.

What such code is given counts with all that it leads to, and so does what modules and
classes hold by the names in it. Of each other value to which names lead all that it has
itself counts: it may be handed over in ways that nobody hears of.
"""

from abc import abstractmethod
from collections.abc import Iterable
from functools import partial
from types import MethodType
from typing import Any, Final

from imprint.core.libraries import is_user_function
from imprint.core.trace import Tracer
from imprint.definition.layout import Layout, layout_of
from imprint.record.noted import PLAIN, Noted, note_function
from imprint.record.noters import note_whole_class
from imprint.record.parts import ITEMS, Whole, held_by_c, parts_of
from imprint.watch.captures import contained
from imprint.watch.places import KEYS, ClassPlace, Key, NamePlace, ObjectPlace, Place
from imprint.watch.seen import class_of
from imprint.watch.written import Written

MOST: Final = 20_000
"""Values that are met."""
_OF_OWNERS: Final = (NamePlace, ClassPlace)


class Asking(Noted):
    """The places of one trace, with all those of what may be asked for any name.

    Args:
        written: what earlier traces of the function are known to write.
        strict: whether libraries and the contents of arrays and objects count.
    """

    def __init__(self, written: Written, *, strict: bool) -> None:
        super().__init__(written, strict=strict)
        self.known: dict[int, Any] = {}  # by id: kept alive while the trace runs
        self._whole: Whole = Whole()
        self._asked: frozenset[str] = frozenset()
        self.asks_any: bool = False
        """Whether the user's code asks for names that are worked out."""
        self._named: dict[int, Any] = {}  # all that these have is noted soon
        self._is_unnamed: bool = False
        self._is_meeting: bool = False

    @abstractmethod
    def meet_passing(self, value: Any, path: str) -> None:
        """Take in an object that lives on, to which nothing leads that is noted."""

    def knows(self, value: Any) -> bool:
        """Tell whether a value was met."""
        return id(value) in self.known

    def whole(self, value: Any) -> None:
        """Note all that an object has, and what that has: its names are worked out."""
        outer = self.is_passing
        # What nothing leads to was perhaps made by the trace, and goes with it.
        self.is_passing: bool = outer or not self.knows(value)
        try:
            self._note_whole(value)
        finally:
            self.is_passing = outer

    def ask_any(self, names: Iterable[str] = ()) -> None:
        """Note all that each value has to which names lead, now or later: any may be asked.

        Args:
            names: those in the code that asks. What modules and classes hold by these
                counts with all that it leads to, as does what that code is given.
        """
        new = frozenset(names) - self._asked
        self._asked |= new
        for place, _ in (*self.reads.values(),) if new else ():
            if place.name in new and isinstance(place, _OF_OWNERS):
                self.whole(place.get())
        if not self.asks_any:
            self.asks_any = True
            self._named.update(self.known)
            self.note_named()

    def note(self, place: Place, key: Key, value: Any, before: Any) -> None:
        """Note a place that is not noted yet; all of it if others may be worked out."""
        super().note(place, key, value, before)
        if place.name in self._asked and isinstance(place, _OF_OWNERS):
            self.whole(value)

    def note_named(self) -> None:
        """Note all that those values have to which names have led so far."""
        while self._named and not (self._is_meeting or self._is_unnamed):
            _, value = self._named.popitem()
            self._is_unnamed = True
            try:
                note_all(self, value)
            finally:
                self._is_unnamed = False

    def name_again(self, value: Any) -> None:
        """Take in that names lead to a value, if none did so far, and to what it holds."""
        queue = [] if self._is_unnamed else [value]
        for each in queue:  # it grows
            if self.owners.unnamed.pop(id(each), None) is not None:
                self._named[id(each)] = each
                queue += [part for part, _ in parts_of(each, class_of(each), "")]
        self.note_named()

    def met(self, value: Any) -> None:
        """Take in that a value was met."""
        if self.asks_any:
            met = self.owners.unnamed if self._is_unnamed else self._named
            met[id(value)] = value

    def unknown(self, values: Iterable[Any]) -> list[Any]:
        """Return those values of which not all is noted yet."""
        return self._whole.unknown(values)

    def _note_whole(self, value: Any) -> None:
        queue, noted = [value], self._whole.noted
        for each in queue:  # it grows
            kind = class_of(each)
            if id(kind) in PLAIN or id(each) in noted or len(noted) > MOST:
                continue
            noted[id(each)] = each
            queue += contained(each)[:ITEMS]
            queue += held_by_c(each, kind)
            if kind is MethodType:
                queue.append(each.__func__)
            layout = layout_of(each)
            queue += [layout.get(each, name) for name in note_all(self, each)]

    def of_object(self, owner: Any, name: str) -> ObjectPlace:
        """Return the place of an attribute of an object, met or not."""
        is_passing = self.is_of_passing(owner)
        path = self.owners.path_to(owner)
        return ObjectPlace(owner, name, path, is_passing=is_passing)


def note_all(notes: Asking, value: Any) -> list[str]:
    """Note all that a value itself has, and return the names of its attributes."""
    kind: Any = class_of(value)
    layout = layout_of(value)
    for cls in (value, kind, class_of(kind)):  # a metaclass answers for the class
        if issubclass(class_of(cls), type):
            note_whole_class(notes, cls)
    if is_user_function(value):
        for name in (*value.__dict__, KEYS):
            note_function(notes, value, name, "")
    is_holder = holds_users(notes, value, layout) or kind is partial
    if issubclass(kind, type) or not is_holder:
        return []
    if not notes.knows(value):
        if notes.owners.keeps(value, layout):  # a library may be making it just now
            return []
        notes.meet_passing(value, layout.name)
    names = layout.names(value)
    notes.use_whole(names)
    for name in () if layout.is_frozen else (*names, "__dict__"):
        place = notes.of_object(value, name)
        if not issubclass(class_of(place.get()), Tracer):
            notes.place(place)
    return names


def holds_users(notes: Asking, value: Any, layout: Layout) -> bool:
    """Tell whether what an object holds is the user's, as it is in settings."""
    if notes.owners.is_users(class_of(value)):
        return True
    return notes.owners.keeps(value, layout) or layout.is_holder
