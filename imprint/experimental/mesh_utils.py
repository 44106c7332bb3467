"""Grids of devices for `imprint.sharding.Mesh`; new code uses imprint.make_mesh."""

from imprint._src.bootstrap import attribute_errors
from imprint._src.experimental.mesh_utils import (
    create_device_mesh as create_device_mesh,
)
from imprint._src.experimental.mesh_utils import (
    create_hybrid_device_mesh as create_hybrid_device_mesh,
)

__all__ = ["create_device_mesh", "create_hybrid_device_mesh"]

attribute_errors.explain_missing(__name__)
