"""Products of vectors and matrices: dot, matmul, tensordot, inner, outer, kron, cross.

Operands are promoted to one dtype, which is also that of the sums: integers stay as
narrow as they are. `precision` is the precision of float products on accelerators.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import Shape
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.fusion import fuse_eager
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.elementwise.arithmetic import multiply, subtract
from imprint._src.numpy.indexing.indexing import getitem
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    check_ranks,
    convert,
    match_shapes,
    promote_dtypes,
    refuse_out,
)
from imprint._src.numpy.shapes.concatenate import stack
from imprint._src.numpy.shapes.reshape import axis_tuple, broadcast_to, moveaxis, ravel
from imprint._src.primitives.axes import canonical_axes, canonical_axis, whole
from imprint._src.primitives.core_ops import mul, transpose
from imprint._src.primitives.dot import dot_general_p
from imprint._src.primitives.elementwise.complex import conj
from imprint._src.primitives.elementwise.precision import canonical_precision
from imprint._src.primitives.shape import expand_dims, reshape, squeeze

Ints = tuple[int, ...]
Pair = tuple[Ints, Ints]


def contract(
    name: str,
    pair: tuple[ArrayLike, ArrayLike],
    contracted: Pair,
    batch: Pair = ((), ()),
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Promote two arrays and contract axes of them; the result has JAX's dtype."""
    x, y = (as_array(name, v) for v in pair)
    if x.aval.dtype != y.aval.dtype:
        x, y = promote_dtypes(name, (x, y))
    dtype = x.aval.dtype
    if preferred_element_type is not None:
        dtype = dtypes.requested(preferred_element_type, name)
    params: dict[str, Any] = {"preferred_element_type": dtype}
    exactness = canonical_precision(precision)
    if exactness is not None:
        params["precision"] = exactness
    numbers = (contracted, batch)
    product = dot_general_p.bind1(x, y, dimension_numbers=numbers, **params)
    weak = x.aval.weak_type and y.aval.weak_type and preferred_element_type is None
    return convert(name, product, dtype, weak_type=weak)


@fuse_eager
def dot(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return the dot product: a sum over the last axis of `a` and one axis of `b`.

    Args:
        a: its last axis is contracted.
        b: its last axis but one is contracted, or its only one.
        precision: the precision of float products; None for the default.
        preferred_element_type: the dtype of the sums and the result.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of the remaining axes of `a`, then those of `b`, in the promoted dtype
        unless `preferred_element_type` is given.

    Raises:
        ShapeError: the contracted axes have different lengths.

    References:
        NumPy, `numpy.dot`.

    Example:
        >>> import imprint.numpy as np
        >>> np.dot(np.arange(3), np.arange(3))
        Array(5, dtype=int32)
    """
    if out_sharding is not None:
        return spread(
            dot(
                a, b, precision=precision, preferred_element_type=preferred_element_type
            ),
            out_sharding,
        )
    x, y = as_array("dot", a), as_array("dot", b)
    sums: tuple[Ints, Ints] = ((), ())
    if x.ndim and y.ndim:
        sums = ((x.ndim - 1,), (max(0, y.ndim - 2),))
        _check_lengths("dot", x, y, sums)
    return contract(
        "dot",
        (x, y),
        sums,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def matmul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return the products of stacks of matrices: the function of `a @ b`.

    Args:
        a: matrices along the last two axes, or a row.
        b: matrices along the last two axes, or a column.
        precision: the precision of float products; None for the default.
        preferred_element_type: the dtype of the sums and the result.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The products, whose leading axes are broadcast, in the promoted dtype unless
        `preferred_element_type` is given.

    Raises:
        ShapeError: an operand has no axes, or the shapes do not fit.

    References:
        NumPy, `numpy.matmul`.

    Example:
        >>> import imprint.numpy as np
        >>> np.matmul(np.ones((2, 3)), np.ones((3, 2)))
        Array([[3., 3.],
               [3., 3.]], dtype=float32)
    """
    if out_sharding is not None:
        return spread(
            matmul(
                a, b, precision=precision, preferred_element_type=preferred_element_type
            ),
            out_sharding,
        )
    x, y = as_array("matmul", a), as_array("matmul", b)
    plan = _plan(x.aval.shape, y.aval.shape)
    if plan is None:
        raise _misfit(x, y)
    if plan.stack:  # both are stacks: their leading axes are batch axes
        x = broadcast_to(x, (*plan.stack, *x.shape[-2:]))
        y = broadcast_to(y, (*plan.stack, *y.shape[-2:]))
    product = contract(
        "matmul",
        (x, y),
        plan.contracted,
        plan.batch,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
    return transpose(product, plan.order) if plan.order else product


class _MatmulPlan(NamedTuple):
    """The common stack, and the axes of the product of two stacks of matrices."""

    stack: Shape
    contracted: Pair
    batch: Pair
    order: Ints


@lru_cache(maxsize=1024)
def _plan(x: Shape, y: Shape) -> _MatmulPlan | None:
    """Return the plan for matrices of these shapes; None if they do not match."""
    lead = dims.broadcast_shapes((x[:-2], y[:-2]))
    if not x or not y or lead is None or not dims.equal(x[-1], y[max(0, len(y) - 2)]):
        return None
    both = len(x) > 2 and len(y) > 2
    stack = lead if both else ()
    shared = tuple(range(len(stack)))
    rank_x = len(lead) + 2 if both else len(x)
    rank_y = len(lead) + 2 if both else len(y)
    contracted = ((rank_x - 1,), (max(0, rank_y - 2),))
    order: Ints = ()
    if len(x) == 2 and len(y) > 2:  # the rows came first: move them before the columns
        order = (*range(1, len(y) - 1), 0, len(y) - 1)
    return _MatmulPlan(stack, contracted, (shared, shared), order)


def _misfit(x: Array, y: Array) -> ShapeError:
    if not x.ndim or not y.ndim:
        return ShapeError(
            f"matmul: expected operands with an axis, got {x.aval} and {y.aval}. "
            "Multiply by a scalar with `*`."
        )
    left, right = x.ndim - 1, max(0, y.ndim - 2)
    given = f"got {x.aval} and {y.aval}"
    if dims.equal(x.shape[left], y.shape[right]):
        return ShapeError(
            f"matmul: expected leading axes that broadcast, {given}. Contract other axes "
            "with imprint.numpy.einsum."
        )
    transpose = (
        "Transpose an operand with `.mT`, or contract" if y.ndim > 1 else "Contract"
    )
    return ShapeError(
        f"matmul: expected axis {left} of the left operand, of length {x.shape[left]}, to "
        f"be as long as axis {right} of the right one, of length {y.shape[right]}, {given}. "
        f"{transpose} other axes with imprint.numpy.einsum."
    )


@fuse_eager
def vdot(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Return the dot product of two flattened arrays, the first one conjugated.

    Args:
        a: an array.
        b: an array with as many elements.
        precision: the precision of float products; None for the default.
        preferred_element_type: the dtype of the sums and the result; None for the
            promoted dtype.

    Returns:
        An array of rank 0, in the promoted dtype unless `preferred_element_type` is
        given.

    References:
        NumPy, `numpy.vdot`.

    Example:
        >>> import imprint.numpy as np
        >>> np.vdot(np.array([1j]), np.array([1j]))
        Array(1.+0.j, dtype=complex64)
    """
    x = as_array("vdot", a)
    return dot(
        ravel(conj(x) if dtypes.is_complex(x.dtype) else x),
        ravel(b),
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


@fuse_eager
def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Return the dot products of vectors along an axis, the first ones conjugated.

    Args:
        x1: vectors.
        x2: vectors of the same length; other axes broadcast.
        axis: their axis.
        precision: the precision of float products; None for the default.
        preferred_element_type: the dtype of the sums and the result; None for the
            promoted dtype.

    Returns:
        The products, without the axis, in the promoted dtype unless
        `preferred_element_type` is given.

    Raises:
        ShapeError: the vectors have different lengths.

    References:
        NumPy, `numpy.vecdot`.

    Example:
        >>> import imprint.numpy as np
        >>> np.vecdot(np.ones((2, 3)), np.arange(3.0))
        Array([3., 3.], dtype=float32)
    """
    x, y = as_array("vecdot", x1), as_array("vecdot", x2)
    x = moveaxis(conj(x) if dtypes.is_complex(x.dtype) else x, axis, -1)
    y = moveaxis(y, axis, -1)
    _check_lengths("vecdot", x, y, ((x.ndim - 1,), (y.ndim - 1,)))
    x, y = match_shapes("vecdot", (x, y))
    shared = tuple(range(x.ndim - 1))
    return contract(
        "vecdot",
        (x, y),
        ((x.ndim - 1,), (y.ndim - 1,)),
        (shared, shared),
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


@fuse_eager
def tensordot(
    a: ArrayLike,
    b: ArrayLike,
    axes: int | Sequence[Any] = 2,
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Contract axes of two arrays.

    Args:
        a: an array.
        b: an array.
        axes: the number of last axes of `a` and first axes of `b`, or the axes of each.
        precision: the precision of float products; None for the default.
        preferred_element_type: the dtype of the sums and the result.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of the remaining axes of `a`, then those of `b`, in the promoted dtype
        unless `preferred_element_type` is given.

    Raises:
        ShapeError: there are fewer axes than `axes`, or contracted axes have different
            lengths.
        ArgumentError: the lists in `axes` have different lengths.

    References:
        NumPy, `numpy.tensordot`.

    Example:
        >>> import imprint.numpy as np
        >>> np.tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1).shape
        (2, 4)
    """
    if out_sharding is not None:
        return spread(
            tensordot(
                a,
                b,
                axes,
                precision=precision,
                preferred_element_type=preferred_element_type,
            ),
            out_sharding,
        )
    x, y = as_array("tensordot", a), as_array("tensordot", b)
    sums = _tensordot_axes(x, y, axes)
    _check_lengths("tensordot", x, y, sums)
    return contract(
        "tensordot",
        (x, y),
        sums,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _tensordot_axes(x: Array, y: Array, axes: Any) -> tuple[Ints, Ints]:
    if isinstance(axes, Sequence):
        return _paired_axes(x, y, cast("Sequence[Any]", axes))
    count = whole("tensordot", "axes", axes)
    if not 0 <= count <= min(x.ndim, y.ndim):
        raise ShapeError(
            f"tensordot: expected at most {min(x.ndim, y.ndim)} axes for {x.aval} and "
            f"{y.aval}, got axes={count}. Name the axes as a pair of lists."
        )
    return tuple(range(x.ndim - count, x.ndim)), tuple(range(count))


def _paired_axes(x: Array, y: Array, axes: Sequence[Any]) -> tuple[Ints, Ints]:
    first, second = (axis_tuple("tensordot", part) for part in axes)
    if len(first) != len(second):
        raise ArgumentError(
            "tensordot: expected as many axes of one array as of the other, got "
            f"{first} and {second}. They are contracted in pairs."
        )
    return (
        canonical_axes("tensordot", first, x.ndim),
        canonical_axes("tensordot", second, y.ndim),
    )


def _check_lengths(
    name: str, x: Array, y: Array, sums: tuple[Sequence[int], Sequence[int]]
) -> None:
    pairs = zip(*sums, strict=True)
    if not all(dims.equal(x.shape[i], y.shape[j]) for i, j in pairs):
        raise ShapeError(
            f"{name}: expected equal lengths of axes {tuple(sums[0])} of {x.aval} and "
            f"axes {tuple(sums[1])} of {y.aval}. Transpose an operand, or name other "
            "axes with imprint.numpy.einsum."
        )


@fuse_eager
def inner(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Contract the last axes of two arrays.

    Args:
        a: an array.
        b: an array whose last axis is as long; or either is a number.
        precision: the precision of float products; None for the default.
        preferred_element_type: the dtype of the sums and the result; None for the
            promoted dtype.

    Returns:
        An array of the remaining axes of `a`, then those of `b`, in the promoted dtype
        unless `preferred_element_type` is given.

    References:
        NumPy, `numpy.inner`.

    Example:
        >>> import imprint.numpy as np
        >>> np.inner(np.array([1, 2]), np.array([[1, 0], [0, 1]]))
        Array([1, 2], dtype=int32)
    """
    x, y = as_array("inner", a), as_array("inner", b)
    if not x.ndim or not y.ndim:
        return multiply(x, y)
    return tensordot(
        x,
        y,
        ((-1,), (-1,)),
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


@fuse_eager
def outer(a: ArrayLike, b: ArrayLike, out: None = None) -> Array:
    """Return the products of all pairs of elements of two flattened arrays.

    Args:
        a: an array of m elements.
        b: an array of n elements.
        out: must be None; arrays are immutable.

    Returns:
        A matrix of shape (m, n), in the promoted dtype.

    References:
        NumPy, `numpy.outer`.

    Example:
        >>> import imprint.numpy as np
        >>> np.outer(np.arange(2), np.arange(3))
        Array([[0, 0, 0],
               [0, 1, 2]], dtype=int32)
    """
    refuse_out("outer", out)
    rows, columns = expand_dims(ravel(a), (1,)), expand_dims(ravel(b), (0,))
    return multiply(rows, columns)


@fuse_eager
def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the Kronecker product: a copy of `b` for each element of `a`, times it.

    Args:
        a: an array.
        b: an array; the one with fewer axes gets leading axes of length 1.

    Returns:
        An array whose axes are as long as the product of both, in the promoted dtype.

    References:
        NumPy, `numpy.kron`.

    Example:
        >>> import imprint.numpy as np
        >>> np.kron(np.array([1, 10]), np.array([1, 2]))
        Array([ 1,  2, 10, 20], dtype=int32)
    """
    x, y = promote_dtypes("kron", [as_array("kron", v) for v in (a, b)])
    rank = max(x.ndim, y.ndim)
    x, y = (expand_dims(v, tuple(range(rank - v.ndim))) for v in (x, y))
    shape = tuple(m * n for m, n in zip(x.shape, y.shape, strict=True))
    blocks = expand_dims(x, tuple(range(1, 2 * rank, 2)))
    within = expand_dims(y, tuple(range(0, 2 * rank, 2)))
    return reshape(mul(*match_shapes("kron", (blocks, within))), shape)


@fuse_eager
def cross(
    a: ArrayLike,
    b: ArrayLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Array:
    """Return the cross products of vectors of three elements.

    Args:
        a: vectors.
        b: vectors.
        axisa: the axis of the vectors in `a`.
        axisb: the axis of the vectors in `b`.
        axisc: the axis of the vectors in the result.
        axis: all three, if given.

    Returns:
        The products, of the broadcast shape, in the promoted dtype.

    Raises:
        ShapeError: the vectors have not three elements.

    References:
        NumPy, `numpy.cross`.

    Example:
        >>> import imprint.numpy as np
        >>> np.cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
        Array([0, 0, 1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x = moveaxis(as_array("cross", a), axisa, -1)
    y = moveaxis(as_array("cross", b), axisb, -1)
    if not all(dims.equal(v.shape[-1], _SPACE) for v in (x, y)):
        raise ShapeError(
            f"cross: expected vectors of three elements, got {x.aval} and {y.aval} "
            "with the vectors last. Name their axis, or append zeros."
        )
    x0, x1, x2 = (getitem(x, (..., i)) for i in range(_SPACE))
    y0, y1, y2 = (getitem(y, (..., i)) for i in range(_SPACE))
    parts = [
        subtract(multiply(x1, y2), multiply(x2, y1)),
        subtract(multiply(x2, y0), multiply(x0, y2)),
        subtract(multiply(x0, y1), multiply(x1, y0)),
    ]
    return moveaxis(stack(parts), 0, axisc)


_SPACE: Final = 3


def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return the products of matrices and vectors.

    Args:
        x1: matrices along the last two axes.
        x2: vectors along the last axis; leading axes broadcast.

    Returns:
        Vectors along the last axis, in the promoted dtype.

    References:
        NumPy, `numpy.matvec`.

    Example:
        >>> import imprint.numpy as np
        >>> np.matvec(np.ones((2, 3)), np.arange(3.0))
        Array([3., 3.], dtype=float32)
    """
    vectors = as_array("matvec", x2)
    check_ranks("matvec", (as_array("matvec", x1), vectors), (2, 1))
    product = matmul(x1, expand_dims(vectors, (vectors.ndim,)))
    return squeeze(product, (canonical_axis("matvec", -1, product.ndim),))


def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return the products of vectors, conjugated, and matrices.

    Args:
        x1: vectors along the last axis.
        x2: matrices along the last two axes; leading axes broadcast.

    Returns:
        Vectors along the last axis, in the promoted dtype.

    References:
        NumPy, `numpy.vecmat`.

    Example:
        >>> import imprint.numpy as np
        >>> np.vecmat(np.arange(2.0), np.ones((2, 3)))
        Array([1., 1., 1.], dtype=float32)
    """
    x = as_array("vecmat", x1)
    check_ranks("vecmat", (x, as_array("vecmat", x2)), (1, 2))
    vectors = conj(x) if dtypes.is_complex(x.dtype) else x
    product = matmul(expand_dims(vectors, (vectors.ndim - 1,)), x2)
    return squeeze(product, (product.ndim - 2,))
