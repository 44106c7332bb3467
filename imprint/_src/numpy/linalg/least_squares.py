"""Functions of singular values: pinv, lstsq, matrix_rank and cond.

Singular values below a tolerance count as 0. By default it is the largest one times eps
times the number of rows or columns; for pinv ten times that. The derivative of pinv
assumes constant rank (G. Golub, V. Pereyra 1973) and needs no factors.
"""

from typing import Any

from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.creation import asarray, empty, zeros
from imprint._src.numpy.elementwise.arithmetic import square
from imprint._src.numpy.elementwise.comparison import greater, isnan, not_equal
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.linalg.decompositions import svd, svdvals
from imprint._src.numpy.linalg.norms import norm
from imprint._src.numpy.linalg.operands import eps_of, inexact_arrays, matrices
from imprint._src.numpy.linalg.solving import inv
from imprint._src.numpy.promotion import ArrayLike, broadcast_all
from imprint._src.numpy.reductions.reductions import any as any_
from imprint._src.numpy.reductions.reductions import max as max_
from imprint._src.numpy.reductions.reductions import sum as sum_
from imprint._src.numpy.shapes.reshape import expand_dims, ravel, reshape
from imprint._src.primitives.elementwise.elementwise import listed
from imprint._src.primitives.matrices import adjoint, check_square, product
from imprint._src.primitives.shape import number_of
from imprint.custom_derivatives import custom_jvp


@fuse_eager
def pinv(
    a: ArrayLike,
    rtol: ArrayLike | None = None,
    hermitian: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    rcond: ArrayLike | None = None,
) -> Array:
    """Return the pseudo-inverses of matrices.

    Args:
        a: matrices along the last two axes.
        rtol: the tolerance for 0, relative to the largest singular value.
        hermitian: whether to assume symmetric or Hermitian matrices.
        rcond: another name for `rtol`.

    Returns:
        Matrices of shape (..., n, m) for those of shape (..., m, n), in the floating or
        complex dtype of `a`.

    Raises:
        ArgumentError: both `rtol` and `rcond` are given.

    References:
        NumPy, `numpy.linalg.pinv`. Derivative: Golub and Pereyra 1973.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.pinv(np.array([[2.0, 0.0], [0.0, 0.0]]))
        Array([[0.5, 0. ],
               [0. , 0. ]], dtype=float32)
    """
    cut = _one_of("linalg.pinv", rtol=rtol, rcond=rcond)
    (x,) = matrices("linalg.pinv", a)
    bound = _default(x, 10) if cut is None else cut
    if hermitian:
        x = (x + adjoint(x)) / 2
    return _pinv(x, bound, bool(hermitian))


def _one_of(name: str, **given: Any) -> Any:
    """Return the only one of arguments with the same meaning, or None."""
    named = {key: value for key, value in given.items() if value is not None}
    if len(named) > 1:
        raise ArgumentError(
            f"{name}: expected one of {' and '.join(given)}, got both. They are the "
            "same: leave one out."
        )
    return next(iter(named.values()), None)


def _default(x: Any, factor: int) -> float:
    """Return the default tolerance for 0, relative to the largest singular value."""
    shape = get_aval(x).shape[-2:]
    longest = max(dims.concrete(n, "the tolerance of singular values") for n in shape)
    return eps_of(get_aval(x).dtype) * factor * longest


def _by_svd(x: Any, cut: Any, hermitian: Any) -> Any:
    aval = get_aval(x)
    if dims.has_zero(aval.shape):
        return empty((*aval.shape[:-2], *aval.shape[:-3:-1]), aval.dtype)
    u, s, vh = svd(x, full_matrices=False, hermitian=hermitian)
    limit: Any = asarray(cut)
    stack = (*limit.shape, *(1,) * (s.ndim - limit.ndim))
    bound = reshape(limit, stack) * s[..., :1]
    large = where(s > bound, s, float("inf")).astype(s.dtype)
    return product(adjoint(vh), adjoint(u) / large[..., None])


_pinv: Any = custom_jvp(_by_svd, nondiff_argnums=(1, 2))


@_pinv.defjvp
def _pinv_jvp(cut: Any, hermitian: Any, primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    p = _pinv(x, cut, hermitian)
    across, p_across = adjoint(t), adjoint(p)
    m, n = get_aval(x).shape[-2:]
    if dims.is_surely_at_least(m, n):
        left = product(product(p, p_across), across)
        right = product(product(across, p_across), p)
        moved = product(product(p, t), p)
        inside = product(product(left, x), p) + product(product(p, x), right)
    else:
        left = product(p, product(p_across, across))
        right = product(across, product(p_across, p))
        moved = product(p, product(t, p))
        inside = product(left, product(x, p)) + product(p, product(x, right))
    return p, left + right - moved - inside


@fuse_eager
def lstsq(
    a: ArrayLike,
    b: ArrayLike,
    rcond: float | None = None,
    *,
    numpy_resid: bool = False,
) -> tuple[Array, Array, Array, Array]:
    """Return the least-squares solution x of `a @ x = b` of smallest norm.

    Args:
        a: a matrix.
        b: a vector, or a matrix of right-hand sides.
        rcond: the tolerance for 0, relative to the largest singular value; None for eps
            times the number of rows or columns.
        numpy_resid: whether to omit residuals, as NumPy does, if the rank is less than
            the number of columns, or there are not more rows than columns. Not in a
            compiled function, whose shapes cannot depend on values.

    Returns:
        x; the sums of squared residuals; the rank of `a`; its singular values.

    Raises:
        ShapeError: `a` is no matrix, or `b` has another number of rows.

    References:
        NumPy, `numpy.linalg.lstsq`.

    Example:
        >>> import imprint.numpy as np
        >>> a = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
        >>> x, residuals, rank, s = np.linalg.lstsq(a, np.array([1.0, 3.0, 5.0]))
        >>> bool(np.allclose(x, np.array([1.0, 2.0]), atol=1e-5)), int(rank)
        (True, 2)
    """
    x, y = matrices("linalg.lstsq", a, b)
    if x.ndim != 2 or y.ndim not in (1, 2) or not dims.equal(x.shape[0], y.shape[0]):
        raise ShapeError(
            "linalg.lstsq: expected a matrix, and a vector or matrix of as many rows, "
            f"got {listed((x.aval, y.aval))}. Map over stacks with imprint.vmap."
        )
    sides = expand_dims(y, 1) if y.ndim == 1 else y
    found, rank, s = _nearest(x, sides, rcond)
    m, n = x.shape
    if numpy_resid and (not m > n or bool(rank < n)):
        rest = zeros(0, s.dtype)
    else:
        rest = square(norm(sides - product(x, found), axis=0))
    return ravel(found) if y.ndim == 1 else found, rest, rank, s


def _nearest(x: Any, sides: Any, rcond: Any) -> tuple[Any, Any, Any]:
    """Return solutions, the rank, and the singular values."""
    if dims.has_zero(x.shape):
        nothing = zeros((x.shape[1], sides.shape[1]), x.dtype)
        return nothing, asarray(0, dtype=int), zeros(0, svdvals(x).dtype)
    u, s, vh = svd(x, full_matrices=False)
    if rcond is None:
        cut = _default(x, 1)
    else:
        cut = where(asarray(rcond) < 0, eps_of(x.dtype), rcond)
    mask = (s > 0) & (s >= asarray(cut, s.dtype) * s[0])
    inverse = where(mask, 1 / where(mask, s, 1).astype(x.dtype), 0)
    found = product(adjoint(vh), inverse[:, None] * product(adjoint(u), sides))
    return found, sum_(mask), s


@fuse_eager
def matrix_rank(
    M: ArrayLike,  # noqa: N803 - JAX's name
    rtol: ArrayLike | None = None,
    *,
    hermitian: bool = False,
    tol: ArrayLike | None = None,
) -> Array:
    """Return the rank of matrices: the number of nonzero singular values.

    Args:
        M: matrices along the last two axes; with fewer axes, the rank is 1 or 0.
        rtol: the absolute tolerance for 0; as in JAX, it is not multiplied by the
            largest singular value.
        hermitian: whether to assume symmetric or Hermitian matrices.
        tol: another name for `rtol`.

    Returns:
        The ranks, of shape (...) for matrices of shape (..., m, n); integers.

    Raises:
        ArgumentError: both `rtol` and `tol` are given.

    References:
        NumPy, `numpy.linalg.matrix_rank`.

    Example:
        >>> import imprint.numpy as np
        >>> int(np.linalg.matrix_rank(np.ones((3, 3))))
        1
    """
    cut = _one_of("linalg.matrix_rank", rtol=rtol, tol=tol)
    (x,) = inexact_arrays("linalg.matrix_rank", M)
    if x.ndim < 2:
        return any_(not_equal(x, 0)).astype("int32")
    s = svd(x, full_matrices=False, compute_uv=False, hermitian=hermitian)
    if cut is None:
        rows, columns = x.shape[-2:]
        largest: Any = max_(s, axis=-1)
        longest = number_of(dims.maximum(rows, columns), s.dtype)
        cut = largest * longest * eps_of(s.dtype)
    limits = broadcast_all("linalg.matrix_rank", (s, asarray(cut)[..., None]))
    return sum_(greater(*limits), axis=-1)


@fuse_eager
def cond(x: ArrayLike, p: Any = None) -> Array:
    """Return the condition number of matrices.

    Args:
        x: matrices along the last two axes.
        p: the order of the norm; None or 2 for the ratio of the largest to the smallest
            singular value.

    Returns:
        The condition numbers, real, of shape (...) for matrices of shape (..., m, n);
        infinity for singular ones.

    Raises:
        ShapeError: the matrices have no elements, or are not square for another order.

    References:
        NumPy, `numpy.linalg.cond`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.cond(np.array([[1.0, 0.0], [0.0, 4.0]]))
        Array(4., dtype=float32)
    """
    (y,) = matrices("linalg.cond", x)
    if dims.has_zero(y.shape[-2:]):
        raise ShapeError(
            f"linalg.cond: expected matrices with elements, got {y.aval}. Nothing has "
            "no condition: leave the call out."
        )
    if p is None or p in (2, -2):
        s = svdvals(y)
        ends = s[..., 0], s[..., -1]
        out = ends[1] / ends[0] if p == -2 else ends[0] / ends[1]
    else:
        check_square("linalg.cond", y.aval)
        out = norm(y, p, (-2, -1)) * norm(inv(y), p, (-2, -1))
    unknown = isnan(out) & ~any_(isnan(y), axis=(-2, -1))
    return where(unknown, float("inf"), out)
