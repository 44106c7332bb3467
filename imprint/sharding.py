"""Shardings: where the values of an array are, as plain data.

Nothing here knows a device of the engine: a device is any value that can be hashed.
"""

from imprint._src.sharding.context import get_abstract_mesh, get_mesh, set_mesh
from imprint._src.sharding.files import load, save
from imprint._src.sharding.mesh import AbstractMesh, AxisType, Mesh
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.shard import Shard
from imprint._src.sharding.single import Sharding, SingleDeviceSharding
from imprint._src.sharding.spec import PartitionSpec

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
