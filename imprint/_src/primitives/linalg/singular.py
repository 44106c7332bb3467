"""svd: matrices as U diag(s) Vᴴ, with singular values from the largest down.

LAPACK's gesdd (divide and conquer), or gesvd for `SvdAlgorithm.QR`. An infinity would keep
gesdd busy for ever: it is handed over as NaN, which makes the whole result NaN. The
derivative is that of distinct singular values (M. Giles, NA-08/01); equal ones make those
of U and V infinite or NaN, as in JAX, and leave that of s alone.
"""

import enum
from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PadContext, PaddedValue, PerSize
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.errors import AbsentRuleError, ArgumentError
from imprint._src.primitives.core_ops import NOT_LINEAR, add, mul, scalar_like, sub
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.comparison import eq
from imprint._src.primitives.elementwise.complex import real
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.indexing.slicing import slice_in_dim
from imprint._src.primitives.linalg.lapack_calls import of_stack, routine, workspace
from imprint._src.primitives.matrices import (
    LAPACK,
    adjoint,
    along_columns,
    along_rows,
    batch_stack,
    constants,
    diagonal,
    distinct_eigenvalues,
    each,
    identity,
    is_zero_info,
    last_axes,
    nan_of,
    nan_unless,
    part_of,
    product,
    stack_of,
    without_padding,
)
from imprint._src.stablehlo import Builder, Value, tensor
from imprint._src.stablehlo.custom_calls import lapack_call

NDArray = np.ndarray[Any, Any]


class SvdAlgorithm(enum.Enum):
    """How singular values are found: JAX's names. JACOBI and POLAR are for GPUs."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


def _aval(
    x: ShapedArray,
    *,
    full_matrices: bool,
    compute_uv: bool,
    algorithm: SvdAlgorithm | None,
) -> Avals:
    LAPACK.check("svd", (x,))
    stack = stack_of("svd", (2,), (x,))
    m, n = x.shape[-2:]
    k = dims.minimum(m, n)
    dtype = dt.real_part_dtype(x.dtype) if dt.is_complex(x.dtype) else x.dtype
    s = ShapedArray((*stack, k), dtype, x.weak_type)
    if not compute_uv:
        return (s,)
    left = x.with_shape((*stack, m, m if full_matrices else k))
    return s, left, x.with_shape((*stack, n if full_matrices else k, n))


def _of_one(
    x: NDArray,
    *,
    full_matrices: bool,
    compute_uv: bool,
    algorithm: SvdAlgorithm | None,
) -> Values | None:
    if not x.size:
        return _of_nothing(x, full_matrices=full_matrices, compute_uv=compute_uv)
    if not np.isfinite(x).all():
        return None
    name = _routine(algorithm)
    options = {"full_matrices": int(full_matrices), "compute_uv": int(compute_uv)}
    (best,) = workspace(name, x.dtype, *x.shape, **options)
    u, s, v, info = routine(name, x.dtype)(x, lwork=best, **options)
    if info:
        return None
    return (s, u, v) if compute_uv else (s,)


def _of_nothing(x: NDArray, *, full_matrices: bool, compute_uv: bool) -> Values:
    s = np.zeros(0, x.real.dtype)
    if not compute_uv:
        return (s,)
    m, n = x.shape
    left, right = (m, n) if full_matrices else (0, 0)
    return s, np.eye(m, left, dtype=x.dtype), np.eye(right, n, dtype=x.dtype)


def _routine(algorithm: SvdAlgorithm | None) -> str:
    return "gesvd" if algorithm is SvdAlgorithm.QR else "gesdd"


_reference = of_stack(_aval, _of_one)


def _lower(b: Builder, x: Value, **params: Any) -> tuple[Value, ...]:
    if dims.has_zero(x.shape):
        return constants(b, _reference(np.empty(x.shape, x.dtype), **params))
    full_matrices, compute_uv = params["full_matrices"], params["compute_uv"]
    stack, (m, n) = x.shape[:-2], x.shape[-2:]
    k = min(m, n)
    left, right = (m, n) if full_matrices else (k, k)
    mode = "N" if not compute_uv else "A" if full_matrices else "S"
    part = dt.real_part_dtype(x.dtype) if dt.is_complex(x.dtype) else x.dtype
    _, s, u, v, info = lapack_call(
        b,
        _routine(params["algorithm"]),
        (_infinite_as_nan(b, x),),
        (
            x.type,
            tensor((*stack, k), part),
            tensor((*stack, m, left), x.dtype),
            tensor((*stack, right, n), x.dtype),
            tensor(stack, np.dtype(np.int32)),
        ),
        stack=len(stack),
        config={"mode": mode},
        aliases={0: 0},
    )
    found = (s, u, v) if compute_uv else (s,)
    succeeded = is_zero_info(b, info)
    return tuple([nan_unless(b, succeeded, out) for out in found])


def _infinite_as_nan(b: Builder, x: Value) -> Value:
    parts = (b.real(x), b.imag(x)) if dt.is_complex(x.dtype) else (x,)
    finite = [b.is_finite(part) for part in parts]
    mask = finite[0] if len(finite) == 1 else b.and_(*finite)
    return b.select(mask, x, b.full(x.shape, nan_of(x.dtype), x.dtype))


def _jvp(
    primals: Values,
    tangents: Values,
    *,
    full_matrices: bool,
    compute_uv: bool,
    algorithm: SvdAlgorithm | None,
) -> Any:
    (x,), (t,) = primals, tangents
    m, n = get_aval(x).shape[-2:]
    if compute_uv and full_matrices and not dims.is_same(m, n):
        raise AbsentRuleError(
            f"svd: expected full_matrices=False to differentiate, got {get_aval(x)} with "
            "full_matrices=True: vectors beyond the singular values are free to turn. "
            "Pass full_matrices=False, or compute_uv=False."
        )
    s, u, v_adjoint = svd_p.bind_all(
        x, full_matrices=False, compute_uv=True, algorithm=algorithm
    )
    inner = product(product(adjoint(u), t), adjoint(v_adjoint))
    t_s = diagonal(real(inner) if dt.is_complex(get_aval(x).dtype) else inner)
    if not compute_uv:
        return (s,), (t_s,)
    return (s, u, v_adjoint), (t_s, *_vectors(s, u, v_adjoint, t, inner))


def _vectors(s: Any, u: Any, v_adjoint: Any, t: Any, inner: Any) -> tuple[Any, Any]:
    """Return the tangents of U and Vᴴ; `inner` is Uᴴ t V."""
    v = adjoint(v_adjoint)
    weights, along, down = _weights(s, inner)
    right, left = mul(along, inner), mul(down, inner)
    turned = mul(weights, add(right, adjoint(right)))
    if dt.is_complex(get_aval(inner).dtype):
        turned = add(turned, _phases(s, inner))
    t_u = product(u, turned)
    t_v = product(v, mul(weights, add(left, adjoint(left))))
    m, n = get_aval(t).shape[-2:]
    if not dims.is_surely_at_least(n, m):
        t_u = add(t_u, _outside(product(t, v), u, s))
    if not dims.is_surely_at_least(m, n):
        t_v = add(t_v, _outside(product(adjoint(t), u), v, s))
    return t_u, adjoint(t_v)


def _weights(s: Any, inner: Any) -> tuple[Any, Any, Any]:
    """Return 1 / (s_j² - s_i²), 0 on the diagonal, s_j and s_i, in the place [i, j]."""
    shape, dtype = get_aval(inner).shape, get_aval(inner).dtype
    along, down = along_rows(s, shape), along_columns(s, shape)
    one = identity(shape, get_aval(s).dtype)
    gaps = add(mul(add(along, down), sub(along, down)), one)
    weights = sub(div(scalar_like(s, 1), gaps), one)
    return tuple([convert_element_type(x, dtype) for x in (weights, along, down)])


def _phases(s: Any, inner: Any) -> Any:
    """Return the phase by which each column of U moves; those of V stay."""
    shape, dtype = get_aval(inner).shape, get_aval(inner).dtype
    none = convert_element_type(eq(s, scalar_like(s, 0)), get_aval(s).dtype)
    inverse = sub(div(scalar_like(s, 1), add(s, none)), none)
    scale = mul(identity(shape, get_aval(s).dtype), along_rows(inverse, shape))
    skew = mul(sub(inner, adjoint(inner)), scalar_like(inner, 0.5))
    return mul(skew, convert_element_type(scale, dtype))


def _outside(moved: Any, vectors: Any, s: Any) -> Any:
    """Return the part of a move that leaves the space of the vectors."""
    aval = get_aval(moved)
    rest = sub(moved, product(vectors, product(adjoint(vectors), moved)))
    return div(rest, convert_element_type(along_rows(s, aval.shape), aval.dtype))


def _batch(args: Values, at: Dims, **params: Any) -> Any:
    return batch_stack(svd_p, args, at, **params)


def _case(
    shape: Any,
    *,
    full_matrices: bool = False,
    compute_uv: bool = True,
    algorithm: SvdAlgorithm | None = None,
) -> Case:
    params = {"full_matrices": full_matrices, "compute_uv": compute_uv}
    return Case((shape,), {**params, "algorithm": algorithm})


_SIGNED: Final = PerSize("the signs of singular vectors depend on the size")


def _pad(bucket: PadContext, x: PaddedValue, **params: Any) -> Values:
    if params["compute_uv"] and x.padded_axes(last_axes(x)):
        _SIGNED()
    return bucket.bind_all(*without_padding(bucket, (x, 2)), **params)


svd_p: Final = Primitive(
    name="svd",
    multiple_results=True,
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
        ("float32", "float64", "complex64"),  # the phases of vectors are a convention
        cases=(
            _case((3, 2)),
            _case((2, 3)),
            _case((3, 3), full_matrices=True, algorithm=SvdAlgorithm.QR),
            _case((3, 2), full_matrices=True, compute_uv=False),
            _case((2, 2, 3), compute_uv=False, algorithm=SvdAlgorithm.QR),
            _case((2, 2, 2)),
            _case((0, 2, 2), full_matrices=True),
            _case((0, 0)),
            _case((1, 1)),
        ),
        ulps=64,
        fit=each(distinct_eigenvalues),
    ),
)


def svd(
    x: Any,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> Any:
    """Return U, s and Vᴴ, of which matrices are products: `x = U diag(s) Vᴴ`.

    Args:
        x: matrices along the last two axes.
        full_matrices: whether U and V are square; else they have as many vectors as
            there are singular values.
        compute_uv: whether to return U and Vᴴ; else s alone.
        subset_by_index: which singular values to return, from the first to before the
            second, counted from the largest; None for all.
        algorithm: None, `SvdAlgorithm.DIVIDE_AND_CONQUER` or `SvdAlgorithm.QR`.

    Returns:
        U, s, which does not grow, and Vᴴ; NaN for a matrix that is not finite, and where
        the algorithm fails.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.linalg.svd(np.array([[3.0, 0.0], [0.0, 4.0]]), compute_uv=False)
        Array([4., 3.], dtype=float32)
    """
    if algorithm in (SvdAlgorithm.JACOBI, SvdAlgorithm.POLAR):
        raise ArgumentError(
            f"svd: expected an algorithm that the CPU has, got {algorithm}. Pass None, "
            "SvdAlgorithm.DIVIDE_AND_CONQUER or SvdAlgorithm.QR."
        )
    params = {"full_matrices": bool(full_matrices), "compute_uv": bool(compute_uv)}
    outs = svd_p.bind_all(x, **params, algorithm=algorithm)
    if subset_by_index is not None:
        outs = _subset(outs, subset_by_index, full_matrices=full_matrices)
    if not compute_uv:
        return outs[0]
    s, u, v = outs
    return u, s, v


def _subset(outs: Values, bounds: tuple[int, int], *, full_matrices: bool) -> Values:
    count = get_aval(outs[0]).shape[-1]
    start, stop = part_of("svd", bounds, count)
    if full_matrices and not (start == 0 and dims.is_same(stop, count)):
        raise ArgumentError(
            "svd: expected full_matrices=False with subset_by_index, got True. A subset "
            "has no vectors beyond it: pass full_matrices=False."
        )
    if full_matrices:
        return outs
    axes = (-1, -1, -2)[: len(outs)]
    return tuple(
        [slice_in_dim(x, start, stop, 1, a) for x, a in zip(outs, axes, strict=True)]
    )
