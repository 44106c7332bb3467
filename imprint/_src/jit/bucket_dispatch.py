"""Calls with named axes: one compiled program for all lengths in a bucket.

The first call in a bucket makes the program, from the trace for all sizes. Its version is
compiled like any other, and again after it was dropped. With `config.generalise` at "auto",
axes get names without `abstracted_axes`; see `answer_with_inferred_axes`.
"""

from dataclasses import replace
from typing import Any, Final, Protocol, cast

import numpy as np

from imprint._src.array import ArrayImpl, host_of
from imprint._src.dtypes import finfo, issubdtype
from imprint._src.errors import RecompileError
from imprint._src.jit.audit import audit_in_bucket
from imprint._src.jit.bucketing.buckets import is_spread
from imprint._src.jit.bucketing.programs import BucketCall, known_call, make_call
from imprint._src.jit.bucketing.symbolic_traces import (
    Refusal,
    SizedCall,
    at_sizes,
    size_families,
    trace_family,
)
from imprint._src.jit.calls.key import CallKey, Pending
from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.jit.compile_steps import trace
from imprint._src.jit.compile_version import VersionLookup, compile_version
from imprint._src.jit.explain.jaxpr_diff import is_same_value
from imprint._src.jit.versions.definitions import Request
from imprint._src.tree import internal as tree


def answer_in_bucket(request: Request) -> tuple[bool, Any]:
    """Return whether a bucket program answers a call, and the result."""
    found, start = known_call(request.definition, request.pending), None
    if found is None:
        from imprint._src.jit.load_bucket_from_disk import BucketDiskLookup  # noqa: PLC0415 - with the store, 5 ms of an import

        start = BucketDiskLookup(request)
        found = start.call() or make_bucket_call(request)
    if found is None:
        size_families(request.definition).forget()
        return False, None
    return True, run_in_bucket(request, found, start)


def make_bucket_call(request: Request) -> BucketCall | None:
    """Return the bucket program for a call; None if it cannot be padded."""
    return make_call(
        request.definition,
        request.pending,
        lambda sized: trace_family(request, sized, trace),
    )


class BucketLookup(Protocol):
    """A lookup on disk for the bucket program of a call."""

    def for_program(self, inside: Request, call: BucketCall, /) -> VersionLookup:
        """Return it for that program."""
        ...


def run_in_bucket(
    request: Request, found: BucketCall, start: BucketLookup | None = None
) -> Any:
    """Return the result of a bucket program, which is compiled if necessary.

    Args:
        request: the call.
        found: its bucket program.
        start: the lookup on disk; None without one.
    """
    definition, pending = request.definition, request.pending
    _, program, sizes = found
    version = definition.versions.find(program.key)
    if version is None:
        leaves = program.arguments(pending, sizes)
        inside = request._replace(pending=Pending(program.key, leaves, pending.call))
        disk = None if start is None else start.for_program(inside, found)
        version = definition.versions.get(
            program.key, lambda: compile_version(inside, disk)
        )
    else:
        audit_in_bucket(request)
    version.hits += 1
    size_families(definition).forget()
    return program.run(version, pending, sizes)


# ---- axes that were named automatically ----


_FAMILIES: Final = 4
"""Families of one call signature, above which few sizes share a program."""


def answer_with_inferred_axes(request: Request) -> tuple[bool, Any]:
    """Return whether a bucket program answers a call or is tried, and the result.

    1. An axis that had three sizes gets a name (`bucketing.infer_axes`), and the function
       is traced once for all of them.
    2. This call runs two programs: the one for its sizes and the one for the bucket. If
       the results are equal, buckets answer later calls with other sizes. The trial is for
       one call signature, and for the sizes that give the same values to the conditions of
       the function on sizes.
    3. Otherwise, or if the trace for all sizes fails, this call signature is compiled by
       size, and explanations give the reason.
    Programs that must not run twice (effects, donation) and meshes are not tried.
    """
    definition, pending = request.definition, request.pending
    if definition.versions.find(pending.key) is not None:
        return False, None
    found = known_call(definition, pending)
    if found is not None:
        return True, run_in_bucket(request, found)
    families = size_families(definition)
    families.forget()
    if not _may_be_tried(request):
        return False, None
    before = families.axis_names.of(pending.key)
    keys: list[Any] = [*definition.versions.current]
    is_news = families.axis_names.propose(pending.key, keys)
    sized = families.sized(definition, pending)
    found = (
        make_bucket_call(request) if sized and _is_promising(request, sized) else None
    )
    if found is not None and found.family.is_tried:
        return True, run_in_bucket(request, found)
    result = None if found is None else _try_bucket(request, found)
    if is_news and before and (found is None or not found.family.is_tried):
        families.axis_names.restore(pending.key, before)
    families.forget()
    return found is not None, result


def _may_be_tried(request: Request) -> bool:
    """Return whether a call may run twice, and is on one device."""
    definition, pending = request.definition, request.pending
    options = definition.options
    limit = options.max_versions
    return not (
        options.is_loop
        or options.spreads
        or any(pending.call.spec.donated)
        or (limit is not None and limit < len(definition.versions) + 2)
        or any(map(is_spread, CallKey.unpack(pending.key).avals))
    )


def _is_promising(request: Request, sized: SizedCall) -> bool:
    definition = request.definition
    families = size_families(definition)
    is_few = len(families.of_kind(sized.kind)) < _FAMILIES
    return is_few and not families.why_per_size(definition, sized)


def _try_bucket(request: Request, found: BucketCall) -> Any:
    """Return the result of the program for the size, and record if the other equals it."""
    definition, pending = request.definition, request.pending
    families, versions = size_families(definition), definition.versions
    plain = versions.get(pending.key, lambda: compile_version(request))
    plain.hits += 1
    expected, miss = plain.run([*pending.leaves]), definition.last_miss
    reason = _untriable(plain.traced)
    if not reason:
        try:
            reason = difference(expected, run_in_bucket(request, found))
        except RecompileError:  # max_versions is reached
            return expected
        except Exception as err:
            reason = f"{type(err).__name__}: {err}"
        reason = reason and f"in a trial at {at_sizes(found.sizes)}, {reason}"
    if not reason:
        found.family.is_tried = True
        return expected
    found.family.refuse(Refusal(reason, None), plain.traced)
    made = versions.find(found.program.key)
    if made is not None:
        made.drop()
    plain.traced.note = families.note_of(
        definition, families.sized(definition, pending)
    )
    definition.last_miss = miss and replace(miss, advice=plain.traced.note)
    return expected


def _untriable(traced: TracedCall) -> str:
    """Return why a program may not run twice; empty if it may."""
    if traced.closed.jaxpr.effects or not traced.dependencies.is_shareable:
        return "it has effects, and what has them is not tried."
    return ""


# ---- are two results equal? ----


def difference(expected: Any, got: Any) -> str:
    """Say where the result of a program for a bucket is another; empty if it is equal."""
    leaves, treedef = tree.flatten(expected)
    others, other = tree.flatten(got)
    if treedef != other:
        return f"the program for a bucket gave {other}, and not {treedef}."
    for path, x, y in zip(treedef.paths(), leaves, others, strict=True):
        if not _is_equal(x, y):
            return f"the program for a bucket gave another result{tree.keystr(path)}."
    return ""


def _is_equal(x: Any, y: Any) -> bool:
    if not (isinstance(x, ArrayImpl) and isinstance(y, ArrayImpl)):
        return is_same_value(x, y)
    if x.aval != y.aval:
        return False
    a, b = host_of(x), host_of(y)
    if not issubdtype(x.dtype, np.inexact):
        return bool(np.array_equal(a, b))
    wide = np.complex128 if issubdtype(x.dtype, np.complexfloating) else np.float64
    about = cast("Any", finfo(x.dtype))
    return _is_close(a.astype(wide), b.astype(wide), float(about.eps))


def _is_close(a: Any, b: Any, eps: float) -> bool:
    """Return whether numbers are equal up to rounding by another order of operations.

    The relative tolerance is half of the digits of each number. The absolute tolerance is 64
    units in the last place of the largest number, or half of its digits if that is less.
    """
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    finite = np.isfinite(a) & np.isfinite(b)
    with np.errstate(invalid="ignore", over="ignore"):
        largest = np.max(np.abs(a), where=finite, initial=0.0)
        limit = np.sqrt(eps) * np.abs(a) + min(_ULPS * eps, np.sqrt(eps)) * largest
        return bool(np.all(same | (finite & (np.abs(a - b) <= limit))))


_ULPS: Final = 64
