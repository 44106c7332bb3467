"""Matrix factorizations: cholesky, qr, svd, eigh and eig.

Each is one primitive on promoted operands; without a trace NumPy computes cholesky. If
an algorithm fails, where NumPy raises, the result is NaN. Results with several parts
are named tuples, as in NumPy.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src.core.array import Array
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.host_kernel import HostKernel
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError
from imprint._src.numpy.elementwise.arithmetic import absolute
from imprint._src.numpy.elementwise.comparison import isnan
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.linalg.operands import matrices, square_matrices
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.numpy.reductions.reductions import sum as sum_
from imprint._src.primitives.core_ops import mul
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.linalg import cholesky as factors
from imprint._src.primitives.linalg import eigen, orthogonal, singular
from imprint._src.primitives.matrices import (
    adjoint,
    along_columns,
    along_rows,
    or_nan,
    product,
    swapped,
)
from imprint._src.primitives.shape import broadcasted_iota


class QRResult(NamedTuple):
    """The result of `qr`.

    Args:
        Q: matrices with orthonormal columns.
        R: upper triangular matrices.
    """

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """The result of `svd`.

    Args:
        U: matrices with orthonormal columns.
        S: the singular values in descending order.
        Vh: matrices with orthonormal rows.
    """

    U: Array
    S: Array
    Vh: Array


class EigResult(NamedTuple):
    """The result of `eig`.

    Args:
        eigenvalues: in no order.
        eigenvectors: as columns of length 1.
    """

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """The result of `eigh`.

    Args:
        eigenvalues: in ascending order.
        eigenvectors: as columns of length 1.
    """

    eigenvalues: Array
    eigenvectors: Array


@fuse_eager
def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """Factor matrices into Q with orthonormal columns and an upper triangular R.

    Args:
        a: matrices along the last two axes.
        mode: "reduced", "complete" for a square Q, "r" for R alone, or "raw" for
            LAPACK's form: transposed Householder reflectors and their scales.

    Returns:
        Q and R, of shapes (..., m, k) and (..., k, n) for matrices of m rows and n
        columns: k is min(m, n), or m if "complete"; R alone for "r". They have the
        floating or complex dtype of `a`.

    Raises:
        ArgumentError: the mode is unknown.

    References:
        NumPy, `numpy.linalg.qr`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.qr(np.array([[3.0, 1.0], [4.0, 2.0]]), mode="r").shape
        (2, 2)
    """
    (x,) = matrices("linalg.qr", a)
    if mode == "raw":
        reflectors, taus = orthogonal.geqrf(x)
        return QRResult(swapped(reflectors), taus)
    if mode not in ("reduced", "r", "full", "complete"):
        raise ArgumentError(
            "linalg.qr: expected mode 'reduced', 'complete', 'r' or 'raw', got "
            f"{mode!r}. Leave it out for 'reduced'."
        )
    q, r = orthogonal.qr(x, full_matrices=mode == "complete")
    return r if mode == "r" else QRResult(q, r)


@fuse_eager
def svd(
    a: ArrayLike,
    full_matrices: bool = True,  # noqa: FBT001, FBT002 - NumPy's signature
    compute_uv: bool = True,  # noqa: FBT001, FBT002 - NumPy's signature
    hermitian: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    subset_by_index: tuple[int, int] | None = None,
) -> Any:
    """Return singular values and vectors: `a = U diag(S) Vh`.

    Args:
        a: matrices along the last two axes.
        full_matrices: whether U and Vh are square; else they have as many vectors as
            there are singular values.
        compute_uv: whether to return U and Vh; else S alone.
        hermitian: whether to assume symmetric or Hermitian matrices and use `eigh`.
        subset_by_index: the range of singular values to return, as a pair (start,
            stop); None for all.

    Returns:
        U, S and Vh, or S alone. S has shape (..., min(m, n)) and a real dtype; U and Vh
        have the floating or complex dtype of `a`.

    References:
        NumPy, `numpy.linalg.svd`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.svd(np.array([[0.0, 4.0], [3.0, 0.0]])).S
        Array([4., 3.], dtype=float32)
    """
    (x,) = matrices("linalg.svd", a)
    if hermitian:
        return _hermitian_svd(x, subset_by_index, compute_uv=bool(compute_uv))
    found = singular.svd(
        x,
        full_matrices=full_matrices,
        compute_uv=compute_uv,
        subset_by_index=subset_by_index,
    )
    return SVDResult(*found) if compute_uv else found


def _hermitian_svd(x: Any, subset: tuple[int, int] | None, *, compute_uv: bool) -> Any:
    """Sort eigenvectors by the magnitude of the values; move the signs to V."""
    v, w = eigen.eigh(x, subset_by_index=subset)
    size = absolute(w)
    order = _falling(size)
    s = sum_(along_columns(size, get_aval(order).shape) * order, axis=-2)
    s = where(isnan(size), size, s)  # a matrix is all NaN, or has none
    if not compute_uv:
        return s
    dtype = get_aval(v).dtype
    signs = along_rows(where(w < 0, dtype.type(-1), dtype.type(1)), get_aval(v).shape)
    order = convert_element_type(order, dtype)
    return SVDResult(product(v, order), s, adjoint(product(mul(v, signs), order)))


def _falling(values: Any) -> Any:
    """Return permutations that sort columns by descending values."""
    aval = get_aval(values)
    shape = (*aval.shape, aval.shape[-1])
    rows, columns = (
        broadcasted_iota(np.int32, shape, aval.ndim - 1 + i) for i in (0, 1)
    )
    own, other = along_columns(values, shape), along_rows(values, shape)
    before = (other > own) | ((other == own) & (columns > rows))
    place = along_columns(sum_(before, axis=-1, dtype="int32"), shape)
    return convert_element_type(place == columns, aval.dtype)


@fuse_eager
def svdvals(x: ArrayLike, /) -> Array:
    """Return the singular values in descending order.

    Args:
        x: matrices along the last two axes.

    Returns:
        Real numbers of shape (..., min(m, n)) for matrices of m rows and n columns.

    References:
        NumPy, `numpy.linalg.svdvals`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.svdvals(np.array([[0.0, 4.0], [3.0, 0.0]]))
        Array([4., 3.], dtype=float32)
    """
    (y,) = matrices("linalg.svdvals", x)
    return singular.svd(y, compute_uv=False)


@fuse_eager
def eigh(
    a: ArrayLike,
    UPLO: str | None = None,  # noqa: N803 - NumPy's name
    symmetrize_input: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
) -> EighResult:
    """Return eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Args:
        a: square matrices along the last two axes.
        UPLO: "L" or "U", the triangle to read without `symmetrize_input`.
        symmetrize_input: whether to use `(a + aᴴ) / 2`.

    Returns:
        Eigenvalues of shape (..., n), real and ascending; eigenvectors as columns of
        matrices of the shape of `a`, in its floating or complex dtype.

    Raises:
        ArgumentError: `UPLO` is another letter.

    References:
        NumPy, `numpy.linalg.eigh`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.eigh(np.array([[0.0, 2.0], [2.0, 0.0]])).eigenvalues
        Array([-2.,  2.], dtype=float32)
    """
    return _eigh("linalg.eigh", a, UPLO, symmetrize=symmetrize_input)


@fuse_eager
def eigvalsh(
    a: ArrayLike,
    UPLO: str | None = "L",  # noqa: N803 - NumPy's name
    *,
    symmetrize_input: bool = True,
) -> Array:
    """Return the eigenvalues of symmetric or Hermitian matrices in ascending order.

    Args:
        a: square matrices along the last two axes.
        UPLO: as for `eigh`.
        symmetrize_input: as for `eigh`.

    Returns:
        Real numbers of shape (..., n) for matrices of n rows.

    Raises:
        ArgumentError: `UPLO` is another letter.

    References:
        NumPy, `numpy.linalg.eigvalsh`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.eigvalsh(np.array([[0.0, 2.0], [2.0, 0.0]]))
        Array([-2.,  2.], dtype=float32)
    """
    return _eigh("linalg.eigvalsh", a, UPLO, symmetrize=symmetrize_input).eigenvalues


def _eigh(name: str, a: Any, triangle: Any, *, symmetrize: bool) -> EighResult:
    if triangle not in (None, "L", "U"):
        raise ArgumentError(
            f"{name}: expected UPLO 'L', 'U' or None, got {triangle!r}. It says which "
            "triangle is read."
        )
    (x,) = square_matrices(name, a)
    v, w = eigen.eigh(x, lower=triangle != "U", symmetrize_input=symmetrize)
    return EighResult(w, v)


@fuse_eager
def eig(a: ArrayLike) -> EigResult:
    """Return the complex eigenvalues and eigenvectors of square matrices.

    Args:
        a: square matrices along the last two axes.

    Returns:
        Eigenvalues of shape (..., n), and eigenvectors as columns of matrices of the
        shape of `a`.

    References:
        NumPy, `numpy.linalg.eig`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.eig(np.array([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
        Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    (x,) = square_matrices("linalg.eig", a)
    w, v = eigen.eig(x, compute_left_eigenvectors=False)
    return EigResult(w, v)


@fuse_eager
def eigvals(a: ArrayLike) -> Array:
    """Return the eigenvalues of square matrices, complex and in no order.

    Args:
        a: square matrices along the last two axes.

    Returns:
        Complex numbers of shape (..., n) for matrices of n rows.

    References:
        NumPy, `numpy.linalg.eigvals`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.eigvals(np.array([[0.0, 1.0], [-1.0, 0.0]]))
        Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    (x,) = square_matrices("linalg.eigvals", a)
    (w,) = eigen.eig(
        x, compute_left_eigenvectors=False, compute_right_eigenvectors=False
    )
    return w


@fuse_eager
def cholesky(
    a: ArrayLike, *, upper: bool = False, symmetrize_input: bool = True
) -> Array:
    """Return the Cholesky factors of positive definite matrices.

    Args:
        a: square matrices along the last two axes.
        upper: whether to return U of `a = Uᴴ U`, not L of `a = L Lᴴ`.
        symmetrize_input: whether to factor `(a + aᴴ) / 2`; else only the lower triangle
            is read.

    Returns:
        The factors; NaN, where NumPy raises, for matrices that are not positive
        definite.

    References:
        NumPy, `numpy.linalg.cholesky`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
        Array([[2., 0.],
               [1., 2.]], dtype=float32)
    """
    (x,) = square_matrices("linalg.cholesky", a)
    if _factored.applies(x):
        return _factored(x, upper=bool(upper), both=bool(symmetrize_input))[0]
    factor = factors.cholesky(x, symmetrize_input=symmetrize_input)
    return adjoint(factor) if upper else factor


def _reference(x: Any, *, upper: bool, both: bool) -> tuple[Any]:
    if both:
        x = (x + np.conj(np.swapaxes(x, -1, -2))) / x.dtype.type(2)
    factor = or_nan(np.linalg.cholesky, x)
    if np.isnan(factor[..., -1:, -1:]).any():
        factor = np.tril(factor)
    return (np.conj(np.swapaxes(factor, -1, -2)) if upper else factor,)


def _aval(x: ShapedArray, **_: bool) -> tuple[ShapedArray]:
    return (x,)


_factored: Final = HostKernel("linalg.cholesky", _aval, _reference)
