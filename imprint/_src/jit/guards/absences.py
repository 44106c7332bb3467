"""Names that a trace looked for and did not find.

An absent name is an input of the trace: the owner may get it. All absent names of one owner
are one location, so a trace costs an object once, not once for each name.
"""

from collections.abc import Iterable, Iterator
from types import CellType
from typing import Final, final

from imprint._src.core.user_code import is_user_class
from imprint._src.jit.fingerprint.layout import layout_of
from imprint._src.jit.fingerprint.raw_access import MISSING, class_of
from imprint._src.jit.guards.code_names import code_names
from imprint._src.jit.guards.executed import Executed
from imprint._src.jit.guards.locations import (
    Attribute,
    Cell,
    ClassAttribute,
    FunctionPart,
    Global,
    Item,
    Key,
    Location,
    MissingNames,
    answers_keys,
    held_names,
)
from imprint._src.jit.guards.reachable import (
    BY_NAME,
    ReachableValues,
    Readers,
    has_getattr,
    object_path,
)
from imprint._src.jit.guards.values import Dependency, RecordedValue

_NONE: Final[frozenset[str]] = frozenset()


@final
class Absences:
    """The names that owners lack, of those that executed code looked for.

    Args:
        reached: the owners.
        executed: the code that ran.
        read: all names that code reads; a user's `__getattr__` may answer them.
    """

    def __init__(
        self, reached: ReachableValues, executed: Executed, read: Iterable[str]
    ) -> None:
        self._reached = reached
        self._owners: dict[Key, tuple[MissingNames, set[str]]] = {}
        names = frozenset(_missed_names(executed))
        every = names.union(read)
        for value, location in reached.objects.values():
            kind = class_of(value)
            is_users = is_user_class(kind)
            is_known = is_users or answers_keys(kind)
            wanted = every if is_known and has_getattr(kind) else names
            if is_known or layout_of(value).is_named:
                at = MissingNames(value, wanted, location, object_path(value, location))
                self._want(at)
        for held, location in reached.settings.values():
            self._want(MissingNames(held, every, location, location.value_path))
        for cls in filter(is_user_class, reached.classes.values()):
            self._want(MissingNames(cls, every if has_getattr(cls) else names))
        for found in reached.functions.values() if names else ():
            for function, location in found:
                if isinstance(location, _NAMED):
                    self._want(MissingNames(function, names, location))
        for module in reached.modules() if names else ():
            reached.add(Global(module, "__getattr__"), Readers(always=True))
            self._want(MissingNames(module, names))
        self._add_filled_in()

    def _add_filled_in(self) -> None:
        """Add the locations of names that the trace bound where owners lacked them."""
        reached = self._reached
        for at, _ in self._owners.values():
            for name in held_names(at.owner, at.name):
                reached.add(at.part(name), BY_NAME)

    def _want(self, at: MissingNames, names: Iterable[str] = ()) -> None:
        """Add names of an owner: those of a location, and more."""
        if at.name or names:
            key = "absent", id(at.standin), id(at.parent)
            self._owners.setdefault(key, (at, set()))[1].update(names)

    def merged(
        self, reads: Iterable[Dependency], written: set[Key]
    ) -> Iterator[Dependency]:
        """Yield locations that were read, the absent names of each owner as one.

        Args:
            reads: the locations that were read.
            written: those that the trace wrote.
        """
        of_classes: dict[int, set[str]] = {}
        for read in reads:
            at, seen = read
            if seen.value is not MISSING or seen.is_left or not _is_plain_part(at):
                yield read
                if isinstance(at, ClassAttribute) and at.name[:2] != "__":
                    of_classes.setdefault(id(at.owner), set()).add(at.name)
            elif at.owner is not None:
                self._want(
                    MissingNames(at.owner, _NONE, at.parent, at.path), (at.name,)
                )
        self._want_hiding(of_classes)
        yield from self._lacking(written)

    def _want_hiding(self, of_classes: dict[int, set[str]]) -> None:
        """Add names that would hide attributes of classes, by the `id` of the class."""
        for value, location in self._reached.objects.values() if of_classes else ():
            names = of_classes.get(id(class_of(value)))
            if names and layout_of(value).has_dict:
                path = object_path(value, location)
                self._want(MissingNames(value, _NONE, location, path), names)

    def _lacking(self, written: set[Key]) -> Iterator[Dependency]:
        """Yield the names that owners lack, and that the trace did not delete."""
        deleted: dict[int, set[str]] = {}
        for _, owner, name in written:
            if type(name) is str:
                deleted.setdefault(owner, set()).add(name)
        for at, more in self._owners.values():
            names = at.name.union(more) if more else at.name
            held = held_names(at.owner, names)
            if held and answers_keys(class_of(at.owner)):
                yield from _unhidden(at, held)
            held = held.union(deleted.get(id(at.standin), ()))
            names = names.difference(held) if held else names
            if names:
                here = MissingNames(at.owner, names, at.parent, at.path)
                yield Dependency(here, RecordedValue(()))


def _unhidden(at: MissingNames, held: frozenset[str]) -> Iterator[Dependency]:
    """Yield the attributes that would hide keys of settings, such as a Munch."""
    for name in held:
        attribute = Attribute(at.owner, name, at.parent, at.path)
        if attribute.get() is MISSING:
            yield Dependency(attribute, RecordedValue(MISSING))


_NAMED: Final = (Global, Cell, Attribute, Item, ClassAttribute)


def _is_plain_part(at: Location) -> bool:
    """Return whether a location is a name that its owner may get."""
    is_part = isinstance(at, Attribute | ClassAttribute | FunctionPart)
    return is_part and class_of(at.owner) is not CellType


def _missed_names(executed: Executed) -> Iterator[str]:
    """Yield the attributes that code may not have found, where it went on."""
    every = [(code, code_names(code)) for code in executed.codes.values()]
    # Without events, the handler, `with` or getattr of a caller may catch the error.
    handles = not executed.is_observed and any(
        code.co_exceptiontable or found.constants or found.handles
        for code, found in every
    )
    for code, found in every:
        for name, offset in found.constants:
            if executed.is_executed(code, offset):
                yield name
        is_any = handles or (executed.is_whole(code) and found.handles)
        for chain in found.chains:
            for step in chain.steps:
                if not step.kind.is_item and (
                    is_any or executed.raised(code, step.offset, step.after)
                ):
                    yield step.name
