"""`filter_vmap`: batching of functions of models.

Leaves with a mapped axis go through `vmap`; strings, functions and numbers bypass it. Axes
are prefixes of trees whose leaves may be functions, such as `if_array(0)`.
"""

import dataclasses
import inspect
from collections.abc import Callable, Hashable
from typing import Any, ParamSpec, TypeVar, cast, overload

from imprint._src.core.functions import check_function, name_of
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.interpreters.vmap import vmap
from imprint._src.module.callables import Wrapper
from imprint._src.module.filters import combine, is_array, is_none, partition
from imprint._src.numpy.shapes.reshape import moveaxis
from imprint._src.tree import internal as tree

P = ParamSpec("P")
R = TypeVar("R")


@dataclasses.dataclass(frozen=True)
class if_array:  # noqa: N801 - Equinox's name
    """The axis for arrays, and None for everything else; for `filter_vmap`.

    Args:
        axis: the axis.

    Example:
        >>> import imprint.numpy as inp
        >>> from imprint.module import if_array
        >>> if_array(1)(inp.ones((2, 3))), if_array(1)("text")
        (1, None)
    """

    axis: int

    def __call__(self, x: Any) -> int | None:
        """Return the axis if `x` is an array."""
        return self.axis if is_array(x) else None


@overload
def filter_vmap(
    fun: Callable[P, R],
    *,
    in_axes: Any = if_array(0),
    out_axes: Any = if_array(0),
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
) -> Callable[P, R]: ...
@overload
def filter_vmap(
    fun: None = None,
    *,
    in_axes: Any = if_array(0),
    out_axes: Any = if_array(0),
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def filter_vmap(
    fun: Callable[..., Any] | None = None,
    *,
    in_axes: Any = if_array(0),
    out_axes: Any = if_array(0),
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
) -> Callable[..., Any]:
    """Return the function that applies `fun` to each slice along an axis, at once.

    Args:
        fun: a function of any positional arguments, with any result. Leave it out to
            decorate with options.
        in_axes: which axis of each argument is mapped: a prefix of the arguments' tuple
            whose leaves are integers, None for unmapped parts, or functions from a
            leaf to one of them; or a dictionary of such by the names of parameters.
        out_axes: the position of the mapped axis in the result; a prefix of it, likewise.
        axis_name: accepted as in `imprint.vmap`.
        axis_size: the length of the mapped axis, needed if no argument is mapped.

    Returns:
        A function of the same positional arguments.

    References:
        Equinox, `equinox.filter_vmap`.

    Example:
        >>> import imprint.numpy as inp
        >>> from imprint.module import filter_vmap
        >>> filter_vmap(lambda x, scale: scale * x.sum())(inp.ones((2, 3)), 10)
        Array([30., 30.], dtype=float32)
    """

    def decorate(fun: Callable[..., Any]) -> _Mapped:
        check_function(fun, "filter_vmap")
        return _Mapped(fun, in_axes, out_axes, axis_name, axis_size)

    return decorate if fun is None else decorate(fun)


class _Mapped(Wrapper):
    """A function that is applied to slices."""

    in_axes: Any
    out_axes: Any
    axis_name: Hashable | None
    axis_size: int | None

    @filter_traceback
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        name = f"filter_vmap({name_of(self.fun)})"
        if kwargs:
            raise ArgumentError(
                f"{name}: expected positional arguments only, got the keywords "
                f"{', '.join(kwargs)}. Pass them by position."
            )
        given = _named_axes(self.in_axes, self.fun, len(args), name)
        axes = _resolved(given, args, f"{name} in_axes")
        kept, mapped = partition(args, _where_none(axes))
        found: list[Any] = []

        def inner(*mapped: Any) -> Any:
            out = self.fun(*combine(mapped, kept))
            out_axes = _resolved(self.out_axes, out, f"{name} out_axes")
            whole, sliced = partition(out, _where_none(out_axes))
            arrays, others = partition(whole, is_array)
            found[:] = [out_axes, others]
            return sliced, arrays

        inner.__name__ = name_of(self.fun)
        if self.axis_size is None and not tree.leaves(axes):
            sliced, arrays = _unmapped(inner(*mapped), name)
        else:
            batched = vmap(inner, axes, (0, None), self.axis_name, self.axis_size)
            sliced, arrays = batched(*mapped)
        out_axes, others = found

        def placed(x: Any, axis: int) -> Any:
            return _placed(x, axis, name)

        return combine(tree.map(placed, sliced, out_axes), arrays, others)


def _named_axes(in_axes: Any, fun: Any, count: int, name: str) -> Any:
    """Return axes by position, where a dictionary gives them by name."""
    if not isinstance(in_axes, dict):
        return in_axes
    given = dict(cast("dict[str, Any]", in_axes))
    names = [*inspect.signature(fun).parameters][:count]
    axes = tuple([given.pop(n, if_array(0)) for n in names])
    if given:
        raise ArgumentError(
            f"{name}: expected names of arguments in in_axes, out of {names}, got "
            f"{', '.join(map(repr, given))}. Arguments that take their default have no "
            "axis."
        )
    return axes


def _resolved(spec: Any, pytree: Any, caller: str) -> Any:
    """Return the axis of each leaf of a tree: an integer or None."""
    leaves, treedef = tree.flatten(pytree)
    specs = tree.flatten_axes(spec, treedef, caller)
    axes = [s(x) if callable(s) else s for s, x in zip(specs, leaves, strict=True)]
    for axis in axes:
        if axis is not None and type(axis) is not int:
            raise ArgumentError(
                f"{caller}: expected integers, None, and functions of a leaf that return "
                f"them, got {axis!r}. To map arrays alone, use imprint.if_array(0)."
            )
    return treedef.unflatten(axes)


def _where_none(axes: Any) -> Any:
    return tree.map(is_none, axes, is_leaf=is_none)


def _unmapped(result: tuple[Any, Any], name: str) -> tuple[Any, Any]:
    if tree.leaves(result[0]):
        raise ArgumentError(
            f"{name}: expected at least one mapped argument or axis_size, got none, "
            "and out_axes asks for a mapped result. Map an argument with in_axes, or "
            "pass axis_size."
        )
    return result


def _placed(x: Any, axis: int, name: str) -> Any:
    """Return a mapped result with its first axis at another place."""
    ndim = x.ndim
    if not -ndim <= axis < ndim:
        raise ShapeError(
            f"{name}: expected out_axes in [{-ndim}, {ndim}) for a result of rank "
            f"{ndim}, got {axis}."
        )
    return moveaxis(x, 0, axis) if axis % ndim else x
