"""Least values of functions, as `jax.scipy.optimize` finds them.

- `minimizing`: which method, with which options, and what does it give?
- `bfgs`: where is a function least, by an estimate of its inverse Hessian?
- `lbfgs`: where is it, by the last few steps alone?
- `line_search`: how far is a step along a direction?
"""

from imprint._src.bootstrap import public_names
from imprint._src.diagnostics import attribute_errors
from imprint.scipy.optimize.minimizing import OptimizeResults, minimize

__all__ = ["OptimizeResults", "minimize"]

attribute_errors.explain_missing(__name__)
public_names.offer_public(__name__)
