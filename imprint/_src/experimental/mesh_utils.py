"""Grids of devices, as NumPy arrays.

They are in the order of the devices: here no network between them is known.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from imprint._src import runtime
from imprint._src.errors import ArgumentError

Grid = np.ndarray[Any, np.dtype[np.object_]]


def create_device_mesh(
    mesh_shape: Sequence[int],
    devices: Sequence[Any] | None = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> Grid:
    """Return devices in a grid, in their order.

    Args:
        mesh_shape: the shape of the grid.
        devices: the devices, by default `imprint.devices()`.
        contiguous_submeshes: about the network of TPUs, of which there is none here.
        allow_split_physical_axes: as `contiguous_submeshes`.

    Returns:
        A NumPy array of devices, of shape `mesh_shape`; GPUs are in order of their numbers.

    Raises:
        ArgumentError: the grid has another number of places than there are devices.

    Example:
        >>> import imprint
        >>> from imprint.experimental import mesh_utils
        >>> grid = mesh_utils.create_device_mesh((1, 1), imprint.devices()[:1])
        >>> imprint.sharding.Mesh(grid, ("data", "model"))
        Mesh('data': 1, 'model': 1)
    """
    del contiguous_submeshes, allow_split_physical_axes
    those = tuple(runtime.devices() if devices is None else devices)
    shape = tuple(mesh_shape)
    if prod(shape) != len(those):
        raise ArgumentError(
            f"create_device_mesh: expected as many devices as mesh_shape {shape} has "
            f"places, {prod(shape)}, got {len(those)}. Pass some of imprint.devices()."
        )
    grid = np.empty(len(those), object)
    grid[:] = (
        sorted(those, key=lambda d: d.id) if those[-1].platform == "gpu" else those
    )
    return grid.reshape(shape)


def create_hybrid_device_mesh(
    mesh_shape: Sequence[int],
    dcn_mesh_shape: Sequence[int],
    devices: Sequence[Any] | None = None,
    *,
    process_is_granule: bool = False,
    should_sort_granules_by_key: bool = True,
    allow_split_physical_axes: bool = False,
) -> Grid:
    """Return devices in a grid of grids, one for each process.

    Args:
        mesh_shape: the shape of the grid of one process.
        dcn_mesh_shape: the shape of the grid of processes.
        devices: the devices, by default `imprint.devices()`.
        process_is_granule: has to be True: devices have no slices of TPUs.
        should_sort_granules_by_key: whether processes are in order of their numbers.
        allow_split_physical_axes: as in `create_device_mesh`.

    Returns:
        A grid of shape `mesh_shape * dcn_mesh_shape`.

    Raises:
        ArgumentError: `process_is_granule` is False, or a shape does not fit the devices.
    """
    if not process_is_granule:
        raise ArgumentError(
            "create_hybrid_device_mesh: expected process_is_granule=True, as devices have "
            "no slice_index, got False. Set it."
        )
    those = runtime.devices() if devices is None else devices
    groups: dict[int, list[Any]] = {}
    for device in those:
        groups.setdefault(device.process_index, []).append(device)
    if prod(dcn_mesh_shape) != len(groups):
        raise ArgumentError(
            f"create_hybrid_device_mesh: expected dcn_mesh_shape {tuple(dcn_mesh_shape)} "
            f"to have a place for each process, got {len(groups)} processes."
        )
    order = sorted(groups) if should_sort_granules_by_key else list(groups)
    grids = [
        create_device_mesh(
            mesh_shape,
            groups[key],
            allow_split_physical_axes=allow_split_physical_axes,
        )
        for key in order
    ]
    places = np.empty(len(grids), object)
    places[:] = grids
    blocks: Any = places.reshape(tuple(dcn_mesh_shape)).tolist()
    return np.block(blocks)
