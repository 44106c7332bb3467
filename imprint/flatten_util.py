"""A tree of arrays as one vector: `ravel_pytree`, for code that takes only vectors."""

from imprint._src.flatten_util import ravel_pytree as ravel_pytree

__all__ = [
    "ravel_pytree",
]
