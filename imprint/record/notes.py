"""Notes: the places that a trace read, each with what stood there before.

A place is noted once, at the first time that some code that reads it is about to run. A
chain of attributes is followed as far as it leads through the user's modules, classes,
functions and objects; what is a library's counts only when the trace is strict.
"""

import builtins
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, Final, final

from imprint.core.libraries import (
    is_library_value,
    is_module,
    is_user_class,
    is_user_namespace,
    module_namespace,
)
from imprint.record.reach import instance_dict
from imprint.watch.captures import contained
from imprint.watch.places import (
    MISSING,
    ClassPlace,
    FunctionPlace,
    Key,
    NamePlace,
    Place,
    defining_class,
)
from imprint.watch.places import class_attribute as attribute_of_class
from imprint.watch.seen import Read, Seen, class_of

_LOOSE: Final = 64
"""Items of containers whose classes are looked at."""


@final
class Notes:
    """The places that a trace read.

    Args:
        on_value: is told of each value that stands at a place.
        strict: whether libraries and the contents of arrays and objects count.
    """

    def __init__(self, on_value: Callable[[Any], None], *, strict: bool) -> None:
        self.reads: dict[Key, Read] = {}
        self._skipped: set[Key] = set()
        self._on_value = on_value
        self._strict = strict

    def place(self, place: Place, before: Any = MISSING) -> Any:
        """Note a place once, with its value before; return its value now."""
        value = place.get()
        key = place.key
        if key not in self.reads:
            seen = value if before is MISSING else before
            self.reads[key] = read = Read(place, Seen(seen, strict=self._strict))
            read.seen.note_parts()
            self._on_value(value)
        return value

    def name(self, namespace: dict[str, Any], name: str) -> Any:
        """Note a name of a module, unless it is just the way to a library."""
        value = namespace.get(name, MISSING)
        key = "global", id(namespace), name
        if key in self.reads or key in self._skipped:
            return value
        builtin = value is MISSING and name in vars(builtins)
        if self._strict or not (builtin or is_library_value(name, value)):
            self.place(NamePlace(namespace, name))
            return self.place(NamePlace(builtins.__dict__, name)) if builtin else value
        self._skipped.add(key)
        return value

    def class_attribute(self, cls: type, name: str) -> Any:
        """Note what a class answers under a name, or that it does not answer yet."""
        owner = defining_class(cls, name)
        if owner is None:  # then `__getattr__` answers, as long as there is none
            counts = attribute_of_class(cls, "__getattr__") is not MISSING
            owner = cls
        else:
            counts = True
        if counts and (self._strict or is_user_class(owner)):
            return self.place(ClassPlace(cls, name))
        return MISSING

    def _of_class(self, cls: Any, name: str) -> Any:
        """Note what a class answers under a name: its own, or its metaclass's."""
        meta = class_of(cls)
        owner = defining_class(meta, name)
        if defining_class(cls, name) is None and owner and is_user_class(owner):
            self.place(ClassPlace(cls, name))  # it may come to be
            return self.class_attribute(meta, name)
        return self.class_attribute(cls, name)

    def _of_function(self, function: FunctionType, name: str) -> Any:
        place = FunctionPlace(function, name)
        own = name in function.__dict__ or place.get() is MISSING
        return self.place(place) if own else MISSING

    def _loose(self, value: Any, names: tuple[str, ...]) -> None:
        """Note attributes that are read from something, perhaps from what is in `value`.

        In `for layer in LAYERS: layer.rate` no chain leads to the class of a layer.
        """
        for owner in _owners_in(value) if names else ():
            if is_module(owner):
                namespace = module_namespace(owner)
                for name in names:
                    if name in namespace:
                        self.name(namespace, name)
            else:
                for name in names:
                    self.class_attribute(owner, name)

    def follow(
        self, value: Any, attributes: tuple[str, ...], loose: tuple[str, ...]
    ) -> None:
        """Note attributes of modules, classes and functions, as far as a chain goes."""
        self._loose(value, loose)
        for name in attributes:
            kind = class_of(value)
            if name == "__class__":
                value = kind
            elif issubclass(kind, ModuleType):
                namespace = module_namespace(value)
                if not (self._strict or is_user_namespace(namespace)):
                    return
                value = self.name(namespace, name)
                if value is MISSING:
                    self.name(namespace, "__getattr__")
            elif issubclass(kind, type):
                value = self._of_class(value, name)
            elif kind is FunctionType:
                value = self._of_function(value, name)
            else:
                held = instance_dict(value)
                value = held[name] if name in held else self.class_attribute(kind, name)
            self._loose(value, loose)


def _owners_in(value: Any) -> Iterator[Any]:
    """Yield the user's modules and classes that attributes of `value` can come from.

    `value` may be one, an object, or a container of some.
    """
    queue = [value]
    seen: set[int] = set()
    for each in queue:  # it grows
        kind = class_of(each)
        owner: Any = each if issubclass(kind, type | ModuleType) else kind
        if id(owner) not in seen and is_user(owner):
            seen.add(id(owner))
            yield owner
        if len(queue) < _LOOSE:
            queue += contained(each)[:_LOOSE]


def is_user(owner: Any) -> bool:
    """Tell whether a class or a module is the user's."""
    if is_module(owner):
        return is_user_namespace(module_namespace(owner))
    return is_user_class(owner)
