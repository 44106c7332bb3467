"""Load the bucket program of a call with named sizes from the disk cache.

1. Before a trace, look the bucket up with the names of its axes. An entry fits if the
   conditions on sizes have the same values at the sizes of the call, and if its guards
   hold. Then the family, its trace and its program are created from the entry; the jaxpr
   is traced when it is read.
2. After a trace, store the bucket program for other processes.
While audits are on, calls in buckets are traced.
"""

import weakref
from collections.abc import Callable
from typing import Any, final

from imprint._src.config import settings
from imprint._src.core.aval import get_aval
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.dynamic_shapes.expression import SizeScope
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
from imprint._src.jit.load_from_disk import (
    DiskLookup,
    DiskMatch,
    LazyTrace,
    add_disk_state,
    loaded_version,
    without_leaves,
)
from imprint._src.jit.manifest.lazy_program import LateJaxpr
from imprint._src.jit.manifest.sizes import (
    hold_at,
    plain_questions,
    plain_shapes,
    questions_of,
    shaped,
)
from imprint._src.jit.manifest.trace_manifest import Bucket, Plain
from imprint._src.jit.manifest.trees import plain_tree, tree_of
from imprint._src.jit.versions.definitions import Request
from imprint._src.jit.versions.version import Version


@final
class BucketDiskLookup:
    """The lookup on disk for a call in a bucket.

    Args:
        request: the call.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._match: DiskMatch | None = None
        self._call: BucketCall | None = None
        self._lookup: DiskLookup | None = None
        sized = None
        if not settings().audit:
            sized = sized_call(request.definition, request.pending)
        if sized is None:
            return
        self._sized = sized
        at = bucket_key(request.definition, request.pending, sized)
        bounds = at.longest
        avals = [get_aval(x) for x in request.pending.leaves]
        longest = [
            named_shape(a, i, sized.entries, bounds) for i, a in enumerate(avals)
        ]
        bucket = Bucket(
            *(tuple(longest), tuple(map(tuple, sized.entries))),
            *(tuple(bounds.items()), at.zeros),
        )
        sizes = sized.sizes

        def fits(plain: Plain) -> bool:
            return hold_at(plain["bucket"]["asked"], sizes)

        self._lookup = DiskLookup(request, bucket, fits)

    def explain(self, explanation: Explanation) -> Explanation:
        """Return an explanation with how a new process would start with the call."""
        request = self._request
        versions = request.definition.versions
        known = known_call(request.definition, request.pending)
        key = request.pending.key if known is None else known.program.key
        return add_disk_state(explanation, request, versions.find(key), self._lookup)

    # ---- 1. before a trace ----

    def call(self) -> BucketCall | None:
        """Return the stored bucket program for the call; None if none fits."""
        match = None if self._lookup is None else self._lookup.match()
        if match is None:
            self._forget()
            return None
        definition = self._request.definition
        known = size_families(definition).find(definition, self._sized)
        family, traced = (
            self._made(match) if known is None else self._known(match, known)
        )
        if traced is None:
            self._forget()
            return None
        self._match = match
        at = bucket_key(definition, self._request.pending, self._sized, family)
        program = self._program(match, family, traced, at)
        family.programs[at] = program
        return BucketCall(family, program, self._sized.sizes)

    def _forget(self) -> None:
        """Drop an untraced trace: a program made from it could not be stored."""
        if self._lookup is None:
            return
        definition = self._request.definition
        known = size_families(definition).find(definition, self._sized)
        traced = None if known is None else definition.traced.find(known.key)
        if traced is not None and type(traced.closed) is LateJaxpr:
            definition.traced.drop(traced)

    def _known(
        self, match: DiskMatch, known: SizeFamily
    ) -> tuple[SizeFamily, TracedCall | None]:
        """Return a family, and its trace if the entry is for the same sizes."""
        asked = match.found.plain["bucket"]["asked"]
        if known.refusal is not None or plain_questions(known.asked) != asked:
            return known, None
        return known, self._request.definition.traced.find(known.key)

    def _made(self, match: DiskMatch) -> tuple[SizeFamily, TracedCall]:
        """Return the family of an entry, and its trace, which is still untraced."""
        request, sized = self._request, self._sized
        definition, found = request.definition, match.found
        plain, scope = found.plain["bucket"], SizeScope()
        names = {name: scope.name(name) for name in sized.sizes}
        key, avals = key_by_names(request.pending, sized, scope)
        asked, most = questions_of(plain["asked"], names), dict(plain["most"])
        family = SizeFamily(tuple(names), asked, key, most=most)
        outs = shaped(found.avals("outs"), plain["outs"], names)
        late = LazyTrace(request, self._retrace(match))
        in_tree = match.asked.in_tree
        traced = TracedCall(
            LateJaxpr(late, avals, outs, plain["equations"]),
            (in_tree, Results(tree_of(plain["out"], in_tree), {})),
            *(request.pending.call.spec, 0.0, found.dependencies),
        )
        traced.conditions = (family.condition,)
        late.traced = weakref.ref(traced)
        definition.traced.put(key, traced)
        size_families(definition).add(definition, sized, family)
        return family, traced

    def _retrace(self, match: DiskMatch) -> Callable[[Callable[..., Any]], ClosedJaxpr]:
        """Return the function that traces it with names for its sizes."""
        request, sized, name = self._request, self._sized, self._request.name
        signature, strict = request.definition.signature, request.options.strict
        blank = without_leaves(request.pending.call, match.asked)
        pending = Pending(
            request.pending.key, [], blank
        )  # holds neither function nor arrays

        def retrace(function: Callable[..., Any]) -> ClosedJaxpr:
            def trace_named(named: Pending) -> TracedCall:
                avals = [get_aval(x) for x in named.leaves]
                return trace_call(function, signature, blank, avals, strict=strict)

            family, traced = traced_by_names(pending, sized, trace_named)
            if traced is None:
                raise ArgumentError(
                    f"{name}: expected it to be traced for all sizes, as it was by the "
                    f"process that compiled it, got {family.refusal}. Please report it."
                )
            return traced.closed

        return retrace

    def _program(
        self, match: DiskMatch, family: SizeFamily, traced: TracedCall, at: BucketKey
    ) -> BucketProgram:
        bounds = at.longest
        plain = match.found.plain
        how = BucketLayout(*plain["bucket"]["how"])
        longest = [
            named_shape(get_aval(x).unplaced(), i, self._sized.entries, bounds)
            for i, x in enumerate(self._request.pending.leaves)
        ]
        closed = LateJaxpr(
            lambda: closed_for(traced.closed, bounds, zeros=how.zeros),
            (*longest, *[SIZE] * len(bounds)),
            *(match.found.avals("outs"), plain["own_equations"]),
        )
        padded = PaddedProgram(closed, how, 0.0)
        pending = self._request.pending
        return program_of(family, traced, padded, pending, self._sized, at)

    # ---- the `VersionLookup` of the bucket program ----

    def of(self, inside: Request, call: BucketCall) -> "BucketDiskLookup":
        """Return this lookup, for the bucket program of the call.

        Args:
            inside: the call of the bucket program.
            call: the call that the program answers.
        """
        self._inside, self._call = inside, call
        return self

    def version(self) -> Version | None:
        """Return the stored version; None if none fits."""
        if self._match is None or self._call is None:
            return None
        return loaded_version(self._match, self._inside, self._call.program.traced)

    def find_difference(self) -> None:
        """Find why no entry fits, if an observer needs the reason."""
        if self._lookup is not None:
            self._lookup.find_difference()

    def notify(self, version: Version) -> None:
        """Notify observers of the origin of a version."""
        if self._lookup is not None:
            self._lookup.notify(version)

    # ---- 2. after a trace ----

    def store(self, version: Version) -> None:
        """Store how to load a version, or set the reason why not."""
        if self._lookup is not None:
            self._lookup.store(version, self._plain_bucket)

    def _plain_bucket(self) -> Plain:
        """Return the entry's data about the bucket."""
        assert self._call is not None
        family, program, _ = self._call
        whole = program.traced.whole
        bucket: Plain = {
            "asked": plain_questions(family.asked),
            "most": [*family.most.items()],
            "how": [*program.how],
            "outs": plain_shapes(whole.closed.out_avals),
            "out": plain_tree(whole.out_tree, whole.in_tree),
            "equations": len(whole.closed.eqns),
        }
        return {"bucket": bucket}
