"""`ravel_pytree`: a tree of arrays as one vector, and its inverse.

The inverse is compared by value, so it can be a static argument. For trees of one dtype it
keeps the dtype of the vector. For mixed dtypes, the vector has the dtype to which they
promote, and the inverse restores the dtype of each leaf.
"""

import math
import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.errors import DTypeError, ShapeError
from imprint._src.numpy.promotion import as_array
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.shape import reshape
from imprint._src.tree import internal as tree

__all__ = ["ravel_pytree"]


def ravel_pytree(pytree: Any) -> tuple[Array, "Unravel"]:
    """Return the numbers of a tree of arrays as one vector, and the inverse function.

    Args:
        pytree: a tree of arrays and numbers. Without leaves the vector is empty.

    Returns:
        The vector, with the dtype to which those of the leaves promote, and a function that
        unflattens a vector of its length into the tree.

    References:
        JAX, `jax.flatten_util.ravel_pytree`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.flatten_util import ravel_pytree
        >>> vector, unravel = ravel_pytree({"w": np.ones((2, 2)), "b": np.zeros(1)})
        >>> vector
        Array([0., 1., 1., 1., 1.], dtype=float32)
        >>> unravel(2 * vector)["b"]
        Array([0.], dtype=float32)
    """
    leaves, treedef = tree.flatten(pytree)
    arrays = [as_array("ravel_pytree", x) for x in leaves]
    own = tuple([x.dtype for x in arrays])
    common = dtypes.result_type(*own) if own else dtypes.float32
    shapes = tuple([x.shape for x in arrays])
    is_mixed = any(dtype != common for dtype in own)
    unravel = Unravel(treedef, shapes, own if is_mixed else (), common)
    if not arrays:
        return as_array("ravel_pytree", np.zeros(0, common)), unravel
    flat = [reshape(x, (x.size,)) for x in arrays]
    if is_mixed:
        flat = [convert_element_type(x, common) for x in flat]
    return concatenate(flat, 0), unravel


@final
@dataclass(frozen=True)
class Unravel:
    """The inverse of `ravel_pytree`.

    Args:
        treedef: the structure of the tree.
        shapes: the shapes of its leaves.
        dtypes: their dtypes, if they differ.
        dtype: the dtype of the vector.
    """

    treedef: tree.TreeDef
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[Any, ...]
    dtype: Any

    def __call__(self, flat: Any) -> Any:
        """Return the tree with the numbers of a vector.

        Raises:
            ShapeError: the length differs.
            DTypeError: the dtypes of the tree differ, and that of the vector is not the one
                to which they promote.
        """
        vector = as_array("unravel", flat)
        total = sum(map(math.prod, self.shapes))
        if vector.shape != (total,):
            raise ShapeError(
                f"unravel: expected {self.dtype}[{total}], got {vector.aval}. Pass a "
                "vector as long as that from ravel_pytree."
            )
        if self.dtypes and vector.dtype != self.dtype:
            raise DTypeError(
                f"unravel: expected {self.dtype}[{total}], for the leaves of the tree "
                f"are of several dtypes, got {vector.aval}. Convert it with "
                f"`.astype({self.dtype})`."
            )
        leaves: list[Any] = []
        start = 0
        for i, shape in enumerate(self.shapes):
            end = start + math.prod(shape)
            leaf = reshape(slice_in_dim(vector, start, end), shape)
            if self.dtypes:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
                    leaf = convert_element_type(leaf, self.dtypes[i])
            leaves.append(leaf)
            start = end
        return self.treedef.unflatten(leaves)
