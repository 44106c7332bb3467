"""Owners: what a trace met that has names, and what leads to it.

A module, a function, a class, an object: each waits here until code mentions a name that
it has. What leads to it is what messages call it by, and tells whose it is.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Final, TypeAlias

from imprint.core.identity import ids_of
from imprint.core.libraries import is_user_class
from imprint.definition.layout import Layout, layout_of
from imprint.record.writes import is_all_users
from imprint.tree.walk import registered
from imprint.watch.captures import CONTAINERS, contained
from imprint.watch.places import ItemPlace, ObjectPlace, Place
from imprint.watch.seen import class_of

ATOMS: Final = ids_of(int, bool, float, complex, bytes, type(None), type(Ellipsis))
"""Classes whose instances lead to nothing."""
_CHANGING: Final = CONTAINERS - ids_of(tuple, frozenset)
Holder: TypeAlias = tuple[Mapping[str, Any], int, Callable[[str], Place]]


@dataclass(slots=True)
class Owners:
    """What was met and has names: modules, functions, classes, objects.

    Attributes:
        modules: their dictionaries, by `id`.
        own: which of them are of imprint: by what names they call is all that counts.
        libraries: what modules and classes of libraries hold, by `id`.
        functions: the user's.
        made: classes, by `id`.
        new: classes that the trace makes, as far as they tell, by `id`.
        of_classes: names that are noted, by the `id` of a class.
        objects: each with its class, what leads to it, and whether it is passing.
        shadowed: classes and modules, which may be of classes of the user's.
        holders: dictionaries with the names of owners, how many these had when they
            were met, and what gives the place of a name.
        leaves: classes that are no nodes of trees when they are met, by `id`.
        written_into: containers that methods of theirs change, met alone, by `id`.
        paths: what leads to a value that was met, by its `id`.
        kept: what objects lead to whose classes are not all the user's, by `id`: of those
            that keep what users set their package, whose other objects count there, too.
        unnamed: values to which no names lead so far, by `id`.
        members: containers with what was in them when they were met, by `id`.
        asks_super: whether code of the trace asks for `super()`.
        asks_class: whether it asks of which class objects are, naming no attribute.
    """

    modules: dict[int, dict[str, Any]] = field(
        default_factory=dict[int, dict[str, Any]]
    )
    own: set[int] = field(default_factory=set[int])
    libraries: dict[int, Mapping[str, Any]] = field(
        default_factory=dict[int, Mapping[str, Any]]
    )
    functions: list[FunctionType] = field(default_factory=list[FunctionType])
    made: dict[int, type] = field(default_factory=dict[int, type])
    new: dict[int, type] = field(default_factory=dict[int, type])
    of_classes: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    objects: list[tuple[Any, type, str, bool]] = field(
        default_factory=list[tuple[Any, type, str, bool]]
    )
    shadowed: list[Any] = field(default_factory=list[Any])
    holders: list[Holder] = field(default_factory=list["Holder"])
    leaves: dict[int, type] = field(default_factory=dict[int, type])
    written_into: dict[int, Any] = field(default_factory=dict[int, Any])
    paths: dict[int, str] = field(default_factory=dict[int, str])
    kept: dict[int, str] = field(default_factory=dict[int, str])
    unnamed: dict[int, Any] = field(default_factory=dict[int, Any])
    members: dict[int, tuple[Any, list[Any]]] = field(
        default_factory=dict[int, "tuple[Any, list[Any]]"]
    )
    asks_super: bool = False
    asks_class: bool = False
    _users: dict[int, bool] = field(default_factory=dict[int, bool])
    _all_users: dict[int, bool] = field(default_factory=dict[int, bool])

    def meet_leaf(self, cls: type) -> None:
        """Take in a class whose objects may be leaves of trees now."""
        if id(cls) not in registered.threads:
            self.leaves[id(cls)] = cls

    def is_users(self, cls: type) -> bool:
        """Tell whether a class that was met is the user's; asked once for each."""
        known = self._users.get(id(cls))
        if known is None:
            known = self._users[id(cls)] = is_user_class(cls)
        return known

    def _is_all_users(self, cls: type) -> bool:
        known = self._all_users.get(id(cls))
        if known is None:
            known = self._all_users[id(cls)] = is_all_users(cls)
        return known

    def keeps(self, value: Any, layout: Layout) -> bool:
        """Tell whether an object keeps what users set, or is a part of one that does."""
        if layout.is_keeper and not self.is_users(class_of(value)):
            self.kept[id(value)] = layout.package
        return self.kept.get(id(value)) == layout.package

    def meet_parts(self, value: Any, parts: list[Any]) -> None:
        """Take in what a value holds, which a trace may take out of a container."""
        self.pass_on(value, parts)
        if parts and id(class_of(value)) in _CHANGING:
            self.members[id(value)] = value, parts

    def displaced(self) -> list[Any]:
        """Return the objects that are not any more in the container where they were."""
        found: list[Any] = []
        for container, members in self.members.values():
            now = {*map(id, contained(container))}
            found += [member for member in members if id(member) not in now]
        return [each for each in found if id(class_of(each)) not in ATOMS]

    def pass_on(self, owner: Any, values: Iterable[Any]) -> None:
        """Take in what an object or a container has inside."""
        package = self.kept.get(id(owner))
        if package is not None:
            self.kept.update((id(value), package) for value in values)

    def leads(self, place: Place, value: Any) -> None:
        """Take in what stands at a place of an object, or in a container."""
        if isinstance(place, ObjectPlace):
            owner = place.owner()
            if not self._is_all_users(class_of(owner)):
                self.kept.setdefault(id(owner), "")
            self.pass_on(owner, (value,))
        elif isinstance(place, ItemPlace):
            self.pass_on(place.container, (value,))

    def path_to(self, value: Any) -> str:
        """Return what leads to a value, as a user would write it; its class if unknown."""
        return self.paths.get(id(value)) or layout_of(value).name
