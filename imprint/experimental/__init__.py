"""The face of what JAX has in `jax.experimental` and imprint has too.

The names stand here so that a program of JAX's finds them; they are no less finished than
others.
"""

from imprint._src.bootstrap import attribute_errors
from imprint._src.callbacks import io_callback as io_callback
from imprint.experimental import checkify as checkify
from imprint.experimental import multihost_utils as multihost_utils

__all__ = ["checkify", "io_callback", "multihost_utils"]

attribute_errors.explain_missing(__name__)
