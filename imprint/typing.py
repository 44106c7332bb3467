"""Annotations for functions of arrays, as in `jax.typing`.

`ArrayLike` is an argument that is used as an array: an array of imprint or NumPy, or a
number. `DTypeLike` is a dtype or its name.
"""

from imprint._src.dtypes import DTypeLike
from imprint._src.numpy.promotion import ArrayLike

__all__ = ["ArrayLike", "DTypeLike"]
