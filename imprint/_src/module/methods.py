"""Bound methods of modules, which are pytree nodes.

`jit`, `grad` and `tree.leaves` take `model.loss`: its child is the module, and its function
is static. So the body of a class keeps a function in a `Method`, which binds as functions
do, but makes a `BoundMethod`. Names like `__call__` are excluded: Python looks them up in
the class, and `model(x)` costs nothing.
"""

import functools
import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any, cast, final

from imprint._src.core.functions import name_of
from imprint._src.jit.bound_method import BoundJitted
from imprint._src.jit.dispatch import Jitted
from imprint._src.tree.registry import register_fields

_UNBOUND = (type, staticmethod, classmethod)


class _OfInstance(property):
    """A property that the class itself lacks: `inspect` reads `__signature__` of both."""

    def __get__(self, instance: Any, owner: type | None = None, /) -> Any:
        if instance is None:
            raise AttributeError("it is an attribute of instances")
        return super().__get__(instance, owner)


@final
class BoundMethod:
    """A method with the module that it was taken from. Its child is the module.

    Example:
        >>> from imprint import tree
        >>> from imprint.module import Module
        >>> class Scale(Module):
        ...     factor: float
        ...
        ...     def apply(self, x):
        ...         return self.factor * x
        >>> tree.leaves(Scale(2.0).apply), Scale(2.0).apply(3.0)
        ([2.0], 6.0)
    """

    __func__: Callable[..., Any]
    __self__: Any

    def __init__(self, func: Callable[..., Any], instance: Any) -> None:
        self.__func__ = func
        self.__self__ = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function with the module as its first argument."""
        return self.__func__(self.__self__, *args, **kwargs)

    @_OfInstance
    def __wrapped__(self) -> Callable[..., Any]:
        return MethodType(self.__func__, self.__self__)

    @_OfInstance
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.__wrapped__)

    def __getattr__(self, name: str) -> Any:
        if name == "__deepcopy__":  # of a method, not of a jitted function
            raise AttributeError(name)
        return getattr(self.__func__, name)  # `__name__`, `__doc__` and the like

    def __eq__(self, other: object) -> bool:
        if type(other) is not BoundMethod:
            return NotImplemented
        return self.__func__ == other.__func__ and self.__self__ == other.__self__

    def __hash__(self) -> int:
        return hash((self.__func__, self.__self__))

    def __repr__(self) -> str:
        return f"<bound method {qualname_of(self.__func__)} of {self.__self__!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundMethod, (self.__func__, self.__self__)

    def __imprint_token__(self) -> Any:
        """Return the token of this method inside its owner."""
        return self.__func__, self.__self__


def qualname_of(fun: Any) -> str:
    """Return the name of a function with that of its class, if it knows it."""
    name = getattr(fun, "__qualname__", None)
    return name if isinstance(name, str) else name_of(fun)


@final
class Method:
    """A function in the body of a class of modules."""

    def __init__(self, func: Callable[..., Any]) -> None:
        functools.update_wrapper(cast("Any", self), func, updated=())
        self._func = func

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self._func if instance is None else BoundMethod(self._func, instance)

    def __imprint_token__(self) -> object:
        """Return the token of this function inside its owner."""
        return self._func


def keep_methods(namespace: dict[str, Any]) -> None:
    """Put each method of a class body into a `Method`.

    The default of a field may be a function too: a dataclass takes it out again.
    """
    for name, value in namespace.items():
        namespace[name] = as_method(name, value)


def as_method(name: str, value: Any) -> Any:
    """Return an attribute of a class as it keeps it: a method as a `Method`."""
    if _is_magic(name) or isinstance(value, Method) or not _is_method(value):
        return value
    return Method(value)


def _is_magic(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_method(value: Any) -> bool:
    if isinstance(value, _UNBOUND) or not callable(value):
        return False
    if isinstance(value, BoundJitted) or (
        isinstance(value, Jitted) and value.is_filtered
    ):  # binds as a node by itself
        return False
    return hasattr(type(value), "__get__") and not hasattr(
        value, "__isabstractmethod__"
    )


register_fields(BoundMethod, ("__self__",), ("__func__",))
