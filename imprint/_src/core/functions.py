"""Checks of the functions and leaves that transforms take.

All transforms share these checks, with messages that name the transform. NumPy arrays
are copied on the way in, because their owner may change them later. Results leave as
arrays.
"""

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

from imprint._src.bootstrap import hooks
from imprint._src.core.array_interop import conversion, shown
from imprint._src.core.aval import get_aval
from imprint._src.errors import ArgumentError
from imprint._src.tree import internal as tree

_F = TypeVar("_F", bound=Callable[..., Any])


def name_of(fun: Any) -> str:
    """Return the name that jaxprs and messages give a function."""
    name = getattr(fun, "__name__", None)
    if isinstance(name, str):
        return name
    inner = getattr(fun, "func", None)  # functools.partial
    return name_of(inner) if inner is not None else type(fun).__name__


def check_no_axes(transform: str, reduce_axes: Any) -> None:
    """Raise NotImplementedError if a transform is given `reduce_axes`, as in JAX."""
    if reduce_axes:
        raise NotImplementedError(
            f"{transform}: expected reduce_axes to be empty, as in JAX, got "
            f"{reduce_axes!r}. Sum the gradient with imprint.lax.psum."
        )


def check_function(fun: Any, transform: str, argument: str = "") -> None:
    """Raise ArgumentError unless `fun` can be traced.

    Args:
        fun: the value given as a function.
        transform: the transform that takes it.
        argument: the name of the argument, if the transform takes several functions.
    """
    if type(fun) is FunctionType:  # saves 800 ns for a re-created function
        if not fun.__code__.co_flags & _NOT_PLAIN:
            return
    elif issubclass(type(fun), staticmethod) or not callable(
        fun
    ):  # it is one, from 3.10
        hint = ""
        if type(fun) in _DECORATORS:
            hint = f" Put @{type(fun).__name__} above @imprint.{transform}."
        elif issubclass(type(fun), functools.partialmethod):
            hint = f" Give it what imprint.{transform} makes of the function instead."
        given = f" as {argument}" if argument else ""
        raise ArgumentError(
            f"{transform}: expected a function{given}, got {fun!r} of type "
            f"{type(fun).__name__}.{hint}"
        )
    if _yields(fun):
        raise ArgumentError(
            f"{transform}: expected a function that returns arrays, got the generator "
            f"function {name_of(fun)}. Return a list or tuple instead of yielding."
        )
    if inspect.iscoroutinefunction(fun) or inspect.isasyncgenfunction(fun):
        raise ArgumentError(
            f"{transform}: expected a function that returns arrays, got the async "
            f"function {name_of(fun)}. Write it with `def`; a call returns before its "
            "results are computed as it is."
        )


_DECORATORS = (staticmethod, classmethod, property, functools.cached_property)
_NOT_PLAIN = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def _yields(fun: Any) -> bool:
    code = getattr(fun, "__code__", None)
    if code is None:
        return inspect.isgeneratorfunction(fun)
    return bool(code.co_flags & inspect.CO_GENERATOR)


def wraps(fun: Callable[..., Any]) -> Callable[[_F], _F]:
    """Give a wrapper the name, docstring and signature of `fun`."""
    return cast("Callable[[_F], _F]", functools.wraps(fun))


def copy_leaf(x: Any, transform: str, name: str, remedy: str = "") -> Any:
    """Return an immutable leaf: NumPy arrays are copied.

    Args:
        x: the leaf.
        transform: the transform that takes it, for messages.
        name: its name in messages.
        remedy: the advice, if not to close over it and transform again.

    Raises:
        ArgumentError: it is not an array or a number.
    """
    if isinstance(x, np.ndarray):
        return hooks.numpy.asarray(x)
    try:
        get_aval(x)
    except TypeError:
        model = f" For a model, there is imprint.filter_{transform}."
        closed = remedy or (
            "Close over Python values instead: "
            f"imprint.{transform}(lambda x: f(x, option))."
        )
        raise ArgumentError(
            f"{transform}: expected arrays and numbers, got {shown(x)} as {name}. "
            f"{conversion(x, 'x') or closed}"
            f"{model if transform in _FILTERED else ''}"
        ) from None
    return x


_FILTERED = ("grad", "jvp", "value_and_grad", "vjp", "vmap")


_OUTSIDE = (
    "Return only what the computation gives; keep Python values outside, or in the aux "
    "of a function with has_aux=True."
)


def result_leaves(
    result: Any, name: str, remedy: str = _OUTSIDE
) -> tuple[list[Any], tree.TreeDef]:
    """Flatten the result of a function into leaves, each an array or a number.

    Raises:
        ArgumentError: one is neither.
    """
    leaves, treedef = tree.flatten(result)
    for i, x in enumerate(leaves):
        try:
            get_aval(x)
        except TypeError:
            where = f"result{tree.keystr(treedef.paths()[i])}"
            raise ArgumentError(
                f"{name}: expected to return arrays and numbers, got {shown(x)} as "
                f"{where}. {conversion(x, where) or remedy}"
            ) from None
    return leaves, treedef


def as_result(x: Any) -> Any:
    """Return a result as an array; transforms may have left a number as it was."""
    return hooks.numpy.asarray(x)
