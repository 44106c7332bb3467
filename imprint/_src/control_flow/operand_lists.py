"""Groups of loop operands, and jaxprs with reordered arguments.

The operands of a loop come in groups (captured values, carry, scanned operands), and so do
those of the jaxprs that its rules derive, in another order. A reordered jaxpr is cached in
the original, so it is one object. A derived jaxpr may have constants: an equation that binds
it takes them before its other constant operands.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.control import ControlPrimitive
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Var
from imprint._src.core.primitive import Dims, Params, Values
from imprint._src.core.tangents import UndefinedPrimal, Zero, is_zero
from imprint._src.interpreters.batching import hidden_size
from imprint._src.interpreters.dce import depending
from imprint._src.interpreters.trace_to_jaxpr import hoist_consts
from imprint._src.primitives.core_ops import broadcast_in_dim, instantiate, moveaxis
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.shape import expand_dims, squeeze

_T = TypeVar("_T")
Mask = tuple[bool, ...]


def split(values: Sequence[_T], *counts: int) -> list[list[_T]]:
    """Split values into groups of `counts`, and the rest."""
    groups: list[list[_T]] = []
    at = 0
    for count in counts:
        groups.append([*values[at : at + count]])
        at += count
    return [*groups, [*values[at:]]]


def pick(values: Sequence[_T], mask: Sequence[bool]) -> list[_T]:
    """Return the marked values."""
    return [x for x, on in zip(values, mask, strict=True) if on]


def put_back(values: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    """Return values where the mask is true, None elsewhere: undo `pick`."""
    given = iter(values)
    return [next(given) if on else None for on in mask]


def either(a: Sequence[bool], b: Sequence[bool]) -> Mask:
    """Return where one of two masks is true."""
    return tuple(x or y for x, y in zip(a, b, strict=True))


def nonzeros(tangents: Sequence[Any]) -> Mask:
    """Return which tangents are not symbolically zero."""
    return tuple(not is_zero(t) for t in tangents)


def as_values(tangents: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    """Return the marked tangents as values."""
    return [instantiate(t) for t in pick(tangents, mask)]


def reordered(
    closed: ClosedJaxpr, inputs: Sequence[int], outputs: Sequence[int] | None = None
) -> ClosedJaxpr:
    """Return a jaxpr with its arguments and results in another order; constants first.

    Args:
        closed: the jaxpr.
        inputs: for each argument of the new one, which one of the old.
        outputs: likewise, of the results; None where they stay.
    """

    def make() -> ClosedJaxpr:
        old = hoist_consts(closed).jaxpr
        consts, args = split(old.invars, len(closed.consts))
        invars = [*consts, *(args[i] for i in inputs)]
        outvars = old.outvars if outputs is None else [old.outvars[i] for i in outputs]
        return ClosedJaxpr(Jaxpr((), invars, outvars, old.eqns, old.name))

    return closed.derived(("reordered", *inputs, None, *(outputs or ())), make)


def at_avals(closed: ClosedJaxpr, avals: Sequence[ShapedArray]) -> ClosedJaxpr:
    """Return a jaxpr that takes these avals, which differ in weak types from its own.

    Programs derived from it then have the weak types of their use, such as a
    cotangent that is stronger than the argument it belongs to.
    """
    if closed.in_avals == tuple(avals):
        return closed
    return closed.derived(("at", *avals), lambda: _retyped(closed, avals))


def at_linear(closed: ClosedJaxpr, operands: Sequence[Any]) -> ClosedJaxpr:
    """Return a jaxpr that takes the avals of those of its operands that are linear."""
    avals = [
        x.aval if isinstance(x, UndefinedPrimal) else own
        for x, own in zip(operands, closed.in_avals, strict=True)
    ]
    return at_avals(closed, avals)


def _retyped(closed: ClosedJaxpr, avals: Sequence[ShapedArray]) -> ClosedJaxpr:
    old = closed.jaxpr
    invars = [
        v if v.aval == aval else Var(aval)
        for v, aval in zip(old.invars, avals, strict=True)
    ]
    new: dict[Atom, Atom] = dict(zip(old.invars, invars, strict=True))
    eqns = [
        Eqn(
            [new.get(v, v) for v in e.invars],
            e.outvars,
            e.primitive,
            e.params,
            e.source,
        )
        for e in old.eqns
    ]
    outvars = [new.get(v, v) for v in old.outvars]
    jaxpr = Jaxpr(old.constvars, invars, outvars, eqns, old.name)
    return ClosedJaxpr(jaxpr, closed.consts)


def interleaved(counts: Sequence[int], others: Sequence[int]) -> list[int]:
    """Return the order that puts each group of a second row behind that of the first.

    Args:
        counts: the sizes of the groups of the first row.
        others: those of the second, which follows the first.
    """
    order: list[int] = []
    at, behind = 0, sum(counts)
    for count, other in zip(counts, others, strict=True):
        order += range(at, at + count)
        order += range(behind, behind + other)
        at, behind = at + count, behind + other
    return order


def dependent(jaxpr: Jaxpr, marked: Sequence[bool]) -> Mask:
    """Return which results depend on a marked argument."""
    found: set[Atom] = {*pick(jaxpr.invars, marked)}
    for eqn in jaxpr.eqns:
        on = [v in found for v in eqn.invars]
        results = depending(eqn.primitive, eqn.params, on, len(eqn.outvars))
        found.update(pick(eqn.outvars, results))
    return tuple(v in found for v in jaxpr.outvars)


def repeated(x: Any, length: int) -> Any:
    """Return a value once for each step, or each example, along a new first axis."""
    shape = get_aval(x).shape
    return broadcast_in_dim(x, (length, *shape), tuple(range(1, len(shape) + 1)))


def in_front(x: Any, dim: int | None, size: int) -> Any:
    """Return a value with its hidden axis in front; one without is repeated."""
    return repeated(x, size) if dim is None else moveaxis(x, dim, 0)


def one_by_one(
    primitive: ControlPrimitive, args: Sequence[Any], dims: Dims, params: Params
) -> tuple[Values, Dims]:
    """Bind an equation once per slice, as its effects must happen once per slice."""
    size = hidden_size(args, dims)
    rows = [
        primitive.bind_all(
            *(
                x if d is None else squeeze(slice_in_dim(x, i, i + 1, axis=d), (d,))
                for x, d in zip(args, dims, strict=True)
            ),
            **params,
        )
        for i in range(size)
    ]
    if not rows:
        slices = zip(map(get_aval, args), dims, strict=True)
        avals = tuple(
            a if d is None else a.with_shape((*a.shape[:d], *a.shape[d + 1 :]))
            for a, d in slices
        )
        empty = (
            a.with_shape((0, *a.shape)) for a in primitive.out_avals(avals, params)
        )
        outs = tuple(instantiate(Zero(aval)) for aval in empty)
    else:
        outs = tuple(
            concatenate([expand_dims(x, (0,)) for x in column], 0)
            for column in zip(*rows, strict=True)
        )
    return outs, (0,) * len(outs)
