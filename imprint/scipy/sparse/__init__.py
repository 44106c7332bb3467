"""Sparse linear algebra, as in `jax.scipy.sparse`: iterative solvers."""

from imprint.scipy.sparse import linalg as linalg

__all__ = ["linalg"]
