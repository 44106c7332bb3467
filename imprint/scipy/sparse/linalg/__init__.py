"""Iterative solutions of linear systems, as `jax.scipy.sparse.linalg` has them.

- `systems`: what is a system, and what is its derivative?
- `conjugate`: how is one solved by conjugate directions?
- `residuals`: how is one solved by the least residual in a growing space?
"""

from imprint._src.bootstrap import public_names
from imprint._src.diagnostics import attribute_errors
from imprint.scipy.sparse.linalg.conjugate import bicgstab, cg
from imprint.scipy.sparse.linalg.residuals import gmres

__all__ = ["bicgstab", "cg", "gmres"]

attribute_errors.explain_missing(__name__)
public_names.offer_public(__name__)
