"""Locations: where a value is bound by name.

A location has an owner (a module's dictionary, a function, a class, an object, a container),
a name there, and a parent: the location at which its owner is bound. It is read without
running user code. Objects, functions and classes are held weakly. `on` gives the same
location of another owner, which finds the versions of a re-created function.
"""

import builtins
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable
from types import CellType, FunctionType
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, final

from imprint._src.core.identity import identity, module_name
from imprint._src.jit.fingerprint.layout import instance_dict, layout_of
from imprint._src.jit.fingerprint.raw_access import (
    GONE,
    LIMIT,
    MISSING,
    OF_TYPES,
    SETS,
    bases_of,
    cell_contents,
    class_attribute,
    class_of,
    contents_of,
    dict_get,
    has_attribute,
    item_of,
    module_of,
    namespace_of,
    qualname_of,
    special_methods,
    storage_of,
)

Key: TypeAlias = tuple[str, int, Any]
_LONG: Final = 200
"""Characters of a path that are shown."""


class Location:
    """A place where a value is bound.

    Attributes:
        kind: the kind of owner, for explanations.
        owner_class: the class of all owners.
        name: the name, or key, there.
        parent: the location at which the owner is bound; None for modules and roots.
        path: the owner, as a user would write it.
    """

    __slots__ = ("name", "parent", "path")
    kind: ClassVar[str]
    owner_class: ClassVar[type] = object

    def __init__(
        self, name: Any, parent: "Location | None" = None, path: str = ""
    ) -> None:
        self.name: Any = name
        self.parent: Location | None = parent
        self.path: str = path

    @property
    @abstractmethod
    def key(self) -> Key:
        """The identity of the location, while its owner lives."""

    @property
    @abstractmethod
    def owner(self) -> Any:
        """The owner; None if it is gone."""

    @property
    @abstractmethod
    def module(self) -> str:
        """The name of the module of its owner."""

    @abstractmethod
    def get(self) -> Any:
        """Return the value now, MISSING, or GONE."""

    @abstractmethod
    def on(self, owner: Any, parent: "Location | None") -> "Location":
        """Return the same location of another owner."""

    @property
    def value_path(self) -> str:
        """The value, as a user would write it."""
        if len(self.path) > _LONG:
            return f"….{self.name}"
        return f"{self.path}.{self.name}" if self.path else str(self.name)


class Owned(Location):
    """A location whose owner is held weakly.

    Attributes:
        tag: the first part of its key.
        standin: returns the owner, or None when it is gone.
    """

    __slots__ = ("standin",)
    tag: ClassVar[str]

    def __init__(
        self, owner: object, name: Any, parent: Location | None = None, path: str = ""
    ) -> None:
        self.name, self.parent, self.path = name, parent, path  # hot: no `super`
        self.standin: Callable[[], Any] = identity(owner)

    @property
    def key(self) -> Key:
        return self.tag, id(self.standin), self.name

    @property
    def owner(self) -> Any:
        return self.standin()

    @property
    def module(self) -> str:
        return module_name(class_of(self.standin()))

    def get(self) -> Any:
        owner = self.standin()
        return GONE if owner is None else self.read(owner)

    @abstractmethod
    def read(self, owner: Any) -> Any:
        """Return the value of a live owner, or MISSING."""

    def on(self, owner: Any, parent: Location | None) -> "Owned":
        return type(self)(owner, self.name, parent, self.path)


@final
class Root(Owned):
    """The traced function, or a static argument of it. It is not guarded."""

    __slots__ = ("index",)
    kind = tag = "root"

    def __init__(self, value: Any, name: str, index: int) -> None:
        super().__init__(value, name)
        self.index: int = index

    @property
    def key(self) -> Key:
        return "root", self.index, ""

    @property
    def module(self) -> str:
        return ""

    def read(self, owner: Any) -> Any:
        return owner

    def on(self, owner: Any, parent: Location | None) -> "Root":
        return Root(owner, self.name, self.index)

    def __str__(self) -> str:
        return self.name


@final
class Global(Location):
    """A name in the dictionary of a module, or of a builtin if the module lacks it."""

    __slots__ = ("is_builtin", "namespace")
    kind = "global"

    def __init__(
        self,
        namespace: dict[str, Any],
        name: str,
        *,
        is_builtin: bool = False,
        parent: Location | None = None,
    ) -> None:
        self.name, self.parent, self.path = name, parent, ""
        self.namespace: dict[str, Any] = namespace
        self.is_builtin: bool = is_builtin

    @property
    def key(self) -> Key:
        return "global", id(self.namespace), self.name

    @property
    def owner(self) -> Any:
        return self.namespace

    @property
    def module(self) -> str:
        if self.namespace is sys.modules:
            return "sys.modules"
        return str(dict_get(self.namespace, "__name__", "?"))

    def get(self) -> Any:
        value = dict_get(self.namespace, self.name, MISSING)
        if value is MISSING and self.is_builtin:
            return vars(builtins).get(self.name, MISSING)
        return value

    def on(self, owner: Any, parent: Location | None) -> "Global":
        return Global(owner, self.name, is_builtin=self.is_builtin, parent=parent)

    @property
    def value_path(self) -> str:
        return self.name

    def __str__(self) -> str:
        if self.namespace is sys.modules:
            return f"module {self.name}"
        is_builtin = self.is_builtin and self.name in vars(builtins)
        return f"{'builtin' if is_builtin else 'global'} {self.name}"


# ---- functions ----


class _OfFunction(Owned):
    __slots__ = ()
    owner_class = FunctionType

    @property
    def module(self) -> str:
        return module_of(self.standin())

    @property
    def _qualname(self) -> str:
        function = self.standin()
        return "a function" if function is None else function.__qualname__


@final
class Cell(_OfFunction):
    """A closure variable of a function."""

    __slots__ = ("index",)
    kind = tag = "closure"

    def __init__(
        self, function: FunctionType, index: int, parent: Location | None
    ) -> None:
        super().__init__(function, function.__code__.co_freevars[index], parent)
        self.index: int = index

    @property
    def key(self) -> Key:
        cell = self.cell
        return "closure", id(self.standin) if cell is None else id(cell), ""

    @property
    def cell(self) -> CellType | None:
        """The cell object."""
        function = self.standin()
        cells = None if function is None else function.__closure__
        return cells[self.index] if cells and self.index < len(cells) else None

    def get(self) -> Any:
        cell = self.cell
        return GONE if cell is None else cell_contents(cell)

    def read(self, owner: Any) -> Any:
        return cell_contents(owner.__closure__[self.index])

    def on(self, owner: Any, parent: Location | None) -> "Cell":
        return Cell(owner, self.index, parent)

    @property
    def value_path(self) -> str:
        return self.name

    def __str__(self) -> str:
        return f"closure variable {self.name} of {self._qualname}"


@final
class FunctionPart(_OfFunction):
    """The code of a function, its defaults, or an attribute."""

    __slots__ = ()
    kind = tag = "function"

    def read(self, owner: Any) -> Any:
        if self.name in OF_FUNCTIONS:
            return getattr(owner, self.name)
        return owner.__dict__.get(self.name, MISSING)

    @property
    def value_path(self) -> str:
        function = self.standin()
        return f"{'?' if function is None else function.__name__}.{self.name}"

    def __str__(self) -> str:
        noun = CALL_PARTS.get(self.name, f"attribute {self.name}")
        return f"{noun} of {self._qualname}"


CALL_PARTS: Final = {
    "__code__": "code",
    "__defaults__": "defaults",
    "__kwdefaults__": "keyword defaults",
}
"""The parts of a function that a call of it uses, in words."""
OF_FUNCTIONS: Final = frozenset(
    (*CALL_PARTS, "__name__", "__qualname__", "__doc__", "__module__", "__closure__")
) | frozenset(("__annotations__", "__type_params__")).intersection(vars(FunctionType))
"""Attributes that each function has outside of its `__dict__`."""


# ---- classes ----


class _OfClass(Owned):
    __slots__ = ()
    kind = "class"
    owner_class = type

    @property
    def module(self) -> str:
        cls = self.standin()
        return "?" if cls is None else module_name(cls)

    @property
    def _qualname(self) -> str:
        cls = self.standin()
        return "?" if cls is None else qualname_of(cls)


@final
class ClassAttribute(_OfClass):
    """An attribute of a class, its own or inherited, unbound."""

    __slots__ = ()
    tag = "class"

    def read(self, owner: Any) -> Any:
        return class_attribute(owner, self.name)

    @property
    def value_path(self) -> str:
        return f"{self._qualname}.{self.name}"

    def __str__(self) -> str:
        return f"class attribute {self.value_path}"


@final
class SpecialMethods(_OfClass):
    """The names of the special methods of a class itself, and its bases.

    `len(x)`, `x + y` and `super()` look them up without a name in the code.
    """

    __slots__ = ()
    tag = "specials"

    def __init__(self, cls: type, parent: Location | None = None) -> None:
        super().__init__(cls, "__dict__", parent)

    def read(self, owner: Any) -> Any:
        return *sorted(special_methods(owner)), *bases_of(owner)[1:]

    def on(self, owner: Any, parent: Location | None) -> "SpecialMethods":
        return SpecialMethods(owner, parent)

    def __str__(self) -> str:
        return f"special methods of {self._qualname}"


# ---- objects ----


@final
class TypeOf(Owned):
    """The class of an object."""

    __slots__ = ()
    kind = "object"
    tag = "type"

    def __init__(self, value: object, parent: Location | None, path: str) -> None:
        super().__init__(value, "__class__", parent, path)

    def read(self, owner: Any) -> Any:
        return class_of(owner)

    def on(self, owner: Any, parent: Location | None) -> "TypeOf":
        return TypeOf(owner, parent, self.path)

    def __str__(self) -> str:
        return f"{self.path}.__class__"


@final
class Attribute(Owned):
    """An attribute of an object itself."""

    __slots__ = ()
    kind = tag = "object"

    def read(self, owner: Any) -> Any:
        if self.name == "__dict__":
            return instance_dict(owner)
        if class_of(owner) is CellType:
            return cell_contents(owner)
        return layout_of(owner).get(owner, self.name, MISSING)

    @property
    def value_path(self) -> str:
        return self.path if self.name == "__self__" else super().value_path

    def __str__(self) -> str:
        return f"{self.path}.{self.name}"


@final
class Referent(Owned):
    """A referent of a value written in C, by index. It is not guarded.

    It leads through partials, bound methods, memo functions and the like.
    """

    __slots__ = ("_get",)
    kind = tag = "referent"

    def __init__(
        self,
        owner: object,
        index: int,
        get: Callable[[Any], Any],
        parent: Location | None,
        path: str,
    ) -> None:
        super().__init__(owner, index, parent, path)
        self._get = get

    @property
    def module(self) -> str:
        return ""

    def read(self, owner: Any) -> Any:
        found = self._get(owner)
        return found[self.name] if self.name < len(found) else MISSING

    def on(self, owner: Any, parent: Location | None) -> "Referent":
        return Referent(owner, self.name, self._get, parent, self.path)

    @property
    def is_item(self) -> bool:
        """Whether it is an item of a container, by its place among all."""
        return self._get is contents_of

    @property
    def value_path(self) -> str:
        return f"{self.path}[…]" if self.is_item else self.path

    def __str__(self) -> str:
        return self.path


@final
class MissingNames(Owned):
    """Names that an owner lacks, as one location.

    The owner is an object, a class, a function, or the dictionary of a module or of settings.
    """

    __slots__ = ()
    kind = "object"
    tag = "absent"

    def read(self, owner: Any) -> tuple[str, ...]:
        """Return those of the names that the owner has now, in order."""
        return (*sorted(held_names(owner, self.name)),)

    def without(self, names: Iterable[str]) -> "MissingNames":
        """Return the location of the other names."""
        rest = self.name.difference(names)
        return MissingNames(self.standin(), rest, self.parent, self.path)

    def part(self, name: str) -> Location:
        """Return the location of one name."""
        owner = self.standin()
        if issubclass(class_of(owner), type):
            return ClassAttribute(owner, name, self.parent)
        if class_of(owner) is FunctionType:
            return FunctionPart(owner, name, self.parent)
        if class_of(owner) is dict and self.parent is None:
            return Global(owner, name)
        if (
            issubclass(class_of(owner), dict)
            and dict_get(owner, name, self) is not self
        ):
            return Item(owner, name, self.parent, self.path)
        return Attribute(owner, name, self.parent, self.path)

    def __str__(self) -> str:
        return f"{self.path}.{{{', '.join(sorted(self.name))}}}"


def held_names(owner: Any, names: frozenset[str]) -> frozenset[str]:
    """Return those of some names that the owner of `MissingNames` has."""
    kind = class_of(owner)
    if kind is FunctionType:
        return names.intersection((*owner.__dict__, *OF_FUNCTIONS))
    if issubclass(kind, type):
        found = names.intersection(OF_TYPES)
        return found.union(*map(names.intersection, map(namespace_of, bases_of(owner))))
    layout = layout_of(owner)
    held = names.intersection(layout.names(owner))  # with slots that are not set
    held = frozenset(n for n in held if layout.get(owner, n, MISSING) is not MISSING)
    if kind is not dict and not answers_keys(kind):
        return held
    keys = contents_of(owner, None)[::2]
    return held.union(names.intersection([key for key in keys if type(key) is str]))


def answers_keys(cls: Any) -> bool:
    """Return whether a class of dictionaries answers keys as attributes, as Munch does."""
    return has_attribute(cls, "__getattr__") and issubclass(cls, dict)


# ---- containers ----


class _OfContainer(Location):
    """A location in a container, which is held strongly."""

    __slots__ = ("container",)
    kind = "object"

    def __init__(
        self, container: Any, name: Any, parent: Location | None, path: str
    ) -> None:
        self.name, self.parent, self.path = name, parent, path
        self.container: Any = container

    @property
    def owner(self) -> Any:
        return self.container

    @property
    def module(self) -> str:
        return module_name(class_of(self.container))


@final
class Item(_OfContainer):
    """An item of a dictionary under a key, or of a list at an index."""

    __slots__ = ()

    @property
    def key(self) -> Key:
        return "item", id(self.container), (type(self.name), self.name)

    def get(self) -> Any:
        return item_of(self.container, self.name)

    def on(self, owner: Any, parent: Location | None) -> "Item":
        return Item(owner, self.name, parent, self.path)

    @property
    def value_path(self) -> str:
        key = "…" if storage_of(self.container) in SETS else repr(self.name)
        return f"{self.path}[{key}]"

    def __str__(self) -> str:
        return self.value_path


@final
class Contents(_OfContainer):
    """The items of a container, as a tuple; of a dictionary, keys and values in turn."""

    __slots__ = ("is_strict",)

    def __init__(
        self,
        container: Any,
        parent: Location | None,
        path: str,
        *,
        is_strict: bool = False,
    ) -> None:
        super().__init__(container, "<items>", parent, path)
        self.is_strict: bool = is_strict

    @property
    def key(self) -> Key:
        return "contents", id(self.container), ""

    def get(self) -> Any:
        return contents_of(self.container, LIMIT if not self.is_strict else None)

    def on(self, owner: Any, parent: Location | None) -> "Contents":
        return Contents(owner, parent, self.path, is_strict=self.is_strict)

    @property
    def value_path(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path


# ---- names ----


class LocationName(NamedTuple):
    """A location, as a user would name it.

    Args:
        kind: of the owner: "global", "closure", "class", "function" or "object".
        name: the location: `global CFG['rate']`, `model.rate`.
        module: the module that it is in; empty if the name says enough.
    """

    kind: str
    name: str
    module: str

    def __str__(self) -> str:
        return f"{self.name} in {self.module}" if self.module else self.name


def location_name(location: Location) -> LocationName:
    """Return a location as a user would name it; an item of a container, by its path."""
    at: Location = location
    if isinstance(location, Contents) and location.parent is not None:
        at = location.parent
    head = at
    while isinstance(head, Item | Contents) and head.parent is not None:
        head = head.parent
    if isinstance(head, Cell):
        is_own = isinstance(head.parent, Root)
        of = "" if is_own else str(head).removeprefix(f"closure variable {head.name}")
        name = f"closure variable {at.value_path}{of}"
        return LocationName(head.kind, name, "" if is_own else head.module)
    if isinstance(head, Global):
        path = at.value_path.removeprefix(head.value_path)
        return LocationName(head.kind, f"{head}{path}", head.module)
    return LocationName(at.kind, str(at), "" if at.kind == "object" else at.module)
