"""Derivatives that a user defines: `custom_jvp`, `custom_vjp` and what they take and give.

- `forward`: how does a function get a rule for its tangents (`custom_jvp`)?
- `reverse`: how does a function get a rule for its cotangents (`custom_vjp`)?
- `ruled`: what is a function with a rule, whatever the rule is for?
- `flat`: how is a call of such a function one of its leaves?
- `zeros`: what does a rule see of tangents that are zero?
- `closures`: how do the values that a function closes over become arguments?
"""

from imprint._src.bootstrap import public_names
from imprint._src.diagnostics import attribute_errors
from imprint.custom_derivatives.closures import closure_convert, custom_gradient
from imprint.custom_derivatives.forward import custom_jvp
from imprint.custom_derivatives.reverse import custom_vjp
from imprint.custom_derivatives.zeros import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_vjp_primal_tree_values,
    zero_from_primal,
)

__all__ = [
    "CustomVJPPrimal",
    "SymbolicZero",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "custom_vjp_primal_tree_values",
    "zero_from_primal",
]

attribute_errors.explain_missing(__name__)
public_names.offer_public(__name__)
