"""Linear systems with SciPy's names: LU, Cholesky and triangular solves.

A factor is computed once and solves for many right-hand sides; leading axes of both
broadcast. `solve` uses the Cholesky factor for matrices declared positive definite. The
derivative of a solution is another solution with the same factor.
"""

from functools import partial
from typing import Any, Final, NamedTuple

from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.lax.solving import custom_linear_solve
from imprint._src.numpy.elementwise.rounding import real
from imprint._src.numpy.linalg import determinants
from imprint._src.numpy.linalg import solving as general
from imprint._src.numpy.linalg.operands import matrices, square_matrices
from imprint._src.numpy.linear import matmul
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.numpy.shapes.reshape import broadcast_to
from imprint._src.primitives.barrier import stop_gradient
from imprint._src.primitives.elementwise.comparison import eq
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.elementwise import listed
from imprint._src.primitives.elementwise.precision import Precision
from imprint._src.primitives.indexing.slicing import slice_in_dim
from imprint._src.primitives.linalg import cholesky as factors
from imprint._src.primitives.linalg import lu as triangles
from imprint._src.primitives.linalg.triangular import triangular_solve
from imprint._src.primitives.matrices import adjoint, identity, tril, triu
from imprint._src.primitives.shape import broadcasted_iota, expand_dims, squeeze


@fuse_eager
def cholesky(
    a: ArrayLike,
    lower: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    overwrite_a: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
) -> Array:
    """Return the Cholesky factors of positive definite matrices.

    Args:
        a: square matrices along the last two axes; one triangle is read.
        lower: whether to read the lower triangle and return L of `a = L Lᴴ`; else the
            upper triangle and U of `a = Uᴴ U`.
        overwrite_a: changes nothing.
        check_finite: changes nothing.

    Returns:
        The triangular factors, of the shape of `a`; NaN where a matrix is not positive
        definite.

    Raises:
        ShapeError: `a` is not square.

    References:
        SciPy, `scipy.linalg.cholesky`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
        Array([[2., 1.],
               [0., 2.]], dtype=float32)
    """
    (x,) = square_matrices("scipy.linalg.cholesky", a)
    factor = factors.cholesky(x if lower else adjoint(x), symmetrize_input=False)
    return factor if lower else adjoint(factor)


@fuse_eager
def cho_factor(
    a: ArrayLike,
    lower: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    overwrite_a: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
) -> tuple[Array, bool]:
    """Return the operand of `cho_solve`: the Cholesky factor, and whether it is lower.

    Args:
        a: square matrices along the last two axes.
        lower: which triangle to read and return.
        overwrite_a: changes nothing.
        check_finite: changes nothing.

    Returns:
        The factor, of the shape of `a`, and `lower`; the other triangle of the factor is 0.

    Raises:
        ShapeError: `a` is not square.

    References:
        SciPy, `scipy.linalg.cho_factor`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> factor = scipy.linalg.cho_factor(np.array([[4.0, 2.0], [2.0, 5.0]]))
        >>> scipy.linalg.cho_solve(factor, np.array([6.0, 7.0]))
        Array([1., 1.], dtype=float32)
    """
    return cholesky(a, lower), lower


@fuse_eager
def cho_solve(
    c_and_lower: tuple[ArrayLike, bool],
    b: ArrayLike,
    overwrite_b: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
) -> Array:
    """Return the solutions x of `a @ x = b`, given the factor of `a`.

    Args:
        c_and_lower: the result of `cho_factor`.
        b: a vector, or matrices along the last two axes.
        overwrite_b: changes nothing.
        check_finite: changes nothing.

    Returns:
        The solutions, of the shape of `b`; leading axes broadcast.

    Raises:
        ShapeError: the factor is not square, or `b` does not fit it.

    References:
        SciPy, `scipy.linalg.cho_solve`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.cho_solve((2 * np.eye(2), True), np.array([4.0, 8.0]))
        Array([1., 2.], dtype=float32)
    """
    c, lower = c_and_lower
    name = "scipy.linalg.cho_solve"
    factor, side = _prepared(name, c, b)
    out = _by_cholesky(factor, bool(lower), side.columns)
    return side.back(out)


def _by_cholesky(factor: Any, lower: bool, b: Any) -> Any:  # noqa: FBT001 - of a pair
    params: dict[str, Any] = {"left_side": True, "lower": lower}
    turned: dict[str, Any] = {**params, "transpose_a": True, "conjugate_a": True}
    first, second = (params, turned) if lower else (turned, params)
    return triangular_solve(factor, triangular_solve(factor, b, **first), **second)


@fuse_eager
def lu_factor(
    a: ArrayLike,
    overwrite_a: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
) -> tuple[Array, Array]:
    """Return the operand of `lu_solve`: L and U in one matrix, and the row exchanges.

    Args:
        a: matrices along the last two axes.
        overwrite_a: changes nothing.
        check_finite: changes nothing.

    Returns:
        The factors, of the shape of `a`: U, and L below the diagonal, whose own is 1; and
        for each row the one it was exchanged with, an int32 array of shape
        `(..., min(m, n))`.

    Raises:
        ShapeError: `a` has less than two axes.

    References:
        SciPy, `scipy.linalg.lu_factor`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.lu_factor(np.array([[1.0, 2.0], [4.0, 2.0]]))[1]
        Array([1, 1], dtype=int32)
    """
    (x,) = matrices("scipy.linalg.lu_factor", a)
    factor, pivots, _ = triangles.lu(x)
    return factor, pivots


@fuse_eager
def lu_solve(
    lu_and_piv: tuple[ArrayLike, ArrayLike],
    b: ArrayLike,
    trans: int = 0,
    overwrite_b: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
) -> Array:
    """Return the solutions x of `a @ x = b`, given the LU factors of `a`.

    Args:
        lu_and_piv: the result of `lu_factor`.
        b: a vector, or matrices along the last two axes.
        trans: 0 for `a`, 1 for its transpose, 2 for its conjugate transpose.
        overwrite_b: changes nothing.
        check_finite: changes nothing.

    Returns:
        The solutions, of the shape of `b`; leading axes broadcast.

    Raises:
        ArgumentError: `trans` is unknown.
        ShapeError: the factor is not square, or `b` does not fit it.

    References:
        SciPy, `scipy.linalg.lu_solve`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> factors = scipy.linalg.lu_factor(np.array([[0.0, 2.0], [4.0, 0.0]]))
        >>> scipy.linalg.lu_solve(factors, np.array([2.0, 4.0]))
        Array([1., 1.], dtype=float32)
    """
    name = "scipy.linalg.lu_solve"
    if trans not in (0, 1, 2):
        raise ArgumentError(
            f"{name}: expected trans 0, 1 or 2, got {trans!r}. They stand for the "
            "matrix, its transpose, and the conjugate of that."
        )
    factor, pivots = lu_and_piv
    rows = get_aval(factor).shape[-1]
    order = triangles.lu_pivots_to_permutation(pivots, rows)
    matrix, side = _prepared(name, factor, b)
    order = broadcast_to(order, (*matrix.shape[:-2], rows))
    turned = {"transposed": trans > 0, "conjugate": trans == 2}
    return side.back(general.solve_factored(matrix, order, side.columns, **turned))


@fuse_eager
def lu(
    a: ArrayLike,
    permute_l: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    overwrite_a: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
) -> tuple[Array, ...]:
    """Return the LU decomposition: matrices P, L and U whose product is `a`.

    Args:
        a: matrices along the last two axes.
        permute_l: whether to return `P @ L` and U.
        overwrite_a: changes nothing.
        check_finite: changes nothing.

    Returns:
        P, L and U, or `P @ L` and U. For `a` of shape `(..., m, n)` and `k = min(m, n)`: P,
        real, `(..., m, m)`, L `(..., m, k)` and U `(..., k, n)`.

    Raises:
        ShapeError: `a` has less than two axes.

    References:
        SciPy, `scipy.linalg.lu`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> p, l, u = scipy.linalg.lu(np.array([[1.0, 2.0], [4.0, 2.0]]))
        >>> p @ l @ u
        Array([[1., 2.],
               [4., 2.]], dtype=float32)
    """
    (x,) = matrices("scipy.linalg.lu", a)
    factor, _, order = triangles.lu(x)
    *stack, m, n = x.shape
    k = dims.minimum(m, n)
    last = len(stack) + 1
    rows = broadcasted_iota("int32", (*stack, m, m), last - 1)
    p = convert_element_type(
        eq(rows, broadcast_to(expand_dims(order, (last - 1,)), rows.shape)), x.dtype
    )
    ones = identity((*stack, m, k), x.dtype)
    left = tril(slice_in_dim(factor, 0, k, axis=last), -1) + ones
    upper = triu(slice_in_dim(factor, 0, k, axis=last - 1))
    if permute_l:
        return matmul(p, left, precision=Precision.HIGHEST), upper
    return real(p), left, upper


@fuse_eager
def det(
    a: ArrayLike,
    overwrite_a: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
) -> Array:
    """Return the determinants of square matrices, as `imprint.numpy.linalg.det` does.

    Args:
        a: square matrices along the last two axes.
        overwrite_a: changes nothing.
        check_finite: changes nothing.

    Returns:
        The determinants, of the shape of the leading axes.

    References:
        SciPy, `scipy.linalg.det`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.det(2 * np.eye(2))
        Array(4., dtype=float32)
    """
    return determinants.det(a)


@fuse_eager
def inv(
    a: ArrayLike,
    overwrite_a: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
) -> Array:
    """Return the inverses of square matrices, as `imprint.numpy.linalg.inv` does.

    Args:
        a: square matrices along the last two axes.
        overwrite_a: changes nothing.
        check_finite: changes nothing.

    Returns:
        The inverses, of the shape of `a`.

    References:
        SciPy, `scipy.linalg.inv`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.inv(2 * np.eye(2))
        Array([[0.5, 0. ],
               [0. , 0.5]], dtype=float32)
    """
    return general.inv(a)


_ASSUMED: Final = ("gen", "sym", "her", "pos")


@fuse_eager
def solve(  # noqa: PLR0913, PLR0917 - SciPy's signature
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    overwrite_a: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    overwrite_b: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    debug: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
    assume_a: str = "gen",
) -> Array:
    """Return the solutions x of `a @ x = b`.

    Args:
        a: square matrices along the last two axes.
        b: a vector, or matrices along the last two axes.
        lower: which triangle of a positive definite matrix to read.
        overwrite_a: changes nothing.
        overwrite_b: changes nothing.
        debug: changes nothing.
        check_finite: changes nothing.
        assume_a: "pos" for positive definite matrices, solved by Cholesky; "gen", "sym"
            or "her" for others.

    Returns:
        The solutions, of the shape of `b`; leading axes broadcast.

    Raises:
        ArgumentError: `assume_a` is unknown.
        ShapeError: `a` is not square, or `b` does not fit it.

    References:
        SciPy, `scipy.linalg.solve`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> a = np.array([[4.0, 2.0], [2.0, 5.0]])
        >>> scipy.linalg.solve(a, np.array([6.0, 7.0]), assume_a="pos")
        Array([1., 1.], dtype=float32)
    """
    name = "scipy.linalg.solve"
    if assume_a not in _ASSUMED:
        raise ArgumentError(
            f"{name}: expected assume_a 'gen', 'sym', 'her' or 'pos', got {assume_a!r}. "
            "Leave it out for a matrix of no kind."
        )
    if assume_a != "pos":
        return general.solve(a, b)
    matrix, side = _prepared(name, a, b)
    factor = cholesky(stop_gradient(matrix), lower)

    def solved(_: Any, columns: Any) -> Any:
        return _by_cholesky(factor, bool(lower), columns)

    product = partial(matmul, matrix, precision=Precision.HIGHEST)
    return side.back(custom_linear_solve(product, side.columns, solved, symmetric=True))


_TRANSPOSED: Final[dict[Any, tuple[bool, bool]]] = {
    0: (False, False),
    "N": (False, False),
    1: (True, False),
    "T": (True, False),
    2: (True, True),
    "C": (True, True),
}


@fuse_eager
def solve_triangular(  # noqa: PLR0913, PLR0917 - SciPy's signature
    a: ArrayLike,
    b: ArrayLike,
    trans: int | str = 0,
    lower: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    unit_diagonal: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    overwrite_b: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
    debug: Any = None,
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
) -> Array:
    """Return the solutions x of `a @ x = b` for triangular `a`.

    Args:
        a: square matrices along the last two axes; the other triangle is not read.
        b: a vector, or matrices along the last two axes.
        trans: 0 or "N" for `a`, 1 or "T" for its transpose, 2 or "C" for its conjugate
            transpose.
        lower: whether `a` is lower triangular.
        unit_diagonal: whether to assume ones on the diagonal.
        overwrite_b: changes nothing.
        debug: changes nothing.
        check_finite: changes nothing.

    Returns:
        The solutions, of the shape of `b`; leading axes broadcast.

    Raises:
        ArgumentError: `trans` is unknown.
        ShapeError: `a` is not square, or `b` does not fit it.

    References:
        SciPy, `scipy.linalg.solve_triangular`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> a = np.array([[2.0, 0.0], [1.0, 4.0]])
        >>> scipy.linalg.solve_triangular(a, np.array([2.0, 9.0]), lower=True)
        Array([1., 2.], dtype=float32)
    """
    name = "scipy.linalg.solve_triangular"
    if trans not in _TRANSPOSED:
        raise ArgumentError(
            f"{name}: expected trans 0, 1, 2, 'N', 'T' or 'C', got {trans!r}. They stand "
            "for the matrix, its transpose, and the conjugate of that."
        )
    matrix, side = _prepared(name, a, b)
    transpose_a, conjugate_a = _TRANSPOSED[trans]
    out = triangular_solve(
        matrix,
        side.columns,
        left_side=True,
        lower=bool(lower),
        transpose_a=transpose_a,
        conjugate_a=conjugate_a,
        unit_diagonal=bool(unit_diagonal),
    )
    return side.back(out)


# ---- right-hand sides ----


class _Side(NamedTuple):
    """A right-hand side as columns, with the leading axes of the matrices.

    Args:
        columns: the array.
        is_vector: whether the argument was one vector.
    """

    columns: Any
    is_vector: bool

    def back(self, out: Any) -> Any:
        """Return a solution in the shape of the right-hand side argument."""
        return squeeze(out, (get_aval(out).ndim - 1,)) if self.is_vector else out


def _prepared(name: str, a: ArrayLike, b: ArrayLike) -> tuple[Any, _Side]:
    """Return a square matrix and a right-hand side, with one dtype and one stack."""
    x, y = square_matrices(name, a, b)
    columns = expand_dims(y, (1,)) if y.ndim == 1 else y
    _check_side(name, x.aval, columns.aval)
    stack = dims.broadcast_shapes([x.shape[:-2], columns.shape[:-2]])
    if stack is None:
        raise ShapeError(
            f"{name}: expected leading axes that broadcast, got "
            f"{listed((x.aval, y.aval))}. Reshape one of them."
        )
    x, columns = (
        v if v.shape[:-2] == stack else broadcast_to(v, (*stack, *v.shape[-2:]))
        for v in (x, columns)
    )
    return x, _Side(columns, y.ndim == 1)


def _check_side(name: str, a: ShapedArray, b: ShapedArray) -> None:
    if b.ndim < 2 or not dims.equal(a.shape[-1], b.shape[-2]):
        raise ShapeError(
            f"{name}: expected a right-hand side of as many rows as the matrices, got "
            f"{listed((a, b))}. A stack of vectors needs an axis more, `b[..., None]`."
        )
