"""Guards: is everything that a trace read as it was?

A guard compares value by value at first (`Dependencies.rebound`). At its second success it
is written: one function that looks each location up and compares by `is`. Its globals are
the user's module and its closure the user's cells, so the interpreter's inline caches find
the values: 5 names cost 25 to 50 ns over an empty call. Where something is another object,
values are compared again; plain data that is equal is taken for what was seen, and the
guard is written anew after twice as many comparisons. A location on an object that is gone
does not count. The text goes to `compile` (no `exec`) and is cached by its content.
"""

import builtins
import gc
import keyword
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import repeat
from marshal import dumps
from operator import call, is_
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, Final, NamedTuple, cast, final
from weakref import ref

from imprint._src.core.identity import Identity, ids_of
from imprint._src.jit.fingerprint.code import Code
from imprint._src.jit.fingerprint.layout import layout_of_class
from imprint._src.jit.fingerprint.raw_access import (
    GONE,
    MISSING,
    OF_TYPES,
    bases_of,
    class_attribute,
    class_of,
    contents_of,
    defining_class,
    namespace_of,
    storage_of,
)
from imprint._src.jit.guards.dependencies import Dependencies
from imprint._src.jit.guards.locations import (
    Attribute,
    Cell,
    ClassAttribute,
    Contents,
    FunctionPart,
    Global,
    Item,
    Location,
    Owned,
    Root,
    SpecialMethods,
    TypeOf,
    location_name,
)
from imprint._src.jit.guards.values import (
    Dependency,
    RecordedItems,
    RecordedValue,
    is_same_plain,
)

_FORMAT: Final = 2  # of marshal: equal values give equal bytes
_WRITTEN_AT: Final = 2
"""At which success a guard is written first: many versions are called once."""
_UNROLLED: Final = 8
"""Items of a container that are looked up one by one."""
_OWN_FUNCTION: Final = 4
"""Names of a module from which on a function with its globals pays for the call."""


class Change(NamedTuple):
    """One location that is not as it was.

    Args:
        kind: "global", "closure", "class", "function" or "object": whose it is.
        name: the location, as a user would name it: `global SCALE`.
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
    action: str = "rebound"

    def __str__(self) -> str:
        where = f" in {self.module}" if self.module else ""
        return f"{self.name} {self.action}{where}"


@final
class Guard:
    """Whether a version's dependencies are as they were.

    Args:
        dependencies: them.

    Attributes:
        check: returns it; another function once the guard is written.
        changed: is called with `check` when it is another.
    """

    __slots__ = ("__weakref__", "_count", "changed", "check", "dependencies")

    def __init__(self, dependencies: Dependencies) -> None:
        self.dependencies: Dependencies = dependencies
        self.changed: Callable[[Callable[[], bool]], None] | None = None
        self._count = 0
        reference = ref(self)  # a cycle would keep what both hold until a collection

        def compare() -> bool:
            guard = reference()
            return guard is not None and guard.compare()

        self.check: Callable[[], bool] = compare

    def holds(self) -> bool:
        """Return whether everything is as it was."""
        return self.check()

    def compare(self) -> bool:
        """Compare value by value; take equal values for what was seen from now on."""
        roots = [standin() for standin in self.dependencies.roots]
        # Static values that are gone count by their key; so does a root that is None.
        is_gone = roots and roots[0] is None
        if is_gone and type(self.dependencies.roots[0]) is Identity:
            return False
        found = self.dependencies.rebound(roots)
        if found is None:
            return False
        self.dependencies = found
        self._count = count = self._count + 1
        if count >= _WRITTEN_AT and count & (count - 1) == 0:  # 2, 4, 8, ...
            reference = ref(self)

            def otherwise() -> bool:
                guard = reference()
                return guard is not None and guard.compare()

            self.check = write(found.reads, otherwise)
            if self.changed is not None:
                self.changed(self.check)
        return True

    def changes(self) -> list[Change]:
        """Return what is not as it was."""
        return [
            change
            for read in self.dependencies.failing()
            for change in changes_of(read, read.location.get())
        ]

    @property
    def names(self) -> tuple[str, ...]:
        """The locations, as a user would name them."""
        return self.dependencies.names


def changes_of(read: Dependency, now: Any) -> list[Change]:
    """Return the change of one location; of defaults, those of each parameter."""
    location, seen = read
    was = seen.value
    if location.name == "__defaults__" and type(was) is type(now) is tuple:
        code = location.owner.__code__
        names = code.co_varnames[code.co_argcount - len(was) : code.co_argcount]
        where = f" of {location.owner.__qualname__}"
        if len(was) == len(now):
            return [
                Change("function", f"default {name}{where}", old, new, location.module)
                for name, old, new in zip(names, was, now, strict=True)
                if not is_same_plain(old, new)
            ]
    if type(location) is Contents:
        if seen.rest is not None:
            now = seen.rest(now)
        was, now = _built(location.owner, was), _built(location.owner, now)
    kind, name, module = location_name(location)
    if was is GONE:
        was = DeadObject(seen.kind, seen.code)
    return [Change(kind, name, was, now, module, _action(seen, now))]


class DeadObject(NamedTuple):
    """Stands for an object that is not alive any more.

    Args:
        cls: its class.
        code: of a function of the user's, what it ran.
    """

    cls: type
    code: Code | None = None


def _built(container: Any, items: Any) -> Any:
    """Return a container of a kind with items, to be shown."""
    storage: Any = storage_of(container)
    if storage is dict:
        return dict(zip(items[::2], items[1::2], strict=True))
    kind: Any = storage if storage in (list, set) else tuple
    return kind(items)


def _action(seen: Any, now: Any) -> str:
    if type(seen) is RecordedItems:
        return "written into"
    if now is MISSING:
        return "deleted"
    return "defined" if seen.value is MISSING else "rebound"


# ---- writing ----


def write(
    reads: tuple[Dependency, ...], otherwise: Callable[[], bool]
) -> Callable[[], bool]:
    """Return a function that looks each location up and compares by `is`."""
    counted = Counter(
        id(r.location.namespace) for r in reads if isinstance(r.location, Global)
    )
    modules = {
        id(r.location.namespace): r.location.namespace
        for r in reads
        if isinstance(r.location, Global)
    }
    ordered = [modules[key] for key, _ in counted.most_common()]
    home = ordered[0] if ordered else {}
    cells = {
        id(cell): cell
        for r in reads
        if isinstance(r.location, Cell)
        for cell in (r.location.cell,)
        if cell is not None
    }
    main = _GuardCompiler(home, reads, cells.values())
    others = {
        id(module): _GuardCompiler(module, reads)
        for module in ordered[1:]
        if counted[id(module)] >= _OWN_FUNCTION
    }
    for (
        read
    ) in reads:  # no attribute runs code of the user while classes have these names
        if isinstance(read.location, SpecialMethods):
            main.add(read)
    for read in reads:
        at = read.location
        if isinstance(at, SpecialMethods):
            continue
        where = others.get(id(at.namespace)) if isinstance(at, Global) else None
        (where or main).add(read)
    for writer in others.values():
        main.condition(f"{main.hold(writer.function())}()")
    return main.function(otherwise)


@final
class _GuardCompiler:
    """Writes one guard function.

    Args:
        module: its globals.
        reads: all locations, whose names are not used for its own.
        cells: its closure.
    """

    def __init__(
        self,
        module: dict[str, Any],
        reads: tuple[Dependency, ...],
        cells: Iterable[CellType] = (),
    ) -> None:
        self._prefix = "_"
        taken = {r.location.name for r in reads if isinstance(r.location, Global)}
        while any(str(name).startswith(self._prefix) for name in taken):
            self._prefix += "_"
        self._globals = module
        self._conditions: dict[str, None] = {}  # each once, in order
        self._of_owners: dict[int, tuple[str, dict[str, None]]] = {}
        self._late: dict[str, None] = {}  # what takes longest comes last
        self._held: dict[int, tuple[str, Any]] = {}
        self._cells = {  # a function has them in the order of their names
            f"{self._prefix}c{i:04}": cell for i, cell in enumerate(cells)
        }
        self._lacking: dict[int, tuple[Any, list[str]]] = {}
        self._dicts: dict[int, dict[str, Any]] = {}
        self._named = {  # classes of which all names are compared
            id(r.location.owner)
            for r in reads
            if isinstance(r.location, SpecialMethods)
        }

    def hold(self, value: Any) -> str:
        """Return the name of a parameter whose default is a value."""
        known = self._held.get(id(value))
        if known is None:
            known = self._held[id(value)] = f"{self._prefix}v{len(self._held)}", value
        return known[0]

    def condition(self, text: str) -> None:
        """Add a condition."""
        self._conditions[text] = None

    def add(self, read: Dependency) -> None:  # noqa: C901, PLR0912 - a branch for each kind
        """Add the condition of one location."""
        at, seen = read
        if isinstance(at, Contents):
            self._late[self._contents(at, seen)] = None
        elif type(seen) is RecordedValue and (seen.is_strict or seen.value is GONE):
            if seen.is_strict:
                self._late[f"{self.hold(_Holds(read))}()"] = None
            elif not _is_owner_gone(at):
                self.condition("False")
        elif isinstance(at, Global):
            self.condition(self._global(at, seen))
        elif isinstance(at, Cell):
            self._cell(at, seen, read)
        elif isinstance(at, FunctionPart):
            if isinstance(at.parent, Root):  # its versions may not keep it alive
                self._owned(at, self._function_part("{}", at, seen))
            else:
                held = self.hold(at.owner)
                self.condition(self._function_part(held, at, seen))
        elif isinstance(at, ClassAttribute):
            self._class_attribute(at, seen, read)
        elif isinstance(at, SpecialMethods):
            cls = at.owner
            names = self._dict(cls)
            self.condition(f"[*{self.hold(names)}] == {self.hold([*names])}")
            if class_attribute(class_of(cls), "__mro__") is _MRO:
                self.condition(
                    f"{self.hold(cls)}.__mro__ is {self.hold(bases_of(cls))}"
                )
        elif isinstance(at, TypeOf):
            self._owned(at, f"{self.hold(type)}({{}}) is {self.hold(seen.value)}")
        elif isinstance(at, Attribute):
            self._attribute(at, seen, read)
        elif isinstance(at, Item):
            self.condition(self._item(at, seen, read))
        else:
            self.condition(f"{self.hold(_Holds(read))}()")

    def _dict(self, cls: type) -> dict[str, Any]:
        """Return the dictionary of a class itself, to read it: its proxy takes 3 × as long."""
        known = self._dicts.get(id(cls))
        if known is None:
            found: Any = gc.get_referents(namespace_of(cls))[0]
            known = self._dicts[id(cls)] = found
        return known

    # ---- one kind of location each ----

    def _is(self, where: str, seen: RecordedValue) -> str:
        """Return the condition that an expression gives the very value."""
        reference = seen.reference
        if reference is None or issubclass(seen.kind, _OF_PROGRAMS):
            return f"{where} is {self.hold(seen.value)}"
        return f"{where} is {self.hold(reference)}() is not None"

    def _global(self, at: Global, seen: RecordedValue) -> str:
        name, names = at.name, at.namespace
        value = seen.value
        if value is MISSING:
            absent = f"{name!r} not in {self.hold(names)}"
            if at.is_builtin:
                absent += f" and {name!r} not in {self.hold(vars(builtins))}"
            return absent
        is_home = names is self._globals
        is_from_builtins = at.is_builtin and name not in names
        is_name = name.isidentifier() and not keyword.iskeyword(name)
        if is_home and is_name and (is_from_builtins or name not in vars(builtins)):
            return self._is(name, seen)
        if is_from_builtins:
            self.condition(f"{name!r} not in {self.hold(names)}")
            return self._is(f"{self.hold(vars(builtins))}[{name!r}]", seen)
        return self._is(f"{self.hold(names)}[{name!r}]", seen)

    def _cell(self, at: Cell, seen: RecordedValue, read: Dependency) -> None:
        cell = at.cell
        if cell is None:
            return
        if seen.value is MISSING:
            self.condition(f"{self.hold(_Holds(read))}()")
            return
        name = next(name for name, held in self._cells.items() if held is cell)
        self.condition(self._is(name, seen))

    def _function_part(
        self, function: str, at: FunctionPart, seen: RecordedValue
    ) -> str:
        if at.name in ("__code__", "__defaults__", "__kwdefaults__"):
            return self._is(f"{function}.{at.name}", seen)
        if seen.value is MISSING:
            return f"{at.name!r} not in {function}.__dict__"
        return self._is(f"{function}.__dict__[{at.name!r}]", seen)

    def _class_attribute(
        self, at: ClassAttribute, seen: RecordedValue, read: Dependency
    ) -> None:
        cls, name = at.owner, at.name
        if name in OF_TYPES:  # a class of C's gives a new string each time
            self.condition(f"{self.hold(at.get)}() == {self.hold(seen.value)}")
            return
        if class_attribute(class_of(cls), "__mro__") is not _MRO:
            self.condition(f"{self.hold(_Holds(read))}()")
            return
        if id(cls) not in self._named:
            self.condition(f"{self.hold(cls)}.__mro__ is {self.hold(bases_of(cls))}")
        holder = defining_class(cls, name)
        for base in bases_of(cls):
            if base is holder:
                break
            if base is not object and id(base) not in self._named:
                self.condition(f"{name!r} not in {self.hold(self._dict(base))}")
        if holder is not None:
            self.condition(self._is(f"{self.hold(self._dict(holder))}[{name!r}]", seen))

    def _owned(self, at: Location, text: str) -> None:
        """Add a condition on an object, in which `{}` stands for the object."""
        owner: Any = at.owner
        if owner is None:
            return
        known = self._of_owners.get(id(owner))
        if known is None:
            standin = cast("Owned", at).standin
            get = self.hold(standin)
            name = f"{self._prefix}o{len(self._of_owners)}"
            known = self._of_owners[id(owner)] = f"({name} := {get}())", {}
        name = known[0][1:].partition(" ")[0]
        if isinstance(at, TypeOf):  # before any attribute is asked for
            first = {text.format(name): None, **known[1]}
            self._of_owners[id(owner)] = known[0], first
        else:
            known[1][text.format(name)] = None

    def _attribute(self, at: Attribute, seen: RecordedValue, read: Dependency) -> None:
        owner, name = at.owner, at.name
        if owner is None:
            return
        kind = class_of(owner)
        if seen.value is MISSING:
            if _is_open(kind):
                self._lacking.setdefault(id(owner), (at, []))[1].append(name)
            else:
                self._owned(at, f"{self.hold(_Holds(read))}()")
        elif _is_read_plainly(kind, name):
            self._owned(at, self._is(f"{{}}.{name}", seen))
        else:
            self._owned(at, f"{self.hold(_Holds(read))}()")

    def _item(self, at: Item, seen: RecordedValue, read: Dependency) -> str:
        kind, key = class_of(at.container), at.name
        if id(kind) not in _PLAIN:
            return f"{self.hold(_Holds(read))}()"
        held = self.hold(at.container)
        text = repr(key) if type(key) in (str, int, bool) else self.hold(key)
        if seen.value is MISSING:
            if kind is not dict:
                return f"{self.hold(_Holds(read))}()"
            return f"{text} not in {held}"
        return self._is(f"{held}[{text}]", seen)

    def _contents(self, at: Contents, seen: RecordedItems) -> str:
        held, items = at.container, seen.items
        kind = class_of(held)
        name = self.hold(held)
        if seen.rest is not None:
            return f"{self.hold(_SameItems(at, seen))}()"
        if kind is tuple or kind is frozenset:
            return "True"  # the same one has the same items
        if at.is_strict or any(x.is_strict for x in items):
            return f"{self.hold(_SameItems(at, seen))}()"
        if any(x.reference is not None for x in items):
            return self._weak_contents(kind, name, items, at, seen)
        values = seen.value
        if kind is list and _NUMBERS.issuperset(map(id, map(class_of, values))):
            packed = dumps(list(values), _FORMAT)
            return f"{self.hold(dumps)}({name}, {_FORMAT}) == {self.hold(packed)}"
        same = f"{self.hold(all)}({self.hold(map)}({self.hold(is_)}, "
        if kind is list:
            size = f"{self.hold(len)}({name}) == {len(values)}"
            if len(values) <= _UNROLLED:
                each = [f"{name}[{i}] is {self.hold(x)}" for i, x in enumerate(values)]
                return " and ".join((size, *each))
            return f"{size} and {same}{name}, {self.hold(values)}))"
        if kind is dict:
            keys, found = values[::2], values[1::2]
            size = f"{self.hold(len)}({name}) == {len(keys)}"
            return (
                f"{size} and {same}{name}, {self.hold(keys)})) and "
                f"{same}{name}.values(), {self.hold(found)}))"
            )
        return f"{self.hold(_SameItems(at, seen))}()"

    def _weak_contents(
        self,
        kind: Any,
        name: str,
        items: tuple[RecordedValue, ...],
        at: Contents,
        seen: Any,
    ) -> str:
        """Return the condition that the same objects are in a list or dictionary."""
        if kind is not list and kind is not dict:
            return f"{self.hold(_SameItems(at, seen))}()"
        step = 1 if kind is list else 2
        getters = self.hold(tuple(map(_getter, items[step - 1 :: step])))
        now = name if kind is list else f"{name}.values()"
        same = f"{self.hold(all)}({self.hold(map)}({self.hold(is_)}, "
        text = f"{self.hold(len)}({name}) == {len(items) // step}"
        if kind is dict:
            text += f" and {same}{name}, {self.hold(seen.value[::2])}))"
        return (
            f"{text} and {same}{now}, {self.hold(map)}({self.hold(call)}, {getters})))"
        )

    def function(self, otherwise: Callable[[], bool] | None = None) -> Any:
        """Return the function; where a condition fails, `otherwise` decides."""
        for at, names in tuple(self._lacking.values()):
            if len(names) == 1:
                self._owned(at, f"{names[0]!r} not in {{}}.__dict__")
            else:
                disjoint = self.hold(frozenset(names).isdisjoint)
                self._owned(at, f"{disjoint}({{}}.__dict__)")
        conditions = [*self._conditions]
        for get, texts in self._of_owners.values():
            conditions.append(f"({get} is None or ({' and '.join(texts)}))")
        conditions += self._late
        conditions = [text for text in conditions if text != "True"]
        error = self.hold(Exception)
        last = "" if otherwise is None else self.hold(otherwise)
        text = _TEXT.format(
            name=f"{self._prefix}guard",  # a module may have a name `guard`
            cells=", ".join(self._cells),
            parameters=", ".join(name for name, _ in self._held.values()),
            conditions=" and\n    ".join(conditions) or "True",
            otherwise=last and f" or {last}()",
            error=error,
            failed=(last and f"{last}()") or "False",
        )
        code = _compiled(text)
        closure = tuple(self._cells[name] for name in code.co_freevars)
        defaults = tuple(value for _, value in self._held.values())
        return FunctionType(code, self._globals, "guard", defaults, closure)


def _getter(seen: RecordedValue) -> Callable[[], Any]:
    """Return what gives an item, in C."""
    return seen.reference or repeat(seen.value).__next__


@final
class _Holds:
    """Compares one location by value."""

    __slots__ = ("_read",)

    def __init__(self, read: Dependency) -> None:
        self._read = read

    def __call__(self) -> bool:
        return self._read.holds()


@final
class _SameItems:
    """Compares the items of a container, some of which may be gone."""

    __slots__ = ("_at", "_seen")

    def __init__(self, at: Contents, seen: RecordedItems) -> None:
        self._at, self._seen = at, seen

    def __call__(self) -> bool:
        limit = None if self._at.is_strict else 256
        return self._seen.matches(contents_of(self._at.container, limit))


_OF_PROGRAMS: Final = FunctionType, CodeType, type, ModuleType
"""Classes of parts of a program, which a guard may keep alive."""
_NUMBERS: Final = ids_of(int, float, bool, complex, type(None))
_PLAIN: Final = ids_of(dict, list, tuple)
_MRO: Final = vars(type)["__mro__"]
_GETATTRIBUTE: Final = object.__getattribute__


def _is_owner_gone(at: Location) -> bool:
    return at.owner is None


def _is_hooked(cls: type) -> bool:
    """Return whether code of the user's answers for each attribute of an object."""
    return class_attribute(cls, "__getattribute__") is not _GETATTRIBUTE


def _is_open(cls: type) -> bool:
    """Return whether what an object has is in its `__dict__`, as Python shows it."""
    return not _is_hooked(cls) and layout_of_class(cls).has_only_dict


def _is_read_plainly(cls: type, name: str) -> bool:
    """Return whether `x.name` gives what the object has, and runs no user's code."""
    if _is_hooked(cls) or not name.isidentifier() or keyword.iskeyword(name):
        return False
    shown = class_attribute(cls, name)
    if shown is MISSING:
        return True
    kind = class_of(shown)
    return kind is _MEMBER or (
        class_attribute(kind, "__set__") is MISSING
        and class_attribute(kind, "__delete__") is MISSING
    )


class _Slotted:
    __slots__ = ("x",)


_MEMBER: Final = class_of(vars(_Slotted)["x"])

_TEXT: Final = """\
def make({cells}):
 def {name}({parameters}):
  try:
   return (
    {conditions}
   ){otherwise}
  except {error}:
   return {failed}
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
