"""Calls in a bucket: how is one answered by the program that all lengths in it share?

The program is made at the first call in the bucket, from the trace for all sizes; its
version is compiled like any other, and again when it was dropped.
"""

from typing import Any, Protocol

from imprint._src.jit.audit import audit_in_bucket
from imprint._src.jit.bucketing.programs import Call, known_call, make_call
from imprint._src.jit.bucketing.symbolic_traces import families_of, trace_family
from imprint._src.jit.calls.key import Pending
from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.jit.compiling import DiskSearch, compile_version, trace
from imprint._src.jit.request import Request


def answer_in_bucket(request: Request) -> tuple[bool, Any]:
    """Return whether a program for a bucket answers a call, and what it gives."""
    found, start = known_call(request.definition, request.pending), None
    if found is None:
        from imprint._src.jit.load_bucket_from_disk import WarmBucket  # noqa: PLC0415 - with the store, 5 ms of an import

        start = WarmBucket(request)
        found = start.call() or made_call(request)
    if found is None:
        families_of(request.definition).forget()
        return False, None
    return True, run_in_bucket(request, found, start)


def made_call(request: Request) -> Call | None:
    """Return by what a call is answered: made, if it can be padded and is in a bucket."""
    fun, _, definition, pending = request

    def trace_at(at: Pending) -> TracedCall:
        return trace(request._replace(pending=at))

    return make_call(
        *(definition, pending),
        lambda sized: trace_family(fun, definition, pending, sized, trace_at),
    )


class BucketSearch(Protocol):
    """The search on the disk for the program that answers a call in a bucket."""

    def for_program(self, inside: Request, call: Call, /) -> DiskSearch:
        """Return the search for that program."""
        ...


def run_in_bucket(
    request: Request, found: Call, start: BucketSearch | None = None
) -> Any:
    """Return what a program for a bucket gives; it is compiled if it is not yet.

    Args:
        request: the call.
        found: what answers it.
        start: the search for it on the disk; None if there is none.
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
    families_of(definition).forget()
    return program.run(version, pending, sizes)
