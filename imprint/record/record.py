"""The record of one trace: which places its functions read, and what stood there before.

1. When a user's function starts for the first time, `start` notes what its code mentions
   (`notes`), and so the values before the function could change them. Of a library's
   function the names alone count, as it may be given objects of the user's.
2. A value that is noted leads to functions (`reach`); when one starts, its closure and
   its code are noted too. What the root captures is left out: its token says that.
3. `settle` looks at each place again. What the trace itself changed is an effect of it
   and no input (rule E): a rebound name is dropped, and what is written inside a container
   does not count. What no code that ran can have changed, another thread did.
"""

import sys
from collections.abc import Collection, Iterable, Iterator
from sys import getrefcount
from types import CodeType, FrameType, FunctionType
from typing import Any, Final, final

from imprint.core.libraries import (
    entry,
    is_asked_by_imprint,
    is_user_class,
    is_user_code,
    named,
)
from imprint.core.trace import Tracer
from imprint.definition.walk import Effects
from imprint.record.absence import note_absent, note_unheard
from imprint.record.entering import (
    Entering,
    free_variables,
    mention_by_library,
    take_new,
)
from imprint.record.library_values import LibraryValues
from imprint.record.mentions import Mentions, mentions_of
from imprint.record.notes import expect as expect_absent
from imprint.record.parts import ROOT
from imprint.record.probe import note_reads
from imprint.record.reach import reachable
from imprint.record.settle import settle
from imprint.watch.captures import captured_reads, functions_in, places_of
from imprint.watch.classes import bases_of, class_namespace
from imprint.watch.guard import followed
from imprint.watch.seen import Findings, Held, Ran, Read, Seen, Strong, class_of

_WALKED: Final = 2_000
"""Functions that a walk takes in."""
_LIBRARY_FIRINGS: Final = 64
"""Starts of one library's function after which what it is given is no matter."""
_FAILURES: Final = 16
"""Ends of one function by an exception after which nothing new is missed."""
_BY_NEW_CLASSES: Final = frozenset(("__set_name__", "__init_subclass__"))
"""What `type.__new__` calls with the class that it makes."""
_HAS_REST: Final = 0x04 | 0x08  # CO_VARARGS, CO_VARKEYWORDS


@final
class Record(Entering):
    """What a trace read, in the making.

    Args:
        fun: the function that will be traced.
        arguments: what its arguments hold as Python values, by name.
        strict: whether libraries and the contents of arrays and objects count.
    """

    def __init__(
        self, fun: Any, arguments: Iterable[tuple[str, Any]] = (), *, strict: bool
    ) -> None:
        super().__init__(fun, strict=strict)
        self._asking: dict[int, CodeType] = {}  # libraries': it reads what it is given
        self._others = Ran()  # in traces whose results this one takes
        self._library_values = LibraryValues()
        self._expected: dict[tuple[Any, ...], Any] = {}  # by id: kept alive
        self._captured_before = captured_reads(fun, strict=strict)
        for read in self._captured_before:
            read.seen.note_parts()
        self._notes.meet(fun, ROOT)
        for read in self._captured_before:
            self._notes.note_left(read.seen)
        arguments = tuple(arguments)
        self._static = [value for _, value in arguments]
        for name, value in arguments:
            self._notes.meet_argument(value, name)
        for function in (*self._captured.values(),):  # `meet` may take one out
            for place in places_of(function):
                self._notes.meet(place.get(), place.name)

    @property
    def codes(self) -> tuple[CodeType, ...]:
        """The user's code that ran, or may have run."""
        return tuple(code for code, _ in self._started.copy().values())

    @property
    def ran(self) -> Ran:
        """What ran."""
        others = self._others
        return others._replace(
            codes=_once((*self._started.values(), *others.codes)),
            values=others.values | frozenset(self._library_values.values()),
        )

    # ---- while the trace runs ----

    def ran_also(self, other: Ran) -> None:
        """Take in what ran elsewhere, or what else is known of it."""
        ours = self._others
        self._others: Ran = Ran(
            _once((*ours.codes, *other.codes)),
            ours.files | other.files,
            ours.variables | other.variables,
            ours.is_heard and other.is_heard,
            ours.values | other.values,
        )

    def start(self, code: CodeType, frame: FrameType) -> bool:
        """Note what a function reads that starts now.

        Returns:
            Whether later starts of the same code have nothing to add.
        """
        mentions = mentions_of(code)
        if code.co_name == "<module>":
            self._enter_text(code, frame, mentions)
            return True
        if id(code) not in self._told.mentioned:
            self._told.mentioned[id(code)] = code
            self._enter_names(mentions)
        has_arguments = (
            code.co_argcount or code.co_kwonlyargcount or (code.co_flags & _HAS_REST)
        )
        done = not has_arguments or self._start_arguments(code, frame, mentions)
        if (id(code), id(frame.f_globals)) not in self._started:
            self._enter_code(code, frame.f_globals, mentions)
            functions = self._reach.functions.get(id(code))
            if functions is None:
                self._orphans[id(code)] = free_variables(code, frame)
            for function in functions or ():
                self._enter_function(function)
        return not self._enter_free(code, frame, mentions) and done

    def failed(self, code: CodeType, frame: FrameType) -> None:
        """Note what a function did not find, where a caller may go on without it."""
        self._told.failures[id(code)] = count = self._told.failures.get(id(code), 0) + 1
        if count > _FAILURES:
            return
        mentions, namespace = mentions_of(code), frame.f_globals
        known = [entry(namespace, name) for name in mentions.globals]
        for value in (*tuple(frame.f_locals.values()), *known):
            note_absent(self._notes, value, mentions.names)
        expect_absent(self._notes, mentions.names)

    def library(self, code: CodeType, frame: FrameType) -> bool:
        """Note the names that a library's function mentions.

        Returns:
            Whether later starts of the same code have nothing to add.
        """
        mentions = mentions_of(code)
        makes_class = code.co_name in _BY_NEW_CLASSES
        takes_any, changes = mentions.reads_any, mentions.changes_given
        given = (*frame.f_locals.values(),) if takes_any or changes else ()
        count = self._told.firings.get(id(code), 0) + 1
        new = self._notes.unknown(given) if takes_any else ()
        if new and is_asked_by_imprint(frame):
            return False  # it may be the user's who asks next
        if makes_class:
            take_new(self._notes, frame.f_locals.values())
        self._told.firings[id(code)] = count
        if count == 1:
            self._add_library(code, frame.f_globals, mentions)
        for value in new:
            self._notes.whole(value)
        if changes and count <= _LIBRARY_FIRINGS:
            self._writes.add_given(given)
            return False
        if takes_any and not (makes_class or code.co_name == "__exit__"):
            self._asking[id(code)] = code
        return not (takes_any or makes_class)

    def knows(self, code: CodeType, frame: FrameType) -> bool:
        """Tell whether a library's code has nothing to add that starts now; hot."""
        is_asking = id(code) in self._asking
        return is_asking and not self._notes.unknown(frame.f_locals.values())

    def _add_library(
        self, code: CodeType, namespace: dict[str, Any], mentions: Mentions
    ) -> None:
        """Take in a library's code that starts for the first time."""
        self._writes.add_library(mentions)
        self._library_values.add(code, namespace, mentions)
        mention_by_library(self._notes, mentions)

    def lead(self, values: Iterable[Any]) -> None:
        """Take in what leads to functions that will run."""
        for value in values:
            self._notes.meet(value, class_of(value).__name__)

    def merge(self, inner: "Record") -> None:
        """Take over what a trace inside this one noted."""
        self._resume(inner._notes.reads.values())
        self._started = {**inner._started, **self._started}
        self.ran_also(inner.ran._replace(codes=inner._others.codes))

    def adopt(
        self, findings: Findings, fun: Any, arguments: Iterable[tuple[str, Any]]
    ) -> None:
        """Take over what an earlier trace found, whose result is used for `fun`.

        The functions in its arguments stand for those that the trace was given.
        """
        reads = captured_reads(fun, strict=self._strict)
        if len(reads) == len(findings.captured):
            pairs = zip(reads, findings.captured, strict=True)
            reads = tuple(
                Read(place, Seen(place.get(), effects, strict=self._strict))
                for (place, _), effects in pairs
                if effects is not None
            )
        own = [read for _, value in arguments for read in functions_in(value)]
        found = followed(findings.reads)  # what holds may have moved since
        self.take((*found, *filter(self._may_change, (*reads, *own))))
        self.ran_also(findings.ran)

    def _may_change(self, read: Read) -> bool:
        """Tell whether what a callable captures counts: not what a library's does."""
        function = getattr(read.place, "function", None)
        if self._strict or function is None:
            return True
        return is_user_code(function.__code__, function.__globals__)

    def take(self, reads: tuple[Read, ...]) -> None:
        """Take over what was read, but of functions that this trace carries or makes."""
        note_reads({read.place.key for read in reads})
        self._resume(reads)

    def _resume(self, reads: Iterable[Read]) -> None:
        made = _made_by(self.codes)
        for read in reads:
            if read.is_past or is_of_tracer(read):
                continue
            function = getattr(read.place, "function", None)
            if function is None or (
                id(function) not in self._captured and id(function.__code__) not in made
            ):
                seen = read.seen.resumed(self._notes.written, read.now())
                self._notes.take(Read(read.place, seen))
                self._notes.note_left(seen)

    def reaches(self, code: CodeType) -> bool:
        """Tell whether what was noted leads to a function of this code."""
        return id(code) in self._reach.functions

    def walk(self, values: Iterable[Any] = ()) -> None:
        """Note everything that names lead to, without waiting for it to start.

        Args:
            values: what else may lead to functions: work for another thread.
        """
        for value in values:
            self._reach.explore(value)
        walked = 0
        while walked < _WALKED:
            new = self._find_functions()
            if not new:
                note_unheard(self._notes, self.codes)
                new = self._find_functions()
            if not new:
                break
            for function in new:
                self._enter_nested(function.__code__, function.__globals__)
                self._enter_function(function)
                self._enter_values(self._static, mentions_of(function.__code__))
            walked += len(new)
        self._miss()

    def _find_functions(self) -> list[FunctionType]:
        """Return the functions to which what was noted leads, but for those entered."""
        self._reach.spread()
        for cls in self._reach.classes:  # it grows
            for base in bases_of(cls):  # `super()` reaches what `cls` overrides
                self._reach.explore(base)
                for name in class_namespace(base).copy() if is_user_class(base) else ():
                    self._notes.class_attribute(cls, name)
        self._reach.classes.clear()
        known = self._reach.every_function()
        return [f for f in known if id(f) not in self._entered]

    def _miss(self) -> None:
        """Note what code that may start mentions and nobody has: it may be there then."""
        for code, namespace in tuple(self._started.values()):
            mentions = mentions_of(code)
            known = [entry(namespace, name) for name in mentions.globals]
            modules = [sys.modules.get(name) for name in mentions.imports]
            for value in (*known, *modules):
                note_absent(self._notes, value, mentions.names)

    def expect(self, functions: tuple[Any, ...], values: tuple[Any, ...]) -> None:
        """Note what functions read that may start when the trace is over.

        A rule of the user's runs when what was traced is differentiated. What is noted
        so counts as read: no probe can hear it.

        Args:
            functions: the user's.
            values: Python values that they will be given.
        """
        key = *map(id, functions), None, *map(id, values)
        if key in self._expected:
            return
        self._expected[key] = functions, values
        later = Record(_nothing, strict=self._strict)
        for value in values:
            later._notes.meet(value, class_of(value).__name__)
        later.walk((*functions, *values))
        self.take(later.settle().reads)
        self._started = {**later._started, **self._started}

    # ---- afterwards ----

    def settle(self) -> Findings:
        """Return what the trace read and did not change."""
        for code, namespace in tuple(self._started.values()):
            for name in mentions_of(code).imports:  # perhaps the trace imported it
                self._enter_import(name, namespace, may_miss=True)
            self._enter_parts(mentions_of(code).parts, namespace, may_miss=True)
        self._reach.renew()
        self._find_orphans()
        for code in self.codes:
            for function in self._reach.functions.get(id(code), ()):
                if function.__code__ is code:
                    self._enter_function(function)
        for held, path in tuple(self._passing.values()):
            value = held.get() if _lives_on(held) else None
            if value is not None and not self._notes.knows(value):
                self._notes.meet_passing(value, path)
        reads, disturbed, changed = settle(
            self._notes, self._writes, self._captured_before, strict=self._strict
        )
        captured = tuple(_effects_after(self._captured_before))
        return Findings(
            *(reads, captured, disturbed, changed, self._writes), ran=self.ran
        )

    def _find_orphans(self) -> None:
        """Search the functions that ran, to which nothing led.

        One that a registry holds, as that of the nodes of trees, is in its module, most
        often. `optimizer.update` may be a closure in a named tuple: it is searched in
        the values that the trace saw.
        """
        wanted = self._orphans.keys() - _made_by(self.codes)
        for function in _named(tuple(self._started.values()), wanted):
            self._reach.explore(function)
            wanted.discard(id(function.__code__))
        for value in reachable(self._reach.roots) if wanted else ():
            if class_of(value) is FunctionType and id(value.__code__) in wanted:
                self._reach.explore(value)


def _named(
    started: Iterable[tuple[CodeType, Any]], wanted: Collection[int]
) -> list[FunctionType]:
    """Return the functions that modules have under the names of what started."""
    found = [named(code, names) for code, names in started if id(code) in wanted]
    return [function for function in found if function is not None]


def _effects_after(captured: Iterable[Read]) -> Iterator[Effects | None]:
    """Yield what the trace wrote inside each captured value; None if it wrote the place."""
    for read in captured:
        seen = read.seen.settle(read.place.get())
        yield None if seen is None else seen.effects


def _made_by(codes: Iterable[CodeType]) -> set[int]:
    """Return the `id` of the code of functions that code itself makes."""
    return {id(const) for code in codes for const in code.co_consts}


def _once(codes: Iterable[tuple[CodeType, Any]]) -> tuple[tuple[CodeType, Any], ...]:
    """Leave out what ran in two of the functions that were called."""
    return tuple(
        {(id(code), id(names)): (code, names) for code, names in codes}.values()
    )


def is_of_tracer(read: Read) -> bool:
    """Tell whether a tracer was read: the function that holds it was made by a trace."""
    return issubclass(class_of(read.seen.held.get()), Tracer)


def _lives_on(held: Held) -> bool:
    """Tell whether somebody else holds an object that takes no weak reference."""
    return not isinstance(held, Strong) or getrefcount(held.value) > _OURS


_OURS: Final = 2  # what holds it, and the call that counts


def _nothing() -> None:
    """Stand for what is traced where only functions that may start count."""
