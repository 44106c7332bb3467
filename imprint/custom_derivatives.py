"""User-defined derivatives: `custom_jvp`, `custom_vjp` and their helpers."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.custom_derivatives.closures import closure_convert, custom_gradient
from imprint._src.custom_derivatives.forward import custom_jvp
from imprint._src.custom_derivatives.reverse import custom_vjp
from imprint._src.custom_derivatives.zeros import (
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
public_names.set_public_names(__name__)
