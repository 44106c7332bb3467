"""Placements and avals as plain data, for JSON.

A device is its platform, its number among those of its process, and its kind, so it is
found again where as many devices are there in the same order. A mesh is its devices in
their grid with names and types; an array that follows others has its current device.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from imprint._src import runtime
from imprint._src.core.aval import ShapedArray
from imprint._src.jit.compilation.layout import Spread
from imprint._src.jit.guards.locations import class_of
from imprint._src.jit.manifest.not_cacheable import NotCacheable, Reason
from imprint._src.sharding.mesh import AbstractMesh, AxisType, Mesh
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.single import SingleDeviceSharding, Uncommitted
from imprint._src.sharding.spec import UNCONSTRAINED, PartitionSpec
from imprint._src.tree import internal as tree

Plain = Any

# ---- placements ----


def serialize_placement(x: Any) -> Plain:
    """Return a device, a mesh, a spec or a sharding as plain data.

    Raises:
        NotCacheable: it is something else, or of another process.
    """
    kind = class_of(x)
    if x is None:
        return None
    if kind is runtime.Device:
        if not x.is_here:
            raise NotCacheable(Reason.OPTION, f"the device {x} of another process")
        return ["device", x.platform, x.local_id, x.device_kind]
    if kind is PartitionSpec:
        return ["spec", [_serialize_entry(e) for e in x]]
    if kind is Mesh or kind is AbstractMesh:
        flat = x.flat_devices if kind is Mesh else ()
        axes = [*x.axis_names], [*x.axis_sizes], [t.name for t in x.axis_types]
        return [_NAMES[kind], [serialize_placement(d) for d in flat], *axes]
    if kind is NamedSharding:
        return ["named", serialize_placement(x.mesh), serialize_placement(x.spec)]
    if kind is SingleDeviceSharding or kind is Uncommitted:
        return [_NAMES[kind], serialize_placement(x.device)]
    raise NotCacheable(Reason.OPTION, f"the placement {x!r}")


def _serialize_entry(entry: Any) -> Plain:
    if entry is UNCONSTRAINED:
        return 0
    return [*entry] if isinstance(entry, tuple) else entry


PLACEMENTS: Final = (runtime.Device, PartitionSpec, Mesh, AbstractMesh, NamedSharding)
"""Classes of placements that count by value."""
_NAMES: Final = {
    Mesh: "mesh",
    AbstractMesh: "abstract mesh",
    SingleDeviceSharding: "single",
    Uncommitted: "follows",
}


def deserialize_placement(plain: Plain) -> Any:
    """Return the placement; LookupError if there is no such device here."""
    if plain is None:
        return None
    kind, *rest = plain
    if kind == "device":
        return _device(*rest)
    if kind == "spec":
        return PartitionSpec(*[UNCONSTRAINED if e == 0 else e for e in rest[0]])
    if kind == "named":
        return NamedSharding(*map(deserialize_placement, rest))
    if kind in ("single", "follows"):
        made = SingleDeviceSharding if kind == "single" else Uncommitted
        return made(deserialize_placement(rest[0]))
    flat, names, sizes, types = rest
    kinds = tuple([AxisType[t] for t in types])
    if kind == "abstract mesh":
        return AbstractMesh(sizes, tuple(names), kinds)
    grid = np.empty(len(flat), object)
    grid[:] = [deserialize_placement(d) for d in flat]
    return Mesh(grid.reshape(sizes), tuple(names), kinds)


def _device(platform: str, number: int, kind: str) -> runtime.Device:
    for device in runtime.devices(platform):
        if device.is_here and device.local_id == number:
            if device.device_kind == kind:
                return device
            break
    raise LookupError(f"{platform}:{number}")


def serialize_spread(spread: Spread | None) -> Plain:
    """Return the layout of a program as plain data; None if it is on one device."""
    if spread is None:
        return None
    mesh, *both = spread
    sides = [[*map(serialize_placement, side)] for side in both]
    return [serialize_placement(mesh), *sides]


def deserialize_spread(plain: Plain) -> Spread | None:
    """Return the layout of a program."""
    if plain is None:
        return None
    mesh, *both = plain
    inputs, outputs = [tuple(map(deserialize_placement, side)) for side in both]
    return Spread(deserialize_placement(mesh), inputs, outputs)


# ---- avals ----


def serialize_aval(aval: ShapedArray) -> Plain:
    """Return an aval as plain data.

    Raises:
        NotCacheable: its sizes or its dtype have no plain form, or another process has it.
    """
    is_plain = all(type(n) is int for n in aval.shape)
    if not is_plain or type(aval.dtype).__module__.partition(".")[0] != "numpy":
        raise NotCacheable(Reason.OPTION, f"an argument or result {aval!r}")
    plain = [list(aval.shape), aval.dtype.name, aval.weak_type]
    if aval.sharding is not None:
        plain.append(serialize_placement(aval.sharding))
    return plain


def deserialize_aval(plain: Plain) -> ShapedArray:
    """Return the aval."""
    shape, name, weak_type, *placed = plain
    aval = ShapedArray(tuple(shape), np.dtype(name), weak_type)
    return aval.with_sharding(deserialize_placement(placed[0])) if placed else aval


# ---- trees ----


def tree_data(treedef: tree.TreeDef) -> Iterator[Any]:
    """Yield the classes, static data and leaves of a tree, in order."""
    if treedef.is_leaf:
        yield 0
        return
    yield treedef.num_nodes
    data = treedef.node_data()
    if data is not None:
        yield from data
    for child in treedef.children():
        yield from tree_data(child)
