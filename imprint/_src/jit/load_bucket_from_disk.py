"""Warm start of calls whose sizes have names: a bucket that another process has compiled.

1. The store is searched for the bucket, with the names of its axes. A stored trace is for
   the call if the comparisons of sizes in the trace have the same answers at its sizes.
   If it holds, the family, its trace and the program are restored; the trace is made when
   its jaxpr is read.
2. A program that was traced and compiled for a bucket is kept for other processes.
While audits are on, calls in buckets are traced. As plain data, a size is a number, a
name, or an operation on two sizes, and a comparison has its answer.
"""

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast, final

from imprint._src.config import settings
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.dynamic_shapes.decisions import SizeComparison
from imprint._src.dynamic_shapes.expression import SizeScope, SymbolicSize
from imprint._src.dynamic_shapes.values import HOLDS, size_arithmetic
from imprint._src.errors import ArgumentError
from imprint._src.jit.bucketing.programs import (
    SIZE,
    BucketCall,
    BucketKey,
    BucketLayout,
    BucketProgram,
    PaddedProgram,
    bucket_key,
    closed_for,
    known_call,
    program_of,
    sized_call,
)
from imprint._src.jit.bucketing.symbolic_traces import (
    SizeFamily,
    key_by_names,
    size_families,
    traced_by_names,
)
from imprint._src.jit.calls.axes import named_shape
from imprint._src.jit.calls.key import Pending
from imprint._src.jit.calls.tracing import Results, TracedCall, trace_call
from imprint._src.jit.explain.explanation import Explanation
from imprint._src.jit.lazy_program import LazyJaxpr, Retrace
from imprint._src.jit.load_from_disk import DiskLookup, explain_restart, without_leaves
from imprint._src.jit.manifest.not_cacheable import NotCacheable, Reason
from imprint._src.jit.manifest.result_trees import deserialize_tree, serialize_tree
from imprint._src.jit.manifest.trace_manifest import BucketShape, Plain, StoredTrace
from imprint._src.jit.versions.definitions import Request


@final
class BucketDiskLookup:
    """The search for a bucket on the disk, and its manifest.

    Args:
        request: a call in the bucket that no program answers yet.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._stored: StoredTrace | None = None
        sized = None
        if not settings().audit:
            sized = sized_call(request.definition, request.pending)
        if sized is None:
            off = "audits trace calls in buckets"
            self._start = DiskLookup(request, off=off)
            return
        self._sized = sized
        at = bucket_key(request.definition, request.pending, sized)
        self._avals = [get_aval(x) for x in request.pending.leaves]
        bucket = BucketShape(
            avals=self._longest(self._avals, at),
            names=tuple(map(tuple, sized.entries)),
            bounds=tuple(at.longest.items()),
            zeros=at.zeros,
        )

        def fits(plain: Plain) -> bool:
            return comparisons_hold(plain["bucket"]["comparisons"], sized.sizes)

        self._start = DiskLookup(request, bucket, fits)

    def _longest(
        self, avals: Sequence[ShapedArray], at: BucketKey
    ) -> tuple[ShapedArray, ...]:
        """Return avals as long as the bucket."""
        entries, bounds = self._sized.entries, at.longest
        return tuple([named_shape(a, i, entries, bounds) for i, a in enumerate(avals)])

    def explain(self, explanation: Explanation) -> Explanation:
        """Return an explanation that says how a new process would start with the call."""
        request = self._request
        versions = request.definition.versions
        known = known_call(request.definition, request.pending)
        key = request.pending.key if known is None else known.program.key
        answering = versions.find(key)
        return explain_restart(explanation, request, answering, self._start)

    def call(self) -> BucketCall | None:
        """Return the stored program that answers the call; None if there is none."""
        stored, definition = self._start.find(), self._request.definition
        if stored is None:
            self._drop_lazy_trace()
            return None
        family, traced = self._family_of(stored)
        if traced is None:
            self._drop_lazy_trace()
            return None
        self._stored = stored
        at = bucket_key(definition, self._request.pending, self._sized, family)
        program = family.programs[at] = self._program(stored, family, traced, at)
        return BucketCall(family, program, self._sized.sizes)

    def _family_of(self, stored: StoredTrace) -> tuple[SizeFamily, TracedCall | None]:
        """Return the family of the call; its trace, if the stored one is for its sizes."""
        definition = self._request.definition
        known = size_families(definition).find(definition, self._sized)
        if known is None:
            return self._restore(stored)
        comparisons = stored.plain["bucket"]["comparisons"]
        if (
            known.refusal is not None
            or serialize_comparisons(known.asked) != comparisons
        ):
            return known, None
        return known, definition.traced.find(known.key)

    def for_program(self, inside: Request, call: BucketCall) -> DiskLookup:
        """Return the search for the program that answers the call.

        Args:
            inside: the call of the program.
            call: the program and its family.
        """
        fields = partial(_bucket_fields, call)
        traced = call.program.traced
        return self._start.for_bucket(inside, traced, self._stored, fields)

    def _drop_lazy_trace(self) -> None:
        """Drop a trace that was not made: programs made of it could not be kept."""
        definition = self._request.definition
        if not hasattr(self, "_sized"):
            return
        known = size_families(definition).find(definition, self._sized)
        traced = None if known is None else definition.traced.find(known.key)
        if traced is not None and type(traced.closed) is LazyJaxpr:
            definition.traced.drop(traced)

    def _restore(self, stored: StoredTrace) -> tuple[SizeFamily, TracedCall]:
        """Return the family of a stored trace, and the trace, which is not made yet."""
        request, sized = self._request, self._sized
        definition, in_tree = request.definition, stored.in_tree
        plain, scope = stored.plain["bucket"], SizeScope()
        names = {name: scope.name(name) for name in sized.sizes}
        key, avals = key_by_names(request.pending, sized, scope)
        comparisons = deserialize_comparisons(plain["comparisons"], names)
        family = SizeFamily(tuple(names), comparisons, key, most=dict(plain["most"]))
        outs = deserialize_shapes(stored.avals("outs"), plain["outs"], names)
        retrace = Retrace(request.name, request.fun, self._tracer(stored))
        traced = TracedCall(
            LazyJaxpr(retrace, avals, outs, plain["equations"]),
            (in_tree, Results(deserialize_tree(plain["out"], in_tree), {})),
            request.pending.call.spec,
            0.0,
            stored.dependencies,
        )
        traced.conditions = (family.condition,)
        retrace.traced = weakref.ref(traced)
        definition.traced.put(key, traced)
        size_families(definition).add(definition, sized, family)
        return family, traced

    def _tracer(
        self, stored: StoredTrace
    ) -> Callable[[Callable[..., Any]], ClosedJaxpr]:
        """Return a function that traces with names for sizes."""
        request, sized, name = self._request, self._sized, self._request.name
        signature, strict = request.definition.signature, request.options.strict
        blank = without_leaves(request.pending.call, stored)
        pending = Pending(request.pending.key, [], blank)

        def retrace(function: Callable[..., Any]) -> ClosedJaxpr:
            def trace_at(at: Pending) -> TracedCall:
                avals = [get_aval(x) for x in at.leaves]
                return trace_call(function, signature, blank, avals, strict=strict)

            family, traced = traced_by_names(pending, sized, trace_at)
            if traced is None:
                raise ArgumentError(
                    f"{name}: expected it to be traced for all sizes, as it was by the "
                    f"process that compiled it, got {family.refusal}. Please report it."
                )
            return traced.closed

        return retrace

    def _program(
        self, stored: StoredTrace, family: SizeFamily, traced: TracedCall, at: BucketKey
    ) -> BucketProgram:
        bounds, how = at.longest, BucketLayout(*stored.plain["bucket"]["how"])
        longest = self._longest([a.unplaced() for a in self._avals], at)
        closed = LazyJaxpr(
            lambda: closed_for(traced.closed, bounds, zeros=how.zeros),
            (*longest, *[SIZE] * len(bounds)),
            stored.avals("outs"),
            stored.plain["own_equations"],
        )
        padded, pending = PaddedProgram(closed, how, 0.0), self._request.pending
        return program_of(family, traced, padded, pending, self._sized, at)


# ---- families and sizes as plain data ----


def _bucket_fields(call: BucketCall) -> Plain:
    family, program, _ = call
    whole = program.traced.whole
    if whole.results.static():
        raise NotCacheable(Reason.RESULT, "what is no array")
    fields = {
        "comparisons": serialize_comparisons(family.asked),
        "most": [*family.most.items()],
        "how": [*program.how],
        "outs": serialize_shapes(whole.closed.out_avals),
        "out": serialize_tree(whole.out_tree, whole.in_tree),
        "equations": len(whole.closed.eqns),
    }
    return {"bucket": fields}


def serialize_size(size: Any) -> Any:
    """Return a size as plain data."""
    if type(size) is not SymbolicSize:
        return int(size)

    def keep(x: str | int) -> Any:
        return x

    def join(name: str, x: Any, y: Any) -> Any:
        return [name, x, y]

    return size.computed(keep, join)


def deserialize_size(plain: Any, names: Mapping[str, Any]) -> Any:
    """Return the size at values or sizes of its names."""
    if isinstance(plain, list):
        name, x, y = cast("list[Any]", plain)
        return size_arithmetic(
            str(name), deserialize_size(x, names), deserialize_size(y, names)
        )
    return names[plain] if type(plain) is str else plain


def serialize_shapes(avals: Iterable[ShapedArray]) -> Any:
    """Return shapes with names in them as plain data."""
    return [[serialize_size(n) for n in aval.shape] for aval in avals]


def deserialize_shapes(
    avals: Sequence[ShapedArray], plain: Any, names: Mapping[str, Any]
) -> tuple[ShapedArray, ...]:
    """Return avals with the shapes of plain data."""
    shapes = [tuple([deserialize_size(n, names) for n in shape]) for shape in plain]
    return tuple([a.with_shape(s) for a, s in zip(avals, shapes, strict=True)])


def serialize_comparisons(comparisons: Iterable[SizeComparison]) -> Any:
    """Return comparisons of sizes with their answers as plain data."""
    return [
        [serialize_size(q.x), q.relation, serialize_size(q.y), q.answer]
        for q in comparisons
    ]


def comparisons_hold(plain: Any, sizes: Mapping[str, int]) -> bool:
    """Return whether comparisons have their answers at some sizes."""
    return all(
        HOLDS[relation](deserialize_size(x, sizes), deserialize_size(y, sizes))
        is answer
        for x, relation, y, answer in plain
    )


def deserialize_comparisons(
    plain: Any, names: Mapping[str, Any]
) -> tuple[SizeComparison, ...]:
    """Return comparisons of sizes."""
    return tuple(
        [
            SizeComparison(
                deserialize_size(x, names), relation, deserialize_size(y, names), answer
            )
            for x, relation, y, answer in plain
        ]
    )
