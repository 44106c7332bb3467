"""Sizes that are names: shapes for all sizes at once.

- `expression`: what is an expression of names, and when are two the same?
- `values`: what number is it for values of the names, and which are allowed?
- `terms`: what is a sum of products, and how does it print?
- `bounds`: between which numbers does one surely lie?
- `witnesses`: what does a question say to which the answer depends on the values?
- `deciding`: who answers where that depends on the values?
- `parsing`: how does a text become sizes?
- `instantiate`: what is a program at some sizes?
"""

from imprint._src.dynamic_shapes import bounds as bounds
from imprint._src.dynamic_shapes import witnesses as witnesses
from imprint._src.dynamic_shapes.parsing import SymbolicScope as SymbolicScope
from imprint._src.dynamic_shapes.parsing import symbolic_shape as symbolic_shape

__all__ = ["SymbolicScope", "symbolic_shape"]
