"""svd, qr, eigh, schur and hessenberg with SciPy's names and order of results.

They call `imprint.numpy.linalg` or `imprint._src.lax.linalg`. SciPy's arguments for
memory, checks and drivers are accepted and ignored.
"""

from typing import Any

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.elementwise.rounding import real
from imprint._src.numpy.linalg.operands import inexact_arrays, matrices, square_matrices
from imprint._src.numpy.matrices import diag, triu
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.numpy.shapes.reshape import ravel
from imprint._src.primitives.elementwise.complex import conj
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.elementwise import listed
from imprint._src.primitives.indexing.slicing import pad
from imprint._src.primitives.linalg import eigen, orthogonal
from imprint._src.primitives.linalg import schur as forms
from imprint._src.primitives.matrices import zeros_like
from imprint.numpy import linalg


def svd(
    a: ArrayLike,
    full_matrices: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
    compute_uv: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
    overwrite_a: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
    lapack_driver: str = "gesdd",
) -> Any:
    """Return U, the singular values and Vh; see `imprint.numpy.linalg.svd`.

    Args:
        a: matrices along the last two axes.
        full_matrices: whether U and Vh are square.
        compute_uv: whether to return U and Vh; else the values alone.
        overwrite_a: changes nothing.
        check_finite: changes nothing.
        lapack_driver: changes nothing.

    Returns:
        U, the singular values in descending order, real, along the last axis, and Vh; or
        the values alone. For `a` of shape `(..., m, n)` and `k = min(m, n)`: `(..., m, m)`,
        `(..., k)` and `(..., n, n)`, or `(..., m, k)`, `(..., k)` and `(..., k, n)`.

    Raises:
        ShapeError: `a` has less than two axes.

    References:
        SciPy, `scipy.linalg.svd`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.svd(np.diag(np.array([3.0, 4.0])), compute_uv=False)
        Array([4., 3.], dtype=float32)
    """
    (x,) = matrices("scipy.linalg.svd", a)
    found = linalg.svd(x, full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


def qr(
    a: ArrayLike,
    overwrite_a: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
) -> tuple[Array, ...]:
    """Return a QR decomposition: Q with orthonormal columns, R upper triangular.

    Args:
        a: matrices along the last two axes.
        overwrite_a: changes nothing.
        lwork: changes nothing.
        mode: "full" for a square Q, "economic" for as many columns as needed, "r" for R
            alone.
        pivoting: whether to permute columns, so that the diagonal of R does not grow;
            the permutation is returned too.
        check_finite: changes nothing.

    Returns:
        Q and R, and the permutation if `pivoting`. For `a` of shape `(..., m, n)`:
        `(..., m, m)` and `(..., m, n)`, or for "economic" `(..., m, k)` and `(..., k, n)`
        with `k = min(m, n)`.

    Raises:
        ArgumentError: the mode is unknown.
        ShapeError: `a` has less than two axes.

    References:
        SciPy, `scipy.linalg.qr`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> q, r, p = scipy.linalg.qr(np.diag(np.array([3.0, 4.0])), pivoting=True)
        >>> p
        Array([1, 0], dtype=int32)
    """
    if mode not in ("full", "r", "economic"):
        raise ArgumentError(
            "scipy.linalg.qr: expected mode 'full', 'r' or 'economic', got "
            f"{mode!r}. Leave it out for 'full'."
        )
    (x,) = matrices("scipy.linalg.qr", a)
    full = mode != "economic"
    found = orthogonal.qr(x, pivoting=pivoting, full_matrices=full)
    return found[1:] if mode == "r" else tuple(found)


def qr_multiply(  # noqa: PLR0913, PLR0917 - SciPy's signature
    a: ArrayLike,
    c: ArrayLike,
    mode: str = "right",
    pivoting: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    conjugate: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    overwrite_a: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    overwrite_c: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
) -> tuple[Array, ...]:
    """Return the product of a matrix and the Q of a QR decomposition, and R.

    Args:
        a: the matrices to factor, along the last two axes.
        c: the matrices to multiply, or a vector.
        mode: "right" for `c @ Q`, "left" for `Q @ c`.
        pivoting: whether to permute columns; the permutation is returned too.
        conjugate: whether to use the conjugate of Q.
        overwrite_a: changes nothing.
        overwrite_c: changes nothing.

    Returns:
        The product, R, and the permutation if `pivoting`; Q has as many columns as needed.

    Raises:
        ArgumentError: the mode is unknown.
        ShapeError: Q and `c` cannot be multiplied.

    References:
        SciPy, `scipy.linalg.qr_multiply`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> product, r = scipy.linalg.qr_multiply(np.eye(2), np.array([1.0, 2.0]))
        >>> product
        Array([1., 2.], dtype=float32)
    """
    if mode not in ("left", "right"):
        raise ArgumentError(
            f"scipy.linalg.qr_multiply: expected mode 'left' or 'right', got {mode!r}. "
            "It is the side of the product that `c` is not on."
        )
    x, y = matrices("scipy.linalg.qr_multiply", a, c)
    is_vector = y.ndim == 1
    if is_vector:
        y = y[:, None] if mode == "left" else y[None, :]
    q, *rest = orthogonal.qr(x, pivoting=pivoting, full_matrices=False)
    if conjugate and dtypes.is_complex(get_aval(q).dtype):
        q = conj(q)
    first, second = (q, y) if mode == "left" else (y, q)
    if not dims.equal(get_aval(first).shape[-1], get_aval(second).shape[-2]):
        raise ShapeError(
            "scipy.linalg.qr_multiply: expected matrices that Q can be multiplied with "
            f"on the {mode}, got {listed((x.aval, y.aval))}. Transpose one, or pass the "
            "other mode."
        )
    product = linalg.matmul(first, second)
    return ravel(product) if is_vector else product, *rest


def eigh(  # noqa: PLR0913, PLR0917 - SciPy's signature
    a: ArrayLike,
    b: None = None,
    lower: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
    eigvals_only: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    overwrite_a: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    overwrite_b: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    turbo: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
    eigvals: None = None,
    type: int = 1,  # noqa: A002 - SciPy's name
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
) -> Any:
    """Return eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Args:
        a: square matrices along the last two axes; `(a + aᴴ) / 2` is used.
        b: must be None: there are no generalized eigenvalues.
        lower: changes nothing.
        eigvals_only: whether to return only the eigenvalues.
        overwrite_a: changes nothing.
        overwrite_b: changes nothing.
        turbo: changes nothing.
        eigvals: must be None, for all.
        type: must be 1.
        check_finite: changes nothing.

    Returns:
        The eigenvalues in ascending order, real, of shape `(..., n)`, and the eigenvectors
        as columns, of the shape of `a`; or the eigenvalues alone.

    Raises:
        NotImplementedError: `b`, `eigvals` or another `type` is given.
        ShapeError: `a` is not square.

    References:
        SciPy, `scipy.linalg.eigh`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> a = np.array([[0.0, 2.0], [2.0, 0.0]])
        >>> scipy.linalg.eigh(a, eigvals_only=True)
        Array([-2.,  2.], dtype=float32)
    """
    if b is not None or eigvals is not None or type != 1:
        raise NotImplementedError(
            "scipy.linalg.eigh: expected b=None, eigvals=None and type=1, as in JAX, got "
            f"type={type}{', a b' * (b is not None)}"
            f"{', eigvals' * (eigvals is not None)}. With a factor L of b, take eigh of "
            "L⁻¹ a L⁻ᴴ."
        )
    (x,) = square_matrices("scipy.linalg.eigh", a)
    v, w = eigen.eigh(x, lower=lower)
    return w if eigvals_only else (w, v)


def eigh_tridiagonal(  # noqa: PLR0913 - JAX's signature
    d: ArrayLike,
    e: ArrayLike,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[int, int] | None = None,
    tol: float | None = None,
    key: Any = None,
) -> Any:
    """Return eigenvalues and eigenvectors of a symmetric tridiagonal matrix.

    The matrix is solved as a dense one, exactly and with derivatives.

    Args:
        d: the diagonal, a vector; its real part is used.
        e: the off-diagonal; for a Hermitian matrix, the upper one.
        eigvals_only: whether to return only the eigenvalues.
        select: "a" for all, "i" for those of `select_range`.
        select_range: the first and the last index.
        tol: changes nothing.
        key: changes nothing.

    Returns:
        The eigenvalues in ascending order, real, and the eigenvectors as columns; or the
        eigenvalues alone.

    Raises:
        ShapeError: the diagonals are not vectors, the second one element shorter.
        ArgumentError: `select` is unknown, or has no range.

    References:
        SciPy, `scipy.linalg.eigh_tridiagonal`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> d, e = np.array([0.0, 0.0]), np.array([2.0])
        >>> scipy.linalg.eigh_tridiagonal(d, e, eigvals_only=True)
        Array([-2.,  2.], dtype=float32)
    """
    x, y = inexact_arrays("scipy.linalg.eigh_tridiagonal", d, e)
    if x.ndim != 1 or y.ndim != 1 or len(y) != max(len(x) - 1, 0):
        raise ShapeError(
            "scipy.linalg.eigh_tridiagonal: expected a diagonal, and one that is one "
            f"element shorter, got {listed((x.aval, y.aval))}. Cut the second."
        )
    if select not in ("a", "i") or (select == "i" and select_range is None):
        raise ArgumentError(
            "scipy.linalg.eigh_tridiagonal: expected select 'a', or 'i' with a "
            f"select_range, got {select!r} with {select_range}. Cut the eigenvalues that "
            "you want out of all."
        )
    middle = convert_element_type(real(x), x.dtype)
    under = conj(y) if dtypes.is_complex(y.dtype) else y
    matrix = diag(middle) + diag(y, 1) + diag(under, -1) if len(y) else diag(middle)
    subset = None
    if select == "i" and select_range is not None:
        subset = select_range[0], select_range[1] + 1
    v, w = eigen.eigh(matrix, symmetrize_input=False, subset_by_index=subset)
    return w if eigvals_only else (w, v)


def schur(a: ArrayLike, output: str = "real") -> tuple[Array, Array]:
    """Return T and Z with `a = Z T Zᴴ`: T is triangular; quasi-triangular for real `a`.

    Args:
        a: square matrices along the last two axes.
        output: "complex" for a triangular T for real matrices too.

    Returns:
        T and Z, of the shape of `a`.

    Raises:
        ArgumentError: `output` is unknown.
        ShapeError: `a` is not square.

    References:
        SciPy, `scipy.linalg.schur`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> t, z = scipy.linalg.schur(np.array([[1.0, 2.0], [0.0, 3.0]]))
        >>> t
        Array([[1., 2.],
               [0., 3.]], dtype=float32)
    """
    if output not in ("real", "complex"):
        raise ArgumentError(
            f"scipy.linalg.schur: expected output 'real' or 'complex', got {output!r}. "
            "Leave it out for 'real'."
        )
    (x,) = square_matrices("scipy.linalg.schur", a)
    if output == "complex":
        x = convert_element_type(x, dtypes.to_complex(x.dtype))
    t, z = forms.schur(x)
    return t, z


def hessenberg(
    a: ArrayLike,
    *,
    calc_q: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> Any:
    """Return the Hessenberg form: zero below the first subdiagonal.

    Args:
        a: square matrices along the last two axes.
        calc_q: whether to return Q of `a = Q H Qᴴ` too.
        overwrite_a: changes nothing.
        check_finite: changes nothing.

    Returns:
        H, or H and Q, of the shape of `a`.

    Raises:
        ShapeError: `a` is not square.

    References:
        SciPy, `scipy.linalg.hessenberg`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.hessenberg(np.array([[1.0, 2.0], [3.0, 4.0]]))
        Array([[1., 2.],
               [3., 4.]], dtype=float32)
    """
    (x,) = square_matrices("scipy.linalg.hessenberg", a)
    if dims.has_zero(x.shape[-1:]):
        return (zeros_like(x), zeros_like(x)) if calc_q else zeros_like(x)
    packed, taus = forms.hessenberg(x)
    form = triu(packed, -1)
    if not calc_q:
        return form
    inner = orthogonal.householder_product(packed[..., 1:, :-1], taus)
    around = [(0, 0, 0)] * (x.ndim - 2) + [(1, 0, 0), (1, 0, 0)]
    n = x.shape[-1]
    corner = np.zeros((1,) * (x.ndim - 2) + (n, n), x.dtype)
    corner[..., 0, 0] = 1
    return form, pad(inner, x.dtype.type(0), around) + corner
