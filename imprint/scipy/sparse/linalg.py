"""Iterative solvers of linear systems, as in `jax.scipy.sparse.linalg`."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.scipy.sparse.linalg.iterative import bicgstab, cg, gmres

__all__ = ["bicgstab", "cg", "gmres"]

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)
