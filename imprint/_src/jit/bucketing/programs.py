"""Bucket programs: one executable for all sizes in a bucket.

1. The trace for all sizes is padded to the lengths of the bucket; its last arguments are
   the true sizes (`interpreters.padding`).
2. Arguments are copied into arrays of the bucket's length, followed by zeros. If one is
   already the beginning of such an array, the call takes the program that assumes nothing
   about the padding.
3. Results are cut to their true length, which copies nothing.
Equations without a padding rule have no bucket program: each size is compiled separately.
"""

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias, cast, final

import numpy as np

from imprint._src.array import ArrayImpl, consume, padding_of, unpadded, wrap_host
from imprint._src.config import settings
from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr
from imprint._src.core.padding import NoPaddingError
from imprint._src.diagnostics.source import current_source
from imprint._src.dynamic_shapes.decisions import SizeComparison
from imprint._src.dynamic_shapes.expression import SymbolicSize
from imprint._src.dynamic_shapes.values import evaluate
from imprint._src.interpreters.padding import padded
from imprint._src.jit.bucketing.buckets import (
    LEAST_BUCKET,
    bucket_of,
    in_bucket,
    is_beginning,
    is_spread,
)
from imprint._src.jit.bucketing.symbolic_traces import (
    SizedCall,
    SizeFamily,
    Sizes,
    size_families,
)
from imprint._src.jit.calls.axes import named_shape
from imprint._src.jit.calls.key import CallKey, PackedKey, Pending
from imprint._src.jit.calls.tracing import Results, TracedCall
from imprint._src.jit.versions.definitions import Definition
from imprint._src.jit.versions.version import Version
from imprint._src.sharding.named import NamedSharding
from imprint._src.tree import internal as tree

Cuts: TypeAlias = tuple[tuple[Any, ...] | None, ...]


class BucketLayout(NamedTuple):
    """The assumptions of a bucket program about padding.

    Args:
        zeros: whether the padding of its arguments must be zeros.
        reuses: whether it is the one of two programs that is for reused memory.
    """

    zeros: bool
    reuses: bool


@final
class BucketProgram(NamedTuple):
    """The program for the calls of one family in one bucket.

    Args:
        key: the key of its version.
        traced: the padded trace; its last arguments are the true sizes.
        results: the structure of the result.
        shapes: of the arguments in the bucket.
        cuts: of the results, the true shapes, with names in them; None if it has none.
        how: its assumptions about padding.
    """

    key: PackedKey
    traced: TracedCall
    results: Results
    shapes: tuple[tuple[int, ...], ...]
    cuts: Cuts
    how: BucketLayout

    def arguments(self, pending: Pending, sizes: Sizes) -> list[Any]:
        """Return the arguments of a call as the program takes them."""
        avals = CallKey.unpack(pending.key).avals
        leaves = [
            in_bucket(x, aval, shape, zeros=self.how.zeros)
            for x, aval, shape in zip(pending.leaves, avals, self.shapes, strict=True)
        ]
        return [*leaves, *sizes_as_arrays(sizes)]

    def run(self, version: Version, pending: Pending, sizes: Sizes) -> Any:
        """Return the result of the function."""
        leaves = self.arguments(pending, sizes)
        outs = run_padded(version, pending.leaves, leaves)
        return self.results.unflatten(shortened(outs, self.cuts, sizes))


def run_padded(version: Version, given: Sequence[Any], leaves: list[Any]) -> Any:
    """Run a bucket program; donated arguments are consumed with their copies."""
    outs = version.run(leaves)
    for i, how in version.donated.items():
        x = given[i]
        if isinstance(x, ArrayImpl) and x is not leaves[i]:
            consume(x, how, current_source())
    return outs


def shortened(outs: Sequence[ArrayImpl], cuts: Cuts, sizes: Sizes) -> list[ArrayImpl]:
    """Return results cut to their true length."""
    return [_cut(x, shape, sizes) for x, shape in zip(outs, cuts, strict=True)]


def cuts_of(avals: Sequence[ShapedArray]) -> Cuts:
    """Return the true shapes of results, None for those that have no names."""
    return tuple([_names_in(aval.shape) for aval in avals])


def _cut(x: ArrayImpl, shape: tuple[Any, ...] | None, sizes: Sizes) -> ArrayImpl:
    if shape is None:
        return x
    true = tuple([evaluate(n, sizes) for n in shape])
    if true == x.aval.shape:
        return x
    if is_spread(x.aval):
        return cast("ArrayImpl", x[tuple(map(slice, true))])
    return unpadded(x, true)


def sizes_as_arrays(sizes: Sizes) -> list[ArrayImpl]:
    """Return true sizes as the last arguments of a program."""
    return [*map(_as_array, sizes.values())]


@lru_cache(maxsize=8192)
def _as_array(n: int) -> ArrayImpl:
    return wrap_host(SIZE, np.asarray(n, np.int32))


SIZE: Final = ShapedArray((), np.dtype(np.int32))

# ---- finding ----


class BucketCall(NamedTuple):
    """A call that a program for a bucket answers.

    Args:
        family: whose program it is.
        program: the program.
        sizes: the true sizes.
    """

    family: SizeFamily
    program: BucketProgram
    sizes: Sizes


def known_call(definition: Definition, pending: Pending) -> BucketCall | None:
    """Return the existing bucket program for a call; None if none holds."""
    families = size_families(definition)
    leaves, call = families.known
    if leaves is pending.leaves:  # as in the last lookup
        return call
    sized = sized_call(definition, pending)
    if sized is None:
        return None
    family = families.find(definition, sized)
    call = None
    if family is not None and family.is_tried and family.programs:
        program = family.programs.get(bucket_key(definition, pending, sized, family))
        call = None if program is None else BucketCall(family, program, sized.sizes)
    families.known = pending.leaves, call
    return call


def sized_call(definition: Definition, pending: Pending) -> SizedCall | None:
    """Return a call with its sizes; None if no bucket may answer it."""
    flags = settings()
    if definition.options.buckets is None or flags.debug_nans or flags.debug_infs:
        return None  # the padding may hold NaN
    return size_families(definition).sized(definition, pending)


def bucket_key(
    definition: Definition,
    pending: Pending,
    sized: SizedCall,
    family: SizeFamily | None = None,
) -> "BucketKey":
    """Return the bucket of a call.

    Args:
        definition: of the function.
        pending: the call.
        sized: its sizes.
        family: that of the call: its bucket is no longer than the sizes of this; None
            if it is not known yet.
    """
    buckets, function = definition.options.buckets, definition.signature.function_name
    longest = {
        name: bucket_of(buckets, name, n, function) for name, n in sized.sizes.items()
    }
    if family is not None:
        longest = {name: family.at_most(name, n) for name, n in longest.items()}
    avals = CallKey.unpack(pending.key).avals
    placed = tuple([x.sharding for x in avals])
    zeros = not any(
        is_beginning(x, named_shape(aval, i, sized.entries, longest).shape)
        for i, (x, aval) in enumerate(zip(pending.leaves, avals, strict=True))
        if isinstance(x, ArrayImpl) and padding_of(x) is not None
    )
    return BucketKey(tuple(longest.items()), placed, zeros)


class BucketKey(NamedTuple):
    """Which program of a family is for a call.

    Args:
        bounds: the names, each with the length of the bucket.
        placed: where the arguments are.
        zeros: whether zeros can be in all of their padding.
    """

    bounds: tuple[tuple[str, int], ...]
    placed: tuple[Any, ...]
    zeros: bool

    @property
    def longest(self) -> dict[str, int]:
        """The lengths of the bucket by name: the largest sizes of its program."""
        return dict(self.bounds)


TraceFamily = Callable[[SizedCall], tuple[SizeFamily, TracedCall | None]]


def make_call(
    definition: Definition, pending: Pending, trace: TraceFamily
) -> BucketCall | None:
    """Make the bucket program for a call; None if it cannot be padded."""
    sized = sized_call(definition, pending)
    if sized is None:
        return None
    family, traced = trace(sized)
    if traced is None or family.unpadded:
        return None
    at = bucket_key(definition, pending, sized, family)
    program = family.programs.get(at)
    if program is None:
        uneven = why_uneven(pending, sized, at)
        if uneven:
            family.uneven[tuple(sized.sizes.values())] = uneven
            return None
        try:
            program = _padded(family, traced, pending, sized, at)
        except NoPaddingError as err:
            family.unpadded = _padding_error(err)
            return None
        family.programs[at] = program
    return BucketCall(family, program, sized.sizes)


def why_uneven(pending: Pending, sized: SizedCall, at: BucketKey) -> str:
    """Return why devices cannot share a bucket evenly; "" if they can."""
    for i, aval in enumerate(CallKey.unpack(pending.key).avals):
        if not is_spread(aval):
            continue
        shape = named_shape(aval, i, sized.entries, at.longest).shape
        tiling = cast("NamedSharding", aval.sharding).tiling(aval.ndim)
        for axis, (n, parts) in enumerate(zip(shape, tiling, strict=True)):
            if n % parts:
                treedef = tree.structure(pending.call.dynamic)
                name = pending.call.spec.leaf_names(treedef)[i]
                step = parts * -(-LEAST_BUCKET // parts)
                return (
                    f"axis {axis} of {name} is in {parts} equal parts, and its bucket of "
                    f"{n} cannot be. Give buckets of multiples of {parts}: "
                    f"`buckets=lambda n: -(-n // {step}) * {step}`."
                )
    return ""


def _padding_error(err: NoPaddingError) -> str:
    """Return which equation cannot be padded, at which line, and why."""
    if err.equation is None:
        return f"an argument cannot be padded: {err}"
    source = err.equation.source
    line = "" if source is None else f" at {source}, `{source.expression}`"
    return f"{err.equation.primitive}{line}: {err}"


def _padded(
    family: SizeFamily,
    traced: TracedCall,
    pending: Pending,
    sized: SizedCall,
    at: BucketKey,
) -> BucketProgram:
    start = time.perf_counter()
    sizes = at.longest
    careful = padded(traced.closed, sizes)
    trusting = trusting_zeros(traced.closed, sizes)
    is_one = len(trusting.eqns) >= len(careful.eqns)  # zeros save no mask: one for all
    how = BucketLayout(at.zeros and not is_one, not (at.zeros or is_one))
    closed = closed_for(traced.closed, sizes, zeros=how.zeros)
    seconds = time.perf_counter() - start
    return program_of(
        family, traced, PaddedProgram(closed, how, seconds), pending, sized, at
    )


class PaddedProgram(NamedTuple):
    """A padded program, its assumptions and the seconds that it took."""

    closed: ClosedJaxpr
    how: BucketLayout
    seconds: float


def closed_for(closed: ClosedJaxpr, sizes: Sizes, *, zeros: bool) -> ClosedJaxpr:
    """Return the program for a bucket; `padded` caches its results."""
    made = trusting_zeros(closed, sizes) if zeros else padded(closed, sizes)
    return sizes_last(made, len(sizes))


def program_of(
    family: SizeFamily,
    traced: TracedCall,
    made_of: PaddedProgram,
    pending: Pending,
    sized: SizedCall,
    at: BucketKey,
) -> BucketProgram:
    """Return the program for the calls of a family in a bucket.

    Args:
        family: the family.
        traced: its trace.
        made_of: the padded program.
        pending: a call in the bucket.
        sized: its sizes.
        at: the bucket.
    """
    closed, how, seconds = made_of
    sizes = at.longest
    memory = " in reused memory" if how.reuses else ""
    outs = traced.closed.out_avals
    flat = Results(tree.structure(tuple(outs)), {})
    made = traced.at(closed, flat, seconds)
    made.hidden = family.names
    bounds = [f"{name} <= {n}{memory}" for name, n in sizes.items()]
    scope = _scope_of(traced)
    told = [
        SizeComparison(scope.name(name), "<=", n, answer=True)
        for name, n in sizes.items()
    ]
    made.conditions = family.condition.where(told), *bounds
    key = CallKey.unpack(pending.key)
    named = {name: scope.name(f"{name}≤{n}{memory}") for name, n in sizes.items()}
    avals = tuple(
        [
            named_shape(x, i, sized.entries, named).with_sharding(x.sharding)
            for i, x in enumerate(key.avals)
        ]
    )
    return BucketProgram(
        key._replace(avals=avals).packed(),
        made,
        traced.results,
        tuple([a.shape for a in closed.in_avals[: len(avals)]]),
        cuts_of(outs),
        how,
    )


def _names_in(shape: tuple[Any, ...]) -> tuple[Any, ...] | None:
    return shape if any(type(n) is SymbolicSize for n in shape) else None


def _scope_of(traced: TracedCall) -> Any:
    every: list[Any] = [n for aval in traced.closed.in_avals for n in aval.shape]
    return next(n.scope for n in every if type(n) is SymbolicSize)


def trusting_zeros(closed: ClosedJaxpr, bounds: Sizes) -> ClosedJaxpr:
    """Return a program that assumes zeros in all padding of its arguments."""
    return padded(closed, bounds, [0] * len(closed.in_avals))


def sizes_last(closed: ClosedJaxpr, count: int) -> ClosedJaxpr:
    """Return a padded program with its sizes after the other arguments."""
    jaxpr = closed.jaxpr
    invars = (*jaxpr.invars[count:], *jaxpr.invars[:count])
    turned = Jaxpr(jaxpr.constvars, invars, jaxpr.outvars, jaxpr.eqns, jaxpr.name)
    return ClosedJaxpr(turned, closed.consts)


# ---- why a size has a program of its own ----


def reasons_by_slot(
    definition: Definition, pending: Pending
) -> Callable[[], dict[str, str]]:
    """Return a function that returns why named lengths of a call have their own programs.

    It holds no array of the call. Keys are slots of explanations, such as `x.shape[0]`.
    """
    families = size_families(definition)
    entries = families.entries(definition, pending)
    sized = families.sized(definition, pending)
    families.forget()
    names = pending.call.spec.leaf_names(tree.structure(pending.call.dynamic))
    avals = CallKey.unpack(pending.key).avals
    slots = {
        f"{names[leaf]}.shape[{axis % avals[leaf].ndim}]": name
        for leaf, axis, name in entries
    }
    reason = _of_options(definition)
    if sized is None and not reason:
        reason = "a size of 0 has a program of its own."
        if definition.options.abstracted_axes is None:
            reason = "sizes of 0 and 1 have programs of their own."
    uneven = ""
    if sized is not None and not reason and any(map(is_spread, avals)):
        uneven = why_uneven(pending, sized, bucket_key(definition, pending, sized))

    def told() -> dict[str, str]:
        why = reason
        if not why and sized is not None:
            found = families.of_kind(sized.kind)
            right = [x for x in found if x.has(sized.sizes)] or found
            why = next((text for text in map(_of_family, right) if text), uneven)
        return {
            slot: f"{name} is compiled for each size: {why}" if why else _IN_BUCKETS
            for slot, name in slots.items()
        }

    return told


_IN_BUCKETS: Final = "A program is compiled for each bucket of lengths."


def _of_options(definition: Definition) -> str:
    flags = settings()
    if definition.options.buckets is None:
        return "buckets=None asks for it. Leave it out for a program for each bucket."
    on = [name for name in ("debug_nans", "debug_infs") if getattr(flags, name)]
    if on:
        return f"{on[0]} is on, and padding may hold anything. Turn it off."
    return ""


def _of_family(family: SizeFamily) -> str:
    if family.refusal is not None:
        return str(family.refusal)  # the error has the remedy
    if family.unpadded:
        return f"{family.unpadded}. Compute that in a function of its own."
    return ""
