"""Weak stand-ins that compare objects by identity.

Guards and fingerprints compare unreadable objects by identity. `id` alone is not
enough, because Python reuses it. So each live object has one stand-in, found by its
`id`, and tokens compare stand-ins. When the object dies, its stand-in leaves the table
and equals no later one. It stays in the table, dead, if the stack was full at that
time, so a lookup by `id` checks that it is alive. Objects without weak references, such
as lists, are held by their stand-in as long as a token holds it.
"""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar, Final, TypeAlias, final
from weakref import ref

_name_of_type: Final = type.__dict__["__name__"].__get__  # past any metaclass
_module_of_type: Final[Callable[[type], object]] = type.__dict__["__module__"].__get__


class InternalObject:
    """An object of imprint itself: only its `__wrapped__` reaches user code."""

    __slots__ = ()


@final
class WeakStandin(ref[Any]):
    """The stand-in of an object with weak references. Compared by identity."""

    __slots__ = ("key", "kind")
    __eq__: ClassVar[Callable[[object, object], bool]] = object.__eq__
    __ne__: ClassVar[Callable[[object, object], bool]] = object.__ne__
    __hash__: ClassVar[Callable[[object], int]] = object.__hash__
    key: int
    kind: str


@final
class StrongStandin:
    """The stand-in of an object without weak references. Compared by identity."""

    __slots__ = ("__weakref__", "kind", "value")

    def __init__(self, value: object) -> None:
        self.value: object = value
        self.kind: str = type_name(type(value))

    def __call__(self) -> object:
        """Return the object, as a weak reference does."""
        return self.value


Standin: TypeAlias = WeakStandin | StrongStandin


def identity(value: object) -> Standin:
    """Return the one stand-in of a live object."""
    key = id(value)
    found = _weak.get(key)
    if found is not None:
        if found() is not None:
            return found
        _forget(found)
    pinned = _pinned.get(key)
    standin = None if pinned is None else pinned()
    return _new(value, key) if standin is None else standin


def namespace(names: dict[str, Any]) -> Standin:
    """Return the stand-in of a dict of globals: that of its module, if it has one.

    A dict takes no weak reference, and holding it would hold the whole module.
    """
    found = namespaces.get(id(names))
    if found is not None:
        if found() is not None:
            return found
        _forget(found)
    module: Any = _module_of(names)
    if module is None:
        return identity(names)
    standin = identity(module)
    if isinstance(standin, WeakStandin):
        namespaces[id(names)] = standin
        _names_of[standin] = id(names)
    return standin


def type_name(kind: type) -> str:
    """Return the name of a class; its metaclass is not used."""
    return str(_name_of_type(kind))


def module_name(kind: type) -> str:
    """Return the name of a class's module; empty if it has none, as one made in C may."""
    try:
        found = _module_of_type(kind)
    except AttributeError:
        return ""
    return found if type(found) is str else ""


def ids_of(*classes: type) -> frozenset[int]:
    """Return the `id` of classes, for lookups that call no metaclass."""
    return frozenset(map(id, classes))


def _new(value: object, key: int) -> Standin:
    try:
        standin = WeakStandin(value, _forget)
    except TypeError:
        pinned = StrongStandin(value)
        _pinned[key] = ref(pinned, lambda dead: _forget_pinned(key, dead))
        return pinned
    standin.key = key
    standin.kind = type_name(type(value))
    return _weak.setdefault(key, standin)


def _forget(dead: Any) -> None:
    if not _weak:  # None while the interpreter goes down
        return
    if _weak.get(dead.key) is dead:
        _weak.pop(dead.key, None)
    names = _names_of.pop(dead, None)
    if names is not None:
        namespaces.pop(names, None)


def _forget_pinned(key: int, dead: object) -> None:
    if _pinned.get(key) is dead:
        _pinned.pop(key, None)  # another thread may have been here


def _module_of(names: dict[str, Any]) -> ModuleType | None:
    name = names.get("__name__")
    module = sys.modules.get(name) if type(name) is str else None
    return module if type(module) is ModuleType and vars(module) is names else None


# Tables of live objects, not state: each entry leaves with its object.
_weak: Final[dict[int, WeakStandin]] = {}
_pinned: Final[dict[int, ref[StrongStandin]]] = {}
namespaces: Final[dict[int, WeakStandin]] = {}
"""The stand-ins of modules, by the `id` of the module dict. Hot."""
_names_of: Final[dict[WeakStandin, int]] = {}
