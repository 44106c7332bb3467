"""What a trace depends on: the locations that it read and did not change.

They are looked up again for another function of the same code: each location from its
parent. Plain data has to be equal there, and other objects have to be the same.
"""

from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import Any, Final, final

import numpy as np

from imprint._src.core.array import NumberArray
from imprint._src.core.identity import Standin, identity
from imprint._src.jit.guards.code_names import code_names
from imprint._src.jit.guards.locations import (
    GONE,
    MISSING,
    WHAT_RUNS,
    Cell,
    Contents,
    FunctionPart,
    Item,
    Key,
    Location,
    Root,
    class_of,
    location_name,
    storage_of,
)
from imprint._src.jit.guards.values import (
    Dependency,
    RecordedItems,
    RecordedValue,
)

_ARRAYS: Final = (NumberArray, np.ndarray)
ExecutedCode = tuple[tuple[CodeType, frozenset[int] | None], ...]


@final
class Dependencies:
    """What a trace depends on.

    Args:
        roots: stand-ins of the function and of its static values.
        reads: the locations, each after those that lead to it.
        ran: the code that ran, with the offsets of its instructions.
        written: the locations that the trace changed.
        is_observed: whether it is known which instructions ran.
        later: stand-ins of functions that may run when the trace is over.
        is_shareable: whether a function that was re-created may use the trace.
    """

    __slots__ = (
        *(
            "_captured",
            "_is_twice",
            "is_observed",
            "is_shareable",
            "later",
            "ran",
            "reads",
            "roots",
        ),
        "written",
    )

    def __init__(  # noqa: PLR0913 - what a trace is known by
        self,
        roots: tuple[Standin, ...] = (),
        reads: tuple[Dependency, ...] = (),
        ran: ExecutedCode = (),
        written: frozenset[Key] = frozenset(),
        later: tuple[Standin, ...] = (),
        *,
        is_observed: bool = True,
        is_shareable: bool = True,
    ) -> None:
        self.roots: tuple[Standin, ...] = roots
        self.reads: tuple[Dependency, ...] = reads
        self.ran: ExecutedCode = ran
        self.written: frozenset[Key] = written
        self.later: tuple[Standin, ...] = later
        self.is_observed: bool = is_observed
        self.is_shareable: bool = is_shareable
        self._captured: tuple[Dependency, ...] | None = None
        self._is_twice: bool | None = None

    @classmethod
    def none(cls, roots: Iterable[Any]) -> "Dependencies":
        """Return those of a trace that nothing but its key decides about."""
        return cls(tuple(map(identity, roots)), is_shareable=False)

    def is_of(self, roots: Iterable[Any]) -> bool:
        """Return whether a trace of the very function and static values is meant."""
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
        """Let functions count by identity, as the program calls them when it runs."""
        self.is_shareable = False
        if self.is_observed:  # then it is known which of them ran in the trace
            return
        for _, seen in self.reads:
            for each in seen.items if type(seen) is RecordedItems else (seen,):
                each.has_run = False

    def rebound(self, roots: Iterable[Any]) -> "Dependencies | None":
        """Return the same dependencies of another function, or of values that moved.

        Each location is looked up again from its parent; plain data has to be equal, as
        has what the function captures; other objects have to be the same.

        Args:
            roots: the function, and its static values.

        Returns:
            None if something is not as it was.
        """
        given = (*roots,)
        is_same = self.is_of(given)
        if not self._is_alike(given):
            return None
        moved = _Relocation(given, is_same=is_same)
        reads: list[Dependency] = []
        codes: dict[int, CodeType] = {}
        functions: dict[int, Any] = {}
        held = {id(standin()) for standin in self.later}
        for location, seen in self.reads:
            now = moved.location(location)
            if now is None:
                return None
            value = now.get()
            if value is GONE:
                continue
            if held and now is not location and id(location.owner) in held:
                return None  # the trace holds the very function, and will call it
            is_function = seen.kind is FunctionType
            if is_function and functions.setdefault(_id_of(seen), value) is not value:
                return None  # its parts are found by one of its ways
            is_other = is_function and value is not seen.value
            if is_other and not self.is_shareable:  # a callback is the very function
                return None
            if not _stands(location, now, seen, value, is_anew=not is_same):
                return None
            is_it = now.key == location.key and seen.value is value
            reads.append(
                Dependency(now, seen if is_it else _seen_again(now, seen, value))
            )
            if location.name == "__code__" and seen.value is not value:
                codes.update(_renewed(seen.value, value))
        ran = tuple((codes.get(id(code), code), offsets) for code, offsets in self.ran)
        return self._with(tuple(reads), tuple(map(identity, given)), ran)

    def _is_alike(self, roots: tuple[Any, ...]) -> bool:
        if len(roots) != len(self.roots):
            return False
        if not (self.is_shareable or self.is_of(roots)):
            return False
        before = self.roots[0]() if roots else None
        return before is None or class_of(before) is class_of(roots[0])

    def fits(self, roots: Iterable[Any]) -> bool:
        """Return whether what another function captures is as it was.

        Args:
            roots: the function, and its static values.
        """
        given = (*roots,)
        if not self._is_alike(given) or self.has_twice:
            return False
        is_anew = not self.is_of(given)
        moved = _Relocation(given, is_same=not is_anew)
        for location, seen in self.captured:
            now = moved.location(location)
            if now is None:
                return False
            value = now.get()
            if value is not GONE and not _stands(
                location, now, seen, value, is_anew=is_anew
            ):
                return False
        return True

    @property
    def captured(self) -> tuple[Dependency, ...]:
        """The locations that are reached through the function or a static value."""
        if self._captured is None:
            self._captured = tuple(r for r in self.reads if is_captured(r.location))
        return self._captured

    @property
    def has_twice(self) -> bool:
        """Whether a function that is captured is also found by another way.

        Then neither half of the locations tells whether both lead to one function.
        """
        if self._is_twice is None:
            held = {*map(id, self.captured)}
            found = [r for r in self.reads if r.seen.kind is FunctionType]
            inner = {_id_of(r.seen) for r in found if id(r) in held}
            self._is_twice = any(
                _id_of(r.seen) in inner for r in found if id(r) not in held
            )
        return self._is_twice

    def of_others(self) -> "Dependencies":
        """Return those that are the same for another function."""
        captured = {*map(id, self.captured)}
        reads = tuple(r for r in self.reads if id(r) not in captured)
        return Dependencies((), reads, self.ran, self.written)

    def differing(self, roots: Iterable[Any]) -> list[tuple[Dependency, Any]]:
        """Return what is not the same for another function, with the values there.

        Args:
            roots: the function, and its static values.
        """
        given = (*roots,)
        is_anew = not self.is_of(given)
        moved = _Relocation(given, is_same=not is_anew)
        found: list[tuple[Dependency, Any]] = []
        for location, seen in self.reads:
            now = moved.location(location)
            value = GONE if now is None else now.get()
            if now is None or value is GONE:  # what leads there differs, too
                continue
            if not _stands(location, now, seen, value, is_anew=is_anew):
                found.append((Dependency(now, seen), value))
        return found

    def without(self, written: frozenset[Key]) -> "Dependencies":
        """Return them without what traces left, and are known by now to write each time."""
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
            is_observed=self.is_observed,
            is_shareable=self.is_shareable,
        )

    def holds(self) -> bool:
        """Return whether everything is as it was, by value."""
        return all([read.holds() for read in self.reads])  # noqa: C419 - a generator takes 100 ns more

    def is_lost(self) -> bool:
        """Return whether it can never hold again."""
        return any(read.is_lost for read in self.reads)

    def arrays(self) -> list[Any]:
        """Return the arrays without which it can never hold again."""
        seen = [
            each
            for _, seen in self.reads
            for each in (seen.items if type(seen) is RecordedItems else (seen,))
            if issubclass(each.kind, _ARRAYS) and each.is_alone
        ]
        return [x for x in (each.value for each in seen) if x is not GONE]

    def failing(self) -> list[Dependency]:
        """Return the locations that are not as they were."""
        return [read for read in self.reads if not read.holds()]

    @property
    def names(self) -> tuple[str, ...]:
        """The locations, as a user would name them."""
        return tuple(str(place) for place in map(location_name, self.locations))

    @property
    def locations(self) -> list[Location]:
        """The locations that tell a user something: not the code of the function itself."""
        return [at for at, seen in self.reads if _tells(at, seen)]


def _tells(location: Location, seen: Any) -> bool:
    """Return whether to know of a location tells a user something."""
    at = location.parent if isinstance(location, Contents) else location
    if not isinstance(at, FunctionPart) or at.name not in WHAT_RUNS:
        return True
    return not (isinstance(at.parent, Root) or seen.value is None)


def _id_of(seen: Any) -> int:
    """Return what is the same for two that saw one object, also when it is gone."""
    return id(seen.reference or seen.value)


def _renewed(was: Any, now: Any) -> Iterable[tuple[int, CodeType]]:
    """Yield each code object in one that is equal, by the `id` of the one that it replaces."""
    if class_of(was) is class_of(now) is CodeType:
        old, new = [*all_code(was)], [*all_code(now)]
        if len(old) == len(new):
            yield from ((id(a), b) for a, b in zip(old, new, strict=True))


def _stands(
    location: Location, now: Location, seen: Any, value: Any, *, is_anew: bool
) -> bool:
    """Return whether a value may stand for what was seen at a location that moved."""
    is_array = is_anew and seen.has_arrays and isinstance(now, Cell)
    if now.key != location.key or is_array:
        return bool(seen.matches_again(value, is_captured=is_captured(location)))
    return (
        Dependency(now, seen).matches(value)
        or (seen.by_parts and class_of(value) is seen.kind)
        or (
            type(seen) is RecordedValue and seen.matches_again(value, is_captured=False)
        )
    )


def _seen_again(location: Location, seen: Any, value: Any) -> Any:
    """Return what is seen now, in place of what was seen there."""
    if type(seen) is RecordedItems:
        items = value if seen.rest is None else seen.rest(value)
        again: Any = RecordedItems(
            items,
            is_captured=is_captured(location),
            is_strict=seen.is_strict,
            rest=seen.rest,
        )
        for new, old in zip(again.items, seen.items, strict=True):
            new.has_run, new.by_parts = old.has_run, old.by_parts
    else:
        again = RecordedValue(
            value, is_captured=is_captured(location), is_strict=seen.is_strict
        )
        again.by_parts, again.has_run = seen.by_parts, seen.has_run
    again.is_left = seen.is_left
    return again


def is_captured(location: Location, known: dict[int, bool] | None = None) -> bool:
    """Return whether a location is reached through the function or a static value.

    Args:
        location: it.
        known: the answers so far, by the `id` of a location; takes in more of them.
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
    """Locations of another root, each found from its parent."""

    def __init__(self, roots: tuple[Any, ...], *, is_same: bool) -> None:
        self._roots = roots
        self._is_same = is_same
        self._known: dict[int, Location | None] = {}

    def location(self, location: Location) -> Location | None:
        """Return a location where its owner is now; None if there is none."""
        known = self._known.get(id(location), self)
        if known is not self:
            return known  # pyright: ignore[reportReturnType] - `self` stands for nothing
        made = self._known[id(location)] = self._make(location)
        return made

    def _make(self, location: Location) -> Location | None:
        if isinstance(location, Root):
            if location.index >= len(self._roots):
                return None
            root = self._roots[location.index]
            if root is None or location.owner is root:
                return location
            return location.on(root, None)
        if location.parent is None:  # a function that is not found again may be another
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
        if not _fits(location, owner):
            return None
        try:
            return location.on(owner, parent)
        except (AttributeError, IndexError, TypeError):
            return None


def _fits(location: Location, owner: Any) -> bool:
    """Return whether an owner is of the kind that a location is of."""
    if isinstance(location, Item | Contents):
        return storage_of(owner) is storage_of(location.container)
    before = location.owner
    return before is None or class_of(before) is class_of(owner)


def all_code(code: CodeType) -> Iterable[CodeType]:
    """Yield a code object and all that are within it."""
    yield code
    for inner in code_names(code).nested:
        yield from all_code(inner)
