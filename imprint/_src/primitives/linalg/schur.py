"""schur, hessenberg and tridiagonal: matrices brought near to triangular or diagonal form.

schur gives T and Q with `x = Q T Qᴴ`: T is upper triangular, of real matrices but for a
block of two rows for each pair of complex eigenvalues. hessenberg and tridiagonal give a
matrix that holds the form, and around it the Householder reflectors that brought it there.
They have no derivatives, as in JAX: how forms move depends on more than eigenvalues.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import DType, ShapedArray
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import in_batches
from imprint._src.core.primitive import (
    Absent,
    Avals,
    Case,
    Dims,
    Primitive,
    Samples,
    Values,
)
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.primitives.core_ops import NOT_LINEAR
from imprint._src.primitives.linalg.lapack_calls import of_stack, routine, workspace
from imprint._src.primitives.matrices import (
    DTYPES,
    LAPACK,
    batch_stack,
    check_square,
    constants,
    distinct_eigenvalues,
    each,
    is_zero_info,
    nan_unless,
    stack_of,
)
from imprint._src.stablehlo import Builder, TensorType, Value, tensor
from imprint._src.stablehlo.custom_calls import lapack_call

NDArray = np.ndarray[Any, Any]

_INT32: Final = np.dtype(np.int32)
_NO_DERIVATIVE: Final = (
    "{}: expected no derivative, as in JAX: the form is not determined by the matrix "
    "alone. Differentiate lax.linalg.eigh or lax.linalg.eig."
)
_SHAPES: Final = ((3, 3), (2, 2, 2), (1, 1), (0, 2, 2))


def _check(name: str, x: ShapedArray, *, least: int = 0) -> None:
    LAPACK.check(name, (x,))
    stack_of(name, (2,), (x,))
    check_square(name, x)
    if not dims.at_least(x.shape[-1], least):
        raise ShapeError(
            f"{name}: expected matrices with at least one row, got {x}. There is nothing "
            "to bring to a form: leave the call out."
        )


def _checked(
    b: Builder,
    routine: str,
    x: Value,
    results: tuple[TensorType, ...],
    config: dict[str, str | int],
) -> tuple[Value, ...]:
    """Write a call that overwrites its operand; all results NaN where it fails."""
    stack = x.shape[:-2]
    *outs, info = lapack_call(
        b,
        routine,
        (x,),
        (*results, tensor(stack, _INT32)),
        stack=len(stack),
        config=config,
        aliases={0: 0},
    )
    succeeded = is_zero_info(b, info)
    return tuple([nan_unless(b, succeeded, out) for out in outs])


# ---- schur ----


def _schur_aval(x: ShapedArray, *, compute_schur_vectors: bool) -> Avals:
    _check("schur", x)
    return (x, x) if compute_schur_vectors else (x,)


def _schur_of_one(x: NDArray, *, compute_schur_vectors: bool) -> Values | None:
    def run(lwork: int) -> Any:
        compute_v = int(compute_schur_vectors)
        factor = routine("gees", x.dtype)
        return factor(_chosen, x, compute_v=compute_v, lwork=lwork)

    best = run(-1)[-2][0]
    form, *_, vectors, _, info = run(int(best.real))
    if info:
        return None
    return (form, vectors) if compute_schur_vectors else (form,)


def _chosen(*_: Any) -> bool:
    """Select no eigenvalue as the first."""
    return False


_schur_reference = of_stack(_schur_aval, _schur_of_one)


def _schur_lower(
    b: Builder, x: Value, *, compute_schur_vectors: bool
) -> tuple[Value, ...]:
    if dims.has_zero(x.shape):
        return (x, x) if compute_schur_vectors else (x,)
    stack = x.shape[:-2]
    count = tensor(stack, _INT32)
    value = tensor(x.shape[:-1], x.dtype)
    values = [value] if dt.is_complex(x.dtype) else [value, value]
    form, vectors, *_, info = lapack_call(
        b,
        "gees",
        (x,),
        (x.type, x.type, *values, count, count),
        stack=len(stack),
        config={"mode": "V" if compute_schur_vectors else "N", "sort": "N"},
        aliases={0: 0},
    )
    found = (form, vectors) if compute_schur_vectors else (form,)
    succeeded = is_zero_info(b, info)
    return tuple([nan_unless(b, succeeded, out) for out in found])


def _schur_batch(args: Values, at: Dims, **params: bool) -> Any:
    return batch_stack(schur_p, args, at, **params)


_WHOLE: Final = "each element of a factor depends on the size of its matrix"

schur_p: Final = Primitive(
    name="schur",
    multiple_results=True,
    aval=_schur_aval,
    reference=_schur_reference,
    lower=_schur_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=Absent(_NO_DERIVATIVE.format("schur")),
    transpose=NOT_LINEAR,
    batch=_schur_batch,
    pad=in_batches(2, _WHOLE),
    samples=Samples(
        DTYPES,
        cases=tuple(
            Case((shape,), {"compute_schur_vectors": i != 1})
            for i, shape in enumerate((*_SHAPES, (0, 0)))
        ),
        differentiable=False,
        ulps=64,
        fit=each(distinct_eigenvalues),
    ),
)


def schur(
    x: Any,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: None = None,
) -> tuple[Any, ...]:
    """Return T and Q, of which square matrices are products: `x = Q T Qᴴ`.

    Args:
        x: square matrices along the last two axes.
        compute_schur_vectors: whether to return Q; else T alone.
        sort_eig_vals: must be False: eigenvalues are in the order of the algorithm.
        select_callable: means nothing without that.

    Returns:
        T, upper triangular, or of real matrices nearly so, and the unitary Q.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> t, q = lax.linalg.schur(np.array([[1.0, 2.0], [0.0, 3.0]]))
        >>> t
        Array([[1., 2.],
               [0., 3.]], dtype=float32)
    """
    if sort_eig_vals:
        raise ArgumentError(
            "schur: expected sort_eig_vals=False, got True. The order of eigenvalues is "
            "that of the algorithm: reorder with scipy.linalg.schur, outside of jit."
        )
    return schur_p.bind_all(x, compute_schur_vectors=bool(compute_schur_vectors))


# ---- hessenberg ----


def _hessenberg_aval(x: ShapedArray) -> Avals:
    _check("hessenberg", x, least=1)
    return x, x.with_shape((*x.shape[:-2], x.shape[-1] - 1))


def _hessenberg_of_one(x: NDArray) -> Values | None:
    (best,) = workspace("gehrd", x.dtype, len(x))
    out, taus, info = routine("gehrd", x.dtype)(x, lwork=best)
    return None if info else (out, taus)


_hessenberg_reference = of_stack(_hessenberg_aval, _hessenberg_of_one)


def _hessenberg_lower(b: Builder, x: Value) -> tuple[Value, ...]:
    if dims.has_zero(x.shape):
        return constants(b, _hessenberg_reference(np.empty(x.shape, x.dtype)))
    *stack, n, _ = x.shape
    results = (x.type, tensor((*stack, n - 1), x.dtype))
    return _checked(b, "gehrd", x, results, {"low": 1, "high": n})


def _hessenberg_batch(args: Values, at: Dims) -> Any:
    return batch_stack(hessenberg_p, args, at)


hessenberg_p: Final = Primitive(
    name="hessenberg",
    multiple_results=True,
    aval=_hessenberg_aval,
    reference=_hessenberg_reference,
    lower=_hessenberg_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=Absent(_NO_DERIVATIVE.format("hessenberg")),
    transpose=NOT_LINEAR,
    batch=_hessenberg_batch,
    pad=in_batches(2, _WHOLE),
    samples=Samples(
        DTYPES,
        cases=tuple(Case((shape,)) for shape in _SHAPES),
        differentiable=False,
        ulps=64,
        fit=each(distinct_eigenvalues),
    ),
)


def hessenberg(a: Any) -> tuple[Any, Any]:
    """Bring square matrices to a form that is zero below the first subdiagonal.

    Args:
        a: square matrices along the last two axes.

    Returns:
        Matrices with the form on and above the first subdiagonal, and a Householder
        reflector below each element of that; and how the reflectors are scaled.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> h, taus = lax.linalg.hessenberg(np.array([[1.0, 2.0], [3.0, 4.0]]))
        >>> h
        Array([[1., 2.],
               [3., 4.]], dtype=float32)
    """
    out, taus = hessenberg_p.bind_all(a)
    return out, taus


# ---- tridiagonal ----


def _tridiagonal_aval(x: ShapedArray, *, lower: bool) -> Avals:
    _check("tridiagonal", x, least=1)
    *stack, n, _ = x.shape
    part = x.with_dtype(_real_of(x.dtype), weak_type=x.weak_type)
    beside = (*stack, n - 1)
    d, e = part.with_shape((*stack, n)), part.with_shape(beside)
    return x, d, e, x.with_shape(beside)


def _real_of(dtype: DType) -> DType:
    return dt.real_part_dtype(dtype) if dt.is_complex(dtype) else dtype


def _tridiagonal_of_one(x: NDArray, *, lower: bool) -> Values | None:
    (best,) = workspace("sytrd", x.dtype, len(x), lower=int(lower))
    *outs, info = routine("sytrd", x.dtype)(x, lower=int(lower), lwork=best)
    return None if info else tuple(outs)


_tridiagonal_reference = of_stack(_tridiagonal_aval, _tridiagonal_of_one)


def _tridiagonal_lower(b: Builder, x: Value, *, lower: bool) -> tuple[Value, ...]:
    if dims.has_zero(x.shape):
        outs = _tridiagonal_reference(np.empty(x.shape, x.dtype), lower=lower)
        return constants(b, outs)
    *stack, n, _ = x.shape
    part, beside = _real_of(x.dtype), (*stack, n - 1)
    results = (
        x.type,
        tensor((*stack, n), part),
        tensor(beside, part),
        tensor(beside, x.dtype),
    )
    return _checked(b, "sytrd", x, results, {"uplo": "L" if lower else "U"})


def _tridiagonal_batch(args: Values, at: Dims, *, lower: bool) -> Any:
    return batch_stack(tridiagonal_p, args, at, lower=lower)


tridiagonal_p: Final = Primitive(
    name="tridiagonal",
    multiple_results=True,
    aval=_tridiagonal_aval,
    reference=_tridiagonal_reference,
    lower=_tridiagonal_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=Absent(_NO_DERIVATIVE.format("tridiagonal")),
    transpose=NOT_LINEAR,
    batch=_tridiagonal_batch,
    pad=in_batches(2, _WHOLE),
    samples=Samples(
        DTYPES,
        cases=tuple(
            Case((shape,), {"lower": i % 2 == 0}) for i, shape in enumerate(_SHAPES)
        ),
        differentiable=False,
        ulps=64,
        fit=each(distinct_eigenvalues),
    ),
)


def tridiagonal(a: Any, *, lower: bool = True) -> tuple[Any, Any, Any, Any]:
    """Bring symmetric or Hermitian matrices to tridiagonal form.

    Args:
        a: square matrices along the last two axes.
        lower: which triangle is read, and holds the results.

    Returns:
        Matrices with the form on the diagonal and the first off-diagonal, and a Householder
        reflector beyond each element of that; the diagonal; the off-diagonal; the scales of
        the reflectors.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> _, d, e, _ = lax.linalg.tridiagonal(np.array([[1.0, 2.0], [2.0, 3.0]]))
        >>> d, e
        (Array([1., 3.], dtype=float32), Array([2.], dtype=float32))
    """
    out, d, e, taus = tridiagonal_p.bind_all(a, lower=bool(lower))
    return out, d, e, taus
