"""Ahead of time: a call that is lowered and compiled, and never made.

1. The store is asked for it, as for a call that is made. If another process has compiled
   it, and what it read is as it was, nothing is traced; the text is written when asked for.
2. Else it is traced and lowered, and what it read is noted at once: `compile()` may come
   when that has changed. What was compiled is kept for others.
Stages live longer than calls, so they hold no arrays: shapes stand for these.
"""

from typing import final

from imprint import tree
from imprint._src.core.aval import ShapedArray
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.jit.compilation.lowered import LoweredProgram
from imprint._src.jit.compiling import lower_traced, trace, trace_for_all
from imprint._src.jit.load_from_disk import WarmStart
from imprint._src.jit.request import Request
from imprint._src.jit.stages import Given, Lowered, Traced, lowered
from imprint._src.jit.versions.version import Version


def lowered_ahead(request: Request, positional: int) -> Lowered:
    """Return a call as a program in StableHLO.

    Args:
        request: the call.
        positional: how many arguments were given by position.
    """
    signature = request.definition.signature
    given = Given.of(signature, request.pending, positional)
    start = WarmStart(_without_values(request, given.avals), trace, lower_traced)
    found = start.version()
    if found is not None:
        start.tell(found)
        given = given._replace(start=_Start(start, found))
        module = found.program.module
        return lowered(found.traced, signature, request.options, module, given)
    start.compare()
    given = given._replace(start=_Start(start))
    return Traced(trace_for_all(request), signature, request.options, given).lower()


@final
class _Start:
    """A call ahead of time, and the store.

    Args:
        start: its question to the store.
        found: the version of what was there.
    """

    def __init__(self, start: WarmStart, found: Version | None = None) -> None:
        self._start = start
        self.found = found

    def note(self, traced: TracedCall, module: LoweredProgram) -> None:
        """Note what a trace read, as it is now."""
        self._start.note(traced, module)

    def keep(self, version: Version) -> None:
        """Keep what was compiled for other processes."""
        if self.found is None:
            self._start.keep(version)
            self._start.tell(version)
        else:
            version.restarts = self.found.restarts


def _without_values(request: Request, avals: tuple[ShapedArray, ...]) -> Request:
    """Return a call with shapes in the place of arrays."""
    pending = request.pending
    leaves = [*map(_shape, avals)]
    dynamic = tree.structure(pending.call.dynamic).unflatten(leaves)
    call = pending.call._replace(dynamic=dynamic)
    return request._replace(pending=pending._replace(leaves=leaves, call=call))


def _shape(aval: ShapedArray) -> ShapeDtypeStruct:
    """Return what stands for an array, with its placement, whatever that is."""
    made = ShapeDtypeStruct.of(aval)
    made.aval = aval
    return made
