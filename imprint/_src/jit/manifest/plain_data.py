"""Placements, avals and trees as plain data, for JSON.

A device is its platform, its number among those of its process, and its kind, so it is
found again where as many devices are there in the same order. A mesh is its devices in
their grid with names and types; an array that follows others has its current device. A
tree is made of tuples, lists, dictionaries and None; any other node must be a part of the
tree of the arguments, as the new state of a model is, or one with other children, as its
gradient is, and is the number of that part.
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


def serialize_tree(treedef: tree.TreeDef, arguments: tree.TreeDef) -> Plain:
    """Return a tree as plain data.

    Args:
        treedef: the tree.
        arguments: the tree of the arguments.

    Raises:
        NotCacheable: it has a node that the arguments do not have.
    """
    known = [*_parts(arguments)]  # kept: equal parts are one object while they live
    parts = {id(part): i for i, part in enumerate(known)}
    heads = [part.root() for part in known]
    roots = {id(head): i for i, head in enumerate(heads)}

    def serialize(each: tree.TreeDef) -> Plain:
        if each.is_leaf:
            return 0
        data = each.node_data()
        kind, held = (type(None), None) if data is None else data
        root = None if id(each) in parts else roots.get(id(each.root()))
        is_open = kind in _BUILTIN or root is not None
        children = [serialize(c) for c in each.children()] if is_open else []
        if kind is tuple or kind is list:
            return [kind.__name__, children]
        keys: Any = held if kind is dict else ()
        if kind is dict and all(type(key) is str for key in keys):
            return ["dict", children, list(keys)]
        if kind is type(None):
            return ["None"]
        if id(each) in parts:
            return ["part", parts[id(each)]]
        if root is not None:
            return ["root", children, root]
        raise NotCacheable(Reason.RESULT, f"an object of class {kind.__qualname__}")

    return serialize(treedef)


_BUILTIN: Final = (tuple, list, dict)


def deserialize_tree(plain: Plain, arguments: tree.TreeDef) -> tree.TreeDef:
    """Return the tree."""
    parts: list[tree.TreeDef] = []

    def build(each: Plain) -> Any:
        if each == 0:
            return 0
        kind, *rest = each
        if kind == "None":
            return None
        if kind in ("part", "root") and not parts:
            parts.extend(_parts(arguments))
        if kind == "part":
            part = parts[int(rest[0])]
            return part.unflatten([0] * part.num_leaves)
        children = [build(child) for child in rest[0]]
        if kind == "root":
            return parts[int(rest[1])].root().unflatten(children)
        if kind == "dict":
            return dict(zip(rest[1], children, strict=True))
        return tuple(children) if kind == "tuple" else children

    return tree.structure(build(plain))


def _parts(treedef: tree.TreeDef) -> Iterator[tree.TreeDef]:
    yield treedef
    if not treedef.is_leaf:
        for child in treedef.children():
            yield from _parts(child)


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
