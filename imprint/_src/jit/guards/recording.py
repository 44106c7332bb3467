"""What a trace reads, found while it runs: its dependencies.

1. The walk (`reachable`) keeps the value of each location as it was before code with its
   name ran; instructions that ran are observed meanwhile (`executed`).
2. After the trace each location is read again. What differs was written by the trace, and
   is an effect; where nothing was before, it was filled in, and is an input from then on.
3. A location counts if an instruction that ran reads it: by a chain that leads there, or
   by its name where no chain tells the receiver.
"""

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import CodeType, FunctionType, TracebackType
from typing import Any, Final, Self, final

from imprint._src.core.identity import Standin, identity
from imprint._src.core.trace import Tracer
from imprint._src.core.user_code import is_user_class
from imprint._src.diagnostics.source import warn
from imprint._src.errors import CaptureWarning
from imprint._src.jit.fingerprint.layout import layout_of
from imprint._src.jit.guards.code_names import Head, StepKind, code_names
from imprint._src.jit.guards.dependencies import (
    Dependencies,
    ExecutedCode,
    all_code,
    is_captured,
)
from imprint._src.jit.guards.executed import Executed
from imprint._src.jit.guards.locations import (
    GONE,
    MISSING,
    WHAT_RUNS,
    Attribute,
    Cell,
    ClassAttribute,
    Contents,
    FunctionPart,
    Global,
    Item,
    Key,
    Referent,
    Root,
    SpecialMethods,
    TypeOf,
    bases_of,
    class_attribute,
    class_of,
    contents_of,
    length_of,
    storage_of,
)
from imprint._src.jit.guards.reachable import (
    VISITED,
    ReachableValues,
    ReachedLocation,
    Readers,
    has_getattr,
)
from imprint._src.jit.guards.values import (
    CaptureBudget,
    Dependency,
    RecordedItems,
    RecordedValue,
    UnwrittenItems,
    is_hashed_plainly,
    is_same_plain,
)


@dataclass(slots=True)
class _NameUse:
    """How code that ran reads a name of receivers that no chain tells."""

    is_read: bool = False
    """Whether it is read; otherwise it is only called."""
    of_any: bool = False
    of_classes: set[int] = field(default_factory=set[int])
    """Classes whose methods read it of their first argument."""


@final
class Recording:
    """Records what a trace depends on; use it in a `with` around the trace.

    Args:
        fun: the function that is traced.
        held: its static values, each with a name.
        strict: whether contents of any size count.
        classes: classes of the nodes that its arguments are made of.

    Attributes:
        dependencies: what it depends on, when the trace is over.
    """

    def __init__(
        self,
        fun: Any,
        held: Iterable[tuple[str, Any]] = (),
        *,
        strict: bool,
        classes: Iterable[type] = (),
    ) -> None:
        self.strict: bool = strict
        self.dependencies: Dependencies = Dependencies()
        self._values = fun, *(value for _, value in held)
        self._names = "self", *(name for name, _ in held)
        self._classes = tuple(filter(is_user_class, classes))
        self._executed = Executed(self._start)
        self._reach = ReachableValues(self._executed, is_strict=strict)
        self._error: BaseException | None = None
        self._ways: dict[int, Key] = {}
        self._later: dict[Standin, None] = {}
        self._is_bound = False
        self._budget = CaptureBudget()
        self._captured: dict[int, bool] = {}

    def __enter__(self) -> Self:
        self._executed.begin()
        for outer in _recordings.get() if self.strict else ():
            outer.turn_strict()
        self._token = _recordings.set((*_recordings.get(), self))
        try:
            for i, (value, name) in enumerate(
                zip(self._values, self._names, strict=True)
            ):
                self._reach.explore(value, Root(value, name, i))
            for cls in self._classes:
                self._reach.explore(cls, None)
        except BaseException:
            self._stop()
            raise
        return self

    def _stop(self) -> None:
        self._executed.end()
        _recordings.reset(self._token)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()
        if error is None:
            if self._error is not None:
                raise self._error
            self.dependencies = self._settle()
        ran = self._executed.frozen()
        for outer in _recordings.get():
            outer.include(ran)
        self._executed.close()  # else cycles keep what the trace reached
        self._reach.close()

    def _start(self, code: CodeType, names: dict[str, Any] | None) -> None:
        """Take in code that starts; called in the middle of it, so nothing is raised."""
        try:
            self._reach.start(code, names)
        except BaseException as err:
            self._error = self._error or err

    def turn_strict(self) -> None:
        """Count contents of any size: a strict function is called."""
        self.strict = True
        self._reach.turn_strict()

    def include(self, ran: ExecutedCode, later: Iterable[Standin] = ()) -> None:
        """Count code as executed that ran in an earlier trace, whose result is used.

        Args:
            ran: the code.
            later: stand-ins of functions that it is of, and no name may lead to.
        """
        for standin in later:
            self._later[standin] = None
            self._reach.explore(standin(), None)
        for code, offsets in ran:
            if offsets is None:
                self._executed.add_whole(code, None)
            else:
                self._executed.add(code, offsets, None)

    def expect(self, functions: Iterable[Any], values: Iterable[Any] = ()) -> None:
        """Count functions as executed that may run when the trace is over."""
        later = ReachableValues(Executed(self._ignore), is_strict=self.strict)
        for value in (*functions, *values):
            self._later[identity(value)] = None
            self._reach.explore(value, None)
            later.explore(value, None)
        for found in tuple(later.functions.values()):
            for function, _ in found:
                self._reach.explore(function, None)
                for code in all_code(function.__code__):
                    self._executed.add_whole(code, function.__globals__)

    def _ignore(self, code: CodeType, names: dict[str, Any] | None) -> None:
        """Follow no further code."""

    # ---- afterwards ----

    def _settle(self) -> Dependencies:
        after: dict[Key, Any] = {}
        self._fill_in(after)
        executed = self._names_read()
        self._add_absent({*executed})
        self._fill_in(after)
        self._find_ways()
        reads: list[Dependency] = []
        written: set[Key] = set()
        owners: set[int] = set()
        for key, place in tuple(self._reach.places.items()):
            now = after.get(key, MISSING) if key in after else place.location.get()
            location = place.location
            if now is GONE or not self._counts(place, executed):
                continue
            if isinstance(location, Contents):
                seen = self._contents(place, now)
                if seen.rest is not None:
                    written.update(_written_keys(location, seen.rest))
                    reads += self._left_items(place, after)
            else:
                seen = self._value(place, now)
            if seen is None:
                written.add(key)
                continue
            seen.is_left |= place.is_left
            reads.append(Dependency(location, seen))
            owner = location.owner
            if owner is not None:
                owners.add(id(owner))
        reads = [*self._detached(reads, written), *self._hiding(reads)]
        asks_class = any(
            code_names(c).asks_class for c in self._executed.codes.values()
        )
        owners.update(id(value) for value in self._values)
        owners.update(id(x) for _, seen in reads for x in _parts_of(seen.value))
        for place in self._reach.types():
            owner = place.location.owner
            if owner is not None and (asks_class or id(owner) in owners):
                reads.append(Dependency(place.location, RecordedValue(place.before)))
        if self._reach.is_bounded:
            _warn_bounded(self._values[0])
        return Dependencies(
            tuple(map(identity, self._values)),
            tuple(reads),
            self._executed.frozen(),
            frozenset(written),
            tuple(self._later),
            is_observed=self._executed.is_observed,
            is_shareable=not (self._reach.has_tracers or self._is_bound),
        )

    def _detached(
        self, reads: list[Dependency], written: set[Key]
    ) -> Iterable[Dependency]:
        """Yield reads; the owner of one is the very object where the way to it was written."""
        known: dict[
            int, bool
        ] = {}  # by the `id` of a location: whether it is below one
        for location, seen in reads:
            at, passed = location.parent, list[int]()
            while at is not None and id(at) not in known and at.key not in written:
                passed.append(id(at))
                at = at.parent
            is_below = at is not None and known.get(id(at), True)
            known.update(dict.fromkeys(passed, is_below))
            if not is_below:
                yield Dependency(location, seen)
                continue
            self._is_bound |= is_captured(location, self._captured)
            owner = location.owner
            if owner is not None:
                yield Dependency(location.on(owner, None), seen)

    def _find_ways(self) -> None:
        """Find for each container the location by which its parts are found again."""
        for place in self._reach.places.values():
            at = place.location
            if isinstance(at, Item | Contents) and at.parent is not None:
                self._ways.setdefault(id(at.container), at.parent.key)

    def _hiding(self, reads: list[Dependency]) -> list[Dependency]:
        """Return where an object could come to hide what its class answers."""
        names: dict[int, list[str]] = {}
        known = {location.key for location, _ in reads}
        for location, _ in reads:
            if isinstance(location, ClassAttribute) and location.name[:2] != "__":
                names.setdefault(id(location.owner), []).append(location.name)
        found: list[Dependency] = []
        for value, location in tuple(self._reach.objects.values()):
            kind = class_of(value)
            read = names.get(id(kind))
            if not read or not layout_of(value).has_dict:
                continue
            path = layout_of(value).name if location is None else location.value_path
            for name in read:
                at = Attribute(value, name, location, path)
                place = self._reach.places.get(at.key)  # of a name that is only called
                was = MISSING if place is None else place.before
                if at.key not in known and was is MISSING and at.get() is MISSING:
                    found.append(Dependency(at, RecordedValue(MISSING)))
        return found

    def _fill_in(self, after: dict[Key, Any]) -> None:
        """Visit what the trace bound where nothing was before.

        Args:
            after: the values now, by location, of which the missing ones are added.
        """
        while True:
            self._reach.take_new_names()
            new = [k for k in tuple(self._reach.places) if k not in after]
            if not new:
                return
            for key in new:
                place = self._reach.places[key]
                now = after[key] = place.location.get()
                if now is place.before or issubclass(class_of(now), Tracer):
                    continue
                if isinstance(place.location, Contents):
                    self._reach.add_new_items(place, now)
                elif place.before is MISSING or place.before is None:
                    self._reach.explore(now, place.location)

    def _names_read(self) -> dict[str, _NameUse]:
        """Return how names are read of receivers that no chain tells."""
        executed, reach = self._executed, self._reach
        found: dict[str, _NameUse] = {}
        stores = {
            name
            for code in executed.codes.values()
            for name, offset in code_names(code).stores
            if executed.is_executed(code, offset)
        }
        for code in executed.codes.values():
            classes = reach.classes_of.get(id(code))
            names = code_names(code)
            for text, offset in names.constants:
                if executed.is_executed(code, offset):
                    use = found.setdefault(text, _NameUse())
                    use.is_read = use.of_any = True
            is_matched = executed.is_executed(code, names.matches)
            for text in ("__match_args__", *reach.matched) if is_matched else ():
                use = found.setdefault(text, _NameUse())
                use.is_read = use.of_any = True
            lost = reach.lost.get(id(code), ())
            for chain in names.chains:
                is_loose = chain.head in (Head.FIRST, Head.OTHER)
                is_loose = is_loose or chain.name in stores
                for i, step in enumerate(chain.steps):
                    if step.kind is StepKind.ITEM:
                        continue
                    name = "get" if step.kind is StepKind.GET else step.name
                    is_here = is_loose or name in lost
                    if is_here and executed.is_executed(code, step.offset):
                        use = found.setdefault(name, _NameUse())
                        use.is_read |= step.kind is StepKind.ATTRIBUTE
                        if chain.head is Head.FIRST and i == 0 and classes:
                            use.of_classes |= classes
                        else:
                            use.of_any = True
                    is_loose = is_loose or step.name in stores
        return found

    def _add_absent(self, read: set[str]) -> None:
        """Add where code that went on without an attribute did not find it.

        Args:
            read: all names that code reads; a `__getattr__` of the user's may answer them.
        """
        names: set[str] = set()
        observed = self._executed.is_observed
        # A caller's handler, `with` or getattr may go on.
        handles = not observed and any(
            code.co_exceptiontable
            or code_names(code).constants
            or code_names(code).handles
            for code in self._executed.codes.values()
        )
        for code in self._executed.codes.values():
            found = code_names(code)
            whole = self._executed.is_whole(code)
            for text, offset in found.constants:
                if self._executed.is_executed(code, offset):
                    names.add(text)
            for chain in found.chains:
                for step in chain.steps:
                    if step.kind.is_item:
                        continue
                    if self._executed.raised(code, step.offset, step.after) or (
                        handles or (whole and found.handles)
                    ):
                        names.add(step.name)
        self._add_absent_of_owners(names, read)

    def _add_absent_of_owners(self, names: set[str], read: set[str]) -> None:
        for value, location in tuple(self._reach.objects.values()):
            kind = class_of(value)
            path = layout_of(value).name if location is None else location.value_path
            is_asked = is_user_class(kind) and has_getattr(kind)
            if is_user_class(kind) or layout_of(value).is_named:
                for name in names | read if is_asked else names:
                    self._reach.add(
                        Attribute(value, name, location, path), Readers(by_name=True)
                    )
        for cls in tuple(self._reach.classes.values()):
            if is_user_class(cls):
                for name in names | read if has_getattr(cls) else names:
                    self._reach.add(ClassAttribute(cls, name), Readers(by_name=True))
        if names:
            self._add_absent_of_modules(names)

    def _add_absent_of_modules(self, names: set[str]) -> None:
        for names_of in self._reach.modules():
            self._reach.add(Global(names_of, "__getattr__"), Readers(always=True))
            for name in names:
                self._reach.add(Global(names_of, name), Readers(by_name=True))
        for found in tuple(self._reach.functions.values()):
            for function, location in found:
                if isinstance(
                    location, Global | Cell | Attribute | Item | ClassAttribute
                ):
                    for name in names:
                        self._reach.add(
                            FunctionPart(function, name, location),
                            Readers(by_name=True),
                        )

    def _counts(self, place: ReachedLocation, executed: dict[str, _NameUse]) -> bool:
        location = place.location
        if isinstance(location, Root | Referent):
            return False
        for uses in place.uses:
            if uses.always:
                return True
            if uses.of_code is not None and self._has_run(uses.of_code):
                return True
            for code, offset in uses.sites:
                if self._executed.is_executed(code, offset):
                    return True
            if uses.by_name and self._is_read(place, executed):
                return True
        return False

    def _has_run(self, code: CodeType) -> bool:
        return id(code) in self._executed.codes

    def _is_read(self, place: ReachedLocation, executed: dict[str, _NameUse]) -> bool:
        location = place.location
        use = executed.get(location.name)
        if use is None:
            return False
        if not use.is_read and not _is_callable(place.before):
            return False
        if use.of_any:
            return True
        owner = location.owner
        classes = bases_of(class_of(owner))
        if issubclass(class_of(owner), type):
            classes += bases_of(owner)
        return any(id(base) in use.of_classes for base in classes)

    def _value(self, place: ReachedLocation, now: Any) -> RecordedValue | None:
        """Return what was seen at a location; None if the trace wrote it."""
        before, location = place.before, place.location
        captured = is_captured(location, self._captured)
        if now is before or is_same_plain(before, now):
            seen = RecordedValue(
                now, self._budget, is_captured=captured, is_strict=self.strict
            )
        elif issubclass(class_of(now), Tracer):
            return None
        elif before is MISSING or before is None:
            seen = RecordedValue(
                now, self._budget, is_captured=captured, is_strict=self.strict
            )
            seen.is_left = True
        else:
            return None
        seen.has_run = self._is_function_that_ran(now)
        if storage_of(now) is not None:
            seen.by_parts = self._is_by_parts(place, now)
        return seen

    def _is_function_that_ran(self, value: Any) -> bool:
        return class_of(value) is FunctionType and self._has_run(value.__code__)

    def _is_by_parts(self, place: ReachedLocation, now: Any) -> bool:
        """Return whether all that is read of a container is at locations of its own."""
        location = place.location
        if isinstance(location, SpecialMethods | TypeOf):
            return False
        if self._ways.get(id(now), location.key) != location.key:
            return False  # its parts are found another way
        contents = self._reach.places.get(("contents", id(now), ""))
        if contents is not None and contents.uses:
            after = contents.location.get()
            if length_of(now) and not after:
                return False  # it is too large
            if self._contents(contents, after).rest is None:
                return True
        if isinstance(location, FunctionPart) and location.name in WHAT_RUNS:
            return False
        return not any(self._executed.is_executed(*site) for site in place.whole)

    def _left_items(
        self, place: ReachedLocation, after: dict[Key, Any]
    ) -> list[Dependency]:
        """Return what the trace left in a dictionary that it wrote into."""
        container, location = place.location.owner, place.location
        if storage_of(container) is not dict:
            return []
        found: list[Dependency] = []
        keys = {*map(id, place.before[::2])}
        now = contents_of(container)
        for key, value in zip(now[::2], now[1::2], strict=True):
            if id(key) in keys or not is_hashed_plainly(key):
                continue
            at = Item(container, key, location.parent, location.path)
            if at.key not in after and not issubclass(class_of(value), Tracer):
                seen = RecordedValue(value)
                seen.is_left = True
                found.append(Dependency(at, seen))
        return found

    def _contents(self, place: ReachedLocation, now: tuple[Any, ...]) -> RecordedItems:
        """Return what was seen in a container, without what the trace wrote into it."""
        before, storage = place.before, storage_of(place.location.owner)
        is_same = len(before) == len(now) and all(
            a is b or is_same_plain(a, b) for a, b in zip(before, now, strict=True)
        )
        now = tuple(MISSING if issubclass(class_of(x), Tracer) else x for x in now)
        rest = None if is_same else UnwrittenItems(storage, before, now)
        items = now if rest is None else rest(now)
        captured = is_captured(place.location, self._captured)
        found = RecordedItems(
            items, self._budget, is_captured=captured, is_strict=self.strict, rest=rest
        )
        for seen, item in zip(found.items, items, strict=True):
            seen.has_run = self._is_function_that_ran(item)
            seen.by_parts = self._has_contents(item, place.location.owner)
        return found

    def _has_contents(self, value: Any, container: Any) -> bool:
        """Return whether what is in a value is at locations below its container."""
        place = self._reach.places.get(("contents", id(value), ""))
        if place is None or not place.before:
            return False
        parent = place.location.parent
        return parent is not None and parent.owner is container


def _written_keys(location: Contents, rest: UnwrittenItems) -> Iterable[Key]:
    """Yield keys for what a trace wrote into a container."""
    yield location.key
    for name in rest.written:
        yield "part", id(location.container), name


def _parts_of(value: Any) -> Iterable[Any]:
    parts: Any = value
    return parts if type(value) is tuple else (parts,)


def _is_callable(value: Any) -> bool:
    return class_attribute(class_of(value), "__call__") is not MISSING or (
        class_attribute(class_of(value), "__get__") is not MISSING
    )


def _warn_bounded(fun: Any) -> None:
    name = getattr(fun, "__qualname__", type(fun).__name__)
    warn(
        f"{name}: expected names that reach at most {VISITED:,} values, got more. "
        "Changes of those beyond are not seen: pass what changes as an argument.",
        CaptureWarning,
    )


_recordings: Final[ContextVar[tuple[Recording, ...]]] = ContextVar(
    "imprint_recordings", default=()
)


def is_strict() -> bool:
    """Return whether a trace is under way for which contents of any size count."""
    return any(each.strict for each in _recordings.get())


def include(dependencies: Dependencies, roots: Iterable[Any] = ()) -> None:
    """Count what an earlier trace executed as executed by the traces under way.

    To be called when a trace takes the result of an earlier one instead of tracing.

    Args:
        dependencies: of the earlier trace.
        roots: the function and static values that are called now; they may be equal to
            those of the earlier one.
    """
    given = tuple(roots)
    found: Dependencies | None = dependencies
    if given and not dependencies.is_of(given):
        found = dependencies.rebound(given)
    if found is None:  # it is not told which of these functions ran
        expect(given)
    dependencies = found or dependencies
    is_strict = any(read.seen.is_strict for read in dependencies.reads)
    for recording in _recordings.get():
        if is_strict:
            recording.turn_strict()
        recording.include(dependencies.ran, dependencies.later)


def expect(functions: Iterable[Any], values: Iterable[Any] = ()) -> None:
    """Count functions as executed that may run when the traces under way are over.

    To be called where a rule of the user's is handed to a trace: it runs when the program
    is differentiated or batched.
    """
    given = tuple(functions), tuple(values)
    for recording in _recordings.get():
        recording.expect(*given)


def run_rule(run: Callable[[], Any], functions: Iterable[Any]) -> Any:
    """Run a rule of the user's, and keep what it reads with what is derived by it.

    Args:
        run: runs it.
        functions: what it is made of, and the Python values that it is given.
    """
    from imprint._src.core.derived import is_deriving, note_read  # noqa: PLC0415 - a lower floor, that few need

    if not is_deriving():  # the trace under way observes it, and nothing is kept
        return run()
    held = [("", value) for value in functions]
    with Recording(_nothing, held, strict=is_strict()) as recording:
        result = run()
    note_read(_RuleRead(recording.dependencies))
    return result


def _nothing() -> None:
    """Stand for a function that captures nothing."""


@final
class _RuleRead:
    """What a rule read in one run."""

    __slots__ = ("_dependencies",)

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies

    def holds(self) -> bool:
        """Return whether it is as it was; never if the rule wrote into it."""
        return not self._dependencies.written and self._dependencies.holds()

    def count(self) -> None:
        """Count it as read by the traces under way."""
        found = self._dependencies
        for recording in _recordings.get():
            recording.include(found.ran, (*found.roots, *found.later))
