"""The steps of a guard: one for each location.

A step is (kind, holder, name, value, is_weak): look `name` up in `holder`, compare with
`value`. The steps of a class, or of an object, follow one that counts them: those of a class
may be skipped while its version tag is the same, those of an object are once it is gone. No
step runs user code; what needs Python's own rules is a call of `Dependency.holds`. `core.Guard` runs
the steps in C, `python_guard` where the native core is missing.
"""

import builtins
import gc
from types import (
    CodeType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any, Final, TypeAlias, cast, final

from imprint._src.core.identity import WeakStandin, ids_of
from imprint._src.core.user_code import is_fixed
from imprint._src.jit.fingerprint.layout import instance_dict, layout_of_class
from imprint._src.jit.fingerprint.raw_access import (
    CONTAINERS,
    GONE,
    MISSING,
    OF_TYPES,
    bases_of,
    class_attribute,
    class_of,
    defining_class,
    is_data_descriptor,
    length_of,
    namespace_of,
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
    MissingNames,
    Owned,
    SpecialMethods,
    TypeOf,
    answers_keys,
)
from imprint._src.jit.guards.values import Dependency, RecordedItems, RecordedValue

Step: TypeAlias = tuple[str, Any, Any, Any, bool]
_OF_PROGRAMS: Final = FunctionType, CodeType, type, ModuleType
"""Classes of parts of a program, which a guard may keep alive."""
_PLAIN: Final = ids_of(dict, list, tuple)
_IMMUTABLE: Final[Any] = (tuple, frozenset)
_PROXY: Final[Any] = MappingProxyType
_GENERIC_READS: Final = frozenset(
    id(class_attribute(cls, "__getattribute__"))
    for cls in (
        *(object, tuple, list, dict, set, frozenset, str, bytes, int, float),
        SimpleNamespace,
    )
)
"""The `__getattribute__` of classes that read an attribute as `object` does."""


def guard_steps(reads: tuple[Dependency, ...]) -> tuple[Step, ...]:
    """Return the steps that look the locations up and compare."""
    steps = _GuardSteps()
    for read in reads:
        steps.add(read)
    return steps.ordered()


@final
class _GuardSteps:
    """The steps of one guard."""

    def __init__(self) -> None:
        self._plain: list[Step] = []
        self._classes: dict[int, tuple[type, list[Step]]] = {}
        self._owners: dict[int, tuple[Any, list[Step]]] = {}
        self._late: list[Step] = []  # the slowest

    def ordered(self) -> tuple[Step, ...]:
        """Return them: while classes are unchanged, attributes run no user code."""
        found: list[Step] = []
        for cls, steps in self._classes.values():
            found += [("class", cls, len(steps), None, False), *steps]
        found += self._plain
        for standin, steps in self._owners.values():
            is_weak = type(standin) is WeakStandin
            owner = standin if is_weak else standin()
            found += [("owner", owner, len(steps), None, is_weak), *steps]
        return *found, *self._late

    def add(self, read: Dependency) -> None:  # noqa: C901, PLR0912 - a branch for each kind
        """Add the step of one location."""
        at, seen = read
        if isinstance(at, Contents):
            self._late += _contents(at, read)
        elif at.owner is None:
            return
        elif seen.is_strict or seen.value is GONE:
            self._late.append(_by_value(read))
        elif isinstance(at, Global):
            self._global(at, seen)
        elif isinstance(at, Cell):
            is_known = at.cell is not None and seen.value is not MISSING
            step = _same("cell", at.cell, None, seen) if is_known else _by_value(read)
            self._plain.append(step)
        elif isinstance(at, FunctionPart):
            self._function_part(at, seen)
        elif isinstance(at, ClassAttribute):
            self._class_attribute(at, read)
        elif isinstance(at, SpecialMethods):
            names = _dict_of_class(at.owner)
            self._of_class(at.owner, ("names", names, (*names,), None, False))
            if _has_plain_mro(at.owner):
                self._same_bases(at.owner)
        elif isinstance(at, MissingNames):
            self._absent(at, read)
        elif isinstance(at, TypeOf):
            self._owned(at, ("type", None, None, seen.value, False))
        elif isinstance(at, Attribute):
            self._attribute(at, read)
        elif isinstance(at, Item):
            self._plain += _item(at, read)
        else:
            self._late.append(_by_value(read))

    def _global(self, at: Global, seen: RecordedValue) -> None:
        name, names, own = at.name, at.namespace, vars(builtins)
        is_from_builtins = at.is_builtin and name not in names
        if is_from_builtins or seen.value is MISSING:
            self._plain.append(_lacks(names, name))
        if seen.value is not MISSING:
            held = own if is_from_builtins else names
            self._plain.append(_same("item", held, name, seen))
        elif at.is_builtin:
            self._plain.append(_lacks(own, name))

    def _function_part(self, at: FunctionPart, seen: RecordedValue) -> None:
        if at.name in OF_FUNCTIONS:
            self._owned(at, _same("part", None, at.name, seen))
        elif seen.value is MISSING:
            self._owned(at, _lacks(None, at.name))
        else:
            self._owned(at, _same("attribute", None, at.name, seen))

    # ---- classes ----

    def _of_class(self, cls: type, step: Step) -> None:
        self._classes.setdefault(id(cls), (cls, []))[1].append(step)

    def _same_bases(self, cls: type) -> None:
        self._of_class(cls, ("bases", cls, None, bases_of(cls), False))

    def _class_attribute(self, at: ClassAttribute, read: Dependency) -> None:
        cls, name, seen = at.owner, at.name, read.seen
        if name in OF_TYPES:
            if is_fixed(cls):
                return
            is_plain = _has_plain_name(cls, name) and getattr(cls, name) is seen.value
            step = _same("part", cls, name, seen) if is_plain else _by_value(read)
            self._plain.append(step)
            return
        if not _has_plain_mro(cls):
            self._plain.append(_by_value(read))
            return
        self._same_bases(cls)
        holder = defining_class(cls, name)
        for base in bases_of(cls):
            if base is holder:
                held = _dict_of_class(base)
                self._of_class(cls, _same("item", held, name, seen))
                return
            if base is not object:
                self._of_class(cls, _lacks(_dict_of_class(base), name))

    # ---- objects ----

    def _owned(self, at: Any, step: Step) -> None:
        owner, steps = cast("Owned", at).standin, step
        known = self._owners.setdefault(id(owner), (owner, []))[1]
        if isinstance(at, TypeOf):  # before its attributes
            known.insert(0, steps)
        else:
            known.append(steps)

    def _attribute(self, at: Attribute, read: Dependency) -> None:
        owner, name, seen = at.owner, at.name, read.seen
        kind = class_of(owner)
        if seen.value is not MISSING and _is_read_plainly(kind, name):
            is_slot = name not in instance_dict(owner)
            step = "slot" if is_slot else "attribute"
            self._owned(at, _same(step, None, name, seen))
        else:
            self._owned(at, _by_value(read))

    def _absent(self, at: MissingNames, read: Dependency) -> None:
        owner, names = at.owner, at.name
        kind = class_of(owner)
        if issubclass(kind, type):
            if not _has_plain_mro(owner):
                self._plain.append(_by_value(read))
                return
            self._same_bases(owner)
            for base in bases_of(owner):
                if base is not object:
                    self._of_class(owner, _lacks(_dict_of_class(base), *names))
        elif kind is dict:
            self._plain.append(_lacks(owner, *names))
        elif kind is FunctionType or _has_plain_dict(kind):
            self._owned(at, _lacks(None, *names))
        else:
            self._owned(at, _by_value(read))


def _lacks(holder: Any, *names: Any) -> Step:
    """Return the step that a dictionary, that of the owner if None, has none of some names."""
    kind = "lacks" if holder is None else "absent"
    return kind, holder, names, frozenset(names), False


def _by_value(read: Dependency) -> Step:
    return "call", read.holds, None, None, False


def _same(kind: str, holder: Any, name: Any, seen: RecordedValue) -> Step:
    """Return the step that a location has the very value, or equal plain data."""
    value, is_weak = _held(seen)
    return kind, holder, name, value, is_weak


def _held(seen: RecordedValue) -> tuple[Any, bool]:
    """Return a value, or the weak reference to it, and which of both it is."""
    reference = seen.reference
    if reference is None or issubclass(seen.kind, _OF_PROGRAMS):
        return seen.value, False
    return reference, True


def _item(at: Item, read: Dependency) -> list[Step]:
    kind, key, seen = class_of(at.container), at.name, read.seen
    if id(kind) not in _PLAIN or (seen.value is MISSING and kind is not dict):
        return [_by_value(read)]
    if kind is tuple:  # the same one has the same items
        return []
    if seen.value is MISSING:
        return [_lacks(at.container, key)]
    return [_same("item" if kind is dict else "index", at.container, key, seen)]


def _contents(at: Contents, read: Dependency) -> list[Step]:
    seen: RecordedItems = read.seen
    items, kind = seen.items, class_of(at.container)
    if seen.rest is None:
        if issubclass(kind, _IMMUTABLE):
            return []
        is_empty = id(kind) in CONTAINERS and not length_of(at.container)
        if is_empty and not items and kind is not _PROXY:
            return [("empty", at.container, None, None, False)]
    is_strict = at.is_strict or any(x.is_strict for x in items)
    if seen.rest is not None or is_strict or (kind is not list and kind is not dict):
        return [_by_value(read)]
    if any(x.value is GONE for x in items):
        return [_by_value(read)]
    values = tuple(map(_held, items))
    weak = bytes([is_weak for _, is_weak in values])
    name = "list" if kind is list else "dict"
    return [(name, at.container, weak, tuple([x for x, _ in values]), False)]


# ---- what a step looks up itself, because that runs no user code ----


def _dict_of_class(cls: type) -> dict[str, Any]:
    """Return the dictionary of a class itself. Do not mutate it. The proxy takes 3 ×."""
    found: Any = gc.get_referents(namespace_of(cls))[0]
    return found


def _has_plain_mro(cls: type) -> bool:
    """Return whether `cls.__mro__` runs no user code."""
    return class_attribute(class_of(cls), "__mro__") is vars(type)["__mro__"]


def _has_plain_name(cls: type, name: str) -> bool:
    """Return whether `cls.__name__` is the name that Python keeps, and runs no user code."""
    kind = class_of(cls)
    plain = vars(type)
    return all(
        class_attribute(kind, each) is plain[each]
        for each in (name, "__getattribute__")
    )


def _has_plain_getattribute(cls: type) -> bool:
    """Return whether reading an attribute of an object runs no user's `__getattribute__`."""
    return id(class_attribute(cls, "__getattribute__")) in _GENERIC_READS


def _has_plain_dict(cls: type) -> bool:
    """Return whether `__dict__` shows all attributes of an object."""
    is_plain = _has_plain_getattribute(cls) and not answers_keys(cls)
    return is_plain and layout_of_class(cls).has_only_dict


def _is_read_plainly(cls: type, name: str) -> bool:
    """Return whether `x.name` gives the attribute of the object, and runs no user code."""
    if not _has_plain_getattribute(cls):
        return False
    shown = class_attribute(cls, name)
    is_slot = class_of(shown) is MemberDescriptorType
    return shown is MISSING or is_slot or not is_data_descriptor(shown)
