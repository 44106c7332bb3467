"""Devices, meshes and shardings, as plain data.

A device is its platform, its number among those of its process, and what kind it is: so
it is found again where as many are there, in the same order. The devices of other
processes are nobody's here. A mesh is its devices in their grid with names and types; an
array that follows others has the device on which it is for now.
"""

from typing import Any, Final

import numpy as np

from imprint._src import runtime
from imprint._src.jit.compilation.layout import Spread
from imprint._src.jit.fingerprint.raw_access import class_of
from imprint._src.jit.manifest.not_cacheable import Refused, Why
from imprint._src.sharding.mesh import AbstractMesh, AxisType, Mesh
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.single import SingleDeviceSharding, Uncommitted
from imprint._src.sharding.spec import UNCONSTRAINED, PartitionSpec

Plain = Any


def plain_placement(x: Any) -> Plain:
    """Return a device, a mesh, a spec or a sharding as plain data.

    Raises:
        Refused: it is something else, or of another process.
    """
    kind = class_of(x)
    if x is None:
        return None
    if kind is runtime.Device:
        if not x.is_here:
            raise Refused(Why.OPTION, f"the device {x} of another process")
        return ["device", x.platform, x.local_id, x.device_kind]
    if kind is PartitionSpec:
        return ["spec", [_plain_entry(entry) for entry in x]]
    if kind is Mesh or kind is AbstractMesh:
        flat = x.flat_devices if kind is Mesh else ()
        axes = [*x.axis_names], [*x.axis_sizes], [t.name for t in x.axis_types]
        return [_MESHES[kind], [plain_placement(d) for d in flat], *axes]
    if kind is NamedSharding:
        return ["named", plain_placement(x.mesh), plain_placement(x.spec)]
    if kind is SingleDeviceSharding or kind is Uncommitted:
        return [_SINGLES[kind], plain_placement(x.device)]
    raise Refused(Why.OPTION, f"the placement {x!r}")


PLACED: Final = (runtime.Device, PartitionSpec, Mesh, AbstractMesh, NamedSharding)
"""The classes of what is a value, and no user's."""
_MESHES: Final = {Mesh: "mesh", AbstractMesh: "abstract mesh"}
_SINGLES: Final = {SingleDeviceSharding: "single", Uncommitted: "follows"}


def _plain_entry(entry: Any) -> Plain:
    if entry is UNCONSTRAINED:
        return 0
    return [*entry] if isinstance(entry, tuple) else entry


def placement_of(plain: Plain) -> Any:
    """Return what plain data stand for.

    Raises:
        LookupError: there is no such device here.
    """
    if plain is None:
        return None
    kind, *rest = plain
    if kind == "device":
        return _device(*rest)
    if kind == "spec":
        return PartitionSpec(*[UNCONSTRAINED if e == 0 else e for e in rest[0]])
    if kind == "named":
        return NamedSharding(*map(placement_of, rest))
    if kind in ("single", "follows"):
        made = SingleDeviceSharding if kind == "single" else Uncommitted
        return made(placement_of(rest[0]))
    flat, names, sizes, types = rest
    kinds = tuple([AxisType[t] for t in types])
    if kind == "abstract mesh":
        return AbstractMesh(sizes, tuple(names), kinds)
    grid = np.empty(len(flat), object)
    grid[:] = [placement_of(d) for d in flat]
    return Mesh(grid.reshape(sizes), tuple(names), kinds)


def _device(platform: str, number: int, kind: str) -> runtime.Device:
    for device in runtime.devices(platform):
        if (device.is_here, device.local_id) == (True, number):
            if device.device_kind == kind:
                return device
            break
    raise LookupError(f"{platform}:{number}")


# ---- programs over several devices ----


def plain_spread(spread: Spread | None) -> Plain:
    """Return how a program is spread as plain data; None if it is on one device."""
    if spread is None:
        return None
    mesh, *both = spread
    return [plain_placement(mesh), *[[*map(plain_placement, each)] for each in both]]


def spread_of(plain: Plain) -> Spread | None:
    """Return how a program is spread that plain data stand for."""
    if plain is None:
        return None
    mesh, *both = plain
    inputs, outputs = [tuple(map(placement_of, each)) for each in both]
    return Spread(placement_of(mesh), inputs, outputs)
