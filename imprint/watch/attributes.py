"""Attributes: which of them Python looks up without code of the user's.

The guard asks for an attribute as a program does, `x.name`, where that gives what stands
there and runs nothing of the user's: no `__getattribute__`, no descriptor, no metaclass.
What the places of one guard have in common is found out once (`Objects`).
"""

import keyword
from collections import Counter
from types import MemberDescriptorType
from typing import Any, Final, final

from imprint.definition.layout import layout_of_class
from imprint.watch.classes import (
    MISSING,
    OF_TYPES,
    class_attribute,
    class_of,
    is_data,
)
from imprint.watch.places import ClassPlace, ObjectPlace
from imprint.watch.seen import Read, Strong


@final
class Objects:
    """What is known of the objects that are asked for attributes.

    Args:
        reads: the places of the guard.
    """

    def __init__(self, reads: tuple[Read, ...]) -> None:
        self.variables: dict[tuple[int, bool], str] = {}
        """By the `id` of a reference, and whether it may be gone, who has the object."""
        self.owners: dict[int, tuple[int, bool]] = {}
        """By the `id` of an object that is asked what None has not, its key there."""
        self.shown: dict[tuple[int, str], Any] = {}
        """What each class holds that its objects show as it is."""
        self.absent: Counter[int] = Counter()
        """By the `id` of a reference, how many attributes the object has not."""
        self._attributes: dict[tuple[int, str], bool] = {}
        self._hooked: dict[int, bool] = {}
        for place, seen in reads:
            if isinstance(place, ObjectPlace):
                if seen.held.get() is MISSING:
                    self.absent[id(place.owner)] += 1
                if not (place.is_passing or place.name.startswith("__")):
                    self.owners[id(place.owner())] = id(place.owner), False
            elif isinstance(place, ClassPlace) and not seen.inside:
                value = seen.held.get()
                plain = class_attribute(class_of(value), "__get__") is MISSING
                plain = plain and place.name not in OF_TYPES
                if value is not MISSING and isinstance(seen.held, Strong) and plain:
                    self.shown[id(place.cls), place.name] = value

    def has_attribute(self, cls: type, name: str) -> bool:
        """Tell whether `x.name` gives what an instance has, and runs no user's code."""
        known = self._attributes.get((id(cls), name))
        if known is None:
            known = self._attributes[id(cls), name] = _is_attribute(cls, name)
        return known

    def has_in_dict(self, cls: type, name: str) -> bool:
        """Tell whether what an instance has under a name is in its `__dict__`."""
        hooked = self._hooked.get(id(cls))
        if hooked is None:
            hooked = self._hooked[id(cls)] = is_hooked(cls)
        layout = layout_of_class(cls)
        if hooked or not layout.has_dict:
            return False
        held = class_attribute(cls, name)  # by a slot, perhaps
        return layout.has_only_dict or class_of(held) is not MemberDescriptorType


def is_answered(cls: type, name: str) -> bool:
    """Tell whether a metaclass may answer for a name before its class does."""
    metaclass = class_of(cls)
    held = class_attribute(metaclass, name)
    return held is not MISSING and (metaclass is not type or is_data(held))


def _shows(metaclass: type) -> bool:
    """Tell whether an attribute of a class is looked up without code of the user's."""
    return class_attribute(metaclass, "__getattribute__") is _GETATTRIBUTE


def shows_order(cls: type) -> bool:
    """Tell whether `cls.__mro__` gives the order of its bases, and runs no user's code."""
    metaclass = class_of(cls)
    return _shows(metaclass) and class_attribute(metaclass, "__mro__") is _ORDER


def _is_attribute(cls: type, name: str) -> bool:
    """Tell whether `x.name` gives what an instance has, and runs no user's code."""
    if is_hooked(cls) or not name.isidentifier() or keyword.iskeyword(name):
        return False
    kind = class_of(class_attribute(cls, name))
    return kind is MemberDescriptorType or class_attribute(kind, "__set__") is MISSING


def is_hooked(cls: type) -> bool:
    """Tell whether code of the user's answers for each attribute of an object."""
    return class_attribute(cls, "__getattribute__") is not OF_OBJECT


def gives(owner: object, name: str, value: object) -> bool:
    """Tell whether `OF_OBJECT` gives an attribute of an object, past its own code.

    A class in C may show the `__dict__` of another object as its own.
    """
    try:
        return OF_OBJECT(owner, name) is value
    except AttributeError:
        return False


_ORDER: Final = class_attribute(type, "__mro__")
_GETATTRIBUTE: Final = class_attribute(type, "__getattribute__")
OF_OBJECT: Final = class_attribute(object, "__getattribute__")
