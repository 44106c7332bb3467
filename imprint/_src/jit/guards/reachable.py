"""Values reached by a trace: functions, classes, modules and objects, with locations.

The walk begins at the traced function and its static arguments. Attributes that no chain
of instructions reaches are found as names × owners, on demand: an owner waits until code
with one of its names starts. The value at each location is kept as it was at its first
visit, which distinguishes reads from writes of the trace.
"""

import gc
import sys
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from types import (
    CellType,
    CodeType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
)
from typing import Any, Final, final

import numpy as np

from imprint._src.core.array import NumberArray
from imprint._src.core.identity import InternalObject, ids_of
from imprint._src.core.trace import Trace, Tracer
from imprint._src.core.user_code import (
    are_libraries_fixed,
    is_own_class,
    is_user_class,
    is_user_code,
    is_user_file,
    is_user_namespace,
    module_namespace,
)
from imprint._src.jit.fingerprint.content import reads_state
from imprint._src.jit.fingerprint.layout import layout_of
from imprint._src.jit.fingerprint.raw_access import (
    ATOMS,
    LIMIT,
    MISSING,
    OF_TYPES,
    bases_of,
    cell_contents,
    class_of,
    contents_of,
    has_attribute,
    is_mapping,
    length_of,
    namespace_of,
    storage_of,
)
from imprint._src.jit.guards.code_names import all_code
from imprint._src.jit.guards.executed import Executed
from imprint._src.jit.guards.library_objects import LibraryObjects
from imprint._src.jit.guards.locations import (
    OF_FUNCTIONS,
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
    answers_keys,
)
from imprint._src.tree import internal as tree

VISITED: Final = 20_000
"""Values that one trace visits."""
_DEPTH: Final = 16
_OPAQUE: Final[Any] = (np.ndarray, np.generic, np.dtype, NumberArray, Tracer, Trace)
Site = tuple[CodeType, int]


@final
class Readers:
    """The instructions that read a location.

    Attributes:
        sites: the ends of chains that lead there; it grows.
        by_name: whether each executed read of its name is one, too.
        always: whether the location is an input whatever ran.
        of_code: code that makes it an input by running.
    """

    __slots__ = ("always", "by_name", "of_code", "sites")

    def __init__(
        self,
        *sites: Site,
        by_name: bool = False,
        always: bool = False,
        of_code: CodeType | None = None,
    ) -> None:
        self.sites: list[Site] = [*sites]
        self.by_name: bool = by_name
        self.always: bool = always
        self.of_code: CodeType | None = of_code


BY_NAME: Final = Readers(by_name=True)


@final
class ReachedLocation:
    """A location that was reached.

    Attributes:
        before: the value at the first visit.
        is_left: whether it was found after the trace, which therefore bound it.
        readers: the instructions that read it.
        is_by_name: whether some read it by name.
        whole: instructions that use the value by more than constant keys.
    """

    __slots__ = ("before", "is_by_name", "is_left", "location", "readers", "whole")

    def __init__(self, location: Location, before: Any) -> None:
        self.location: Location = location
        self.before: Any = before
        self.is_left: bool = False
        self.readers: list[Readers] = []
        self.is_by_name: bool = False
        self.whole: list[Readers] = []


class ReachableValues:
    """The values that one trace reached.

    Args:
        executed: the instructions that ran.
        is_strict: whether containers of any size are compared.

    Attributes:
        places: the locations.
        functions: by the `id` of their code.
        objects: by `id`, the objects that have attributes.
        settings: by `id`, the dictionaries from which library objects answer names.
        classes: by `id`.
        classes_of: by the `id` of code, the classes that hold a function with it.
        has_tracers: whether a location had a value of another trace.
        is_over: whether the trace is over; then it bound the locations found from now on.
        is_bounded: whether there was more to visit than `VISITED`.
        matched: names that class patterns read by position.
        library_objects: objects of library classes.
    """

    def __init__(self, executed: Executed, *, is_strict: bool) -> None:
        self.executed: Executed = executed
        self.places: dict[Key, ReachedLocation] = {}
        self.functions: dict[int, list[tuple[FunctionType, Location | None]]] = {}
        self.objects: dict[int, tuple[Any, Location | None]] = {}
        self.settings: dict[int, tuple[dict[str, Any], Location]] = {}
        self.classes: dict[int, type] = {}
        self.classes_of: dict[int, set[int]] = {}
        self.has_tracers: bool = False
        self.is_over: bool = False
        self.is_bounded: bool = False
        self.matched: set[str] = set()
        self.library_objects: LibraryObjects = LibraryObjects()
        self.has_patterns: bool = False
        self.names: set[str] = set()
        self.is_strict: bool = False
        self._limit: int | None = LIMIT
        if is_strict:
            self.turn_strict()
        self._own_names: dict[int, set[str]] = {}
        self._known: dict[int, Any] = {}  # by id: kept alive
        self._whole: dict[int, Any] = {}
        # Names of classes that were added.
        self._shadowing: set[tuple[int, str]] = set()
        self._flat: dict[Key, int] = {}  # the lengths of containers of no containers
        self._waiting: dict[str, list[Callable[[], Location]]] = {}
        self._queue: list[tuple[Any, Location | None, Readers | None]] = []
        self._is_walking = False

    def close(self) -> None:
        """Release all values."""
        self._waiting.clear()
        self._known.clear()
        self.functions.clear()
        self.objects.clear()
        self.settings.clear()
        self.places.clear()
        self.library_objects.close()

    def turn_strict(self) -> None:
        """Compare containers of any size from now on."""
        self.is_strict, self._limit = True, None

    # ---- hooks for `chains` ----

    @abstractmethod
    def start(self, code: CodeType, names: dict[str, Any] | None) -> None:
        """Follow the chains of a code object that starts now."""

    @abstractmethod
    def arm(self, code: CodeType, parent: CodeType | None = None) -> None:
        """Observe code that may run, and the code nested in it."""

    @abstractmethod
    def start_again(self, function: FunctionType, location: Location | None) -> bool:
        """Follow the closure of a function whose code has started; False if it has not."""

    @abstractmethod
    def follow_tails(self, place: ReachedLocation) -> None:
        """Follow item reads by name from a location, those of later code, too."""

    # ---- values ----

    def explore(
        self, value: Any, location: Location | None, readers: Readers | None = None
    ) -> None:
        """Visit a value, and all that it reaches.

        Args:
            value: it.
            location: where it is bound.
            readers: the instructions that read containers in it whole, if any.
        """
        self._queue.append((value, location, readers))
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
        self, value: Any, location: Location | None, readers: Readers | None
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
        elif issubclass(kind, InternalObject):
            for name, part in layout_of(value).state(value).items():
                if name == "__wrapped__" or class_of(part) is FunctionType:
                    self.explore(part, Attribute(value, name, location, ""))
        elif issubclass(kind, tree.TreeDef):
            for data in (*value.static_data(), *filter(is_user_class, value.classes())):
                self.explore(data, None)
        else:
            if storage_of(value) is not None:
                if readers is not None and location is not None:
                    self.add_contents(value, location, readers)
                elif not self._is_too_long(value):
                    for at, item in _items(value, location):
                        self.explore(item, at)
                if id(kind) in PLAIN_CONTAINERS:
                    return
            self._visit_object(value, kind, location, readers)

    def _is_too_long(self, container: Any) -> bool:
        return self._limit is not None and length_of(container) > self._limit

    # ---- functions ----

    def _visit_function(
        self, function: FunctionType, location: Location | None
    ) -> None:
        wrapped = function.__dict__.get("__wrapped__")
        if wrapped is not None:
            self.explore(wrapped, FunctionPart(function, "__wrapped__", location))
        code, names = function.__code__, function.__globals__
        if not is_user_code(code, names):
            readers = Readers(always=not are_libraries_fixed())
            for i, cell in enumerate(function.__closure__ or ()):
                found = cell_contents(cell)
                if found is not MISSING:
                    self.explore(found, Cell(function, i, location), readers)
            return
        self.functions.setdefault(id(code), []).append((function, location))
        for name in (*function.__dict__, *OF_FUNCTIONS.intersection(self.names)):
            self._wait(name, partial(FunctionPart, function, name, location))
        self.arm(code)
        if not self.executed.is_observed:
            self._execute(code, names)
        if not self.start_again(function, location) and id(code) in self.executed.codes:
            self.start(code, names)

    def _execute(self, code: CodeType, names: dict[str, Any]) -> None:
        """Take a code object and the code nested in it as executed."""
        for each in all_code(code):
            self.executed.add_whole(each, names)

    # ---- classes and modules ----

    def _visit_class(self, cls: type) -> None:
        self.classes[id(cls)] = cls
        is_users, kind = is_user_class(cls), class_of(cls)
        for base in bases_of(cls):
            if is_user_class(base):
                if base is not cls:
                    self.explore(base, None)
                self._visit_attributes(cls, base)
            elif is_users and base is not object:
                self._wait_for_attributes(cls, base)
        if is_users:
            self.add(SpecialMethods(cls), Readers(always=True))
        for name in OF_TYPES.keys() & self.names:
            self.add(ClassAttribute(cls, name), BY_NAME)
        if kind is not type and is_user_class(kind):
            self.explore(kind, None)
            for base in filter(is_user_class, bases_of(kind)):
                self._wait_for_attributes(cls, base)

    def _visit_attributes(self, cls: type, base: type) -> None:
        """Visit the attributes that a class has from a user class, itself or a base."""
        for name, value in namespace_of(base).copy().items():
            code = _code_in(value)
            if code is not None and class_of(value) is not staticmethod:
                self.classes_of.setdefault(id(code), set()).add(id(base))
            if name[:2] == "__" and name in _IGNORED:
                continue
            if name[:2] == "__" and name[-2:] == "__":
                self._add_special(cls, name, value)
            else:
                self._wait(name, partial(ClassAttribute, cls, name))

    def _wait_for_attributes(self, cls: type, holder: type) -> None:
        for name in namespace_of(holder).copy():
            if name[:2] != "__":
                self._wait(name, partial(ClassAttribute, cls, name))

    def _add_special(self, cls: type, name: str, value: Any) -> None:
        """Add a special method, which is an input if it ran."""
        code = _code_in(value)
        if code is not None and not is_user_file(code.co_filename):
            code = None  # library code: `functools.total_ordering`
        always = code is None and name not in ("__match_args__", "__slots__")
        place: Any = self.add(
            ClassAttribute(cls, name),
            Readers(by_name=True, always=always, of_code=code),
        )
        if name == "__match_args__" and class_of(place.before) is tuple:
            found = contents_of(place.before)
            self.matched.update(each for each in found if type(each) is str)
            for each in tuple(self.matched) if self.has_patterns else ():
                self.add_name(each)

    def _visit_module(self, module: ModuleType) -> None:
        names = module_namespace(module)
        if is_user_namespace(names):
            for name in tuple(names):
                self._wait(name, partial(Global, names, name))
            if "__getattr__" in names:
                self.add(Global(names, "__getattr__"), Readers(always=True))
            if is_user_class(class_of(module)):
                self.explore(class_of(module), None)

    # ---- objects ----

    def _visit_object(
        self, value: Any, kind: Any, location: Location | None, readers: Readers | None
    ) -> None:
        layout = layout_of(value)
        is_users = is_user_class(kind)
        wrapped = layout.get(value, "__wrapped__")
        if wrapped is not None:
            self._visit_wrapped(wrapped, value, location)
        if is_users:
            self.explore(kind, None)
        elif is_own_class(kind) and not (layout.is_open or issubclass(kind, partial)):
            return
        if layout.has_attributes or answers_keys(kind):
            self.objects[id(value)] = value, location
            self._own_names[id(value)] = {*layout.names(value)}
        attributes = self._own_names.get(id(value), ())
        if kind is CellType:
            attributes = {"cell_contents"}
        path = object_path(value, location)
        for name in attributes:
            self._wait(name, partial(Attribute, value, name, location, path))
        if answers_keys(kind):
            self._wait_for_keys(value, location, path)
        if not is_users and (layout.is_open or reads_state(layout)):
            self._visit_library_object(value, location)
        is_in_c = not (layout.is_open or layout.is_exception)
        if is_in_c and wrapped is None and storage_of(value) is None:
            self._visit_referents(value, kind, location, readers)

    def _visit_wrapped(
        self, wrapped: Any, wrapper: Any, location: Location | None
    ) -> None:
        self.explore(wrapped, Attribute(wrapper, "__wrapped__", location, ""))
        if class_of(wrapper) is _MEMO and class_of(wrapped) is FunctionType:
            # A cached result is returned without a call.
            self._execute(wrapped.__code__, wrapped.__globals__)

    def _visit_library_object(self, value: Any, location: Location | None) -> None:
        """Visit what a library object holds.

        Of objects whose state no content has, and of imprint's own, these are functions
        alone; all of imprint's own models and functions with a rule is visited.
        """
        path = "" if location is None else location.value_path
        layout = layout_of(value)
        is_own = layout.speaks and is_own_class(class_of(value))
        is_read = is_own or (
            reads_state(layout)
            and not layout.is_holder
            and self.library_objects.add(value, location)
        )
        holds_settings = is_settings(value)
        for name, part in layout.state(value).items():
            at = Attribute(value, name, location, path)
            if is_own and storage_of(part) is not None:
                self.add_contents(part, at, Readers(always=True))
            if is_read or id(class_of(part)) in _CALLED:
                self.explore(part, at)
            if holds_settings and storage_of(part) is dict:
                self.settings[id(part)] = part, at
                self._wait_for_keys(part, at, at.path)

    def _wait_for_keys(self, held: Any, location: Location | None, path: str) -> None:
        for key in contents_of(held)[::2]:
            if type(key) is str:
                self._wait(key, partial(Item, held, key, location, path))

    def _visit_referents(
        self, value: Any, kind: Any, location: Location | None, readers: Readers | None
    ) -> None:
        """Visit the referents in C: of partials, methods, properties, generators."""
        path = "" if location is None else location.value_path
        if kind is GeneratorType:
            self.arm(value.gi_code)
            if not self.executed.is_observed:
                frame = value.gi_frame
                self._execute(value.gi_code, {} if frame is None else frame.f_globals)
        held = gc.get_referents(value)
        if len(held) > LIMIT:
            return
        for i, part in enumerate(held):
            if part is kind:
                continue
            at = path or layout_of(value).name
            if kind is partial and part is value.args:
                at = f"{at}.args"
            step = Referent(value, i, gc.get_referents, location, at)
            self.explore(part, step, readers or Readers(always=True))

    # ---- names × owners ----

    def _wait(self, name: str, make: Callable[[], Location]) -> None:
        """Add a location when code with its name starts, or now if it has."""
        self._waiting.setdefault(name, []).append(make)
        if name in self.names:
            self._add_by_name(make())

    def _add_by_name(self, location: Location) -> None:
        self.add(location, BY_NAME)
        if type(location) is Attribute:
            kind, name = class_of(location.owner), location.name
            key = id(kind), name
            if key in self._shadowing:
                return
            self._shadowing.add(key)
            if is_user_class(kind) and not has_attribute(kind, name):
                self.add(ClassAttribute(kind, name), BY_NAME)

    def add_name(self, name: str) -> None:
        """Add the locations of a name that code reads of unknown receivers."""
        if name in self.names:
            return
        self.names.add(name)
        if name in OF_FUNCTIONS:
            for found in tuple(self.functions.values()):
                for function, location in found:
                    part = FunctionPart(function, name, location)
                    self.add(part, BY_NAME)
        if name in OF_TYPES:
            for cls in tuple(self.classes.values()):
                self.add(ClassAttribute(cls, name), BY_NAME)
        for make in tuple(self._waiting.get(name, ())):
            self._add_by_name(make())

    # ---- locations ----

    def add(self, location: Location, readers: Readers) -> ReachedLocation:
        """Add a location, with its value now if it is new."""
        key = location.key
        place = self.places.get(key)
        if place is None:
            value = location.get()
            if issubclass(class_of(value), Tracer):
                self.has_tracers = True
                value = MISSING
            place = self.places[key] = ReachedLocation(location, value)
            place.is_left = self.is_over
            is_new = True
        else:
            is_new = False
            if place.is_by_name and readers is BY_NAME:
                return place
        place.readers.append(readers)
        is_plain = not isinstance(location, Contents | SpecialMethods)
        if is_new and is_plain:
            inner = None if storage_of(place.before) is not None else readers
            self.explore(place.before, location, inner)
        if readers.by_name and not place.is_by_name:
            place.is_by_name = True
            if is_plain:
                self.follow_tails(place)
        return place

    def add_whole(self, value: Any, location: Location, readers: Readers) -> None:
        """Add the contents of a container, or of the settings in a library object."""
        if storage_of(value) is not None:
            self.add_contents(value, location, readers)
        elif is_settings(value):
            for name, held in layout_of(value).state(value).items():
                if storage_of(held) is dict and id(held) not in self._whole:
                    self._whole[id(held)] = held
                    at = Attribute(value, name, location, location.value_path)
                    self.add_contents(held, at, readers)

    def add_contents(
        self, container: Any, location: Location, readers: Readers
    ) -> None:
        """Add the contents of a container, and of containers in it."""
        queue: list[tuple[Any, Location, int]] = [(container, location, 0)]
        for held, at, depth in queue:  # it grows
            place = Contents(held, at, at.value_path, is_strict=self.is_strict)
            is_known = place.key in self.places
            self.add(place, readers)
            size = length_of(held)
            is_flat = self._flat.get(place.key) == size
            if (is_known and (depth or is_flat)) or self._is_too_long(held):
                continue
            self._flat[place.key] = size
            for step, item in _items(held, at):
                is_inside = id(class_of(item)) in PLAIN_CONTAINERS or (
                    self.is_strict and storage_of(item) is not None
                )
                if is_inside and depth < _DEPTH:
                    self._flat.pop(place.key, None)
                    queue.append((item, step, depth + 1))
                    continue
                self.explore(item, step)
                if id(class_of(item)) not in ATOMS and is_settings(item):
                    self.add_whole(item, step, readers)

    # ---- after the trace ----

    def add_new_items(self, place: ReachedLocation, now: tuple[Any, ...]) -> None:
        """Add items that the trace put into a container."""
        at = place.location
        if {*map(id, now)}.issubset(map(id, place.before)):
            return
        self.is_over = True
        self._flat.pop(at.key, None)
        for readers in tuple(place.readers):
            self.add_contents(at.owner, at.parent or at, readers)
        self.is_over = False

    def add_new_attributes(self) -> None:
        """Add the attributes that objects got since they were visited."""
        for key, (value, location) in tuple(self.objects.items()):
            known = self._own_names[key]
            for name in layout_of(value).names(value):
                if name not in known:
                    known.add(name)
                    if name in self.names:
                        path = object_path(value, location)
                        at = Attribute(value, name, location, path)
                        self.add(at, BY_NAME).before = MISSING

    def modules(self) -> list[dict[str, Any]]:
        """Return the dictionaries of the user modules that were reached."""
        found = [m for m in self._known.values() if issubclass(class_of(m), ModuleType)]
        names = [module_namespace(m) for m in found]
        return [held for held in names if is_user_namespace(held)]

    def types(self) -> Iterator[ReachedLocation]:
        """Yield the classes of the objects that were reached."""
        for value, location in tuple(self.objects.values()):
            if is_user_class(class_of(value)):
                at = TypeOf(value, location, object_path(value, location))
                yield ReachedLocation(at, class_of(value))


_IGNORED: Final = frozenset(
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
PLAIN_CONTAINERS: Final = ids_of(list, dict, tuple, set, frozenset)


def is_opaque(cls: type) -> bool:
    """Return whether the contents of instances are no inputs of a trace: arrays, tracers."""
    return issubclass(cls, _OPAQUE) and not is_user_class(cls)


def is_settings(value: Any) -> bool:
    """Return whether a library object holds settings of users: a ConfigDict, flags.

    Its class answers names or keys from a dictionary that the object holds.
    """
    kind = class_of(value)
    layout = layout_of(value)
    if not layout.is_open or not layout.has_dict or is_user_class(kind):
        return False
    if is_own_class(kind) or layout.package in sys.stdlib_module_names:
        return False
    has_items = has_attribute(kind, "__getitem__") and has_attribute(
        kind, "__setitem__"
    )
    return has_items or has_getattr(kind)


def has_getattr(cls: type) -> bool:
    """Return whether a class computes attributes that its instances lack."""
    return has_attribute(cls, "__getattr__")


def object_path(value: Any, location: Location | None) -> str:
    """Return an object as a user would write it."""
    return layout_of(value).name if location is None else location.value_path


def _items(container: Any, location: Location | None) -> Iterator[tuple[Location, Any]]:
    """Yield the items of a container, each with its location."""
    path = "" if location is None else location.value_path
    is_dict = is_mapping(container)
    is_ordered = storage_of(container) in (list, tuple, deque)
    items = contents_of(container, None)
    for i, item in enumerate(items):
        key = items[i - 1] if is_dict and i % 2 else i if is_ordered else None
        if key is not None and id(class_of(key)) in ATOMS:
            yield Item(container, key, location, path), item
        elif id(class_of(item)) not in ATOMS:  # a key, a member, or below such a key
            yield Referent(container, i, contents_of, location, path), item


def _code_in(value: Any) -> CodeType | None:
    """Return the code of a class attribute that is some kind of method."""
    kind = class_of(value)
    if kind is staticmethod or kind is classmethod:
        value = value.__func__
    elif kind is property:
        value = value.fget
    return value.__code__ if class_of(value) is FunctionType else None
