"""Names of `jax.experimental`, at the same place for programs of JAX.

They are as stable as all other names.
"""

from imprint._src.bootstrap import attribute_errors
from imprint._src.callbacks import io_callback as io_callback
from imprint._src.config import enable_x64 as enable_x64
from imprint._src.experimental.x64_context import disable_x64 as disable_x64
from imprint.experimental import checkify as checkify
from imprint.experimental import layout as layout
from imprint.experimental import mesh_utils as mesh_utils
from imprint.experimental import multihost_utils as multihost_utils
from imprint.experimental import shard_map as shard_map

__all__ = [
    "checkify",
    "disable_x64",
    "enable_x64",
    "io_callback",
    "layout",
    "mesh_utils",
    "multihost_utils",
    "shard_map",
]

attribute_errors.explain_missing(__name__)
