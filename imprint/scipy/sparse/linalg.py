"""Iterative solutions of linear systems, as `jax.scipy.sparse.linalg` has them."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.scipy.sparse.linalg.conjugate import bicgstab, cg
from imprint._src.scipy.sparse.linalg.residuals import gmres

__all__ = ["bicgstab", "cg", "gmres"]

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)
