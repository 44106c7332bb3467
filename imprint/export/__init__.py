"""Functions as bytes: traced once, called in another process, for every size.

What is stored is StableHLO in its portable form, with the trees and the shapes of the
arguments and results; no pickle, and nothing of the user's code.

- `exporting`: how does a function become an `Exported`?
- `exported`: what is an exported function, and how is it called?
- `writing`: which StableHLO holds for every size, and which equation has none?
- `module`: which StableHLO is that of a call?
- `calling`: what is the call of an exported function inside a program?
- `format`: how does it become bytes, and why are some not believed?
- `of_jax`: how is it exchanged with JAX?
- `trees`: how does the structure of a tree become plain data?
"""

from imprint._src.dynamic_shapes import SymbolicScope as SymbolicScope
from imprint._src.dynamic_shapes import symbolic_shape as symbolic_shape
from imprint.export.exported import Exported as Exported
from imprint.export.exporting import (
    default_export_platform as default_export_platform,
)
from imprint.export.exporting import export as export
from imprint.export.exporting import is_symbolic_dim as is_symbolic_dim
from imprint.export.exporting import symbolic_args_specs as symbolic_args_specs
from imprint.export.format import deserialize as deserialize
from imprint.export.of_jax import to_jax as to_jax
from imprint.export.trees import (
    register_namedtuple_serialization as register_namedtuple_serialization,
)
from imprint.export.trees import (
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
