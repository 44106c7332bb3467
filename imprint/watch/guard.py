"""Watching: is what a trace read by name still there?

`Watch.guard` is one generated function that looks each place up and compares by `is`.
Its globals are the user's module and its closure the user's cells, so the interpreter's
inline caches find the values: 5 names cost 25 to 50 ns over an empty call, 20 names 110
to 230 ns, where a loop takes 200 and 900. It is text given to `compile` (no `exec`),
kept by its text. Where something is another object, the places are compared one by one:
an equal number, string, tuple, list or function is as good, and the guard learns it.
"""

import builtins
import keyword
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from marshal import dumps
from operator import is_
from types import CellType, CodeType, FunctionType
from typing import Any, Final, final
from weakref import ref

from imprint.definition.layout import layout_of_class
from imprint.definition.walk import FORMAT, NO_EFFECTS, Effects
from imprint.watch.attributes import (
    OF_OBJECT,
    Objects,
    is_direct,
    is_hooked,
    shows_order,
)
from imprint.watch.captures import captured_functions, captured_reads
from imprint.watch.places import (
    GONE,
    MISSING,
    WHAT_RUNS,
    CellPlace,
    ClassPlace,
    FunctionPlace,
    ItemPlace,
    NamePlace,
    ObjectPlace,
    Place,
    SpecialsPlace,
    bases_of,
    class_attribute,
    class_namespace,
    class_of,
    defining_class,
    is_data,
)
from imprint.watch.seen import Held, Items, Read, Seen, Strong

_GET: Final[Callable[..., Any]] = vars(dict)["get"]
_CONTAINS: Final[Callable[..., bool]] = vars(dict)["__contains__"]
_UNROLLED: Final = 32
"""Items of containers that are looked up one by one; more are told by a loop."""
_OWN_FUNCTION: Final = 4
"""Names of a module from which on a function with its globals pays for the call."""


@final
@dataclass(frozen=True, slots=True)
class Change:
    """One watched place that does not hold any more what was seen there.

    Args:
        kind: "global", "closure", "class" or "function": whose the place is.
        name: the place, as a user would name it: `global SCALE`.
        old: what was seen.
        new: what is there now.
        module: the name of the module it is in.
        action: what was done: "rebound", "deleted", "defined" or "written into".
    """

    kind: str
    name: str
    old: Any
    new: Any
    module: str
    action: str

    def __str__(self) -> str:
        return f"{self.name} {self.action} in {self.module}"


@final
class Watch:
    """What a version read while it was traced.

    Args:
        reads: the places, with what was seen there.
    """

    __slots__ = ("__weakref__", "guard", "reads")

    def __init__(self, reads: Iterable[Read]) -> None:
        self.reads = tuple(reads)
        self.guard: Callable[[], bool] | None = _guard_of(self.reads, self._otherwise())
        """Tells whether everything is as it was; None if nothing is watched. Hot."""

    def holds(self) -> bool:
        """Tell whether everything is as it was."""
        return self.guard is None or self.guard()

    def changed(self) -> list[Change]:
        """List what is not as it was."""
        return [
            Change(
                read.place.kind,
                str(read.place),
                read.seen.shown(),
                now,
                read.place.module,
                _action(read, now),
            )
            for read, now in self._failing()
        ]

    def failing(self) -> list[Read]:
        """List the reads of which something else is there now."""
        return [read for read, _ in self._failing()]

    def _failing(self) -> list[tuple[Read, Any]]:
        return [
            (read, now)
            for read, now in zip(self.reads, _values(self.reads), strict=True)
            if not (read.seen.matches(now) or _is_over(read, now))
        ]

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
        now = _values(self.reads)
        pairs = zip(self.reads, now, strict=True)
        if not all(
            read.seen.matches(value) or _is_over(read, value) for read, value in pairs
        ):
            return False
        self.reads: tuple[Read, ...] = tuple(_renew(self.reads, now))
        fresh: Any = _guard_of(self.reads, self._otherwise())
        guard: Any = self.guard
        if fresh.__code__ is guard.__code__ and fresh.__globals__ is guard.__globals__:
            guard.__defaults__ = fresh.__defaults__
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


def _values(reads: Iterable[Read]) -> list[Any]:
    """Return what is at places now; of a function that was replaced, what the other has.

    It may be equal, by code, defaults and attributes, and called or annotated otherwise.
    """
    now = [(read, read.now()) for read in reads]
    moved = {
        id(read.seen.held.get()): value
        for read, value in now
        if class_of(value) is FunctionType and not read.seen.held.is_(value)
    }
    if not moved:
        return [value for _, value in now]
    return [
        FunctionPlace(moved[id(read.place.function)], read.place.name).get()
        if isinstance(read.place, FunctionPlace)
        and id(read.place.function) in moved
        and read.place.name not in WHAT_RUNS
        else value
        for read, value in now
    ]


def _is_over(read: Read, now: Any) -> bool:
    """Tell whether a place does not count any more.

    Its object is gone; or by now the traces are known to write there.
    """
    place = read.place
    if read.seen.is_left and place.key in read.seen.known.places:
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
        elif seen.is_left and place.key in seen.known.places:
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


# ---- the generated function ----


def _guard_of(
    reads: tuple[Read, ...], otherwise: Callable[[], bool]
) -> Callable[[], bool] | None:
    """Generate the guard: a function of the module that most names are in."""
    if not reads:
        return None
    names = Counter(module for r in reads if (module := _module_of(r.place)))
    home = names.most_common(1)[0][0] if names else 0
    others = {
        module: _Writer(reads, Objects(()))
        for module, count in names.items()
        if count >= _OWN_FUNCTION and module != home
    }
    main = _Writer(reads, Objects(reads))
    quick = [read for read in reads if not read.seen.inside]
    for read in quick:
        module = _module_of(read.place)
        others.get(module, main).add(read, home=module == home or module in others)
    for writer in others.values():
        main.condition(f"{main.hold(writer.function())}()")
    for read in reads:  # what takes longest comes last
        if read.seen.inside:
            main.add(read, home=_module_of(read.place) == home)
    return main.function(otherwise)


def _module_of(place: Place) -> int:
    """Return what tells the modules of names apart; 0 for another place."""
    return id(place.namespace) if isinstance(place, NamePlace) else 0


@final
class _Writer:
    """Writes one guard function, of some of the places that are read."""

    def __init__(self, reads: tuple[Read, ...], objects: "Objects") -> None:
        self._prefix = "_"
        taken = {r.place.name for r in reads if isinstance(r.place, NamePlace)}
        while any(name.startswith(self._prefix) for name in taken):
            self._prefix += "_"
        self._globals: dict[str, Any] = {}
        self._conditions: dict[str, None] = {}  # each once
        self._held: dict[int, tuple[str, Any]] = {}
        self._cells: dict[str, CellType] = {}
        self._objects = objects
        self._dicts: set[str] = set()  # objects whose attributes are in a variable

    def hold(self, value: Any, *, apart: bool = False) -> str:
        """Return the name of a parameter whose default is a value.

        Args:
            value: it.
            apart: whether it may become another, and equal ones not.
        """
        key = ~len(self._held) if apart else id(value)
        known = self._held.get(key)
        if known is None:
            known = self._held[key] = f"{self._prefix}v{len(self._held)}", value
        return known[0]

    def condition(self, text: str) -> None:
        """Add a condition."""
        self._conditions[text] = None

    def add(self, read: Read, *, home: bool) -> None:
        """Add the condition of one place; `home`: it is in this function's globals."""
        place, seen = read.place, read.seen
        if isinstance(place, NamePlace) and seen.held.get() is MISSING:
            self.condition(f"{place.name!r} not in {self.hold(place.namespace)}")
            return
        if isinstance(place, ObjectPlace):
            self._add_object(place, seen)
            return
        if isinstance(place, ItemPlace) and seen.held.get() is MISSING:
            held = self.hold(place.container)
            self.condition(f"not {self.hold(_CONTAINS)}({held}, {place.name!r})")
            return
        if isinstance(place, SpecialsPlace):
            self._add_specials(place)
            return
        where = self._where(place, seen.held.get(), home=home)
        if seen.inside:
            self._add_inside(where, seen)
        else:
            self.condition(self._is(where, seen.held, binds=True))

    def _add_inside(self, where: str, seen: Seen) -> None:
        """Add the conditions of a value in which something can change."""
        count = sum(len(items.items) for items in seen.items)
        if seen.items and count <= _UNROLLED and all(map(_has_index, seen.items)):
            self.condition(self._is(where, seen.held))
            for items in seen.items:
                self._add_items(items)
        elif len(seen.items) == 1 and seen.items[0].packed is not None:
            self.condition(self._is(where, seen.held))
            self._add_numbers(seen.items[0])
        else:
            self.condition(f"{self.hold(seen.matches)}({where})")

    def _add_specials(self, place: SpecialsPlace) -> None:
        """Add the condition that a class has as many names as it had."""
        count = self.hold(len(place.namespace), apart=True)
        self.condition(f"{self.hold(len)}({self.hold(place.namespace)}) == {count}")

    def _add_object(self, place: ObjectPlace, seen: Seen) -> None:
        """Add the condition of what an object has, which may be gone."""
        owner = self._owner(place)
        value = seen.held.get()
        kind, name = class_of(place.owner()), place.name
        if name == "__class__":
            condition = f"{self.hold(type)}({owner}) is {self.hold(value)}"
        elif value is MISSING:
            condition = self._is_absent(place, owner, kind)
        elif seen.inside:
            if self._objects.has_attribute(kind, name) and not place.is_passing:
                self._add_inside(f"{owner}.{name}", seen)
                return
            condition = f"{self.hold(seen.matches)}({self.hold(place.get)}())"
        elif name == "__dict__":
            condition = self._has_names(place, owner, seen)
        elif self._objects.has_attribute(kind, name):
            where = f"{owner}.{name}"
            condition = self._is(where, seen.held, binds=not place.is_passing)
        elif not is_data(class_attribute(kind, name)):
            where = f"{self.hold(OF_OBJECT)}({owner}, {name!r})"  # past its own
            condition = self._is(where, seen.held)
        elif place.is_passing:
            condition = f"{self.hold(seen.matches)}({self.hold(place.get)}())"
        else:  # what the class has goes before what the object has
            self.condition(f"{self.hold(type)}({owner}) is {self.hold(kind)}")
            where = self._where_in_class(ClassPlace(kind, name), value)
            condition = self._is(where, seen.held)
        self.condition(
            f"({owner} is None or {condition})" if place.is_passing else condition
        )

    def _is_absent(self, place: ObjectPlace, owner: str, kind: type) -> str:
        """Return the condition that an object has no such attribute of its own."""
        name = place.name
        if not self._objects.has_in_dict(kind, name):
            return f"{self.hold(place.get)}() is {self.hold(MISSING)}"
        shown = self._objects.shown.get((id(kind), name))
        if shown is not None and self._objects.has_attribute(kind, name):
            return f"{owner}.{name} is {self.hold(shown)}"  # else it would be hidden
        held = f"{owner}.__dict__"
        if self._objects.absent[id(place.owner)] > 1 and not place.is_passing:
            if owner in self._dicts:
                held = f"{owner}d"
            else:
                self._dicts.add(owner)
                held = f"({owner}d := {held})"
        return f"{name!r} not in {held}"

    def _has_names(self, place: ObjectPlace, owner: str, seen: Seen) -> str:
        """Return the condition that an object has attributes of the same names."""
        cls = class_of(place.owner())
        if is_hooked(cls) or not layout_of_class(cls).has_only_dict:
            return f"{self.hold(seen.matches)}({self.hold(place.get)}())"
        names, held = seen.held.get(), f"{owner}.__dict__"
        same = f"{self.hold(map)}({self.hold(is_)}, {held}, {self.hold(names)})"
        return f"{self.hold(len)}({held}) == {len(names)} and {self.hold(all)}({same})"

    def _owner(self, place: ObjectPlace) -> str:
        """Return the variable that has the object of a place."""
        objects = self._objects
        key = id(place.owner), place.is_passing
        name = objects.variables.get(key)
        if name is None:
            name = objects.variables[key] = f"{self._prefix}o{len(objects.variables)}"
            get = f"({name} := {self.hold(place.owner)}())"
            self.condition(
                f"({get}, True)[1]" if place.is_passing else f"{get} is not None"
            )
        return name

    def _is(self, where: str, held: Held, *, binds: bool = False) -> str:
        """Return the condition that a place has the very object.

        Args:
            where: the expression that looks the place up.
            held: the object.
            binds: whether what is to be asked of the object may take it from here; then
                None in its place, when it is gone, fails there.
        """
        if isinstance(held, Strong):
            return f"{where} is {self.hold(held.value)}"
        reference = self.hold(held.reference)
        objects = self._objects
        key = objects.owners.get(id(held.get()))
        if key is not None:
            name = objects.variables.get(key)
            if name is not None:
                return f"{where} is {name}"
            if binds:
                name = f"{self._prefix}o{len(objects.variables)}"
                objects.variables[key] = name
                return f"({name} := {where}) is {reference}()"
        return f"{where} is {reference}() is not None"

    def _add_items(self, items: Items) -> None:
        """Add the conditions that the same objects are in a container."""
        container = self.hold(items.container)
        if class_of(items.container) is CellType:
            self.condition(self._is(f"{container}.cell_contents", items.items[0]))
            return
        compared = ">=" if items.is_grown else "=="
        self.condition(f"{self.hold(len)}({container}) {compared} {len(items.items)}")
        if items.keys is not None:  # in their order, which a program can see
            keys = self.hold(items.keys)
            same = f"{self.hold(map)}({self.hold(is_)}, {container}, {keys})"
            self.condition(f"{self.hold(all)}({same})")
        keys = range(len(items.items)) if items.keys is None else items.keys
        for i, (key, held) in enumerate(zip(keys, items.items, strict=True)):
            if i in items.free:
                continue
            self.condition(self._is(f"{container}[{key!r}]", held))

    def _add_numbers(self, items: Items) -> None:
        """Add the condition that the same numbers are in a list."""
        container, packed = self.hold(items.container), self.hold(items.packed)
        self.condition(f"{self.hold(dumps)}({container}, {FORMAT}) == {packed}")

    def function(
        self, otherwise: Callable[[], bool] | None = None
    ) -> Callable[[], bool]:
        """Return the function; where a condition fails, `otherwise` has the word."""
        error = self.hold(Exception)
        last = "" if otherwise is None else f" or {self.hold(otherwise)}()"
        held = list(self._held.values())
        cells = ", ".join(self._cells)
        parameters = ", ".join(name for name, _ in held)  # all have a default, below
        code = _compiled(
            _TEXT.format(
                name=f"{self._prefix}guard",  # a module may have a name `guard`
                cells=cells,
                parameters=parameters,
                conditions=" and\n    ".join(self._conditions),
                otherwise=last,
                error=error,
            )
        )
        closure = tuple(self._cells[name] for name in code.co_freevars)
        defaults = tuple(value for _, value in held)
        return FunctionType(code, self._globals, "guard", defaults, closure)

    def _where(self, place: Place, seen: Any, *, home: bool) -> str:
        """Return the expression that looks a place up."""
        if isinstance(place, ClassPlace):
            return self._where_in_class(place, seen)
        if seen is MISSING:
            return f"{self.hold(place.get)}()"
        if isinstance(place, NamePlace):
            return self._name(place, home=home)
        if isinstance(place, CellPlace):
            name = f"{self._prefix}c{len(self._cells)}"
            self._cells[name] = place.cell
            return name
        if isinstance(place, ItemPlace):
            held, key = self.hold(place.container), repr(place.name)
            if class_of(place.container) is dict:
                return f"{held}[{key}]"
            return f"{self.hold(_GET)}({held}, {key})"
        if isinstance(place, FunctionPlace):
            return f"{self.hold(place.function)}.{place.name}"
        return self.hold(seen)

    def _name(self, place: NamePlace, *, home: bool) -> str:
        if place.is_builtin and not home:
            self.condition(f"{place.name!r} not in {self.hold(place.namespace)}")
            return f"{self.hold(vars(builtins))}[{place.name!r}]"
        if home:
            self._globals = place.namespace
            if place.name.isidentifier() and not keyword.iskeyword(place.name):
                return place.name
        return f"{self.hold(place.namespace)}[{place.name!r}]"

    def _where_in_class(self, place: ClassPlace, seen: Any) -> str:
        """Return the expression that looks up what a class holds, or a base of it.

        What has to hold beside it, that no class before that one has the name, is added.
        """
        cls, name = place.cls, place.name
        if is_direct(place, seen):
            return f"{self.hold(cls)}.{name}"
        holder = defining_class(cls, name)
        if holder is not cls and not shows_order(cls):
            return f"{self.hold(class_attribute)}({self.hold(cls)}, {name!r})"
        for base in bases_of(cls):
            if base is holder:
                break
            if base is cls:
                self.condition(
                    f"{self.hold(cls)}.__mro__ is {self.hold(bases_of(cls))}"
                )
            if base is not object:
                self.condition(f"{name!r} not in {self.hold(class_namespace(base))}")
        if holder is None:
            return self.hold(MISSING)
        return f"{self.hold(class_namespace(holder))}[{name!r}]"


def _has_index(items: Items) -> bool:
    """Tell whether what is in a container can be looked up one by one."""
    if items.keys is None:
        kind = class_of(items.container)
        return kind is list or kind is CellType
    return all(class_of(key) is str for key in items.keys)


_TEXT: Final = """\
def make({cells}):
 def {name}({parameters}):
  try:
   return (
    {conditions}
   ){otherwise}
  except {error}:
   return False
 return {name}
"""


_FILE: Final = f"{__file__}:guard"  # in imprint: its code is not the user's


@lru_cache(maxsize=1024)
def _compiled(text: str) -> CodeType:
    """Return the code of the guard in a text; a text costs 100 µs and more."""
    module = compile(text, _FILE, "exec", dont_inherit=True)
    (make,) = (c for c in module.co_consts if isinstance(c, CodeType))
    (guard,) = (c for c in make.co_consts if isinstance(c, CodeType))
    return guard
