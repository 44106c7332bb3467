"""Functions as bytes: traced once, called in another process, for every size.

The bytes hold portable StableHLO, and the trees and shapes of the arguments and
results; no pickle and no user code.
"""

from imprint._src.bootstrap import attribute_errors
from imprint._src.dynamic_shapes import SymbolicScope as SymbolicScope
from imprint._src.dynamic_shapes import symbolic_shape as symbolic_shape
from imprint._src.export.exported import Exported as Exported
from imprint._src.export.exported import deserialize as deserialize
from imprint._src.export.exported import to_jax as to_jax
from imprint._src.export.exporting import (
    default_export_platform as default_export_platform,
)
from imprint._src.export.exporting import export as export
from imprint._src.export.exporting import is_symbolic_dim as is_symbolic_dim
from imprint._src.export.exporting import symbolic_args_specs as symbolic_args_specs
from imprint._src.export.trees import (
    register_namedtuple_serialization as register_namedtuple_serialization,
)
from imprint._src.export.trees import (
    register_pytree_node_serialization as register_pytree_node_serialization,
)

__all__ = [
    "Exported",
    "SymbolicScope",
    "default_export_platform",
    "deserialize",
    "export",
    "is_symbolic_dim",
    "register_namedtuple_serialization",
    "register_pytree_node_serialization",
    "symbolic_args_specs",
    "symbolic_shape",
    "to_jax",
]

attribute_errors.explain_missing(__name__)
