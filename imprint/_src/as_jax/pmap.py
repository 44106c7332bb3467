"""`jax.pmap`: one call of a function on each device, by `shard_map`.

Arguments are split along their mapped axes, one element on each device, and results are
stacked. A function keeps a program for each length of the axis.
"""

# Strict types would be Any in each place: trees and layers of any kind.
# pyright: basic

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as onp

import imprint.numpy as np
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
    """Return `fun` mapped over an axis of its arguments, one element on each device.

    Args:
      fun: The function of one element.
      axis_name: The name by which collectives know the axis.
      in_axes: The mapped axis of the arguments, a prefix of them; None is the same on all
        devices. Keyword arguments are mapped over axis 0.
      out_axes: The mapped axis of the results, a prefix of them; None for one that is
        equal on all devices.
      static_broadcasted_argnums: Arguments that are static.
      devices: The devices; the first ones of the platform otherwise.
      backend: The platform of the devices.
      axis_size: The length of the mapped axis, which the arguments say otherwise.
      donate_argnums: Arguments whose memory is given up.

    Returns:
      The mapped function. Its results are split over the devices along the mapped axis.

    Raises:
      ArgumentError: If the axis is longer than there are devices, or the lengths of the
        arguments differ.
    """
    name = "pmap" if axis_name is None else axis_name
    static = _as_tuple(static_broadcasted_argnums)

    def flatten(args: Any, kwargs: Any) -> tuple[list[Any], tree.TreeDef, list[Any]]:
        """Return the leaves of the arguments that are not static, and their axes."""
        given = [x for i, x in enumerate(args) if i not in static]
        axes = in_axes
        if isinstance(in_axes, (tuple, list)):
            axes = [axis for i, axis in enumerate(in_axes) if i not in static]
        leaves, structure = tree.flatten((given, kwargs))
        return (
            leaves,
            structure,
            tree.flatten_axes((axes, 0), structure, "pmap in_axes"),
        )

    @functools.cache
    def program(size: int) -> Callable[..., Any]:
        mesh = _mesh(size, devices, backend, name)

        def whole(*args: Any, **kwargs: Any) -> Any:
            leaves, structure, axes = flatten(args, kwargs)

            def one(*parts: Any) -> Any:
                given, named = tree.unflatten(structure, map(_element, parts, axes))
                rest = iter(given)
                full = [x if i in static else next(rest) for i, x in enumerate(args)]
                outs, out_structure = tree.flatten(fun(*full, **named))
                out_at = tree.flatten_axes(out_axes, out_structure, "pmap out_axes")
                return tree.unflatten(out_structure, map(_stacked, outs, out_at))

            split = shard_map(
                one,
                mesh=mesh,
                in_specs=tuple(_spec(name, axis) for axis in axes),
                out_specs=tree.map(
                    lambda axis: _spec(name, axis),
                    out_axes,
                    is_leaf=lambda x: x is None,
                ),
                check_vma=False,
            )
            return split(*leaves)

        donated = _as_tuple(donate_argnums)
        return jit(whole, static_argnums=static, donate_argnums=donated)

    @functools.wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, _, axes = flatten(args, kwargs)
        return program(axis_size or _size(leaves, axes))(*args, **kwargs)

    return mapped


def _as_tuple(numbers: int | Sequence[int]) -> tuple[int, ...]:
    return (numbers,) if isinstance(numbers, int) else tuple(numbers)


def _spec(name: Any, axis: int | None) -> PartitionSpec:
    if axis is None:
        return PartitionSpec()
    if axis < 0:
        raise ArgumentError(
            f"pmap: expected axes counted from the front, got {axis}. Count from 0."
        )
    return PartitionSpec(*[None] * axis, name)


def _element(part: Any, axis: int | None) -> Any:
    return part if axis is None else np.squeeze(part, axis)


def _stacked(out: Any, axis: int | None) -> Any:
    return out if axis is None else np.expand_dims(out, axis)


def _size(leaves: Sequence[Any], axes: Sequence[int | None]) -> int:
    pairs = zip(leaves, axes, strict=True)
    sizes = {int(onp.shape(x)[axis]) for x, axis in pairs if axis is not None}
    if len(sizes) != 1:
        raise ArgumentError(
            "pmap: expected arguments with mapped axes of one length, got "
            f"{sorted(sizes) or 'none'}"
        )
    return sizes.pop()


def _mesh(size: int, devices: Any, backend: str | None, name: Any) -> Mesh:
    there = list(devices) if devices is not None else list(all_devices(backend))
    if size > len(there):
        raise ArgumentError(
            f"pmap: expected a mapped axis of at most {len(there)} elements, the number of "
            f"devices, got {size}. Use vmap, or make more devices: "
            "jax.config.update('num_cpu_devices', 8)."
        )
    return Mesh(onp.array(there[:size]), (name,))
