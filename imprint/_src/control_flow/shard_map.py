"""`shard_map`: a program of one device, run on every device of a mesh.

The equation holds the program at the shapes of one device, and for each operand and result
the mesh axes that split its axes. With `check_vma` the avals record along which axes a value
differs (`sharding.varying`), so derivatives are programs as correct as the original. Without
it, derivatives are those of all devices stacked: a result that is replicated counts once, and
so does a replicated operand.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src.control_flow.operand_lists import nonzeros, pick
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.control import ControlPrimitive, Eager, Narrowed, Unit, Watched
from imprint._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from imprint._src.core.padding import PerSize
from imprint._src.core.primitive import Avals, AxisNames, Dims, Values
from imprint._src.core.tangents import UndefinedPrimal
from imprint._src.core.trace import NamedAxis, bind_axes, tracing
from imprint._src.interpreters.batching import (
    at_axis,
    batch_flat,
    batch_jaxpr,
    hidden_size,
)
from imprint._src.interpreters.dce import narrow
from imprint._src.interpreters.jvp import jvp_jaxpr, merge_zeros
from imprint._src.interpreters.linearize import linearize_jaxpr
from imprint._src.interpreters.lowering import ir_type, lower_inline
from imprint._src.interpreters.trace_to_jaxpr import (
    DebugInfo,
    StagingTrace,
    hoist_consts,
    stage,
)
from imprint._src.interpreters.transpose import transpose_jaxpr
from imprint._src.primitives.collectives import psum_p, pvary
from imprint._src.primitives.core_ops import mul, scalar_like
from imprint._src.primitives.shape import expand_dims, squeeze
from imprint._src.sharding.mesh import Mesh
from imprint._src.stablehlo import Builder, Value
from imprint._src.stablehlo.collectives import manual_computation

Split = tuple[tuple[str, ...], ...]
"""For each axis of an array, which axes of the mesh split it, the slowest first."""
Splits = tuple[Split, ...]

WHOLE: Final[Split] = ()


class Where(NamedTuple):
    """Where a program of one device runs.

    Args:
        mesh: the devices.
        axis_names: the axes that it is written along; others are the compiler's.
        check_vma: whether avals record the axes along which values differ.
    """

    mesh: Mesh
    axis_names: frozenset[str]
    check_vma: bool

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of its axes, in the order of the mesh."""
        return {n: size for n, size in self.mesh.shape_tuple if n in self.axis_names}

    def inside(self) -> AbstractContextManager[None]:
        """Bind its axes while staging inside the `with` block."""
        return bind_axes(
            [NamedAxis(n, size, self.check_vma) for n, size in self.sizes.items()]
        )

    def parts(self, names: Sequence[str]) -> int:
        """Return how many parts some axes make together."""
        sizes = self.sizes
        return prod(sizes[n] for n in names)

    def elsewhere(self, split: Split) -> tuple[str, ...]:
        """Return the axes that a split does not mention."""
        named = {n for names in split for n in names}
        return tuple([n for n in self.sizes if n not in named])

    def of_device(self, aval: ShapedArray, split: Split) -> ShapedArray:
        """Return the aval of the part that one device has."""
        shape = list(aval.shape)
        for axis, names in enumerate(split):
            shape[axis] //= self.parts(names)
        local = aval.unplaced().with_shape(tuple(shape))
        if not self.check_vma:
            return local
        return local.varying(local.vma.union(*split))

    def of_all(self, aval: ShapedArray, split: Split) -> ShapedArray:
        """Return the aval of the whole of which each device has a part."""
        shape = list(aval.shape)
        for axis, names in enumerate(split):
            shape[axis] *= self.parts(names)
        return aval.with_shape(tuple(shape)).varying(aval.vma - self.axis_names)


def shard_map_call(
    closed: ClosedJaxpr,
    operands: Sequence[Any],
    in_splits: Splits,
    out_splits: Splits,
    where: Where,
) -> Values:
    """Bind the program of one device; its constants are the same on every device."""
    hoisted = closed.derived("hoisted", lambda: hoist_consts(closed))
    return shard_map_p.bind_all(
        *closed.consts,
        *operands,
        jaxpr=hoisted,
        in_splits=(*[WHOLE] * len(closed.consts), *in_splits),
        out_splits=out_splits,
        where=where,
    )


def differing(closed: ClosedJaxpr, splits: Splits, where: Where) -> ClosedJaxpr:
    """Return a program whose results differ along all axes that split them."""
    if not where.check_vma:
        return closed

    def run(*xs: Any) -> list[Any]:
        outs = eval_jaxpr(closed.jaxpr, closed.consts, *xs)
        return [
            pvary(x, {n for names in split for n in names})
            for x, split in zip(outs, splits, strict=True)
        ]

    return _rewritten(closed, run, closed.in_avals, where)


def _rewritten(
    closed: ClosedJaxpr,
    run: Callable[..., Sequence[Any]],
    avals: Sequence[ShapedArray],
    where: Where,
) -> ClosedJaxpr:
    with where.inside():
        return stage(run, avals, DebugInfo("shard_map", closed.jaxpr.name))


# ---- evaluation ----


def _aval(
    *_: ShapedArray,
    jaxpr: ClosedJaxpr,
    in_splits: Splits,
    out_splits: Splits,
    where: Where,
) -> Avals:
    pairs = zip(jaxpr.out_avals, out_splits, strict=True)
    return tuple([where.of_all(aval, split) for aval, split in pairs])


def _reference(
    *arrays: Any,
    jaxpr: ClosedJaxpr,
    in_splits: Splits,
    out_splits: Splits,
    where: Where,
) -> Values:
    """Run the devices as slices of nested `vmap`s, one per mesh axis."""
    axes = [NamedAxis(n, size) for n, size in where.sizes.items()]
    parted = [
        _parted(np.asarray(x), split, where)
        for x, split in zip(arrays, in_splits, strict=True)
    ]
    held = [{n for names in split for n in names} for split in in_splits]

    def along(rest: list[NamedAxis], *xs: Any) -> list[Any]:
        if not rest:
            return eval_jaxpr(jaxpr.jaxpr, (), *xs)
        axis, *inner = rest
        dims = tuple([0 if axis.name in names else None for names in held])
        outs, came = batch_flat(
            lambda *ys: along(inner, *ys), xs, dims, "shard_map", axis
        )
        pairs = zip(outs, came, strict=True)
        return [at_axis(x, d, 0, axis.size) for x, d in pairs]

    with tracing(None):
        outs = along(axes, *parted)
    return tuple(
        [
            _assembled(np.asarray(x), split, where)
            for x, split in zip(outs, out_splits, strict=True)
        ]
    )


def _parted(x: Any, split: Split, where: Where) -> Any:
    """Return the parts of an array, along the axes of the mesh that split it in front."""
    sizes = where.sizes
    shape: list[int] = []
    places: dict[str, int] = {}
    rest: list[int] = []
    for axis, length in enumerate(x.shape):
        names = split[axis] if axis < len(split) else ()
        for name in names:
            places[name] = len(shape)
            shape.append(sizes[name])
        rest.append(len(shape))
        shape.append(length // where.parts(names))
    front = [places[name] for name in sizes if name in places]
    return np.reshape(x, shape).transpose((*front, *rest))


def _assembled(x: Any, split: Split, where: Where) -> Any:
    """Return the array of which all devices have parts, their axes in front."""
    names = list(where.sizes)
    for name in where.elsewhere(split):
        x = np.take(x, 0, axis=names.index(name))
        names.remove(name)
    count = len(names)
    order: list[int] = []
    shape: list[int] = []
    for axis, length in enumerate(x.shape[count:]):
        mine = split[axis] if axis < len(split) else ()
        order += [names.index(name) for name in mine]
        order.append(count + axis)
        shape.append(length * where.parts(mine))
    return x.transpose(order).reshape(shape)


def _lower(
    b: Builder,
    *values: Value,
    jaxpr: ClosedJaxpr,
    in_splits: Splits,
    out_splits: Splits,
    where: Where,
) -> tuple[Value, ...]:
    module = b.module
    module.mesh, outer = where.mesh.shape_tuple, module.manual
    outs = [
        ir_type(where.of_all(aval, split))
        for aval, split in zip(jaxpr.out_avals, out_splits, strict=True)
    ]

    def body(inner: Builder, args: tuple[Value, ...]) -> Sequence[Value]:
        return lower_inline(inner, jaxpr.jaxpr, args)

    if where.mesh.size == 1:
        module.manual = outer | where.axis_names
        try:
            return tuple(lower_inline(b, jaxpr.jaxpr, values))
        finally:
            module.manual = outer
    is_whole = len(where.axis_names | outer) == len(module.mesh)
    shown = [
        [_sdy(split, len(aval.shape), is_whole=is_whole) for split, aval in pairs]
        for pairs in (
            zip(in_splits, jaxpr.in_avals, strict=True),
            zip(out_splits, jaxpr.out_avals, strict=True),
        )
    ]
    module.manual = outer | where.axis_names
    try:
        return manual_computation(
            b,
            (shown[0], values),
            (shown[1], outs),
            tuple(where.sizes),
            body,
            types=[ir_type(aval) for aval in jaxpr.in_avals],
        )
    finally:
        module.manual = outer


def _sdy(split: Split, ndim: int, *, is_whole: bool) -> str:
    """Return a split as text of `sdy`; automatic axes may split it further."""
    texts: list[str] = []
    for names in (*split, *[()] * (ndim - len(split))):
        shown = [f'"{name}"' for name in names] + ["?"] * (not is_whole)
        texts.append(f"{{{', '.join(shown)}}}")
    return f"[{', '.join(texts)}]"


# ---- derivatives ----


def _jvp(
    primals: Values,
    tangents: Values,
    *,
    jaxpr: ClosedJaxpr,
    in_splits: Splits,
    out_splits: Splits,
    where: Where,
) -> tuple[Values, Values]:
    nonzero = nonzeros(tangents)
    with where.inside():
        derived, came = jvp_jaxpr(jaxpr, nonzero)
    results = shard_map_call(
        derived,
        (*primals, *pick(tangents, nonzero)),
        (*in_splits, *pick(in_splits, nonzero)),
        (*out_splits, *pick(out_splits, came)),
        where,
    )
    count = len(out_splits)
    zeros = merge_zeros(_global(jaxpr, out_splits, where), came, results[count:])
    return results[:count], zeros


def _global(jaxpr: ClosedJaxpr, out_splits: Splits, where: Where) -> Avals:
    return _aval(jaxpr=jaxpr, in_splits=(), out_splits=out_splits, where=where)


def _linearize(  # noqa: PLR0913 - what a rule is given, and the params
    tangent_trace: StagingTrace,
    primals: Values,
    tangents: Values,
    *,
    jaxpr: ClosedJaxpr,
    in_splits: Splits,
    out_splits: Splits,
    where: Where,
) -> tuple[Values, Values]:
    active = nonzeros(tangents)
    with where.inside():
        lin = linearize_jaxpr(jaxpr, active)
    count = len(out_splits)
    others = [_stacked(a, where) for a in lin.primal.out_avals[count:]]
    places = (*in_splits, *out_splits, *others)
    first = len(in_splits) + count
    is_stacked = tuple([i >= first for i in lin.residuals])
    primal, tangent = jaxpr.derived(
        ("stacked", active, where),
        lambda: (
            _stacking(lin.primal, count, where),
            _unstacking(lin.tangent, is_stacked, where),
        ),
    )
    splits = (*out_splits, *others)
    results = shard_map_call(primal, primals, in_splits, splits, where)
    outs: Values = ()
    if lin.tangent.eqns or any(lin.nonzero):
        outs = tangent_trace.process(
            shard_map_p,
            (*lin.known(primals, results), *pick(tangents, active)),
            {
                "jaxpr": tangent,
                "in_splits": (
                    *[places[i] for i in lin.residuals],
                    *pick(in_splits, active),
                ),
                "out_splits": tuple(pick(out_splits, lin.nonzero)),
                "where": where,
            },
        )
    avals = _global(jaxpr, out_splits, where)
    return results[:count], merge_zeros(avals, lin.nonzero, outs)


def _stacked(aval: ShapedArray, where: Where) -> Split:
    """Return the split of a residual: stacked over the devices."""
    axes = aval.vma if where.check_vma else where.axis_names
    return (tuple([n for n in where.sizes if n in axes]),)


def _stacking(primal: ClosedJaxpr, count: int, where: Where) -> ClosedJaxpr:
    def run(*xs: Any) -> list[Any]:
        outs = eval_jaxpr(primal.jaxpr, primal.consts, *xs)
        return [*outs[:count], *[expand_dims(x, (0,)) for x in outs[count:]]]

    return _rewritten(primal, run, primal.in_avals, where)


def _unstacking(
    tangent: ClosedJaxpr, is_stacked: tuple[bool, ...], where: Where
) -> ClosedJaxpr:
    marks = (*is_stacked, *[False] * (len(tangent.in_avals) - len(is_stacked)))
    pairs = [*zip(tangent.in_avals, marks, strict=True)]
    avals = [a.with_shape((1, *a.shape)) if on else a for a, on in pairs]

    def run(*xs: Any) -> list[Any]:
        own = [squeeze(x, (0,)) if on else x for x, on in zip(xs, marks, strict=True)]
        return eval_jaxpr(tangent.jaxpr, tangent.consts, *own)

    return hoist_consts(_rewritten(tangent, run, avals, where))


def _transpose(
    cts: Values,
    operands: Values,
    *,
    jaxpr: ClosedJaxpr,
    in_splits: Splits,
    out_splits: Splits,
    where: Where,
) -> Values:
    linear = tuple([isinstance(x, UndefinedPrimal) for x in operands])
    nonzero = nonzeros(cts)
    given = pick(cts, nonzero)
    weak = tuple([get_aval(ct).weak_type for ct in given])
    with where.inside():
        derived, came = transpose_jaxpr(jaxpr, linear, nonzero, weak=weak)
    known = [not lin for lin in linear]
    ct_splits = tuple(pick(out_splits, nonzero))
    wanted = tuple(pick(pick(in_splits, linear), came))
    counted = derived.derived(
        ("counted", ct_splits, wanted, where),
        lambda: _counted(derived, ct_splits, wanted, where),
    )
    results = shard_map_call(
        counted,
        (*pick(operands, known), *given),
        (*pick(in_splits, known), *ct_splits),
        wanted,
        where,
    )
    found = iter(results)
    marks = iter(came)
    return tuple(
        [(next(found) if next(marks) else None) if lin else None for lin in linear]
    )


def _counted(
    derived: ClosedJaxpr, ct_splits: Splits, wanted: Splits, where: Where
) -> ClosedJaxpr:
    """Return a transposed program that counts a value replicated on all devices once.

    With `check_vma`, `pvary` and `psum` do this. Else each device takes its share of a
    cotangent, and cotangents of replicated operands are summed.
    """
    first = len(derived.in_avals) - len(ct_splits)

    def run(*xs: Any) -> list[Any]:
        args = list(xs)
        if not where.check_vma:
            for i, split in enumerate(ct_splits, first):
                count = where.parts(where.elsewhere(split))
                args[i] = mul(args[i], scalar_like(args[i], 1 / count))
        outs = eval_jaxpr(derived.jaxpr, derived.consts, *args)
        summed: list[Any] = []
        for x, split in zip(outs, wanted, strict=True):
            rest = where.elsewhere(split)
            for axis in rest:
                if not where.check_vma or axis in get_aval(x).vma:
                    x = psum_p.bind1(x, axis_name=axis)
            summed.append(x)
        return summed

    return _rewritten(derived, run, derived.in_avals, where)


# ---- batching, dead code ----


def _batch(
    args: Values,
    dims: Dims,
    *,
    jaxpr: ClosedJaxpr,
    in_splits: Splits,
    out_splits: Splits,
    where: Where,
) -> tuple[Values, Dims]:
    size = hidden_size(args, dims)
    with where.inside():
        derived, came = batch_jaxpr(jaxpr, size, dims)
    outs = shard_map_call(
        derived, args, _shifted(in_splits, dims), _shifted(out_splits, came), where
    )
    return outs, came


def _shifted(splits: Splits, dims: Dims) -> Splits:
    """Return splits of arrays that have a hidden axis, which stays whole."""
    found: list[Split] = []
    for split, d in zip(splits, dims, strict=True):
        if d is None or d >= len(split):
            found.append(split)
        else:
            found.append((*split[:d], (), *split[d:]))
    return tuple(found)


def _dce(
    used: tuple[bool, ...],
    *,
    jaxpr: ClosedJaxpr,
    in_splits: Splits,
    out_splits: Splits,
    where: Where,
) -> Narrowed:
    narrower, operands = narrow(jaxpr, used)
    params = {
        "jaxpr": narrower,
        "in_splits": tuple(pick(in_splits, operands)),
        "out_splits": tuple(pick(out_splits, used)),
        "where": where,
    }
    return Narrowed(operands, used, params)


def _bound(*, where: Where, **_: Any) -> AxisNames:
    return where.axis_names


shard_map_p: Final = ControlPrimitive(
    name="shard_map",
    aval=_aval,
    reference=_reference,
    lower=_lower,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=_batch,
    pad=PerSize("the parts of the devices have to be equal"),
    dce=_dce,
    jaxprs=("jaxpr",),
    eager=Eager.COMPILED,
    sentinels=Watched.AS_ONE,
    granularity=Unit.BODY,
    binds=_bound,
)
