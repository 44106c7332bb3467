"""Ahead of time: a call that is lowered and compiled, and not made.

1. The store is searched for it, as for a call that is made. If another process has
   compiled it, nothing is traced; the text is written when it is read.
2. Else it is traced and lowered, and its dependencies are serialized at once: they may
   change before `compile()`. The compiled program is kept for other processes.
Stages live longer than calls, so they hold shapes in place of arrays.
"""

from imprint import tree
from imprint._src.core.aval import ShapedArray
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.jit.compiling import lower_traced, trace, trace_for_all
from imprint._src.jit.load_from_disk import WarmStart
from imprint._src.jit.request import Request
from imprint._src.jit.stages import Given, Lowered, Traced, lowered


def lowered_ahead(request: Request, positional: int) -> Lowered:
    """Return a call as a program in StableHLO.

    Args:
        request: the call.
        positional: the number of positional arguments.
    """
    signature = request.definition.signature
    given = Given.of(signature, request.pending, positional)
    start = WarmStart(_without_arrays(request, given.avals), trace, lower_traced)
    found = start.version()
    given = given._replace(start=start)
    if found is not None:
        module = found.program.module
        return lowered(found.traced, signature, request.options, module, given)
    return Traced(trace_for_all(request), signature, request.options, given).lower()


def _without_arrays(request: Request, avals: tuple[ShapedArray, ...]) -> Request:
    """Return a call with shapes in the place of arrays."""
    pending = request.pending
    leaves = [*map(_shape, avals)]
    dynamic = tree.structure(pending.call.dynamic).unflatten(leaves)
    call = pending.call._replace(dynamic=dynamic)
    return request._replace(pending=pending._replace(leaves=leaves, call=call))


def _shape(aval: ShapedArray) -> ShapeDtypeStruct:
    """Return the shape of an array, with its placement."""
    made = ShapeDtypeStruct.of(aval)
    made.aval = aval
    return made
