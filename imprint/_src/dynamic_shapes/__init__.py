"""Symbolic sizes: shapes with names for sizes, valid for all their values.

- `expression`: expressions of names in canonical form, and their scope
- `values`: evaluation for values of the names, and the error of an undecided comparison
- `bounds`: lower bounds of an expression
- `decisions`: comparisons decided by the sizes of one call
- `parsing`: `symbolic_shape` and the parser of constraints
- `instantiate`: a symbolic jaxpr at concrete sizes
"""

from imprint._src.dynamic_shapes import bounds as bounds
from imprint._src.dynamic_shapes import values as values
from imprint._src.dynamic_shapes.parsing import SymbolicScope as SymbolicScope
from imprint._src.dynamic_shapes.parsing import symbolic_shape as symbolic_shape

__all__ = ["SymbolicScope", "symbolic_shape"]
