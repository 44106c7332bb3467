"""Shardings: where the values of an array are, as plain data.

- `single`: which one device has all of an array, and must a computation follow?
- `spec`: which axes of a mesh split which axes of an array?
- `mesh`: which devices are there, in which grid, and what are its axes called?
- `named`: which part of an array has which device of a mesh?
- `shard`: what has one device of an array?
- `files`: how is a tree of arrays kept on the disk?
- `context`: which mesh does a bare `PartitionSpec` mean?
- `varying`: along which axes of a mesh may a value differ inside `shard_map`?

Nothing here knows a device of the engine: a device is any value that can be hashed.
"""

from imprint.sharding.context import get_abstract_mesh, get_mesh, set_mesh
from imprint.sharding.files import load, save
from imprint.sharding.mesh import AbstractMesh, AxisType, Mesh
from imprint.sharding.named import NamedSharding
from imprint.sharding.shard import Shard
from imprint.sharding.single import Sharding, SingleDeviceSharding
from imprint.sharding.spec import PartitionSpec

__all__ = [
    "AbstractMesh",
    "AxisType",
    "Mesh",
    "NamedSharding",
    "PartitionSpec",
    "Shard",
    "Sharding",
    "SingleDeviceSharding",
    "get_abstract_mesh",
    "get_mesh",
    "load",
    "save",
    "set_mesh",
]
