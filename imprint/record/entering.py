"""Entering: what is noted when a function of a trace starts.

Its code tells the names that it mentions, its closure and its arguments what it can come
to, and the class of its first argument by which name it is held. What the root captures
is left out: its token says that (`captures`).
"""

import builtins
import importlib.util
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Final

from imprint.core.libraries import (
    entry,
    holds,
    is_module,
    is_user,
    is_user_class,
    module_namespace,
)
from imprint.core.trace import Tracer
from imprint.definition.layout import layout_of
from imprint.record.absence import note_absent, note_missed
from imprint.record.bytecode import inner_codes
from imprint.record.mentions import Mentions, is_function_code, mentions_of
from imprint.record.noted import PLAIN
from imprint.record.notes import Notes
from imprint.record.notes import expect as expect_absent
from imprint.record.owners import ATOMS
from imprint.record.parts import OPAQUE, code_in
from imprint.record.probe import uncover
from imprint.record.reach import Reach
from imprint.record.writes import Writes
from imprint.watch.captures import (
    CONTAINERS,
    captured_functions,
    contained,
    places_of,
)
from imprint.watch.classes import (
    MISSING,
    bases_of,
    class_attribute,
    class_namespace,
)
from imprint.watch.places import NamePlace
from imprint.watch.seen import Held, Weak, class_of, hold
from imprint.watch.written import written_by

_FIRINGS: Final = 256
"""Starts of one function after which no new class of arguments is expected."""
_PASSING: Final = 4096
"""Objects without a name that are remembered."""
_PARTS: Final = 64
"""Items of an argument that is a container."""
_OWNERS: Final = (type, ModuleType)
_OPAQUE: Final = (*OPAQUE, FunctionType, Tracer)


@dataclass(slots=True)
class _Told:
    """What was told already, by `id`: kept alive."""

    firings: dict[int, int] = field(default_factory=dict[int, int])
    failures: dict[int, int] = field(default_factory=dict[int, int])
    mentioned: dict[int, CodeType] = field(default_factory=dict[int, CodeType])
    users: dict[int, tuple[Any, bool]] = field(
        default_factory=dict[int, tuple[Any, bool]]
    )
    empty: dict[int, Any] = field(default_factory=lambda: dict.fromkeys(ATOMS))
    """Classes whose instances hold nothing that lives on."""
    met: dict[tuple[int, int], Any] = field(default_factory=dict[tuple[int, int], Any])


class Entering:
    """What a trace noted of the functions that started.

    Args:
        fun: the function that is traced.
        strict: whether libraries and the contents of arrays and objects count.
    """

    def __init__(self, fun: Any, *, strict: bool) -> None:
        self._strict = strict
        self._captured = captured_functions(fun)
        self._reach = Reach()
        self._started: dict[tuple[int, int], tuple[CodeType, dict[str, Any]]] = {}
        """By the `id` of both: functions of two modules may have one code."""
        self._told = _Told()
        self._entered: dict[int, FunctionType] = {}
        # Not a method: it would keep all that is noted alive until a collection.
        on_place = partial(_stands, self._captured, self._entered)
        self._notes = Notes(
            *(self._reach.explore, on_place, self._captured, fun, written_by(fun)),
            strict=strict,
        )
        self._orphans: dict[int, dict[str, Any]] = {}
        self._passing: dict[int, tuple[Held, str]] = {}
        self._writes = Writes()

    @property
    def asks_any(self) -> bool:
        """Whether the user's code asks for names that are worked out."""
        return self._notes.asks_any

    def take_result(self, code: CodeType, value: Any) -> None:
        """Note what the user's code reads so of what it is given."""
        self._enter_values((value,), mentions_of(code))

    def _enter_names(self, mentions: Mentions) -> None:
        if mentions.reads_whole:
            uncover()
        self._writes.add(mentions)
        self._notes.owners.asks_class |= mentions.asks_class
        self._notes.use(mentions.uses)
        self._notes.mention(mentions.names)
        if mentions.reads_any:
            self._notes.ask_any(mentions.names)
        expect_absent(self._notes, mentions.absent)

    def _enter_function(self, function: FunctionType) -> None:
        if id(function) in self._entered:
            return
        self._entered[id(function)] = function
        code = function.__code__
        if (id(code), id(function.__globals__)) not in self._started:
            self._enter_code(code, function.__globals__, mentions_of(code))
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
        receiver = _receiver(code, given)
        done = True
        for name, value in zip(names, given, strict=True):
            for part in (value, *contained(value)[:_PARTS]):
                kind = class_of(part)
                if id(kind) in PLAIN:
                    continue
                owner: Any = part if issubclass(kind, _OWNERS) else kind
                if not self._is_user(owner):
                    continue
                done = False
                if part is receiver:
                    self._start_method(code, owner)
                    if owner is part and is_user_class(kind):
                        self._start_method(code, kind)
                is_new = part is receiver and code.co_name == "__init__"
                self._pass(part, owner, name, is_new=is_new)
        if 0 < len(given) <= 2 and class_of(given[-1]) is str:
            note_missed(self._notes, code, given[0], given[-1])
            done = False
        self._enter_values(given, mentions)
        self._told.firings[id(code)] = count = self._told.firings.get(id(code), 0) + 1
        return done or count > _FIRINGS

    def _enter_free(self, code: CodeType, frame: FrameType, mentions: Mentions) -> bool:
        """Note what code reads so of the closure variables that it starts with.

        Returns:
            Whether there is any: other objects may be there next time.
        """
        if not (mentions.reads_any or mentions.expects_absence):
            return False
        free = free_variables(code, frame)
        self._enter_values(free.values(), mentions)
        return bool(free)

    def _is_user(self, owner: Any) -> bool:
        """Tell whether a class or a module is the user's; asked once for each."""
        known = self._told.users.get(id(owner))
        if known is None:
            known = self._told.users[id(owner)] = owner, is_user(owner)
        return known[1]

    def _pass(self, value: Any, owner: Any, name: str, *, is_new: bool) -> None:
        """Take in an argument: what it is of; itself, if it lives on."""
        if not self._notes.knows(owner):
            self._notes.meet(owner, name)
        if owner is value or is_new or self._notes.knows(value):
            return
        if id(value) not in self._passing and len(self._passing) < _PASSING:
            held = hold(value)
            if isinstance(held, Weak) or layout_of(value).has_attributes:
                self._passing[id(value)] = held, name

    def give(self, value: Any, name: str, *, is_ours: bool) -> None:
        """Take in what a library's function gives the user's code: what of it lives on.

        Args:
            value: it.
            name: of the function.
            is_ours: whether it is given to imprint, which hands on what is the user's.
        """
        queue, empty = [value], self._told.empty
        for each in queue:  # it grows
            kind = class_of(each)
            if id(kind) in empty:
                continue
            if issubclass(kind, _OPAQUE):
                empty[id(kind)] = kind
                continue
            if len(queue) < _PARTS:
                queue += contained(each)[:_PARTS]
            owner: Any = each if issubclass(kind, _OWNERS) else kind
            is_holder = owner is kind and layout_of(each).has_attributes
            if self._is_user(owner) or (is_holder and not is_ours):
                self._pass(each, owner, f"{name}()", is_new=False)
            elif owner is kind and not is_holder and id(kind) not in CONTAINERS:
                empty[id(kind)] = kind

    def _start_method(self, code: CodeType, cls: type) -> None:
        """Note by which name a class or a base of it holds code that starts."""
        if is_module(cls) or (id(code), id(cls)) in self._told.met:
            return
        self._told.met[id(code), id(cls)] = cls
        self._notes.meet(cls, code.co_name)
        self._notes.owners.of_classes[id(cls)].append("__class__")  # it matters by now
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
        self._started[id(code), id(namespace)] = code, namespace
        in_function = is_function_code(code)
        if "super" in mentions.globals:
            self._notes.reach_bases()
        for name in mentions.globals:
            # Others are names of the class whose body this is.
            if in_function or _is_global(name, namespace):
                value = self._notes.name(namespace, name)
                self._enter_values((value,), mentions)
        for name in mentions.imports:
            module = self._enter_import(name, namespace)
            if mentions.expects_absence:
                note_absent(self._notes, module, mentions.names)
        self._enter_parts(mentions.parts, namespace)
        if mentions.reads_module:
            self._notes.meet_namespace(namespace)
        if mentions.reads_module or mentions.reads_whole:
            self._notes.use_in_modules(mentions.uses.keys | mentions.uses.texts)
        if mentions.reads_any:
            self._notes.ask_modules()

    def _enter_text(self, code: CodeType, frame: FrameType, mentions: Mentions) -> None:
        """Note what a text reads that is executed; an import reads what it has bound."""
        self._writes.add(mentions)
        if id(frame.f_globals) in self._notes.owners.modules and _is_text(frame):
            self._enter_names(mentions)
            self._enter_code(code, frame.f_globals, mentions)

    def _enter_import(
        self, name: str, namespace: dict[str, Any], *, may_miss: bool = False
    ) -> Any:
        """Note which module an import gives, or that there is none; return it."""
        name = _resolved(name, namespace)
        module = sys.modules.get(name)
        if (
            self._strict
            or (module is None and may_miss)
            or (module is not None and (not is_module(module) or is_user(module)))
        ):
            self._notes.name(sys.modules, name)
        return module

    def _enter_parts(
        self, parts: Iterable[str], namespace: dict[str, Any], *, may_miss: bool = False
    ) -> None:
        """Note modules in packages, that an import takes from there; or what it misses."""
        for part in parts:
            module = self._enter_import(part, namespace)
            if module is None and may_miss:
                self._enter_missing(part, namespace)
            if is_module(module) and is_user(module):
                full = str(entry(module_namespace(module), "__name__"))
                outer, _, name = full.rpartition(".")
                package = sys.modules.get(outer)
                if is_module(package) and holds(module_namespace(package), name):
                    self._notes.name(module_namespace(package), name)

    def _enter_missing(self, part: str, namespace: dict[str, Any]) -> None:
        """Note that a module has no such name, which an import asks it for."""
        outer, _, name = _resolved(part, namespace).rpartition(".")
        module = sys.modules.get(outer)
        if is_module(module) and is_user(module) and name != "*":
            names = module_namespace(module)
            if not holds(names, name):
                self._notes.place(NamePlace(names, name))
                self._notes.place(NamePlace(sys.modules, f"{outer}.{name}"))

    def _enter_nested(self, code: CodeType, namespace: dict[str, Any]) -> None:
        mentions = mentions_of(code)
        self._enter_names(mentions)
        self._enter_code(code, namespace, mentions)
        for inner in inner_codes(code):
            self._enter_nested(inner, namespace)


def _resolved(name: str, namespace: dict[str, Any]) -> str:
    """Return the whole name of a module, which has dots before it in a package."""
    with suppress(ImportError):
        name = importlib.util.resolve_name(name, entry(namespace, "__package__"))
    return name


def _stands(
    captured: dict[int, FunctionType], entered: dict[int, FunctionType], value: Any
) -> None:
    """Take in that a value stands at a place that was noted."""
    if captured.pop(id(value), None) is not None:  # by a name as well
        entered.pop(id(value), None)


def mention_by_library(notes: Notes, mentions: Mentions) -> None:
    """Take in what a library's code mentions: it may be given objects of the user's."""
    notes.owners.asks_class |= "__class__" in mentions.names
    notes.mention(mentions.public_names, by_library=True)
    notes.use_whole(mentions.names, by_library=True)


def take_new(notes: Notes, values: Iterable[Any]) -> None:
    """Take in classes that are being made: what they are given is no read."""
    for value in values:
        if issubclass(class_of(value), type) and not notes.knows(value):
            notes.owners.new[id(value)] = value


def _is_global(name: str, namespace: dict[str, Any]) -> bool:
    return holds(namespace, name) or name in vars(builtins)


def _receiver(code: CodeType, given: list[Any]) -> Any:
    """Return the first positional argument: of a method, its object; None if none is."""
    if code.co_argcount:
        return given[0]
    if not code.co_flags & 0x04:
        return None
    return next(iter(given[code.co_kwonlyargcount]), None)


def free_variables(code: CodeType, frame: FrameType) -> dict[str, Any]:
    """Return the closure variables of a frame, as far as they have values."""
    if not code.co_freevars:
        return {}
    values = frame.f_locals
    return {n: values[n] for n in code.co_freevars if n in values}


def _is_text(frame: FrameType) -> bool:
    """Tell whether the code of a module runs for `eval` or `exec`, and not an import."""
    back = frame.f_back
    return back is None or not back.f_code.co_filename.startswith("<frozen importlib")


def _keyword_defaults(function: FunctionType) -> tuple[Any, ...]:
    return tuple((function.__kwdefaults__ or {}).values())
