"""Shared rules of primitives on stacks of matrices: operands, batching, triangles, NaN.

The last axes of an operand are those of a matrix or vector, as many as its rank is; the
leading ones, alike in all operands, number the matrices of a stack. A hidden axis is one
more of these. A matrix for which LAPACK fails gives NaN, and leaves the others of its stack
alone; NumPy raises, and `or_nan` makes NaN of that.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import DType, Shape, ShapedArray, get_aval
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Avals, Dims, Primitive, Values
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.primitives.axes import int_tuple
from imprint._src.primitives.core_ops import (
    add,
    broadcast_in_dim,
    full,
    reduce_sum,
    transpose,
)
from imprint._src.primitives.dot import dot_general
from imprint._src.primitives.elementwise.comparison import eq, ge
from imprint._src.primitives.elementwise.complex import conj
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.elementwise import listed
from imprint._src.primitives.elementwise.precision import Precision
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.families import DTypeClass
from imprint._src.primitives.indexing.dynamic_slicing import batch_size, in_front
from imprint._src.primitives.shape import broadcasted_iota
from imprint._src.stablehlo import Builder, Value
from imprint._src.stablehlo.custom_calls import LETTERS

NDArray = np.ndarray[Any, Any]

DTYPES: Final = tuple(LETTERS)
"""The names of the dtypes that LAPACK has."""

LAPACK: Final = DTypeClass(
    lambda d: d.name in LETTERS, "float32, float64, complex64 or complex128"
)

# ---- operands ----


def stack_of(name: str, ranks: Sequence[int], avals: Avals) -> Shape:
    """Return the leading axes of operands whose last axes are as many as `ranks` says."""
    for rank, aval in zip(ranks, avals, strict=True):
        if aval.ndim < rank:
            raise ShapeError(
                f"{name}: expected an operand of at least {rank} axes, got {aval}. "
                "Reshape it: the last axes are those of a matrix or vector."
            )
    stacks = [a.shape[: a.ndim - r] for r, a in zip(ranks, avals, strict=True)]
    if not all(dims.equal_shapes(stack, stacks[0]) for stack in stacks[1:]):
        raise ShapeError(
            f"{name}: expected operands with the same leading axes, got "
            f"{listed(avals)}. Broadcast them first, or call imprint.numpy.linalg."
        )
    return stacks[0]


def check_square(name: str, x: ShapedArray) -> None:
    """Raise ShapeError unless the matrices of `x` are square."""
    if not dims.equal(x.shape[-1], x.shape[-2]):
        raise ShapeError(
            f"{name}: expected square matrices along the last two axes, got {x}. "
            "For others there are imprint.numpy.linalg.lstsq, pinv and svd."
        )


def check_alike(name: str, avals: Avals) -> None:
    """Raise DTypeError unless all operands have one dtype, which is one of LAPACK's."""
    LAPACK.check(name, avals)
    first = avals[0]
    for aval in avals[1:]:
        DTypeClass(
            lambda d: d == first.dtype, f"operands of one dtype, {first.dtype}"
        ).check(name, (aval,))


# ---- batching ----


def batch_stack(primitive: Primitive, args: Values, at: Dims, **params: Any) -> Any:
    """Batch by making the hidden axis the first of the stack, in all operands."""
    size = batch_size(args, at)
    given = [in_front(x, b, size) for x, b in zip(args, at, strict=True)]
    outs = primitive.bind_all(*given, **params)
    return outs, (0,) * len(outs)


# ---- helpers of rules ----


def tril(x: Any, k: int = 0) -> Any:
    """Return matrices with zeros above diagonal `k`."""
    aval = get_aval(x)
    return select_n(_at_or_below(aval.shape, k), zeros_like(x), x)


def triu(x: Any, k: int = 0) -> Any:
    """Return matrices with zeros below diagonal `k`."""
    aval = get_aval(x)
    return select_n(_at_or_below(aval.shape, k - 1), x, zeros_like(x))


def _at_or_below(shape: Shape, k: int) -> Any:
    """Return, for each element of matrices, whether it is on diagonal `k` or below."""
    rows, columns = _numbered(shape)
    mask = ge(add(rows, _INT32.type(k)) if k else rows, columns)
    return _for_each(mask, shape)


def _numbered(shape: Shape) -> tuple[Any, Any]:
    rows, columns = (broadcasted_iota(_INT32, shape[-2:], axis) for axis in (0, 1))
    return rows, columns


def _for_each(matrix: Any, shape: Shape) -> Any:
    """Repeat a matrix for each of a stack."""
    ndim = len(shape)
    return (
        matrix if ndim == 2 else broadcast_in_dim(matrix, shape, (ndim - 2, ndim - 1))
    )


_INT32: Final = np.dtype(np.int32)


def zeros_like(x: Any) -> Any:
    """Return zeros of the shape and dtype of `x`."""
    aval = get_aval(x)
    return full(aval.shape, 0, aval.dtype)


def identity(shape: Shape, dtype: DType) -> Any:
    """Return matrices with ones on the diagonal."""
    rows, columns = _numbered(shape)
    return _for_each(convert_element_type(eq(rows, columns), dtype), shape)


def swapped(x: Any) -> Any:
    """Return the transposed matrices."""
    ndim = get_aval(x).ndim
    return transpose(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def adjoint(x: Any) -> Any:
    """Return the transposed matrices, conjugated."""
    across = swapped(x)
    return conj(across) if dt.is_complex(get_aval(x).dtype) else across


def product(x: Any, y: Any) -> Any:
    """Multiply the matrices of two stacks, as exactly as the dtype allows."""
    stack = tuple(range(get_aval(x).ndim - 2))
    last = len(stack)
    numbers = (((last + 1,), (last,)), (stack, stack))
    return dot_general(x, y, numbers, precision=Precision.HIGHEST)


def diagonal(x: Any) -> Any:
    """Return the diagonals of square matrices."""
    shape = get_aval(x).shape
    rows, columns = _numbered(shape)
    mask = _for_each(eq(rows, columns), shape)
    return reduce_sum(select_n(mask, zeros_like(x), x), (len(shape) - 1,))


def along_rows(vectors: Any, shape: Shape) -> Any:
    """Return matrices each of whose rows is the vector."""
    ndim = len(shape)
    return broadcast_in_dim(vectors, shape, (*range(ndim - 2), ndim - 1))


def along_columns(vectors: Any, shape: Shape) -> Any:
    """Return matrices each of whose columns is the vector."""
    return broadcast_in_dim(vectors, shape, tuple(range(len(shape) - 1)))


def part_of(name: str, bounds: tuple[int, int], n: int) -> tuple[int, int]:
    """Check which of `n` values a function shall return, from one to before another."""
    start, stop = int_tuple(bounds)
    if not 0 <= start <= stop <= n:
        raise ArgumentError(
            f"{name}: expected a subset_by_index within [0, {n}], got {bounds}. It is "
            "the first index, and the one behind the last."
        )
    return start, stop


# ---- operands without elements ----


def constants(b: Builder, values: Values) -> tuple[Value, ...]:
    """Write the results for an operand without elements."""
    return tuple([b.constant(x) for x in values])


# ---- failures are NaN ----


def nan_unless(b: Builder, succeeded: Value, x: Value) -> Value:
    """Write NaN in the place of those of a stack for which LAPACK did not succeed."""
    mask = b.broadcast_in_dim(succeeded, x.shape, range(succeeded.ndim))
    return b.select(mask, x, b.full(x.shape, nan_of(x.dtype), x.dtype))


def is_zero_info(b: Builder, info: Value) -> Value:
    """Write the question whether LAPACK says of each of a stack that it succeeded."""
    return b.compare(info, b.full(info.shape, 0, info.dtype), "EQ")


def or_nan(compute: Callable[[NDArray], NDArray], x: NDArray) -> NDArray:
    """Compute a stack with `numpy.linalg`; those for which it raises are NaN."""
    try:
        return compute(x)
    except np.linalg.LinAlgError:
        if x.ndim == 2:
            return np.full_like(x, nan_of(x.dtype))
    outs = [or_nan(compute, one) for one in x]
    return np.stack(outs)


def nan_of(dtype: DType) -> complex:
    """Return the NaN of a dtype."""
    return complex(np.nan, np.nan) if dt.is_complex(dtype) else np.nan


# ---- samples ----


def each(change: Callable[[NDArray], NDArray]) -> Callable[..., Values]:
    """Return the `fit` that changes every operand alike."""

    def fit(*arrays: NDArray, **_: Any) -> Values:
        return tuple(map(change, arrays))

    return fit


def tame(x: NDArray) -> NDArray:
    """Return drawn numbers as small ones: no infinity, nor a zero, whose sign is free."""
    size = np.abs(x)
    return np.where((size > 0.125) & (size < 8), x, x.dtype.type(1))


def invertible(x: NDArray) -> NDArray:
    """Return matrices made of drawn ones whose diagonal outweighs the rest."""
    n = max(x.shape[-1], 1)
    return tame(x) / x.dtype.type(8 * n) + np.eye(*x.shape[-2:], dtype=x.dtype)


def distinct_eigenvalues(x: NDArray) -> NDArray:
    """Return matrices made of drawn ones whose eigenvalues, or singular ones, differ."""
    n = min(x.shape[-2:])
    ladder = np.eye(*x.shape[-2:], dtype=x.dtype)
    ladder[range(n), range(n)] = range(1, n + 1)
    return tame(x) / x.dtype.type(32 * max(n, 1)) + ladder


def positive_definite(x: NDArray) -> NDArray:
    """Return positive definite matrices made of drawn ones."""
    factor = invertible(x)
    return factor @ np.conj(np.swapaxes(factor, -1, -2))


# ---- padding ----


def last_axes(x: PaddedValue, count: int = 2) -> tuple[int, ...]:
    """Return the last axes."""
    ndim = x.aval.ndim
    return tuple(range(ndim - count, ndim))


def without_padding(
    bucket: PadContext, *operands: tuple[PaddedValue, int]
) -> list[PaddedValue]:
    """Return operands with zeros in the padding of the last axes, of so many each."""
    return [bucket.filled(x, 0, last_axes(x, count)) for x, count in operands]


def padding_with_zeros(*ranks: int) -> Callable[..., Values]:
    """Return the rule that does so: zeros reflect nothing.

    Args:
        ranks: of how many axes an example of each operand is.
    """

    def rule(bucket: PadContext, *operands: PaddedValue, **params: Any) -> Values:
        pairs = zip(operands, ranks, strict=True)
        return bucket.bind_all(*without_padding(bucket, *pairs), **params)

    return rule


def in_block(bucket: PadContext, x: PaddedValue, number: Any) -> Any:
    """Return square matrices alone in theirs: behind them is a number times the identity."""
    (zeroed,) = without_padding(bucket, (x, 2))
    padded = x.padded_axes(last_axes(x))
    if not padded:
        return zeroed.value
    shape = bucket.bound(x.aval.shape)
    rows, columns = _numbered(shape)
    on_diagonal = _for_each(eq(rows, columns), shape)
    there = select_n(bucket.inside(x.aval.shape, padded), on_diagonal, np.False_)
    return select_n(there, zeroed.value, number)
