"""`with_sharding_constraint`: constraints on the sharding of values inside `jit`.

XLA infers shardings from arguments, results and these constraints. Outside of a trace a
constraint is a `device_put`.
"""

from typing import Any

from imprint._src.eager.spread import spread
from imprint._src.tree import internal as tree


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """Constrain the sharding of the arrays of a pytree.

    Args:
        x: a pytree of arrays.
        shardings: a `NamedSharding`, a `PartitionSpec` over the current mesh, a
            `SingleDeviceSharding`, or a tree prefix of them; None for no constraint.

    Returns:
        A pytree of the same structure, shapes, dtypes and values.

    Raises:
        ArgumentError: a leaf is not such a sharding, or there is no current mesh for a
            spec.
        ShapeError: an array cannot be sharded like this.

    References:
        Shardy, `sharding_constraint`.

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
    return x if given is None else spread(x, given, "with_sharding_constraint")
