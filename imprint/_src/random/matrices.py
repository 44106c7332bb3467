"""Draws of matrices: orthogonal ones, evenly over all of them.

A matrix of normal draws is factored by qr; with the signs of the diagonal of R its Q is
even over the orthogonal matrices. The operations and their order are JAX's.
"""

from typing import Any

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import DType, Shape, get_aval
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ArgumentError
from imprint._src.primitives.axes import whole
from imprint._src.primitives.core_ops import mul
from imprint._src.primitives.elementwise.rounding import sign
from imprint._src.primitives.linalg.orthogonal import qr
from imprint._src.primitives.matrices import LAPACK, along_rows, diagonal, swapped
from imprint._src.random.arguments import programs, sizes
from imprint._src.random.continuous import normal_numbers
from imprint._src.random.key_array import KeyLike, single_key


def orthogonal(
    key: KeyLike,
    n: int,
    shape: Any = (),
    dtype: DTypeLike | None = None,
    m: int | None = None,
) -> Array:
    """Draw matrices with orthonormal columns, or rows if there are fewer of these.

    Args:
        key: a key.
        n: how many rows they have.
        shape: the shape of the stack of matrices.
        dtype: `float32` by default, `float64` under `enable_x64`; a complex dtype draws
            unitary matrices.
        m: how many columns they have; `n` by default.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> q = imprint.random.orthogonal(imprint.random.key(0), 3)
        >>> bool(np.allclose(q @ q.T, np.eye(3), atol=1e-5))
        True
    """
    data = single_key("orthogonal", key)
    out = dtypes.requested(float if dtype is None else dtype, "orthogonal")
    if not LAPACK.accepts(out):
        raise ArgumentError(
            f"orthogonal: expected {LAPACK.words}, got {out}. Convert the result."
        )
    rows = whole("orthogonal", "n", n)
    columns = rows if m is None else whole("orthogonal", "m", m)
    if rows < 0 or columns < 0:
        raise ArgumentError(
            f"orthogonal: expected lengths of at least 0, got n={rows} and m={columns}. "
            "They are the numbers of rows and columns."
        )
    stack = sizes("orthogonal", shape)
    return _orthogonal_of(stack, out, rows, columns)(data)


def _orthogonal(stack: Shape, dtype: DType, rows: int, columns: int, data: Any) -> Any:
    long, short = max(rows, columns), min(rows, columns)
    drawn = normal_numbers((*stack, long, short), dtype, data)
    q, r = qr(drawn, full_matrices=False)
    turned = mul(q, along_rows(sign(diagonal(r)), get_aval(q).shape))
    return swapped(turned) if rows < columns else turned


_orthogonal_of = programs(_orthogonal)
