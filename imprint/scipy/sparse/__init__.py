"""What `jax.scipy.sparse` has: linear systems that are known by what they do to a vector.

- `linalg`: how is such a system solved, step by step?
"""

from imprint.scipy.sparse import linalg as linalg

__all__ = ["linalg"]
