"""`ravel_pytree`: a tree of arrays as one vector, and its inverse."""

from imprint._src.flatten_util import ravel_pytree as ravel_pytree

__all__ = [
    "ravel_pytree",
]
