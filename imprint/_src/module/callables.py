"""Callables that are pytree nodes: `Partial`, and the results of filtered transforms.

The function of a `Partial` is a child like its arguments, so it may be a model; JAX's
`imprint.tree.Partial` keeps its function as static data. The wrapped function of a
`Wrapper` is a child too, so the arrays of a wrapped model stay leaves: `filter_jit` traces
them, and a re-created model does not compile. In a class body a wrapper binds as a
function does.
"""

import inspect
from collections.abc import Callable
from typing import Any, cast

from imprint._src.core.functions import name_of
from imprint._src.module.methods import BoundMethod
from imprint._src.module.module import Module


class Partial(Module):
    """A callable with some of its arguments; all are children.

    Args:
        func: any callable, such as a module.
        args: the first positional arguments.
        keywords: keyword arguments.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import tree
        >>> from imprint.module import Module, Partial
        >>> class Scale(Module):
        ...     by: float
        ...
        ...     def __call__(self, x, power):
        ...         return (self.by * x) ** power
        >>> scaled = Partial(Scale(3.0), 2.0)
        >>> scaled(power=2), tree.leaves(scaled, is_leaf=callable) == [scaled]
        (36.0, True)
    """

    func: Callable[..., Any]
    args: tuple[Any, ...]
    keywords: dict[str, Any]

    def __init__(self, func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
        self.func = func
        self.args = args
        self.keywords = kwargs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function with the fixed arguments, then these."""
        return self.func(*self.args, *args, **kwargs, **self.keywords)


class Wrapper(Module):
    """The base of the callables that filtered transforms return.

    Args:
        fun: the wrapped function.
    """

    fun: Callable[..., Any]

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return self.fun

    @property
    def __name__(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] - of the instance
        return name_of(self.fun)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.fun)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else BoundMethod(cast("Any", self), instance)
