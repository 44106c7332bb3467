"""Places: where running code finds a value by name.

A place is a name in a module, a closure variable, or an attribute of a class, of a
function or of an object. It is read past every hook of the user: no `__getattr__`, no
descriptor. Places hold their owner, which for a module is its dictionary; but an object
is not kept alive.
"""

import builtins
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from operator import is_
from types import (
    CellType,
    FunctionType,
    MappingProxyType,
)
from typing import Any, ClassVar, Final, TypeAlias, cast, final
from weakref import ref

from imprint.core.identity import Standin, identity, module_name
from imprint.core.libraries import is_user_class
from imprint.core.trace import Tracer
from imprint.definition.layout import layout_of
from imprint.tree.walk import registered
from imprint.watch.classes import (
    MISSING,
    Missing,
    bases_of,
    class_attribute,
    class_namespace,
    class_of,
    is_data,
    is_plain,
    qualname_of,
    specials_of,
    uncovered,
)

_get: Final = cast("Any", dict).get
"""`dict.get`: the class of a namespace may be the user's, and is not asked."""
_keys: Final = cast("Any", dict).keys
_values: Final = cast("Any", dict).values
GONE: Final = Missing("<gone>")
"""Stands for what an object had that is not alive any more."""

ORDER: Final = "__mro__"
CONTENT: Final = "<items>"
"""The name of what is in an object whose class comes from a list, a set, a dict."""
KEYS: Final = "<keys>"
"""The name of which keys there are in one that comes from a dict, all of them texts."""

Key: TypeAlias = tuple[str, int, Any]


@final
class NamePlace:
    """A name in the dictionary of a module.

    Args:
        namespace: the dictionary.
        name: the name.
        is_builtin: whether the module has no such name, so that the builtin counts,
            if there is one.
    """

    __slots__ = ("is_builtin", "name", "namespace")
    kind: ClassVar[str] = "global"

    def __init__(
        self, namespace: dict[str, Any], name: str, *, is_builtin: bool = False
    ) -> None:
        self.namespace: dict[str, Any] = namespace
        self.name: str = name
        self.is_builtin: bool = is_builtin

    @property
    def key(self) -> Key:
        """What tells places apart, as long as their owners live."""
        return "global", id(self.namespace), self.name

    @property
    def module(self) -> str:
        """The name of the module."""
        if self.namespace is sys.modules:
            return "sys.modules"
        return str(_get(self.namespace, "__name__", "?"))

    def get(self) -> Any:
        """Return the value now, or MISSING."""
        value = _get(self.namespace, self.name, MISSING)
        if value is MISSING and self.is_builtin:
            return vars(builtins).get(self.name, MISSING)
        return value

    def __str__(self) -> str:
        if self.namespace is sys.modules:
            return f"module {self.name}"
        is_builtin = self.is_builtin and self.name in vars(builtins)
        return f"{'builtin' if is_builtin else 'global'} {self.name}"


@final
class CellPlace:
    """A closure variable of a function."""

    __slots__ = ("cell", "function", "name")
    kind: ClassVar[str] = "closure"

    def __init__(self, cell: CellType, name: str, function: FunctionType) -> None:
        self.cell: CellType = cell
        self.name: str = name
        self.function: FunctionType = function

    @property
    def module(self) -> str:
        """The name of the function's module."""
        return module_of(self.function)

    @property
    def key(self) -> Key:
        """What tells places apart, as long as their owners live."""
        return "closure", id(self.cell), ""

    def get(self) -> Any:
        """Return the value now, or MISSING."""
        try:
            return self.cell.cell_contents
        except ValueError:
            return MISSING

    def __str__(self) -> str:
        return f"closure variable {self.name} of {self.function.__qualname__}"


@final
class ClassPlace:
    """An attribute of a class, its own or inherited, as the class holds it.

    Of each class it also is in which order its bases are asked, as ORDER.
    """

    __slots__ = ("cls", "name")
    kind: ClassVar[str] = "class"

    def __init__(self, cls: type, name: str) -> None:
        self.cls: type = cls
        self.name: str = name

    @property
    def key(self) -> Key:
        """What tells places apart, as long as their owners live."""
        return "class", id(self.cls), self.name

    @property
    def module(self) -> str:
        """The name of the class's module."""
        return module_name(self.cls)

    def get(self) -> Any:
        """Return the value now, or MISSING."""
        if self.name == ORDER:
            return bases_of(self.cls)
        held, kind = class_attribute(self.cls, self.name), class_of(self.cls)
        if held is MISSING or kind is type or self.name[:2] == "__":
            return held
        hiding = class_attribute(kind, self.name)
        return hiding if is_data(hiding) else held

    def __str__(self) -> str:
        return f"class attribute {qualname_of(self.cls)}.{self.name}"


@final
class SpecialsPlace:
    """Which special methods a class has itself: `len(x)`, `if x` ask by no name.

    What each of them is stands at a place of its own, where a trace came by it.

    Args:
        cls: the class.
        is_whole: whether all its names count, as code may ask for any.
    """

    __slots__ = ("cls", "is_whole", "namespace")
    kind: ClassVar[str] = "class"
    name: ClassVar[str] = "__dict__"

    def __init__(self, cls: type, *, is_whole: bool = False) -> None:
        self.cls: type = cls
        self.is_whole: bool = is_whole
        self.namespace: MappingProxyType[str, Any] = class_namespace(cls)

    @property
    def key(self) -> Key:
        """What tells places apart, as long as their owners live."""
        return "specials", id(self.cls), "*" if self.is_whole else ""

    @property
    def module(self) -> str:
        """The name of the class's module."""
        return module_name(self.cls)

    def get(self) -> Any:
        """Return their names."""
        if not self.is_whole:
            return tuple(sorted(specials_of(self.namespace)))
        held = self.namespace.copy().items()
        return tuple(
            n
            for n, value in held
            if uncovered(value) is not MISSING and n not in _ASKED_FOR
        )

    def __str__(self) -> str:
        what = "names" if self.is_whole else "special methods"
        return f"{what} of {qualname_of(self.cls)}"


@final
class FunctionPlace:
    """An attribute of a function: its code, its defaults, one that a user set; or which.

    Tools that reload modules replace the code of functions in place.
    """

    __slots__ = ("function", "name")
    kind: ClassVar[str] = "function"

    def __init__(self, function: FunctionType, name: str) -> None:
        self.function: FunctionType = function
        self.name: str = name

    @property
    def key(self) -> Key:
        """What tells places apart, as long as their owners live."""
        return "function", id(self.function), self.name

    @property
    def module(self) -> str:
        """The name of the function's module."""
        return module_of(self.function)

    def get(self) -> Any:
        """Return the value now, or MISSING."""
        if self.name == KEYS:  # which a user set
            return tuple(self.function.__dict__)
        return getattr(self.function, self.name, MISSING)

    def __str__(self) -> str:
        if self.name == KEYS:
            return f"names of {self.function.__qualname__}"
        what = WHAT_RUNS.get(self.name, f"attribute {self.name}")
        return f"{what} of {self.function.__qualname__}"


@final
class ObjectPlace:
    """An attribute that an object has of its own; or its class, or what is in it.

    Where a descriptor of its class goes before, it is that, with what it hides.

    Args:
        owner: the object.
        name: the attribute.
        path: what leads to the object, as a user would write it.
        is_passing: whether the object counts only as long as it lives: nothing that is
            watched leads to it.
    """

    __slots__ = ("_latest", "is_passing", "name", "owner", "path")
    kind: ClassVar[str] = "object"

    def __init__(
        self, owner: object, name: str, path: str, *, is_passing: bool = False
    ) -> None:
        self._latest: tuple[Any, ...] = ()
        self.owner: Standin = identity(owner)
        self.name: str = name
        self.path: str = path
        self.is_passing: bool = is_passing

    @property
    def key(self) -> Key:
        """What tells places apart, as long as they live."""
        return "object", id(self.owner), self.name

    @property
    def module(self) -> str:
        """The name of the module of its class."""
        return module_name(class_of(self.owner()))

    def get(self) -> Any:
        """Return the value now, MISSING, or GONE with the object."""
        owner = self.owner()
        if owner is None:
            return GONE
        kind = class_of(owner)
        if self.name == "__class__":
            return kind
        if self.name == "__dict__":  # the names that it has
            return tuple(layout_of(owner).names(owner))
        if self.name in _INSIDE:
            return self._items(owner)
        hiding = class_attribute(kind, self.name)
        held = layout_of(owner).get(owner, self.name, MISSING)
        if not is_data(hiding):
            return held
        # What a descriptor gives it may have from there.
        is_hidden = held is not MISSING and not issubclass(class_of(held), Tracer)
        return self._kept((hiding, held)) if is_hidden else hiding

    def _items(self, owner: Any) -> tuple[Any, ...]:
        """Return what is in the object."""
        storage: Any = layout_of(owner).storage
        if storage.__len__(owner) > _SMALL:
            return ()
        items = PLAIN_ITEMS[storage] if self.name == CONTENT else _plain_keys
        return self._kept(items(owner))

    def _kept(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the same tuple while the same is in it."""
        latest = self._latest
        if len(items) != len(latest) or not all(map(is_, items, latest)):
            self._latest = items
        return self._latest

    def hidden(self, value: Any) -> Any:
        """Return what of a value that was there a descriptor hides, or the value."""
        is_pair = value is self._latest and self.name not in {"__dict__", *_INSIDE}
        return value[1] if is_pair and value else value

    def shown(self) -> Any:
        """Return what the class shows where the object has nothing, or MISSING."""
        found = class_attribute(class_of(self.owner()), self.name)
        return found if is_plain(found) else MISSING

    def __str__(self) -> str:
        if self.name in _INSIDE:
            return f"{self.name[1:-1]} of {self.path}"
        if self.name[:1] == "_" and self._keeps_items():
            return self.path  # its items are asked for as the object's
        return f"{self.path}.{self.name}"

    def _keeps_items(self) -> bool:
        """Tell whether it is a dict in which an object of settings keeps what users set."""
        return _is_settings(self.owner()) and class_of(self.get()) is dict


_ASKED_FOR: Final = frozenset(("__annotations__", "__slotnames__"))
"""What a class has from when somebody asks for it, or copies an object of it."""
_ordered: Final = cast("Any", OrderedDict)
_SMALL: Final = 256
"""The items of what is larger do not count."""
_INSIDE: Final = CONTENT, KEYS


def _plain_keys(value: Any) -> tuple[Any, ...]:
    return (*_keys(value),)


def _iterated(cls: Any) -> Callable[[Any], tuple[Any, ...]]:
    items: Callable[[Any], Iterable[Any]] = cls.__iter__
    return lambda x: (*items(x),)


PLAIN_ITEMS: Final[dict[type, Callable[[Any], tuple[Any, ...]]]] = {
    **{cls: _iterated(cls) for cls in (list, set, deque)},
    OrderedDict: lambda x: (*_ordered.keys(x), *_ordered.values(x)),
    **dict.fromkeys((dict, defaultdict), lambda x: (*_keys(x), *_values(x))),
}
"""By the class underneath, how what is in an object is read; its class is not asked."""


@final
class ItemPlace:
    """What stands under a key of a dict, or at an index of a list, if anything does.

    Args:
        container: it, perhaps a dict of a class of the user's, whose methods are not asked.
        name: the key, a text but where a trace left something: see `settle`.
        path: what leads to the container, as a user would write it.
    """

    __slots__ = ("container", "name", "path")
    kind: ClassVar[str] = "object"

    def __init__(self, container: Any, name: Any, path: str) -> None:
        self.container: Any = container
        self.name: Any = name
        self.path: str = path

    @property
    def key(self) -> Key:
        """What tells places apart, as long as their owners live."""
        return "item", id(self.container), self.name

    @property
    def module(self) -> str:
        """The name of the module of its class."""
        return module_name(class_of(self.container))

    def get(self) -> Any:
        """Return the value now, or MISSING."""
        if class_of(self.container) is list:
            return next(iter(self.container[self.name :]), MISSING)
        return _get(self.container, self.name, MISSING)

    def __str__(self) -> str:
        return f"{self.path}[{self.name!r}]"


@final
class LeavesPlace:
    """Which of the classes that a trace met are nodes of trees by now, and were none.

    A tree is taken apart by a table of classes, of which no code reads a name.

    Args:
        classes: those that were no nodes.
    """

    __slots__ = ("_classes", "latest")
    kind: ClassVar[str] = "tree"
    name: ClassVar[str] = "<pytree nodes>"
    module: ClassVar[str] = "imprint.tree"

    def __init__(self, classes: Iterable[type]) -> None:
        self._classes: tuple[ref[type], ...] = tuple(map(ref, classes))
        self.latest: type | None = None
        """The class up to which the table was looked at, and had none of them."""

    @property
    def key(self) -> Key:
        """What tells places apart, as long as they live."""
        return "leaves", id(self), ""

    @property
    def classes(self) -> tuple[type, ...]:
        """The classes that are still alive."""
        return tuple(cls for each in self._classes if (cls := each()) is not None)

    def get(self) -> Any:
        """Return those that are nodes now."""
        latest = registered.latest
        found = tuple(cls for cls in self.classes if id(cls) in registered.threads)
        if not found:
            self.latest = latest
        return found

    def __str__(self) -> str:
        return "registered pytree nodes"


@final
class ValuePlace:
    """A callable that is no function, or a container that C gives: `path` leads to it."""

    __slots__ = ("_path", "_value", "kind")
    name: ClassVar[str] = ""

    def __init__(self, value: object, path: str = "") -> None:
        self._value, self._path = value, path
        self.kind: str = "object" if path else "definition"

    @property
    def key(self) -> Key:
        """What tells places apart, as long as their owners live."""
        return "definition", id(self._value), ""

    @property
    def module(self) -> str:
        """The name of the module of its class."""
        return module_name(type(self._value))

    def get(self) -> Any:
        """Return the value."""
        return self._value

    def __str__(self) -> str:
        return self._path or f"{type(self._value).__name__} object"


WHAT_RUNS: Final = {
    "__code__": "code",
    "__defaults__": "defaults",
    "__kwdefaults__": "keyword defaults",
}
"""What a function's token has of it, in words."""

Place: TypeAlias = (
    NamePlace
    | CellPlace
    | ClassPlace
    | SpecialsPlace
    | FunctionPlace
    | ObjectPlace
    | ItemPlace
    | LeavesPlace
    | ValuePlace
)


def module_of(function: FunctionType) -> str:
    """Return the name of the module that a function was defined in."""
    return str(_get(function.__globals__, "__name__", "?"))


def is_of_whole(place: Place) -> bool:
    """Tell whether a place counts as all does that is in its object.

    So it is in an object of a subclass of a container, and where a library keeps settings.
    """
    if isinstance(place, ItemPlace):
        return class_of(place.container) not in {dict, list}
    if not isinstance(place, ObjectPlace):
        return False
    return place.name in _INSIDE or _is_settings(place.owner())


def _is_settings(value: Any) -> bool:
    """Tell whether an object is one in which a library keeps what users set."""
    return layout_of(value).is_keeper and not is_user_class(class_of(value))
