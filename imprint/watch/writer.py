"""Writing guards: one function that looks each place up and compares by `is`.

Its globals are the user's module and its closure the user's cells, so the interpreter's
inline caches find the values: 5 names cost 25 to 50 ns over an empty call, 20 names 110
to 230 ns, where a loop takes 200 and 900. It is text given to `compile` (no `exec`),
kept by its text. What takes longest comes last.
"""

import builtins
import keyword
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from marshal import dumps
from operator import is_
from threading import Lock
from types import CellType, CodeType, FunctionType
from typing import Any, Final, final

from imprint.core.libraries import is_heap_type, keys_of
from imprint.definition.layout import layout_of_class
from imprint.definition.walk import FORMAT
from imprint.tree.walk import registered
from imprint.watch.attributes import (
    OF_OBJECT,
    Objects,
    gives,
    is_answered,
    is_hooked,
    shows_order,
)
from imprint.watch.classes import (
    MISSING,
    OF_TYPES,
    bases_of,
    class_attribute,
    class_namespace,
    class_of,
    defining_class,
    is_data,
    subclasses_of,
)
from imprint.watch.places import (
    CONTENT,
    KEYS,
    ORDER,
    CellPlace,
    ClassPlace,
    FunctionPlace,
    ItemPlace,
    LeavesPlace,
    NamePlace,
    ObjectPlace,
    Place,
    SpecialsPlace,
)
from imprint.watch.seen import Held, Items, Read, Seen, Strong

_GET: Final[Callable[..., Any]] = vars(dict)["get"]
_CONTAINS: Final[Callable[..., bool]] = vars(dict)["__contains__"]
_UNROLLED: Final = 32
"""Items of containers that are looked up one by one; more are told by a loop."""
_OWN_FUNCTION: Final = 4
"""Names of a module from which on a function with its globals pays for the call."""


def blank(
    reads: tuple[Read, ...], otherwise: Callable[[], bool]
) -> FunctionType | None:
    """Return a guard that asks `otherwise`, until it is written; None to watch nothing.

    It has what no function can be given later: the module that most names are in as its
    globals, and the cells.
    """
    if not reads:
        return None
    modules = _modules_of(reads)
    places = [read.place for read in reads]
    cells = {id(p.cell): p.cell for p in places if isinstance(p, CellPlace)}
    writer = _Writer((), Objects(()), modules[0][0] if modules else {}, cells.values())
    return writer.function(otherwise)


def write(
    guard: FunctionType, reads: tuple[Read, ...], otherwise: Callable[[], bool]
) -> None:
    """Have a guard look each place up by itself, unless another is written just now."""
    home, cells = guard.__globals__, guard.__closure__ or ()
    main = _Writer(reads, Objects(reads), home, cells)
    others = {
        id(module): _Writer(reads, Objects(()), module)
        for module, count in _modules_of(reads)
        if count >= _OWN_FUNCTION and module is not home
    }
    for read in reads:
        if not read.seen.inside:
            place = read.place
            module = id(place.namespace) if isinstance(place, NamePlace) else 0
            others.get(module, main).add(read)
    for writer in others.values():
        main.condition(f"{main.hold(writer.function())}()")
    for read in reads:  # what takes longest comes last
        if read.seen.inside:
            main.add(read)
    written = main.function(otherwise)
    blanked = _Writer((), Objects(()), home, cells).function(otherwise)
    kept = guard.__defaults__  # nothing dies, so nothing runs, between the lines
    if not _writing.acquire(
        blocking=False
    ):  # another thread, or what a signal broke into
        return
    try:  # what is called between them is blank, and takes the last of any defaults
        guard.__code__ = blanked.__code__
        guard.__defaults__ = written.__defaults__
        guard.__code__ = written.__code__
    finally:
        _writing.release()
    del kept


_writing: Final = Lock()


def _modules_of(reads: Iterable[Read]) -> list[tuple[dict[str, Any], int]]:
    """Return the modules that names are in, each with how many, the most first."""
    names = [r.place.namespace for r in reads if isinstance(r.place, NamePlace)]
    modules = {id(module): module for module in names}
    return [(modules[key], n) for key, n in Counter(map(id, names)).most_common()]


@final
class _Writer:
    """Writes one guard function, of some of the places that are read.

    Args:
        reads: all places.
        objects: what is known of the objects among them.
        module: its globals.
        cells: its closure.
    """

    def __init__(
        self,
        reads: tuple[Read, ...],
        objects: Objects,
        module: dict[str, Any],
        cells: Iterable[CellType] = (),
    ) -> None:
        self._prefix = "_"
        taken = {r.place.name for r in reads if isinstance(r.place, NamePlace)}
        while any(name.startswith(self._prefix) for name in taken):
            self._prefix += "_"
        self._globals = module
        self._conditions: dict[str, None] = {}  # each once
        self._held: dict[int, tuple[str, Any]] = {}
        self._cells = {  # a function has them in the order of their names
            f"{self._prefix}c{i:04}": cell for i, cell in enumerate(cells)
        }
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

    def add(self, read: Read) -> None:
        """Add the condition of one place."""
        place, seen = read.place, read.seen
        if isinstance(place, NamePlace) and seen.held.get() is MISSING:
            self.condition(f"{place.name!r} not in {self.hold(place.namespace)}")
            if place.is_builtin:
                self.condition(f"{place.name!r} not in {self.hold(vars(builtins))}")
            return
        if isinstance(place, ObjectPlace):
            self._add_object(place, seen)
            return
        if isinstance(place, ItemPlace) and seen.held.get() is MISSING:
            self.condition(_lacks_item(self, place))
            return
        if isinstance(place, SpecialsPlace | LeavesPlace):
            self.condition(_has_no_more(self, place))
            return
        if isinstance(place, FunctionPlace) and not place.name.isidentifier():
            self.condition(f"{self.hold(seen.matches)}({self.hold(place.get)}())")
            return
        if isinstance(place, ClassPlace) and _is_computed(place, seen):
            self.condition(_gives_equal(self, place, seen.held.get()))
            return
        where = self._where(place, seen.held.get())
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
            self.condition(_has_numbers(self, seen.items[0]))
        else:
            self.condition(f"{self.hold(seen.matches)}({where})")

    def _add_object(self, place: ObjectPlace, seen: Seen) -> None:
        """Add the condition of what an object has, which may be gone."""
        owner = self._owner(place)
        value = seen.held.get()
        owned: Any = place.owner()
        kind, name = class_of(owned), place.name
        if name == "__class__":
            condition = f"{self.hold(type)}({owner}) is {self.hold(value)}"
        elif name in {CONTENT, KEYS}:
            condition = _has_items(self, place, owner, seen)
        elif value is MISSING:
            condition = self._is_absent(place, owner, kind)
        elif seen.inside:
            if self._objects.has_attribute(kind, name) and not place.is_passing:
                self._add_inside(f"{owner}.{name}", seen)
                return
            condition = f"{self.hold(seen.matches)}({self.hold(place.get)}())"
        elif name == "__dict__":
            condition = _has_names(self, place, owner, seen)
        elif self._objects.has_attribute(kind, name):
            where = f"{owner}.{name}"
            condition = self._is(where, seen.held, binds=not place.is_passing)
        elif not is_data(class_attribute(kind, name)) and gives(owned, name, value):
            where = f"{self.hold(OF_OBJECT)}({owner}, {name!r})"  # past its own
            condition = self._is(where, seen.held)
        elif (
            not place.is_passing
            and value is class_attribute(kind, name)
            and self._objects.has_in_dict(kind, name)
        ):  # what the class has goes before what the object has, but may give that
            self.condition(f"{self.hold(type)}({owner}) is {self.hold(kind)}")
            where = self._where_in_class(ClassPlace(kind, name), value)
            self.condition(self._is(where, seen.held))
            condition = f"{name!r} not in {owner}.__dict__"
        else:
            condition = f"{self.hold(seen.matches)}({self.hold(place.get)}())"
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

    def function(self, otherwise: Callable[[], bool] | None = None) -> FunctionType:
        """Return the function; where a condition fails, `otherwise` has the word."""
        error = self.hold(Exception, apart=True)
        last = "" if otherwise is None else self.hold(otherwise, apart=True)
        held = list(self._held.values())
        text = _TEXT.format(
            name=f"{self._prefix}guard",  # a module may have a name `guard`
            cells=", ".join(self._cells),
            parameters=", ".join(name for name, _ in held),  # all have a default, below
            conditions=" and\n    ".join(self._conditions) or "False",
            otherwise=last and f" or {last}()",
            error=error,
        )
        code = _compiled(text)
        closure = tuple(self._cells[name] for name in code.co_freevars)
        defaults = tuple(value for _, value in held)
        return FunctionType(code, self._globals, "guard", defaults, closure)

    def _where(self, place: Place, seen: Any) -> str:
        """Return the expression that looks a place up."""
        if isinstance(place, ClassPlace):
            return self._where_in_class(place, seen)
        if seen is MISSING:
            return f"{self.hold(place.get)}()"
        if isinstance(place, NamePlace):
            return self._name(place)
        if isinstance(place, CellPlace):
            cells = self._cells.items()
            return next(name for name, cell in cells if cell is place.cell)
        if isinstance(place, ItemPlace):
            return _looks_up(self, place)
        if isinstance(place, FunctionPlace):
            return f"{self.hold(place.function)}.{place.name}"
        return self.hold(seen)

    def _name(self, place: NamePlace) -> str:
        home = place.namespace is self._globals
        if place.is_builtin and not home:
            self.condition(f"{place.name!r} not in {self.hold(place.namespace)}")
            return f"{self.hold(vars(builtins))}[{place.name!r}]"
        is_name = place.name.isidentifier() and not keyword.iskeyword(place.name)
        is_hidden = place.name in vars(builtins)  # which would answer for it
        if home and is_name and (place.is_builtin or not is_hidden):
            return place.name
        return f"{self.hold(place.namespace)}[{place.name!r}]"

    def _where_in_class(self, place: ClassPlace, seen: Any) -> str:
        """Return the expression that looks up what a class holds, or a base of it.

        What has to hold beside it, that no class before that one has the name, is added.
        The class is not asked for the attribute: a `staticmethod` of the same function,
        or a descriptor of the user's, gives it too.
        """
        cls, name = place.cls, place.name
        if name == ORDER and shows_order(cls):
            return f"{self.hold(cls)}.{name}"
        if seen is not MISSING and is_answered(cls, name):
            return f"{self.hold(place.get)}()"  # a property of the metaclass goes first
        holder = defining_class(cls, name)
        if holder is not cls and not shows_order(cls):
            return f"{self.hold(class_attribute)}({self.hold(cls)}, {name!r})"
        _add_lacking(self, cls, name, holder)
        if holder is None:
            return self.hold(MISSING)
        return f"{self.hold(class_namespace(holder))}[{name!r}]"


def _add_lacking(writer: _Writer, cls: type, name: str, holder: type | None) -> None:
    """Add the conditions that no base before the one that holds a name has it."""
    for base in bases_of(cls):
        if base is holder:
            break
        if base is cls:
            order = f"{writer.hold(cls)}.__mro__"
            writer.condition(f"{order} is {writer.hold(bases_of(cls))}")
        if base is not object:
            writer.condition(f"{name!r} not in {writer.hold(class_namespace(base))}")


def _gives_equal(writer: _Writer, place: ClassPlace, value: Any) -> str:
    """Return the condition that a class returns an equal object, new at each read.

    By `is` it would never hold, and each call would compare all places.
    """
    cls, name = writer.hold(place.cls), place.name
    _add_lacking(writer, place.cls, name, None)
    if name == "__subclasses__":  # no `==`: a metaclass may have its own
        hold = writer.hold
        now = f"[*{hold(map)}({hold(id)}, {hold(subclasses_of)}({cls}))]"
        return f"{now} == {hold([*map(id, value)])}"
    if class_of(place.cls) is type:
        return f"{cls}.{name} == {writer.hold(value)}"
    return f"{writer.hold(OF_TYPES[name])}({cls}) == {writer.hold(value)}"


def _is_computed(place: ClassPlace, seen: Seen) -> bool:
    """Return whether a class returns a new object each time it is asked for a name.

    A class that is no heap type makes its name of a text in C; no user code runs in `==`
    of such a name.
    """
    cls, name, value = place.cls, place.name, seen.held.get()
    if name not in OF_TYPES or defining_class(cls, name) is not None:
        return False
    if seen.inside or not shows_order(cls):
        return False
    if name == "__subclasses__":
        return value is not MISSING
    return not is_heap_type(cls) and class_of(value) is str


def _has_items(writer: _Writer, place: ObjectPlace, owner: str, seen: Seen) -> str:
    """Return the condition that the same is in an object of a container's subclass."""
    keys = seen.held.get()
    if place.name == CONTENT or not keys:
        return f"{writer.hold(seen.matches)}({writer.hold(place.get)}())"
    return f"[*{writer.hold(keys_of)}({owner})] == {writer.hold([*keys])}"


def _has_numbers(writer: _Writer, items: Items) -> str:
    """Return the condition that the same numbers are in a list."""
    container, packed = writer.hold(items.container), writer.hold(items.packed)
    return f"{writer.hold(dumps)}({container}, {FORMAT}) == {packed}"


def _has_names(writer: _Writer, place: ObjectPlace, owner: str, seen: Seen) -> str:
    """Return the condition that an object has attributes of the same names."""
    cls = class_of(place.owner())
    if is_hooked(cls) or not layout_of_class(cls).has_only_dict:
        return f"{writer.hold(seen.matches)}({writer.hold(place.get)}())"
    names, held = seen.held.get(), f"{owner}.__dict__"
    same = f"{writer.hold(map)}({writer.hold(is_)}, {held}, {writer.hold(names)})"
    return f"{writer.hold(len)}({held}) == {len(names)} and {writer.hold(all)}({same})"


def _lacks_item(writer: _Writer, place: ItemPlace) -> str:
    """Return the condition that a dict or list has nothing under a key."""
    held, key = _item_of(writer, place)
    if class_of(place.container) is list:
        return f"{writer.hold(len)}({held}) <= {key}"
    return f"not {writer.hold(_CONTAINS)}({held}, {key})"


def _looks_up(writer: _Writer, place: ItemPlace) -> str:
    """Return the expression that looks up what a dict or list has under a key."""
    held, key = _item_of(writer, place)
    if class_of(place.container) in {dict, list}:
        return f"{held}[{key}]"
    return f"{writer.hold(_GET)}({held}, {key})"


def _item_of(writer: _Writer, place: ItemPlace) -> tuple[str, str]:
    """Return the name of a dict or list, and that of a key of it or the text that it is."""
    name = place.name
    key = repr(name) if type(name) is str else writer.hold(name)
    return writer.hold(place.container), key


def _has_no_more(writer: _Writer, place: SpecialsPlace | LeavesPlace) -> str:
    """Return the condition that a class has the same names, trees no new nodes.

    Their number does not do: one may be gone, and a special method have come.
    """
    if isinstance(place, LeavesPlace):
        latest = writer.hold(place.latest, apart=True)
        return f"{writer.hold(registered)}.latest is {latest}"
    return f"[*{writer.hold(place.namespace)}] == {writer.hold([*place.namespace])}"


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
  {cells}
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
