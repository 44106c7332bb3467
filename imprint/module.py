"""Modules: models as pytrees, and functions on them.

`Module` and its fields; functions that change and print instances. The names are
Equinox's where they mean the same.
"""

from imprint._src.module.batching import filter_vmap, if_array
from imprint._src.module.callback import filter_pure_callback
from imprint._src.module.checks import branched_error_if, error_if
from imprint._src.module.compare import (
    tree_check,
    tree_equal,
    tree_flatten_one_level,
    tree_inference,
)
from imprint._src.module.custom import (
    filter_checkpoint,
    filter_custom_jvp,
    filter_custom_vjp,
)
from imprint._src.module.derivatives import (
    filter_grad,
    filter_hessian,
    filter_jacfwd,
    filter_jacrev,
    filter_jvp,
    filter_value_and_grad,
    filter_vjp,
)
from imprint._src.module.edit import apply_updates, replace, tree_at
from imprint._src.module.enumeration import Enumeration
from imprint._src.module.fields import AbstractClassVar, AbstractVar, field
from imprint._src.module.filters import (
    combine,
    filter,  # noqa: A004 - Equinox's name
    is_array,
    is_array_like,
    is_inexact_array,
    is_inexact_array_like,
    partition,
)
from imprint._src.module.methods import BoundMethod
from imprint._src.module.module import Module
from imprint._src.module.partial import Partial
from imprint._src.module.serialise import (
    default_deserialise_filter_spec,
    default_serialise_filter_spec,
    tree_deserialise_leaves,
    tree_serialise_leaves,
)
from imprint._src.module.show import tree_pformat, tree_pprint
from imprint._src.module.tracing import (
    filter_closure_convert,
    filter_eval_shape,
    filter_make_jaxpr,
)

__all__ = [
    "AbstractClassVar",
    "AbstractVar",
    "BoundMethod",
    "Enumeration",
    "Module",
    "Partial",
    "apply_updates",
    "branched_error_if",
    "combine",
    "default_deserialise_filter_spec",
    "default_serialise_filter_spec",
    "error_if",
    "field",
    "filter",
    "filter_checkpoint",
    "filter_closure_convert",
    "filter_custom_jvp",
    "filter_custom_vjp",
    "filter_eval_shape",
    "filter_grad",
    "filter_hessian",
    "filter_jacfwd",
    "filter_jacrev",
    "filter_jvp",
    "filter_make_jaxpr",
    "filter_pure_callback",
    "filter_value_and_grad",
    "filter_vjp",
    "filter_vmap",
    "if_array",
    "is_array",
    "is_array_like",
    "is_inexact_array",
    "is_inexact_array_like",
    "partition",
    "replace",
    "tree_at",
    "tree_check",
    "tree_deserialise_leaves",
    "tree_equal",
    "tree_flatten_one_level",
    "tree_inference",
    "tree_pformat",
    "tree_pprint",
    "tree_serialise_leaves",
]
