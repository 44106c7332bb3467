"""The sharding of a value: a constraint under a trace, else a `device_put`.

It is the meaning of `out_sharding` and of `with_sharding_constraint`.
"""

from typing import Any

from imprint._src.core.trace import current_trace
from imprint._src.eager.device_put import device_put
from imprint._src.errors import ArgumentError
from imprint._src.primitives.constraints import constrain
from imprint._src.sharding.context import resolve_sharding
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.single import SingleDeviceSharding


def spread(x: Any, given: Any, name: str = "out_sharding") -> Any:
    """Return a value that is spread over devices.

    Args:
        x: an array.
        given: a `NamedSharding`, or a `PartitionSpec` over the current mesh.
        name: the function or the parameter, for errors.
    """
    sharding = resolve_sharding(name, given)
    if isinstance(sharding, SingleDeviceSharding):
        # A program on one device, or a transform of it, has nothing to spread.
        return device_put(x, sharding) if current_trace() is None else x
    if not isinstance(sharding, NamedSharding):
        raise ArgumentError(
            f"{name}: expected a NamedSharding or a PartitionSpec, got "
            f"{given!r}. Write imprint.NamedSharding(mesh, imprint.P('data'))."
        )
    if current_trace() is None:
        return device_put(x, sharding)
    return constrain(x, sharding)
