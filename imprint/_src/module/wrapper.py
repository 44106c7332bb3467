"""Wrapper: a function that a filtered transform has wrapped, as a node of pytrees.

What was wrapped is a child, so the arrays of a wrapped model stay leaves: `filter_jit`
traces them, and a model that is built anew compiles nothing. In a class body a wrapper
binds as a function does.
"""

import inspect
from collections.abc import Callable
from typing import Any, cast

from imprint._src.core.functions import name_of
from imprint._src.module.methods import BoundMethod
from imprint._src.module.module import Module


class Wrapper(Module):
    """The base of the callables that filtered transforms return.

    Args:
        fun: what was wrapped.
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
