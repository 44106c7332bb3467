"""The reach of a value: which functions and classes it leads to.

A function that a value leads to may start while the trace runs; then it is known which
closure and which defaults it has, and by which names its class holds it. The way goes
through decorators, methods, partials and the user's classes at once, and through what
else objects hold (`roots`) when somebody asks for it, as that may be much.
"""

import functools
import gc
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any, Final, final

import numpy as np

from imprint.core.array import NumberArray
from imprint.core.identity import Inner, ids_of
from imprint.core.libraries import is_user_class, is_user_code
from imprint.definition.layout import instance_dict, layout_of
from imprint.watch.classes import class_namespace, class_of

SEARCHED: Final = 20_000
"""Objects among which closures that no name leads to are searched."""


@final
class Reach:
    """What the values that a trace saw lead to.

    Attributes:
        functions: the user's functions, by the `id` of their code.
        classes: the user's classes; it grows, and who walks it clears it.
        roots: values that may hold more functions and classes.
    """

    def __init__(self) -> None:
        self.functions: dict[int, list[FunctionType]] = {}
        self.classes: list[type] = []
        self.roots: list[Any] = []
        self._explored: dict[int, Any] = {}  # by id, so they must stay alive

    def explore(self, value: Any) -> None:
        """Remember the functions that a value leads to; they may start later."""
        kind = class_of(value)
        if id(kind) in _ATOMS or id(value) in self._explored:
            return
        self._explored[id(value)] = value
        if kind is FunctionType:
            self._explore_function(value)
        elif id(kind) in _METHODS:
            self.explore(value.__func__)
            self.explore(getattr(value, "__self__", None))
        elif kind is functools.partial:
            self.explore(value.func)
            self.roots.append(value)
        elif kind is property:
            self.explore(value.fget)
        elif issubclass(kind, type):
            self._explore_class(value)
        elif not issubclass(kind, _OPAQUE):
            self.roots.append(value)
            wrapped = instance_dict(value).get("__wrapped__")
            if wrapped is not None:
                self.explore(wrapped)

    def spread(self) -> None:
        """Explore what the roots hold: functions, and the classes of objects."""
        for value in reachable(self.roots):
            kind = class_of(value)
            self.explore(value if kind is FunctionType else kind)
        self.roots.clear()

    def every_function(self) -> list[FunctionType]:
        """Return all functions; a finalizer may start further ones meanwhile."""
        return [f for found in self.functions.copy().values() for f in found]

    def renew(self) -> None:
        """Know functions by the code that they have now, too."""
        for function in self.every_function():
            known = self.functions.setdefault(id(function.__code__), [])
            if all(f is not function for f in known):
                known.append(function)

    def _explore_function(self, function: FunctionType) -> None:
        wrapped = function.__dict__.get("__wrapped__")
        if wrapped is not None:
            self.explore(wrapped)
        code = function.__code__
        if is_user_code(code, function.__globals__):
            self.functions.setdefault(id(code), []).append(function)
        elif function.__closure__:  # as of what `singledispatch` gives
            self.roots.append(function)

    def _explore_class(self, cls: type) -> None:
        if is_user_class(cls):
            self.classes.append(cls)
            for value in class_namespace(cls).copy().values():
                if id(class_of(value)) in _DEFINED_IN_CLASSES:
                    self.explore(value)


_ATOMS: Final = ids_of(
    *(int, bool, float, complex, str, bytes, type(None), type(Ellipsis))
)
_METHODS: Final = ids_of(MethodType, staticmethod, classmethod)
_DEFINED_IN_CLASSES: Final = ids_of(FunctionType, staticmethod, classmethod, property)
_OPAQUE: Final = (type, CodeType, FrameType, ModuleType, np.ndarray, NumberArray)


def reachable(roots: Iterable[Any]) -> Iterator[Any]:
    """Yield values and what they hold, so far as the search goes."""
    queue = list(roots)
    seen = {id(root) for root in queue}
    for value in queue:  # it grows
        yield value
        for part in _parts_of(value):
            if id(part) not in seen and len(queue) < SEARCHED:
                seen.add(id(part))
                queue.append(part)


def _parts_of(value: Any) -> Iterable[Any]:
    """Return what a value holds, but not the module that a function belongs to."""
    kind = class_of(value)
    if id(kind) in _ATOMS or issubclass(kind, _OPAQUE):
        return ()
    if issubclass(kind, Inner):
        # A jitted function would lead to all others, and to what they have traced.
        return [
            x for x in (layout_of(value).get(value, "__wrapped__"),) if x is not None
        ]
    if kind is FunctionType:
        cells = value.__closure__ or ()
        return [*gc.get_referents(*cells), *(value.__defaults__ or ())]
    return gc.get_referents(value)
