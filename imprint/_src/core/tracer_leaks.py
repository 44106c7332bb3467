"""The search for tracers that outlive their trace, while `check_tracer_leaks` is on.

A tracer that is still referenced after the traced function returned was stored by user
code. The garbage collector finds the referrer, which the message names. The search
looks at every object of the process, so it is for debugging.
"""

import gc
from itertools import islice
from types import CellType, FrameType
from typing import Any, cast

from imprint._src.core.trace import Trace, Tracer
from imprint._src.errors import UnexpectedTracerError


def check_leaks(trace: Trace) -> None:
    """Raise UnexpectedTracerError if a tracer of `trace`, which has ended, is alive."""
    gc.collect()
    tracers = (x for x in gc.get_objects() if issubclass(type(x), Tracer))
    leaked = [x for x in tracers if x.owner is trace]  # `isinstance` calls `__class__`
    if not leaked:
        return
    lines: list[str] = []
    gc.unfreeze()  # frozen objects are no referrers
    for tracer in islice(leaked, 5):  # a slice would be one more holder
        origin = tracer.origin()
        made = f", made at {origin}: {origin.text}" if origin is not None else ""
        lines.append(f"  {tracer.aval}{made}; held by {_holder(tracer, leaked)}\n")
    raise UnexpectedTracerError(
        f"expected no tracer to outlive its trace, got {len(leaked)} leaked from "
        f"{trace.describe()}:\n{''.join(lines)}"
        "  Return values from the traced function instead of storing them."
    )


def _holder(tracer: Tracer, leaked: list[Any]) -> str:
    for owner in gc.get_referrers(tracer):
        if owner is leaked or isinstance(owner, FrameType):
            continue
        if isinstance(owner, CellType):
            return "a closure"
        attribute = _attribute(owner, tracer)
        if attribute:
            return attribute
        name = _name_in_a_module(owner)
        kind = type(owner).__name__
        return f"{kind} {name}" if name else kind
    return "a local variable"


def _attribute(holder: Any, held: Any) -> str:
    """Return whose attribute `held` is, if `holder` is an object or an object's dict."""
    owners: list[Any] = [holder]
    if type(holder) is dict:
        owners += gc.get_referrers(holder)
    for owner in owners:
        attributes = getattr(owner, "__dict__", {})
        names = [k for k, v in attributes.items() if v is held]
        if names:
            kind, own = type(owner).__name__, getattr(owner, "__name__", "")
            return f"attribute {names[0]} of {kind} {own}".rstrip()
    return ""


def _name_in_a_module(held: Any) -> str:
    """Return the name by which a module that refers to `held` knows it, if any."""
    for owner in gc.get_referrers(held):
        if isinstance(owner, dict) and "__spec__" in owner:
            module = cast("dict[str, Any]", owner)
            names = [k for k, v in module.items() if v is held]
            if names:
                return f"{names[0]} of module {module['__name__']}"
    return ""
