"""matrix_power and multi_dot: products of many matrices, in the order that costs least.

A power is taken by repeated squaring. A chain of matrices is one `einsum`, which finds the
order of its products.
"""

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy import linear
from imprint._src.numpy.einsum import einsum
from imprint._src.numpy.linalg.solving import inv
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.primitives.elementwise.elementwise import listed
from imprint._src.primitives.matrices import check_square, identity


@fuse_eager
def matrix_power(a: ArrayLike, n: int) -> Array:
    """Return square matrices to a whole power, by repeated squaring.

    Args:
        a: square matrices along the last two axes.
        n: the power; of the inverse where it is negative.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.matrix_power(np.array([[1, 1], [1, 0]]), 10)
        Array([[89, 55],
               [55, 34]], dtype=int32)
    """
    x = as_array("linalg.matrix_power", a)
    if x.ndim < 2:
        raise ShapeError(
            "linalg.matrix_power: expected matrices along the last two axes, got "
            f"{x.aval}. Elementwise powers are imprint.numpy.power."
        )
    check_square("linalg.matrix_power", x.aval)
    try:
        power = operator.index(n)
    except TypeError:
        raise ArgumentError(
            f"linalg.matrix_power: expected a whole number as the power, got {n!r:.60}. "
            "For others there are the eigenvalues, imprint.numpy.linalg.eigh."
        ) from None
    if power == 0:
        return identity(x.shape, x.dtype)
    square = inv(x) if power < 0 else x
    power = abs(power)
    out: Any = None
    while power:
        if power & 1:
            out = square if out is None else linear.matmul(out, square)
        power >>= 1
        square = linear.matmul(square, square) if power else square
    return out


@fuse_eager
def multi_dot(arrays: Sequence[ArrayLike], *, precision: Any = None) -> Array:
    """Return the product of several matrices, in the order that costs least.

    Args:
        arrays: matrices; the first may be a row and the last a column, as vectors.
        precision: how exactly to multiply floats; None for the default.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.multi_dot([np.ones((2, 3)), np.ones((3, 4)), np.ones(4)])
        Array([12., 12.], dtype=float32)
    """
    given = [as_array("linalg.multi_dot", x) for x in arrays]
    shown = listed(tuple(x.aval for x in given))
    if len(given) < 2:
        raise ArgumentError(
            f"linalg.multi_dot: expected at least two arrays, got {len(given)}. Leave the "
            "product out."
        )
    ends = (given[0], given[-1])
    inner = all(x.ndim == 2 for x in given[1:-1])
    if not inner or not all(x.ndim in (1, 2) for x in ends):
        raise ShapeError(
            "linalg.multi_dot: expected matrices, the first and the last perhaps vectors, "
            f"got {shown}. For stacks write a @ b @ c."
        )
    if not all(dims.equal(x.shape[-1], y.shape[0]) for x, y in pairwise(given)):
        raise ShapeError(
            "linalg.multi_dot: expected each matrix to have as many columns as the next "
            f"has rows, got {shown}. Transpose some."
        )
    names = [[i, i + 1] for i in range(len(given))]
    if given[0].ndim == 1:
        names[0] = names[0][1:]
    if given[-1].ndim == 1:
        names[-1] = names[-1][:1]
    operands = [part for pair in zip(given, names, strict=True) for part in pair]
    return einsum(operands[0], *operands[1:], optimize="optimal", precision=precision)
