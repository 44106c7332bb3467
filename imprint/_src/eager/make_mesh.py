"""`make_mesh`: a mesh of the available devices.

It takes the first devices of the default backend, as many as the axes need, in their
order: on one host no order is better.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from imprint._src import runtime
from imprint._src.errors import ArgumentError
from imprint._src.sharding.mesh import Mesh


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[str],
    axis_types: Any = None,
    *,
    devices: Sequence[runtime.Device] | None = None,
) -> Mesh:
    """Return a mesh of devices.

    Args:
        axis_shapes: the length of each axis.
        axis_names: the name of each axis.
        axis_types: an `AxisType` for each; `Auto` if left out.
        devices: those to take, by default `imprint.devices()`.

    Returns:
        A `Mesh` with the axes in the order of `axis_names`.

    Raises:
        ArgumentError: there are fewer devices than the mesh needs.

    References:
        JAX, `jax.make_mesh`.

    Example:
        >>> import imprint
        >>> imprint.make_mesh((1, 1), ("data", "model"))
        Mesh('data': 1, 'model': 1)
    """
    sizes = tuple(axis_shapes)
    if not all(type(size) is int and size > 0 for size in sizes):
        raise ArgumentError(
            f"make_mesh: expected positive ints as axis_shapes, got {axis_shapes!r}. "
            "Write make_mesh((4, 2), ('data', 'model'))."
        )
    those = runtime.devices() if devices is None else tuple(devices)
    wanted = prod(sizes)
    if len(those) < wanted or (devices is not None and len(those) != wanted):
        more = (
            "Give as many devices."
            if devices is not None
            else "Make the mesh smaller, or start with more: IMPRINT_NUM_CPU_DEVICES="
            f"{wanted}."
        )
        raise ArgumentError(
            f"make_mesh: expected {wanted} devices for the axis_shapes {sizes}, got "
            f"{len(those)}. {more}"
        )
    grid = np.empty(wanted, object)
    grid[:] = those[:wanted]
    return Mesh(grid.reshape(sizes), axis_names, axis_types)
