"""Reading past hooks: classes, containers and cells, without running user code.

No metaclass, `__getattr__`, property, `==` or method of a subclass runs.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from types import (
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
)
from typing import Any, Final, cast, final

from imprint._src.core.identity import ids_of

class_of: Final = cast("Callable[[Any], Any]", type)
bases_of: Final[Callable[[type], tuple[type, ...]]] = vars(type)["__mro__"].__get__
"""Return the method resolution order of a class."""
namespace_of: Final[Callable[[type], MappingProxyType[str, Any]]] = vars(type)[
    "__dict__"
].__get__
"""Return the attributes of a class itself; copy them before iterating."""
qualname_of: Final[Callable[[type], str]] = vars(type)["__qualname__"].__get__
dict_get: Final = cast("Any", dict).get
ATOMS: Final = ids_of(int, bool, float, complex, str, bytes, type(None), type(Ellipsis))
LIMIT: Final = 256
"""Items of a container up to which they are compared."""


@final
class Missing:
    """A placeholder for a value."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


MISSING: Final = Missing("<not defined>")
GONE: Final = Missing("<gone>")
"""The value of an object that is no longer alive."""


# ---- classes ----

OF_TYPES: Final[dict[str, Callable[[type], Any]]] = {
    "__name__": vars(type)["__name__"].__get__,
    "__qualname__": qualname_of,
}
"""Attributes that each class has outside of its namespace."""


def class_attribute(cls: type, name: str) -> Any:
    """Return the attribute of a class or its bases, unbound, or MISSING."""
    for base in bases_of(cls):
        found = namespace_of(base).get(name, MISSING)
        if found is not MISSING:
            return found
    getter = OF_TYPES.get(name)
    return MISSING if getter is None else getter(cls)


def has_attribute(cls: type, name: str) -> bool:
    """Return whether a class or a base has an attribute."""
    return class_attribute(cls, name) is not MISSING


def defining_class(cls: type, name: str) -> type | None:
    """Return the class in the method resolution order that holds a name."""
    return next((base for base in bases_of(cls) if name in namespace_of(base)), None)


def is_plain(value: Any) -> bool:
    """Return whether a class attribute is no descriptor, so that reading it gives itself."""
    return value is not MISSING and not has_attribute(class_of(value), "__get__")


def is_data_descriptor(value: Any) -> bool:
    """Return whether a class attribute has precedence over one of the object."""
    kind = class_of(value)
    return has_attribute(kind, "__set__") or has_attribute(kind, "__delete__")


def special_methods(cls: type) -> dict[str, Any]:
    """Return the special methods that a class itself holds, by name."""
    return {
        name: value
        for name, value in namespace_of(cls).copy().items()
        if name[:2] == "__"
        and name not in _NO_METHODS
        and id(class_of(value)) not in _OF_PYTHON
        and (value is None or callable(value) or name == "__abstractmethods__")
    }


_NO_METHODS: Final = frozenset(
    ("__doc__", "__annotations__", "__annotate__", "__annotate_func__", "__classcell__")
)
_OF_PYTHON: Final = ids_of(GetSetDescriptorType, MemberDescriptorType, str, int, tuple)


# ---- functions ----


def module_of(function: FunctionType | None) -> str:
    """Return the name of the module that a function was defined in."""
    names = {} if function is None else function.__globals__
    return str(dict_get(names, "__name__", "?"))


def cell_contents(cell: CellType) -> Any:
    """Return the value of a cell; MISSING if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


# ---- containers ----

_SEQUENCES: Final[tuple[Any, ...]] = (list, tuple, deque)
SETS: Final[tuple[Any, ...]] = (set, frozenset)
_ALL: Final[tuple[Any, ...]] = (*_SEQUENCES, *SETS, dict)
CONTAINERS: Final = ids_of(*_ALL, OrderedDict, cast("type", MappingProxyType))


def storage_of(value: Any) -> Any:
    """Return the builtin container class of a value; None if it is not a container."""
    kind = class_of(value)
    if id(kind) in CONTAINERS:
        return dict if kind is OrderedDict else kind
    if kind is type(None) or not issubclass(kind, _ALL):
        return None
    return next(each for each in _ALL if issubclass(kind, each))


def is_mapping(container: Any) -> bool:
    """Return whether a container has keys."""
    return storage_of(container) in (dict, MappingProxyType)


def length_of(container: Any) -> int:
    """Return the number of items of a container."""
    storage: Any = storage_of(container)
    return len(container) if storage is MappingProxyType else storage.__len__(container)


def bound_of(value: Any) -> int | None:
    """Return the largest length of a deque, which is no item; None for other values."""
    return _maxlen(value) if issubclass(class_of(value), deque) else None


_maxlen: Final[Callable[[Any], int | None]] = vars(deque)["maxlen"].__get__


def item_of(container: Any, key: Any) -> Any:
    """Return the item under a constant key, or MISSING; True for a member of a set."""
    storage: Any = storage_of(container)
    if storage is dict:
        return dict_get(container, key, MISSING)
    if storage is MappingProxyType:
        return container.get(key, MISSING)
    if storage in _SEQUENCES and type(key) is int:
        try:
            return storage.__getitem__(container, key)
        except IndexError:
            return MISSING
    if storage in SETS:
        return True if storage.__contains__(container, key) else MISSING
    return MISSING


def contents_of(container: Any, limit: int | None = LIMIT) -> tuple[Any, ...]:
    """Return the items of a container, for a mapping keys and values in turn.

    The result is empty if there are more than `limit`.
    """
    storage: Any = storage_of(container)
    if storage is None or (limit is not None and storage.__len__(container) > limit):
        return ()
    try:
        if is_mapping(container):
            in_order = issubclass(class_of(container), OrderedDict)
            mapping: Any = OrderedDict if in_order else storage
            pairs: Any = tuple(mapping.items(container))
            return tuple(part for pair in pairs for part in pair)
        return tuple(storage.__iter__(container))
    except RuntimeError:  # another thread writes into it
        return ()
