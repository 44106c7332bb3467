"""Places: where running code finds a value by name.

A place is a name in a module, a closure variable, an attribute of a class, or the code
of a function. It is read past every hook of the user: no `__getattr__`, no descriptor.
Places hold their owner, which for a module is its dictionary.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CellType, CodeType
from typing import Any, Final, TypeAlias, final

_mro_of: Final[Callable[[type], tuple[type, ...]]] = vars(type)["__mro__"].__get__
_vars_of: Final[Callable[[type], Mapping[str, Any]]] = vars(type)["__dict__"].__get__
_qualname_of: Final[Callable[[type], str]] = vars(type)["__qualname__"].__get__


class _Missing:
    """Stands for a value where there is none."""

    def __repr__(self) -> str:
        return "<not defined>"


MISSING: Final = _Missing()

Key: TypeAlias = tuple[str, int, str]


@final
@dataclass(frozen=True, slots=True)
class NamePlace:
    """A name in the dictionary of a module."""

    namespace: dict[str, Any]
    name: str

    @property
    def key(self) -> Key:
        """What tells places apart, as long as their owners live."""
        return "global", id(self.namespace), self.name

    @property
    def module(self) -> str:
        """The name of the module."""
        return str(self.namespace.get("__name__", "?"))

    def get(self) -> Any:
        """Return the value now, or MISSING."""
        return self.namespace.get(self.name, MISSING)

    def __str__(self) -> str:
        return f"global {self.name}"


@final
@dataclass(frozen=True, slots=True)
class CellPlace:
    """A closure variable of a function."""

    cell: CellType
    name: str
    function: str
    module: str

    @property
    def key(self) -> Key:
        """What tells places apart, as long as their owners live."""
        return "cell", id(self.cell), ""

    def get(self) -> Any:
        """Return the value now, or MISSING."""
        try:
            return self.cell.cell_contents
        except ValueError:
            return MISSING

    def __str__(self) -> str:
        return f"closure variable {self.name} of {self.function}"


@final
@dataclass(frozen=True, slots=True)
class ClassPlace:
    """An attribute of a class, its own or inherited, as the class holds it."""

    cls: type
    name: str

    @property
    def key(self) -> Key:
        """What tells places apart, as long as their owners live."""
        return "class", id(self.cls), self.name

    @property
    def module(self) -> str:
        """The name of the class's module."""
        return str(type.__getattribute__(self.cls, "__module__"))

    def get(self) -> Any:
        """Return the value now, or MISSING."""
        return class_attribute(self.cls, self.name)

    def __str__(self) -> str:
        return f"class attribute {_qualname_of(self.cls)}.{self.name}"


@final
@dataclass(frozen=True, slots=True)
class CodePlace:
    """The code of a Python function, which tools that reload modules replace."""

    function: Any

    @property
    def key(self) -> Key:
        """What tells places apart, as long as their owners live."""
        return "code", id(self.function), ""

    @property
    def module(self) -> str:
        """The name of the function's module."""
        return str(self.function.__globals__.get("__name__", "?"))

    def get(self) -> CodeType:
        """Return the code now."""
        return self.function.__code__

    def __str__(self) -> str:
        return f"the code of {self.function.__qualname__}"


Place: TypeAlias = NamePlace | CellPlace | ClassPlace | CodePlace


def class_attribute(cls: type, name: str) -> Any:
    """Return what a class or a base of it holds under a name, or MISSING."""
    owner = defining_class(cls, name)
    return MISSING if owner is None else _vars_of(owner).get(name, MISSING)


def defining_class(cls: type, name: str) -> type | None:
    """Return the class in the method resolution order that holds a name."""
    return next((c for c in _mro_of(cls) if name in _vars_of(c)), None)


def class_namespace(cls: type) -> Mapping[str, Any]:
    """Return what a class itself holds, by name."""
    return _vars_of(cls)
