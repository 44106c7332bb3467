"""Partial: a function with some arguments fixed, as a node of pytrees.

The function is a child as the arguments are, so it may be a model. `imprint.tree.Partial`
is JAX's, which keeps its function as static data: that must be a function, not a model.
"""

from collections.abc import Callable
from typing import Any

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
