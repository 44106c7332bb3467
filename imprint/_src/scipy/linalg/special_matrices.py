"""Special matrices: by formula, from a vector, and from blocks.

Those of a size are computed while tracing; integer ones exactly, and rounded once.
Those of a vector use its last axis; leading axes are batch axes.
"""

from collections.abc import Callable
from math import comb
from typing import Any, Final

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.creation import asarray, zeros
from imprint._src.numpy.einsum import einsum
from imprint._src.numpy.elementwise.arithmetic import absolute
from imprint._src.numpy.elementwise.rounding import conjugate
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.linalg.operands import inexact_arrays
from imprint._src.numpy.promotion import ArrayLike, as_array, inexact, promote_dtypes
from imprint._src.numpy.shapes import padding
from imprint._src.numpy.shapes.concatenate import concatenate, flip
from imprint._src.numpy.shapes.reshape import atleast_1d, atleast_2d, broadcast_to
from imprint._src.primitives.axes import whole
from imprint._src.primitives.core_ops import scalar_like
from imprint._src.primitives.elementwise.elementwise import listed
from imprint._src.primitives.indexing.slicing import pad, slice_in_dim
from imprint._src.primitives.shape import expand_dims, reshape

# ---- of a size ----


def pascal(n: int, kind: str | None = None) -> Array:
    """Return the Pascal matrix: element [i, j] is the binomial of `i + j` over `i`.

    Args:
        n: the number of rows, concrete.
        kind: "symmetric", or "lower" or "upper" for its triangular factor.

    Returns:
        A float32 matrix of shape `(n, n)`.

    Raises:
        ArgumentError: `n` is negative, or `kind` unknown.

    References:
        SciPy, `scipy.linalg.pascal`.

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

    Args:
        n: the number of rows, concrete.
        kind: as in `pascal`.

    Returns:
        A matrix of shape `(n, n)`, in the default floating dtype.

    Raises:
        ArgumentError: `n` is negative, or `kind` unknown.

    References:
        SciPy, `scipy.linalg.invpascal`.

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
    """Return the inverse of `hilbert(n)`, whose elements are integers.

    Args:
        n: the number of rows, concrete.

    Returns:
        A matrix of shape `(n, n)`, in the default floating dtype.

    Raises:
        ArgumentError: `n` is negative.

    References:
        SciPy, `scipy.linalg.invhilbert`.

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
    """Return the matrix of the convolution of vectors of length `n` with `a`.

    Args:
        a: vectors along the last axis.
        n: the number of columns.
        mode: "full", "same" or "valid", as in `imprint.numpy.convolve`.

    Returns:
        The matrices, with `n` columns, in the dtype of `a`: as many rows as the convolution
        has elements.

    Raises:
        ArgumentError: `n` is less than 1, or the mode unknown.
        ShapeError: the vectors have no elements.

    References:
        SciPy, `scipy.linalg.convolution_matrix`.

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
    column, row = padding.pad(x, widths), padding.pad(flip(x, -1), widths)
    length = column.shape[-1]
    cut = 0 if mode == "full" else min(columns, x.shape[-1]) - 1
    front = cut // 2 if mode == "same" else cut
    back = cut - front if mode == "same" else cut
    return toeplitz(
        slice_in_dim(column, front, length - back, 1, -1),
        slice_in_dim(row, length - columns - front, length - front, 1, -1),
    )


def fiedler_companion(a: ArrayLike) -> Array:
    """Return a pentadiagonal matrix whose eigenvalues are the roots of a polynomial.

    Args:
        a: the coefficients along the last axis, the highest power first.

    Returns:
        The matrices, of shape `(..., n, n)` for polynomials of degree n.

    Raises:
        ShapeError: there are no coefficients.

    References:
        SciPy, `scipy.linalg.fiedler_companion`; Fiedler 2003.

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
    places = np.zeros(
        (n, n, n + 1), x.dtype
    )  # the index of the coefficient of each element
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
    rest: Any = ones.reshape((*(1,) * (x.ndim - 1), n, n))
    return einsum("ijk,...k->...ij", places, scaled) + rest


# ---- of arrays ----


@fuse_eager
def block_diag(*arrs: ArrayLike) -> Array:
    """Return a block diagonal matrix.

    Args:
        arrs: matrices; a vector is a row, a number a matrix of one element.

    Returns:
        The matrix, in the common dtype, of as many rows and columns as all blocks have.

    Raises:
        ShapeError: a block has more than two axes.

    References:
        SciPy, `scipy.linalg.block_diag`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.block_diag(np.array([[1, 2], [3, 4]]), 5)
        Array([[1, 2, 0],
               [3, 4, 0],
               [0, 0, 5]], dtype=int32)
    """
    given = promote_dtypes("scipy.linalg.block_diag", arrs or (np.zeros((1, 0)),))
    blocks = [atleast_2d(x) for x in given]
    if any(x.ndim > 2 for x in blocks):
        raise ShapeError(
            "scipy.linalg.block_diag: expected matrices, got "
            f"{listed(tuple(x.aval for x in blocks))}. Map it over a stack with vmap."
        )
    width = sum(x.shape[1] for x in blocks)
    rows: list[Any] = []
    done = 0
    for x in blocks:
        columns = x.shape[1]
        config = ((0, 0, 0), (done, width - done - columns, 0))
        rows.append(pad(x, scalar_like(x, 0), config))
        done += columns
    return concatenate(rows, axis=0)


@fuse_eager
def toeplitz(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """Return Toeplitz matrices, whose diagonals are constant.

    Args:
        c: the first column; vectors along the last axis.
        r: the first row, whose first element is ignored; None for the conjugate of `c`.

    Returns:
        The matrices, of shape `(..., m, n)` for `m` elements of `c` and `n` of `r`.

    References:
        SciPy, `scipy.linalg.toeplitz`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.toeplitz(np.array([1, 2, 3]), np.array([1, 8, 9]))
        Array([[1, 8, 9],
               [2, 1, 8],
               [3, 2, 1]], dtype=int32)
    """
    column, row = _vectors("scipy.linalg.toeplitz", c, conjugate(c) if r is None else r)
    m, n = column.shape[-1], row.shape[-1]
    values = concatenate([flip(column, -1), row[..., 1:]], axis=-1)
    return _windows(values, m - 1, (m, n), -1)


def hankel(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """Return matrices whose anti-diagonals are constant.

    Args:
        c: the first column; vectors along the last axis.
        r: the last row, whose first element is not read; None for zeros.

    Returns:
        The matrices, of shape `(..., m, n)` for `m` elements of `c` and `n` of `r`.

    References:
        SciPy, `scipy.linalg.hankel`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.hankel(np.array([1, 2, 3]))
        Array([[1, 2, 3],
               [2, 3, 0],
               [3, 0, 0]], dtype=int32)
    """
    x = as_array("scipy.linalg.hankel", c)
    column, row = _vectors("scipy.linalg.hankel", x, x * 0 if r is None else r)
    m, n = column.shape[-1], row.shape[-1]
    values = concatenate([column, row[..., 1:]], axis=-1)
    return _windows(values, 0, (m, n), 1)


def circulant(c: ArrayLike) -> Array:
    """Return matrices of which each column is the one before, shifted in a circle.

    Args:
        c: the first column; vectors along the last axis.

    Returns:
        The matrices, of shape `(..., n, n)` for `n` elements of `c`.

    References:
        SciPy, `scipy.linalg.circulant`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.circulant(np.array([1, 2, 3]))
        Array([[1, 3, 2],
               [2, 1, 3],
               [3, 2, 1]], dtype=int32)
    """
    x = atleast_1d(as_array("scipy.linalg.circulant", c))
    n = x.shape[-1]
    return _windows(flip(x, -1), n - 1, (n, n), -1)


def companion(a: ArrayLike) -> Array:
    """Return the matrices whose eigenvalues are the roots of polynomials.

    Args:
        a: the coefficients along the last axis, that of the highest power first.

    Returns:
        The matrices, of shape `(..., n, n)` for polynomials of degree n.

    Raises:
        ShapeError: there are less than two coefficients.

    References:
        SciPy, `scipy.linalg.companion`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.companion(np.array([1.0, -3.0, 2.0]))
        Array([[ 3., -2.],
               [ 1.,  0.]], dtype=float32)
    """
    x = atleast_1d(inexact("scipy.linalg.companion", a))
    n = x.shape[-1] - 1
    if n < 1:
        raise ShapeError(
            f"scipy.linalg.companion: expected at least two coefficients, got {x.aval}. A "
            "polynomial that is constant has no roots."
        )
    return _under(-x[..., 1:] / x[..., :1], np.eye(n - 1, n, dtype=x.dtype))


def leslie(f: ArrayLike, s: ArrayLike) -> Array:
    """Return the matrices that age populations by one step.

    Args:
        f: how many are born for each of an age, along the last axis.
        s: which part of each age but the last survives.

    Returns:
        The matrices, of shape `(..., n, n)` for `n` ages.

    Raises:
        ShapeError: there are less than two ages, or not one survivor less.

    References:
        SciPy, `scipy.linalg.leslie`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.leslie(np.array([0.0, 2.0]), np.array([0.5]))
        Array([[0. , 2. ],
               [0.5, 0. ]], dtype=float32)
    """
    births, survivors = _vectors("scipy.linalg.leslie", f, s)
    n = births.shape[-1]
    if n < 2 or survivors.shape[-1] != n - 1:
        raise ShapeError(
            "scipy.linalg.leslie: expected at least two ages and one survivor less, got "
            f"{listed((births.aval, survivors.aval))}. None survives the last age."
        )
    on = np.eye(n - 1, n, dtype=bool)
    zero = scalar_like(survivors, 0)
    rows = where(on, expand_dims(survivors, (survivors.ndim,)), zero)
    return _under(births, rows)


def fiedler(a: ArrayLike) -> Array:
    """Return the distances of each element of vectors from each other one.

    Args:
        a: vectors along the last axis.

    Returns:
        The matrices, of shape `(..., n, n)` for `n` elements of `a`.

    References:
        SciPy, `scipy.linalg.fiedler`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.fiedler(np.array([1, 4]))
        Array([[0, 3],
               [3, 0]], dtype=int32)
    """
    x = atleast_1d(as_array("scipy.linalg.fiedler", a))
    return absolute(expand_dims(x, (x.ndim,)) - expand_dims(x, (x.ndim - 1,)))


# ---- of a size ----


def hilbert(n: int) -> Array:
    """Return the matrix of `1 / (i + j + 1)`.

    Args:
        n: the number of rows, concrete.

    Returns:
        A matrix of shape `(n, n)`, in the default floating dtype.

    Raises:
        ArgumentError: `n` is negative.

    References:
        SciPy, `scipy.linalg.hilbert`.

    Example:
        >>> import imprint.scipy as scipy
        >>> scipy.linalg.hilbert(2)
        Array([[1.        , 0.5       ],
               [0.5       , 0.33333334]], dtype=float32)
    """
    places = np.arange(_size("scipy.linalg.hilbert", n))
    return asarray(1 / (places[:, None] + places + 1.0))


def hadamard(n: int, dtype: DTypeLike = int) -> Array:
    """Return the matrix of 1 and -1 whose rows are orthogonal, of a power of two rows.

    Args:
        n: the number of rows, a concrete power of two.
        dtype: of the result.

    Returns:
        A matrix of shape `(n, n)`.

    Raises:
        ArgumentError: `n` is no power of two.

    References:
        SciPy, `scipy.linalg.hadamard`.

    Example:
        >>> import imprint.scipy as scipy
        >>> scipy.linalg.hadamard(2)
        Array([[ 1,  1],
               [ 1, -1]], dtype=int32)
    """
    count = _size("scipy.linalg.hadamard", n)
    if count < 1 or count & (count - 1):
        raise ArgumentError(
            f"scipy.linalg.hadamard: expected a power of two, got {count}. Take the next."
        )
    rows = np.arange(count)
    signs = 1 - 2 * (np.bitwise_count(rows[:, None] & rows) % 2).astype(np.int8)
    return asarray(signs, dtypes.requested(dtype, "scipy.linalg.hadamard"))


def helmert(
    n: int,
    full: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
) -> Array:
    """Return the Helmert matrix of orthogonal contrasts.

    Args:
        n: the number of columns, concrete.
        full: whether to include the first row, of equal weights.

    Returns:
        A matrix of shape `(n - 1, n)`, or `(n, n)` if `full`, in the default floating
        dtype.

    Raises:
        ArgumentError: `n` is less than 1.

    References:
        SciPy, `scipy.linalg.helmert`.

    Example:
        >>> import imprint.scipy as scipy
        >>> scipy.linalg.helmert(2)
        Array([[ 0.70710677, -0.70710677]], dtype=float32)
    """
    count = _size("scipy.linalg.helmert", n)
    if not count:
        raise ArgumentError(
            "scipy.linalg.helmert: expected at least one column, got 0. Leave it out."
        )
    places = np.arange(count)
    rows = np.tril(np.ones((count, count)), -1) - np.diag(places)
    rows[:1] = 1
    lengths = np.where(places == 0, count, places * (places + 1))
    out = rows / np.sqrt(lengths)[:, None]
    return asarray(out if full else out[1:])


_SCALES: Final[dict[str | None, float]] = {None: 0.0, "sqrtn": 0.5, "n": 1.0}


def dft(n: int, scale: str | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """Return the matrix of the discrete Fourier transform.

    Args:
        n: the number of rows, concrete.
        scale: the divisor: None, "sqrtn" or "n".
        dtype: a complex dtype; None for the default.

    Returns:
        A complex matrix of shape `(n, n)`.

    Raises:
        ArgumentError: `n` is negative, `scale` unknown, or `dtype` not complex.

    References:
        SciPy, `scipy.linalg.dft`.

    Example:
        >>> import imprint.scipy as scipy
        >>> scipy.linalg.dft(2).real
        Array([[ 1.,  1.],
               [ 1., -1.]], dtype=float32)
    """
    if scale not in _SCALES:
        raise ArgumentError(
            f"scipy.linalg.dft: expected scale None, 'sqrtn' or 'n', got {scale!r}. Leave "
            "it out for the sums as they are."
        )
    places = np.arange(_size("scipy.linalg.dft", n))
    turns = np.exp(-2j * np.pi * (places[:, None] * places % max(n, 1)) / max(n, 1))
    wanted = dtypes.requested(complex if dtype is None else dtype, "scipy.linalg.dft")
    if not dtypes.is_complex(wanted):
        raise ArgumentError(
            f"scipy.linalg.dft: expected a complex dtype, got {wanted}. Leave it out."
        )
    return asarray(turns / max(n, 1) ** _SCALES[scale], wanted)


# ---- shared ----


def _size(name: str, n: Any) -> int:
    size = whole(name, "n", n)
    if size < 0:
        raise ArgumentError(f"{name}: expected a size, got {size}. Say how many rows.")
    return size


def _vectors(name: str, c: ArrayLike, r: ArrayLike) -> tuple[Any, Any]:
    """Return two operands with one dtype and the same leading axes."""
    x, y = (atleast_1d(v) for v in promote_dtypes(name, (c, r)))
    stack = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    return broadcast_to(x, (*stack, x.shape[-1])), broadcast_to(
        y, (*stack, y.shape[-1])
    )


def _windows(x: Any, start: int, shape: tuple[int, int], step: int) -> Any:
    """Return matrices whose rows are parts of vectors, each `step` further on.

    A vector is repeated and cut into rows of its double length plus one step.
    """
    rows, columns = shape
    *stack, length = get_aval(x).shape
    if not rows or not columns:
        return broadcast_to(scalar_like(x, 0), (*stack, rows, columns))
    width = 2 * length + step
    copies = -(-(start + rows * width) // length)
    repeated = broadcast_to(expand_dims(x, (len(stack),)), (*stack, copies, length))
    flat = reshape(repeated, (*stack, copies * length))
    cut = slice_in_dim(flat, start, start + rows * width, axis=len(stack))
    return reshape(cut, (*stack, rows, width))[..., :columns]


def _under(row: Any, rows: Any) -> Any:
    """Return matrices from a first row and the rows below it."""
    first = expand_dims(row, (row.ndim - 1,))
    rest = broadcast_to(rows, (*row.shape[:-1], *rows.shape[-2:]))
    return concatenate([first, rest], axis=-2)
