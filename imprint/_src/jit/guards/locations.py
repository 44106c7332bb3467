"""Locations: where a value is bound by name, and how it is read.

A location has an owner (a module's dictionary, a function, a class, an object, a container),
a name there, and a parent: the location at which its owner is bound. It is read past every
hook of the user: no `__getattr__`, no property, no `==`. Objects, functions and classes are
held weakly. `on` gives the same location of another owner, by which the versions of a
function that was re-created are found again.
"""

import builtins
import sys
from abc import abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable
from types import (
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
)
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, cast, final

from imprint._src.core.identity import identity, ids_of, module_name
from imprint._src.jit.fingerprint.layout import instance_dict, layout_of

Key: TypeAlias = tuple[str, int, Any]

_dict_get: Final = cast("Any", dict).get
"""`dict.get`: the class of a namespace may be the user's, and is not asked."""
bases_of: Final[Callable[[type], tuple[type, ...]]] = vars(type)["__mro__"].__get__
"""Return the method resolution order of a class, past its metaclass."""
namespace_of: Final[Callable[[type], MappingProxyType[str, Any]]] = vars(type)[
    "__dict__"
].__get__
"""Return what a class itself holds, past its metaclass; copy it before iterating."""
qualname_of: Final[Callable[[type], str]] = vars(type)["__qualname__"].__get__
class_of: Final = cast("Callable[[Any], Any]", type)


@final
class Missing:
    """Stands for a value where there is none."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


MISSING: Final = Missing("<not defined>")
GONE: Final = Missing("<gone>")
"""Stands for what an object had that is not alive any more."""
LIMIT: Final = 256
"""Items of a container that are compared."""
_LONG: Final = 200
"""Characters of a path that are shown."""


def class_attribute(cls: type, name: str) -> Any:
    """Return what a class or a base of it holds under a name, or MISSING."""
    for base in bases_of(cls):
        found = namespace_of(base).get(name, MISSING)
        if found is not MISSING:
            return found
    getter = OF_TYPES.get(name)
    return MISSING if getter is None else getter(cls)


def is_plain(value: Any) -> bool:
    """Return whether a class answers with what it holds, as it is."""
    return (
        value is not MISSING and class_attribute(class_of(value), "__get__") is MISSING
    )


def defining_class(cls: type, name: str) -> type | None:
    """Return the class in the method resolution order that holds a name."""
    for base in bases_of(cls):
        if name in namespace_of(base):
            return base
    return None


OF_TYPES: Final[dict[str, Callable[[type], Any]]] = {
    "__name__": vars(type)["__name__"].__get__,
    "__qualname__": qualname_of,
}
"""What each class has without holding it."""


class Location:
    """A place where a value is bound.

    Attributes:
        name: the name, or key, there.
        parent: the location at which the owner is bound; None for modules and roots.
        path: the owner, as a user would write it.
    """

    __slots__ = ("name", "parent", "path")
    kind: ClassVar[str]

    def __init__(
        self, name: Any, parent: "Location | None" = None, path: str = ""
    ) -> None:
        self.name: Any = name
        self.parent: Location | None = parent
        self.path: str = path

    @property
    @abstractmethod
    def key(self) -> Key:
        """What identifies the location, as long as its owner lives."""

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
    """A place of an owner that is held weakly.

    Attributes:
        standin: gives the owner, or None when it is gone.
    """

    __slots__ = ("standin",)

    def __init__(
        self, owner: object, name: Any, parent: Location | None = None, path: str = ""
    ) -> None:
        self.name, self.parent, self.path = name, parent, path  # hot: no `super`
        self.standin: Callable[[], Any] = identity(owner)

    @property
    def owner(self) -> Any:
        return self.standin()

    @property
    def module(self) -> str:
        return module_name(class_of(self.standin()))


@final
class Root(Owned):
    """What a walk begins with: the function, or a static argument. It is not guarded."""

    __slots__ = ("index",)
    kind = "root"

    def __init__(self, value: Any, name: str, index: int) -> None:
        super().__init__(value, name)
        self.index: int = index

    @property
    def key(self) -> Key:
        return "root", self.index, ""

    @property
    def module(self) -> str:
        return ""

    def get(self) -> Any:
        value = self.standin()
        return GONE if value is None else value

    def on(self, owner: Any, parent: Location | None) -> "Root":
        return Root(owner, self.name, self.index)

    def __str__(self) -> str:
        return self.name


@final
class Global(Location):
    """A name in the dictionary of a module; of a builtin, where the module has none."""

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
        return str(_dict_get(self.namespace, "__name__", "?"))

    def get(self) -> Any:
        value = _dict_get(self.namespace, self.name, MISSING)
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


@final
class Cell(Owned):
    """A closure variable of a function."""

    __slots__ = ("index",)
    kind = "closure"

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
        """The variable itself."""
        function = self.standin()
        cells = None if function is None else function.__closure__
        return cells[self.index] if cells and self.index < len(cells) else None

    @property
    def module(self) -> str:
        return module_of(self.standin())

    def get(self) -> Any:
        cell = self.cell
        return GONE if cell is None else cell_contents(cell)

    def on(self, owner: Any, parent: Location | None) -> "Cell":
        return Cell(owner, self.index, parent)

    @property
    def value_path(self) -> str:
        return self.name

    def __str__(self) -> str:
        function = self.standin()
        name = "a function" if function is None else function.__qualname__
        return f"closure variable {self.name} of {name}"


@final
class FunctionPart(Owned):
    """The code of a function, its defaults, or an attribute."""

    __slots__ = ()
    kind = "function"

    def __init__(
        self, function: FunctionType, name: str, parent: Location | None
    ) -> None:
        super().__init__(function, name, parent)

    @property
    def key(self) -> Key:
        return "function", id(self.standin), self.name

    @property
    def module(self) -> str:
        return module_of(self.standin())

    def get(self) -> Any:
        function = self.standin()
        if function is None:
            return GONE
        if self.name in OF_FUNCTIONS:
            return getattr(function, self.name)
        return function.__dict__.get(self.name, MISSING)

    def on(self, owner: Any, parent: Location | None) -> "FunctionPart":
        return FunctionPart(owner, self.name, parent)

    @property
    def value_path(self) -> str:
        function = self.standin()
        return f"{'?' if function is None else function.__name__}.{self.name}"

    def __str__(self) -> str:
        function = self.standin()
        name = "a function" if function is None else function.__qualname__
        what = WHAT_RUNS.get(self.name, f"attribute {self.name}")
        return f"{what} of {name}"


WHAT_RUNS: Final = {
    "__code__": "code",
    "__defaults__": "defaults",
    "__kwdefaults__": "keyword defaults",
}
"""What a function has that a call of it runs or takes, in words."""
OF_FUNCTIONS: Final = frozenset(
    (*WHAT_RUNS, "__name__", "__qualname__", "__doc__", "__module__", "__closure__")
) | frozenset(("__annotations__", "__type_params__")).intersection(vars(FunctionType))
"""What each function has outside of its `__dict__`."""


@final
class ClassAttribute(Owned):
    """What a class answers under a name, its own or inherited."""

    __slots__ = ()
    kind = "class"

    def __init__(self, cls: type, name: str, parent: Location | None = None) -> None:
        super().__init__(cls, name, parent)

    @property
    def key(self) -> Key:
        return "class", id(self.standin), self.name

    @property
    def module(self) -> str:
        cls = self.standin()
        return "?" if cls is None else module_name(cls)

    def get(self) -> Any:
        cls = self.standin()
        return GONE if cls is None else class_attribute(cls, self.name)

    def on(self, owner: Any, parent: Location | None) -> "ClassAttribute":
        return ClassAttribute(owner, self.name, parent)

    @property
    def value_path(self) -> str:
        cls = self.standin()
        return f"{'?' if cls is None else qualname_of(cls)}.{self.name}"

    def __str__(self) -> str:
        return f"class attribute {self.value_path}"


@final
class SpecialMethods(Owned):
    """The names of the special methods that a class itself has, and its bases.

    `len(x)`, `x + y` and `super()` look them up without a name that code contains.
    """

    __slots__ = ()
    kind = "class"

    def __init__(self, cls: type, parent: Location | None = None) -> None:
        super().__init__(cls, "__dict__", parent)

    @property
    def key(self) -> Key:
        return "specials", id(self.standin), ""

    @property
    def module(self) -> str:
        cls = self.standin()
        return "?" if cls is None else module_name(cls)

    def get(self) -> Any:
        cls = self.standin()
        if cls is None:
            return GONE
        return *sorted(specials_of(cls)), *bases_of(cls)[1:]

    def on(self, owner: Any, parent: Location | None) -> "SpecialMethods":
        return SpecialMethods(owner, parent)

    def __str__(self) -> str:
        cls = self.standin()
        return f"special methods of {'?' if cls is None else qualname_of(cls)}"


@final
class TypeOf(Owned):
    """The class of an object."""

    __slots__ = ()
    kind = "object"

    def __init__(self, value: object, parent: Location | None, path: str) -> None:
        super().__init__(value, "__class__", parent, path)

    @property
    def key(self) -> Key:
        return "type", id(self.standin), ""

    def get(self) -> Any:
        value = self.standin()
        return GONE if value is None else class_of(value)

    def on(self, owner: Any, parent: Location | None) -> "TypeOf":
        return TypeOf(owner, parent, self.path)

    def __str__(self) -> str:
        return f"{self.path}.__class__"


@final
class Attribute(Owned):
    """An attribute that an object has of its own."""

    __slots__ = ()
    kind = "object"

    @property
    def key(self) -> Key:
        return "object", id(self.standin), self.name

    def get(self) -> Any:
        value = self.standin()
        if value is None:
            return GONE
        if self.name == "__dict__":
            return instance_dict(value)
        if class_of(value) is CellType:
            return cell_contents(value)
        return layout_of(value).get(value, self.name, MISSING)

    def on(self, owner: Any, parent: Location | None) -> "Attribute":
        return Attribute(owner, self.name, parent, self.path)

    @property
    def value_path(self) -> str:
        return self.path if self.name == "__self__" else super().value_path

    def __str__(self) -> str:
        return f"{self.path}.{self.name}"


class InContainer(Location):
    """A place in a container, which is held."""

    __slots__ = ("container",)
    kind = "object"

    def __init__(
        self, container: Any, name: Any, parent: Location | None, path: str
    ) -> None:
        super().__init__(name, parent, path)
        self.container: Any = container

    @property
    def owner(self) -> Any:
        return self.container

    @property
    def module(self) -> str:
        return module_name(class_of(self.container))


@final
class Item(InContainer):
    """What a dictionary has under a key, or a list at an index."""

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
        key = "…" if storage_of(self.container) in _SETS else repr(self.name)
        return f"{self.path}[{key}]"

    def __str__(self) -> str:
        return self.value_path


@final
class Contents(InContainer):
    """What is in a container, as a tuple; of a dictionary, keys and values in turn."""

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


@final
class Referent(Owned):
    """What a value of C's refers to, in the order of `gc.get_referents`. Not guarded.

    It leads through partials, bound methods, memo functions and the like.
    """

    __slots__ = ("_get",)
    kind = "referent"

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
    def key(self) -> Key:
        return "referent", id(self.standin), self.name

    @property
    def module(self) -> str:
        return ""

    def get(self) -> Any:
        value = self.standin()
        if value is None:
            return GONE
        found = self._get(value)
        return found[self.name] if self.name < len(found) else MISSING

    def on(self, owner: Any, parent: Location | None) -> "Referent":
        return Referent(owner, self.name, self._get, parent, self.path)

    @property
    def value_path(self) -> str:
        return f"{self.path}[…]" if self._get is contents_of else self.path

    def __str__(self) -> str:
        return self.path


class LocationName(NamedTuple):
    """A location, as a user would name it.

    Args:
        kind: "global", "closure", "class", "function" or "object": whose it is.
        name: it: `global CFG['rate']`, `model.rate`.
        module: the module that it is in; empty if its name tells enough.
    """

    kind: str
    name: str
    module: str

    def __str__(self) -> str:
        return f"{self.name} in {self.module}" if self.module else self.name


def location_name(location: Location) -> LocationName:
    """Return a location as a user would name it; what is in a container, by its path."""
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


# ---- reading ----


def module_of(function: FunctionType | None) -> str:
    """Return the name of the module that a function was defined in."""
    names = {} if function is None else function.__globals__
    return str(_dict_get(names, "__name__", "?"))


def specials_of(cls: type) -> dict[str, Any]:
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

_SEQUENCES: Final[tuple[Any, ...]] = (list, tuple, deque)
_SETS: Final[tuple[Any, ...]] = (set, frozenset)
CONTAINERS: Final = ids_of(
    *_SEQUENCES, *_SETS, dict, OrderedDict, cast("type", MappingProxyType)
)


def cell_contents(cell: CellType) -> Any:
    """Return what is in a cell; MISSING if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def storage_of(value: Any) -> Any:
    """Return the container class underneath a value; None if it is no container."""
    kind = class_of(value)
    if id(kind) in CONTAINERS:
        return dict if kind is OrderedDict else kind
    if kind is type(None) or not issubclass(kind, _ALL):
        return None
    return next(each for each in _ALL if issubclass(kind, each))


_ALL: Final[tuple[Any, ...]] = (*_SEQUENCES, *_SETS, dict)


def is_mapping(container: Any) -> bool:
    """Return whether a container has keys."""
    return storage_of(container) in (dict, MappingProxyType)


def length_of(container: Any) -> int:
    """Return how many items a container has, past its own methods."""
    storage: Any = storage_of(container)
    return len(container) if storage is MappingProxyType else storage.__len__(container)


def item_of(container: Any, key: Any) -> Any:
    """Return what a container has under a constant key, past its own methods."""
    storage: Any = storage_of(container)
    if storage is dict:
        return _dict_get(container, key, MISSING)
    if storage is MappingProxyType:
        return container.get(key, MISSING)
    if storage in _SEQUENCES and type(key) is int:
        try:
            return storage.__getitem__(container, key)
        except IndexError:
            return MISSING
    if storage in _SETS:
        return True if storage.__contains__(container, key) else MISSING
    return MISSING


def contents_of(container: Any, limit: int | None = LIMIT) -> tuple[Any, ...]:
    """Return what is in a container; nothing if it is larger than the limit."""
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
