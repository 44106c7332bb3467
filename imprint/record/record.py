"""The record of one trace: which places its functions read, and what stood there before.

1. When a user's function starts for the first time, `start` notes the names that its
   code reads, and so their values before the function could change them.
2. A value that is noted leads to functions; when one of these starts, its closure and
   its code are noted too. Methods are found through the class of their first argument.
   What the root captures is left out: its token says that (`captures`).
3. `settle` looks at each place again. What the trace itself changed is an effect of it
   and no input (rule E): a rebound name is dropped, a container counts by identity.
"""

import builtins
import functools
import gc
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any, Final, final

import numpy as np

from imprint.core.array import Array
from imprint.core.identity import ids_of
from imprint.core.libraries import (
    is_library_value,
    is_module,
    is_user_class,
    is_user_code,
    is_user_namespace,
    module_namespace,
)
from imprint.definition.layout import layout_of
from imprint.record.mentions import Base, Chain, Mentions, is_function_code, mentions_of
from imprint.watch.captures import (
    captured_functions,
    captured_reads,
    contained,
    places_of,
)
from imprint.watch.places import (
    MISSING,
    CellPlace,
    ClassPlace,
    FunctionPlace,
    Key,
    NamePlace,
    Place,
    bases_of,
    class_attribute,
    class_namespace,
    defining_class,
)
from imprint.watch.seen import Findings, Read, Seen, class_of

_WALKED: Final = 2_000
"""Functions that a walk takes in."""
_SEARCHED: Final = 20_000
"""Objects among which closures that no name leads to are searched."""
_LOOSE: Final = 64
"""Items of containers whose classes are looked at."""
_FIRINGS: Final = 256
"""Starts of one function after which no new class of arguments is expected."""


@final
class Record:
    """What a trace read, in the making.

    Args:
        fun: the function that will be traced.
        strict: whether libraries and the contents of arrays and objects count.
    """

    def __init__(self, fun: Any, *, strict: bool) -> None:
        self._strict = strict
        self._captured = captured_functions(fun)
        self._captured_before = captured_reads(fun, strict=strict)
        self._before: dict[Key, Read] = {}
        self._skipped: set[Key] = set()
        self._started: dict[int, tuple[CodeType, dict[str, Any]]] = {}
        self._firings: dict[int, int] = {}
        self._met: dict[tuple[int, str, int], Any] = {}  # by id: kept alive
        self._functions: dict[int, list[FunctionType]] = {}
        self._entered: dict[int, FunctionType] = {}
        self._orphans: dict[int, dict[str, Any]] = {}
        self._roots: list[Any] = []
        self._explored: dict[int, Any] = {}  # by id, so they must stay alive
        self._user_classes: list[type] = []
        self.explore(fun)

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
        reads = mentions_of(code)
        done = not reads.parameters or self._start_parameters(code, frame, reads)
        if id(code) not in self._started:
            self._enter_code(code, frame.f_globals, reads)
            functions = self._functions.get(id(code))
            if functions is None:
                self._orphans[id(code)] = _free_variables(code, frame)
            for function in functions or ():
                self._enter_function(function)
        return done

    def explore(self, value: Any) -> None:
        """Remember the functions that a value leads to; they may start later."""
        kind = class_of(value)
        if id(kind) in _ATOMS or id(value) in self._explored:
            return
        self._explored[id(value)] = value
        if kind is FunctionType:
            self._explore_function(value)
        elif id(kind) in _METHODS:
            self.explore(value.__func__)
            self.explore(getattr(value, "__self__", None))
        elif kind is functools.partial:
            self.explore(value.func)
            self._roots.append(value)
        elif kind is property:
            self.explore(value.fget)
        elif issubclass(kind, type):
            self._explore_class(value)
        elif not issubclass(kind, _OPAQUE):
            self._roots.append(value)
            wrapped = _instance_dict(value).get("__wrapped__")
            if wrapped is not None:
                self.explore(wrapped)

    def merge(self, inner: "Record") -> None:
        """Take over what a trace inside this one noted."""
        self._before = {**inner._before, **self._before}
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
                self._before.setdefault(read.place.key, read)

    def walk(self, arguments: Iterable[Any] = ()) -> None:
        """Note everything that names lead to, without waiting for it to start.

        Args:
            arguments: those that the function takes as Python values.
        """
        for value in arguments:
            self.explore(value)
        walked = 0
        while walked < _WALKED:
            for value in _reachable(self._roots):
                self.explore(
                    value if class_of(value) is FunctionType else class_of(value)
                )
            self._roots.clear()
            for cls in self._user_classes:  # it grows
                for base in bases_of(cls):  # `super()` reaches what `cls` overrides
                    self.explore(base)
                    for name in class_namespace(base) if is_user_class(base) else ():
                        self._note_class(cls, name)
            self._user_classes.clear()
            known = [f for found in self._functions.values() for f in found]
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
            for function in self._functions.get(key, ()):
                if function.__code__ is code:
                    self._enter_function(function)
        reads = tuple(
            Read(read.place, seen)
            for read in self._before.values()
            if (seen := read.seen.settle(read.place.get())) is not None
        )
        captured = tuple(
            read.seen.matches(read.place.get()) for read in self._captured_before
        )
        return Findings(reads, captured)

    # ---- functions ----

    def _explore_function(self, function: FunctionType) -> None:
        wrapped = function.__dict__.get("__wrapped__")
        if wrapped is not None:
            self.explore(wrapped)
        code = function.__code__
        if is_user_code(code, function.__globals__):
            self._functions.setdefault(id(code), []).append(function)

    def _explore_class(self, cls: type) -> None:
        if is_user_class(cls):
            self._user_classes.append(cls)
            for value in class_namespace(cls).values():
                if id(class_of(value)) in _DEFINED_IN_CLASSES:
                    self.explore(value)

    def _enter_function(self, function: FunctionType) -> None:
        if id(function) in self._entered:
            return
        self._entered[id(function)] = function
        code = function.__code__
        alone = len(self._functions.get(id(code), ())) == 1
        before = self._orphans.get(id(code), {}) if alone else {}
        captured = id(function) in self._captured
        values: dict[str, Any] = {}
        for place in places_of(function):
            if captured:
                value = place.get()
                self.explore(value)
            else:
                value = self._note(place, before.get(place.name, MISSING))
            if isinstance(place, CellPlace):
                values[place.name] = value
        reads = mentions_of(code)
        for chain in reads.chains:
            if chain.base is Base.CELL:
                self._follow(values.get(chain.name), chain.attributes, reads.loose)
        for default in (*(function.__defaults__ or ()), *_keyword_defaults(function)):
            self.explore(default)

    def _start_parameters(
        self, code: CodeType, frame: FrameType, reads: Mentions
    ) -> bool:
        """Note what is read from arguments that are objects, classes, modules.

        Returns:
            Whether no other kinds of arguments are to be expected.
        """
        done = True
        values = frame.f_locals
        for name, chains in reads.parameters.items():
            value: Any = values.get(name)
            kind = class_of(value)
            owner: Any = value if issubclass(kind, type | ModuleType) else kind
            if not _is_user(owner):
                continue
            done = False
            if (id(code), name, id(owner)) in self._met:
                continue
            self._met[id(code), name, id(owner)] = owner
            self._roots.append(value)
            if name == code.co_varnames[0] and not is_module(owner):
                self._start_method(code, owner)
                if owner is value and is_user_class(kind):
                    self._start_method(code, kind)
            for attributes in chains:
                self._follow(value, attributes, reads.loose)
        self._firings[id(code)] = count = self._firings.get(id(code), 0) + 1
        return done or count > _FIRINGS

    def _start_method(self, code: CodeType, cls: type) -> None:
        """Note by which name a class or a base of it holds code that starts."""
        self._note_class(cls, code.co_name)  # decorated, the code is elsewhere
        for owner in bases_of(cls):
            if not is_user_class(owner):
                continue
            for name, value in class_namespace(owner).items():
                if _code_in(value) is code:
                    self._note_class(cls, name)
                    if class_attribute(cls, name) is not value:  # by `super()`
                        self._note_class(owner, name)

    # ---- names ----

    def _enter_code(
        self, code: CodeType, namespace: dict[str, Any], reads: Mentions
    ) -> None:
        self._started[id(code)] = code, namespace
        in_function = is_function_code(code)
        for chain in (*reads.chains, *reads.written):
            if chain.base is Base.GLOBAL:
                if not (in_function or _is_global(chain.name, namespace)):
                    continue  # a name of the class whose body this is
                value = self._note_name(namespace, chain.name)
            elif chain.base is Base.IMPORT:
                value = _imported(chain, namespace)
            else:
                continue
            self._follow(value, chain.attributes, reads.loose)

    def _enter_nested(self, code: CodeType, namespace: dict[str, Any]) -> None:
        self._enter_code(code, namespace, mentions_of(code))
        for const in code.co_consts:
            if isinstance(const, CodeType):
                self._enter_nested(const, namespace)

    def _follow(
        self, value: Any, attributes: tuple[str, ...], loose: tuple[str, ...]
    ) -> None:
        """Note attributes of modules, classes and functions, as far as a chain goes."""
        self._note_loose(value, loose)
        for name in attributes:
            kind = class_of(value)
            if name == "__class__":
                value = kind
            elif issubclass(kind, ModuleType):
                namespace = module_namespace(value)
                if not (self._strict or is_user_namespace(namespace)):
                    return
                value = self._note_name(namespace, name)
                if value is MISSING:
                    self._note_name(namespace, "__getattr__")
            elif issubclass(kind, type):
                value = self._note_of_class(value, name)
            elif kind is FunctionType:
                value = self._note_attribute(value, name)
            else:
                held = _instance_dict(value)
                value = held[name] if name in held else self._note_class(kind, name)
            self._note_loose(value, loose)

    def _note_loose(self, value: Any, names: tuple[str, ...]) -> None:
        """Note attributes that are read from something, perhaps from what is in `value`.

        In `for layer in LAYERS: layer.rate` no chain leads to the class of a layer.
        """
        for owner in _owners_in(value) if names else ():
            if is_module(owner):
                namespace = module_namespace(owner)
                for name in names:
                    if name in namespace:
                        self._note_name(namespace, name)
            else:
                for name in names:
                    self._note_class(owner, name)

    def _note_attribute(self, function: FunctionType, name: str) -> Any:
        place = FunctionPlace(function, name)
        own = name in function.__dict__ or place.get() is MISSING
        return self._note(place) if own else MISSING

    def _note_of_class(self, cls: Any, name: str) -> Any:
        """Note what a class answers under a name: its own, or its metaclass's."""
        meta = class_of(cls)
        owner = defining_class(meta, name)
        if defining_class(cls, name) is None and owner and is_user_class(owner):
            self._note(ClassPlace(cls, name))  # it may come to be
            return self._note_class(meta, name)
        return self._note_class(cls, name)

    def _note_class(self, cls: type, name: str) -> Any:
        owner = defining_class(cls, name)
        if owner is None:  # then `__getattr__` answers, as long as there is none
            counts = class_attribute(cls, "__getattr__") is not MISSING
            owner = cls
        else:
            counts = True
        if counts and (self._strict or is_user_class(owner)):
            return self._note(ClassPlace(cls, name))
        return MISSING

    def _note(self, place: Place, before: Any = MISSING) -> Any:
        """Note a place once, with its value before; return its value now."""
        value = place.get()
        key = place.key
        if key not in self._before:
            seen = value if before is MISSING else before
            self._before[key] = read = Read(place, Seen(seen, strict=self._strict))
            read.seen.note_parts()
            self.explore(value)
            if self._captured.pop(id(value), None) is not None:  # by a name as well
                self._entered.pop(id(value), None)
        return value

    def _note_name(self, namespace: dict[str, Any], name: str) -> Any:
        """Note a name of a module, unless it is just the way to a library."""
        value = namespace.get(name, MISSING)
        key = "global", id(namespace), name
        if key in self._before or key in self._skipped:
            return value
        builtin = value is MISSING and name in vars(builtins)
        if self._strict or not (builtin or is_library_value(name, value)):
            self._note(NamePlace(namespace, name))
            return self._note(NamePlace(builtins.__dict__, name)) if builtin else value
        self._skipped.add(key)
        return value

    # ---- closures that no name leads to ----

    def _find_orphans(self) -> None:
        """Search the values that the trace saw for functions that ran.

        `optimizer.update` may be a closure in a named tuple: no name leads to its cells.
        """
        wanted = self._orphans.keys() - self._nested_codes()
        if not wanted:
            return
        for value in _reachable(self._roots):
            if class_of(value) is FunctionType and id(value.__code__) in wanted:
                self.explore(value)

    def _nested_codes(self) -> set[int]:
        """Return the `id` of the code of functions that the trace itself made."""
        return {id(const) for code in self.codes for const in code.co_consts}


_ATOMS: Final = ids_of(
    *(int, bool, float, complex, str, bytes, type(None), type(Ellipsis))
)
_METHODS: Final = ids_of(MethodType, staticmethod, classmethod)
_DEFINED_IN_CLASSES: Final = ids_of(FunctionType, staticmethod, classmethod, property)
_OPAQUE: Final = (type, CodeType, FrameType, ModuleType, np.ndarray, Array)


def _is_global(name: str, namespace: dict[str, Any]) -> bool:
    return name in namespace or name in vars(builtins)


def _owners_in(value: Any) -> Iterator[Any]:
    """Yield the user's modules and classes that attributes of `value` can come from.

    `value` may be one, an object, or a container of some.
    """
    queue = [value]
    seen: set[int] = set()
    for each in queue:  # it grows
        kind = class_of(each)
        owner: Any = each if issubclass(kind, type | ModuleType) else kind
        if id(owner) not in seen and _is_user(owner):
            seen.add(id(owner))
            yield owner
        if len(queue) < _LOOSE:
            queue += contained(each)[:_LOOSE]


def _free_variables(code: CodeType, frame: FrameType) -> dict[str, Any]:
    if not code.co_freevars:
        return {}
    values = frame.f_locals
    return {n: values[n] for n in code.co_freevars if n in values}


def _is_user(owner: Any) -> bool:
    """Tell whether a class or a module is the user's."""
    if is_module(owner):
        return is_user_namespace(module_namespace(owner))
    return is_user_class(owner)


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


def _instance_dict(value: Any) -> dict[str, Any]:
    if not layout_of(value).has_dict:
        return {}
    return object.__getattribute__(value, "__dict__")


def _reachable(roots: Iterable[Any]) -> Iterator[Any]:
    """Yield values and what they hold, so far as the search goes."""
    queue = list(roots)
    seen = {id(root) for root in queue}
    for value in queue:  # it grows
        yield value
        for part in _parts_of(value):
            if id(part) not in seen and len(queue) < _SEARCHED:
                seen.add(id(part))
                queue.append(part)


def _parts_of(value: Any) -> Iterable[Any]:
    """Return what a value holds, but not the module that a function belongs to."""
    kind = class_of(value)
    if id(kind) in _ATOMS or issubclass(kind, _OPAQUE):
        return ()
    if kind is FunctionType:
        cells = value.__closure__ or ()
        return [*gc.get_referents(*cells), *(value.__defaults__ or ())]
    return gc.get_referents(value)
