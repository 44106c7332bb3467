"""Anchors: how another process finds a place again.

An owner is a module, by its name, or the node of a number, which a `Reader` met on its
way to it: so what leads to an owner is read before what the owner has. An anchor is plain
data: the kind of the place, its owner, its name, and what else makes it.
"""

import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

from imprint import dtypes
from imprint.core.identity import module_name
from imprint.core.libraries import entry, is_user_class, module_namespace
from imprint.manifest.reader import Reader, standing
from imprint.manifest.refused import Refused, Why
from imprint.watch.classes import class_namespace, defining_class
from imprint.watch.places import (
    CellPlace,
    ClassPlace,
    FunctionPlace,
    ItemPlace,
    LeavesPlace,
    NamePlace,
    ObjectPlace,
    Place,
    SpecialsPlace,
    ValuePlace,
)

Anchor = list[Any]
_LIMITS: Final = (np.finfo, np.iinfo, dtypes.finfo, dtypes.iinfo)
_qualname_of: Final[Callable[[type], str]] = vars(type)["__qualname__"].__get__


def anchor_of(reader: Reader, place: Place) -> Anchor | None:
    """Return the anchor of a place; None if nothing leads to its owner so far.

    Raises:
        Refused: nothing can.
    """
    if isinstance(place, LeavesPlace):
        return ["leaves", "", "", [*_named(reader, place.classes)]]
    if isinstance(place, NamePlace):
        owner = _namespace(reader, place.namespace)
        made: Anchor = ["name", owner, place.name, place.is_builtin]
    elif isinstance(place, CellPlace):
        owner = reader.number(place.cell)
        function = reader.number(place.function)
        if function is None:
            return None
        made = ["cell", owner, place.name, function]
    elif isinstance(place, ClassPlace):
        owner = _class(reader, place.cls)
        made = ["class", owner, place.name]
    elif isinstance(place, SpecialsPlace):
        owner = _class(reader, place.cls)
        made = ["specials", owner, "", place.is_whole]
    elif isinstance(place, FunctionPlace):
        owner = reader.number(place.function)
        made = ["function", owner, place.name]
    elif isinstance(place, ItemPlace):
        owner = _namespace(reader, place.container)
        made = ["item", owner, place.name, place.path]
    elif isinstance(place, ObjectPlace):
        owner = _object(reader, place)
        made = ["object", owner, place.name, place.path, place.is_passing]
    else:
        raise Refused(Why.OWNER, str(place))
    return None if owner is None else made


def _object(reader: Reader, place: ObjectPlace) -> Any:
    owner = place.owner()
    if owner is None:
        raise Refused(Why.OWNER, str(place))
    is_class = issubclass(type(owner), type)
    return _class(reader, owner) if is_class else reader.number(owner)


def _namespace(reader: Reader, names: Any) -> Any:
    if names is sys.modules:
        return "sys.modules"
    if not issubclass(type(names), dict):  # a list
        return reader.number(names)
    name = entry(names, "__name__")
    module: Any = sys.modules.get(name) if type(name) is str else None
    if module is not None and module_namespace(module) is names:
        return ["module", name]
    return reader.number(names)


def _class(reader: Reader, cls: Any) -> Any:
    number = reader.number(cls)
    if number is not None:
        return number
    module, name = module_name(cls), _qualname_of(cls)
    return ["class", module, name] if standing(cls, module, name) else None


def _named(reader: Reader, classes: Iterable[type]) -> Iterator[list[str]]:
    """Yield under which names classes are; a library's without one nobody registers."""
    for cls in classes:
        named = ["class", module_name(cls), _qualname_of(cls)]
        try:
            is_there = _owner(reader, named) is cls
        except (AttributeError, TypeError):  # in a function
            is_there = False
        if is_there:
            yield named
        elif is_user_class(cls):
            raise Refused(Why.OWNER, f"{named[1]}.{named[2]}")


def place_of(reader: Reader, anchor: Anchor) -> Place | None:
    """Return the place of an anchor in this process; None if there is none.

    Raises:
        Exception: there is something else than there was.
    """
    kind, found, name, *rest = anchor
    if kind == "leaves":
        classes = [_owner(reader, each) for each in rest[0]]
        return LeavesPlace([cls for cls in classes if cls is not None])
    owner = _owner(reader, found)
    if owner is None:
        return None
    if kind == "name":
        return NamePlace(owner, name, is_builtin=rest[0])
    if kind == "cell":
        return CellPlace(owner, name, reader.nodes[rest[0]])
    if kind == "specials":
        return SpecialsPlace(owner, is_whole=rest[0])
    if kind == "item":
        return ItemPlace(owner, name, rest[0])
    if kind == "object":
        path, is_passing = rest
        return ObjectPlace(owner, name, path, is_passing=is_passing)
    return ClassPlace(owner, name) if kind == "class" else FunctionPlace(owner, name)


def _owner(reader: Reader, found: Any) -> Any:
    if found == "sys.modules":
        return sys.modules
    if type(found) is int:
        return reader.nodes[found]
    what, name, *rest = found
    module: Any = sys.modules.get(name)
    if module is None:
        return None
    names: Any = module_namespace(module)
    if what == "module":
        return names
    cls: Any = None
    for step in rest[0].split("."):
        cls = names.get(step)
        names = class_namespace(cls)
    return cls


def digest_at(reader: Reader, place: Place, value: Any, *, bare: bool) -> str:
    """Return what stands for a value at a place.

    What a class has from a library's, and counts as itself, is what that calls it.

    Args:
        reader: reads the value.
        place: where it stands.
        value: it.
        bare: whether it counts as itself, whatever is inside.

    Raises:
        Refused: another process could not tell that it has the same.
    """
    base = _library_of(place) if bare else None
    if base is not None:
        return reader.digest(("inherited", base, place.name)).hex()
    return reader.digest(value, bare=bare).hex()


def _library_of(place: Place) -> type | None:
    """Return the library's class from which a class of the user's has an attribute."""
    if not isinstance(place, ClassPlace):
        return None
    base = defining_class(place.cls, place.name)
    return None if base is None or is_user_class(base) else base


def is_import(place: Place) -> bool:
    """Tell whether a place is that of a module by its full name."""
    return isinstance(place, NamePlace) and place.namespace is sys.modules


def is_constant(reader: Reader, place: Place) -> bool:
    """Tell whether what stands at a place is known, though no name leads to it.

    A function that is compiled inside another one may be a `partial` of a library's
    function and plain values; and `finfo(dtype)` gives what NumPy says of the dtype.
    """
    if isinstance(place, ObjectPlace):
        return type(place.owner()) in _LIMITS
    if not isinstance(place, ValuePlace):
        return False
    value = place.get()
    if type(value) is not functools.partial:
        return False
    other = reader.copy()
    other.digest(value)
    return len(other.nodes) == len(reader.nodes) + 1
