"""qr, and the products of Householder reflectors that it consists of.

geqrf leaves R in the upper triangle and one reflector below each diagonal element, scaled by
`taus`; householder_product multiplies the reflectors out to Q, and ormqr multiplies Q with a
matrix without that. qr is both; with `pivoting` it takes the column of the largest rest
next. Only qr has derivatives: reflectors are LAPACK's way of storing Q.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import DType, ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PadContext, PaddedValue, PerSize
from imprint._src.core.primitive import (
    Absent,
    Avals,
    Case,
    Dims,
    Primitive,
    Samples,
    Values,
)
from imprint._src.core.tangents import zero_of
from imprint._src.errors import ShapeError
from imprint._src.primitives.core_ops import NOT_LINEAR, add, broadcast_in_dim, mul, sub
from imprint._src.primitives.elementwise.comparison import eq
from imprint._src.primitives.elementwise.complex import complex_, imag, real
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.linalg.lapack_calls import of_stack, routine, workspace
from imprint._src.primitives.linalg.triangular import triangular_solve
from imprint._src.primitives.matrices import (
    DTYPES,
    LAPACK,
    adjoint,
    batch_stack,
    check_alike,
    constants,
    each,
    identity,
    invertible,
    last_axes,
    padding_with_zeros,
    product,
    stack_of,
    tame,
    tril,
    without_padding,
    zeros_like,
)
from imprint._src.primitives.shape import broadcasted_iota
from imprint._src.stablehlo import Builder, Value, tensor
from imprint._src.stablehlo.custom_calls import lapack_call

NDArray = np.ndarray[Any, Any]

_INT32: Final = np.dtype(np.int32)
_NO_DERIVATIVE: Final = (
    "{}: expected no derivative: reflectors are LAPACK's way of storing an orthogonal "
    "matrix. Differentiate lax.linalg.qr."
)
_SHAPES: Final = ((4, 3), (3, 4), (3, 3), (2, 3, 2), (1, 1), (0, 3, 2))
_EMPTY: Final = ((3, 0), (0, 3), (0, 0), (2, 2, 0))


# ---- geqrf ----


def _geqrf_aval(x: ShapedArray) -> Avals:
    LAPACK.check("geqrf", (x,))
    stack = stack_of("geqrf", (2,), (x,))
    return x, x.with_shape((*stack, dims.minimum(*x.shape[-2:])))


def _geqrf_of_one(x: NDArray) -> Values:
    (best,) = workspace("geqrf", x.dtype, *x.shape)
    out, taus, _, _ = routine("geqrf", x.dtype)(x, lwork=best)
    return out, taus


_geqrf_reference = of_stack(_geqrf_aval, _geqrf_of_one)


def _geqrf_lower(b: Builder, x: Value) -> tuple[Value, ...]:
    if dims.has_zero(x.shape):
        return constants(b, _geqrf_reference(np.empty(x.shape, x.dtype)))
    taus = tensor((*x.shape[:-2], min(x.shape[-2:])), x.dtype)
    return lapack_call(
        b, "geqrf", (x,), (x.type, taus), stack=x.ndim - 2, aliases={0: 0}
    )


def _geqrf_batch(args: Values, at: Dims) -> Any:
    return batch_stack(geqrf_p, args, at)


geqrf_p: Final = Primitive(
    name="geqrf",
    multiple_results=True,
    aval=_geqrf_aval,
    reference=_geqrf_reference,
    lower=_geqrf_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=Absent(_NO_DERIVATIVE.format("geqrf")),
    transpose=NOT_LINEAR,
    batch=_geqrf_batch,
    pad=padding_with_zeros(2),
    samples=Samples(
        DTYPES,
        cases=tuple(Case((shape,)) for shape in (*_SHAPES, *_EMPTY)),
        differentiable=False,
        ulps=64,
        fit=each(invertible),
    ),
)


def geqrf(a: Any) -> tuple[Any, Any]:
    """Return R above reflectors, and the reflectors' scales."""
    out, taus = geqrf_p.bind_all(a)
    return out, taus


# ---- householder_product ----


def _householder_aval(a: ShapedArray, taus: ShapedArray) -> Avals:
    name = "householder_product"
    check_alike(name, (a, taus))
    stack_of(name, (2, 1), (a, taus))
    rows, columns = a.shape[-2:]
    if not dims.at_least(rows, columns):
        raise ShapeError(
            f"{name}: expected at least as many rows as columns, got {a}. Only the "
            "first columns hold reflectors: cut the others off."
        )
    if not dims.at_least(columns, taus.shape[-1]):
        raise ShapeError(
            f"{name}: expected at most one scale for each column of {a}, got {taus}. "
            "Cut the scales, or pad the matrix."
        )
    return (a.with_dtype(a.dtype, weak_type=a.weak_type and taus.weak_type),)


def _householder_of_one(a: NDArray, taus: NDArray) -> Values:
    if not a.size:
        return (a,)
    if not taus.size:
        return (np.eye(*a.shape, dtype=a.dtype),)
    multiply = routine("orgqr", a.dtype)
    _, work, _ = multiply(a, taus, lwork=-1)
    out, _, _ = multiply(a, taus, lwork=int(work[0].real))
    return (out,)


_householder_reference = of_stack(_householder_aval, _householder_of_one, (2, 1))


def _householder_lower(b: Builder, a: Value, taus: Value) -> tuple[Value, ...]:
    if dims.has_zero(a.shape):
        return (a,)
    return lapack_call(
        b, "orgqr", (a, taus), (a.type,), stack=a.ndim - 2, aliases={0: 0}
    )


def _householder_batch(args: Values, at: Dims) -> Any:
    return batch_stack(householder_product_p, args, at)


householder_product_p: Final = Primitive(
    name="householder_product",
    aval=_householder_aval,
    reference=_householder_reference,
    lower=_householder_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=Absent(_NO_DERIVATIVE.format("householder_product")),
    transpose=NOT_LINEAR,
    batch=_householder_batch,
    pad=padding_with_zeros(2, 1),
    samples=Samples(
        DTYPES,
        cases=tuple(
            Case(shapes)
            for shapes in (
                ((4, 3), (3,)),
                ((3, 3), (2,)),
                ((2, 3, 2), (2, 2)),
                ((3, 0), (0,)),
                ((3, 2), (0,)),
                ((0, 3, 2), (0, 2)),
            )
        ),
        differentiable=False,
        ulps=64,
        fit=each(tame),
    ),
)


def householder_product(a: Any, taus: Any) -> Any:
    """Return the first columns of a product of Householder reflectors.

    Args:
        a: a reflector below each element of the diagonal, whose own element is 1.
        taus: how the reflectors are scaled; at most as many as columns.

    Returns:
        As many columns of the product as `a` has.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.linalg.householder_product(np.array([[9.0], [1.0]]), np.array([1.0]))
        Array([[ 0.],
               [-1.]], dtype=float32)
    """
    return householder_product_p.bind1(a, taus)


# ---- ormqr ----


def _ormqr_aval(
    a: ShapedArray, taus: ShapedArray, c: ShapedArray, *, left: bool, transpose: bool
) -> Avals:
    check_alike("ormqr", (a, taus, c))
    stack_of("ormqr", (2, 1, 2), (a, taus, c))
    axis = -2 if left else -1
    if not dims.equal(a.shape[-2], c.shape[axis]):
        raise ShapeError(
            f"ormqr: expected a matrix whose axis {axis} is as long as the reflectors of "
            f"{a}, got {c}. Pass left={not left}, or transpose it."
        )
    if not all(dims.at_least(n, taus.shape[-1]) for n in a.shape[-2:]):
        raise ShapeError(
            f"ormqr: expected at most one scale for each reflector of {a}, got {taus}. "
            "Cut the scales."
        )
    weak = a.weak_type and taus.weak_type and c.weak_type
    return (c.with_dtype(c.dtype, weak_type=weak),)


def _ormqr_of_one(
    a: NDArray, taus: NDArray, c: NDArray, *, left: bool, transpose: bool
) -> Values:
    if not taus.size or not c.size:
        return (c,)
    multiply = routine("ormqr", a.dtype)
    turned = "C" if a.dtype.kind == "c" else "T"
    head = "L" if left else "R", turned if transpose else "N"
    reflectors = a[:, : taus.size]
    _, work, _ = multiply(*head, reflectors, taus, c, -1)
    out, _, _ = multiply(*head, reflectors, taus, c, int(work[0].real))
    return (out,)


_ormqr_reference = of_stack(_ormqr_aval, _ormqr_of_one, (2, 1, 2))


def _ormqr_lower(
    b: Builder, a: Value, taus: Value, c: Value, *, left: bool, transpose: bool
) -> tuple[Value, ...]:
    if dims.has_zero(c.shape) or dims.has_zero(taus.shape):
        return (c,)
    return lapack_call(
        b,
        "ormqr",
        (a, taus, c),
        (c.type,),
        stack=a.ndim - 2,
        config={"left": left, "transpose": transpose},
        aliases={2: 0},
    )


def _ormqr_batch(args: Values, at: Dims, **params: bool) -> Any:
    return batch_stack(ormqr_p, args, at, **params)


def _ormqr_case(a: Any, taus: Any, c: Any, *, left: bool, transpose: bool) -> Case:
    return Case((a, taus, c), {"left": left, "transpose": transpose})


ormqr_p: Final = Primitive(
    name="ormqr",
    aval=_ormqr_aval,
    reference=_ormqr_reference,
    lower=_ormqr_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=Absent(_NO_DERIVATIVE.format("ormqr")),
    transpose=NOT_LINEAR,
    batch=_ormqr_batch,
    pad=padding_with_zeros(2, 1, 2),
    samples=Samples(
        DTYPES,
        cases=(
            _ormqr_case((3, 2), (2,), (3, 4), left=True, transpose=False),
            _ormqr_case((3, 3), (2,), (3, 1), left=True, transpose=True),
            _ormqr_case((3, 4), (3,), (2, 3), left=False, transpose=False),
            _ormqr_case((2, 2, 1), (2, 1), (2, 3, 2), left=False, transpose=True),
        ),
        differentiable=False,
        ulps=64,
        fit=each(tame),
    ),
)


def ormqr(
    a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False
) -> Any:
    """Multiply a matrix with the Q of a QR decomposition that is kept as reflectors.

    Args:
        a: a reflector below each element of the diagonal, as
            `imprint.numpy.linalg.qr(x, mode="raw")[0].mT`.
        taus: how the reflectors are scaled.
        c: the matrix.
        left: whether to return `Q @ c`, else `c @ Q`.
        transpose: whether to take the transposed Q, conjugated.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> a, taus = np.array([[9.0], [1.0]]), np.array([1.0])
        >>> lax.linalg.ormqr(a, taus, np.array([[1.0], [2.0]]))
        Array([[-2.],
               [-1.]], dtype=float32)
    """
    return ormqr_p.bind1(a, taus, c, left=bool(left), transpose=bool(transpose))


# ---- qr ----


def _qr_aval(x: ShapedArray, *, pivoting: bool, full_matrices: bool) -> Avals:
    LAPACK.check("qr", (x,))
    stack = stack_of("qr", (2,), (x,))
    m, n = x.shape[-2:]
    k = m if full_matrices else dims.minimum(m, n)
    q, r = x.with_shape((*stack, m, k)), x.with_shape((*stack, k, n))
    if not pivoting:
        return q, r
    return q, r, ShapedArray((*stack, n), _INT32, x.weak_type)


def _qr_of_one(x: NDArray, *, pivoting: bool, full_matrices: bool) -> Values:
    m, n = x.shape
    k = m if full_matrices else min(m, n)
    if not x.size:
        outs = np.eye(m, k, dtype=x.dtype), np.zeros((k, n), x.dtype)
        return (*outs, np.zeros(n, _INT32)) if pivoting else outs
    pivots: Values = ()
    if pivoting:
        factor = routine("geqp3", x.dtype)
        work = factor(x, lwork=-1)[3]
        r, order, taus, _, _ = factor(x, lwork=int(work[0].real))
        pivots = (order - 1,)
    else:
        r, taus = _geqrf_of_one(x)
    reflectors = r[:, :m]
    if full_matrices and m > n:
        reflectors = np.zeros((m, m), x.dtype)
        reflectors[:, :n] = r
    (q,) = _householder_of_one(reflectors, taus)
    return q, np.triu(r[:k]), *pivots


_qr_reference = of_stack(_qr_aval, _qr_of_one)


def _qr_lower(
    b: Builder, x: Value, *, pivoting: bool, full_matrices: bool
) -> tuple[Value, ...]:
    params = {"pivoting": pivoting, "full_matrices": full_matrices}
    if dims.has_zero(x.shape):
        return constants(b, _qr_reference(np.empty(x.shape, x.dtype), **params))
    *stack, m, n = x.shape
    pivots: list[Value] = []
    if pivoting:
        r, taus, *pivots = _pivoted(b, x)
    else:
        r, taus = _geqrf_lower(b, x)
    reflectors = r
    if m < n:
        reflectors = _cut(b, r, (*stack, m, m))
    elif full_matrices and m > n:
        none, wider = [0] * x.ndim, [*[0] * (x.ndim - 1), m - n]
        reflectors = b.pad(r, b.constant(0, x.dtype), none, wider, none)
    (q,) = _householder_lower(b, reflectors, taus)
    k = m if full_matrices else min(m, n)
    return q, _upper(b, _cut(b, r, (*stack, k, n))), *pivots


def _pivoted(b: Builder, x: Value) -> tuple[Value, ...]:
    """Write R above reflectors, their scales, and the order of columns."""
    *stack, m, n = x.shape
    free = b.full((*stack, n), 0, _INT32)
    taus = tensor((*stack, min(m, n)), x.dtype)
    r, order, scales = lapack_call(
        b,
        "geqp3",
        (x, free),
        (x.type, free.type, taus),
        stack=len(stack),
        aliases={0: 0, 1: 1},
    )
    return r, scales, b.subtract(order, b.full(order.shape, 1, _INT32))


def _cut(b: Builder, x: Value, shape: tuple[int, ...]) -> Value:
    if shape == x.shape:
        return x
    return b.slice(x, [0] * x.ndim, shape, [1] * x.ndim)


def _upper(b: Builder, x: Value) -> Value:
    rows, columns = (b.iota(x.shape, _INT32, x.ndim - 2 + i) for i in (0, 1))
    zeros = b.full(x.shape, 0, x.dtype)
    return b.select(b.compare(rows, columns, "GT"), zeros, x)


def _qr_jvp(primals: Values, tangents: Values, **params: bool) -> Any:
    (x,), (t,) = primals, tangents
    q, r, *pivots = outs = qr_p.bind_all(x, **params)
    if pivots:
        order = _permutation(pivots[0], get_aval(x).dtype)
        x, t = product(x, order), product(t, order)
    m, n = get_aval(x).shape[-2:]
    is_tall = dims.is_surely_at_least(m, n)
    moved = _tall_tangents(q, r, t) if is_tall else _wide_tangents(q, r, x, t)
    return outs, (*moved, *(zero_of(get_aval(p)) for p in pivots))


def _permutation(pivots: Any, dtype: DType) -> Any:
    """Return matrices that, on the right of others, put their columns into an order."""
    *stack, n = get_aval(pivots).shape
    shape = (*stack, n, n)
    given = broadcast_in_dim(pivots, shape, (*range(len(stack)), len(stack) + 1))
    rows = broadcasted_iota(_INT32, shape, len(stack))
    return convert_element_type(eq(rows, given), dtype)


def _thin_tangents(q: Any, r: Any, t: Any) -> tuple[Any, Any]:
    """Return those of Q and of a square R: j-towns.github.io/papers/qr-derivative.pdf."""
    scaled = triangular_solve(r, t)
    inner = product(adjoint(q), scaled)
    below = tril(inner, -1)
    turned = sub(below, adjoint(below))  # Qᴴ dQ is skew-Hermitian
    aval = get_aval(turned)
    if dt.is_complex(aval.dtype):
        phases = complex_(zeros_like(real(inner)), imag(inner))
        turned = add(turned, mul(identity(aval.shape, aval.dtype), phases))
    rest = sub(inner, turned)
    return sub(scaled, product(q, rest)), product(rest, r)


def _wide_tangents(q: Any, r: Any, x: Any, t: Any) -> tuple[Any, Any]:
    """Return those of Q, which is that of the first columns, and of R = Qᴴ x."""
    m = get_aval(x).shape[-2]
    (square, _), (_, x_rest), (t_first, t_rest) = (_split(v, m) for v in (r, x, t))
    t_q, t_square = _thin_tangents(q, square, t_first)
    beyond = add(product(adjoint(t_q), x_rest), product(adjoint(q), t_rest))
    return t_q, concatenate([t_square, beyond], get_aval(r).ndim - 1)


def _tall_tangents(q: Any, r: Any, t: Any) -> tuple[Any, Any]:
    """Return those of Q and R; columns of Q beyond those of x: arXiv 2409.13374."""
    n = get_aval(t).shape[-1]
    if dims.is_same(get_aval(q).shape[-1], n):
        return _thin_tangents(q, r, t)
    thin, more = _split(q, n)
    square, zeros = _split(r, n, -2)
    t_thin, t_square = _thin_tangents(thin, square, t)
    (above, below), (t_above, t_below) = (_split(v, n, -2) for v in (thin, t_thin))
    aval = get_aval(above)
    less = sub(above, identity(aval.shape, aval.dtype))
    z = adjoint(solved(adjoint(less), adjoint(below)))
    rest = adjoint(sub(t_below, product(z, t_above)))
    t_more = sub(
        product(t_thin, adjoint(z)), product(add(thin, product(more, z)), rest)
    )
    ndim = get_aval(q).ndim
    return (
        concatenate([t_thin, t_more], ndim - 1),
        concatenate([t_square, zeros], ndim - 2),
    )


def _split(x: Any, at: int, axis: int = -1) -> tuple[Any, Any]:
    """Cut columns, or rows, in two."""
    return slice_in_dim(x, 0, at, 1, axis), slice_in_dim(x, at, None, 1, axis)


def _qr_batch(args: Values, at: Dims, **params: bool) -> Any:
    return batch_stack(qr_p, args, at, **params)


def _qr_case(shape: Any, *, pivoting: bool, full_matrices: bool) -> Case:
    return Case((shape,), {"pivoting": pivoting, "full_matrices": full_matrices})


_EXCHANGED: Final = PerSize("which columns it exchanges depends on how long they are")


def _qr_pad(bucket: PadContext, x: PaddedValue, **params: bool) -> Values:
    if params["pivoting"] and x.padded_axes(last_axes(x)):
        _EXCHANGED()
    return bucket.bind_all(*without_padding(bucket, (x, 2)), **params)


qr_p: Final = Primitive(
    name="qr",
    multiple_results=True,
    aval=_qr_aval,
    reference=_qr_reference,
    lower=_qr_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_qr_jvp,
    transpose=NOT_LINEAR,
    batch=_qr_batch,
    pad=_qr_pad,
    samples=Samples(
        ("float32", "float64", "complex64"),  # the phases of Q are a convention
        cases=(
            _qr_case((4, 3), pivoting=False, full_matrices=False),
            _qr_case((4, 2), pivoting=False, full_matrices=True),
            _qr_case((3, 3), pivoting=True, full_matrices=True),
            _qr_case((2, 4), pivoting=False, full_matrices=False),
            _qr_case((4, 2), pivoting=True, full_matrices=False),
            _qr_case((2, 3), pivoting=True, full_matrices=True),
            _qr_case((2, 3, 2), pivoting=False, full_matrices=True),
            *(_qr_case(s, pivoting=True, full_matrices=True) for s in _EMPTY),
            _qr_case((0, 3, 2), pivoting=False, full_matrices=False),
        ),
        ulps=64,
        fit=each(invertible),
    ),
)


def qr(
    x: Any,
    *,
    pivoting: bool = False,
    full_matrices: bool = True,
    use_magma: bool | None = None,
) -> tuple[Any, ...]:
    """Factor matrices into an orthogonal (unitary) Q and an upper triangular R.

    Args:
        x: matrices along the last two axes.
        pivoting: whether to reorder columns, so that the diagonal of R does not grow:
            `x[..., p] = Q R`.
        full_matrices: whether Q is square; else it has as many columns as R has rows
            that are not zero.
        use_magma: means nothing here: it is for GPUs.

    Returns:
        Q and R; with `pivoting` the order p of the columns, too.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> q, r = lax.linalg.qr(np.array([[3.0, 1.0], [4.0, 2.0]]))
        >>> bool(np.allclose(q @ r, np.array([[3.0, 1.0], [4.0, 2.0]])))
        True
    """
    return qr_p.bind_all(x, pivoting=bool(pivoting), full_matrices=bool(full_matrices))


def solved(a: Any, b: Any) -> Any:
    """Return the `x` of `a x = b`, of square matrices of full rank."""
    q, r = qr_p.bind_all(a, pivoting=False, full_matrices=True)
    return triangular_solve(r, product(adjoint(q), b), left_side=True)
