"""eigh and eig: eigenvalues and eigenvectors, of Hermitian matrices and of any.

The derivatives are those of distinct eigenvalues (M. Giles, NA-08/01): equal ones make those
of vectors infinite or NaN, as in JAX, and leave those of values alone. LAPACK's vectors have
length 1. The phase of those of eigh is arbitrary, and their derivative keeps it. The largest
component of those of eig is real; if two are equally large, their derivative is wrong, so it
needs `enable_eigvec_derivs`.
"""

import enum
from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import DType, ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PadContext, PaddedValue, in_batches
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.errors import AbsentRuleError, ArgumentError
from imprint._src.primitives.arg_reductions import argmax
from imprint._src.primitives.core_ops import (
    NOT_LINEAR,
    add,
    broadcast_in_dim,
    mul,
    neg,
    reduce_sum,
    scalar_like,
    sub,
)
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.comparison import eq
from imprint._src.primitives.elementwise.complex import complex_, conj, imag, real
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.rounding import abs_
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.slicing import slice_in_dim
from imprint._src.primitives.linalg.lapack_calls import of_stack, routine, workspace
from imprint._src.primitives.linalg.orthogonal import solved
from imprint._src.primitives.matrices import (
    DTYPES,
    LAPACK,
    adjoint,
    along_columns,
    along_rows,
    batch_stack,
    check_square,
    constants,
    diagonal,
    distinct_eigenvalues,
    each,
    identity,
    in_block,
    is_zero_info,
    last_axes,
    nan_unless,
    part_of,
    product,
    stack_of,
    swapped,
    tril,
    triu,
    without_padding,
)
from imprint._src.primitives.reductions import reduce_max
from imprint._src.primitives.shape import broadcasted_iota
from imprint._src.stablehlo import Builder, Value, tensor
from imprint._src.stablehlo.custom_calls import lapack_call

NDArray = np.ndarray[Any, Any]

_INT32: Final = np.dtype(np.int32)
_SHAPES: Final = ((3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2), (2, 0, 0))

# ---- eigh ----


def _eigh_aval(x: ShapedArray, *, lower: bool) -> Avals:
    LAPACK.check("eigh", (x,))
    stack_of("eigh", (2,), (x,))
    check_square("eigh", x)
    return x, ShapedArray(x.shape[:-1], _real_of(x.dtype), x.weak_type)


def _real_of(dtype: DType) -> DType:
    return dt.real_part_dtype(dtype) if dt.is_complex(dtype) else dtype


def _eigh_of_one(x: NDArray, *, lower: bool) -> Values | None:
    best = workspace("syevd", x.dtype, len(x), lower=int(lower))
    names = ("lwork", "liwork", "lrwork")[: len(best)]
    lengths = dict(zip(names, best, strict=True))
    w, v, info = routine("syevd", x.dtype)(x, lower=int(lower), **lengths)
    return None if info else (v, w)


_eigh_reference = of_stack(_eigh_aval, _eigh_of_one)


def _eigh_lower(b: Builder, x: Value, *, lower: bool) -> tuple[Value, ...]:
    if dims.has_zero(x.shape):
        outs = _eigh_reference(np.empty(x.shape, x.dtype), lower=lower)
        return constants(b, outs)
    stack = x.shape[:-2]
    *outs, info = lapack_call(
        b,
        "syevd",
        (x,),
        (x.type, tensor(x.shape[:-1], _real_of(x.dtype)), tensor(stack, _INT32)),
        stack=len(stack),
        config={"mode": "V", "uplo": "L" if lower else "U"},
        aliases={0: 0},
    )
    succeeded = is_zero_info(b, info)
    return tuple([nan_unless(b, succeeded, out) for out in outs])


def _eigh_jvp(primals: Values, tangents: Values, *, lower: bool) -> Any:
    (x,), (t,) = primals, tangents
    v, w = eigh_p.bind_all(x, lower=lower)
    inner = product(product(adjoint(v), t), v)
    values = convert_element_type(w, get_aval(v).dtype)
    t_v = product(v, mul(_inverse_gaps(values, get_aval(v).shape), inner))
    t_w = diagonal(real(inner) if dt.is_complex(get_aval(inner).dtype) else inner)
    return (v, w), (t_v, t_w)


def _inverse_gaps(w: Any, shape: tuple[int, ...]) -> Any:
    """Return 1 / (w_j - w_i) in the place [i, j], and 0 on the diagonal."""
    one = identity(shape, get_aval(w).dtype)
    gaps = sub(add(one, along_rows(w, shape)), along_columns(w, shape))
    return sub(div(scalar_like(w, 1), gaps), one)


def _eigh_batch(args: Values, at: Dims, *, lower: bool) -> Any:
    return batch_stack(eigh_p, args, at, lower=lower)


def _eigh_fit(x: NDArray, *, lower: bool) -> Values:
    spread = distinct_eigenvalues(x)
    return ((spread + np.conj(np.swapaxes(spread, -1, -2))) / spread.dtype.type(2),)


def _eigh_pad(bucket: PadContext, x: PaddedValue, *, lower: bool) -> Values:
    """Give padding an eigenvalue of its own that is larger than all others: the last."""
    if not x.padded_axes(last_axes(x)):
        return bucket.bind_all(x, lower=lower)
    (zeroed,) = without_padding(bucket, (x, 2))
    half = abs_(tril(zeroed.value) if lower else triu(zeroed.value))
    last = x.aval.ndim - 1
    rows = add(reduce_sum(half, (last,)), reduce_sum(half, (last - 1,)))
    most = reduce_max(rows, (last - 1,))
    most = select_n(eq(most, scalar_like(most, 0)), most, scalar_like(most, 1))
    number = convert_element_type(mul(most, scalar_like(most, 2)), x.aval.dtype)
    shape = bucket.bound(x.aval.shape)
    number = broadcast_in_dim(number, shape, tuple(range(last - 1)))
    return bucket.bind_all(in_block(bucket, zeroed, number), lower=lower)


eigh_p: Final = Primitive(
    name="eigh",
    multiple_results=True,
    aval=_eigh_aval,
    reference=_eigh_reference,
    lower=_eigh_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_eigh_jvp,
    transpose=NOT_LINEAR,
    batch=_eigh_batch,
    pad=_eigh_pad,
    samples=Samples(
        DTYPES,
        cases=tuple(
            Case((shape,), {"lower": i % 2 == 0}) for i, shape in enumerate(_SHAPES)
        ),
        # Differences of one triangle are not of Hermitian matrices, and phases are free.
        conventional=True,
        ulps=64,
        fit=_eigh_fit,
    ),
)


class EighImplementation(enum.Enum):
    """How eigenvalues of Hermitian matrices are found: JAX's names. QR is LAPACK's."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


def _check_here(name: str, given: enum.Enum | None, own: enum.Enum) -> None:
    """Raise ArgumentError unless an implementation is the one of the CPU."""
    if given not in (None, own):
        raise ArgumentError(
            f"{name}: expected the implementation that the CPU has, got {given}. Pass "
            f"None or {own}."
        )


def eigh(
    x: Any,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Any, Any]:
    """Return eigenvectors and eigenvalues of symmetric or Hermitian matrices.

    Args:
        x: square matrices along the last two axes.
        lower: which triangle is read, without `symmetrize_input`.
        symmetrize_input: whether to take `(x + xᴴ) / 2`.
        sort_eigenvalues: means nothing here: they are always sorted.
        subset_by_index: which eigenvalues to return, from the first to before the
            second; None for all.
        implementation: None or `EighImplementation.QR`.

    Returns:
        The vectors, as columns, and the values, which do not fall; NaN where the
        algorithm fails.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> v, w = lax.linalg.eigh(np.array([[2.0, 1.0], [1.0, 2.0]]))
        >>> bool(np.allclose(w, np.array([1.0, 3.0])))
        True
    """
    _check_here("eigh", implementation, EighImplementation.QR)
    _eigh_aval(get_aval(x), lower=True)  # reports a wrong operand before it is split
    if symmetrize_input:
        x = div(add(x, adjoint(x)), scalar_like(x, 2))
    v, w = eigh_p.bind_all(x, lower=bool(lower))
    if subset_by_index is None:
        return v, w
    bounds = part_of("eigh", subset_by_index, get_aval(w).shape[-1])
    return slice_in_dim(v, *bounds, 1, -1), slice_in_dim(w, *bounds, 1, -1)


# ---- eig ----


def _eig_aval(
    x: ShapedArray,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
) -> Avals:
    LAPACK.check("eig", (x,))
    stack_of("eig", (2,), (x,))
    check_square("eig", x)
    out = x.with_dtype(_complex_of(x.dtype), weak_type=x.weak_type)
    count = compute_left_eigenvectors + compute_right_eigenvectors
    return (out.with_shape(x.shape[:-1]), *[out] * count)


def _complex_of(dtype: DType) -> DType:
    return np.result_type(dtype, np.complex64)


def _eig_of_one(
    x: NDArray,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
) -> Values | None:
    if not np.isfinite(x).all():
        return None
    wanted = compute_left_eigenvectors, compute_right_eigenvectors
    options = dict(zip(("compute_vl", "compute_vr"), map(int, wanted), strict=True))
    (best,) = workspace("geev", x.dtype, len(x), **options)
    *values, left, right, info = routine("geev", x.dtype)(x, lwork=best, **options)
    if info:
        return None
    w = values[0] if len(values) == 1 else values[0] + 1j * values[1]
    vectors = [
        v for v, is_wanted in zip((left, right), wanted, strict=True) if is_wanted
    ]
    if dt.is_complex(x.dtype):
        return w, *vectors
    return w, *[_unpacked(w, v) for v in vectors]


def _unpacked(w: NDArray, v: NDArray) -> NDArray:
    """Return vectors from LAPACK's alternating parts of conjugate pairs."""
    out = v.astype(w.dtype)
    first = np.flatnonzero(np.imag(w) > 0)
    out[:, first] += 1j * v[:, first + 1]
    out[:, first + 1] = np.conj(out[:, first])
    return out


_eig_reference = of_stack(_eig_aval, _eig_of_one)


def _eig_lower(b: Builder, x: Value, **params: bool) -> tuple[Value, ...]:
    if dims.has_zero(x.shape):
        return constants(b, _eig_reference(np.empty(x.shape, x.dtype), **params))
    stack = x.shape[:-2]
    value, vector = tensor(x.shape[:-1], x.dtype), tensor(x.shape, _complex_of(x.dtype))
    left = params["compute_left_eigenvectors"]
    right = params["compute_right_eigenvectors"]
    *values, lefts, rights, info = lapack_call(
        b,
        "geev",
        (x,),
        (
            *[value] * (1 if dt.is_complex(x.dtype) else 2),
            vector,
            vector,
            tensor(stack, _INT32),
        ),
        stack=len(stack),
        config={
            "compute_left": "V" if left else "N",
            "compute_right": "V" if right else "N",
        },
    )
    w = values[0] if len(values) == 1 else b.complex(*values)
    succeeded = is_zero_info(b, info)
    found = [w, *[lefts] * left, *[rights] * right]
    return tuple([nan_unless(b, succeeded, out) for out in found])


def _eig_jvp(
    primals: Values,
    tangents: Values,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
) -> Any:
    (x,), (t,) = primals, tangents
    has_vectors = compute_left_eigenvectors or compute_right_eigenvectors
    if has_vectors and not enable_eigvec_derivs:
        raise AbsentRuleError(
            "eig: expected no derivative of eigenvectors, or to be asked for it: it is "
            "right only where all eigenvalues differ, and no two components of a vector "
            "are equally large. Differentiate eigvals, or pass "
            "enable_eigvec_derivs=True to lax.linalg.eig."
        )
    w, *lefts, right = eig_p.bind_all(
        x,
        compute_left_eigenvectors=compute_left_eigenvectors,
        compute_right_eigenvectors=True,
        enable_eigvec_derivs=enable_eigvec_derivs,
    )
    t = convert_element_type(t, get_aval(right).dtype)
    inner = solved(right, t)
    if not has_vectors:
        last = get_aval(inner).ndim - 1
        return (w,), (reduce_sum(mul(inner, swapped(right)), (last,)),)
    inner = product(inner, right)
    outs, moved = [w], [diagonal(inner)]
    for left in lefts:
        across = product(solved(left, adjoint(t)), left)
        outs.append(left)
        moved.append(_vector_tangents(conj(w), left, across))
    if compute_right_eigenvectors:
        outs.append(right)
        moved.append(_vector_tangents(w, right, inner))
    return tuple(outs), tuple(moved)


def _vector_tangents(w: Any, v: Any, inner: Any) -> Any:
    """Return the tangents of vectors of length 1 whose largest component is real.

    1. Eigenvectors are unique up to a factor, which `moved` keeps.
    2. The factor changes so that the length stays, and the largest component real.
    """
    shape = get_aval(v).shape
    axis = len(shape) - 2
    moved = product(v, mul(_inverse_gaps(w, shape), inner))
    if dims.has_zero(shape):
        return moved
    largest = argmax(abs_(v), axis, _INT32)
    places = broadcasted_iota(_INT32, shape, axis)
    mask = convert_element_type(
        eq(places, along_rows(largest, shape)), get_aval(v).dtype
    )

    def picked(x: Any) -> Any:
        return reduce_sum(mul(mask, x), (axis,))

    stretch = neg(real(reduce_sum(mul(conj(v), moved), (axis,))))
    turn = neg(div(imag(picked(moved)), real(picked(v))))
    return add(moved, mul(v, along_rows(complex_(stretch, turn), shape)))


def _eig_batch(args: Values, at: Dims, **params: bool) -> Any:
    return batch_stack(eig_p, args, at, **params)


def _eig_params(*, left: bool, right: bool) -> dict[str, bool]:
    return {
        "compute_left_eigenvectors": left,
        "compute_right_eigenvectors": right,
        "enable_eigvec_derivs": True,
    }


eig_p: Final = Primitive(
    name="eig",
    multiple_results=True,
    aval=_eig_aval,
    reference=_eig_reference,
    lower=_eig_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_eig_jvp,
    transpose=NOT_LINEAR,
    batch=_eig_batch,
    pad=in_batches(2, "eigenvalues come in an order that depends on the size"),
    samples=Samples(
        DTYPES,
        cases=tuple(
            Case((shape,), _eig_params(left=i in (1, 3), right=i < 3))
            for i, shape in enumerate(((3, 3), (2, 2, 2), (1, 1), (2, 2), *_SHAPES))
        ),
        ulps=64,
        fit=each(distinct_eigenvalues),
    ),
)


class EigImplementation(enum.Enum):
    """How eigenvalues of general matrices are found: JAX's names. Others are for GPUs."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


def eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: EigImplementation | None = None,
) -> list[Any]:
    """Return eigenvalues and eigenvectors of square matrices.

    Args:
        x: square matrices along the last two axes.
        compute_left_eigenvectors: whether to return the v with `vᴴ x = w vᴴ`.
        compute_right_eigenvectors: whether to return the v with `x v = w v`.
        enable_eigvec_derivs: whether vectors have derivatives, which are right only
            where all eigenvalues differ, and no two components of a vector are equally
            large.
        implementation: None or `EigImplementation.LAPACK`.

    Returns:
        The values, and as columns the requested vectors, left ones first; all
        complex, of length 1, with a largest component that is real. NaN for a matrix
        that is not finite, and where the algorithm fails.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> w, v = lax.linalg.eig(
        ...     np.array([[0.0, 1.0], [-1.0, 0.0]]), compute_left_eigenvectors=False
        ... )
        >>> w
        Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    _check_here("eig", implementation, EigImplementation.LAPACK)
    outs = eig_p.bind_all(
        x,
        compute_left_eigenvectors=bool(compute_left_eigenvectors),
        compute_right_eigenvectors=bool(compute_right_eigenvectors),
        enable_eigvec_derivs=bool(enable_eigvec_derivs),
    )
    return list(outs)
