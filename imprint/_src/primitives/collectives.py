"""Primitives along a named axis: between places of `vmap`, or devices.

Each takes one axis; `lax.collectives` combines several. A rule `collect` evaluates it where
`vmap` binds the axis; on an axis of the mesh of a `shard_map` it is lowered to a collective
operation. The reference only raises that the axis is not bound. All but the extremes are
linear. Params count axes without the named one. `axis_index_groups`, if given, is a param:
tuples of places that communicate only within a tuple; helpers pass it on as `**groups`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.padding import PerSize
from imprint._src.core.primitive import (
    Absent,
    Across,
    Avals,
    CollectivePrimitive,
    Dims,
    Values,
)
from imprint._src.core.trace import unbound
from imprint._src.primitives.axes import insert
from imprint._src.primitives.copying import copy_p
from imprint._src.primitives.core_ops import (
    NOT_LINEAR,
    broadcast_in_dim,
    full,
    moveaxis,
    mul,
    reduce_sum,
    scalar_like,
    transpose,
)
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.comparison import eq
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.reductions import reduce_max, reduce_min
from imprint._src.primitives.shape import iota
from imprint._src.stablehlo import Builder, Value
from imprint._src.stablehlo.collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    axis_index,
    collective_permute,
    reduce_scatter,
)
from imprint._src.stablehlo.module import MeshAxis

_NO_LAWS: Final = Absent("no axis is bound where the laws bind one primitive alone")

Pairs = tuple[tuple[int, int], ...]
Groups = tuple[tuple[int, ...], ...]


def _nowhere(name: str) -> Callable[..., Any]:
    """Return the reference of a primitive that has lost its axis."""

    def rule(*_: Any, axis_name: Any, **params: Any) -> Any:
        raise unbound(axis_name, name)

    return rule


def _axis_at_hand(
    b: Builder, axis_name: Any, name: str, groups: Groups = ()
) -> MeshAxis:
    """Return the axis of the mesh that a program which is lowered runs on."""
    axis = b.module.mesh_axis(axis_name)
    if axis is None:
        raise unbound(axis_name, name)
    return axis._replace(parted=groups)


def _repeated(x: Any, size: int, axis: int = 0) -> Any:
    """Give an array one more axis, along which it is the same."""
    shape = get_aval(x).shape
    kept = tuple(i for i in range(len(shape) + 1) if i != axis)
    return broadcast_in_dim(x, insert(shape, axis, size), kept)


def _in_groups(
    collect: Callable[..., tuple[Any, int | None]],
    groups: Groups,
    x: Any,
    d: int | None,
    **params: Any,
) -> tuple[Any, int]:
    """Apply a rule `collect` within each group of places, in their order."""
    order = [i for group in groups for i in group]
    rows = _repeated(x, len(order)) if d is None else moveaxis(x, d, 0)
    parts: list[Any] = []
    for group in groups:
        out, b = collect(len(group), _chosen(rows, 0, group), 0, **params)
        parts.append(_repeated(out, len(group)) if b is None else moveaxis(out, b, 0))
    back = [order.index(i) for i in range(len(order))]
    return _chosen(concatenate(parts, 0), 0, back), 0


def _collected(collect: Callable[..., tuple[Any, int | None]]) -> Callable[..., Any]:
    """Return the rule of a primitive of one operand, in groups and without."""

    def rule(
        size: int,
        args: Values,
        at: Dims,
        *,
        axis_name: Any,
        axis_index_groups: Groups = (),
        **params: Any,
    ) -> Any:
        if axis_index_groups:
            out, b = _in_groups(collect, axis_index_groups, args[0], at[0], **params)
        else:
            out, b = collect(size, args[0], at[0], **params)
        return (out,), (b,)

    return rule


_APART: Final = PerSize("it passes arrays of the true size between places")


def _linear(  # noqa: PLR0913 - one parameter a rule
    name: str,
    *,
    aval: Callable[..., ShapedArray],
    transpose: Callable[..., Any],
    batch: Callable[..., Any],
    collect: Callable[..., tuple[Any, int | None]],
    lower: Callable[..., Value],
    makes_nan: bool,
    across: Across = Across.KEPT,
) -> CollectivePrimitive:
    """Declare a collective of one operand, in which it is linear.

    Args:
        name: as printed in jaxprs.
        aval: `(aval, **params)` → the aval of the result.
        transpose: `(ct, aval of the operand, **params)` → the cotangent.
        batch: `(x, b, **params)` → the result and its hidden axis.
        collect: `(size, x, d, **params)` → the result and the named axis in it.
        lower: `(builder, axis of the mesh, value, **params)` → the value of the result.
        makes_nan: whether it makes a NaN of numbers.
        across: how the result differs between places.
    """

    def aval_rule(
        x: ShapedArray, *, axis_name: Any, axis_index_groups: Groups = (), **params: Any
    ) -> Avals:
        return (aval(x, **params),)

    def jvp(primals: Values, tangents: Values, **params: Any) -> Any:
        return primitive.bind_all(*primals, **params), primitive.bind_all(
            *tangents, **params
        )

    def transpose_rule(cts: Values, operands: Values, **params: Any) -> Values:
        return (transpose(cts[0], operands[0].aval, **params),)

    def batch_rule(args: Values, at: Dims, **params: Any) -> Any:
        out, b = batch(args[0], at[0], **params)
        return (out,), (b,)

    def lower_rule(
        b: Builder,
        x: Value,
        *,
        axis_name: Any,
        axis_index_groups: Groups = (),
        **params: Any,
    ) -> tuple[Value]:
        axis = _axis_at_hand(b, axis_name, name, axis_index_groups)
        return (lower(b, axis, x, **params),)

    primitive = CollectivePrimitive(
        name=name,
        across=across,
        aval=aval_rule,
        reference=_nowhere(name),
        lower=lower_rule,
        makes_nan=makes_nan,
        jvp=jvp,
        transpose=transpose_rule,
        batch=batch_rule,
        pad=_APART,
        collect=_collected(collect),
        samples=_NO_LAWS,
    )
    return primitive


# ---- psum ----


def _same(x: ShapedArray) -> ShapedArray:
    return x


def _psum_transpose(ct: Any, x: ShapedArray, *, axis_name: Any, **groups: Any) -> Any:
    if (
        axis_name in x.vma and not groups
    ):  # the cotangent is the same in each place, as the sum is
        return pvary_p.bind1(ct, axis_name=axis_name)
    return psum_p.bind1(ct, axis_name=axis_name, **groups)


def _psum_batch(x: Any, b: int, **params: Any) -> Any:
    return psum_p.bind1(x, **params), b


def _sum_of(size: int, x: Any, d: int | None) -> Any:
    if d is not None:
        return reduce_sum(x, (d,))
    return mul(x, scalar_like(x, np.int64(size)))  # wraps in int8, as the sum does


def _psum_collect(size: int, x: Any, d: int | None) -> Any:
    return _sum_of(size, x, d), None


def _psum_lower(b: Builder, axis: MeshAxis, x: Value) -> Value:
    return all_reduce(b, x, "add", axis)


psum_p: Final = _linear(
    "psum",
    aval=_same,
    transpose=_psum_transpose,
    batch=_psum_batch,
    collect=_psum_collect,
    lower=_psum_lower,
    makes_nan=True,
    across=Across.SAME,
)


# ---- pvary: a replicated value as a varying one ----


def _pvary_aval(x: ShapedArray, *, axis_name: Any) -> Avals:
    return (x.varying(x.vma | {axis_name}),)


def _pvary_transpose(ct: Any, x: ShapedArray, *, axis_name: Any) -> Any:
    if axis_name in x.vma:  # it differed already
        return ct
    return psum_p.bind1(ct, axis_name=axis_name)


def _pvary_batch(x: Any, b: int, *, axis_name: Any) -> Any:
    return pvary_p.bind1(x, axis_name=axis_name), b


def _pvary_collect(size: int, x: Any, d: int | None) -> Any:
    return (_repeated(x, size), 0) if d is None else (copy_p.bind1(x), d)


def _pvary_lower(_b: Builder, _axis: MeshAxis, x: Value) -> Value:
    return x


pvary_p: Final = _linear(
    "pvary",
    aval=_same,
    transpose=_pvary_transpose,
    batch=_pvary_batch,
    collect=_pvary_collect,
    lower=_pvary_lower,
    makes_nan=True,
    across=Across.DIFFERENT,
)
pvary_p.aval = _pvary_aval


def pvary(x: Any, axes: Iterable[str]) -> Any:
    """Return a value as one that may differ along these axes of a mesh.

    Its cotangent is then the sum of those of all places.
    """
    for axis in sorted(frozenset(axes) - get_aval(x).vma):
        x = pvary_p.bind1(x, axis_name=axis)
    return x


# ---- pmax, pmin ----


def _extreme(name: str, reduce: Callable[[Any, Sequence[int]], Any], op: str) -> Any:
    """Declare pmax or pmin, with the derivative of reduce_max: equal extremes share."""

    def aval(x: ShapedArray, **_: Any) -> Avals:
        return (x,)

    def jvp(primals: Values, tangents: Values, **params: Any) -> Any:
        (x,), (t,) = primals, tangents
        out = primitive.bind1(x, **params)
        there = pvary(out, get_aval(x).vma)
        hits = convert_element_type(eq(x, there), get_aval(x).dtype)
        total = psum_p.bind1(mul(t, hits), **params)
        return (out,), (div(total, psum_p.bind1(hits, **params)),)

    def batch(args: Values, at: Dims, **params: Any) -> Any:
        return primitive.bind_all(*args, **params), at

    def collect(_: int, x: Any, d: int | None) -> tuple[Any, None]:
        return (copy_p.bind1(x) if d is None else reduce(x, (d,))), None

    def lower(
        b: Builder, x: Value, *, axis_name: Any, axis_index_groups: Groups = ()
    ) -> tuple[Value]:
        axis = _axis_at_hand(b, axis_name, name, axis_index_groups)
        return (all_reduce(b, x, op, axis),)

    primitive = CollectivePrimitive(
        name=name,
        across=Across.SAME,
        aval=aval,
        reference=_nowhere(name),
        lower=lower,
        makes_nan=False,
        jvp=jvp,
        transpose=NOT_LINEAR,
        batch=batch,
        pad=_APART,
        collect=_collected(collect),
        samples=_NO_LAWS,
    )
    return primitive


pmax_p: Final[CollectivePrimitive] = _extreme("pmax", reduce_max, "maximum")
pmin_p: Final[CollectivePrimitive] = _extreme("pmin", reduce_min, "minimum")


# ---- ppermute ----


def _ppermute_aval(x: ShapedArray, *, perm: Pairs) -> ShapedArray:
    return x


def _ppermute_transpose(ct: Any, _: ShapedArray, *, axis_name: Any, perm: Pairs) -> Any:
    back = tuple((target, source) for source, target in perm)
    return ppermute_p.bind1(ct, axis_name=axis_name, perm=back)


def _ppermute_batch(x: Any, b: int, *, axis_name: Any, perm: Pairs) -> Any:
    return ppermute_p.bind1(x, axis_name=axis_name, perm=perm), b


def _ppermute_collect(size: int, x: Any, d: int | None, *, perm: Pairs) -> Any:
    if d is None:
        if len(perm) == size:
            return copy_p.bind1(x), None
        x, d = _repeated(x, size), 0
    sources: list[int | None] = [None] * size
    for source, target in perm:
        sources[target] = source
    return _chosen(x, d, sources), d


def _chosen(x: Any, axis: int, sources: Sequence[int | None]) -> Any:
    """Return the places of an axis that are named, and zeros for None."""
    parts = [_part(x, axis, first, count) for first, count in _runs(sources)]
    return concatenate(parts, axis)


def _runs(sources: Sequence[int | None]) -> list[tuple[int | None, int]]:
    """Return the first source and the length of each run of neighbours, or of nothing."""
    runs: list[tuple[int | None, int]] = []
    for source in sources:
        if runs:
            first, count = runs[-1]
            if source == (None if first is None else first + count):
                runs[-1] = first, count + 1
                continue
        runs.append((source, 1))
    return runs


def _part(x: Any, axis: int, first: int | None, count: int) -> Any:
    if first is not None:
        return slice_in_dim(x, first, first + count, axis=axis)
    aval = get_aval(x)
    shape = (*aval.shape[:axis], count, *aval.shape[axis + 1 :])
    return full(shape, 0, aval.dtype)


def _ppermute_lower(b: Builder, axis: MeshAxis, x: Value, *, perm: Pairs) -> Value:
    return collective_permute(b, x, perm, axis)


ppermute_p: Final = _linear(
    "ppermute",
    aval=_ppermute_aval,
    transpose=_ppermute_transpose,
    batch=_ppermute_batch,
    collect=_ppermute_collect,
    lower=_ppermute_lower,
    makes_nan=False,
)


# ---- all_gather ----


def _gather_aval(
    x: ShapedArray, *, all_gather_dimension: int, axis_size: int
) -> ShapedArray:
    return x.with_shape(insert(x.shape, all_gather_dimension, axis_size))


def _gather_transpose(
    ct: Any,
    _: ShapedArray,
    *,
    axis_name: Any,
    all_gather_dimension: int,
    axis_size: int,
    **groups: Any,
) -> Any:
    return reduce_scatter_p.bind1(
        ct, axis_name=axis_name, scatter_dimension=all_gather_dimension, **groups
    )


def _gather_batch(x: Any, b: int, *, all_gather_dimension: int, **params: Any) -> Any:
    out = all_gather_p.bind1(
        moveaxis(x, b, 0), all_gather_dimension=all_gather_dimension + 1, **params
    )
    return out, 0


def _gather_collect(
    size: int, x: Any, d: int | None, *, all_gather_dimension: int, axis_size: int
) -> Any:
    if d is None:
        return _repeated(x, size, all_gather_dimension), None
    return moveaxis(x, d, all_gather_dimension), None


def _gather_lower(
    b: Builder, axis: MeshAxis, x: Value, *, all_gather_dimension: int, axis_size: int
) -> Value:
    x = b.reshape(x, insert(x.shape, all_gather_dimension, 1))
    return all_gather(b, x, all_gather_dimension, axis)


all_gather_p: Final = _linear(
    "all_gather",
    aval=_gather_aval,
    transpose=_gather_transpose,
    batch=_gather_batch,
    collect=_gather_collect,
    lower=_gather_lower,
    makes_nan=False,
)


# ---- reduce_scatter ----


def _scatter_aval(x: ShapedArray, *, scatter_dimension: int) -> ShapedArray:
    axis = scatter_dimension
    return x.with_shape((*x.shape[:axis], *x.shape[axis + 1 :]))


def _scatter_transpose(
    ct: Any, x: ShapedArray, *, axis_name: Any, scatter_dimension: int, **groups: Any
) -> Any:
    return all_gather_p.bind1(
        ct,
        axis_name=axis_name,
        all_gather_dimension=scatter_dimension,
        axis_size=x.shape[scatter_dimension],
        **groups,
    )


def _scatter_batch(x: Any, b: int, *, scatter_dimension: int, **params: Any) -> Any:
    x, axis = moveaxis(x, b, 0), scatter_dimension + 1
    return reduce_scatter_p.bind1(x, scatter_dimension=axis, **params), 0


def _scatter_collect(
    size: int, x: Any, d: int | None, *, scatter_dimension: int
) -> Any:
    return _sum_of(size, x, d), scatter_dimension


def _scatter_lower(
    b: Builder, axis: MeshAxis, x: Value, *, scatter_dimension: int
) -> Value:
    out = reduce_scatter(b, x, scatter_dimension, axis)
    at = scatter_dimension
    return b.reshape(out, (*x.shape[:at], *x.shape[at + 1 :]))


reduce_scatter_p: Final = _linear(
    "reduce_scatter",
    aval=_scatter_aval,
    transpose=_scatter_transpose,
    batch=_scatter_batch,
    collect=_scatter_collect,
    lower=_scatter_lower,
    makes_nan=True,
)


# ---- all_to_all ----


def _exchange_aval(x: ShapedArray, *, split_axis: int, concat_axis: int) -> ShapedArray:
    kept = (*x.shape[:split_axis], *x.shape[split_axis + 1 :])
    return x.with_shape(insert(kept, concat_axis, x.shape[split_axis]))


def _exchange_transpose(
    ct: Any, _: ShapedArray, *, split_axis: int, concat_axis: int, **params: Any
) -> Any:
    return all_to_all_p.bind1(
        ct, split_axis=concat_axis, concat_axis=split_axis, **params
    )


def _exchange_batch(
    x: Any, b: int, *, split_axis: int, concat_axis: int, **params: Any
) -> Any:
    out = all_to_all_p.bind1(
        moveaxis(x, b, 0),
        split_axis=split_axis + 1,
        concat_axis=concat_axis + 1,
        **params,
    )
    return out, 0


def _exchange_collect(
    size: int, x: Any, d: int | None, *, split_axis: int, concat_axis: int
) -> Any:
    x = _repeated(x, size) if d is None else moveaxis(x, d, 0)
    order = [i for i in range(1, get_aval(x).ndim) if i != split_axis + 1]
    order.insert(concat_axis, 0)
    return transpose(x, (split_axis + 1, *order)), 0


def _exchange_lower(
    b: Builder, axis: MeshAxis, x: Value, *, split_axis: int, concat_axis: int
) -> Value:
    out = all_to_all(b, x, split_axis, axis)
    order = [i for i in range(len(x.shape)) if i != split_axis]
    order.insert(concat_axis, split_axis)
    return b.transpose(out, order)


all_to_all_p: Final = _linear(
    "all_to_all",
    aval=_exchange_aval,
    transpose=_exchange_transpose,
    batch=_exchange_batch,
    collect=_exchange_collect,
    lower=_exchange_lower,
    makes_nan=False,
)


# ---- axis_index ----

_ALONE: Final = Absent("it has no operand that could be batched or differentiated")


def _index_aval(*, axis_name: Any) -> Avals:
    return (ShapedArray((), dtypes.int32),)


def _index_collect(size: int, _args: Values, _at: Dims, *, axis_name: Any) -> Any:
    return (iota(dtypes.int32, dims.as_dim(size)),), (0,)


def _index_lower(b: Builder, *, axis_name: Any) -> tuple[Value]:
    return (axis_index(b, _axis_at_hand(b, axis_name, "axis_index")),)


axis_index_p: Final = CollectivePrimitive(
    name="axis_index",
    aval=_index_aval,
    reference=_nowhere("axis_index"),
    lower=_index_lower,
    makes_nan=False,
    jvp=_ALONE,
    transpose=_ALONE,
    batch=_ALONE,
    pad=_APART,
    collect=_index_collect,
    samples=_NO_LAWS,
)
