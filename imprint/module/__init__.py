"""Modules: models as pytrees, and functions on them.

`Module` and what it is declared with; how its instances are changed and shown. The names
are Equinox's where they mean the same.

- `module`: what is a `Module`, and when is an instance finished?
- `declare`: how does a class become a dataclass and a node of pytrees?
- `fields`: with which words does a class declare its fields?
- `methods`: what is a bound method of a module?
- `partial`: how are arguments fixed without losing what they hold?
- `wrapper`: what is a function that a filtered transform wrapped?
- `value`: when are two modules equal, and what is their hash?
- `refusals`: what can a module not be, and what is written instead?
- `filters`: which leaves of a tree are arrays, and how is a tree parted?
- `checks`: which values end a program with an error?
- `edit`: how is a changed copy of a tree made?
- `compare`: are two trees equal, and how does a model switch to inference?
- `show`: how does a tree print?
- `tracing`: how is a function of models traced without running it?
- `derivatives`: with respect to what is a function of models differentiated?
- `custom`: how does a function of models get a derivative of its own, or remember little?
- `batching`: over what is a function of models mapped?
- `callback`: how does a program call a function of anything?
- `enumeration`: what is an enum whose items can be traced?
- `serialise`: how are the leaves of a tree saved, and loaded into one like it?
- `records`: what does the file of saved leaves look like?
"""

from imprint.module.batching import filter_vmap, if_array
from imprint.module.callback import filter_pure_callback
from imprint.module.checks import branched_error_if, error_if
from imprint.module.compare import (
    tree_check,
    tree_equal,
    tree_flatten_one_level,
    tree_inference,
)
from imprint.module.custom import (
    filter_checkpoint,
    filter_custom_jvp,
    filter_custom_vjp,
)
from imprint.module.derivatives import (
    filter_grad,
    filter_hessian,
    filter_jacfwd,
    filter_jacrev,
    filter_jvp,
    filter_value_and_grad,
    filter_vjp,
)
from imprint.module.edit import apply_updates, replace, tree_at
from imprint.module.enumeration import Enumeration
from imprint.module.fields import AbstractClassVar, AbstractVar, field
from imprint.module.filters import (
    combine,
    filter,  # noqa: A004 - Equinox's name
    is_array,
    is_array_like,
    is_inexact_array,
    is_inexact_array_like,
    partition,
)
from imprint.module.methods import BoundMethod
from imprint.module.module import Module
from imprint.module.partial import Partial
from imprint.module.serialise import (
    default_deserialise_filter_spec,
    default_serialise_filter_spec,
    tree_deserialise_leaves,
    tree_serialise_leaves,
)
from imprint.module.show import tree_pformat, tree_pprint
from imprint.module.tracing import (
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
