"""Recording: the dependencies of a trace, found while it runs.

1. `chains` keeps the value of each location as it was before code with its name ran;
   `executed` observes the instructions that run.
2. After the trace each location is read again. A changed value was written by the trace
   and is an effect. Where nothing was before, the trace filled it in: it is an input.
3. A location is an input if an executed instruction reads it: by a chain that leads there,
   or by its name where the receiver is not known.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import CodeType, FunctionType, TracebackType
from typing import Any, Final, Self, final

from imprint._src.core.identity import Standin, identity
from imprint._src.core.jaxpr import derivation, track_read
from imprint._src.core.trace import Tracer
from imprint._src.core.user_code import is_user_class
from imprint._src.diagnostics.source import warn
from imprint._src.errors import CaptureWarning
from imprint._src.jit.fingerprint.code import code_of
from imprint._src.jit.fingerprint.raw_access import (
    GONE,
    MISSING,
    bases_of,
    class_of,
    contents_of,
    has_attribute,
    length_of,
    storage_of,
)
from imprint._src.jit.guards.absences import Absences
from imprint._src.jit.guards.chains import FollowedChains
from imprint._src.jit.guards.code_names import Head, StepKind, all_code, code_names
from imprint._src.jit.guards.dependencies import Dependencies, ExecutedCode, is_captured
from imprint._src.jit.guards.executed import Executed
from imprint._src.jit.guards.locations import (
    CALL_PARTS,
    Contents,
    FunctionPart,
    Item,
    Key,
    Location,
    Referent,
    Root,
    SpecialMethods,
    TypeOf,
)
from imprint._src.jit.guards.reachable import (
    VISITED,
    ReachedLocation,
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


def _no_ids() -> set[int]:
    return set()  # `set[int]` as the factory makes an alias call: 0.5 µs each


@dataclass(slots=True)
class _NameUse:
    """How executed code reads a name of unknown receivers.

    Args:
        is_read: whether it is read; otherwise it is only called.
        of_any: whether the receiver may be any object.
        of_classes: classes whose methods read it of their first argument.
    """

    is_read: bool = False
    of_any: bool = False
    of_classes: set[int] = field(default_factory=_no_ids)


@final
class Recording:
    """Records the dependencies of the trace in its `with`.

    Args:
        fun: the function that is traced.
        held: its static values, each with a name.
        strict: whether containers of any size are compared.
        classes: classes of the nodes in its arguments.

    Attributes:
        dependencies: set at the end of the trace.
        derivation: what ends with the derivation in which the trace runs, if there is one.
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
        self.derivation: ExitStack | None = None
        self._values = fun, *(value for _, value in held)
        self._names = "self", *(name for name, _ in held)
        self._classes = tuple(filter(is_user_class, classes))
        self._executed = Executed(self._start)
        self._reached = FollowedChains(self._executed, is_strict=strict)
        self._expected: FollowedChains | None = None
        self._error: BaseException | None = None
        self._parents: dict[int, Key] = {}
        self._later: dict[Standin, None] = {}
        self._is_bound = False
        self._budget = CaptureBudget()
        self._captured: dict[int, bool] = {}

    def __enter__(self) -> Self:
        self.derivation = derivation()
        self._executed.begin()
        for outer in _recordings.get() if self.strict else ():
            outer.turn_strict()
        self._token = _recordings.set((*_recordings.get(), self))
        try:
            for i, named in enumerate(zip(self._values, self._names, strict=True)):
                self._reached.explore(named[0], Root(*named, i))
            for cls in self._classes:
                self._reached.explore(cls, None)
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
            self.dependencies = self._finish()
        ran = self._executed.frozen()
        for outer in _recordings.get():
            outer.include(ran)
        self._executed.close()  # else cycles keep the reached values
        self._reached.close()
        if self._expected is not None:
            self._expected.close()
            self._expected = None

    def _start(self, code: CodeType, names: dict[str, Any] | None) -> None:
        """Follow code that starts. Called inside user code, which must not see errors."""
        try:
            self._reached.start(code, names)
        except BaseException as err:
            self._error = self._error or err

    def turn_strict(self) -> None:
        """Compare containers of any size: a strict function is called."""
        self.strict = True
        self._reached.turn_strict()
        if self._expected is not None:
            self._expected.turn_strict()

    def include(self, ran: ExecutedCode, later: Iterable[Standin] = ()) -> None:
        """Take code as executed that ran in an earlier trace, whose result is used.

        Args:
            ran: the code.
            later: stand-ins of its functions, which no name may reach.
        """
        self.reach(standin() for standin in later)
        for code, offsets in ran:
            if offsets is None:
                self._executed.add_whole(code, None)
            else:
                self._executed.add(code, offsets, None)

    def expect(self, functions: Iterable[Any], values: Iterable[Any] = ()) -> None:
        """Take functions as executed that may run after the trace."""
        if self._expected is None:  # one walk, however often the functions are used
            executed = Executed(self._executed.add_whole)
            self._expected = FollowedChains(executed, is_strict=self.strict)
        given = *functions, *values
        self.reach(given)
        for value in given:
            self._expected.explore(value, None)

    def reach(self, values: Iterable[Any]) -> None:
        """Visit values that no name may reach: a rule, or what it is given."""
        for value in values:
            self._later[identity(value)] = None
            self._reached.explore(value, None)

    # ---- the end of the trace ----

    def _finish(self) -> Dependencies:
        after: dict[Key, Any] = {}
        unwritten = self._reached.library_objects.unwritten()
        self._add_equal_code()
        self._visit_new_values(after)
        name_uses = self._name_uses()
        absences = Absences(self._reached, self._executed, name_uses)
        self._visit_new_values(after)
        for place in self._reached.places.values():
            at = place.location
            if isinstance(at, Item | Contents) and at.parent is not None:
                self._parents.setdefault(id(at.container), at.parent.key)
        reads, written = self._inputs(name_uses, after)
        reads = [*self._detached(absences.merged(reads, written), written)]
        reads += self._classes_of_owners(reads)
        if self._reached.is_bounded:
            _warn_bounded(self._values[0])
        return Dependencies(
            tuple(map(identity, self._values)),
            tuple(reads),
            self._executed.frozen(),
            frozenset(written),
            tuple(self._later),
            None if self._reached.is_bounded else unwritten,
            is_observed=self._executed.is_observed,
            is_shareable=not (self._reached.has_tracers or self._is_bound),
        )

    def _add_equal_code(self) -> None:
        """Take functions as executed that were defined again, where an equal one ran.

        Equal pytrees share their static data, so the earlier function runs for both.
        """
        executed = self._executed
        names = {code.co_qualname for code in executed.codes.values()}
        ran = {code_of(code): code for code in executed.codes.values()}
        for key, found in tuple(self._reached.functions.items()):
            function = found[0][0]
            code = function.__code__
            if key in executed.codes or code.co_qualname not in names:
                continue
            earlier = ran.get(code_of(code))
            if earlier is not None:
                for was, now in zip(all_code(earlier), all_code(code), strict=True):
                    executed.add_like(now, was, function.__globals__)

    def _inputs(
        self, name_uses: dict[str, _NameUse], after: dict[Key, Any]
    ) -> tuple[list[Dependency], set[Key]]:
        """Return the locations that the trace read, and those that it wrote."""
        reads: list[Dependency] = []
        written: set[Key] = set()
        for key, place in tuple(self._reached.places.items()):
            location = place.location
            now = after[key] if key in after else location.get()
            if now is GONE or not self._is_input(place, name_uses):
                continue
            if isinstance(location, Contents):
                if _holds_ended_tracers(location.owner, now):
                    continue
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
        return reads, written

    def _classes_of_owners(self, reads: list[Dependency]) -> Iterable[Dependency]:
        """Yield the classes of the objects that were read, or whose class may be read."""
        codes = self._executed.codes.values()
        reads_class = any(code_names(code).reads_class for code in codes)
        owners = {id(value) for value in self._values}
        owners.update(id(owner) for at, _ in reads if (owner := at.owner) is not None)
        for _, seen in reads:
            value: Any = seen.value
            parts: Any = value if class_of(value) is tuple else (value,)
            owners.update(map(id, parts))
        for place in self._reached.types():
            owner = place.location.owner
            if owner is not None and (reads_class or id(owner) in owners):
                yield Dependency(place.location, RecordedValue(place.before))

    def _detached(
        self, reads: Iterable[Dependency], written: set[Key]
    ) -> Iterable[Dependency]:
        """Yield reads without a parent where the trace wrote the path to the owner.

        Such an owner is the very object, and is not found again.
        """
        known: dict[int, bool] = {}  # by the `id` of a location
        for location, seen in reads:
            at = location.parent
            passed: list[int] = []
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

    def _visit_new_values(self, after: dict[Key, Any]) -> None:
        """Visit the values that the trace bound where nothing was before.

        Args:
            after: the values now, by location; missing ones are added.
        """
        while True:
            self._reached.add_new_attributes()
            new = [k for k in tuple(self._reached.places) if k not in after]
            if not new:
                return
            for key in new:
                place = self._reached.places[key]
                now = after[key] = place.location.get()
                if now is place.before or issubclass(class_of(now), Tracer):
                    continue
                if isinstance(place.location, Contents):
                    self._reached.add_new_items(place, now)
                elif place.before is MISSING or place.before is None:
                    self._reached.explore(now, place.location)

    # ---- names that were read ----

    def _name_uses(self) -> dict[str, _NameUse]:
        """Return how names are read of unknown receivers."""
        executed, reached = self._executed, self._reached
        found: defaultdict[str, _NameUse] = defaultdict(_NameUse)
        stores = {
            name
            for code in executed.codes.values()
            for name, offset in code_names(code).stores
            if executed.is_executed(code, offset)
        }
        for code in executed.codes.values():
            classes = reached.classes_of.get(id(code))
            names = code_names(code)
            texts = [x for x, at in names.constants if executed.is_executed(code, at)]
            if executed.is_executed(code, names.matches):
                texts += ["__match_args__", *reached.matched]
            for text in texts:
                use = found[text]
                use.is_read = use.of_any = True
            lost = reached.lost.get(id(code), ())
            for chain in names.chains:
                is_loose = chain.head in (Head.FIRST, Head.OTHER)
                is_loose = is_loose or chain.name in stores
                for i, step in enumerate(chain.steps):
                    if step.kind is StepKind.ITEM:
                        continue
                    name = step.read_name
                    is_by_name = is_loose or name in lost
                    if is_by_name and executed.is_executed(code, step.offset):
                        use = found[name]
                        use.is_read |= step.kind is StepKind.ATTRIBUTE
                        if chain.head is Head.FIRST and i == 0 and classes:
                            use.of_classes |= classes
                        else:
                            use.of_any = True
                    is_loose = is_loose or step.name in stores
        return found

    # ---- one location ----

    def _is_input(self, place: ReachedLocation, name_uses: dict[str, _NameUse]) -> bool:
        if isinstance(place.location, Root | Referent):
            return False
        is_executed = self._executed.is_executed
        for readers in place.readers:
            if readers.always or self._has_run(readers.of_code):
                return True
            for code, offset in readers.sites:
                if is_executed(code, offset):
                    return True
            if readers.by_name and self._is_read_by_name(place, name_uses):
                return True
        return False

    def _has_run(self, code: CodeType | None) -> bool:
        return id(code) in self._executed.codes

    def _is_read_by_name(
        self, place: ReachedLocation, name_uses: dict[str, _NameUse]
    ) -> bool:
        location = place.location
        use = name_uses.get(location.name)
        if use is None or not (use.is_read or _is_callable(place.before)):
            return False
        if use.of_any:
            return True
        owner = location.owner
        classes = bases_of(class_of(owner))
        if issubclass(class_of(owner), type):
            classes += bases_of(owner)
        return not use.of_classes.isdisjoint(map(id, classes))

    def _value(self, place: ReachedLocation, now: Any) -> RecordedValue | None:
        """Return the value that the trace saw at a location; None if it wrote it."""
        before = place.before
        is_same = now is before or is_same_plain(before, now)
        is_filled = before is MISSING or before is None
        if not is_same and (issubclass(class_of(now), Tracer) or not is_filled):
            return None
        captured = is_captured(place.location, self._captured)
        seen = RecordedValue(
            now, self._budget, is_captured=captured, is_strict=self.strict
        )
        if storage_of(now) is not None:
            seen.by_parts = self._is_by_parts(place, now)
        seen.is_left = not is_same
        seen.has_run = self._is_function_that_ran(now)
        return seen

    def _is_function_that_ran(self, value: Any) -> bool:
        return class_of(value) is FunctionType and self._has_run(value.__code__)

    # ---- containers ----

    def _is_by_parts(self, place: ReachedLocation, now: Any) -> bool:
        """Return whether all reads of a container have locations of their own."""
        location = place.location
        if isinstance(location, SpecialMethods | TypeOf):
            return False
        if self._parents.get(id(now), location.key) != location.key:
            return False  # its items are found on another path
        contents = self._reached.places.get(("contents", id(now), ""))
        if contents is not None and contents.readers:
            after = contents.location.get()
            if length_of(now) and not after:
                return False  # it is too large
            if _has_same_items(contents.before, after):
                return True
        if isinstance(location, FunctionPart) and location.name in CALL_PARTS:
            return False
        return not any(
            self._executed.is_executed(*site)
            for readers in place.whole
            for site in readers.sites
        )

    def _left_items(
        self, place: ReachedLocation, after: dict[Key, Any]
    ) -> list[Dependency]:
        """Return the items that the trace added to a dictionary."""
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
        """Return the items of a container, without those that the trace wrote."""
        before, container = place.before, place.location.owner
        is_same = _has_same_items(before, now)
        now = tuple(MISSING if issubclass(class_of(x), Tracer) else x for x in now)
        rest = None if is_same else UnwrittenItems(storage_of(container), before, now)
        items = now if rest is None else rest(now)
        captured = is_captured(place.location, self._captured)
        found = RecordedItems(
            items, self._budget, is_captured=captured, is_strict=self.strict, rest=rest
        )
        for seen, item in zip(found.items, items, strict=True):
            seen.has_run = self._is_function_that_ran(item)
            seen.by_parts = self._has_contents(item, container)
        return found

    def _has_contents(self, value: Any, container: Any) -> bool:
        """Return whether the items of a value have locations below its container."""
        place = self._reached.places.get(("contents", id(value), ""))
        if place is None or not place.before:
            return False
        parent: Location | None = place.location.parent
        return parent is not None and parent.owner is container


def _has_same_items(before: tuple[Any, ...], now: tuple[Any, ...]) -> bool:
    return len(before) == len(now) and all(
        a is b or is_same_plain(a, b) for a, b in zip(before, now, strict=True)
    )


def _holds_ended_tracers(container: Any, now: tuple[Any, ...]) -> bool:
    """Return whether the trace itself made a tuple: it has values of traces in it."""
    return storage_of(container) is tuple and any(
        issubclass(class_of(x), Tracer) and x.owner.ended for x in now
    )


def _written_keys(location: Contents, rest: UnwrittenItems) -> Iterable[Key]:
    """Yield keys for the items of a container that a trace wrote."""
    yield location.key
    for name in rest.written:
        yield "part", id(location.container), name
    for name in rest.replaced:  # what was below them is found no more
        key = (int, name) if rest.is_sequence else name
        yield "item", id(location.container), key


def _is_callable(value: Any) -> bool:
    kind = class_of(value)
    return has_attribute(kind, "__call__") or has_attribute(kind, "__get__")


def _warn_bounded(fun: Any) -> None:
    name = getattr(fun, "__qualname__", type(fun).__name__)
    warn(
        f"{name}: expected names that reach at most {VISITED:,} values, got more. "
        "Changes of those beyond are not seen: pass what changes as an argument.",
        CaptureWarning,
    )


# ---- the recordings of the traces under way ----

_recordings: Final[ContextVar[tuple[Recording, ...]]] = ContextVar(
    "imprint_recordings", default=()
)


def is_strict() -> bool:
    """Return whether a trace under way compares containers of any size."""
    return any(each.strict for each in _recordings.get())


def include(dependencies: Dependencies, roots: Iterable[Any] = ()) -> None:
    """Take the code of an earlier trace as executed by the traces under way.

    Call it when a trace uses the result of an earlier one instead of tracing.

    Args:
        dependencies: of the earlier trace.
        roots: the function and static values of this call; they may only be equal to
            those of the earlier one.
    """
    given = tuple(roots)
    found: Dependencies | None = dependencies
    if given and not dependencies.is_of(given):
        found = dependencies.rebound(given)
    if found is None:  # it is not known which of these functions ran
        expect(given)
    dependencies = found or dependencies
    is_strict = any(read.seen.is_strict for read in dependencies.reads)
    for recording in _recordings.get():
        if is_strict:
            recording.turn_strict()
        recording.include(dependencies.ran, dependencies.later)


def expect(functions: Iterable[Any], values: Iterable[Any] = ()) -> None:
    """Take functions as executed that may run after the traces under way.

    Call it where a user's rule is given to a trace: it runs when the program is
    differentiated or batched.
    """
    given = tuple(functions), tuple(values)
    for recording in _recordings.get():
        recording.expect(*given)


def run_rule(run: Callable[[], Any], functions: Iterable[Any]) -> Any:
    """Run a user's rule, and keep its dependencies with the derived result.

    All rules of a derivation are recorded together: each value is visited once.

    Args:
        run: runs it.
        functions: the functions of the rule, and the Python values that it is given.
    """
    ends = derivation()
    if ends is None:  # the trace under way observes it, and nothing is kept
        return run()
    under_way = _recordings.get()
    shared = _rules.get(under_way[-1]) if under_way else None
    with ExitStack() as own:
        if shared is None:
            is_inner = under_way and under_way[-1].derivation is ends  # ends before it
            shared = (own if is_inner else ends).enter_context(_RuleReads())
        shared.recording.reach(functions)
        result = run()
    track_read(shared)
    return result


def _nothing() -> None:
    """Stand for a function that captures nothing."""


@final
class _RuleReads:
    """The dependencies of rules that run in its `with`."""

    def __init__(self) -> None:
        self.recording: Recording = Recording(_nothing, strict=is_strict())
        self._dependencies: Dependencies | None = None
        self._is_open = False

    def __enter__(self) -> Self:
        self.recording.__enter__()
        _rules[self.recording] = self
        self._is_open = True
        return self

    def __exit__(self, *error: Any) -> None:
        self._is_open = False
        del _rules[self.recording]
        self.recording.__exit__(*error)
        if error[1] is None:
            self._dependencies = self.recording.dependencies
        del self.recording

    def holds(self) -> bool:
        """Return whether they are unchanged, except those that a rule wrote."""
        found = self._dependencies
        if found is None:
            return self._is_open
        return found.holds()

    def count(self) -> None:
        """Add them to the traces under way; those of open ones follow at the end."""
        found = self._dependencies
        if found is not None:
            for recording in _recordings.get():
                recording.include(found.ran, (*found.roots, *found.later))


_rules: Final[dict[Recording, _RuleReads]] = {}
"""The recordings of rules under way."""
