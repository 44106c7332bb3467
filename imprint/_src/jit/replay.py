"""Replaying: the program of a call and its arguments, to be stepped through.

The program is that of the version that answers, or would: traced if need be, with the
passes that every program goes through, and never compiled. The values of the arguments
are read at once, so that what is done to them later does not matter.
"""

from collections.abc import Callable
from typing import Any

from imprint._src.array import host_of, to_array
from imprint._src.core.trace import Tracer
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ArgumentError
from imprint._src.jit.calls.check_args import check_values
from imprint._src.jit.compiling import trace_for_all
from imprint._src.jit.explain.replay import Replay
from imprint._src.jit.explain.steps import SteppedProgram
from imprint._src.jit.request import Request
from imprint._src.passes.pipeline import run_passes


@filter_traceback
def replay(request: Request, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Replay:
    """Return the replay of a call, which was made with these arguments."""
    leaves, call = request.pending.leaves, request.pending.call
    check_values(request.name, call, leaves)
    for x in leaves:
        if isinstance(x, Tracer):
            raise ArgumentError(
                f"{request.name}.replay: expected arguments with values, got a tracer "
                f"{x.aval}. Replay outside of jit, grad and vmap."
            )
    traced = trace_for_all(request)
    values = [host_of(to_array(x)) for x in leaves]
    arguments = list(zip(traced.leaf_names(), values, strict=True))
    program = SteppedProgram(request.name, run_passes(traced.closed), arguments)
    return Replay(program, lambda fun: _replay_of(fun)(*args, **kwargs))


def _replay_of(fun: Callable[..., Any]) -> Callable[..., Replay]:
    """Return what replays a function."""
    found = getattr(fun, "replay", None)
    if found is None:
        raise ArgumentError(
            f"first_difference: expected a replay or a compiled function, got {fun!r}. "
            "Compile it with imprint.jit."
        )
    return found
