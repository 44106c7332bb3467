"""pascal, invpascal, invhilbert, convolution_matrix, fiedler_companion: matrices by formula.

Those of a size alone are computed exactly, as integers of Python, and rounded once.
"""

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.creation import asarray, zeros
from imprint._src.numpy.einsum import einsum
from imprint._src.numpy.linalg.operands import inexact_arrays
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.numpy.shapes.concatenate import flip
from imprint._src.numpy.shapes.padding import pad
from imprint._src.numpy.shapes.reshape import atleast_1d
from imprint._src.primitives.axes import whole
from imprint._src.primitives.indexing.slicing import slice_in_dim
from imprint._src.scipy.linalg.patterns import toeplitz

# ---- of a size ----


def pascal(n: int, kind: str | None = None) -> Array:
    """Return the matrix of Pascal's triangle: element [i, j] is `i + j` over `i`.

    Args:
        n: the number of rows.
        kind: "symmetric", or "lower" or "upper" for the triangle that it is a product of.

    Example:
        >>> import imprint.scipy as scipy
        >>> scipy.linalg.pascal(3)
        Array([[1., 1., 1.],
               [1., 2., 3.],
               [1., 3., 6.]], dtype=float32)
    """
    size = _size("scipy.linalg.pascal", n)
    which = _kind("scipy.linalg.pascal", kind)
    if which == "symmetric":
        return asarray(_table(size, lambda i, j: comb(i + j, i)), np.float32)
    return asarray(_triangle(size, which, comb), np.float32)


def invpascal(n: int, kind: str | None = None) -> Array:
    """Return the inverse of `pascal(n, kind)`.

    Example:
        >>> import imprint.scipy as scipy
        >>> scipy.linalg.invpascal(2)
        Array([[ 2., -1.],
               [-1.,  1.]], dtype=float32)
    """
    size = _size("scipy.linalg.invpascal", n)
    which = _kind("scipy.linalg.invpascal", kind)
    lower = _triangle(size, "lower", lambda i, j: (-1) ** (i + j) * comb(i, j))
    if which == "symmetric":
        lower = lower.T @ lower
    return asarray(lower.T if which == "upper" else lower, dtypes.default_float())


def invhilbert(n: int) -> Array:
    """Return the inverse of `hilbert(n)`, whose elements are whole numbers.

    Example:
        >>> import imprint.scipy as scipy
        >>> scipy.linalg.invhilbert(2)
        Array([[ 4., -6.],
               [-6., 12.]], dtype=float32)
    """
    size = _size("scipy.linalg.invhilbert", n)

    def entry(i: int, j: int) -> int:
        s = i + j
        turned = (-1) ** s * (s + 1)
        around = comb(size + i, size - j - 1) * comb(size + j, size - i - 1)
        return turned * around * comb(s, i) ** 2

    return asarray(_table(size, entry), dtypes.default_float())


def _size(name: str, n: Any) -> int:
    size = whole(name, "n", n)
    if size < 0:
        raise ArgumentError(f"{name}: expected a size, got {size}. Say how many rows.")
    return size


def _kind(name: str, kind: str | None) -> str:
    if kind not in (None, "symmetric", "lower", "upper"):
        raise ArgumentError(
            f"{name}: expected kind 'symmetric', 'lower' or 'upper', got {kind!r}. Leave "
            "it out for 'symmetric'."
        )
    return kind or "symmetric"


def _table(n: int, entry: Callable[[int, int], int]) -> Any:
    rows = [[float(entry(i, j)) for j in range(n)] for i in range(n)]
    return np.asarray(rows, np.float64).reshape(n, n)


def _triangle(n: int, which: str, entry: Callable[[int, int], int]) -> Any:
    table = _table(n, lambda i, j: entry(i, j) if i >= j else 0)
    return table.T if which == "upper" else table


# ---- of a vector ----


def convolution_matrix(a: ArrayLike, n: int, mode: str = "full") -> Array:
    """Return the matrix by which a vector of `n` elements is convolved with `a`.

    Args:
        a: vectors along the last axis.
        n: the number of columns.
        mode: "full", "same" or "valid", as of `imprint.numpy.convolve`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.convolution_matrix(np.array([1.0, 2.0]), 2)
        Array([[1., 0.],
               [2., 1.],
               [0., 2.]], dtype=float32)
    """
    name = "scipy.linalg.convolution_matrix"
    columns, x = whole(name, "n", n), as_array(name, a)
    if columns <= 0 or mode not in ("full", "same", "valid"):
        raise ArgumentError(
            f"{name}: expected n of at least 1 and mode 'full', 'same' or 'valid', got "
            f"n={columns} and {mode!r}. Leave mode out for 'full'."
        )
    if not x.ndim or not x.shape[-1]:
        raise ShapeError(
            f"{name}: expected vectors with elements, got {x.aval}. Write [0] for the "
            "vector that is 0."
        )
    widths = [(0, 0)] * (x.ndim - 1) + [(0, columns - 1)]
    column, row = pad(x, widths), pad(flip(x, -1), widths)
    length = column.shape[-1]
    cut = 0 if mode == "full" else min(columns, x.shape[-1]) - 1
    front = cut // 2 if mode == "same" else cut
    back = cut - front if mode == "same" else cut
    return toeplitz(
        slice_in_dim(column, front, length - back, 1, -1),
        slice_in_dim(row, length - columns - front, length - front, 1, -1),
    )


def fiedler_companion(a: ArrayLike) -> Array:
    """Return a matrix of five diagonals whose eigenvalues are the roots of a polynomial.

    Args:
        a: the coefficients along the last axis, the highest power first.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.fiedler_companion(np.array([1.0, -3.0, 2.0]))
        Array([[ 3., -2.],
               [ 1.,  0.]], dtype=float32)
    """
    (x,) = inexact_arrays("scipy.linalg.fiedler_companion", a)
    x = atleast_1d(x)
    if not x.shape[-1]:
        raise ShapeError(
            f"scipy.linalg.fiedler_companion: expected coefficients, got {x.aval}. Write "
            "[1] for the polynomial that is 1."
        )
    n = x.shape[-1] - 1
    if not n:
        return zeros((*x.shape[:-1], 0, 0), x.dtype)
    scaled = -x / x[..., :1]
    places = np.zeros((n, n, n + 1), x.dtype)  # which coefficient each element is
    ones = np.zeros((n, n), x.dtype)
    places[0, 0, 1] = 1
    ones[1:2, 0] = 1
    for i in range(n):
        even = i % 2 == 0
        if even and i + 1 < n:
            places[i, i + 1, i + 2] = 1
        if even and i + 2 < n:
            ones[i, i + 2] = 1
        if even and i >= 2:
            places[i, i - 1, i + 1] = 1
        if not even and i >= 3:
            ones[i, i - 2] = 1
    return einsum("ijk,...k->...ij", places, scaled) + ones
