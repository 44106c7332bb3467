"""`qdwh`: the polar decomposition by dynamically weighted Halley iterations.

Each step is a rational function of the singular values that moves them towards 1. Its
weights follow from a lower bound of the smallest one, which is known beforehand, and so
are the steps: first with a QR factorization, later with Cholesky's. Then steps of fixed
weights follow until the matrix converges, and one Newton-Schulz step.
"""

from collections.abc import Iterator
from typing import Any

import numpy

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.aval import get_aval
from imprint._src.errors import DTypeError, ShapeError
from imprint._src.lax.composed import dot, select
from imprint._src.lax.loops import while_loop
from imprint._src.primitives.axes import whole
from imprint._src.primitives.core_ops import reduce_sum, scalar_like, transpose
from imprint._src.primitives.elementwise.complex import conj
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.exponential import cbrt, rsqrt, sqrt
from imprint._src.primitives.elementwise.precision import Precision
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.linalg.cholesky import cholesky
from imprint._src.primitives.linalg.orthogonal import qr
from imprint._src.primitives.linalg.triangular import triangular_solve
from imprint._src.primitives.reductions import reduce_max
from imprint._src.primitives.shape import broadcasted_iota

_MOST_BY_CHOLESKY = 100


def qdwh(
    x: Any,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[Any, Any] | None = None,
) -> tuple[Any, Any, Any, Any]:
    """Return the polar decomposition of a matrix, by iterations.

    Args:
        x: a matrix with at least as many rows as columns.
        is_hermitian: ignored.
        max_iterations: the maximum number of steps; None for 10.
        eps: the bound of the smallest singular value relative to the largest, and the
            tolerance; None for that of the dtype.
        dynamic_shape: the numbers of rows and columns to use, may be traced; None for
            all.

    Returns:
        u, h, the number of steps, and whether they converged: `x = u h`, the columns of
        u are orthonormal, and h is Hermitian with no negative eigenvalue.

    Raises:
        ShapeError: `x` is not a matrix, or has more columns than rows.
        DTypeError: `x` has integers.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> u, h, _, _ = lax.linalg.qdwh(np.array([[0.0, -2.0], [3.0, 0.0]]))
        >>> abs(h.round(3))
        Array([[3., 0.],
               [0., 2.]], dtype=float32)
    """
    del is_hermitian
    aval = get_aval(x)
    if aval.ndim != 2 or not dims.at_least(*aval.shape):
        raise ShapeError(
            "linalg.qdwh: expected one matrix with at least as many rows as columns, got "
            f"{aval}. Transpose a wide one, and map with imprint.vmap over a stack."
        )
    if not dtypes.is_inexact(aval.dtype):
        raise DTypeError(
            f"linalg.qdwh: expected floats or complex numbers, got {aval}. Convert with "
            ".astype."
        )
    most = (
        10
        if max_iterations is None
        else whole("linalg.qdwh", "max_iterations", max_iterations)
    )
    x = convert_element_type(x, aval.dtype)
    if dynamic_shape is not None:
        x = _masked(x, dynamic_shape)
    if eps is None:
        eps = float(numpy.finfo(aval.dtype).eps)
    u, steps, converged = _unitary(x, most, eps)
    if dynamic_shape is not None:
        u = _masked(u, dynamic_shape)
    h = _product(_adjoint(u), x)
    return u, (h + _adjoint(h)) / 2, steps, converged


def _unitary(x: Any, most: int, eps: float) -> tuple[Any, Any, Any]:
    """Return the unitary factor, the number of steps, and whether they converged."""
    size = abs(x)
    both = [reduce_max(reduce_sum(size, (axis,)), (0,)) for axis in (0, 1)]
    scale = select(
        both[0] == 0, scalar_like(both[0], 1), rsqrt(both[0]) * rsqrt(both[1])
    )
    u = x * scale.astype(x.dtype)
    near = cbrt(scalar_like(both[0], 5 * eps))

    def moved(u: Any, new: Any) -> Any:
        off = abs(new - u)
        return sqrt(reduce_sum(off * off, (0, 1))) > near

    count, moves = 0, numpy.True_
    for weights in _weights(eps, most):
        new = _step(u, *weights)
        if weights[2] <= _MOST_BY_CHOLESKY:
            moves = moved(u, new)
        u, count = new, count + 1

    def step(state: Any) -> Any:
        steps, u, _ = state
        new = _step(u, 3.0, 1.0, 3.0)
        return steps + 1, new, moved(u, new)

    steps, u, moves = while_loop(
        lambda state: state[2] & (state[0] < most), step, (count, u, moves)
    )
    return 1.5 * u - 0.5 * _product(u, _product(_adjoint(u), u)), steps, ~moves


def _weights(eps: float, most: int) -> Iterator[tuple[float, float, float]]:
    """Return the weights of the steps that bring all singular values near 1."""
    low, count = eps, 0
    while low + 5 * eps < 1 and count < most:
        square = low * low
        d = (4 * (1 / square - 1) / square) ** (1 / 3)
        root = (1 + d) ** 0.5
        a = root + (2 - d + 2 * (2 - square) / (square * root)) ** 0.5
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        low, count = low * (a + b * square) / (1 + c * square), count + 1
        yield a, b, c


def _step(u: Any, a: float, b: float, c: float) -> Any:
    """Return u (a + b uᴴ u) (1 + c uᴴ u)⁻¹."""
    rows, columns = get_aval(u).shape
    n = dims.concrete(columns, "linalg.qdwh")
    one = convert_element_type(numpy.eye(n), get_aval(u).dtype)
    if c > _MOST_BY_CHOLESKY:
        q, _ = qr(concatenate([c**0.5 * u, one], 0), full_matrices=False)
        top = slice_in_dim(q, 0, rows)
        below = slice_in_dim(q, rows, None)
        return b / c * u + (a - b / c) / c**0.5 * _product(top, _adjoint(below))
    low = cholesky(c * _product(_adjoint(u), u) + one, symmetrize_input=False)
    z = triangular_solve(
        low, u, left_side=False, lower=True, transpose_a=True, conjugate_a=True
    )
    z = triangular_solve(low, z, left_side=False, lower=True)
    return b / c * u + (a - b / c) * z


def _product(x: Any, y: Any) -> Any:
    return dot(x, y, precision=Precision.HIGHEST)


def _adjoint(x: Any) -> Any:
    turned = transpose(x, (1, 0))
    return conj(turned) if dtypes.is_complex(get_aval(x).dtype) else turned


def _masked(x: Any, shape: tuple[Any, Any]) -> Any:
    """Return a matrix with zeros beyond some rows and columns."""
    aval = get_aval(x)
    inside = [
        broadcasted_iota(numpy.int32, aval.shape, axis) < n
        for axis, n in enumerate(shape)
    ]
    return select_n(inside[0] & inside[1], scalar_like(x, 0), x)
