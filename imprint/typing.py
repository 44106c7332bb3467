"""Annotations for functions of arrays, as in `jax.typing`.

`ArrayLike` is an argument that is converted to an array: an array of imprint or NumPy, or
a number. `DTypeLike` is a dtype or the name of one.
"""

from imprint._src.dtypes import DTypeLike
from imprint._src.numpy.promotion import ArrayLike

__all__ = ["ArrayLike", "DTypeLike"]
