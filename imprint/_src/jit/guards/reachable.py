"""What names reach: functions, classes, modules and objects, with their named locations.

The walk begins at the traced function and its static arguments. When a code object starts,
its names are resolved: a chain leads from a global or closure variable straight to its
values; any other attribute name is looked for on every owner that was reached (names ×
owners, by indexes in both directions). The value at each location is kept as it was when
the walk first came by, so that what the trace writes can be told from what it reads.
"""

import gc
import sys
from collections import deque
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from types import (
    CellType,
    CodeType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, Final, final

import numpy as np

from imprint._src.core.array import NumberArray
from imprint._src.core.identity import Inner, ids_of
from imprint._src.core.trace import Trace, Tracer
from imprint._src.core.user_code import (
    is_fixed,
    is_module,
    is_own_class,
    is_own_namespace,
    is_user_class,
    is_user_code,
    is_user_file,
    is_user_namespace,
    module_namespace,
)
from imprint._src.jit.fingerprint.layout import instance_dict, layout_of
from imprint._src.jit.guards.code_names import (
    Chain,
    ChainStep,
    Head,
    StepKind,
    code_names,
)
from imprint._src.jit.guards.executed import Executed
from imprint._src.jit.guards.locations import (
    LIMIT,
    MISSING,
    OF_FUNCTIONS,
    OF_TYPES,
    Attribute,
    Cell,
    ClassAttribute,
    Contents,
    FunctionPart,
    Global,
    Item,
    Key,
    Location,
    Referent,
    SpecialMethods,
    TypeOf,
    bases_of,
    cell_contents,
    class_attribute,
    class_of,
    contents_of,
    is_mapping,
    is_plain,
    length_of,
    namespace_of,
    storage_of,
)
from imprint._src.jit.guards.values import ATOMS

VISITED: Final = 20_000
"""Values that one trace visits."""
_DEPTH: Final = 16
_OPAQUE: Final[Any] = (np.ndarray, np.generic, np.dtype, NumberArray, Tracer, Trace)
_WRITES: Final = frozenset(("append", "add", "extend", "clear", "appendleft", "update"))
_Site = tuple[CodeType, int]


@final
class Readers:
    """Which instructions read a location.

    Attributes:
        sites: them, of chains that lead there.
        by_name: whether every executed read of its name counts, too.
        always: whether it counts whatever ran.
        of_code: the code that has to run for it to count.
    """

    __slots__ = ("always", "by_name", "of_code", "sites")

    def __init__(
        self,
        *,
        by_name: bool = False,
        always: bool = False,
        of_code: CodeType | None = None,
    ) -> None:
        self.sites: list[_Site] = []
        self.by_name: bool = by_name
        self.always: bool = always
        self.of_code: CodeType | None = of_code


@final
class ReachedLocation:
    """A location that was reached, with the value that it had then."""

    __slots__ = ("before", "is_left", "location", "uses", "whole", "whole_by_name")

    def __init__(self, location: Location, before: Any) -> None:
        self.location: Location = location
        self.before: Any = before
        self.is_left: bool = False
        """Whether the trace put it there: it was found afterwards."""
        self.uses: list[Readers] = []
        self.whole: list[_Site] = []
        """Instructions after which the value is used by more than constant keys."""
        self.whole_by_name: bool = False


@final
class ReachableValues:
    """All that one trace reached.

    Args:
        executed: what ran.
        is_strict: whether contents of any size count.
    """

    def __init__(self, executed: Executed, *, is_strict: bool) -> None:
        self.executed: Executed = executed
        self.is_strict: bool = is_strict
        self.places: dict[Key, ReachedLocation] = {}
        self.functions: dict[int, list[tuple[FunctionType, Location | None]]] = {}
        """By the `id` of their code."""
        self.objects: dict[int, tuple[Any, Location | None]] = {}
        self._own_names: dict[int, set[str]] = {}
        self.classes: dict[int, type] = {}
        self.classes_of: dict[int, set[int]] = {}
        """By the `id` of code, the classes that hold a function with it."""
        self.lost: dict[int, set[str]] = {}
        """By the `id` of code, steps of chains whose receiver only running code tells."""
        self.has_tracers: bool = False
        """Whether a location had a value of another trace."""
        self.is_over: bool = False
        """Whether the trace is over: what is found now, it put there."""
        self.is_bounded: bool = False
        """Whether there was more to visit than `VISITED`."""
        self._limit: int | None = LIMIT
        if is_strict:
            self.turn_strict()
        self._known: dict[int, Any] = {}  # by id: kept alive
        self._whole: dict[int, Any] = {}
        self._names: set[str] = set()
        self._waiting: dict[str, list[Callable[[], None]]] = {}
        self._tails: dict[
            str, list[tuple[CodeType, int, tuple[ChainStep, ...], bool]]
        ] = {}
        self._by_names: dict[str, list[ReachedLocation]] = {}
        self._entered: set[int] = set()
        self._parents: dict[int, CodeType] = {}
        self._started: dict[tuple[int, int], tuple[CodeType, dict[str, Any]]] = {}
        self._stored: set[str] = set()
        self._chained: dict[str, set[str]] = {}
        self._queue: list[tuple[Any, Location | None, Readers | None]] = []
        self._is_walking = False
        self._has_patterns = False
        self.matched: set[str] = set()
        """Names that class patterns read by position."""

    def close(self) -> None:
        """Let go of what was reached."""
        self._waiting.clear()
        self._known.clear()
        self.functions.clear()
        self.objects.clear()
        self.places.clear()

    def turn_strict(self) -> None:
        """Take in contents of any size from now on."""
        self.is_strict, self._limit = True, None

    # ---- values ----

    def explore(
        self, value: Any, location: Location | None, uses: Readers | None = None
    ) -> None:
        """Visit a value, and what it reaches.

        Args:
            value: it.
            location: where it is bound.
            uses: what reads the containers in it; None if nothing reads them whole.
        """
        self._queue.append((value, location, uses))
        if self._is_walking:
            return
        self._is_walking = True
        try:
            while self._queue:
                self._visit(*self._queue.pop())
        finally:
            self._is_walking = False
            self._queue.clear()

    def _visit(  # noqa: C901, PLR0912 - a branch for each kind
        self, value: Any, location: Location | None, uses: Readers | None
    ) -> None:
        kind = class_of(value)
        if id(kind) in ATOMS or id(value) in self._known or kind is type(MISSING):
            return
        if is_opaque(kind):
            return
        if len(self._known) > VISITED:
            self.is_bounded = True
            return
        self._known[id(value)] = value
        if kind is FunctionType:
            self._visit_function(value, location)
        elif issubclass(kind, type):
            self._visit_class(value)
        elif issubclass(kind, ModuleType):
            self._visit_module(value)
        elif issubclass(kind, Inner):
            for name, part in layout_of(value).state(value).items():
                if name == "__wrapped__" or class_of(part) is FunctionType:
                    self.explore(part, Attribute(value, name, location, ""))
        else:
            if storage_of(value) is not None:
                if uses is not None and location is not None:
                    self._add_contents(value, location, uses)
                else:
                    self._visit_items(value, location)
                if id(kind) in _PLAIN:
                    return
            self._visit_object(value, kind, location, uses)

    def _visit_items(self, container: Any, location: Location | None) -> None:
        if self._limit is not None and length_of(container) > self._limit:
            return
        for at, item in _items(container, location):
            self.explore(item, at)

    def _visit_function(
        self, function: FunctionType, location: Location | None
    ) -> None:
        wrapped = function.__dict__.get("__wrapped__")
        if wrapped is not None:
            self.explore(wrapped, FunctionPart(function, "__wrapped__", location))
        code = function.__code__
        if not is_user_code(code, function.__globals__):
            for i, cell in enumerate(function.__closure__ or ()):
                found = cell_contents(cell)
                if found is not MISSING:
                    self.explore(
                        found, Cell(function, i, location), Readers(always=True)
                    )
            return
        self.functions.setdefault(id(code), []).append((function, location))
        for name in (*function.__dict__, *OF_FUNCTIONS.intersection(self._names)):
            self._wait(name, partial(self._function_part, function, name, location))
        self._arm(code, None)
        if not self.executed.is_observed:
            for each in _with_nested(code):
                self.executed.add_whole(each, function.__globals__)
        if (id(code), id(function.__globals__)) in self._started:
            self._enter_cells(function, location)
        elif id(code) in self.executed.codes:
            self.start(code, function.__globals__)

    def _function_part(
        self, function: FunctionType, name: str, location: Location | None
    ) -> None:
        self.add(FunctionPart(function, name, location), Readers(by_name=True))

    def _arm(self, code: CodeType, parent: CodeType | None) -> None:
        if parent is not None:
            self._parents[id(code)] = parent
        self.executed.arm(code)
        for inner in code_names(code).nested:
            self._arm(inner, code)

    def _visit_class(self, cls: type) -> None:
        self.classes[id(cls)] = cls
        for base in bases_of(cls):
            if is_user_class(base):
                if base is not cls:
                    self.explore(base, None)
                self._visit_names(cls, base)
            elif is_user_class(cls) and base is not object:
                self._wait_for_names(cls, base)
        if is_user_class(cls):
            self.add(SpecialMethods(cls), Readers(always=True))
        for name in OF_TYPES.keys() & self._names:
            self._class_attribute(cls, name)
        kind = class_of(cls)
        if kind is not type and is_user_class(kind):
            self.explore(kind, None)
            for base in bases_of(kind):
                if is_user_class(base):
                    self._wait_for_names(cls, base)

    def _visit_names(self, cls: type, base: type) -> None:
        """Take in what a class of the user's holds; `cls` is it or derives from it."""
        for name, value in namespace_of(base).copy().items():
            code = _code_in(value)
            if code is not None and class_of(value) is not staticmethod:
                self.classes_of.setdefault(id(code), set()).add(id(base))
            if name[:2] == "__" and name in _COMMON:
                continue
            if name[:2] == "__" and name[-2:] == "__":
                self._special(cls, name, value)
            else:
                self._wait(name, partial(self._class_attribute, cls, name))

    def _wait_for_names(self, cls: type, holder: type) -> None:
        for name in namespace_of(holder).copy():
            if name[:2] != "__":
                self._wait(name, partial(self._class_attribute, cls, name))

    def _special(self, cls: type, name: str, value: Any) -> None:
        """Take in a special method, which counts if it ran."""
        code = _code_in(value)
        if code is not None and not is_user_file(code.co_filename):
            code = None  # one that a library wrote: `functools.total_ordering`
        always = code is None and name not in ("__match_args__", "__slots__")
        place: Any = self.add(
            ClassAttribute(cls, name),
            Readers(by_name=True, always=always, of_code=code),
        )
        if name == "__match_args__" and class_of(place.before) is tuple:
            found = contents_of(place.before)
            self.matched.update(each for each in found if type(each) is str)
            for each in tuple(self.matched) if self._has_patterns else ():
                self.add_name(each)

    def _class_attribute(self, cls: type, name: str) -> None:
        self.add(ClassAttribute(cls, name), Readers(by_name=True))

    def _visit_module(self, module: ModuleType) -> None:
        names = module_namespace(module)
        if is_user_namespace(names):
            for name in tuple(names):
                self._wait(name, partial(self._module_name, names, name))
            if "__getattr__" in names:
                self.add(Global(names, "__getattr__"), Readers(always=True))
            if is_user_class(class_of(module)):
                self.explore(class_of(module), None)

    def _module_name(self, names: dict[str, Any], name: str) -> None:
        self.add(Global(names, name), Readers(by_name=True))

    def _visit_object(  # noqa: C901 - a branch for each kind
        self, value: Any, kind: Any, location: Location | None, uses: Readers | None
    ) -> None:
        layout = layout_of(value)
        is_users = is_user_class(kind)
        wrapped = layout.get(value, "__wrapped__")
        if wrapped is not None:
            self.explore(wrapped, Attribute(value, "__wrapped__", location, ""))
            if kind is _MEMO and class_of(wrapped) is FunctionType:
                for code in _with_nested(
                    wrapped.__code__
                ):  # it may answer without a call
                    self.executed.add_whole(code, wrapped.__globals__)
        if is_users:
            self.explore(kind, None)
        elif is_own_class(kind) and not (layout.is_open or issubclass(kind, partial)):
            return
        if layout.has_attributes:
            self.objects[id(value)] = value, location
            names = self._own_names[id(value)] = {*layout.names(value)}
            for name in names:
                self._wait(name, partial(self._attribute, value, name, location))
        if kind is CellType:
            name = "cell_contents"
            self._wait(name, partial(self._attribute, value, name, location))
        if not is_users and layout.is_open:
            self._visit_library_object(value, location)
        is_in_c = not (layout.is_open or layout.is_exception)
        if is_in_c and wrapped is None and storage_of(value) is None:
            self._visit_referents(value, kind, location, uses)

    def _attribute(self, value: Any, name: str, location: Location | None) -> None:
        path = layout_of(value).name if location is None else location.value_path
        self.add(Attribute(value, name, location, path), Readers(by_name=True))
        kind = class_of(value)
        if is_user_class(kind) and class_attribute(kind, name) is MISSING:
            self._class_attribute(kind, name)

    def _visit_library_object(self, value: Any, location: Location | None) -> None:
        """Visit the functions that a library's object holds: `cached_property`.

        Of imprint's own, such as functions with a rule and methods of models, all counts.
        """
        path = "" if location is None else location.value_path
        layout = layout_of(value)
        is_own = layout.speaks and is_own_class(class_of(value))
        answers = is_settings(value)
        for name, part in layout.state(value).items():
            at = Attribute(value, name, location, path)
            if is_own and storage_of(part) is not None:
                self._add_contents(part, at, Readers(always=True))
            if is_own or id(class_of(part)) in _CALLED:
                self.explore(part, at)
            elif answers and storage_of(part) is dict:
                for key in contents_of(part)[::2]:
                    if type(key) is str:
                        self._wait(key, partial(self._setting, part, key, at))

    def _setting(self, held: Any, name: str, location: Location) -> None:
        self.add(Item(held, name, location, location.path), Readers(by_name=True))

    def _visit_referents(
        self, value: Any, kind: Any, location: Location | None, uses: Readers | None
    ) -> None:
        """Visit what C holds: of partials, methods, properties, generators."""
        get = gc.get_referents
        path = "" if location is None else location.value_path
        if kind is GeneratorType:
            self._arm(value.gi_code, None)
            if not self.executed.is_observed:
                for code in _with_nested(value.gi_code):
                    self.executed.add_whole(code, _globals_of(value))
        held = get(value)
        if len(held) > LIMIT:
            return
        for i, part in enumerate(held):
            if class_of(part) is type or issubclass(class_of(part), ModuleType):
                continue
            at = path or layout_of(value).name
            if kind is partial and part is value.args:
                at = f"{at}.args"
            step = Referent(value, i, get, location, at)
            self.explore(part, step, uses or Readers(always=True))

    # ---- names ----

    def _wait(self, name: str, act: Callable[[], None]) -> None:
        """Act on a name of an owner, now or when code with that name starts."""
        self._waiting.setdefault(name, []).append(act)
        if name in self._names:
            act()

    def add_name(self, name: str) -> None:
        """Take in a name that code reads of values that no chain leads to."""
        if name not in self._names:
            self._names.add(name)
            if name in OF_FUNCTIONS:
                for found in tuple(self.functions.values()):
                    for function, location in found:
                        self._function_part(function, name, location)
            if name in OF_TYPES:
                for cls in tuple(self.classes.values()):
                    self._class_attribute(cls, name)
            for act in tuple(self._waiting.get(name, ())):
                act()

    def start(self, code: CodeType, names: dict[str, Any] | None) -> None:
        """Take in what a code object reads that starts now."""
        if names is None:
            names = self._globals_of(code)
        key = id(code), id(names)
        if key in self._started:
            return
        self._started[key] = code, names or {}
        found = code_names(code)
        self._parents.update((id(inner), code) for inner in found.nested)
        for stored, _ in found.stores:
            self._store(stored)
        for chain in found.chains:
            self._enter_chain(chain, code, names)
        named = [*found.constants]
        if found.matches >= 0:
            self._has_patterns = True
            named += [(x, found.matches) for x in ("__match_args__", *self.matched)]
        for text, offset in named:
            step = ChainStep(StepKind.ATTRIBUTE, text, offset, offset)
            self._by_name((step,), code, is_whole=True)
        for each in found.imports if names is not None else ():
            self._enter_import(each.name, each.taken, each.offset, code, names)
        for function, location in tuple(self.functions.get(id(code), ())):
            self._enter_parts(function, location)
            self.start(code, function.__globals__)

    def _globals_of(self, code: CodeType) -> dict[str, Any] | None:
        known = self.functions.get(id(code))
        if known:
            return known[0][0].__globals__
        outer = self._parents.get(id(code))
        return None if outer is None else self._globals_of(outer)

    def _store(self, name: str) -> None:
        if name not in self._stored:
            self._stored.add(name)
            for each in tuple(self._chained.pop(name, ())):
                self.add_name(each)

    def _enter_chain(
        self, chain: Chain, code: CodeType, names: dict[str, Any] | None
    ) -> None:
        if chain.head is Head.GLOBAL:
            if names is None:
                return
            value = names.get(chain.name, MISSING)
            location = Global(names, chain.name, is_builtin=value is MISSING)
            self._note_stored(chain)
            self._follow(location, chain, code, chain.steps, chain.offset)
        elif chain.head is Head.CELL:
            self._note_stored(chain)
            owners = self._cell_owners(code, chain.name)
            for function, location in owners:
                index = function.__code__.co_freevars.index(chain.name)
                cell = Cell(function, index, location)
                self._follow(cell, chain, code, chain.steps, chain.offset)
            if not owners:
                self._lose(chain.steps, code, is_whole=chain.is_whole)
        else:
            self._by_name(chain.steps, code, is_whole=chain.is_whole)

    def _note_stored(self, chain: Chain) -> None:
        """Read the steps by name, too, after one that code stores."""
        elements = [chain.name]
        elements += [s.name for s in chain.steps if not s.kind.is_item]
        for i, element in enumerate(elements):
            later = elements[i + 1 :]
            if not later:
                break
            if element in self._stored:
                for each in later:
                    self.add_name(each)
            else:
                self._chained.setdefault(element, set()).update(later)

    def _cell_owners(
        self, code: CodeType, name: str
    ) -> list[tuple[FunctionType, Location | None]]:
        """Return the functions that have a closure variable of code; none if it made it.

        Code that is nested reads the variable of the function around it.
        """
        at: CodeType | None = code
        while at is not None and name in at.co_freevars:
            known = self.functions.get(id(at))
            if known:
                return [*known]
            at = self._parents.get(id(at))
        return []

    def _enter_parts(self, function: FunctionType, location: Location | None) -> None:
        """Take in the code and the defaults of a function that runs."""
        if id(function) in self._entered:
            return
        self._entered.add(id(function))
        uses = Readers(of_code=function.__code__)
        self.add(FunctionPart(function, "__code__", location), uses)
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(function, name) is not None:  # else each call gave all arguments
                part = self.add(FunctionPart(function, name, location), uses)
                self._add_contents(part.before, part.location, uses)

    def _enter_cells(self, function: FunctionType, location: Location | None) -> None:
        """Take in what code that started reads of the closure of another function."""
        self._enter_parts(function, location)
        free = function.__code__.co_freevars
        for code in _with_nested(function.__code__):
            if (id(code), id(function.__globals__)) not in self._started:
                continue
            for chain in code_names(code).chains:
                if chain.head is Head.CELL and chain.name in free:
                    cell = Cell(function, free.index(chain.name), location)
                    self._follow(cell, chain, code, chain.steps, chain.offset)

    def _by_name(
        self, steps: tuple[ChainStep, ...], code: CodeType, *, is_whole: bool
    ) -> None:
        """Take in steps whose receivers nothing tells."""
        for i, step in enumerate(steps):
            if step.kind is StepKind.GET:
                self.add_name("get")
            if step.kind.is_item:
                continue
            after = i + 1
            while after < len(steps) and steps[after].kind.is_item:
                after += 1
            tail = steps[i + 1 : after]
            is_last = after == len(steps)
            known = self._tails.setdefault(step.name, [])
            known.append((code, step.offset, tail, is_whole or not is_last))
            self._retail(step.name)
            self.add_name(step.name)

    def _retail(self, name: str) -> None:
        """Follow the newest tail from the locations of its name."""
        code, offset, tail, is_whole = self._tails[name][-1]
        for place in tuple(self._by_names.get(name, ())):
            self._follow_tail(place, code, offset, tail, is_whole=is_whole)

    def _follow_tail(
        self,
        place: ReachedLocation,
        code: CodeType,
        offset: int,
        tail: tuple[ChainStep, ...],
        *,
        is_whole: bool,
    ) -> None:
        if storage_of(place.before) is None:
            return
        if not tail:
            if is_whole:
                self._use_whole(place, (code, offset))
            return
        self._follow_steps(place, tail, code, is_whole=is_whole)

    def _follow(
        self,
        location: Location,
        chain: Chain,
        code: CodeType,
        steps: tuple[ChainStep, ...],
        offset: int,
    ) -> None:
        """Follow a chain from the location of its head."""
        uses = Readers()
        uses.sites.append((code, offset))
        place = self.add(location, uses)
        if not steps:
            if chain.is_whole:
                self._use_whole(place, (code, offset))
            return
        self._follow_steps(place, steps, code, is_whole=chain.is_whole)

    def _follow_steps(
        self,
        place: ReachedLocation,
        steps: tuple[ChainStep, ...],
        code: CodeType,
        *,
        is_whole: bool,
    ) -> None:
        for i, step in enumerate(steps):
            found = self._step(place, step, code)
            if found is None:
                is_open = (
                    step.kind.is_item or place.before is MISSING or place.before is None
                )
                # A getter may read the same name elsewhere; so may what the trace fills in.
                is_open = is_open or has_getattr(class_of(place.before))
                self._lose(
                    steps[i:] if is_open else steps[i + 1 :], code, is_whole=is_whole
                )
                return
            if not found:
                return
            place = found[-1]
        if is_whole:
            self._use_whole(place, (code, steps[-1].offset))

    def _lose(
        self, steps: tuple[ChainStep, ...], code: CodeType, *, is_whole: bool
    ) -> None:
        """Read steps by name, as no chain leads to their receivers."""
        names = [_read_by_name(s) for s in steps if s.kind is not StepKind.ITEM]
        self.lost.setdefault(id(code), set()).update(names)
        self._by_name(steps, code, is_whole=is_whole)

    def _step(  # noqa: C901, PLR0912 - a branch for each kind
        self, place: ReachedLocation, step: ChainStep, code: CodeType
    ) -> list[ReachedLocation] | None:
        """Return the locations that a step of a chain reads, the one that answers last.

        None if its value cannot be known without running code; empty if it reads nothing.
        """
        value, location = place.before, place.location
        kind = class_of(value)
        uses = Readers()
        uses.sites.append((code, step.offset))
        path = location.value_path
        if step.kind.is_item:
            if step.kind is StepKind.GET and is_user_class(kind):
                self.add(ClassAttribute(kind, "get"), uses)
            if storage_of(value) is None:
                return self._shown_item(value, step.name, uses, location)
            return [self.add(Item(value, step.name, location, path), uses)]
        if is_opaque(kind):
            return []
        if value is MISSING:
            return None
        if issubclass(kind, ModuleType):
            names = module_namespace(value)
            found = self.add(Global(names, step.name, parent=None), uses)
            if is_user_class(kind):
                self.add(ClassAttribute(kind, step.name), uses)
            if found.before is MISSING and is_user_namespace(names):
                self.add(Global(names, "__getattr__"), uses)
            return None if found.before is MISSING else [found]
        if kind is FunctionType:
            found = self.add(FunctionPart(value, step.name, location), uses)
            return None if found.before is MISSING else [found]
        if storage_of(value) is not None and id(kind) in _PLAIN:
            if step.name not in _WRITES:
                self._use_whole(place, (code, step.offset))
            return []
        if issubclass(kind, type):
            return self._step_of_class(value, step.name, uses)
        if storage_of(value) is not None:  # a field of a named tuple is an item
            self._use_whole(place, (code, step.offset))
        return self._step_of_object(value, kind, step.name, uses, location)

    def _step_of_class(
        self, cls: type, name: str, uses: Readers
    ) -> list[ReachedLocation] | None:
        if is_fixed(cls) and not (is_user_class(cls) or is_user_class(class_of(cls))):
            return None
        found = self.add(ClassAttribute(cls, name), uses)
        if is_user_class(class_of(cls)):
            self.add(ClassAttribute(class_of(cls), name), uses)
        return [found] if is_plain(found.before) else None

    def _step_of_object(
        self, value: Any, kind: Any, name: str, uses: Readers, location: Location
    ) -> list[ReachedLocation] | None:
        layout = layout_of(value)
        path = location.value_path
        shown = class_attribute(kind, name)
        if is_user_class(kind) or not (layout.is_open or is_fixed(kind)):
            self.add(ClassAttribute(kind, name), uses)
        if layout.has_attributes or (kind is CellType and name == "cell_contents"):
            own = self.add(Attribute(value, name, location, path), uses)
            if own.before is not MISSING and not _is_data(shown):
                return [own]
            is_of_c = class_of(shown) is GetSetDescriptorType  # `args` of an exception
            if own.before is not MISSING and (is_of_c or name in layout.state(value)):
                return [own]
        if shown is not MISSING and is_settings(value):  # `c.items()`
            self._add_whole(value, location, uses)
        if shown is MISSING and (not is_user_class(kind) or storage_of(value) is dict):
            return self._shown_item(value, name, uses, location)
        known = self.places.get(ClassAttribute(kind, name).key)
        return None if known is None or not is_plain(shown) else [known]

    def _shown_item(
        self, value: Any, name: str, uses: Readers, location: Location
    ) -> list[ReachedLocation] | None:
        """Return what a library's object answers out of a dictionary that it holds.

        Its class has a `__getattr__`, as those of settings have.
        """
        if storage_of(value) is dict and has_getattr(class_of(value)):
            return [self.add(Item(value, name, location, location.value_path), uses)]
        if not is_settings(value):
            return None
        for each, held in layout_of(value).state(value).items():
            if storage_of(held) is dict:
                own = Attribute(value, each, location, location.value_path)
                place = self.add(Item(held, name, own, location.value_path), uses)
                if place.before is MISSING:
                    continue
                if not is_user_class(class_of(place.before)):
                    self._add_state(place, uses)
                return [place]
        return None

    def _add_state(self, place: ReachedLocation, uses: Readers) -> None:
        """Add what an object has whose library reads it: a flag's value."""
        value = place.before
        layout = layout_of(value)
        if layout.is_open and layout.has_only_dict and not is_settings(value):
            path = place.location.value_path
            inner = Attribute(value, "__dict__", place.location, path)
            self._add_contents(instance_dict(value), inner, uses)

    def _enter_import(
        self,
        name: str,
        taken: tuple[str, ...],
        offset: int,
        code: CodeType,
        names: dict[str, Any] | None,
    ) -> None:
        full = _resolved(name, names or {})
        if not taken and "." in full:
            full = full.partition(".")[0]
        uses = Readers()
        uses.sites.append((code, offset))
        module = self.add(Global(sys.modules, full), uses).before
        if not is_module(module):
            return
        held = module_namespace(module)
        is_users = is_user_namespace(held)
        for each in taken:
            self.add(Global(held, each), uses)
        if not is_users and not is_own_namespace(held):
            for step in {
                s.name
                for c in code_names(code).chains
                if c.head is Head.OTHER
                for s in c.steps[:1]
                if not s.kind.is_item
            }:
                if step in held:
                    self.add(Global(held, step), uses)

    # ---- places ----

    def add(self, location: Location, uses: Readers) -> ReachedLocation:
        """Add a location, with its value now if it is new."""
        key = location.key
        place = self.places.get(key)
        if place is not None:
            if uses.by_name and not any(known.by_name for known in place.uses):
                self._by_names.setdefault(location.name, []).append(place)
            place.uses.append(uses)
            return place
        value = location.get()
        if issubclass(class_of(value), Tracer):
            self.has_tracers = True
            value = MISSING
        place = self.places[key] = ReachedLocation(location, value)
        place.is_left = self.is_over
        place.uses.append(uses)
        if uses.by_name:
            self._by_names.setdefault(location.name, []).append(place)
        self._reach_value(place, uses)
        return place

    def _reach_value(self, place: ReachedLocation, uses: Readers) -> None:
        value, location = place.before, place.location
        if isinstance(location, Contents | SpecialMethods):
            return
        inner = None if storage_of(value) is not None else uses
        self.explore(value, location, inner)
        if uses.by_name:
            for code, offset, tail, is_whole in tuple(
                self._tails.get(location.name, ())
            ):
                self._follow_tail(place, code, offset, tail, is_whole=is_whole)

    def _use_whole(self, place: ReachedLocation, site: _Site) -> None:
        """Take in that a value is used by more than constant keys."""
        place.whole.append(site)
        uses = Readers()
        uses.sites.append(site)
        self._add_whole(place.before, place.location, uses)

    def _add_whole(self, value: Any, location: Location, uses: Readers) -> None:
        """Add what is in a container, or in an object in which a library keeps settings."""
        if storage_of(value) is not None:
            self._add_contents(value, location, uses)
        elif is_settings(value):
            for name, held in layout_of(value).state(value).items():
                if storage_of(held) is dict and id(held) not in self._whole:
                    self._whole[id(held)] = held
                    at = Attribute(value, name, location, location.value_path)
                    self._add_contents(held, at, uses)

    def _add_contents(self, container: Any, location: Location, uses: Readers) -> None:
        """Add what is in a container, and in containers in it."""
        queue: list[tuple[Any, Location, int]] = [(container, location, 0)]
        for held, at, depth in queue:  # it grows
            path = at.value_path
            place = Contents(held, at, path, is_strict=self.is_strict)
            known = place.key in self.places
            self.add(place, uses)
            if (known and depth) or (
                self._limit is not None and length_of(held) > self._limit
            ):
                continue
            for step, item in _items(held, at):
                is_inside = id(class_of(item)) in _PLAIN or (
                    self.is_strict and storage_of(item) is not None
                )
                if is_inside and depth < _DEPTH:
                    queue.append((item, step, depth + 1))
                    continue
                self.explore(item, step)
                if id(class_of(item)) not in ATOMS and is_settings(item):
                    self._add_whole(item, step, uses)

    def add_new_items(self, place: ReachedLocation, now: tuple[Any, ...]) -> None:
        """Add what the trace put into a container, and what is in that."""
        at = place.location
        if {*map(id, now)}.issubset(map(id, place.before)):
            return
        self.is_over = True
        for uses in tuple(place.uses):
            self._add_contents(at.owner, at.parent or at, uses)
        self.is_over = False

    def take_new_names(self) -> None:
        """Add the attributes by which code reads that objects got since they were visited."""
        for key, (value, location) in tuple(self.objects.items()):
            known = self._own_names[key]
            path = layout_of(value).name if location is None else location.value_path
            for name in layout_of(value).names(value):
                if name not in known:
                    known.add(name)
                    if name in self._names:
                        at = Attribute(value, name, location, path)
                        self.add(at, Readers(by_name=True)).before = MISSING

    def modules(self) -> list[dict[str, Any]]:
        """Return the dictionaries of the user's modules that were reached."""
        found = [m for m in self._known.values() if issubclass(class_of(m), ModuleType)]
        names = [module_namespace(m) for m in found]
        return [held for held in names if is_user_namespace(held)]

    def types(self) -> Iterator[ReachedLocation]:
        """Yield the classes of the objects that were reached."""
        for value, location in tuple(self.objects.values()):
            if is_user_class(class_of(value)):
                path = (
                    layout_of(value).name if location is None else location.value_path
                )
                yield ReachedLocation(TypeOf(value, location, path), class_of(value))


_COMMON: Final = frozenset(
    (
        *("__module__", "__dict__", "__weakref__", "__doc__", "__annotations__"),
        *("__qualname__", "__firstlineno__", "__static_attributes__", "__orig_bases__"),
        *("__parameters__", "__dataclass_fields__", "__dataclass_params__"),
        *("__abstractmethods__", "__annotate__", "__annotate_func__", "__slots__"),
        "__annotations_cache__",
    )
)
_CALLED: Final = ids_of(FunctionType, MethodType, partial)
_MEMO: Final = type(lru_cache(lambda: None))
_PLAIN: Final = ids_of(list, dict, tuple, set, frozenset)


def is_opaque(cls: type) -> bool:
    """Return whether what instances hold is no input of a trace: arrays, tracers."""
    return issubclass(cls, _OPAQUE) and not is_user_class(cls)


def is_settings(value: Any) -> bool:
    """Return whether a library keeps in an object what users set: a ConfigDict, flags.

    Its class answers for names or keys out of a dictionary that the object holds.
    """
    kind = class_of(value)
    layout = layout_of(value)
    if not layout.is_open or not layout.has_dict or is_user_class(kind):
        return False
    if is_own_class(kind) or layout.package in _STANDARD:
        return False
    has = [class_attribute(kind, name) is not MISSING for name in _OF_SETTINGS]
    return has[0] or (has[1] and has[2])


_OF_SETTINGS: Final = "__getattr__", "__getitem__", "__setitem__"
_STANDARD: Final = sys.stdlib_module_names


def _items(container: Any, location: Location | None) -> Iterator[tuple[Location, Any]]:
    """Yield what is in a container, past its own methods, each with its location."""
    path = "" if location is None else location.value_path
    is_dict = is_mapping(container)
    is_ordered = storage_of(container) in (list, tuple, deque)
    items = contents_of(container, None)
    for i, item in enumerate(items):
        key = items[i - 1] if is_dict and i % 2 else i if is_ordered else None
        if key is not None and id(class_of(key)) in ATOMS:
            yield Item(container, key, location, path), item
        elif id(class_of(item)) not in ATOMS:  # a key or a member; or it is under such
            yield Referent(container, i, contents_of, location, path), item


def _read_by_name(step: ChainStep) -> str:
    return "get" if step.kind is StepKind.GET else step.name


def _with_nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code_names(code).nested:
        yield from _with_nested(inner)


def _code_in(value: Any) -> CodeType | None:
    """Return the code of what a class holds, if it is a method of some kind."""
    kind = class_of(value)
    if kind is staticmethod or kind is classmethod:
        value = value.__func__
    elif kind is property:
        value = value.fget
    return value.__code__ if class_of(value) is FunctionType else None


def has_getattr(cls: type) -> bool:
    """Return whether a class answers for attributes that its instances lack."""
    return class_attribute(cls, "__getattr__") is not MISSING


def _is_data(value: Any) -> bool:
    """Return whether what a class holds goes before what an object has of its own."""
    return value is not MISSING and (
        class_attribute(class_of(value), "__set__") is not MISSING
        or class_attribute(class_of(value), "__delete__") is not MISSING
    )


def _globals_of(generator: Any) -> dict[str, Any]:
    frame = generator.gi_frame
    return {} if frame is None else frame.f_globals


def _resolved(name: str, names: dict[str, Any]) -> str:
    if not name.startswith("."):
        return name
    from importlib.util import resolve_name  # noqa: PLC0415 - few imports are relative

    try:
        return resolve_name(name, names.get("__package__"))
    except ImportError:
        return name
