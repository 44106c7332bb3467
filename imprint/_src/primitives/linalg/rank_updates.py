"""Updates of a symmetric matrix, or of one in the form of its factor.

symmetric_product is `alpha A Aᵀ + beta C`. cholesky_update takes the upper triangular R of
RᵀR and returns that of `RᵀR + w wᵀ`: rotation k acts on row k and the rest of `w` so that
element k of `w` becomes zero. Its derivative is that of the factor of such a sum.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import is_zero, zero_of
from imprint._src.errors import ShapeError
from imprint._src.primitives.core_ops import (
    NOT_LINEAR,
    add,
    add_tangents,
    mul,
    scalar_like,
)
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.elementwise import listed
from imprint._src.primitives.families import DTypeClass
from imprint._src.primitives.linalg.triangular import triangular_solve
from imprint._src.primitives.matrices import (
    batch_stack,
    check_alike,
    check_square,
    identity,
    in_block,
    invertible,
    last_axes,
    product,
    stack_of,
    swapped,
    tame,
    tril,
    triu,
    without_padding,
)
from imprint._src.primitives.shape import expand_dims
from imprint._src.stablehlo import Builder, Value, indexed, reductions

NDArray = np.ndarray[Any, Any]

_REALS: Final = ("float32", "float64")
_REAL: Final = DTypeClass(lambda d: d.name in _REALS, "float32 or float64")

# ---- symmetric_product ----


def _product_aval(a: ShapedArray, c: ShapedArray, **_: float) -> Avals:
    _REAL.check("symmetric_product", (a, c))
    check_alike("symmetric_product", (a, c))
    stack_of("symmetric_product", (2, 2), (a, c))
    check_square("symmetric_product", c)
    if not dims.equal(a.shape[-2], c.shape[-1]):
        raise ShapeError(
            "symmetric_product: expected matrices of m rows and square ones of m, got "
            f"{listed((a, c))}. Transpose the first, or cut the second."
        )
    return (c.with_dtype(c.dtype, weak_type=a.weak_type and c.weak_type),)


def _product_reference(a: NDArray, c: NDArray, *, alpha: float, beta: float) -> Values:
    scales = a.dtype.type(alpha), a.dtype.type(beta)
    return (scales[0] * (a @ np.swapaxes(a, -1, -2)) + scales[1] * c,)


def _product_lower(
    b: Builder, a: Value, c: Value, *, alpha: float, beta: float
) -> tuple[Value, ...]:
    stack = tuple(range(a.ndim - 2))
    last = (a.ndim - 1,)
    numerics = "precision = [HIGHEST, HIGHEST]"
    squares = reductions.dot_general(
        b, a, a, ((last, last), (stack, stack)), a.dtype, numerics
    )
    scales = [b.full(c.shape, scale, c.dtype) for scale in (alpha, beta)]
    return (b.add(b.multiply(scales[0], squares), b.multiply(scales[1], c)),)


def _product_jvp(
    primals: Values, tangents: Values, *, alpha: float, beta: float
) -> Any:
    (a, c), (ta, tc) = primals, tangents
    out = symmetric_product_p.bind1(a, c, alpha=alpha, beta=beta)
    total: Any = zero_of(get_aval(out))
    if not is_zero(ta):
        half = product(ta, swapped(a))
        total = mul(add(half, swapped(half)), scalar_like(half, alpha))
    if not is_zero(tc):
        total = add_tangents(total, mul(tc, scalar_like(tc, beta)))
    return (out,), (total,)


def _product_batch(args: Values, at: Dims, **params: float) -> Any:
    return batch_stack(symmetric_product_p, args, at, **params)


def _product_pad(
    bucket: PadContext, a: PaddedValue, c: PaddedValue, **params: float
) -> Values:
    return bucket.bind_all(bucket.filled(a, 0, last_axes(a, 1)), c, **params)


def _product_fit(a: NDArray, c: NDArray, **_: float) -> Values:
    return tame(a), tame(c)


def _scaled(alpha: float, beta: float) -> dict[str, float]:
    return {"alpha": alpha, "beta": beta}


symmetric_product_p: Final = Primitive(
    name="symmetric_product",
    aval=_product_aval,
    reference=_product_reference,
    lower=_product_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_product_jvp,
    transpose=NOT_LINEAR,
    batch=_product_batch,
    pad=_product_pad,
    samples=Samples(
        _REALS,
        cases=(
            Case(((3, 2), (3, 3)), _scaled(2.0, 0.5)),
            Case(((2, 2, 3), (2, 2, 2)), _scaled(1.0, 0.0)),
            Case(((0, 2), (0, 0)), _scaled(1.0, 1.0)),
            Case(((2, 0), (2, 2)), _scaled(1.0, 1.0)),
        ),
        ulps=32,
        fit=_product_fit,
    ),
)


def symmetric_product(
    a_matrix: Any,
    c_matrix: Any,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Any:
    """Return `alpha A Aᵀ + beta C`.

    Args:
        a_matrix: matrices A along the last two axes.
        c_matrix: symmetric matrices C of as many rows.
        alpha: a number.
        beta: a number.
        symmetrize_output: whether the upper triangle repeats the lower one.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> a = np.array([[1.0, 2.0], [0.0, 1.0]])
        >>> lax.linalg.symmetric_product(a, np.eye(2), beta=1.0)
        Array([[6., 2.],
               [2., 2.]], dtype=float32)
    """
    params = _scaled(float(alpha), float(beta))
    out = symmetric_product_p.bind1(a_matrix, c_matrix, **params)
    return add(tril(out), swapped(tril(out, -1))) if symmetrize_output else out


# ---- cholesky_update ----


def _update_aval(r: ShapedArray, w: ShapedArray) -> Avals:
    _REAL.check("cholesky_update", (r, w))
    check_alike("cholesky_update", (r, w))
    stack_of("cholesky_update", (2, 1), (r, w))
    check_square("cholesky_update", r)
    if not dims.equal(r.shape[-1], w.shape[-1]):
        raise ShapeError(
            "cholesky_update: expected a vector as long as the axes of the factor, got "
            f"{listed((r, w))}. To add several, update by each in turn."
        )
    return (r.with_dtype(r.dtype, weak_type=r.weak_type and w.weak_type),)


def _update_reference(r: NDArray, w: NDArray) -> Values:
    out, rest = r.copy(), w
    for k in range(r.shape[-1]):
        row = out[..., k, :]
        x, y = row[..., k, None], rest[..., k, None]
        size = np.where(np.abs(x) > np.abs(y), np.abs(x), np.abs(y))
        x, y = x / size, y / size
        scale = 1 / np.sqrt(x * x + y * y)
        cosine = np.where(rest[..., k, None] == 0, r.dtype.type(1), x * scale)
        sine = np.where(rest[..., k, None] == 0, r.dtype.type(0), -y * scale)
        out[..., k, :], rest = cosine * row - sine * rest, cosine * rest + sine * row
    return (out,)


def _update_lower(b: Builder, r: Value, w: Value) -> tuple[Value, ...]:
    n = r.shape[-1]
    if dims.has_zero(r.shape):
        return (r,)
    index = np.dtype(np.int32)

    def goes_on(inner: Builder, carry: Sequence[Value]) -> Sequence[Value]:
        return [inner.compare(carry[0], inner.constant(n, index), "LT")]

    def turn(inner: Builder, carry: Sequence[Value]) -> Sequence[Value]:
        k, factor, rest = carry
        zeros = [inner.constant(0, index)] * (r.ndim - 2)
        place = [*zeros, k, inner.constant(0, index)]
        row = indexed.dynamic_slice(inner, factor, place, (*r.shape[:-2], 1, n))
        row = inner.reshape(row, w.shape)
        row, rest = _rotated(inner, row, rest, [*zeros, k])
        row = inner.reshape(row, (*r.shape[:-2], 1, n))
        factor = indexed.dynamic_update_slice(inner, factor, row, place)
        return inner.add(k, inner.constant(1, index)), factor, rest

    return (b.while_loop((b.constant(0, index), r, w), goes_on, turn)[1],)


def _rotated(
    b: Builder, row: Value, rest: Value, place: Sequence[Value]
) -> tuple[Value, Value]:
    """Rotate a row and the rest of a vector so that one element of the rest is zero."""
    one = (*row.shape[:-1], 1)
    x, y = (indexed.dynamic_slice(b, v, place, one) for v in (row, rest))
    is_zero_already = b.compare(y, b.full(one, 0, y.dtype), "EQ")
    sizes = b.abs(x), b.abs(y)
    size = b.select(b.compare(*sizes, "GT"), *sizes)
    x, y = b.divide(x, size), b.divide(y, size)
    length = b.sqrt(b.add(b.multiply(x, x), b.multiply(y, y)))
    scale = b.divide(b.full(one, 1, y.dtype), length)
    cosine, sine = b.multiply(x, scale), b.multiply(b.negate(y), scale)
    axes = range(row.ndim)
    cosine, sine = (
        b.broadcast_in_dim(
            b.select(is_zero_already, b.full(one, kept, y.dtype), v), row.shape, axes
        )
        for v, kept in ((cosine, 1), (sine, 0))
    )
    return (
        b.subtract(b.multiply(cosine, row), b.multiply(sine, rest)),
        b.add(b.multiply(cosine, rest), b.multiply(sine, row)),
    )


def _update_jvp(primals: Values, tangents: Values) -> Any:
    """With S = RᵀR: dR = u(R⁻ᵀ dS R⁻¹) R, where u halves the diagonal and has no lower."""
    (r, w), (tr, tw) = primals, tangents
    out = cholesky_update_p.bind1(r, w)
    total: Any = zero_of(get_aval(out))
    if not is_zero(tr):
        total = product(swapped(triu(tr)), triu(r))
    if not is_zero(tw):
        last = get_aval(w).ndim
        column, row = expand_dims(tw, (last,)), expand_dims(w, (last - 1,))
        total = add_tangents(total, product(column, row))
    if is_zero(total):
        return (out,), (total,)
    factor = triu(out)
    right = triangular_solve(factor, add(total, swapped(total)))
    both = triangular_solve(factor, right, left_side=True, transpose_a=True)
    aval = get_aval(r)
    weights = add(identity(aval.shape, aval.dtype), scalar_like(both, 1))
    return (out,), (product(div(triu(both), weights), factor),)


def _update_batch(args: Values, at: Dims) -> Any:
    return batch_stack(cholesky_update_p, args, at)


def _update_pad(bucket: PadContext, r: PaddedValue, w: PaddedValue) -> Values:
    (w,) = without_padding(bucket, (w, 1))
    return bucket.bind_all(in_block(bucket, r, r.aval.dtype.type(1)), w)


def _update_fit(r: NDArray, w: NDArray) -> Values:
    return np.triu(invertible(r)), tame(w)


cholesky_update_p: Final = Primitive(
    name="cholesky_update",
    aval=_update_aval,
    reference=_update_reference,
    lower=_update_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_update_jvp,
    transpose=NOT_LINEAR,
    batch=_update_batch,
    pad=_update_pad,
    samples=Samples(
        _REALS,
        cases=tuple(Case(((n, n), (n,))) for n in (3, 1, 0)),
        # It has no derivative below the diagonal, where the factor has nothing.
        conventional=True,
        ulps=64,
        fit=_update_fit,
    ),
)


def cholesky_update(r_matrix: Any, w_vector: Any) -> Any:
    """Return the upper triangular factor of `RᵀR + w wᵀ`.

    Args:
        r_matrix: the upper triangular R.
        w_vector: the vector w.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.linalg.cholesky_update(3 * np.eye(2), np.array([4.0, 0.0]))
        Array([[5., 0.],
               [0., 3.]], dtype=float32)
    """
    return cholesky_update_p.bind1(r_matrix, w_vector)
