"""Products, quotients, roots and fits of polynomials.

Polynomials are vectors of coefficients, the highest power first. Lengths do not depend
on values while tracing: a quotient has the length that its operands imply, and `roots`
of traced coefficients fills with NaN for leading zeros.
"""

from typing import Any

import numpy

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.core.trace import Tracer
from imprint._src.errors import ArgumentError, ConcretizationError, ShapeError
from imprint._src.numpy.convolving import convolve
from imprint._src.numpy.creation import array, asarray, zeros
from imprint._src.numpy.elementwise.exponential import sqrt
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.linalg.decompositions import eigvals
from imprint._src.numpy.linalg.least_squares import lstsq
from imprint._src.numpy.linalg.operands import eps_of
from imprint._src.numpy.linalg.solving import inv
from imprint._src.numpy.linear import outer
from imprint._src.numpy.matrices import eye, vander
from imprint._src.numpy.promotion import ArrayLike, as_array, promote_dtypes, with_rank
from imprint._src.numpy.reductions.cumulative import cumsum
from imprint._src.numpy.reductions.reductions import all as all_
from imprint._src.numpy.reductions.reductions import sum as sum_
from imprint._src.numpy.shapes.concatenate import concatenate
from imprint._src.numpy.shapes.padding import pad
from imprint._src.numpy.shapes.reshape import atleast_1d
from imprint._src.numpy.sorting.searching import argmin
from imprint._src.primitives.axes import whole
from imprint._src.primitives.elementwise.elementwise import listed
from imprint._src.primitives.indexing.dynamic_slicing import dynamic_slice
from imprint._src.primitives.shape import broadcasted_iota

# ---- products and quotients ----


def polymul(a1: ArrayLike, a2: ArrayLike, *, trim_leading_zeros: bool = False) -> Array:
    """Return the product of two polynomials.

    Args:
        a1: the coefficients of one, the highest power first.
        a2: those of the other.
        trim_leading_zeros: whether to remove leading zeros of both, as NumPy does; not
            in a compiled function, whose shapes cannot depend on values.

    Returns:
        The coefficients, in the promoted floating or complex dtype.

    Raises:
        ShapeError: an operand is no vector.

    References:
        NumPy, `numpy.polymul`.

    Example:
        >>> import imprint.numpy as np
        >>> np.polymul(np.array([1, 2]), np.array([1, 0, 3]))
        Array([1., 2., 3., 6.], dtype=float32)
    """
    x, y = _vectors("polymul", a1, a2)
    if trim_leading_zeros and (len(x) > 1 or len(y) > 1):
        flag = "trim_leading_zeros"
        x, y = (v[_leading_zeros("polymul", v, flag) :] for v in (x, y))
    x, y = (v if len(v) else zeros(1, v.dtype) for v in (x, y))
    return convolve(x, y)


def polydiv(
    u: ArrayLike, v: ArrayLike, *, trim_leading_zeros: bool = False
) -> tuple[Array, Array]:
    """Return the quotient and the remainder of two polynomials.

    Args:
        u: the coefficients of the dividend, the highest power first.
        v: those of the divisor; the first must be nonzero.
        trim_leading_zeros: whether to remove near-zero leading coefficients of the
            remainder; not in a compiled function, whose shapes cannot depend on values.

    Returns:
        The quotient, and a remainder as long as the dividend.

    Raises:
        ShapeError: an operand is no vector, or the divisor is empty.

    References:
        NumPy, `numpy.polydiv`.

    Example:
        >>> import imprint.numpy as np
        >>> np.polydiv(np.array([1.0, 3.0, 5.0]), np.array([1.0, 1.0]))
        (Array([1., 2.], dtype=float32), Array([0., 0., 3.], dtype=float32))
    """
    x, y = _vectors("polydiv", u, v)
    if not len(y):
        raise ShapeError(
            "polydiv: expected a divisor of at least one coefficient, got "
            f"{listed((x.aval, y.aval))}. Write [0] for the polynomial that is 0."
        )
    more = len(x) - len(y)
    scale = 1 / y[0]
    quotient: list[Any] = []
    for k in range(more + 1):
        quotient.append(scale * x[k])
        x = x - pad(quotient[-1] * y, [(k, more - k)])
    if trim_leading_zeros:
        small = eps_of(x.dtype) ** 0.5
        kept = where(abs(x) <= small, 0, x)
        x = x[_leading_zeros("polydiv", kept, "trim_leading_zeros") :]
    if not quotient:
        return zeros(1, x.dtype), x
    return concatenate([atleast_1d(c) for c in quotient]), x


def poly(seq_of_zeros: ArrayLike) -> Array:
    """Return the monic polynomial with given roots.

    Args:
        seq_of_zeros: a vector of roots, or a square matrix, for its eigenvalues.

    Returns:
        The coefficients, the highest power first, one more than roots; complex for a
        matrix, of rank 0 without roots.

    Raises:
        ShapeError: the operand is neither a vector nor a square matrix.

    References:
        NumPy, `numpy.poly`.

    Example:
        >>> import imprint.numpy as np
        >>> np.poly(np.array([1.0, -2.0]))
        Array([ 1.,  1., -2.], dtype=float32)
    """
    x = atleast_1d(_inexact("poly", seq_of_zeros))
    if x.ndim == 2 and len(x) and dims.equal(*x.shape):
        x = eigvals(x)
    if x.ndim != 1:
        raise ShapeError(
            f"poly: expected a vector of roots or a square matrix, got {x.aval}. Map over "
            "several with imprint.vmap."
        )
    if not len(x):
        return array(1, x.dtype)
    product = array([1], x.dtype)
    for k in range(len(x)):
        factor = concatenate([array([1], x.dtype), -x[k : k + 1]])
        product = convolve(product, factor)
    return product


# ---- roots ----


def roots(p: ArrayLike, *, strip_zeros: bool = True) -> Array:
    """Return the roots of a polynomial: the eigenvalues of its companion matrix.

    Args:
        p: the coefficients, the highest power first.
        strip_zeros: whether to remove leading zeros first. For traced coefficients pass
            False: the number of roots follows from the length, with NaN at the end for
            each leading zero.

    Returns:
        The roots, complex, in no order: one fewer than coefficients without leading
        zeros.

    Raises:
        ShapeError: `p` is no vector.
        ConcretizationError: `p` is traced and `strip_zeros` is true.

    References:
        NumPy, `numpy.roots`.

    Example:
        >>> import imprint.numpy as np
        >>> found = np.roots(np.array([1.0, 0.0, 4.0]))
        >>> bool(np.allclose(found, np.array([2j, -2j]), atol=1e-5))
        True
    """
    x = atleast_1d(_inexact("roots", p))
    if x.ndim != 1:
        raise ShapeError(
            f"roots: expected a vector of coefficients, got {x.aval}. Map over several "
            "with imprint.vmap."
        )
    if len(x) < 2:
        return _roots(x)
    if strip_zeros:
        return _roots(x[_leading_zeros("roots", x, "strip_zeros") :])
    count = where(all_(x == 0), len(x), argmin(x == 0))
    x = where(count == len(x), 1, x).astype(x.dtype)
    turned = dynamic_slice(concatenate([x, x]), (count,), x.shape)
    found = _zeros_last(_roots(turned))
    there = broadcasted_iota(numpy.int32, found.shape, 0) < len(found) - count
    return where(there, found, complex("nan+nanj"))


def _roots(x: Any) -> Any:
    n = len(x) - 1
    if n < 1:
        return zeros(0, dtypes.to_complex(x.dtype))
    companion = concatenate([-x[None, 1:] / x[0], eye(n - 1, n, dtype=x.dtype)])
    return eigvals(companion)


def _zeros_last(found: Any) -> Any:
    """Move zeros to the end; keep the order of the others."""
    is_zero = found == 0
    others = sum_(~is_zero)
    place = where(is_zero, others + cumsum(is_zero), cumsum(~is_zero)) - 1
    chosen = place[:, None] == broadcasted_iota(numpy.int32, (1, len(found)), 1)
    return sum_(where(chosen, found[:, None], 0), axis=0)


def _leading_zeros(name: str, x: Any, flag: str) -> int:
    """Return the number of leading zeros; raise if values are traced."""
    if isinstance(x, Tracer):
        raise ConcretizationError(
            f"{name}: expected coefficients that are known, got {x.aval} traced: how "
            f"many zeros lead is the length of the result. Pass {flag}=False."
        )
    values = numpy.asarray(x) != 0
    return int(values.argmax()) if values.any() else values.size


# ---- fits ----


def polyfit(  # noqa: PLR0913, PLR0917 - NumPy's signature
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    w: ArrayLike | None = None,
    cov: bool | str = False,  # noqa: FBT001, FBT002 - NumPy's signature
) -> Any:
    """Return the polynomial that fits points best, by least squares.

    Args:
        x: the points.
        y: their values, or in columns those of several data sets.
        deg: the degree of the polynomial.
        rcond: the tolerance for singular values, as for `linalg.lstsq`.
        full: whether to return residuals, rank, singular values and `rcond` too.
        w: the weights of the residuals.
        cov: whether to return the covariance of the coefficients too; "unscaled"
            assumes residuals of variance 1.

    Returns:
        The coefficients, the highest power first, in columns for several data sets; in
        a tuple with the other results that are asked for.

    Raises:
        ShapeError: the points are no vector, empty, or not as many as values or
            weights.
        ArgumentError: `deg` is negative, or there are too few points for the
            covariance.

    References:
        NumPy, `numpy.polyfit`.

    Example:
        >>> import imprint.numpy as np
        >>> line = np.polyfit(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]), 1)
        >>> bool(np.allclose(line, np.array([2.0, 1.0]), atol=1e-5))
        True
    """
    order = whole("polyfit", "deg", deg) + 1
    at, values = _inexact("polyfit", x), _inexact("polyfit", y)
    _check_points(at, values, order)
    left, right = vander(at, order), values
    if w is not None:
        weights = _inexact("polyfit", w)
        if weights.ndim != 1 or len(weights) != len(at):
            raise ShapeError(
                "polyfit: expected one weight for each point, got "
                f"{listed((weights.aval, at.aval))}. Leave w out for equal weights."
            )
        left = left * weights[:, None]
        right = right * (weights[:, None] if right.ndim == 2 else weights)
    cut = len(at) * eps_of(at.dtype) if rcond is None else float(rcond)
    scale = sqrt(sum_(left * left, axis=0))
    left = left / scale[None]
    found, residuals, rank, s = lstsq(left, right, cut)
    found = found / (scale[:, None] if found.ndim == 2 else scale)
    if full:
        return found, residuals, rank, s, asarray(cut)
    if not cov:
        return found
    base = inv(left.T @ left) / outer(scale, scale)
    factor = _variance(residuals, len(at), order, cov)
    if values.ndim == 1:
        return found, base * with_rank(asarray(factor), 2)
    return found, base[:, :, None] * with_rank(asarray(factor), 3)


def _check_points(x: Any, y: Any, order: int) -> None:
    if order < 1:
        raise ArgumentError(
            f"polyfit: expected deg of at least 0, got {order - 1}. It is the highest "
            "power."
        )
    fits = x.ndim == 1 and y.ndim in (1, 2) and len(x) == len(y) > 0
    if not fits:
        raise ShapeError(
            "polyfit: expected a vector of places that is not empty, and as many values "
            f"along the first of at most two axes, got {listed((x.aval, y.aval))}. "
            "Transpose the values."
        )


def _variance(residuals: Any, points: int, order: int, cov: Any) -> Any:
    if cov == "unscaled":
        return 1.0
    if points <= order:
        raise ArgumentError(
            f"polyfit: expected more than {order} points for the covariance, got "
            f"{points}. Pass cov='unscaled'."
        )
    return residuals / (points - order)


# ---- operands ----


def _inexact(name: str, x: ArrayLike) -> Any:
    (promoted,) = promote_dtypes(name, (x,), dtypes.to_inexact)
    return as_array(name, promoted)


def _vectors(name: str, x: ArrayLike, y: ArrayLike) -> tuple[Any, Any]:
    promoted = promote_dtypes(name, (x, y), dtypes.to_inexact)
    first, second = (as_array(name, v) for v in promoted)
    if get_aval(first).ndim != 1 or get_aval(second).ndim != 1:
        raise ShapeError(
            f"{name}: expected vectors of coefficients, got "
            f"{listed((first.aval, second.aval))}. Map over several with imprint.vmap."
        )
    return first, second
