"""Determinants: det and slogdet, with derivatives for singular matrices too.

A determinant is the product of the diagonal of U of an LU factorization, with the sign
of the row permutation. For small matrices, which often come in large stacks, the
elimination is written out. The derivative of det along B is the trace of adj(A) B. The
adjugate is written out for small matrices. For larger ones it is computed from the
factors, with the columns mixed where a pivot other than the last is 0.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.dims import Dim
from imprint._src.core.host_kernel import HostKernel
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError
from imprint._src.numpy.creation import ones_like
from imprint._src.numpy.elementwise.arithmetic import absolute
from imprint._src.numpy.elementwise.arithmetic import sign as sign_of
from imprint._src.numpy.elementwise.comparison import isfinite, not_equal
from imprint._src.numpy.elementwise.exponential import log
from imprint._src.numpy.elementwise.rounding import real
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.elementwise.trigonometric import cos
from imprint._src.numpy.indexing.indexing import getitem
from imprint._src.numpy.linalg.operands import square_matrices
from imprint._src.numpy.linalg.solving import solve
from imprint._src.numpy.linear import cross
from imprint._src.numpy.matrices import diagonal, trace
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.numpy.reductions.cumulative import cumprod
from imprint._src.numpy.reductions.reductions import all as all_
from imprint._src.numpy.reductions.reductions import any as any_
from imprint._src.numpy.reductions.reductions import prod
from imprint._src.numpy.reductions.reductions import sum as sum_
from imprint._src.numpy.shapes.concatenate import concatenate, flip, stack
from imprint._src.numpy.shapes.reshape import swapaxes
from imprint._src.primitives.core_ops import full
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.linalg.lu import lu, rows_at
from imprint._src.primitives.linalg.triangular import triangular_solve
from imprint._src.primitives.matrices import zeros_like
from imprint._src.primitives.shape import broadcasted_iota, expand_dims
from imprint.custom_derivatives import custom_jvp

NDArray = np.ndarray[Any, Any]


class SlogdetResult(NamedTuple):
    """The result of `slogdet`.

    Args:
        sign: 1, -1 or 0; for a complex determinant, a number of magnitude 1, or 0.
        logabsdet: the logarithm of the magnitude; -inf for 0.
    """

    sign: Array
    logabsdet: Array


@fuse_eager
def det(a: ArrayLike) -> Array:
    """Return the determinants of square matrices.

    Args:
        a: square matrices along the last two axes.

    Returns:
        The determinants, of shape (...) for matrices of shape (..., n, n), in the
        floating or complex dtype of `a`.

    References:
        NumPy, `numpy.linalg.det`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.det(np.array([[2.0, 0.0], [1.0, 3.0]]))
        Array(6., dtype=float32)
    """
    (x,) = square_matrices("linalg.det", a)
    return _det_now(x)[0] if _det_now.applies(x) else _det(x)


@fuse_eager
def slogdet(a: ArrayLike, *, method: str | None = None) -> SlogdetResult:
    """Return signs and logarithms of the magnitudes of determinants.

    Args:
        a: square matrices along the last two axes.
        method: None or "lu" for an LU factorization; "qr" has the same effect.

    Returns:
        Signs and logarithms, both of shape (...) for matrices of shape (..., n, n); the
        logarithms are real.

    Raises:
        ArgumentError: the method is unknown.

    References:
        NumPy, `numpy.linalg.slogdet`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.slogdet(np.array([[0.0, 1.0], [1.0, 0.0]]))
        SlogdetResult(sign=Array(-1., dtype=float32), logabsdet=Array(0., dtype=float32))
    """
    if method not in (None, "lu", "qr"):
        raise ArgumentError(
            f"linalg.slogdet: expected method None, 'lu' or 'qr', got {method!r}. Leave "
            "it out."
        )
    (x,) = square_matrices("linalg.slogdet", a)
    sign, size = _slogdet_now(x) if _slogdet_now.applies(x) else _slogdet(x)
    return SlogdetResult(sign, size)


# ---- without a trace ----


def _det_aval(x: ShapedArray) -> tuple[ShapedArray]:
    return (x.with_shape(x.shape[:-2]),)


def _slogdet_aval(x: ShapedArray) -> tuple[ShapedArray, ShapedArray]:
    (sign,) = _det_aval(x)
    part = dtypes.real_part_dtype(x.dtype) if dtypes.is_complex(x.dtype) else x.dtype
    return sign, sign.with_dtype(part, weak_type=x.weak_type)


def _det_reference(x: Any) -> tuple[Any]:
    return (np.linalg.det(x),)


def _slogdet_reference(x: NDArray) -> tuple[NDArray, NDArray]:
    sign, size = map(np.asarray, np.linalg.slogdet(x))
    return np.where(np.isnan(size), np.nan, sign), size


_det_now: Final = HostKernel("linalg.det", _det_aval, _det_reference)
_slogdet_now: Final = HostKernel("linalg.slogdet", _slogdet_aval, _slogdet_reference)

# ---- det ----


@custom_jvp
def _det(x: Any) -> Any:
    n = x.shape[-1]
    if _is_written_out(n):
        return _by_elimination(x, n)
    sign, upper = _signed_diagonal(*lu(x))
    return prod(upper, axis=-1) * sign


def _is_written_out(n: Dim) -> bool:
    return any(dims.is_same(n, k) for k in (1, 2, 3))


@_det.defjvp
def _det_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    n = x.shape[-1]
    if _is_written_out(n):
        return _det(x), sum_(_cofactors(x, n) * t, axis=(-2, -1))
    value, along = _times_adjugate(x, t)
    return value, trace(along, axis1=-2, axis2=-1)


def _cofactors(x: Any, n: int) -> Any:
    """Return the transposed adjugates of small matrices."""
    if n == 1:
        return ones_like(x)
    rows = [getitem(x, (..., i, slice(None))) for i in range(n)]
    if n == 2:
        turn = np.asarray([1, -1], x.dtype).reshape((1,) * (x.ndim - 2) + (2,))
        return stack([flip(row, -1) * turn for row in (rows[1], -rows[0])], axis=-2)
    return stack([cross(rows[i - 2], rows[i - 1]) for i in range(n)], axis=-2)


def _by_elimination(x: Any, n: int) -> Any:
    """Return determinants of small matrices, by elimination with pivoting."""
    rows = [getitem(x, (..., i, slice(None))) for i in range(n)]
    out: Any = None
    for k in range(n):
        for i in range(k + 1, n):
            swaps = _column(absolute(rows[i]), k) > _column(absolute(rows[k]), k)
            rows[k], rows[i] = (
                where(swaps, rows[i], rows[k]),
                where(swaps, -rows[k], rows[i]),  # an exchange changes the sign
            )
        pivot = _column(rows[k], k)
        is_zero = pivot == 0
        for i in range(k + 1, n):
            factor = where(is_zero, 0, _column(rows[i], k) / where(is_zero, 1, pivot))
            rows[i] = rows[i] - factor * rows[k]
        out = pivot if out is None else out * pivot
    return getitem(out, (..., 0))


def _column(row: Any, k: int) -> Any:
    return getitem(row, (..., slice(k, k + 1)))


def _signed_diagonal(factor: Any, pivots: Any, _: Any) -> tuple[Any, Any]:
    """Return the sign of the row permutation, and the diagonal of U."""
    aval = get_aval(factor)
    each = broadcasted_iota(np.int32, get_aval(pivots).shape, aval.ndim - 2)
    odd = sum_(not_equal(pivots, each), axis=-1) % 2
    sign = where(odd == 1, aval.dtype.type(-1), aval.dtype.type(1))
    return sign, diagonal(factor, axis1=-2, axis2=-1)


def _times_adjugate(x: Any, t: Any) -> tuple[Any, Any]:
    """Return determinants, and adj(x) t, which is det(x) x⁻¹ t, for singular x too.

    1. With x = P L U and y = L⁻¹ P⁻¹ t, the last row of det(x) U⁻¹ y is y's last row
       times the product of the diagonal of U without its last element, which may be 0.
       So replace that element by the inverse of the product, and multiply the other
       rows by det(x).
    2. Another pivot may be 0 in a matrix of rank n - 1 too. A reflection of its columns
       moves it to the end, and adj(x) is minus that reflection of adj(x H).
    3. If U is still singular, the rank is less than n - 1, and adj(x) is 0.
    """
    aval = get_aval(x)
    n = aval.shape[-1]
    if n == 0:
        return full(aval.shape[:-2], 1, aval.dtype), t
    _, early = _signed_diagonal(*lu(x))
    turned = any_(getitem(early, (..., slice(0, n - 1))) == 0, axis=-1)[..., None, None]
    x = where(turned, swapaxes(_reflected(swapaxes(x, -1, -2)), -1, -2), x)
    factor, pivots, order = lu(x)
    sign, upper = _signed_diagonal(factor, pivots, order)
    products = cumprod(upper, axis=-1) * expand_dims(sign, (aval.ndim - 2,))
    value, but_last = (getitem(products, (..., i)) for i in (n - 1, n - 2))
    factor = where(_is_last(aval), (1 / but_last)[..., None, None], factor)
    ones = full((*aval.shape[:-1], 1), 1, aval.dtype)
    inverse = triangular_solve(factor, ones, left_side=True)
    has_rank = all_(isfinite(inverse), axis=(-2, -1), keepdims=True)
    zeros = zeros_like(t)
    y = triangular_solve(
        factor,
        rows_at(where(has_rank, t, zeros), order),
        left_side=True,
        lower=True,
        unit_diagonal=True,
    )
    first, last = (getitem(y, (..., rows, slice(None))) for rows in _parts(n))
    y = concatenate([first * value[..., None, None], last], axis=-2)
    out = triangular_solve(factor, y, left_side=True)
    out = where(turned, -_reflected(out), out)
    value = where(turned[..., 0, 0], -value, value)
    return value, where(has_rank, out, zeros)


def _reflected(x: Any) -> Any:
    """Reflect each column of matrices at a plane that is parallel to no axis."""
    aval = get_aval(x)
    place = broadcasted_iota(np.int32, aval.shape, aval.ndim - 2)
    normal = cos(convert_element_type(place, aval.dtype)) + 1.5
    along = sum_(normal * x, axis=-2, keepdims=True)
    return x - normal * (2 * along / sum_(normal * normal, axis=-2, keepdims=True))


def _parts(n: int) -> tuple[slice, slice]:
    return slice(0, n - 1), slice(n - 1, n)


def _is_last(aval: ShapedArray) -> Any:
    """Return, for each element of matrices, whether it is the last of the diagonal."""
    n = aval.shape[-1]
    row, column = (broadcasted_iota(np.int32, aval.shape[-2:], i) for i in (0, 1))
    return (row == n - 1) & (column == n - 1)


# ---- slogdet ----


@custom_jvp
def _slogdet(x: Any) -> tuple[Any, Any]:
    sign, upper = _signed_diagonal(*lu(x))
    sign = sign * prod(sign_of(upper), axis=-1)
    size = sum_(log(absolute(upper)), axis=-1)
    return sign, where(sign == 0, -np.inf, size)  # also with an infinite pivot


@_slogdet.defjvp
def _slogdet_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    sign, size = _slogdet(x)
    along = trace(solve(x, t), axis1=-2, axis2=-1)
    if not dtypes.is_complex(get_aval(x).dtype):
        return (sign, size), (zeros_like(sign), along)
    turned = (along - real(along)) * sign
    return (sign, size), (turned, real(along))
