"""Dependencies of a trace: the locations that it read and did not change.

For another function of the same code each location is found again from its parent. Plain
data has to be equal there, and other objects have to be the same.
"""

from collections.abc import Iterable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any, Final, final

import numpy as np

from imprint._src.core.array import NumberArray
from imprint._src.core.identity import Standin, identity
from imprint._src.jit.fingerprint.raw_access import (
    GONE,
    MISSING,
    class_of,
    storage_of,
)
from imprint._src.jit.guards.code_names import all_code
from imprint._src.jit.guards.locations import (
    CALL_PARTS,
    Cell,
    Contents,
    FunctionPart,
    Item,
    Key,
    Location,
    MissingNames,
    Root,
    location_name,
)
from imprint._src.jit.guards.values import Dependency, RecordedItems, RecordedValue

_ARRAYS: Final = (NumberArray, np.ndarray)
ExecutedCode = tuple[tuple[CodeType, frozenset[int] | None], ...]


@final
class Dependencies:
    """What a trace depends on.

    Args:
        roots: stand-ins of the function and of its static values.
        reads: the locations, each after its parents.
        ran: the code that ran, with the offsets of its instructions.
        written: the locations that the trace changed.
        later: stand-ins of functions that may run after the trace.
        unwritten: stand-ins of library objects that hold what they held before the
            trace; None if not all were visited.
        is_observed: whether it is known which instructions ran.
        is_shareable: whether a re-created function may use the trace.
    """

    __slots__ = (
        *("_captured", "_is_reached_twice", "is_observed", "is_shareable", "later"),
        *("ran", "reads", "roots", "unwritten", "written"),
    )

    def __init__(  # noqa: PLR0913 - the parts of a trace's record
        self,
        roots: tuple[Standin, ...] = (),
        reads: tuple[Dependency, ...] = (),
        ran: ExecutedCode = (),
        written: frozenset[Key] = frozenset(),
        later: tuple[Standin, ...] = (),
        unwritten: tuple[Standin, ...] | None = (),
        *,
        is_observed: bool = True,
        is_shareable: bool = True,
    ) -> None:
        self.roots: tuple[Standin, ...] = roots
        self.reads: tuple[Dependency, ...] = reads
        self.ran: ExecutedCode = ran
        self.written: frozenset[Key] = written
        self.later: tuple[Standin, ...] = later
        self.unwritten: tuple[Standin, ...] | None = unwritten
        self.is_observed: bool = is_observed
        self.is_shareable: bool = is_shareable
        self._captured: tuple[Dependency, ...] | None = None
        self._is_reached_twice: bool | None = None

    @classmethod
    def none(cls, roots: Iterable[Any]) -> "Dependencies":
        """Return those of a trace that depends only on its key."""
        return cls(tuple(map(identity, roots)), is_shareable=False)

    def is_of(self, roots: Iterable[Any]) -> bool:
        """Return whether the trace is of the very function and static values."""
        given = tuple(roots)
        return len(given) == len(self.roots) and all(
            standin() is value for standin, value in zip(self.roots, given, strict=True)
        )

    @property
    def calls_static(self) -> bool:
        """Whether the program may call a function that is a static value."""
        found = (standin() for standin in self.roots[1:])
        return not self.is_shareable and any(class_of(x) is FunctionType for x in found)

    def hold_functions(self) -> None:
        """Compare functions by identity, because the program calls them when it runs."""
        self.is_shareable = False
        if not self.is_observed:  # else it is known which of them ran in the trace
            for _, seen in self.reads:
                for each in _values_of(seen):
                    each.has_run = False

    # ---- other functions, or values that moved ----

    def rebound(self, roots: Iterable[Any]) -> "Dependencies | None":
        """Return the dependencies of another function, or of values that moved.

        Plain data and captured values have to be equal; other objects have to be the same.

        Args:
            roots: the function, and its static values.

        Returns:
            None if something changed.
        """
        given = (*roots,)
        if not self._is_alike(given):
            return None
        reads: list[Dependency] = []
        codes: dict[int, CodeType] = {}
        functions: dict[int, Any] = {}
        passed: list[tuple[Location, Location, Any]] = []
        held = {id(standin()) for standin in self.later} - {id(None)}
        for (location, seen), now, value, is_equal in self._found(given, self.reads):
            if now is None:
                return None
            if value is GONE:
                continue
            if held and now is not location and id(location.owner) in held:
                return None  # the trace holds the very function, and will call it
            if not (is_equal and self._accepts(seen, value, functions)):
                return None
            passed.append((location, now, value))
            if type(now) is MissingNames and value:
                reads += _as_shown(now, value)
                continue
            is_it = now.key == location.key and seen.value is value
            reads.append(
                Dependency(now, seen if is_it else _recorded(now, seen, value))
            )
            if location.name == "__code__" and seen.value is not value:
                codes.update(_replaced_codes(seen.value, value))
        if _is_split(passed):
            return None
        ran = tuple((codes.get(id(code), code), offsets) for code, offsets in self.ran)
        return self._with(tuple(reads), tuple(map(identity, given)), ran)

    def _accepts(self, seen: Any, value: Any, functions: dict[int, Any]) -> bool:
        """Return whether a value may be another function than the recorded one.

        Args:
            seen: the recorded value.
            value: the value now.
            functions: the functions now, by the identity of the recorded ones.
        """
        if seen.kind is not FunctionType:
            return True
        if functions.setdefault(_id_of(seen), value) is not value:
            return False  # its parts are found by only one of its paths
        return self.is_shareable or value is seen.value  # a callback is the very one

    def fits(self, roots: Iterable[Any]) -> bool:
        """Return whether the captured values of another function are equal.

        Args:
            roots: the function, and its static values.
        """
        given = (*roots,)
        if not self._is_alike(given) or self.has_shared_functions:
            return False
        passed: list[tuple[Location, Location, Any]] = []
        for read, now, value, is_equal in self._found(given, self.captured):
            if now is None or not is_equal:
                return False
            passed.append((read.location, now, value))
        return not _is_split(passed)

    def differing(self, roots: Iterable[Any]) -> list[tuple[Dependency, Any]]:
        """Return the locations that differ for another function, with the values there.

        Args:
            roots: the function, and its static values.
        """
        return [
            (part, part.location.get())
            for read, now, _, is_equal in self._found((*roots,), self.reads)
            if now is not None and not is_equal
            for part in Dependency(now, read.seen).parts(only_changed=True)
        ]

    def _found(
        self, roots: tuple[Any, ...], reads: tuple[Dependency, ...]
    ) -> Iterator[tuple[Dependency, Location | None, Any, bool]]:
        """Yield each location, where it is now, the value there, and whether it is equal.

        The second is None if the location is not found; a value that is GONE is equal.
        """
        is_new = not self.is_of(roots)
        relocation = _Relocation(roots, is_same=not is_new)
        for read in reads:
            now = relocation.location(read.location)
            value = GONE if now is None else now.get()
            is_equal = (
                now is None
                or value is GONE
                or _matches(read, now, value, is_new=is_new)
            )
            yield read, now, value, is_equal

    def _is_alike(self, roots: tuple[Any, ...]) -> bool:
        if len(roots) != len(self.roots):
            return False
        if not (self.is_shareable or self.is_of(roots)):
            return False
        before = self.roots[0]() if roots else None
        return before is None or class_of(before) is class_of(roots[0])

    @property
    def captured(self) -> tuple[Dependency, ...]:
        """The locations that are reached through the function or a static value."""
        if self._captured is None:
            self._captured = tuple(r for r in self.reads if is_captured(r.location))
        return self._captured

    @property
    def has_shared_functions(self) -> bool:
        """Whether a captured function is also found on another path.

        Then neither half of the locations shows whether both reach one function.
        """
        if self._is_reached_twice is None:
            held = {*map(id, self.captured)}
            found = [r for r in self.reads if r.seen.kind is FunctionType]
            inner = {_id_of(r.seen) for r in found if id(r) in held}
            self._is_reached_twice = any(
                _id_of(r.seen) in inner for r in found if id(r) not in held
            )
        return self._is_reached_twice

    def of_others(self) -> "Dependencies":
        """Return the dependencies that another function has too."""
        captured = {*map(id, self.captured)}
        reads = tuple(r for r in self.reads if id(r) not in captured)
        return Dependencies(
            (), reads, self.ran, self.written, is_shareable=self.is_shareable
        )

    def without(self, written: frozenset[Key]) -> "Dependencies":
        """Return them without locations that each trace is known to fill in."""
        reads = tuple(
            r for r in self.reads if not (r.seen.is_left and r.location.key in written)
        )
        for location, seen in reads:
            if isinstance(location, Contents) and seen.rest is not None:
                at = "part", id(location.container)
                seen.learn({name for *place, name in written if (*place,) == at})
        if len(reads) == len(self.reads):
            return self
        return self._with(reads, self.roots, self.ran)

    def _with(
        self,
        reads: tuple[Dependency, ...],
        roots: tuple[Standin, ...],
        ran: ExecutedCode,
    ) -> "Dependencies":
        return Dependencies(
            roots,
            reads,
            ran,
            self.written,
            self.later,
            self.unwritten,
            is_observed=self.is_observed,
            is_shareable=self.is_shareable,
        )

    # ---- the same function ----

    def holds(self) -> bool:
        """Return whether everything is unchanged, by value."""
        return all([read.holds() for read in self.reads])  # noqa: C419 - a generator takes 100 ns more

    def is_lost(self) -> bool:
        """Return whether it can never hold again."""
        return any(read.is_lost for read in self.reads)

    def arrays(self) -> list[Any]:
        """Return the arrays without which it can never hold again."""
        seen = [each for _, seen in self.reads for each in _values_of(seen)]
        alone = [x.value for x in seen if issubclass(x.kind, _ARRAYS) and x.is_alone]
        return [x for x in alone if x is not GONE]

    def failing(self) -> list[Dependency]:
        """Return the locations that changed."""
        return [
            part
            for read in self.reads
            if not read.holds()
            for part in read.parts(only_changed=True)
        ]

    @property
    def names(self) -> tuple[str, ...]:
        """The locations, as a user would name them."""
        return tuple(str(location_name(at)) for at in self.locations)

    @property
    def locations(self) -> list[Location]:
        """The locations to show to users: not the code of the function itself."""
        found = [part for read in self.reads for part in read.parts()]
        return [at for at, seen in found if _is_shown(at, seen)]


def _as_shown(at: MissingNames, found: Iterable[str]) -> Iterator[Dependency]:
    """Yield attributes that an object got, equal to those of its class, and the others."""
    for part in map(at.part, found):
        yield Dependency(part, RecordedValue(part.get()))
    rest = at.without(found)
    if rest.name:
        yield Dependency(rest, RecordedValue(()))


def _is_split(passed: Sequence[tuple[Location, Location, Any]]) -> bool:
    """Return whether two paths reached one container, and one reaches another now.

    The items have one path only, which shows those of the other container.
    """
    moved = {
        id(was.owner)
        for was, now, _ in passed
        if isinstance(now, Item | Contents) and now.owner is not was.owner
    }
    return bool(moved) and any(id(value) in moved for _, _, value in passed)


def _is_shown(location: Location, seen: Any) -> bool:
    at = location.parent if isinstance(location, Contents) else location
    if not isinstance(at, FunctionPart) or at.name not in CALL_PARTS:
        return True
    return not (isinstance(at.parent, Root) or seen.value is None)


def _values_of(seen: Any) -> tuple[RecordedValue, ...]:
    return seen.items if type(seen) is RecordedItems else (seen,)


def _id_of(seen: Any) -> int:
    """Return the identity of a recorded object, which may be gone."""
    return id(seen.reference or seen.value)


def _replaced_codes(was: Any, now: Any) -> Iterable[tuple[int, CodeType]]:
    """Yield each code object in an equal one, by the `id` of its predecessor."""
    if class_of(was) is class_of(now) is CodeType:
        old, new = [*all_code(was)], [*all_code(now)]
        if len(old) == len(new):
            yield from ((id(a), b) for a, b in zip(old, new, strict=True))


def _matches(read: Dependency, now: Location, value: Any, *, is_new: bool) -> bool:
    """Return whether a value equals the one recorded at a location that moved."""
    location, seen = read
    is_array = is_new and seen.has_arrays and isinstance(now, Cell)
    if now.key != location.key or is_array:
        return bool(seen.matches_again(value, is_captured=is_captured(location)))
    return Dependency(now, seen).matches(value) or (
        type(seen) is RecordedValue and seen.matches_again(value, is_captured=False)
    )


def _recorded(location: Location, seen: Any, value: Any) -> Any:
    """Record the value at a location in place of an earlier one."""
    again: Any
    captured = is_captured(location)
    if type(seen) is RecordedItems:
        items = value if seen.rest is None else seen.rest(value)
        again = RecordedItems(
            items, is_captured=captured, is_strict=seen.is_strict, rest=seen.rest
        )
    else:
        again = RecordedValue(value, is_captured=captured, is_strict=seen.is_strict)
    for new, old in zip(_values_of(again), _values_of(seen), strict=True):
        new.has_run, new.by_parts = old.has_run, old.by_parts
    again.is_left = seen.is_left
    return again


def is_captured(location: Location, known: dict[int, bool] | None = None) -> bool:
    """Return whether a location is reached through the function or a static value.

    Args:
        location: it.
        known: the answers so far, by the `id` of a location; it is extended.
    """
    at: Location | None = location
    passed: list[int] = []
    known = {} if known is None else known
    while at is not None and id(at) not in known and not isinstance(at, Root):
        passed.append(id(at))
        at = at.parent
    found = at is not None and known.get(id(at), True)
    known.update(dict.fromkeys(passed, found))
    return found


@final
class _Relocation:
    """Locations of other roots, each found from its parent."""

    def __init__(self, roots: tuple[Any, ...], *, is_same: bool) -> None:
        self._roots = roots
        self._is_same = is_same
        self._known: dict[int, Location | None] = {}

    def location(self, location: Location) -> Location | None:
        """Return a location with its present owner; None if it has none."""
        if id(location) not in self._known:
            self._known[id(location)] = self._find(location)
        return self._known[id(location)]

    def _find(self, location: Location) -> Location | None:
        if isinstance(location, Root):
            if location.index >= len(self._roots):
                return None
            root = self._roots[location.index]
            if root is None or location.owner is root:
                return location
            return location.on(root, None)
        if location.parent is None:  # a function without a parent cannot be found again
            is_lost = not self._is_same and isinstance(location, FunctionPart | Cell)
            return None if is_lost else location
        parent = self.location(location.parent)
        if parent is None:
            return None
        owner = parent.get()
        if parent is location.parent and (owner is location.owner or owner is GONE):
            return location
        if owner is MISSING or owner is GONE:
            return location if location.owner is None else None
        if not _has_same_class(location, owner):
            return None
        try:
            return location.on(owner, parent)
        except (AttributeError, IndexError, TypeError):
            return None


def _has_same_class(location: Location, owner: Any) -> bool:
    """Return whether an owner is of the class that a location needs."""
    if isinstance(location, Item | Contents):
        return storage_of(owner) is storage_of(location.container)
    before = location.owner
    if before is None:  # it is gone
        return issubclass(class_of(owner), location.owner_class)
    return class_of(before) is class_of(owner)
