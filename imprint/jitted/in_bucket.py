"""Calls in a bucket: how is one answered by the program that all lengths in it share?

The program is made at the first call in the bucket, from the trace for all sizes; its
version is compiled like any other, and again when it was dropped.
"""

from typing import Any

from imprint.calls.key import Pending
from imprint.calls.tracing import TracedCall
from imprint.dynamic.families import families_of, trace_family
from imprint.dynamic.programs import Call, known_call, make_call
from imprint.jitted.audit import audit_in_bucket
from imprint.jitted.compiling import compile_version, trace
from imprint.jitted.undisturbed import Request


def answer_in_bucket(request: Request) -> tuple[bool, Any]:
    """Return whether a program for a bucket answers a call, and what it gives."""
    found = known_call(request.definition, request.pending) or made_call(request)
    if found is None:
        families_of(request.definition).forget()
        return False, None
    return True, run_in_bucket(request, found)


def made_call(request: Request) -> Call | None:
    """Return by what a call is answered: made, if it can be padded and is in a bucket."""
    fun, _, definition, pending = request

    def trace_at(at: Pending) -> TracedCall:
        return trace(request._replace(pending=at))

    return make_call(
        *(definition, pending),
        lambda sized: trace_family(fun, definition, pending, sized, trace_at),
    )


def run_in_bucket(request: Request, found: Call) -> Any:
    """Return what a program for a bucket gives; it is compiled if it is not yet."""
    _, _, definition, pending = request
    _, program, sizes = found
    version = definition.versions.find(program.key)
    if version is None:
        leaves = program.arguments(pending, sizes)
        inside = request._replace(pending=Pending(program.key, leaves, pending.call))
        version = definition.versions.get(program.key, lambda: compile_version(inside))
    else:
        audit_in_bucket(request)
    version.hits += 1
    families_of(definition).forget()
    return program.run(version, pending, sizes)
