"""`with_sharding_constraint`: constraints on the sharding of values inside `jit`.

XLA infers shardings from arguments, results and these constraints. Outside of a trace a
constraint is a `device_put`.
"""

from typing import Any

from imprint._src.core.trace import current_trace
from imprint._src.eager.device_put import device_put
from imprint._src.errors import ArgumentError
from imprint._src.primitives.constraints import constrain
from imprint._src.sharding.context import resolve_sharding
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.single import SingleDeviceSharding
from imprint._src.tree import internal as tree


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """Constrain the sharding of the arrays of a pytree.

    Args:
        x: a pytree of arrays.
        shardings: a `NamedSharding`, a `PartitionSpec` over the current mesh, a
            `SingleDeviceSharding`, or a tree prefix of them; None for no constraint.

    Raises:
        ArgumentError: a leaf is not such a sharding, or there is no current mesh for a
            spec.
        ShapeError: an array cannot be sharded like this.

    Example:
        >>> import imprint
        >>> from imprint import P, lax
        >>> mesh = imprint.make_mesh((1,), ("data",))
        >>> rows = imprint.NamedSharding(mesh, P("data"))
        >>> f = imprint.jit(lambda x: lax.with_sharding_constraint(x + 1, rows))
        >>> f(imprint.numpy.zeros(2))
        Array([1., 1.], dtype=float32)
    """
    leaves, treedef = tree.flatten(x)
    asked = tree.broadcast_prefix(shardings, x, lambda leaf: leaf is None)
    return tree.unflatten(treedef, [*map(_constrained, leaves, asked)])


def _constrained(x: Any, given: Any) -> Any:
    if given is None:
        return x
    sharding = resolve_sharding("with_sharding_constraint", given)
    if isinstance(sharding, SingleDeviceSharding):
        # A program on one device, or a transform of it, has nothing to spread.
        return device_put(x, sharding) if current_trace() is None else x
    if not isinstance(sharding, NamedSharding):
        raise ArgumentError(
            "with_sharding_constraint: expected a NamedSharding or a PartitionSpec, got "
            f"{given!r}. Write imprint.NamedSharding(mesh, imprint.P('data'))."
        )
    if current_trace() is None:
        return device_put(x, sharding)
    return constrain(x, sharding)
