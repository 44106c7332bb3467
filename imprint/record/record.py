"""The record of one trace: which places its functions read, and what stood there before.

1. When a user's function starts for the first time, `start` notes what its code mentions
   (`notes`), and so the values before the function could change them. Of a library's
   function the names alone count, as it may be given objects of the user's.
2. A value that is noted leads to functions (`reach`); when one starts, its closure and
   its code are noted too. What the root captures is left out: its token says that.
3. `settle` looks at each place again. What the trace itself changed is an effect of it
   and no input (rule E): a rebound name is dropped, a container counts by identity. What
   changed though no code that ran binds such a name was changed by another thread.
"""

import builtins
import importlib.util
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Final, final
from weakref import ref

from imprint.core.libraries import (
    entry,
    holds,
    is_module,
    is_user,
    is_user_class,
)
from imprint.record.absence import note_absent, note_missed
from imprint.record.mentions import Mentions, is_function_code, mentions_of
from imprint.record.notes import Notes
from imprint.record.parts import code_in
from imprint.record.probe import note_reads, uncover
from imprint.record.reach import Reach, reachable
from imprint.record.settle import settle
from imprint.record.writes import Writes
from imprint.watch.captures import (
    captured_functions,
    captured_reads,
    contained,
    places_of,
)
from imprint.watch.places import (
    MISSING,
    bases_of,
    class_attribute,
    class_namespace,
)
from imprint.watch.seen import Findings, Read, Seen, class_of, written_by

_WALKED: Final = 2_000
"""Functions that a walk takes in."""
_FIRINGS: Final = 256
"""Starts of one function after which no new class of arguments is expected."""
_LIBRARY_FIRINGS: Final = 64
"""Starts of one library's function after which what it is given is no matter."""
_PASSING: Final = 4096
"""Objects without a name that are remembered."""
_PARTS: Final = 64
"""Items of an argument that is a container."""
_HAS_REST: Final = 0x04 | 0x08  # CO_VARARGS, CO_VARKEYWORDS


@final
class Record:
    """What a trace read, in the making.

    Args:
        fun: the function that will be traced.
        arguments: what its arguments hold as Python values, by name.
        strict: whether libraries and the contents of arrays and objects count.
    """

    def __init__(
        self, fun: Any, arguments: Iterable[tuple[str, Any]] = (), *, strict: bool
    ) -> None:
        self._strict = strict
        self._captured = captured_functions(fun)
        self._captured_before = captured_reads(fun, strict=strict)
        for read in self._captured_before:
            read.seen.note_parts()
        self._reach = Reach()
        self._started: dict[int, tuple[CodeType, dict[str, Any]]] = {}
        self._firings: dict[int, int] = {}
        self._mentioned: dict[int, CodeType] = {}
        self._users: dict[int, tuple[Any, bool]] = {}
        self._met: dict[tuple[int, int], Any] = {}  # by id: kept alive
        self._entered: dict[int, FunctionType] = {}
        # Not a method: it would keep all that is noted alive until a collection.
        on_place = partial(_stands, self._captured, self._entered)
        self._notes = Notes(
            *(self._reach.explore, on_place, self._captured, fun, written_by(fun)),
            strict=strict,
        )
        self._orphans: dict[int, dict[str, Any]] = {}
        self._passing: dict[int, tuple[ref[Any], str]] = {}
        self._writes = Writes()
        self._notes.meet(fun, "self")
        arguments = tuple(arguments)
        self._static = [value for _, value in arguments]
        for name, value in arguments:
            self._notes.meet_argument(value, name)
        for function in self._captured.values():
            for place in places_of(function):
                self._notes.meet(place.get(), place.name)

    @property
    def codes(self) -> tuple[CodeType, ...]:
        """The user's code that ran, or may have run."""
        return tuple(code for code, _ in self._started.values())

    # ---- while the trace runs ----

    def start(self, code: CodeType, frame: FrameType) -> bool:
        """Note what a function reads that starts now.

        Returns:
            Whether later starts of the same code have nothing to add.
        """
        mentions = mentions_of(code)
        if code.co_name == "<module>":
            self._writes.add(mentions)
            return True  # an import; it reads what it has just bound
        if id(code) not in self._mentioned:
            self._mentioned[id(code)] = code
            self._enter_names(mentions)
        has_arguments = (
            code.co_argcount or code.co_kwonlyargcount or (code.co_flags & _HAS_REST)
        )
        done = not has_arguments or self._start_arguments(code, frame, mentions)
        if id(code) not in self._started:
            self._enter_code(code, frame.f_globals, mentions)
            functions = self._reach.functions.get(id(code))
            if functions is None:
                self._orphans[id(code)] = _free_variables(code, frame)
            for function in functions or ():
                self._enter_function(function)
        return done

    def library(self, code: CodeType, frame: FrameType) -> bool:
        """Note the names that a library's function mentions.

        Returns:
            Whether later starts of the same code have nothing to add.
        """
        mentions = mentions_of(code)
        changes = mentions.stores_any or mentions.changes_items or mentions.uses.stored
        given = ()
        if changes or mentions.reads_any:
            given = tuple(frame.f_locals.values())
        done = self._writes.add_library(mentions, given)
        self._firings[id(code)] = count = self._firings.get(id(code), 0) + 1
        if count > 1:
            return done or count > _LIBRARY_FIRINGS
        self._notes.mention(mentions.public_names, by_library=True)
        self._notes.use_whole(mentions.names, by_library=True)
        if mentions.reads_any:
            for value in given:
                self._notes.whole(value)
        return done

    def _enter_names(self, mentions: Mentions) -> None:
        if mentions.reads_whole:
            uncover()
        self._writes.add(mentions)
        self._notes.use(mentions.uses)
        self._notes.mention(mentions.names)

    def merge(self, inner: "Record") -> None:
        """Take over what a trace inside this one noted."""
        self._notes.reads = {**inner._notes.reads, **self._notes.reads}
        self._started = {**inner._started, **self._started}

    def adopt(self, findings: Findings, fun: Any) -> None:
        """Take over what an earlier trace found, whose result is used for `fun`."""
        reads = captured_reads(fun, strict=self._strict)
        if len(reads) == len(findings.captured):
            pairs = zip(reads, findings.captured, strict=True)
            reads = tuple(
                Read(place, Seen(place.get(), effects, strict=self._strict))
                for (place, _), effects in pairs
                if effects is not None
            )
        made = self._nested_codes()
        note_reads({read.place.key for read in (*findings.reads, *reads)})
        for read in (*findings.reads, *reads):
            function = getattr(read.place, "function", None)
            if function is None or (
                id(function) not in self._captured and id(function.__code__) not in made
            ):
                resumed = Read(read.place, read.seen.resumed())
                self._notes.reads.setdefault(read.place.key, resumed)

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
            self._reach.spread()
            for cls in self._reach.classes:  # it grows
                for base in bases_of(cls):  # `super()` reaches what `cls` overrides
                    self._reach.explore(base)
                    for name in (
                        class_namespace(base).copy() if is_user_class(base) else ()
                    ):
                        self._notes.class_attribute(cls, name)
            self._reach.classes.clear()
            known = [f for found in self._reach.functions.values() for f in found]
            new = [f for f in known if id(f) not in self._entered]
            if not new:
                return
            for function in new:
                self._enter_function(function)
                self._enter_nested(function.__code__, function.__globals__)
                self._enter_values(self._static, mentions_of(function.__code__))
            walked += len(new)

    # ---- afterwards ----

    def settle(self) -> Findings:
        """Return what the trace read and did not change."""
        for code, namespace in tuple(self._started.values()):
            for name in mentions_of(code).imports:  # perhaps the trace imported it
                self._enter_import(name, namespace, may_miss=True)
        self._find_orphans()
        for key, (code, _) in tuple(self._started.items()):
            for function in self._reach.functions.get(key, ()):
                if function.__code__ is code:
                    self._enter_function(function)
        for reference, path in tuple(self._passing.values()):
            value = reference()
            if value is not None and not self._notes.knows(value):
                self._notes.meet_passing(value, path)
        reads, disturbed = settle(self._notes, self._writes, strict=self._strict)
        captured = tuple(
            None
            if (seen := read.seen.settle(read.place.get())) is None
            else seen.effects
            for read in self._captured_before
        )
        return Findings(reads, captured, disturbed, self._writes)

    def _find_orphans(self) -> None:
        """Search the values that the trace saw for functions that ran.

        `optimizer.update` may be a closure in a named tuple: no name leads to its cells.
        """
        wanted = self._orphans.keys() - self._nested_codes()
        if not wanted:
            return
        for value in reachable(self._reach.roots):
            if class_of(value) is FunctionType and id(value.__code__) in wanted:
                self._reach.explore(value)

    def _nested_codes(self) -> set[int]:
        """Return the `id` of the code of functions that the trace itself made."""
        return {id(const) for code in self.codes for const in code.co_consts}

    # ---- functions that start ----

    def _enter_function(self, function: FunctionType) -> None:
        if id(function) in self._entered:
            return
        self._entered[id(function)] = function
        code = function.__code__
        alone = len(self._reach.functions.get(id(code), ())) == 1
        before = self._orphans.get(id(code), {}) if alone else {}
        captured = id(function) in self._captured
        values: list[Any] = []
        for place in places_of(function):
            if captured:
                value = place.get()
                self._notes.meet(value, place.name)
            else:
                value = self._notes.place(place, before.get(place.name, MISSING))
            values.append(value)
        self._enter_values(values, mentions_of(code))
        for default in (*(function.__defaults__ or ()), *_keyword_defaults(function)):
            self._notes.meet(default, code.co_name)

    def _enter_values(self, values: Iterable[Any], mentions: Mentions) -> None:
        """Note what code reads of values by names that are worked out, or not there."""
        if not (mentions.reads_any or mentions.expects_absence):
            return
        for value in values:
            if mentions.reads_any:
                self._notes.whole(value)
            if mentions.expects_absence:
                note_absent(self._notes, value, mentions.names)

    def _start_arguments(
        self, code: CodeType, frame: FrameType, mentions: Mentions
    ) -> bool:
        """Note what is read from arguments that are objects, classes, modules.

        Returns:
            Whether no other kinds of arguments are to be expected.
        """
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
        values = frame.f_locals
        names = code.co_varnames[:count]
        given: list[Any] = [values.get(name) for name in names]
        done = True
        for i, (name, value) in enumerate(zip(names, given, strict=True)):
            for part in (value, *contained(value)[:_PARTS]):
                kind = class_of(part)
                owner: Any = part if issubclass(kind, type | ModuleType) else kind
                if not self._is_user(owner):
                    continue
                done = False
                if i == 0 and part is value:
                    self._start_method(code, owner)
                    if owner is value and is_user_class(kind):
                        self._start_method(code, kind)
                self._pass(
                    part, owner, name, is_new=i == 0 and code.co_name == "__init__"
                )
        if 0 < len(given) <= 2 and class_of(given[-1]) is str:
            note_missed(self._notes, code, given[0], given[-1])
            done = False
        self._enter_values(given, mentions)
        self._firings[id(code)] = count = self._firings.get(id(code), 0) + 1
        return done or count > _FIRINGS

    def _is_user(self, owner: Any) -> bool:
        """Tell whether a class or a module is the user's; asked once for each."""
        known = self._users.get(id(owner))
        if known is None:
            known = self._users[id(owner)] = owner, is_user(owner)
        return known[1]

    def _pass(self, value: Any, owner: Any, name: str, *, is_new: bool) -> None:
        """Take in an argument: what it is of; itself, if it lives on."""
        if not self._notes.knows(owner):
            self._notes.meet(owner, name)
        if owner is value or is_new or self._notes.knows(value):
            return
        if id(value) not in self._passing and len(self._passing) < _PASSING:
            with suppress(TypeError):  # it takes no weak reference
                self._passing[id(value)] = ref(value), name

    def _start_method(self, code: CodeType, cls: type) -> None:
        """Note by which name a class or a base of it holds code that starts."""
        if is_module(cls) or (id(code), id(cls)) in self._met:
            return
        self._met[id(code), id(cls)] = cls
        self._notes.meet(cls, code.co_name)
        self._notes.of_classes[id(cls)].append("__class__")  # it matters by now
        # Decorated, the code is elsewhere.
        self._notes.class_attribute(cls, code.co_name)
        for owner in bases_of(cls):
            if not is_user_class(owner):
                continue
            for name, value in class_namespace(owner).copy().items():
                if code_in(value) is code:
                    self._notes.class_attribute(cls, name)
                    if class_attribute(cls, name) is not value:  # by `super()`
                        self._notes.class_attribute(owner, name)

    def _enter_code(
        self, code: CodeType, namespace: dict[str, Any], mentions: Mentions
    ) -> None:
        self._started[id(code)] = code, namespace
        in_function = is_function_code(code)
        for name in mentions.globals:
            # Others are names of the class whose body this is.
            if in_function or _is_global(name, namespace):
                value = self._notes.name(namespace, name)
                self._enter_values((value,), mentions)
        for name in mentions.imports:
            self._enter_import(name, namespace)
        if mentions.reads_module:
            self._notes.meet_namespace(namespace)

    def _enter_import(
        self, name: str, namespace: dict[str, Any], *, may_miss: bool = False
    ) -> None:
        """Note which module an import gives, or that there is none."""
        with suppress(ImportError):
            name = importlib.util.resolve_name(name, entry(namespace, "__package__"))
        module = sys.modules.get(name)
        if (
            self._strict
            or (module is None and may_miss)
            or (is_module(module) and is_user(module))
        ):
            self._notes.name(sys.modules, name)

    def _enter_nested(self, code: CodeType, namespace: dict[str, Any]) -> None:
        mentions = mentions_of(code)
        self._enter_names(mentions)
        self._enter_code(code, namespace, mentions)
        for const in code.co_consts:
            if isinstance(const, CodeType):
                self._enter_nested(const, namespace)


def _stands(
    captured: dict[int, FunctionType], entered: dict[int, FunctionType], value: Any
) -> None:
    """Take in that a value stands at a place that was noted."""
    if captured.pop(id(value), None) is not None:  # by a name as well
        entered.pop(id(value), None)


def _is_global(name: str, namespace: dict[str, Any]) -> bool:
    return holds(namespace, name) or name in vars(builtins)


def _free_variables(code: CodeType, frame: FrameType) -> dict[str, Any]:
    if not code.co_freevars:
        return {}
    values = frame.f_locals
    return {n: values[n] for n in code.co_freevars if n in values}


def _keyword_defaults(function: FunctionType) -> tuple[Any, ...]:
    return tuple((function.__kwdefaults__ or {}).values())
