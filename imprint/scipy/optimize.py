"""Minimization, as in `jax.scipy.optimize`."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.scipy.optimize.minimizing import OptimizeResults, minimize

__all__ = ["OptimizeResults", "minimize"]

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)
