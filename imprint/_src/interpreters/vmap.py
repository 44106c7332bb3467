"""`vmap`: batching of functions of pytrees.

Axes are given as prefixes of the arguments' trees. `vmap` checks that every mapped leaf has
the axis and that the lengths agree. The meaning of an axis name is in `batching`.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, ParamSpec, TypeVar

from imprint._src.core.array_interop import shown
from imprint._src.core.aval import get_aval
from imprint._src.core.dims import as_dim, at_least
from imprint._src.core.functions import (
    as_result,
    check_function,
    copy_leaf,
    name_of,
    result_leaves,
    wraps,
)
from imprint._src.core.primitive import Dims
from imprint._src.core.tangents import is_float0, no_values
from imprint._src.core.trace import NamedAxis, check_name
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.interpreters.batching import batch_flat
from imprint._src.primitives.core_ops import broadcast_in_dim, moveaxis, reduce_sum
from imprint._src.tree import internal as tree

P = ParamSpec("P")
R = TypeVar("R")

InAxes = Any

_OUTSIDE = (
    "Return only what the computation gives; keep Python values outside. For a model, "
    "there is imprint.filter_vmap."
)


def vmap(  # noqa: PLR0913, PLR0917 - JAX's signature
    fun: Callable[P, R],
    in_axes: InAxes = 0,
    out_axes: Any = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | tuple[Hashable, ...] | None = None,
    sum_match: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Callable[P, R]:
    """Return the function that applies `fun` to each slice along an axis, at once.

    Args:
        fun: a function of arrays.
        in_axes: which axis of each argument is mapped: an int, None for none, or a
            tuple with one entry for each positional argument, each a prefix of the
            argument's tree. An unmapped argument may be anything, and is passed
            unchanged. Keyword arguments are mapped along their first axis.
        out_axes: the position of the mapped axis in the result; a prefix of its tree.
        axis_name: by which name collectives in `fun`, such as `imprint.lax.psum`, know
            the mapped axis.
        axis_size: the length of the mapped axis, needed if no argument is mapped.
        spmd_axis_name: over which axes of a mesh the mapped axis is sharded where `fun`
            constrains a sharding; so far nothing does.
        sum_match: whether a mapped result is summed where `out_axes` is None.

    Returns:
        A function with the arguments of `fun`. Its results have the mapped axis at
        `out_axes`, as long as the mapped axes of the arguments.

    Raises:
        ArgumentError: `fun` is not a function, `in_axes` or `out_axes` are invalid, or
            nothing is mapped.
        ShapeError: an argument lacks its mapped axis, or lengths differ.

    References:
        JAX, `jax.vmap`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.vmap(lambda x: x.sum())(np.ones((2, 3)))
        Array([3., 3.], dtype=float32)
    """
    check_function(fun, "vmap")
    check_name(axis_name, "vmap")
    check_name(spmd_axis_name, "vmap")
    name = name_of(fun)
    axes: InAxes = (*in_axes,) if in_axes.__class__ is list else in_axes
    from_the_end = any(map(_is_negative, tree.leaves(out_axes)))

    @wraps(fun)
    @filter_traceback
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, treedef = tree.flatten((args, kwargs))
        dims = _in_dims(axes, args, kwargs, name)
        names = [_leaf_name(path) for path in treedef.paths()]
        owned = [
            x if d is None else copy_leaf(x, "vmap", n)
            for x, d, n in zip(leaves, dims, names, strict=True)
        ]
        flat_dims = tuple(
            _check_axis(x, d, n, name)
            for x, d, n in zip(owned, dims, names, strict=True)
        )
        size = _common_size(owned, flat_dims, names, axis_size, name)
        owned, flat_dims = _without_float0(owned, flat_dims)
        found: list[tuple[tree.TreeDef, Sequence[int]]] = []

        def flat(*xs: Any) -> list[Any]:
            inner_args, inner_kwargs = treedef.unflatten(xs)
            result = fun(*inner_args, **inner_kwargs)  # pyright: ignore[reportCallIssue] - those of a call
            outs, out_tree = result_leaves(result, name, _OUTSIDE)
            found[:] = [(out_tree, _hidden(result) if from_the_end else ())]
            return outs

        axis = None if axis_name is None else NamedAxis(axis_name, size)
        outs, out_dims = batch_flat(flat, owned, flat_dims, name, axis)
        ((out_tree, hidden),) = found
        wanted = tree.flatten_axes(out_axes, out_tree, f"vmap({name}) out_axes")
        wanted = _past_hidden(wanted, hidden) if from_the_end else wanted
        if sum_match:
            outs, out_dims = _summed(outs, out_dims, wanted)
        return _results(outs, out_dims, wanted, size, out_tree, name)

    return mapped


def _without_float0(
    leaves: list[Any], dims: tuple[int | None, ...]
) -> tuple[list[Any], tuple[int | None, ...]]:
    """Replace mapped tangents of integers by that of one slice, as all are equal."""
    slices = [
        (no_values(x.shape[:d] + x.shape[d + 1 :]), None)
        if d is not None and is_float0(x)
        else (x, d)
        for x, d in zip(leaves, dims, strict=True)
    ]
    return [x for x, _ in slices], tuple([d for _, d in slices])


def _summed(
    outs: Sequence[Any], dims: Dims, wanted: Sequence[Any]
) -> tuple[Sequence[Any], Dims]:
    """Sum mapped results over their axis where none is wanted."""
    pairs = [
        (reduce_sum(x, (d,)), None) if d is not None and w is None else (x, d)
        for x, d, w in zip(outs, dims, wanted, strict=True)
    ]
    return [x for x, _ in pairs], tuple([d for _, d in pairs])


def _leaf_name(path: tree.KeyPath) -> str:
    _, argument, *rest = path
    name = getattr(argument, "idx", None)
    name = getattr(argument, "key", None) if name is None else name
    return f"argument {name}{tree.keystr(tuple(rest))}"


def _in_dims(
    in_axes: InAxes, args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> list[int | None]:
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):  # pyright: ignore[reportUnknownArgumentType] - a tuple of anything
        raise ArgumentError(
            f"vmap({name}): expected one entry of in_axes for each of the {len(args)} "
            f"positional arguments, got in_axes={in_axes}. Use None for arguments that "
            "are not mapped."
        )
    positional = tree.flatten_axes(
        in_axes, tree.structure(args), f"vmap({name}) in_axes"
    )
    if any(map(_is_negative, positional)):
        positional = _past_hidden(positional, _hidden(args))
    return [*positional, *([0] * len(tree.leaves(kwargs)))]


def hidden_axes(node: Any) -> int:
    """Return how many axes of its one leaf a node hides: keys hide their words."""
    return getattr(node, "__imprint_hidden_axes__", 0)


def _hidden(value: Any) -> list[int]:
    """Return for each leaf how many of its axes its node hides."""
    nodes = tree.leaves(value, is_leaf=lambda node: hidden_axes(node) > 0)
    return list(map(hidden_axes, nodes))


def _is_negative(axis: Any) -> bool:
    return isinstance(axis, int) and axis < 0


def _past_hidden(axes: Sequence[Any], hidden: Sequence[int]) -> list[Any]:
    """Count negative axes from the last one that is not hidden."""
    return [
        axis - more if _is_negative(axis) else axis
        for axis, more in zip(axes, hidden, strict=True)
    ]


def _check_axis(x: Any, dim: Any, leaf_name: str, name: str) -> int | None:
    if dim is None:
        return None
    aval = get_aval(x)
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise ArgumentError(
            f"vmap({name}): expected integers or None in in_axes, got {dim!r}."
        )
    if not -aval.ndim <= dim < aval.ndim:
        raise ShapeError(
            f"vmap({name}): expected {leaf_name} to have axis {dim}, which in_axes maps, "
            f"got {aval}. Map another axis, or None to pass it whole."
        )
    return dim % aval.ndim


def _common_size(
    leaves: Sequence[Any],
    dims: Sequence[int | None],
    names: Sequence[str],
    axis_size: int | None,
    name: str,
) -> int:
    mapped = {
        n: (get_aval(x).unplaced(), d)
        for x, d, n in zip(leaves, dims, names, strict=True)
        if d is not None
    }
    sizes = {n: aval.shape[axis] for n, (aval, axis) in mapped.items()}
    if axis_size is not None:
        sizes["axis_size"] = as_dim(axis_size, f"vmap({name}) axis_size")
        if not at_least(sizes["axis_size"], 0):
            raise ArgumentError(
                f"vmap({name}): expected axis_size to be 0 or more, got {axis_size}. "
                "Leave it out to take the size of what is mapped."
            )
    if not sizes:
        raise ArgumentError(
            f"vmap({name}): expected at least one mapped argument or axis_size, got "
            "none. Map an argument with in_axes, or pass axis_size."
        )
    if len(set(sizes.values())) > 1:
        given = [
            f"{n}: {sizes[n]}, axis {axis} of {aval}"
            for n, (aval, axis) in mapped.items()
        ]
        if axis_size is not None:
            given.append(f"axis_size: {axis_size}")
        listed = "; ".join(given)
        raise ShapeError(
            f"vmap({name}): expected mapped axes of one length, got {listed}. "
            "Map axes of equal length, or None for arguments that are not mapped."
        )
    return next(iter(sizes.values()))


def _results(
    outs: Sequence[Any],
    dims: Dims,
    wanted: Sequence[Any],
    size: int,
    treedef: tree.TreeDef,
    name: str,
) -> Any:
    """Return the result, with the mapped axes where they are wanted."""
    placed: list[Any] = []
    for x, dim, to in zip(outs, dims, wanted, strict=True):
        total = get_aval(x).ndim + (dim is None)
        if to is None and dim is None:
            placed.append(as_result(x))
        elif type(to) is int and -total <= to < total:
            placed.append(_placed(x, dim, to % total, size))
        else:
            leaf = tree.keystr(treedef.paths()[len(placed)])
            raise _misplaced(f"vmap({name})", f"the result{leaf}", to, total)
    return treedef.unflatten(placed)


def _misplaced(who: str, leaf: str, to: Any, total: int) -> Exception:
    """Return the error of an axis that a result cannot have."""
    if to is None:  # requested by `filter_vmap` for other leaves
        return ArgumentError(
            f"{who}: expected an unmapped result where out_axes is None, got one that "
            "depends on a mapped argument. Give out_axes an integer."
        )
    if type(to) is not int:
        return ArgumentError(
            f"{who}: expected integers or None in out_axes, got {shown(to)} for {leaf}."
        )
    return ShapeError(
        f"{who}: expected out_axes in [{-total}, {total}) for {leaf}, which has rank "
        f"{total} with the mapped axis, got {to}."
    )


def _placed(x: Any, dim: int | None, target: int, size: int) -> Any:
    if is_float0(x):
        return no_values((*x.shape[:target], size, *x.shape[target:]))
    if dim is not None:
        return as_result(moveaxis(x, dim, target))
    shape = get_aval(x).shape
    kept = tuple(i for i in range(len(shape) + 1) if i != target)
    return broadcast_in_dim(x, (*shape[:target], size, *shape[target:]), kept)
