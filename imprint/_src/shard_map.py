"""`shard_map`: run a function on every device of a mesh, each with its part of the arrays.

Checks here: specs name axes of the mesh and split the arguments into equal parts, and
results declared equal on every device are equal. Outside of a trace the call is
compiled once for each call signature and kept, as `jit` does. The transform rules of
the equation are in `imprint._src.control_flow.shard_map`.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, final

from imprint._src.config import settings
from imprint._src.control_flow.shard_map import Split, Where, differing, shard_map_call
from imprint._src.control_flow.trace_body import own_leaves, trace_body
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.functions import check_function, name_of, wraps
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ArgumentError, IndivisibleError, ShapeError
from imprint._src.interpreters.lowering import ordered_effects
from imprint._src.interpreters.trace_to_jaxpr import is_staging
from imprint._src.jit.api import jit
from imprint._src.sharding.mesh import Mesh
from imprint._src.sharding.spec import PartitionSpec, Unconstrained, names_of
from imprint._src.tree import internal as tree

__all__ = ["shard_map"]


@final
class _Infer:
    def __repr__(self) -> str:
        return "Infer"


_INFER = _Infer()


def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any = _INFER,
    mesh: Mesh | None = None,
    axis_names: Any = frozenset(),
    check_vma: bool = True,
) -> Any:
    """Return the function that runs `f` on every device of a mesh.

    Each device has a part of each argument, and `f` is written for these parts;
    collectives such as `imprint.lax.psum` know the axes of the mesh by their names.

    Args:
        f: a function of arrays; left out, `shard_map` is a decorator.
        out_specs: how the parts that `f` returns make up the results, a
            `PartitionSpec` or a prefix of the tree of the results. A result is the same
            along axes that its spec does not name.
        in_specs: how arguments are split, in a tuple with an entry for each positional
            argument, each a prefix of its tree; one spec for all.
        mesh: the devices; left out, that of `imprint.set_mesh`.
        axis_names: the axes of the mesh that `f` is written along, all if left out; the
            compiler splits along the others by itself.
        check_vma: whether variation between devices is tracked. Then a result that is
            declared equal on all devices and is not is an error, and a gradient with
            respect to a shared value is summed over them.

    Returns:
        A function of the whole arrays. It takes positional arguments and returns the
        joined results.

    Raises:
        ArgumentError: a spec names an unknown axis, or a result is not the same.
        IndivisibleError: an argument cannot be split into equal parts.

    References:
        JAX, `jax.shard_map`.

    Example:
        >>> import imprint
        >>> from imprint import P, lax, numpy as np
        >>> mesh = imprint.make_mesh((1,), ("data",))
        >>> total = imprint.shard_map(
        ...     lambda x: lax.psum(x.sum(), "data"),
        ...     mesh=mesh,
        ...     in_specs=P("data"),
        ...     out_specs=P(),
        ... )
        >>> total(np.arange(4.0))
        Array(6., dtype=float32)
    """
    if f is None:
        given = {"mesh": mesh, "in_specs": in_specs, "out_specs": out_specs}
        return partial(shard_map, axis_names=axis_names, check_vma=check_vma, **given)
    check_function(f, "shard_map")
    if isinstance(in_specs, _Infer):
        raise ArgumentError(
            "shard_map: expected in_specs, got none. Write in_specs=P('data'), or a tuple "
            "with a spec for each argument."
        )
    plan = _ShardMapCall(f, mesh, in_specs, out_specs, axis_names, check_vma)

    @wraps(f)
    @filter_traceback
    def mapped(*args: Any) -> Any:
        return plan.call(args)

    compiled: Any = jit(mapped)

    @wraps(f)
    @filter_traceback
    def sharded(*args: Any) -> Any:
        if not is_staging() and not settings().disable_jit:
            return compiled(*args)  # traced once, and kept
        return plan.call(args)

    return sharded


@final
class _ShardMapCall:
    """The arguments of a `shard_map`."""

    def __init__(
        self,
        function: Callable[..., Any],
        mesh: Any,
        in_specs: Any,
        out_specs: Any,
        axis_names: Any,
        is_checked: bool,  # noqa: FBT001 - what `shard_map` takes
    ) -> None:
        self.function = function
        self.name = f"shard_map({name_of(function)})"
        self.mesh = mesh
        self.in_specs: Any = (*in_specs,) if in_specs.__class__ is list else in_specs
        self.out_specs = out_specs
        self.axis_names = (
            (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        )
        self.is_checked = is_checked

    def __imprint_token__(self) -> Any:
        """Return the token of these arguments in a function that captures them."""
        specs = self.in_specs, self.out_specs
        return self.function, self.mesh, specs, self.axis_names, self.is_checked

    def where(self) -> Where:
        """Return the devices and the axes that the function is written along."""
        mesh: Any = settings().mesh if self.mesh is None else self.mesh
        if not isinstance(mesh, Mesh) or mesh.empty:
            raise ArgumentError(
                f"{self.name}: expected a mesh, got {mesh!r}. Give mesh=imprint.make_mesh("
                "(8,), ('data',)), or write `with imprint.set_mesh(mesh):`."
            )
        for name in self.axis_names:
            if name not in mesh.axis_names:
                raise ArgumentError(
                    f"{self.name} axis_names: expected axes of {mesh!r}, got {name!r}. "
                    "Leave axis_names out for all of them."
                )
        manual = frozenset(self.axis_names or mesh.axis_names)
        return Where(mesh, manual, bool(self.is_checked))

    def call(self, args: tuple[Any, ...]) -> Any:
        """Run the function on every device."""
        where = self.where()
        leaves, treedef, names = own_leaves(args, self.name, "args")
        given = tree.flatten_axes(self.in_specs, treedef, f"{self.name} in_specs")
        avals = [get_aval(x).unplaced() for x in leaves]
        splits = [
            self.split(where, spec, "in_specs", name, aval.ndim)
            for spec, name, aval in zip(given, names, avals, strict=True)
        ]
        locals_ = [
            check_parts(self.name, where, *triple)
            for triple in zip(names, avals, splits, strict=True)
        ]
        with where.inside():
            closed = trace_body(self.function, treedef, locals_, "shard_map", names)
        if ordered_effects(closed.jaxpr.jaxpr):
            raise ArgumentError(
                f"{self.name}: expected no ordered effects, as devices have no order, got "
                "one. Leave ordered=True out."
            )
        out_splits = tuple(self.results(where, closed.out_tree, closed.jaxpr.out_avals))
        whole: list[Split] = [()] * len(closed.captured)
        outs = shard_map_call(
            differing(closed.jaxpr, out_splits, where),
            (*closed.captured, *leaves),
            (*whole, *splits),
            out_splits,
            where,
        )
        return closed.out_tree.unflatten(outs)

    def split(
        self, where: Where, spec: Any, option: str, name: str, ndim: int
    ) -> Split:
        """Return the entry of a spec for each axis of an array; raise if it does not fit."""
        if not isinstance(spec, PartitionSpec):
            raise ArgumentError(
                f"{self.name} {option}: expected a PartitionSpec for {name}, got {spec!r}. "
                "Write P('data'), or P() for what is the same on every device."
            )
        if len(spec) > ndim:
            raise ShapeError(
                f"{self.name} {option}: expected a spec with at most an entry for each of "
                f"the {ndim} axes of {name}, got {spec}. Leave entries out from the end."
            )
        found = [names_of(entry) for entry in spec]
        every = [axis for axes in found for axis in axes]
        for axis in every:
            if axis not in where.axis_names or every.count(axis) > 1:
                raise ArgumentError(
                    f"{self.name} {option}: expected each of the axes "
                    f"{tuple(where.sizes)} at most once for {name}, got {axis!r} in "
                    f"{spec}. Name axes that the function is written along."
                )
        if any(isinstance(entry, Unconstrained) for entry in spec):
            raise ArgumentError(
                f"{self.name} {option}: expected names of axes or None for {name}, got "
                f"{spec}. The function has to know its part: write None."
            )
        while found and not found[-1]:
            found.pop()
        return tuple(found)

    def results(
        self, where: Where, treedef: tree.TreeDef, avals: Sequence[ShapedArray]
    ) -> list[Split]:
        """Return how the results are split; raise if one differs that must not."""
        given = tree.flatten_axes(self.out_specs, treedef, f"{self.name} out_specs")
        paths = treedef.paths()
        found: list[Split] = []
        for spec, path, aval in zip(given, paths, avals, strict=True):
            name = f"result{tree.keystr(path)}"
            split = self.split(where, spec, "out_specs", name, aval.ndim)
            wrong = sorted(aval.vma & {*where.elsewhere(split)})
            if wrong:
                axes = " and ".join(map(repr, wrong))
                raise ArgumentError(
                    f"{self.name} out_specs: expected {name} to be the same on all devices "
                    f"along {axes}, as {spec} says, got {aval}, which may differ there. "
                    f"Reduce it, such as with imprint.lax.psum(x, {wrong[0]!r}) or pmean; "
                    f"or say that it is split, P({wrong[0]!r}); or, if you know it to be "
                    "the same, give check_vma=False."
                )
            found.append(split)
        return found


def shard_map_positional(
    f: Callable[..., Any],
    mesh: Any,
    in_specs: Any,
    out_specs: Any,
    check_rep: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
) -> Callable[..., Any]:
    """Run a function on every device of a mesh, each with its part of the arrays.

    Args:
        f: the program of one device.
        mesh: the devices.
        in_specs: how the arguments are split.
        out_specs: how the results are put together.
        check_rep: whether to check that results which are said to be the same on all
            devices are.

    Returns:
        A function of the whole arrays; see `imprint.shard_map`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> from imprint.experimental.shard_map import shard_map
        >>> mesh = imprint.make_mesh((1,), ("data",))
        >>> double = shard_map(
        ...     lambda x: 2 * x, mesh, imprint.P("data"), imprint.P("data")
        ... )
        >>> double(np.arange(3))
        Array([0, 2, 4], dtype=int32)
    """
    return shard_map(
        f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep
    )


def check_parts(
    who: str, where: Where, name: str, aval: ShapedArray, split: Split
) -> ShapedArray:
    """Return the aval of the part of an argument on one device; raise if parts differ."""
    for axis, names in enumerate(split):
        parts = where.parts(names)
        if aval.shape[axis] % parts:
            raise IndivisibleError(
                f"{who} in_specs: expected axis {axis} of {name} to be a multiple of "
                f"{parts}, as {names} split it, got {aval}. Pad it, or split another axis."
            )
    return where.of_device(aval, split)
