"""What `jax.scipy.sparse` has: linear systems that are known by what they do to a vector."""

from imprint.scipy.sparse import linalg as linalg

__all__ = ["linalg"]
