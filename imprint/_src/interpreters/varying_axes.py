"""Operands that differ along the same axes of a mesh, as gradients need them.

Inside `shard_map` each trace asks, before it applies a primitive: an operand that is the
same on every device, used with one that is not, becomes one that may differ (`pvary`), so
that its cotangent is the sum over the devices. Constants stay: they have no cotangent.
"""

from typing import Any

from imprint._src.core.aval import NO_AXES, get_aval
from imprint._src.core.control import ControlPrimitive
from imprint._src.core.primitive import Primitive
from imprint._src.core.trace import Trace, Tracer, process_under


def joined(
    trace: Trace, primitive: Primitive, operands: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return operands of a primitive that differ along the same axes."""
    if len(operands) < 2 or type(primitive) is ControlPrimitive:
        return operands
    vmas = [get_aval(x).vma for x in operands]
    axes = NO_AXES.union(*vmas)
    if not axes:
        return operands
    from imprint._src.primitives.collectives import pvary_p  # noqa: PLC0415 - 5 ms of an import

    found = list(operands)
    for i, (x, own) in enumerate(zip(operands, vmas, strict=True)):
        if isinstance(x, Tracer):
            for axis in sorted(axes - own):
                params = {"axis_name": axis}
                (found[i],) = process_under(trace, pvary_p, (found[i],), params)
    return tuple(found)
