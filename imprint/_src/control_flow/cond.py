"""The conditional: an equation that runs one of several jaxprs, chosen by operand 0.

`cond` and `switch` are this primitive. All branches have the same operands and result
avals. If only some of them have a tangent, a batch axis or a residual, the others get one
too (`_alike`), so derivatives and batches are conditionals again.
If `vmap` maps the index, every branch runs on the whole batch and elements are selected.
An infinite derivative in a slice that another branch was chosen for would become NaN, so
no gradient flows into such slices (`_cut_off`), at no run-time cost. A large unmapped
operand is not repeated for that: the slices of the others are replaced by one that the
branch was chosen for (`_replaced`).
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src.control_flow.call import jit_p
from imprint._src.control_flow.interpret import interpret
from imprint._src.control_flow.loop_nan_flags import NOT_RAISED
from imprint._src.control_flow.operand_lists import at_linear, one_by_one
from imprint._src.control_flow.trace_body import unite_consts
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.control import ControlPrimitive, Narrowed, Unit
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var, eval_jaxpr
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Avals, Dims, Values
from imprint._src.core.tangents import UndefinedPrimal, Zero, is_zero
from imprint._src.diagnostics.source import reset_replayed_source, set_replayed_source
from imprint._src.dtypes import is_inexact
from imprint._src.interpreters.batching import batch_jaxpr, hidden_size
from imprint._src.interpreters.dce import narrow
from imprint._src.interpreters.jvp import Mask, jvp_jaxpr, merge_zeros
from imprint._src.interpreters.linearize import LinearizedJaxpr, linearize_jaxpr
from imprint._src.interpreters.lowering import ir_type, lower_body, ordered_effects
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, StagingTrace, stage
from imprint._src.interpreters.transpose import transpose_jaxpr
from imprint._src.primitives.arg_reductions import argmax
from imprint._src.primitives.barrier import stop_gradient
from imprint._src.primitives.collectives import pvary
from imprint._src.primitives.core_ops import broadcast_in_dim, instantiate, moveaxis
from imprint._src.primitives.elementwise.comparison import eq
from imprint._src.primitives.elementwise.convert import (
    convert_element_type,
    convert_element_type_p,
)
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.dynamic_slicing import dynamic_slice
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.reductions import reduce_or
from imprint._src.stablehlo import Builder, Region, Value

Branches = tuple[ClosedJaxpr, ...]
_NOTHING: Final[Mask] = False


def choose(index: Any, branches: Branches, operands: Sequence[Any]) -> list[Any]:
    """Run branch number `index`, an int32 in range, on the operands.

    A result that is the same operand in every branch is that operand.
    """
    branches = _alike_types(branches)
    operands, branches = _differing(index, operands, branches)
    passed = [
        column[0] if len({*column}) == 1 else None
        for column in zip(*map(_passed, branches), strict=True)
    ]
    kept = tuple(place is None for place in passed)
    narrowed = tuple(
        branch if all(kept) else _with_results(branch, kept) for branch in branches
    )
    effects = cond_p.effects_of({"branches": narrowed})
    outs: Values = ()
    if any(kept) or effects:
        outs = cond_p.bind_all(index, *operands, branches=narrowed)
    rest = iter(outs)
    return [next(rest) if place is None else operands[place] for place in passed]


def _differing(
    index: Any, operands: Sequence[Any], branches: Branches
) -> tuple[Sequence[Any], Branches]:
    """Return operands and branches that vary over the axes over which the index varies.

    Inside `shard_map` no branch may then sum a cotangent over devices that do not run it.
    """
    vma = get_aval(index).vma
    columns = zip(*[branch.out_avals for branch in branches], strict=True)
    outs = tuple([vma.union(*[a.vma for a in column]) for column in columns])
    if all(
        aval.vma == axes
        for branch in branches
        for aval, axes in zip(branch.out_avals, outs, strict=True)
    ) and all(vma <= aval.vma for aval in branches[0].in_avals):
        return operands, branches

    def restaged(branch: ClosedJaxpr) -> ClosedJaxpr:
        def run(*xs: Any) -> list[Any]:
            came = eval_jaxpr(branch.jaxpr, branch.consts, *xs)
            return [pvary(x, axes) for x, axes in zip(came, outs, strict=True)]

        avals = [a.varying(a.vma | vma) for a in branch.in_avals]
        debug_info = DebugInfo("cond", branch.jaxpr.name)
        key = "differing", vma, outs
        return branch.derived(key, lambda: stage(run, avals, debug_info))

    return [pvary(x, vma) for x in operands], tuple(map(restaged, branches))


def _passed(branch: ClosedJaxpr) -> list[int | None]:
    """Return the argument that each result forwards; None if it is computed."""
    places = {v: i for i, v in enumerate(branch.jaxpr.invars)}
    outs = branch.jaxpr.outvars
    return [places.get(v) if isinstance(v, Var) else None for v in outs]


def _with_results(branch: ClosedJaxpr, kept: Sequence[bool]) -> ClosedJaxpr:
    jaxpr = branch.jaxpr
    outvars = [v for v, keep in zip(jaxpr.outvars, kept, strict=True) if keep]
    return ClosedJaxpr(Jaxpr((), jaxpr.invars, outvars, jaxpr.eqns, jaxpr.name))


# ---- branches of equal signatures ----


def _bind(
    index: Any, operands: Sequence[Any], branches: Sequence[ClosedJaxpr]
) -> Values:
    """Bind a conditional of derived branches; see `_united`."""
    alike, consts = _united(tuple(branches))
    return cond_p.bind_all(index, *consts, *operands, branches=_alike_types(alike))


def _united(branches: Branches) -> tuple[Branches, tuple[Any, ...]]:
    """Return branches without constants, and the constants as leading operands.

    A branch that was derived has constants if a user rule captured arrays.
    """
    if not any(branch.consts for branch in branches):
        return branches, ()
    first, *others = branches
    return first.derived(("united", *others), lambda: unite_consts(branches))


def _alike(
    derive: Callable[[ClosedJaxpr, Mask], tuple[Any, tuple[bool, ...]]],
    branches: Branches,
) -> tuple[list[Any], tuple[bool, ...]]:
    """Derive a program from each branch, with the union of their results.

    Args:
        derive: takes a branch and the demanded results; returns the derived program and
            the results that it has.
        branches: the branches.
    """
    found = [derive(branch, _NOTHING) for branch in branches]
    every = tuple(map(any, zip(*(gives for _, gives in found), strict=True)))
    return [
        derived if gives == every else derive(branch, every)[0]
        for branch, (derived, gives) in zip(branches, found, strict=True)
    ], every


def _alike_types(branches: Sequence[ClosedJaxpr]) -> Branches:
    """Make a result weak only if it is weak in all branches."""
    columns = zip(*(branch.out_avals for branch in branches), strict=True)
    wanted = tuple(
        next((aval for aval in column if not aval.weak_type), column[0])
        for column in columns
    )
    return tuple(_typed(branch, wanted) for branch in branches)


def _typed(branch: ClosedJaxpr, wanted: Avals) -> ClosedJaxpr:
    if branch.out_avals == wanted:
        return branch

    def run(*args: Any) -> list[Any]:
        outs = eval_jaxpr(branch.jaxpr, branch.consts, *args)
        return [
            x
            if get_aval(x) is aval
            else convert_element_type_p.bind1(x, new_dtype=aval.dtype, weak_type=False)
            for x, aval in zip(outs, wanted, strict=True)
        ]

    debug_info = DebugInfo("cond", branch.jaxpr.name)
    return branch.derived(
        ("typed", wanted), lambda: stage(run, branch.in_avals, debug_info)
    )


# ---- evaluation ----


def _aval(index: ShapedArray, *_: ShapedArray, branches: Branches) -> Avals:
    return branches[0].out_avals


def _chosen(index: Any, branches: Branches) -> ClosedJaxpr:
    at = int(np.asarray(index))
    return branches[at if 0 <= at < len(branches) else -1]


def _reference(index: Any, *arrays: Any, branches: Branches) -> Values:
    return interpret(_chosen(index, branches).jaxpr, arrays)


def _eager(index: Any, *operands: Any, branches: Branches) -> Values:
    branch = _chosen(index, branches)
    return jit_p.bind_all(*operands, jaxpr=branch, name=branch.jaxpr.name)


def _lower(
    b: Builder, index: Value, *values: Value, branches: Branches
) -> tuple[Value, ...]:
    ordered = ordered_effects(*(branch.jaxpr for branch in branches))
    given = [*(b.tokens[e] for e in ordered), *values]

    def region(branch: ClosedJaxpr) -> Region:
        return lambda inner, _: lower_body(
            inner,
            branch.jaxpr,
            given,
            ordered,
            locations=bool(b.module.locations),
        )

    count = len(ordered)
    types = [*(t.type for t in given[:count]), *map(ir_type, branches[0].out_avals)]
    outs = b.case(index, [region(branch) for branch in branches], types)
    b.tokens.update(zip(ordered, outs[:count], strict=True))
    return outs[count:]


# ---- derivatives ----


def _jvp(
    primals: Values, tangents: Values, *, branches: Branches
) -> tuple[Values, Values]:
    nonzero = tuple(not is_zero(t) for t in tangents[1:])
    derived, out_nonzero = _alike(
        lambda branch, wanted: jvp_jaxpr(branch, nonzero, instantiate=wanted), branches
    )
    given = [t for t in tangents if not is_zero(t)]
    results = _bind(primals[0], [*primals[1:], *given], derived)
    avals = branches[0].out_avals
    count = len(avals)
    return results[:count], merge_zeros(avals, out_nonzero, results[count:])


def _linearize(
    tangent_trace: StagingTrace,
    primals: Values,
    tangents: Values,
    *,
    branches: Branches,
) -> tuple[Values, Values]:
    active = tuple(not is_zero(t) for t in tangents[1:])
    first, *others = branches
    split = first.derived(("cond", active, *others), lambda: _split(branches, active))
    avals = first.out_avals
    results = _bind(primals[0], primals[1:], split.primals)
    given = [t for t in tangents if not is_zero(t)]
    out_tangents: Values = ()
    if any(split.nonzero) or cond_p.effects_of({"branches": split.tangents}):
        values = [*primals[1:], *results]
        known = [values[i] for i in split.residuals]
        out_tangents = tangent_trace.process(
            cond_p, (primals[0], *known, *given), {"branches": split.tangents}
        )
    return results[: len(avals)], merge_zeros(avals, split.nonzero, out_tangents)


class _Split(NamedTuple):
    """The branches, split into compatible primal and tangent programs.

    Args:
        primals: `(*args) -> (*outs, *slots)`; a slot holds a residual of the branch that
            runs, or zeros.
        tangents: `(*residuals, *tangents) -> nonzero tangents out`.
        nonzero: which results have a tangent.
        residuals: where each residual is found, counted in `(*args, *outs, *slots)`.
    """

    primals: Branches
    tangents: Branches
    nonzero: tuple[bool, ...]
    residuals: tuple[int, ...]


def _split(branches: Branches, active: tuple[bool, ...]) -> _Split:
    """Split all branches; residuals of equal avals share a slot, as one branch runs."""

    def derive(branch: ClosedJaxpr, wanted: Mask) -> Any:
        lin = linearize_jaxpr(branch, active, instantiate=wanted)
        return lin, lin.nonzero

    lins, nonzero = _alike(derive, branches)
    shared = len(branches[0].in_avals) + len(branches[0].out_avals)
    slots: list[ShapedArray] = []
    places = [_places(lin, shared, len(branches[0].out_avals), slots) for lin in lins]
    used = sorted({place for taken in places for place in taken})
    position = {place: i for i, place in enumerate(used)}
    residual_avals = {
        place: var.aval
        for lin, taken in zip(lins, places, strict=True)
        for place, var in zip(
            taken, lin.tangent.jaxpr.invars[: len(taken)], strict=True
        )
    }
    primals = [
        _with_slots(lin, taken, shared, slots)
        for lin, taken in zip(lins, places, strict=True)
    ]
    tangents = [
        _widened(
            lin.tangent.jaxpr,
            [position[place] for place in taken],
            [residual_avals[place] for place in used],
        )
        for lin, taken in zip(lins, places, strict=True)
    ]
    return _Split(tuple(primals), _alike_types(tangents), nonzero, tuple(used))


def _places(
    lin: LinearizedJaxpr, shared: int, outs: int, slots: list[ShapedArray]
) -> list[int]:
    """Return where each residual of a branch is found; add slots where there is none."""
    free = list(range(len(slots)))
    places: list[int] = []
    for residual in lin.residuals:
        if residual < shared:  # an argument or a result
            places.append(residual)
            continue
        aval = lin.primal.out_avals[outs + residual - shared]
        slot = next((i for i in free if slots[i] is aval), None)
        if slot is None:
            slot = len(slots)
            slots.append(aval)
        else:
            free.remove(slot)
        places.append(shared + slot)
    return places


def _with_slots(
    lin: LinearizedJaxpr, places: list[int], shared: int, slots: list[ShapedArray]
) -> ClosedJaxpr:
    """Return the primal program of a branch, which fills all slots."""
    outs = len(lin.nonzero)
    sources = {
        place: residual
        for place, residual in zip(places, lin.residuals, strict=True)
        if place >= shared
    }

    def run(*args: Any) -> list[Any]:
        results = eval_jaxpr(lin.primal.jaxpr, lin.primal.consts, *args)
        values = [*args, *results]
        filled = (
            values[sources[i]] if i in sources else instantiate(Zero(aval))
            for i, aval in enumerate(slots, start=shared)
        )
        return [*results[:outs], *filled]

    return stage(run, lin.primal.in_avals, DebugInfo("cond", lin.primal.jaxpr.name))


def _widened(jaxpr: Jaxpr, positions: list[int], avals: list[ShapedArray]) -> Any:
    """Return a tangent program that takes the residuals of all branches."""
    leading = [Var(aval) for aval in avals]
    for i, position in enumerate(positions):
        leading[position] = jaxpr.invars[i]
    rest = jaxpr.invars[len(positions) :]
    return ClosedJaxpr(
        Jaxpr((), (*leading, *rest), jaxpr.outvars, jaxpr.eqns, jaxpr.name)
    )


def _transpose(cts: Values, operands: Values, *, branches: Branches) -> Values:
    index, *others = operands
    linear = tuple(isinstance(x, UndefinedPrimal) for x in others)
    nonzero = tuple(not is_zero(ct) for ct in cts)
    derived, given_back = _alike(
        lambda branch, wanted: transpose_jaxpr(
            branch, linear, nonzero, instantiate=wanted
        ),
        tuple(at_linear(branch, others) for branch in branches),
    )
    known = [x for x in others if not isinstance(x, UndefinedPrimal)]
    given = [ct for ct in cts if not is_zero(ct)]
    results = iter(_bind(index, [*known, *given], derived))
    marks = iter(given_back)
    return (
        None,
        *((next(results) if next(marks) else None) if lin else None for lin in linear),
    )


# ---- batching ----


def _batch(args: Values, dims: Dims, *, branches: Branches) -> tuple[Values, Dims]:
    size = hidden_size(args, dims)
    if dims[0] is not None:
        if cond_p.effects_of({"branches": branches}):
            return one_by_one(cond_p, args, dims, {"branches": branches})
        return select_branches(args, dims, size, branches)
    found = [batch_jaxpr(branch, size, dims[1:]) for branch in branches]
    wanted = tuple(
        next((d for d in column if d is not None), None)
        for column in zip(*(came for _, came in found), strict=True)
    )
    derived = [
        batched
        if came == wanted
        else batch_jaxpr(branch, size, dims[1:], out_dims=wanted)[0]
        for branch, (batched, came) in zip(branches, found, strict=True)
    ]
    return _bind(args[0], args[1:], derived), wanted


# ---- dead code ----


def _pad(
    bucket: PadContext, index: PaddedValue, *operands: PaddedValue, branches: Branches
) -> Values:
    padded = tuple(map(bucket.body, branches))
    return bucket.bind_all(index, *bucket.sizes, *operands, branches=padded)


def _dce(used: tuple[bool, ...], *, branches: Branches) -> Narrowed:
    needs = [narrow(branch, used)[1] for branch in branches]
    every = tuple(map(any, zip(*needs, strict=True)))
    narrowed = tuple(narrow(branch, used, keep=every)[0] for branch in branches)
    return Narrowed((True, *every), used, {"branches": narrowed})


# ---- debug_nans ----


def _sentinels(
    watch: Any, eqn: Eqn, operands: Sequence[tuple[Any, int]]
) -> list[tuple[Any, int]]:
    """Flag the values of the branch that runs; the flags of others are not raised."""
    bodies = [watch.body(branch) for branch in eqn.params["branches"]]
    counts = [len(body.origins) for body in bodies]
    branches = tuple(
        _with_flags_of_all(body.closed, sum(counts[:i]), sum(counts[i + 1 :]))
        for i, body in enumerate(bodies)
    )
    token = set_replayed_source(eqn.source)
    try:
        index, *values = [x for x, _ in operands]
        *outs, flags = _bind(index, values, branches)
        given = [flag for _, flag in operands]
        made = [
            watch.adopt(
                slice_in_dim(flags, sum(counts[:i]), sum(counts[: i + 1])),
                body,
                eqn,
                given[1:],
            )
            for i, body in enumerate(bodies)
        ]
        causes = [(*column, *given) for column in zip(*made, strict=True)]
        return [
            (x, watch.add(x, "cond", eqn.source, tuple(f for f in flags if f >= 0)))
            for x, flags in zip(outs, causes, strict=True)
        ]
    finally:
        reset_replayed_source(token)


def _with_flags_of_all(branch: ClosedJaxpr, before: int, after: int) -> ClosedJaxpr:
    def run(*args: Any) -> list[Any]:
        *outs, flags = eval_jaxpr(branch.jaxpr, branch.consts, *args)
        first, last = (broadcast_in_dim(NOT_RAISED, (n,), ()) for n in (before, after))
        return [*outs, concatenate([first, flags, last], 0)]

    return stage(run, branch.in_avals, DebugInfo("debug_nans", branch.jaxpr.name))


cond_p: Final = ControlPrimitive(
    name="cond",
    aval=_aval,
    reference=_reference,
    lower=_lower,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=_batch,
    pad=_pad,
    dce=_dce,
    jaxprs=("branches",),
    eager=_eager,
    sentinels=_sentinels,
    granularity=Unit.BODY,
)


# ---- a mapped index ----

_LARGE: Final = 256
"""Elements from which an unmapped operand is not repeated."""


def select_branches(
    args: Values, dims: Dims, size: int, branches: tuple[ClosedJaxpr, ...]
) -> tuple[Values, Dims]:
    """Run every branch on the batch, and select by the index, which is operand 0."""
    index = moveaxis(args[0], dims[0] or 0, 0)
    count = len(branches[0].out_avals)
    operands = [
        x if d is None else moveaxis(x, d, 0)
        for x, d in zip(args[1:], dims[1:], strict=True)
    ]
    mapped = [d is not None for d in dims[1:]]
    if not any(map(_is_large, operands, mapped)):
        guard = _cut_off
        operands = [
            _repeated(x, size) if not on and _moves(x) else x
            for x, on in zip(operands, mapped, strict=True)
        ]
        mapped = [on or _moves(x) for x, on in zip(operands, mapped, strict=True)]
    else:
        guard = _replaced
    where = tuple(0 if on else None for on in mapped)
    columns: list[list[Any]] = []
    for number, branch in enumerate(branches):
        guarded = guard(eq(index, np.int32(number)), operands, mapped)
        derived, _ = batch_jaxpr(branch, size, where, out_dims=(0,) * count)
        columns.append(eval_jaxpr(derived.jaxpr, derived.consts, *guarded))
    outs = [
        select_n(_along(index, cases[0]), *cases)
        for cases in zip(*columns, strict=True)
    ]
    return tuple(outs), (0,) * count


def _moves(x: Any) -> bool:
    """Return whether a value can have a gradient."""
    return is_inexact(get_aval(x).dtype)


def _is_large(x: Any, on: bool) -> bool:  # noqa: FBT001 - a column of a table
    return not on and _moves(x) and get_aval(x).size >= _LARGE


def _repeated(x: Any, size: int) -> Any:
    shape = get_aval(x).shape
    return broadcast_in_dim(x, (size, *shape), tuple(range(1, len(shape) + 1)))


def _along(x: Any, like: Any) -> Any:
    """Repeat a vector along all axes but the first."""
    shape = get_aval(like).shape
    return x if len(shape) == 1 else broadcast_in_dim(x, shape, (0,))


def _cut_off(runs: Any, operands: list[Any], mapped: list[bool]) -> list[Any]:
    """Return operands whose slices have a gradient only where the branch runs."""
    return [
        select_n(_along(runs, x), stop_gradient(x), x) if _moves(x) else x
        for x in operands
    ]


def _replaced(runs: Any, operands: list[Any], mapped: list[bool]) -> list[Any]:
    """Return operands with one slice in place of all for which the branch does not run.

    It is the first where it runs. If there is none, the shared ones have no gradient.
    """
    if get_aval(runs).size == 0:
        return operands
    runs_at_all = reduce_or(runs, (0,))
    first = argmax(convert_element_type(runs, np.int32), 0, np.int32)

    def replaced(x: Any, on: bool) -> Any:  # noqa: FBT001 - a column of a table
        if not on:
            return select_n(runs_at_all, stop_gradient(x), x) if _moves(x) else x
        shape = get_aval(x).shape
        starts = (first, *(np.int32(0) for _ in shape[1:]))
        one = stop_gradient(dynamic_slice(x, starts, (1, *shape[1:])))
        every = broadcast_in_dim(one, shape, tuple(range(len(shape))))
        return select_n(_along(runs, x), every, x)

    return [replaced(x, on) for x, on in zip(operands, mapped, strict=True)]
