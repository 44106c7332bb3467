"""Watching: is what a trace read by name still there?

The places are compared one by one: an equal number, string, tuple, list or function is as
good as the object that was there. `Watch.guard` begins so. When that was done twice, the
guard is written: one function that looks each place up and compares by `is` (`writer`),
and asks for the comparison where something is another object. To write it takes as long
as to compare a hundred places or more, and many versions are called once. It is written
anew after twice as many comparisons, so that what is equal and new each time costs little.
"""

from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any, Final, NamedTuple, final
from weakref import ref

from imprint.definition.walk import NO_EFFECTS, Effects
from imprint.watch.captures import captured_functions, captured_reads, is_by_texts
from imprint.watch.classes import MISSING, class_of
from imprint.watch.places import (
    GONE,
    WHAT_RUNS,
    FunctionPlace,
    ItemPlace,
    ObjectPlace,
    is_of_whole,
)
from imprint.watch.seen import Read, Seen
from imprint.watch.writer import blank, write

_WRITTEN_AT: Final = 2
"""At which comparison of all places a guard is written first."""


@final
class Change(NamedTuple):
    """One watched place that does not hold any more what was seen there.

    Args:
        kind: "global", "closure", "class" or "function": whose the place is.
        name: the place, as a user would name it: `global SCALE`.
        old: what was seen.
        new: what is there now.
        module: the name of the module it is in.
        action: what was done: "rebound", "deleted", "defined" or "written into".
        is_of_whole: whether it counts because all does that is in the object.
    """

    kind: str
    name: str
    old: Any
    new: Any
    module: str
    action: str
    is_of_whole: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.action} in {self.module}"


@final
class Watch:
    """What a version read while it was traced.

    Args:
        reads: the places, with what was seen there.
    """

    __slots__ = ("__weakref__", "_compared", "_failing_first", "guard", "reads")

    def __init__(self, reads: Iterable[Read]) -> None:
        self.reads: tuple[Read, ...] = tuple(reads)
        self.guard: Final = blank(self.reads, self._otherwise())
        """Tells whether everything is as it was; None if nothing is watched. Hot."""
        self._compared = 0
        """How often place by place."""
        self._failing_first: Read | None = None
        """What did not hold when it was compared last: a miss asks all versions, often."""

    def holds(self) -> bool:
        """Tell whether everything is as it was."""
        return self.guard is None or self.guard()

    def changed(self) -> list[Change]:
        """List what is not as it was; what an object had that is gone, only if nothing else is."""
        failing = self._failing()
        lasting = [(read, now) for read, now in failing if now is not GONE]
        return [
            Change(
                read.place.kind,
                str(read.place),
                read.seen.shown(),
                now,
                read.place.module,
                _action(read, now),
                is_of_whole(read.place),
            )
            for read, now in lasting or failing
        ]

    def is_gone(self) -> bool:
        """Tell whether an object that was read is not alive any more: it never holds."""
        gone = (read for read in self.reads if read.seen.is_gone)
        return any(not _is_over(read, read.now()) for read in gone)

    def failing(self) -> list[Read]:
        """List the reads of which something else is there now."""
        return [read for read, _ in self._failing()]

    def _failing(self) -> list[tuple[Read, Any]]:
        reads = followed(self.reads)
        now = _moved(reads, [read.now() for read in reads])
        pairs = zip(reads, now, strict=True)
        return [(read, value) for read, value in pairs if _differs(read, value)]

    def count_changed(self) -> int:
        """Return how many places are not as they were."""
        return len(self.failing())

    def _otherwise(self) -> Callable[[], bool]:
        """Return what the guard asks when something is another object.

        It does not keep the watch, which keeps the guard, alive: what both hold would
        stay until a collection. Whoever keeps a guard keeps its watch.
        """
        reference = ref(self)

        def holds_by_content() -> bool:
            watch = reference()
            return watch is not None and watch._holds_by_content()

        return holds_by_content

    def _holds_by_content(self) -> bool:
        """Compare place by place; take equal values for what was seen from now on."""
        first = self._failing_first
        if first is not None and _differs(first, first.now()):
            return False
        reads, now = followed(self.reads), list[Any]()
        for read in reads:
            now.append(read.now())
            if not isinstance(read.place, FunctionPlace) and _differs(read, now[-1]):
                self._failing_first = None if _may_move(read) else read
                return False  # the rest would take most of the time
        self._failing_first = None
        now = _moved(reads, now)
        pairs = zip(reads, now, strict=True)
        if any(isinstance(r.place, FunctionPlace) and _differs(r, x) for r, x in pairs):
            return False
        self.reads = tuple(_renew(reads, now))
        self._compared = count = self._compared + 1
        if count >= _WRITTEN_AT and count & (count - 1) == 0:  # 2, 4, 8, ...
            guard: Any = self.guard
            write(guard, self.reads, self._otherwise())
        return True

    @property
    def names(self) -> tuple[str, ...]:
        """The watched places, as a user would name them."""
        return tuple(f"{read.place} in {read.place.module}" for read in self.reads)


def watch_definition(fun: Callable[..., Any], effects: Effects = NO_EFFECTS) -> Watch:
    """Return the watch over what a callable captures: while it holds, so does its token.

    Args:
        fun: the callable, of which what can change is in containers; `are_containers`.
        effects: state that does not count, as it does not in the token.
    """
    return Watch(captured_reads(fun, effects))


def followed(reads: tuple[Read, ...]) -> tuple[Read, ...]:
    """Return the reads with the dicts that stand now where the trace read some by key.

    One that was replaced by another is as good while the same is under those keys. It
    stays the one that was read where not all its places have the same dict now. What is
    inside one that was replaced is looked for in the other, in whatever order it was read.
    """
    moved: dict[int, dict[str, Any]] = {}
    while True:
        now, is_one, found = moved.copy(), True, list[Read]()
        for read in reads:
            known = _by_key(read)
            at = _at(read, known, now) if now else read
            if known is not None:
                there: Any = at.place.get()
                there = there if is_by_texts(there) else known
                if there is not known:
                    now.setdefault(id(known), there)
                is_one &= there is now.get(id(known), known)
            found.append(at)
        if len(now) == len(moved):
            return tuple(found) if moved and is_one else reads
        moved = now


def _by_key(read: Read) -> dict[str, Any] | None:
    """Return the dict that a place had, of which what was read is watched by key."""
    seen = read.seen
    known: Any = seen.held.get() if seen.is_bare and not seen.is_left else None
    return known if class_of(known) is dict else None


def _at(
    read: Read, known: dict[str, Any] | None, moved: dict[int, dict[str, Any]]
) -> Read:
    """Return a read of what stands now, where some dicts were replaced.

    Args:
        read: it.
        known: the dict that it had, if it is watched by key.
        moved: what stands in the place of dicts, by their `id`.
    """
    place, seen = read.place, read.seen
    if isinstance(place, ItemPlace) and id(place.container) in moved:
        place = ItemPlace(moved[id(place.container)], place.name, place.path)
    if known is not None and id(known) in moved:
        seen = Seen.as_itself(moved[id(known)])
    is_same = place is read.place and seen is read.seen
    return read if is_same else Read(place, seen)


def _may_move(read: Read) -> bool:
    """Tell whether it may be another place by now that has what was read; see `followed`."""
    return read.seen.is_bare or isinstance(read.place, ItemPlace)


def _moved(reads: tuple[Read, ...], now: list[Any]) -> list[Any]:
    """Return what is at places; of a function that was replaced, what the other has.

    It may be equal, by code, defaults and attributes, and called or annotated otherwise.
    """
    moved = {
        id(read.seen.held.get()): value
        for read, value in zip(reads, now, strict=True)
        if class_of(value) is FunctionType and not read.seen.held.is_(value)
    }
    if not moved:
        return now
    return [
        FunctionPlace(moved[id(read.place.function)], read.place.name).get()
        if isinstance(read.place, FunctionPlace)
        and id(read.place.function) in moved
        and read.place.name not in WHAT_RUNS
        else value
        for read, value in zip(reads, now, strict=True)
    ]


def _differs(read: Read, now: Any) -> bool:
    return not (read.seen.matches(now) or _is_over(read, now))


def _is_over(read: Read, now: Any) -> bool:
    """Tell whether a place does not count any more.

    Its object is gone; or by now the traces are known to write there.
    """
    place = read.place
    if read.is_past:
        return True
    return now is GONE and isinstance(place, ObjectPlace) and place.is_passing


def _renew(reads: Iterable[Read], now: Iterable[Any]) -> Iterator[Read]:
    """Yield the reads with equal values in the place of those that were seen."""
    moved: dict[int, Any] = {}
    for read, value in zip(reads, now, strict=True):
        place, seen = read.place, read.seen
        if isinstance(place, FunctionPlace) and id(place.function) in moved:
            place = FunctionPlace(moved[id(place.function)], place.name)
            yield Read(place, Seen(place.get(), strict=seen.strict))
        elif read.is_past:
            continue
        elif value is GONE or (seen.held.is_(value) and not seen.inside):
            yield read
        elif _carries_functions(value):
            yield read  # what these capture would have to be watched instead
        else:
            if class_of(value) is FunctionType:
                moved[id(seen.held.get())] = value
            yield Read(place, seen.anew(value))


def _carries_functions(value: Any) -> bool:
    if class_of(value) is FunctionType:
        return bool(value.__closure__) or len(captured_functions(value)) > 1
    return bool(captured_functions(value))


def _action(read: Read, now: Any) -> str:
    if now is MISSING:
        return "deleted"
    seen = read.seen.held
    if seen.is_(now):
        return "written into"
    return "defined" if seen.get() is MISSING else "rebound"
