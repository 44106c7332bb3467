"""Annotations for functions of arrays, as in `jax.typing`; nothing is defined here.

`ArrayLike` is what stands for an array as an argument: an array, of imprint or of NumPy,
or a number. `DTypeLike` is what names a dtype.
"""

from imprint._src.dtypes import DTypeLike
from imprint._src.numpy.promotion import ArrayLike

__all__ = ["ArrayLike", "DTypeLike"]
