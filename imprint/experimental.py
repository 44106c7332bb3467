"""The face of what JAX has in `jax.experimental` and imprint has too.

The names stand here so that a program of JAX's finds them; they are no less finished than
others.
"""

from imprint.callbacks import io_callback as io_callback
from imprint.core import missing

__all__ = ["io_callback"]

missing.explain_missing(__name__)
