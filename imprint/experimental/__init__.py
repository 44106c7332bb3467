"""Names of `jax.experimental`, at the same place for programs of JAX.

They are as stable as all other names.
"""

from imprint._src.bootstrap import attribute_errors
from imprint._src.callbacks import io_callback as io_callback
from imprint.experimental import checkify as checkify
from imprint.experimental import multihost_utils as multihost_utils

__all__ = ["checkify", "io_callback", "multihost_utils"]

attribute_errors.explain_missing(__name__)
