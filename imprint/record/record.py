"""The record of one trace: which places its functions read, and what stood there before.

1. When a user's function starts for the first time, `start` notes the names that its
   code reads (`notes`), and so their values before the function could change them.
2. A value that is noted leads to functions (`reach`); when one of these starts, its
   closure and its code are noted too. Methods are found through the class of their first
   argument. What the root captures is left out: its token says that (`captures`).
3. `settle` looks at each place again. What the trace itself changed is an effect of it
   and no input (rule E): a rebound name is dropped, a container counts by identity.
"""

import builtins
import importlib.util
import sys
from collections.abc import Iterable
from functools import partial
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Final, final

from imprint.core.libraries import is_module, is_user_class
from imprint.record.mentions import Base, Chain, Mentions, is_function_code, mentions_of
from imprint.record.notes import Notes, is_user
from imprint.record.reach import Reach, reachable
from imprint.watch.captures import captured_functions, captured_reads, places_of
from imprint.watch.places import (
    MISSING,
    CellPlace,
    bases_of,
    class_attribute,
    class_namespace,
)
from imprint.watch.seen import Findings, Read, class_of

_WALKED: Final = 2_000
"""Functions that a walk takes in."""
_FIRINGS: Final = 256
"""Starts of one function after which no new class of arguments is expected."""


@final
class Record:
    """What a trace read, in the making.

    Args:
        fun: the function that will be traced.
        arguments: what its arguments hold as Python values.
        strict: whether libraries and the contents of arrays and objects count.
    """

    def __init__(
        self, fun: Any, arguments: Iterable[Any] = (), *, strict: bool
    ) -> None:
        self._strict = strict
        self._captured = captured_functions(fun)
        self._captured_before = captured_reads(fun, strict=strict)
        self._reach = Reach()
        self._started: dict[int, tuple[CodeType, dict[str, Any]]] = {}
        self._firings: dict[int, int] = {}
        self._met: dict[tuple[int, str, int], Any] = {}  # by id: kept alive
        self._entered: dict[int, FunctionType] = {}
        # Not a method: it would keep all that is noted alive until a collection.
        meet = partial(_meet, self._reach, self._captured, self._entered)
        self._notes = Notes(meet, strict=strict)
        self._orphans: dict[int, dict[str, Any]] = {}
        for value in (fun, *arguments):
            self._reach.explore(value)

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
        if code.co_name == "<module>":
            return True  # an import; it reads what it has just bound
        mentions = mentions_of(code)
        done = not mentions.parameters or self._start_parameters(code, frame, mentions)
        if id(code) not in self._started:
            self._enter_code(code, frame.f_globals, mentions)
            functions = self._reach.functions.get(id(code))
            if functions is None:
                self._orphans[id(code)] = _free_variables(code, frame)
            for function in functions or ():
                self._enter_function(function)
        return done

    def library(self, code: CodeType, frame: FrameType) -> None:
        """Note the names that a library's function reads."""

    def merge(self, inner: "Record") -> None:
        """Take over what a trace inside this one noted."""
        self._notes.reads = {**inner._notes.reads, **self._notes.reads}
        self._started = {**inner._started, **self._started}

    def adopt(self, findings: Findings, fun: Any) -> None:
        """Take over what an earlier trace found, whose result is used for `fun`."""
        reads = captured_reads(fun, strict=self._strict)
        if len(reads) == len(findings.captured):
            pairs = zip(reads, findings.captured, strict=True)
            reads = tuple(read for read, is_input in pairs if is_input)
        made = self._nested_codes()
        for read in (*findings.reads, *reads):
            function = getattr(read.place, "function", None)
            if function is None or (
                id(function) not in self._captured and id(function.__code__) not in made
            ):
                self._notes.reads.setdefault(read.place.key, read)

    def walk(self) -> None:
        """Note everything that names lead to, without waiting for it to start."""
        walked = 0
        while walked < _WALKED:
            self._reach.spread()
            for cls in self._reach.classes:  # it grows
                for base in bases_of(cls):  # `super()` reaches what `cls` overrides
                    self._reach.explore(base)
                    for name in class_namespace(base) if is_user_class(base) else ():
                        self._notes.class_attribute(cls, name)
            self._reach.classes.clear()
            known = [f for found in self._reach.functions.values() for f in found]
            new = [f for f in known if id(f) not in self._entered]
            if not new:
                return
            for function in new:
                self._enter_function(function)
                self._enter_nested(function.__code__, function.__globals__)
            walked += len(new)

    # ---- afterwards ----

    def settle(self) -> Findings:
        """Return what the trace read and did not change."""
        for code, namespace in tuple(self._started.values()):
            if mentions_of(code).imports:  # perhaps it was the trace that imported it
                self._enter_code(code, namespace, mentions_of(code))
        self._find_orphans()
        for key, (code, _) in tuple(self._started.items()):
            for function in self._reach.functions.get(key, ()):
                if function.__code__ is code:
                    self._enter_function(function)
        reads = tuple(
            Read(read.place, seen)
            for read in self._notes.reads.values()
            if (seen := read.seen.settle(read.place.get())) is not None
        )
        captured = tuple(
            read.seen.matches(read.place.get()) for read in self._captured_before
        )
        return Findings(reads, captured)

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
        values: dict[str, Any] = {}
        for place in places_of(function):
            if captured:
                value = place.get()
                self._reach.explore(value)
            else:
                value = self._notes.place(place, before.get(place.name, MISSING))
            if isinstance(place, CellPlace):
                values[place.name] = value
        mentions = mentions_of(code)
        for chain in mentions.chains:
            if chain.base is Base.CELL:
                self._notes.follow(
                    values.get(chain.name), chain.attributes, mentions.loose
                )
        for default in (*(function.__defaults__ or ()), *_keyword_defaults(function)):
            self._reach.explore(default)

    def _start_parameters(
        self, code: CodeType, frame: FrameType, mentions: Mentions
    ) -> bool:
        """Note what is read from arguments that are objects, classes, modules.

        Returns:
            Whether no other kinds of arguments are to be expected.
        """
        done = True
        values = frame.f_locals
        for name, chains in mentions.parameters.items():
            value: Any = values.get(name)
            kind = class_of(value)
            owner: Any = value if issubclass(kind, type | ModuleType) else kind
            if not is_user(owner):
                continue
            done = False
            if (id(code), name, id(owner)) in self._met:
                continue
            self._met[id(code), name, id(owner)] = owner
            self._reach.roots.append(value)
            if name == code.co_varnames[0] and not is_module(owner):
                self._start_method(code, owner)
                if owner is value and is_user_class(kind):
                    self._start_method(code, kind)
            for attributes in chains:
                self._notes.follow(value, attributes, mentions.loose)
        self._firings[id(code)] = count = self._firings.get(id(code), 0) + 1
        return done or count > _FIRINGS

    def _start_method(self, code: CodeType, cls: type) -> None:
        """Note by which name a class or a base of it holds code that starts."""
        self._notes.class_attribute(
            cls, code.co_name
        )  # decorated, the code is elsewhere
        for owner in bases_of(cls):
            if not is_user_class(owner):
                continue
            for name, value in class_namespace(owner).items():
                if _code_in(value) is code:
                    self._notes.class_attribute(cls, name)
                    if class_attribute(cls, name) is not value:  # by `super()`
                        self._notes.class_attribute(owner, name)

    def _enter_code(
        self, code: CodeType, namespace: dict[str, Any], mentions: Mentions
    ) -> None:
        self._started[id(code)] = code, namespace
        in_function = is_function_code(code)
        for chain in (*mentions.chains, *mentions.written):
            if chain.base is Base.GLOBAL:
                if not (in_function or _is_global(chain.name, namespace)):
                    continue  # a name of the class whose body this is
                value = self._notes.name(namespace, chain.name)
            elif chain.base is Base.IMPORT:
                value = _imported(chain, namespace)
            else:
                continue
            self._notes.follow(value, chain.attributes, mentions.loose)

    def _enter_nested(self, code: CodeType, namespace: dict[str, Any]) -> None:
        self._enter_code(code, namespace, mentions_of(code))
        for const in code.co_consts:
            if isinstance(const, CodeType):
                self._enter_nested(const, namespace)


def _meet(
    reach: Reach,
    captured: dict[int, FunctionType],
    entered: dict[int, FunctionType],
    value: Any,
) -> None:
    """Take in a value that stands at a place that was noted."""
    reach.explore(value)
    if captured.pop(id(value), None) is not None:  # by a name as well
        entered.pop(id(value), None)


def _is_global(name: str, namespace: dict[str, Any]) -> bool:
    return name in namespace or name in vars(builtins)


def _free_variables(code: CodeType, frame: FrameType) -> dict[str, Any]:
    if not code.co_freevars:
        return {}
    values = frame.f_locals
    return {n: values[n] for n in code.co_freevars if n in values}


def _code_in(value: Any) -> CodeType | None:
    """Return the code of what a class holds, if it is a method of some kind."""
    kind = class_of(value)
    if kind is staticmethod or kind is classmethod:
        value = value.__func__
    elif kind is property:
        value = value.fget
    return value.__code__ if class_of(value) is FunctionType else None


def _keyword_defaults(function: FunctionType) -> tuple[Any, ...]:
    return tuple((function.__kwdefaults__ or {}).values())


def _imported(chain: Chain, namespace: dict[str, Any]) -> Any:
    """Return the module that a chain begins at, if it is there by now."""
    package = namespace.get("__package__")
    try:
        name = importlib.util.resolve_name(chain.name, package)
    except ImportError:
        return None
    return sys.modules.get(name)
