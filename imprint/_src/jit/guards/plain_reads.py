"""Which locations a compiled guard looks up itself, because that runs no user code.

All others it compares by a call of Python: `HoldsByValue`, `SameItems`. Both kinds of guard,
in C and in Python, ask here.
"""

import gc
import keyword
from types import (
    CodeType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any, Final, final

from imprint._src.core.identity import ids_of
from imprint._src.jit.fingerprint.layout import layout_of_class
from imprint._src.jit.fingerprint.raw_access import (
    LIMIT,
    MISSING,
    class_attribute,
    class_of,
    contents_of,
    is_data_descriptor,
    namespace_of,
)
from imprint._src.jit.guards.locations import Contents, answers_keys
from imprint._src.jit.guards.values import Dependency, RecordedItems


@final
class HoldsByValue:
    """Compares one location by value."""

    __slots__ = ("_read",)

    def __init__(self, read: Dependency) -> None:
        self._read = read

    def __call__(self) -> bool:
        return self._read.holds()


@final
class SameItems:
    """Compares the items of a container by value."""

    __slots__ = ("_at", "_seen")

    def __init__(self, at: Contents, seen: RecordedItems) -> None:
        self._at, self._seen = at, seen

    def __call__(self) -> bool:
        limit = None if self._at.is_strict else LIMIT
        return self._seen.matches(contents_of(self._at.container, limit))


OF_PROGRAMS: Final = FunctionType, CodeType, type, ModuleType
"""Classes of parts of a program, which a guard may keep alive."""
PLAIN: Final = ids_of(dict, list, tuple)
IMMUTABLE: Final[Any] = (tuple, frozenset)
PROXY: Final[Any] = MappingProxyType


def dict_of_class(cls: type) -> dict[str, Any]:
    """Return the dictionary of a class itself. Do not mutate it. The proxy takes 3 ×."""
    found: Any = gc.get_referents(namespace_of(cls))[0]
    return found


def has_plain_mro(cls: type) -> bool:
    """Return whether `cls.__mro__` runs no user code."""
    return class_attribute(class_of(cls), "__mro__") is vars(type)["__mro__"]


def has_plain_name(cls: type, name: str) -> bool:
    """Return whether `cls.__name__` is the name that Python keeps, and runs no user code."""
    kind = class_of(cls)
    plain = vars(type)
    return all(
        class_attribute(kind, each) is plain[each]
        for each in (name, "__getattribute__")
    )


def _has_plain_getattribute(cls: type) -> bool:
    """Return whether reading an attribute of an object runs no `__getattribute__`."""
    return class_attribute(cls, "__getattribute__") is object.__getattribute__


def has_plain_dict(cls: type) -> bool:
    """Return whether `__dict__` shows all attributes of an object."""
    is_plain = _has_plain_getattribute(cls) and not answers_keys(cls)
    return is_plain and layout_of_class(cls).has_only_dict


def is_read_plainly(cls: type, name: str) -> bool:
    """Return whether `x.name` gives the attribute of the object, and runs no user code."""
    if not (_has_plain_getattribute(cls) and is_name(name)):
        return False
    shown = class_attribute(cls, name)
    is_slot = class_of(shown) is MemberDescriptorType
    return shown is MISSING or is_slot or not is_data_descriptor(shown)


def is_name(name: str) -> bool:
    """Return whether Python code can spell a name."""
    return name.isidentifier() and not keyword.iskeyword(name)
