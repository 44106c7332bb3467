"""Classes: what does a class hold under a name, past every hook of the user?

No metaclass and no descriptor is asked. What stands in a class for a while, to tell who
reads it (`Cover`), is looked behind.
"""

from collections.abc import Callable
from types import (
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
)
from typing import Any, Final, cast

from imprint.core.identity import ids_of
from imprint.core.libraries import is_user_class
from imprint.definition.layout import OF_EXCEPTIONS

bases_of: Final[Callable[[type], tuple[type, ...]]] = vars(type)["__mro__"].__get__
"""Return a class and its bases, in the order in which attributes are looked up."""
class_namespace: Final[Callable[[type], MappingProxyType[str, Any]]] = vars(type)[
    "__dict__"
].__get__
"""Return what a class itself holds, by name; copy it before it is gone through."""
qualname_of: Final[Callable[[type], str]] = vars(type)["__qualname__"].__get__
class_of: Final = cast("Callable[[Any], Any]", type)
"""`type`, for values of which nothing is known."""
subclasses_of: Final[Callable[[type], list[type]]] = type.__subclasses__
"""Return the direct subclasses of a class that are alive."""
OF_TYPES: Final[dict[str, Callable[[type], Any]]] = {
    "__name__": vars(type)["__name__"].__get__,
    "__qualname__": qualname_of,
    "__subclasses__": lambda cls: _users_subclasses(cls),
}
"""What each class has without holding it, so that its objects do not show it."""


class Missing:
    """Stands for a value where there is none.

    Args:
        text: what it prints as.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


MISSING: Final = Missing("<not defined>")
"""Stands for what is not there under a name."""


class Cover:
    """Stands in a class for what it holds, while somebody looks who reads it.

    What is hidden is MISSING where the class itself holds nothing.
    """

    __slots__ = ("hidden",)
    hidden: Any


def class_attribute(cls: type, name: str) -> Any:
    """Return what a class or a base of it holds under a name, or MISSING."""
    for owner in bases_of(cls):  # a trace asks this most: `defining_class` takes twice
        found = class_namespace(owner).get(name, MISSING)
        if found is not MISSING and (found := uncovered(found)) is not MISSING:
            return found
    return OF_TYPES[name](cls) if name in OF_TYPES else MISSING


def _users_subclasses(cls: type) -> Any:
    """Return the subclasses of a class of the user's: those of `object` are all there are."""
    return tuple(subclasses_of(cls)) if is_user_class(cls) else MISSING


def defining_class(cls: type, name: str) -> type | None:
    """Return the class in the method resolution order that holds a name."""
    for base in bases_of(cls):
        if uncovered(class_namespace(base).get(name, MISSING)) is not MISSING:
            return base
    return None


def uncovered(value: Any) -> Any:
    """Return what a class holds, past what stands there for it."""
    return value.hidden if issubclass(type(value), Cover) else value


def is_data(attribute: object) -> bool:
    """Tell whether what a class has goes before what an object has of its own.

    A slot does not: it is where the object has it, as an exception has its `args`. Nor
    does what only takes values and gives none.
    """
    kind = type(attribute)
    if id(kind) in _NO_DATA or id(attribute) in _OF_EXCEPTIONS:
        return False
    gives, takes, drops = (
        class_attribute(kind, name) is not MISSING
        for name in ("__get__", "__set__", "__delete__")
    )
    return gives and (takes or drops)


_OF_EXCEPTIONS: Final = ids_of(*OF_EXCEPTIONS.values())
_NO_DATA: Final = ids_of(
    *(MemberDescriptorType, Missing, FunctionType, staticmethod, classmethod),
    *(int, bool, float, complex, str, bytes, type(None), tuple, list, dict),
)
"""Classes of what an object may hide, so that they need not be asked."""


def is_plain(value: Any) -> bool:
    """Tell whether a class gives a value as it holds it."""
    kind = class_of(value)
    return (
        value is not MISSING
        and class_attribute(kind, "__get__") is MISSING
        and class_attribute(kind, "__set__") is MISSING
        and class_attribute(kind, "__delete__") is MISSING
    )


def specials_of(namespace: MappingProxyType[str, Any]) -> dict[str, Any]:
    """Return the special methods in what a class itself holds, by name.

    One that is None says that there is none, as `__hash__` may.
    """
    return {
        name: value
        for name, value in namespace.copy().items()
        if name[:2] == "__"
        and name != "__doc__"
        and id(class_of(value)) not in _OF_PYTHON
        and (
            value is None
            or callable(value)
            or not is_plain(value)
            or name == "__abstractmethods__"  # a class that has some makes no objects
        )
    }


_OF_PYTHON: Final = ids_of(GetSetDescriptorType, MemberDescriptorType, str, int, tuple)
"""Classes of `__dict__`, `__module__` and the like, which each class has."""
