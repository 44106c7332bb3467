"""`jax.pmap`: one call of a function on each device, by `shard_map`.

Its arguments are split along axis 0, one element on each device, and results are stacked.
Each call makes the mesh of as many devices as there are elements.
"""

# Strict types would be Any in each place: trees and layers of any kind.
# pyright: basic

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from imprint._src.errors import ArgumentError
from imprint._src.jit.api import jit
from imprint._src.runtime.client import devices as all_devices
from imprint._src.shard_map import shard_map
from imprint._src.tree import internal as tree
from imprint.sharding import Mesh, PartitionSpec


def pmap(  # noqa: PLR0913 - JAX's signature
    fun: Callable[..., Any],
    axis_name: Hashable | None = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    devices: Sequence[Any] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
) -> Callable[..., Any]:
    """Return `fun` mapped over axis 0 of its arguments, one element on each device.

    Args:
      fun: The function of one element.
      axis_name: The name by which collectives know the axis.
      in_axes: 0 or None for each argument: None is the same on all devices.
      out_axes: 0 for each result, or None for one that is equal on all devices.
      static_broadcasted_argnums: Arguments that are static.
      devices: The devices; the first ones of the platform otherwise.
      backend: The platform of the devices.
      axis_size: The length of the mapped axis, which the arguments say otherwise.
      donate_argnums: Arguments whose memory is given up.

    Returns:
      The mapped function. Its results are split over the devices along axis 0.

    Raises:
      ArgumentError: If the axis is longer than there are devices.
    """
    name = "pmap" if axis_name is None else axis_name
    static = _as_tuple(static_broadcasted_argnums)

    @functools.wraps(fun)
    def mapped(*args: Any) -> Any:
        given = [a for i, a in enumerate(args) if i not in static]
        axes = _axes(in_axes, len(args), static)
        size = axis_size or _size(given, axes)
        mesh = _mesh(size, devices, backend, name)

        def one(*given: Any) -> Any:
            parts = [
                part if axis is None else tree.map(lambda x: x[0], part)
                for part, axis in zip(given, axes, strict=True)
            ]
            rest = iter(parts)
            full = [a if i in static else next(rest) for i, a in enumerate(args)]
            out = fun(*full)
            return tree.map(lambda x: x[None], out) if out_axes == 0 else out

        specs = tuple(
            PartitionSpec() if a is None else PartitionSpec(name) for a in axes
        )
        out_specs = PartitionSpec(name) if out_axes == 0 else PartitionSpec()
        run = shard_map(
            one, mesh=mesh, in_specs=specs, out_specs=out_specs, check_vma=False
        )
        donated = [i - sum(s < i for s in static) for i in _as_tuple(donate_argnums)]
        return jit(run, donate_argnums=tuple(donated))(*given)

    return mapped


def _as_tuple(numbers: int | Sequence[int]) -> tuple[int, ...]:
    return (numbers,) if isinstance(numbers, int) else tuple(numbers)


def _axes(in_axes: Any, count: int, static: tuple[int, ...]) -> list[Any]:
    each = list(in_axes) if isinstance(in_axes, (tuple, list)) else [in_axes] * count
    return [axis for i, axis in enumerate(each) if i not in static]


def _size(args: Sequence[Any], axes: Sequence[Any]) -> int:
    for arg, axis in zip(args, axes, strict=True):
        for leaf in tree.leaves(arg) if axis is not None else ():
            return int(np.shape(leaf)[0])
    raise ArgumentError("pmap: expected an argument with a mapped axis, got none")


def _mesh(size: int, devices: Any, backend: str | None, name: Any) -> Mesh:
    there = list(devices) if devices is not None else list(all_devices(backend))
    if size > len(there):
        raise ArgumentError(
            f"pmap: expected a mapped axis of at most {len(there)} elements, the number of "
            f"devices, got {size}. Use vmap, or make more devices: "
            "jax.config.update('num_cpu_devices', 8)."
        )
    return Mesh(np.array(there[:size]), (name,))
