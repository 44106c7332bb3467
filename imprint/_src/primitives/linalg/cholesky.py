"""cholesky: the lower triangular factor L of a positive definite matrix, A = L Lᴴ.

Only the lower triangle of the operand is read. The upper one of the result is that of the
operand, as LAPACK leaves it: the public function, which first makes the operand Hermitian,
has zeros there. A matrix that is not positive definite gives NaN. The derivative is that of
I. Murray (arXiv 1602.07527); of a tangent, too, only the lower triangle is read.
"""

from typing import Any, Final

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.primitives.core_ops import NOT_LINEAR, add, scalar_like
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.linalg.triangular import triangular_solve
from imprint._src.primitives.matrices import (
    DTYPES,
    LAPACK,
    adjoint,
    batch_stack,
    check_square,
    identity,
    in_block,
    is_zero_info,
    nan_unless,
    or_nan,
    positive_definite,
    product,
    stack_of,
    tril,
)
from imprint._src.primitives.native_calls import as_small_matrices
from imprint._src.stablehlo import Builder, Value, tensor
from imprint._src.stablehlo.custom_calls import lapack_call, native_call

NDArray = np.ndarray[Any, Any]

# ---- cholesky ----


def _aval(x: ShapedArray) -> Avals:
    LAPACK.check("cholesky", (x,))
    stack_of("cholesky", (2,), (x,))
    check_square("cholesky", x)
    return (x,)


def _reference(x: NDArray) -> Values:
    return (or_nan(_factor, x),)


def _factor(x: NDArray) -> NDArray:
    return np.linalg.cholesky(x) + np.triu(x, 1)


def _lower(b: Builder, x: Value) -> tuple[Value, ...]:
    if dims.has_zero(x.shape):
        return (x,)
    small = as_small_matrices(b, x)
    if small is not None:
        (factor,) = native_call(b, "cholesky", [small], [small.type])
        return (b.reshape(factor, x.shape),)
    stack = x.shape[:-2]
    factor, info = lapack_call(
        b,
        "potrf",
        (x,),
        (x.type, tensor(stack, np.dtype(np.int32))),
        stack=len(stack),
        config={"uplo": "L"},
        aliases={0: 0},
    )
    return (nan_unless(b, is_zero_info(b, info), factor),)


def _jvp(primals: Values, tangents: Values) -> Any:
    (x,), (t,) = primals, tangents
    out = cholesky_p.bind1(x)
    factor = tril(out)
    lower = _half(t)
    moved = add(lower, adjoint(lower))
    right = triangular_solve(
        factor, moved, lower=True, transpose_a=True, conjugate_a=True
    )
    both = triangular_solve(factor, right, left_side=True, lower=True)
    return (out,), (product(factor, _half(both)),)


def _half(x: Any) -> Any:
    """Return lower triangles with half of the diagonal, of which two make `x` again."""
    aval = get_aval(x)
    weights = add(identity(aval.shape, aval.dtype), scalar_like(x, 1))
    return div(tril(x), weights)


def _batch(args: Values, at: Dims) -> Any:
    return batch_stack(cholesky_p, args, at)


def _pad(bucket: PadContext, x: PaddedValue) -> Values:
    return bucket.bind_all(in_block(bucket, x, x.aval.dtype.type(1)))


def _fit(x: NDArray) -> Values:
    return (positive_definite(x),)


cholesky_p: Final = Primitive(
    name="cholesky",
    aval=_aval,
    reference=_reference,
    lower=_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_jvp,
    transpose=NOT_LINEAR,
    batch=_batch,
    pad=_pad,
    samples=Samples(
        DTYPES,
        cases=tuple(Case((s,)) for s in ((3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2))),
        # It has no derivative of the triangle that LAPACK leaves as it was.
        conventional=True,
        ulps=64,
        fit=_fit,
    ),
)


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """Return the lower triangular L of positive definite matrices, `x = L Lᴴ`.

    Args:
        x: matrices along the last two axes, of float32, float64, complex64 or
            complex128.
        symmetrize_input: whether to factor `(x + xᴴ) / 2`; else only the lower
            triangle is read.

    Returns:
        The factors; NaN for a matrix that is not positive definite.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
        Array([[2., 0.],
               [1., 2.]], dtype=float32)
    """
    cholesky_p.out_avals(
        (get_aval(x),), {}
    )  # reports a wrong operand before it is split
    if symmetrize_input:
        x = div(add(x, adjoint(x)), scalar_like(x, 2))
    return tril(cholesky_p.bind1(x))
