"""Answering a call that the warm path does not know: by what is there, or is made now.

A function whose axes have names is answered by a program for a bucket, if there can be
one. Its version stands in the table of versions like all others, at a key with the bucket
in the place of sizes.
"""

from typing import Any

from imprint.calls.key import Pending
from imprint.calls.tracing import TracedCall
from imprint.jitted.audit import audit, audit_in_bucket
from imprint.jitted.compiling import compile_version, trace
from imprint.jitted.undisturbed import Request
from imprint.versions.definitions import Definition


def answer(request: Request) -> Any:
    """Return the result of a call outside of all traces."""
    if request.options.abstracted_axes is not None:
        answered, result = _answer_in_bucket(request)
        if answered:
            return result
    audit(request)  # while it is on, no key is found on the warm path
    versions = request.definition.versions
    version = versions.get(request.pending.key, lambda: compile_version(request))
    version.hits += 1
    return version.run(request.pending.leaves)


def is_known(definition: Definition, pending: Pending) -> bool:
    """Tell whether a call is answered by a program for a bucket that is there."""
    if definition.options.abstracted_axes is None:
        return False
    from imprint.dynamic.programs import known_call  # noqa: PLC0415 - few functions name axes

    found = known_call(definition, pending)
    return found is not None and definition.versions.find(found.program.key) is not None


def _answer_in_bucket(request: Request) -> tuple[bool, Any]:
    from imprint.dynamic import families, programs  # noqa: PLC0415 - few functions name axes

    fun, _, definition, pending = request

    def trace_at(at: Pending) -> TracedCall:
        return trace(request._replace(pending=at))

    found = programs.known_call(definition, pending) or programs.make_call(
        *(definition, pending),
        lambda sized: families.trace_family(fun, definition, pending, sized, trace_at),
    )
    if found is None:
        families.families_of(definition).forget()
        return False, None
    program, sizes = found
    version = definition.versions.find(program.key)
    if version is None:
        leaves = program.arguments(pending, sizes)
        inside = request._replace(pending=Pending(program.key, leaves, pending.call))
        version = definition.versions.get(program.key, lambda: compile_version(inside))
    else:
        audit_in_bucket(request)
    version.hits += 1
    families.families_of(definition).forget()
    return True, program.run(version, pending, sizes)
