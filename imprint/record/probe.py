"""Probes: does a trace read the attribute that made a version stale?

Every known owner counts that has a name which the code mentions (`notes`), so some places
are watched that nothing reads: the `step` of a class that is counted up, where the code
calls another's `step`. When such a place has changed and the function is traced again, a
descriptor stands in its class meanwhile, which gives what was there and notes who asks.
It hears each way to read an attribute, in C too, but for those that take all that an
object holds at once: where such code starts (`uncover`), it is taken away, and the place
counts as read. So does one that an earlier trace read whose result is used. What nobody
read need not be watched: as long as all else holds, a trace does the same again.
"""

from collections.abc import Collection, Iterable, Mapping
from types import MemberDescriptorType, SimpleNamespace, TracebackType
from typing import Any, Final, Self, final

from imprint.core.libraries import is_user_class
from imprint.definition.layout import layout_of, layout_of_class
from imprint.record.covers import (
    COVERS,
    ClassCover,
    ObjectCover,
    Watcher,
    cover,
    subclasses_of,
)
from imprint.record.reach import SEARCHED, reachable
from imprint.tree import is_tree_node
from imprint.watch.classes import (
    MISSING,
    bases_of,
    class_attribute,
    class_of,
    defining_class,
    is_plain,
)
from imprint.watch.places import (
    ClassPlace,
    Key,
    ObjectPlace,
    Place,
)

_PROBED: Final = 16
"""Places that one trace probes."""


@final
class Probes:
    """Finds out which places a trace reads; use it in a `with` around the trace.

    Args:
        places: attributes of classes and objects; others are left out.
    """

    def __init__(self, places: Iterable[Place]) -> None:
        ordered = sorted(places, key=lambda place: isinstance(place, ClassPlace))
        self._places = [
            place
            for place in ordered
            if may_probe(place) and isinstance(place, ClassPlace | ObjectPlace)
        ][:_PROBED]
        self._probed: dict[Key, Place] = {}
        self._read: set[Key] = set()

    def __enter__(self) -> Self:
        try:
            for place in self._places:
                self._install(place)
        except BaseException:  # an interrupt
            self._leave()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._leave()
        except BaseException:  # an interrupt
            self._leave()
            raise

    @property
    def unread(self) -> Mapping[Key, Place]:
        """The places that were probed and that nobody read, by their keys."""
        return {
            k: place for k, place in self._probed.copy().items() if k not in self._read
        }

    def _install(self, place: ClassPlace | ObjectPlace) -> None:
        owner: Any = None
        cls: type | None = None
        kind = ClassCover
        if isinstance(place, ObjectPlace):
            owner = place.owner()
            cls, kind = class_of(owner), ObjectCover
        else:
            cls = defining_class(place.cls, place.name)
        if cls is None or not is_user_class(cls):
            return
        if cover(cls, place.name, kind, Watcher(owner, place.key, self._read)):
            self._probed[place.key] = place

    def _leave(self) -> None:
        for each in tuple(COVERS):
            each.leave(self._read)


def may_probe(place: Place) -> bool:
    """Tell whether a place is one at which readers can be heard; the class may refuse."""
    if not isinstance(place, ClassPlace | ObjectPlace) or place.name.startswith("__"):
        return False
    if isinstance(place, ClassPlace):
        if layout_of_class(place.cls).is_frozen:
            return False  # what comes to hide a field of an object is seen there alone
        hiding = class_attribute(class_of(place.cls), place.name)
        return hiding is MISSING and is_plain(place.get())
    owner: Any = place.owner()
    cls: type = class_of(owner)
    layout = layout_of(owner)
    held = class_attribute(cls, place.name)
    is_slot = type(held) is MemberDescriptorType
    return (
        is_user_class(cls)
        and layout.is_open
        and (is_slot or (layout.has_dict and (held is MISSING or is_plain(held))))
        and class_attribute(class_of(cls), place.name) is MISSING
        and SimpleNamespace not in bases_of(cls)  # it compares in C what it holds
        and not is_tree_node(cls)
        and not subclasses_of(cls)  # `super()` looks past the object
    )


def uncover(values: Iterable[Any] | None = None) -> None:
    """Give up probes, before code starts that may take all that an object holds.

    Args:
        values: what it is given; None if it may come to anything.
    """
    if not COVERS:
        return
    found = None if values is None else list(reachable(values))
    classes = {id(base) for x in found or () for base in _classes_of(x)}
    for each in tuple(COVERS):
        if found is None or len(found) >= SEARCHED or id(each.cls) in classes:
            each.give_up()


def note_reads(keys: Collection[Key]) -> None:
    """Note places that an earlier trace read, whose result is used."""
    for each in tuple(COVERS):
        each.note([w for w in each.watchers if w.key in keys])


def _classes_of(value: Any) -> Iterable[type]:
    kind = class_of(value)
    return bases_of(value) if issubclass(kind, type) else bases_of(kind)
