"""Products, transposes and diagonals under the names of `linalg`.

They are functions of `imprint.numpy` that are bound to the last axes, and refuse operands
that have other axes than vectors or matrices have.
"""

from collections.abc import Sequence
from typing import Any

from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ShapeError
from imprint._src.numpy import linear, matrices
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.numpy.shapes.reshape import matrix_transpose as transposed
from imprint._src.primitives.axes import canonical_axis
from imprint._src.primitives.elementwise.elementwise import listed


@fuse_eager
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """Return the cross products of vectors of three elements.

    Args:
        x1: vectors.
        x2: vectors.
        axis: their axis.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
        Array([0, 0, 1], dtype=int32)
    """
    for x in (x1, x2):
        aval = get_aval(as_array("linalg.cross", x))
        at = canonical_axis("linalg.cross", axis, aval.ndim)
        if not dims.equal(aval.shape[at], 3):
            raise ShapeError(
                f"linalg.cross: expected vectors of three elements along axis {axis}, got "
                f"{aval}. Name their axis, or append zeros."
            )
    return linear.cross(x1, x2, axis=axis)


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return the products of each element of a vector with each of another.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.outer(np.array([1, 2]), np.array([3, 4]))
        Array([[3, 4],
               [6, 8]], dtype=int32)
    """
    avals = [get_aval(as_array("linalg.outer", x)) for x in (x1, x2)]
    if any(aval.ndim != 1 for aval in avals):
        raise ShapeError(
            f"linalg.outer: expected two vectors, got {listed((*avals,))}. To flatten "
            "what has more axes, call imprint.numpy.outer."
        )
    return linear.outer(x1, x2)


@fuse_eager
def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Return the sums of a diagonal of matrices along the last two axes.

    Args:
        x: an array of at least two axes.
        offset: how far above the main diagonal.
        dtype: that in which to add.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.trace(np.array([[1, 2], [3, 4]]))
        Array(5, dtype=int32)
    """
    return matrices.trace(x, offset, -2, -1, dtype)


@fuse_eager
def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """Return a diagonal of matrices along the last two axes.

    Args:
        x: an array of at least two axes.
        offset: how far above the main diagonal.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.diagonal(np.array([[1, 2], [3, 4]]))
        Array([1, 4], dtype=int32)
    """
    return matrices.diagonal(x, offset, -2, -1)


def matmul(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Return the products of stacks of matrices, as `imprint.numpy.matmul` does.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.matmul(np.ones((2, 3)), np.ones((3, 1)))
        Array([[3.],
               [3.]], dtype=float32)
    """
    return linear.matmul(
        x1, x2, precision=precision, preferred_element_type=preferred_element_type
    )


def matrix_transpose(x: ArrayLike, /) -> Array:
    """Return matrices along the last two axes, transposed.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.matrix_transpose(np.array([[1, 2], [3, 4]]))
        Array([[1, 3],
               [2, 4]], dtype=int32)
    """
    return transposed(x)


@fuse_eager
def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Return the products of vectors, the first ones conjugated.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.vecdot(np.ones((2, 3)), np.arange(3.0))
        Array([3., 3.], dtype=float32)
    """
    return linear.vecdot(
        x1,
        x2,
        axis=axis,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def tensordot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axes: int | Sequence[Any] = 2,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Contract axes of two arrays, as `imprint.numpy.tensordot` does.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1).shape
        (2, 4)
    """
    return linear.tensordot(
        x1,
        x2,
        axes,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
