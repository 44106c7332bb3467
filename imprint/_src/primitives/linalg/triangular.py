"""triangular_solve: solve with matrices of which one triangle is read.

`op(a) x = b` with `left_side`, else `x op(a) = b`, where `op` transposes, conjugates or
both. A zero on the diagonal divides: the result is infinite or NaN, as LAPACK's. NumPy
solves with upper triangles only by substitution, without a change; so `reference` brings
each kind to that one.
"""

from contextlib import suppress
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import UndefinedPrimal, is_zero, zero_of
from imprint._src.errors import ShapeError
from imprint._src.primitives.core_ops import NOT_LINEAR, add_tangents, moveaxis, neg
from imprint._src.primitives.elementwise.complex import conj
from imprint._src.primitives.matrices import (
    DTYPES,
    batch_stack,
    check_alike,
    check_square,
    in_block,
    invertible,
    product,
    stack_of,
    swapped,
    tame,
    tril,
    triu,
    without_padding,
)
from imprint._src.primitives.native_calls import as_small_matrices
from imprint._src.primitives.shape import expand_dims, reshape, squeeze
from imprint._src.stablehlo import Builder, Value
from imprint._src.stablehlo.custom_calls import lapack_call, native_call

NDArray = np.ndarray[Any, Any]


class _Kind(NamedTuple):
    """Which triangle, which operation on it, on which side of the unknown."""

    left_side: bool
    lower: bool
    transpose_a: bool
    conjugate_a: bool
    unit_diagonal: bool


def _aval(a: ShapedArray, b: ShapedArray, *, left_side: bool, **_: bool) -> Avals:
    check_alike("triangular_solve", (a, b))
    stack_of("triangular_solve", (2, 2), (a, b))
    check_square("triangular_solve", a)
    axis = -2 if left_side else -1
    if not dims.equal(a.shape[-1], b.shape[axis]):
        raise ShapeError(
            f"triangular_solve: expected a right-hand side whose axis {axis} is as long "
            f"as those of the matrix {a}, got {b}. Pass left_side={not left_side}, or "
            "transpose it."
        )
    weak_type = a.weak_type and b.weak_type
    return (b.with_dtype(b.dtype, weak_type=weak_type),)


def _reference(a: NDArray, b: NDArray, **params: bool) -> Values:
    """Solve by back substitution.

    1. Bring the matrices to the left side, and apply the params to them.
    2. Rotate a lower triangle by 180 degrees: it is an upper one of the reversed unknown.
    """
    kind = _Kind(**params)
    if kind.conjugate_a:
        a = np.conj(a)
    across = kind.transpose_a == kind.left_side
    triangle = np.tril(a) if kind.lower else np.triu(a)
    if kind.unit_diagonal:
        np.einsum("...ii->...i", triangle)[...] = 1
    if not kind.left_side:
        b = np.swapaxes(b, -1, -2)
    if across:
        triangle = np.swapaxes(triangle, -1, -2)
    if kind.lower != across:
        out = _upper(triangle[..., ::-1, ::-1], b[..., ::-1, :])[..., ::-1, :]
    else:
        out = _upper(triangle, b)
    return (out if kind.left_side else np.swapaxes(out, -1, -2),)


def _upper(a: NDArray, b: NDArray) -> NDArray:
    if np.isfinite(a).all():  # else NumPy's elimination spreads NaN below
        with suppress(np.linalg.LinAlgError):
            return np.linalg.solve(a, b)
    return _substituted(a, b)


def _substituted(a: NDArray, b: NDArray) -> NDArray:
    """Solve row by row from the last one, whatever the numbers are."""
    out = b.copy()
    for i in reversed(range(a.shape[-1])):
        out[..., i, :] /= a[..., i, i, None]
        out[..., :i, :] -= a[..., :i, i, None] * out[..., i, None, :]
    return out


def _lower(b: Builder, x: Value, y: Value, **params: bool) -> tuple[Value, ...]:
    kind = _Kind(**params)
    if dims.has_zero(y.shape):
        return (y,)
    small = as_small_matrices(b, x) if kind.left_side else None
    if small is not None:
        right = b.reshape(y, (small.shape[0], *y.shape[-2:]))
        (out,) = native_call(b, _kernel(kind), [small, right], [right.type])
        return (b.reshape(out, y.shape),)
    if kind.conjugate_a and not kind.transpose_a and dt.is_complex(x.dtype):
        x = b.complex(b.real(x), b.negate(b.imag(x)))
    transposed = "C" if kind.conjugate_a else "T"
    return lapack_call(
        b,
        "trsm",
        (x, y),
        (y.type,),
        stack=y.ndim - 2,
        config={
            "side": "L" if kind.left_side else "R",
            "uplo": "L" if kind.lower else "U",
            "trans_x": transposed if kind.transpose_a else "N",
            "diag": "U" if kind.unit_diagonal else "N",
        },
        aliases={1: 0},
    )


def _kernel(kind: _Kind) -> str:
    """Return the name of the kernel for small real matrices on the left side."""
    words = ["solve", "lower" if kind.lower else "upper"]
    words += ["transposed"] * kind.transpose_a + ["unit"] * kind.unit_diagonal
    return "_".join(words)


def _jvp(primals: Values, tangents: Values, **params: bool) -> Any:
    (a, b), (ta, tb) = primals, tangents
    out = triangular_solve_p.bind1(a, b, **params)
    total: Any = zero_of(get_aval(out))
    if not is_zero(ta):
        total = _along_a(ta, out, a, _Kind(**params))
    if not is_zero(tb):
        term = triangular_solve_p.bind1(a, tb, **params)
        total = add_tangents(total, term)
    return (out,), (total,)


def _along_a(t: Any, out: Any, a: Any, kind: _Kind) -> Any:
    """Return -op(a)⁻¹ op(t) out (or its mirror), by the order that multiplies less."""
    k = 1 if kind.unit_diagonal else 0
    moved = neg(tril(t, -k) if kind.lower else triu(t, k))
    if kind.transpose_a:
        moved = swapped(moved)
    if kind.conjugate_a and dt.is_complex(get_aval(t).dtype):
        moved = conj(moved)

    def solved(x: Any) -> Any:
        return triangular_solve_p.bind1(a, x, **kind._asdict())

    rows, columns = get_aval(out).shape[-2:]
    if kind.left_side:
        if dims.is_surely_at_least(columns, rows):
            return product(solved(moved), out)
        return solved(product(moved, out))
    if dims.is_surely_at_least(rows, columns):
        return product(out, solved(moved))
    return solved(product(out, moved))


def _transpose(cts: Values, operands: Values, **params: bool) -> Values:
    (ct,), (a, _) = cts, operands
    if isinstance(a, UndefinedPrimal):
        NOT_LINEAR()  # in the right-hand side it is
    turned = {**params, "transpose_a": not params["transpose_a"]}
    return None, ct if is_zero(ct) else triangular_solve_p.bind1(a, ct, **turned)


def _batch(args: Values, at: Dims, **params: bool) -> Any:
    (a, b), (ba, bb) = args, at
    if ba is not None or bb is None:
        return batch_stack(triangular_solve_p, args, at, **params)
    # One matrix for all right-hand sides: they are more columns, or rows, of one.
    left = params["left_side"]
    ndim = get_aval(b).ndim
    sides = moveaxis(b, bb, ndim - 1 if left else ndim - 2)
    shape = get_aval(sides).shape
    if left:
        flat = (*shape[:-2], shape[-2] * shape[-1])
    else:
        flat = (*shape[:-3], shape[-3] * shape[-2], shape[-1])
    out = triangular_solve_p.bind1(a, reshape(sides, flat), **params)
    return (reshape(out, shape),), (ndim - 1 if left else ndim - 2,)


def _pad(bucket: PadContext, a: PaddedValue, b: PaddedValue, **params: bool) -> Values:
    (b,) = without_padding(bucket, (b, 2))
    return bucket.bind_all(in_block(bucket, a, a.aval.dtype.type(1)), b, **params)


def _fit(a: NDArray, b: NDArray, **_: bool) -> Values:
    return invertible(a), tame(b)


def _case(a: Any, b: Any, letters: str) -> Case:
    """Return a case; l, o, t, c, u in `letters` name the params that are true."""
    return Case((a, b), _Kind(*(letter in letters for letter in "lotcu"))._asdict())


triangular_solve_p: Final = Primitive(
    name="triangular_solve",
    aval=_aval,
    reference=_reference,
    lower=_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    pad=_pad,
    samples=Samples(
        DTYPES,
        cases=(
            _case((3, 3), (3, 2), "lo"),
            _case((3, 3), (2, 3), "u"),
            _case((3, 3), (3, 4), "ltc"),
            _case((3, 3), (2, 3), "otc"),
            _case((3, 3), (4, 3), "oc"),
            _case((2, 2, 2), (2, 2, 3), "lu"),
            _case((2, 2), (2, 2), "lotu"),
            _case((0, 0), (0, 2), "l"),
            _case((2, 2), (2, 0), "l"),
            _case((0, 2, 2), (0, 2, 1), "l"),
        ),
        ulps=64,
        fit=_fit,
    ),
)


def triangular_solve(  # noqa: PLR0913 - JAX's signature
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """Solve `op(a) x = b`, or `x op(a) = b`, where one triangle of `a` counts.

    Args:
        a: square matrices along the last two axes; the other triangle is not read.
        b: right-hand sides, with the same leading axes, or one axis less: vectors.
        left_side: whether `op(a)` is on the left of the unknown.
        lower: whether the lower triangle counts.
        transpose_a: whether `op` transposes.
        conjugate_a: whether `op` conjugates.
        unit_diagonal: whether the diagonal is taken for ones.

    Returns:
        The unknown, of the shape of `b`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> a = np.array([[2.0, 0.0], [1.0, 4.0]])
        >>> lax.linalg.triangular_solve(
        ...     a, np.array([2.0, 9.0]), left_side=True, lower=True
        ... )
        Array([1., 2.], dtype=float32)
    """
    matrix, side = get_aval(a), get_aval(b)
    is_vector = side.ndim == matrix.ndim - 1
    axis = side.ndim if left_side else side.ndim - 1
    sides = expand_dims(b, (axis,)) if is_vector else b
    kind = _Kind(
        left_side=left_side,
        lower=lower,
        transpose_a=transpose_a,
        conjugate_a=conjugate_a and dt.is_complex(matrix.dtype),
        unit_diagonal=unit_diagonal,
    )
    out = triangular_solve_p.bind1(a, sides, **kind._asdict())
    return squeeze(out, (axis,)) if is_vector else out
