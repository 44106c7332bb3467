"""Guards in Python: one generated function that compares by identity.

It looks each location up and compares by `is`. Its globals are the user's module and its
closure the user's cells, so the interpreter's inline caches find the values: 5 names cost 25
to 50 ns over an empty call. The source goes to `compile` (no `exec`) and is cached by its
text. `native_guard` is its twin in C.
"""

import builtins
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from marshal import dumps
from operator import call, is_, is_not
from types import (
    CellType,
    CodeType,
    FunctionType,
    NoneType,
)
from typing import Any, Final, cast, final

from imprint._src.core.identity import ids_of
from imprint._src.core.user_code import is_fixed
from imprint._src.jit.fingerprint.raw_access import (
    CONTAINERS,
    GONE,
    MISSING,
    OF_TYPES,
    bases_of,
    class_of,
    defining_class,
    length_of,
)
from imprint._src.jit.guards.locations import (
    OF_FUNCTIONS,
    Attribute,
    Cell,
    ClassAttribute,
    Contents,
    FunctionPart,
    Global,
    Item,
    Location,
    MissingNames,
    Owned,
    Root,
    SpecialMethods,
    TypeOf,
)
from imprint._src.jit.guards.plain_reads import (
    IMMUTABLE,
    OF_PROGRAMS,
    PLAIN,
    PROXY,
    HoldsByValue,
    SameItems,
    dict_of_class,
    has_plain_dict,
    has_plain_mro,
    has_plain_name,
    is_name,
    is_read_plainly,
)
from imprint._src.jit.guards.values import Dependency, RecordedItems, RecordedValue

_FORMAT: Final = 2  # of marshal: equal values give equal bytes
_UNROLLED: Final = 8
"""Items of a container that are looked up one by one."""
_OWN_FUNCTION: Final = 4
"""Names of a module from which a function with its globals pays for the call."""


def compile_guard(
    reads: tuple[Dependency, ...], otherwise: Callable[[], bool]
) -> Callable[[], bool]:
    """Return a function that looks each location up and compares by `is`.

    Args:
        reads: the locations.
        otherwise: decides where a condition fails.
    """
    names = [at for at, _ in reads if isinstance(at, Global)]
    counted = Counter(id(at.namespace) for at in names)
    modules = {id(at.namespace): at.namespace for at in names}
    ordered = [modules[key] for key, _ in counted.most_common()]
    cells = {
        id(cell): cell
        for at, _ in reads
        if isinstance(at, Cell) and (cell := at.cell) is not None
    }
    main = _GuardCompiler(ordered[0] if ordered else {}, reads, cells.values())
    others = {
        id(module): _GuardCompiler(module, reads)
        for module in ordered[1:]
        if counted[id(module)] >= _OWN_FUNCTION
    }
    # First the special methods: while they are unchanged, attributes run no user code.
    for read in sorted(reads, key=lambda r: not isinstance(r.location, SpecialMethods)):
        at = read.location
        own = others.get(id(at.namespace)) if isinstance(at, Global) else None
        (own or main).add(read)
    for compiler in others.values():
        main.condition(f"{main.hold(compiler.function())}()")
    return main.function(otherwise)


@final
class _GuardCompiler:
    """Compiles one guard function.

    Args:
        module: its globals.
        reads: all locations, whose names it does not use for its own.
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
        self._conditions: dict[str, None] = {}  # unique, in order
        self._of_owners: dict[int, tuple[str, str, dict[str, None]]] = {}
        self._late: dict[str, None] = {}  # the slowest come last
        self._held: dict[int, tuple[str, Any]] = {}
        self._cells = {  # a function has them in the order of their names
            f"{self._prefix}c{i:04}": cell for i, cell in enumerate(cells)
        }
        self._dicts: dict[int, dict[str, Any]] = {}
        self._compared = {  # classes whose names are all compared
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
        elif seen.is_strict:
            self._late[self._by_value(read)] = None
        elif seen.value is GONE:
            if at.owner is not None:
                self.condition("False")
        elif isinstance(at, Global):
            self.condition(self._global(at, seen))
        elif isinstance(at, Cell):
            self._cell(at, read)
        elif isinstance(at, FunctionPart):
            if isinstance(at.parent, Root):  # its versions may not keep it alive
                self._owned(at, self._function_part("{}", at, seen))
            else:
                self.condition(self._function_part(self.hold(at.owner), at, seen))
        elif isinstance(at, ClassAttribute):
            self._class_attribute(at, read)
        elif isinstance(at, SpecialMethods):
            names = self._dict(at.owner)
            self.condition(f"[*{self.hold(names)}] == {self.hold([*names])}")
            if has_plain_mro(at.owner):
                self._same_bases(at.owner)
        elif isinstance(at, MissingNames):
            self._absent(at, read)
        elif isinstance(at, TypeOf):
            self._owned(at, f"{self.hold(type)}({{}}) is {self.hold(seen.value)}")
        elif isinstance(at, Attribute):
            self._attribute(at, read)
        elif isinstance(at, Item):
            self.condition(self._item(at, read))
        else:
            self.condition(self._by_value(read))

    def _dict(self, cls: type) -> dict[str, Any]:
        known = self._dicts.get(id(cls))
        if known is None:
            known = self._dicts[id(cls)] = dict_of_class(cls)
        return known

    # ---- conditions ----

    def _by_value(self, read: Dependency) -> str:
        return f"{self.hold(HoldsByValue(read))}()"

    def _is(self, expression: str, seen: RecordedValue) -> str:
        """Return the condition that an expression gives the very value."""
        reference = seen.reference
        if reference is None or issubclass(seen.kind, OF_PROGRAMS):
            return f"{expression} is {self.hold(seen.value)}"
        return f"{expression} is {self.hold(reference)}() is not None"

    def _global(self, at: Global, seen: RecordedValue) -> str:
        name, names = at.name, at.namespace
        if seen.value is MISSING:
            absent = f"{name!r} not in {self.hold(names)}"
            if at.is_builtin:
                absent += f" and {name!r} not in {self.hold(vars(builtins))}"
            return absent
        is_from_builtins = at.is_builtin and name not in names
        is_visible = is_from_builtins or name not in vars(builtins)
        if names is self._globals and is_name(name) and is_visible:
            return self._is(name, seen)
        if is_from_builtins:
            self.condition(f"{name!r} not in {self.hold(names)}")
            names = vars(builtins)
        return self._is(f"{self.hold(names)}[{name!r}]", seen)

    def _cell(self, at: Cell, read: Dependency) -> None:
        cell = at.cell
        if cell is None:
            return
        if read.seen.value is MISSING:
            self.condition(self._by_value(read))
            return
        name = next(name for name, held in self._cells.items() if held is cell)
        self.condition(self._is(name, read.seen))

    def _function_part(
        self, function: str, at: FunctionPart, seen: RecordedValue
    ) -> str:
        if at.name in OF_FUNCTIONS:
            return self._is(f"{function}.{at.name}", seen)
        if seen.value is MISSING:
            return f"{at.name!r} not in {function}.__dict__"
        return self._is(f"{function}.__dict__[{at.name!r}]", seen)

    def _same_bases(self, cls: type) -> None:
        self.condition(f"{self.hold(cls)}.__mro__ is {self.hold(bases_of(cls))}")

    def _class_attribute(self, at: ClassAttribute, read: Dependency) -> None:
        cls, name, seen = at.owner, at.name, read.seen
        if name in OF_TYPES:
            if is_fixed(cls):
                return
            if has_plain_name(cls, name) and getattr(cls, name) is seen.value:
                self.condition(f"{self.hold(cls)}.{name} is {self.hold(seen.value)}")
            else:
                self.condition(f"{self.hold(at.get)}() == {self.hold(seen.value)}")
            return
        if not has_plain_mro(cls):
            self.condition(self._by_value(read))
            return
        if id(cls) not in self._compared:
            self._same_bases(cls)
        holder = defining_class(cls, name)
        for base in bases_of(cls):
            if base is holder:
                break
            if base is not object and id(base) not in self._compared:
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
            name = f"{self._prefix}o{len(self._of_owners)}"
            binding = f"({name} := {self.hold(cast('Owned', at).standin)}())"
            known = self._of_owners[id(owner)] = name, binding, {}
        name, binding, texts = known
        if isinstance(at, TypeOf):  # before its attributes
            texts = {text.format(name): None, **texts}
            self._of_owners[id(owner)] = name, binding, texts
        else:
            texts[text.format(name)] = None

    def _attribute(self, at: Attribute, read: Dependency) -> None:
        owner, name = at.owner, at.name
        if owner is None:
            return
        kind = class_of(owner)
        if read.seen.value is not MISSING and is_read_plainly(kind, name):
            self._owned(at, self._is(f"{{}}.{name}", read.seen))
        else:
            self._owned(at, self._by_value(read))

    def _absent(self, at: MissingNames, read: Dependency) -> None:
        owner = at.owner
        kind = class_of(owner)
        if owner is None:
            return
        if issubclass(kind, type):
            if not has_plain_mro(owner):
                self.condition(self._by_value(read))
                return
            if id(owner) not in self._compared:
                self._same_bases(owner)
            for base in bases_of(owner):
                if base is not object and id(base) not in self._compared:
                    held = self.hold(self._dict(base))
                    self.condition(self._lacks(held, at.name))
        elif kind is dict:
            self.condition(self._lacks(self.hold(owner), at.name))
        elif kind is FunctionType or has_plain_dict(kind):
            self._owned(at, self._lacks("{}.__dict__", at.name))
        else:
            self._owned(at, self._by_value(read))

    def _lacks(self, held: str, names: frozenset[str]) -> str:
        """Return the condition that a dictionary has none of some names."""
        if len(names) > 1:
            return f"{self.hold(names)}.isdisjoint({held})"
        return f"{next(iter(names))!r} not in {held}"

    def _item(self, at: Item, read: Dependency) -> str:
        kind, key, seen = class_of(at.container), at.name, read.seen
        is_missing = seen.value is MISSING
        if id(kind) not in PLAIN or (is_missing and kind is not dict):
            return self._by_value(read)
        held = self.hold(at.container)
        text = repr(key) if type(key) in (str, int, bool) else self.hold(key)
        if is_missing:
            return f"{text} not in {held}"
        return self._is(f"{held}[{text}]", seen)

    def _contents(self, at: Contents, seen: RecordedItems) -> str:
        items, kind = seen.items, class_of(at.container)
        if issubclass(kind, IMMUTABLE) and seen.rest is None:
            return "True"  # the same one has the same items
        is_strict = at.is_strict or any(x.is_strict for x in items)
        is_plain = kind is list or kind is dict
        is_empty = id(kind) in CONTAINERS and not length_of(at.container)
        if is_empty and not items and seen.rest is None and kind is not PROXY:
            return f"not {self.hold(at.container)}"
        if seen.rest is not None or is_strict or not is_plain:
            return f"{self.hold(SameItems(at, seen))}()"
        name = self.hold(at.container)
        step = 1 if kind is list else 2
        values, size = seen.value, f"{self.hold(len)}({name}) == {len(items) // step}"
        now = name if kind is list else f"{name}.values()"
        if any(x.reference is not None for x in items):
            getters = self.hold(tuple(map(_getter, items[step - 1 :: step])))
            pairs = f"{self.hold(map)}({self.hold(call)}, {getters})"
            same = f"{self._all_same(now, pairs)} and {self._none_is_dead(now, items)}"
        elif kind is list and _NUMBERS.issuperset(map(id, map(class_of, values))):
            packed = dumps(list(values), _FORMAT)
            return f"{self.hold(dumps)}({name}, {_FORMAT}) == {self.hold(packed)}"
        elif kind is list and len(values) <= _UNROLLED:
            each = [f"{name}[{i}] is {self.hold(x)}" for i, x in enumerate(values)]
            return " and ".join((size, *each))
        else:
            same = self._all_same(now, self.hold(values[step - 1 :: step]))
        if kind is dict:
            same = f"{self._all_same(name, self.hold(values[::2]))} and {same}"
        return f"{size} and {same}"

    def _none_is_dead(self, now: str, items: Sequence[RecordedValue]) -> str:
        """Return the condition that no item is dead: a dead one would equal a new None.

        Where no None was recorded, there is none now: half the time of a look at each
        weak reference.
        """
        each = now
        if any(x.kind is NoneType for x in items):
            weak = tuple([x.reference for x in items if x.reference is not None])
            each = f"{self.hold(map)}({self.hold(call)}, {self.hold(weak)})"
        never = f"{self.hold(is_not)}, {each}, {self.hold(repeat(None))}"
        return f"{self.hold(all)}({self.hold(map)}({never}))"

    def _all_same(self, now: str, recorded: str) -> str:
        """Return the condition that two iterables give the very same objects."""
        pairs = f"{self.hold(map)}({self.hold(is_)}, {now}, {recorded})"
        return f"{self.hold(all)}({pairs})"

    def function(self, otherwise: Callable[[], bool] | None = None) -> Any:
        """Return the function; where a condition fails, `otherwise` decides."""
        conditions = [*self._conditions]
        for _, binding, texts in self._of_owners.values():
            conditions.append(f"({binding} is None or ({' and '.join(texts)}))")
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
    """Return a function in C that gives an item."""
    return seen.reference or repeat(seen.value).__next__


_NUMBERS: Final = ids_of(int, float, bool, complex, type(None))
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
_FILE: Final = f"{__file__}:guard"  # in imprint, so its code is not user code


@lru_cache(maxsize=1024)
def _compiled(text: str) -> CodeType:
    """Return the code of the guard in a text. To compile one takes 100 µs and more."""
    module = compile(text, _FILE, "exec", dont_inherit=True)
    (make,) = (c for c in module.co_consts if isinstance(c, CodeType))
    (guard,) = (c for c in make.co_consts if isinstance(c, CodeType))
    return guard
