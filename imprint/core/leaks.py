"""The search for tracers that outlive their trace, while `check_tracer_leaks` is on.

A tracer that something still refers to after the traced function returned was stored
somewhere by the user. The garbage collector knows by whom, which the message tells. The
search looks at every object of the process, so it is for debugging.
"""

import gc
from itertools import islice
from types import FrameType
from typing import Any

from imprint.core.trace import Trace, Tracer
from imprint.errors import UnexpectedTracerError


def check_leaks(trace: Trace) -> None:
    """Raise UnexpectedTracerError if a tracer of `trace`, which has ended, is alive."""
    gc.collect()
    leaked = [x for x in gc.get_objects() if isinstance(x, Tracer) and x.owner is trace]
    if not leaked:
        return
    lines: list[str] = []
    for tracer in islice(leaked, 5):  # a slice would be one more holder
        origin = tracer.origin()
        made = "an argument" if origin is None else f"made at {origin}: {origin.text}"
        lines.append(f"  {tracer.aval}, {made}; held by {_holder(tracer, leaked)}\n")
    raise UnexpectedTracerError(
        f"expected no tracer to outlive its trace, got {len(leaked)} leaked from "
        f"{trace.describe()}:\n{''.join(lines)}"
        "  Return values from the traced function instead of storing them."
    )


def _holder(tracer: Tracer, leaked: list[Any]) -> str:
    for owner in gc.get_referrers(tracer):
        if owner is leaked or isinstance(owner, FrameType):
            continue
        name = _name_in_a_namespace(owner)
        kind = type(owner).__name__
        return f"{kind} {name}" if name else kind
    return "a local variable"


def _name_in_a_namespace(held: Any) -> str:
    """Return the name by which a namespace that refers to `held` knows it, if any."""
    if isinstance(held, dict) and "__name__" in held:
        return f"of module {held['__name__']}"  # pyright: ignore[reportUnknownVariableType] - any object
    for owner in gc.get_referrers(held):
        if isinstance(owner, dict):
            names = [k for k, v in owner.items() if v is held]  # pyright: ignore[reportUnknownVariableType] - any object
            if names and "__name__" in owner:
                return f"{names[0]} of module {owner['__name__']}"
    return ""
