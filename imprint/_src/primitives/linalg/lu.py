"""lu: a matrix as a row permutation, a lower and an upper triangle; A = P L U.

Both triangles are in one matrix: the ones on the diagonal of L are left out. `pivots` has for
each row the later row it was exchanged with; lu_pivots_to_permutation computes from these
which row of A each row of L U is. A singular matrix has zeros on the diagonal of U. The
reference is SciPy's, as NumPy has none, and loads at the first factorization.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import Shape, ShapedArray, get_aval
from imprint._src.core.dims import Dim
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import zero_of
from imprint._src.errors import ShapeError
from imprint._src.primitives.core_ops import (
    NOT_LINEAR,
    add,
    broadcast_in_dim,
    not_differentiable,
    reduce_sum,
    scalar_like,
)
from imprint._src.primitives.elementwise.comparison import eq
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.families import DTypeClass
from imprint._src.primitives.indexing.gather import gather
from imprint._src.primitives.indexing.slicing import pad, slice_in_dim
from imprint._src.primitives.linalg.lapack_calls import routine
from imprint._src.primitives.linalg.triangular import triangular_solve
from imprint._src.primitives.matrices import (
    DTYPES,
    LAPACK,
    batch_stack,
    identity,
    invertible,
    nan_unless,
    product,
    stack_of,
    tril,
    triu,
    without_padding,
    zeros_like,
)
from imprint._src.primitives.native_calls import as_small_matrices
from imprint._src.primitives.shape import broadcasted_iota, expand_dims
from imprint._src.primitives.windows.gather_dims import (
    GatherDimensionNumbers,
    GatherScatterMode,
)
from imprint._src.stablehlo import Builder, Value, indexed, tensor
from imprint._src.stablehlo.custom_calls import lapack_call, native_call

NDArray = np.ndarray[Any, Any]

_INT32: Final = np.dtype(np.int32)


def rows_at(x: Any, order: Any) -> Any:
    """Return the rows of matrices in an order: numbers of rows, of each of the stack."""
    stack = get_aval(order).ndim - 1
    each = tuple(range(stack))
    numbers = GatherDimensionNumbers(
        offset_dims=(stack + 1,),
        collapsed_slice_dims=(stack,),
        start_index_map=(stack,),
        operand_batching_dims=each,
        start_indices_batching_dims=each,
    )
    sizes = (*(1,) * (stack + 1), get_aval(x).shape[-1])
    return gather(
        x,
        expand_dims(order, (stack + 1,)),
        numbers,
        sizes,
        unique_indices=True,
        mode=GatherScatterMode.PROMISE_IN_BOUNDS,
    )


def inverse_order(order: Any) -> Any:
    """Return the inverse permutation, which restores the order of rows."""
    shape = get_aval(order).shape
    last = len(shape) - 1
    square = (*shape, shape[-1])
    where_it_is = eq(
        broadcast_in_dim(order, square, tuple(range(last + 1))),
        broadcasted_iota(_INT32, square, last + 1),
    )
    row = broadcasted_iota(_INT32, square, last)
    return reduce_sum(select_n(where_it_is, zeros_like(row), row), (last,))


# ---- lu ----


def _aval(x: ShapedArray) -> Avals:
    LAPACK.check("lu", (x,))
    stack = stack_of("lu", (2,), (x,))
    m, n = x.shape[-2:]
    pivots, order = ((*stack, size) for size in (dims.minimum(m, n), m))
    return x, *(
        ShapedArray(shape, _INT32, weak_type=x.weak_type) for shape in (pivots, order)
    )


def _reference(x: NDArray) -> Values:
    m, n = x.shape[-2:]
    stack = x.shape[:-2]
    out = np.array(x)
    pivots = np.zeros((*stack, min(m, n)), _INT32)
    if x.size:
        factor = routine("getrf", x.dtype)
        for at in np.ndindex(stack):
            out[at], pivots[at], _ = factor(x[at])
    return out, pivots, _ordered(pivots, m)


def _lower(b: Builder, x: Value) -> tuple[Value, ...]:
    m, n = x.shape[-2:]
    stack = x.shape[:-2]
    of_pivots = tensor((*stack, min(m, n)), _INT32)
    if dims.has_zero(x.shape):
        order = b.iota((*stack, m), _INT32, len(stack))
        return x, b.full(of_pivots.shape, 0, _INT32), order
    small = as_small_matrices(b, x)
    if small is not None:
        each = tensor(small.shape[:2], _INT32)
        results = native_call(b, "lu", [small], [small.type, each, each])
        shapes = x.shape, of_pivots.shape, (*stack, m)
        return tuple(map(b.reshape, results, shapes))
    factor, pivots, info = lapack_call(
        b,
        "getrf",
        (x,),
        (x.type, of_pivots, tensor(stack, _INT32)),
        stack=len(stack),
        aliases={0: 0},
    )
    succeeded = b.compare(info, b.full(stack, 0, _INT32), "GE")
    pivots = b.subtract(pivots, b.full(pivots.shape, 1, _INT32))
    order = _exchanged(b, pivots, m)
    return nan_unless(b, succeeded, factor), pivots, order


def _jvp(primals: Values, tangents: Values) -> Any:
    """With A = P L U: L⁻¹ P⁻¹ dA U⁻¹ is L⁻¹ dL below the diagonal, else dU U⁻¹."""
    (x,), (t,) = primals, tangents
    factor, pivots, order = lu_p.bind_all(x)
    aval = get_aval(x)
    m, n = (dims.concrete(size, "lu derivative") for size in aval.shape[-2:])
    lower, upper = _triangles(factor, m, n)
    inner = triangular_solve(
        lower, rows_at(t, order), left_side=True, lower=True, unit_diagonal=True
    )
    inner = triangular_solve(upper, inner)
    below = product(lower, tril(inner, -1))
    above = product(triu(inner), upper)
    zeros = (zero_of(get_aval(v)) for v in (pivots, order))
    return (factor, pivots, order), (add(below, above), *zeros)


def _triangles(factor: Any, m: int, n: int) -> tuple[Any, Any]:
    """Return L and U as square matrices, of ones on the diagonal where they end."""
    aval = get_aval(factor)
    stack, last = aval.shape[:-2], aval.ndim - 1
    k = min(m, n)

    def grown(x: Any, low: int, high: int, *axes: int) -> Any:
        config = [(0, 0, 0)] * aval.ndim
        for axis in axes:
            config[axis] = (low, high, 0)
        return pad(x, scalar_like(x, 0), config)

    left = tril(slice_in_dim(factor, 0, k, axis=last), -1)
    lower = add(grown(left, 0, m - k, last), identity((*stack, m, m), aval.dtype))
    top = triu(slice_in_dim(factor, 0, k, axis=last - 1))
    ones = grown(identity((*stack, n - k, n - k), aval.dtype), k, 0, last - 1, last)
    return lower, add(grown(top, 0, n - k, last - 1), ones)


def _batch(args: Values, at: Dims) -> Any:
    return batch_stack(lu_p, args, at)


def _fit(x: NDArray) -> Values:
    return (np.flip(invertible(x), -2),)  # so rows are exchanged


def _pad(bucket: PadContext, x: PaddedValue) -> Values:
    """Zeros are the pivot of no row but their own."""
    return bucket.bind_all(*without_padding(bucket, (x, 2)))


lu_p: Final = Primitive(
    name="lu",
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
        DTYPES,
        cases=tuple(
            Case((shape,))
            for shape in (
                (3, 3),
                (2, 2, 2),
                (4, 2),
                (2, 4),
                (1, 1),
                (0, 0),
                (3, 0),
                (0, 2, 2),
            )
        ),
        ulps=64,
        fit=_fit,
    ),
)


def lu(x: Any) -> tuple[Any, Any, Any]:
    """Factor matrices: rows in an order are a lower triangle times an upper one.

    Args:
        x: matrices along the last two axes, of float32, float64, complex64 or
            complex128; they need not be square.

    Returns:
        The triangles in one matrix, without the ones on the diagonal of the lower; for each
        row, with which it was exchanged; and which row of `x` each row is.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> factor, pivots, order = lax.linalg.lu(np.array([[1.0, 2.0], [4.0, 2.0]]))
        >>> factor
        Array([[4.  , 2.  ],
               [0.25, 1.5 ]], dtype=float32)
        >>> order
        Array([1, 0], dtype=int32)
    """
    factor, pivots, order = lu_p.bind_all(x)
    return factor, pivots, order


# ---- lu_pivots_to_permutation ----

_PIVOTS: Final = DTypeClass(lambda d: d == _INT32, "pivots of int32")


def _order_aval(pivots: ShapedArray, *, permutation_size: Dim) -> Avals:
    _PIVOTS.check("lu_pivots_to_permutation", (pivots,))
    stack = stack_of("lu_pivots_to_permutation", (1,), (pivots,))
    if not dims.at_least(permutation_size, pivots.shape[-1]):
        raise ShapeError(
            "lu_pivots_to_permutation: expected at least as many rows as pivots, got "
            f"{permutation_size} for {pivots}. Pass how many rows the matrix has."
        )
    return (pivots.with_shape((*stack, permutation_size)),)


def _order_reference(pivots: NDArray, *, permutation_size: int) -> Values:
    return (_ordered(pivots, permutation_size),)


def _ordered(pivots: NDArray, m: int) -> NDArray:
    """Return the order of rows after the exchanges."""
    orders = np.empty((*pivots.shape[:-1], m), _INT32)
    for at in np.ndindex(pivots.shape[:-1]):
        order = list(range(m))
        for i, j in enumerate(pivots[at].tolist()):
            order[i], order[j] = order[j], order[i]
        orders[at] = order
    return orders


def _order_lower(
    b: Builder, pivots: Value, *, permutation_size: int
) -> tuple[Value, ...]:
    return (_exchanged(b, pivots, permutation_size),)


def _exchanged(b: Builder, pivots: Value, m: int) -> Value:
    """Write the loop that swaps two numbers of each of a stack in every iteration."""
    *stack, count = pivots.shape
    shape = (*stack, m)
    last = len(stack)
    places = b.iota(shape, _INT32, last)
    if dims.has_zero((*shape, count)):
        return places
    zero = b.constant(0, _INT32)
    zeros = [zero] * last

    def goes_on(inner: Builder, carry: Sequence[Value]) -> Sequence[Value]:
        return [inner.compare(carry[0], inner.constant(count, _INT32), "LT")]

    def exchange(inner: Builder, carry: Sequence[Value]) -> Sequence[Value]:
        i, order = carry
        one = (*stack, 1)
        other = indexed.dynamic_slice(inner, pivots, [*zeros, i], one)
        here = indexed.dynamic_slice(inner, order, [*zeros, i], one)
        to_all = range(last + 1)
        is_there = inner.compare(
            places, inner.broadcast_in_dim(other, shape, to_all), "EQ"
        )
        alone = inner.select(is_there, order, inner.full(shape, 0, _INT32))
        there = inner.reshape(
            inner.reduce(alone, inner.constant(0, _INT32), "add", [last]), one
        )
        moved = inner.broadcast_in_dim(here, shape, to_all)
        order = inner.select(is_there, moved, order)
        order = indexed.dynamic_update_slice(inner, order, there, [*zeros, i])
        return inner.add(i, inner.constant(1, _INT32)), order

    return b.while_loop((zero, places), goes_on, exchange)[1]


def _order_jvp(primals: Values, _: Values, **params: Any) -> Any:
    return not_differentiable(lu_pivots_to_permutation_p, primals, **params)


def _order_batch(args: Values, at: Dims, **params: Any) -> Any:
    return batch_stack(lu_pivots_to_permutation_p, args, at, **params)


def _order_fit(pivots: NDArray, *, permutation_size: int) -> Values:
    """Return, for each row, itself or a later one."""
    first = np.arange(pivots.shape[-1], dtype=_INT32)
    return (first + np.abs(pivots % 7) % (permutation_size - first),)


def _order_case(shape: Shape, size: int) -> Case:
    return Case((shape,), {"permutation_size": size})


def _order_pad(
    bucket: PadContext, pivots: PaddedValue, *, permutation_size: Dim
) -> Values:
    """Exchange each row that is padding with itself."""
    value, padded = pivots.value, pivots.padded_axes()
    if padded:
        shape = pivots.aval.shape
        lengths = bucket.bound(shape)
        own = broadcasted_iota(pivots.aval.dtype, lengths, len(shape) - 1)
        value = select_n(bucket.inside(shape, padded), own, value)
    return bucket.bind_all(value, permutation_size=permutation_size)


lu_pivots_to_permutation_p: Final = Primitive(
    name="lu_pivots_to_permutation",
    aval=_order_aval,
    reference=_order_reference,
    lower=_order_lower,
    fusion=UNFUSED,
    makes_nan=False,
    jvp=_order_jvp,
    transpose=NOT_LINEAR,
    batch=_order_batch,
    pad=_order_pad,
    samples=Samples(
        ("int32",),
        cases=(
            _order_case((4,), 5),
            _order_case((2, 3), 3),
            _order_case((0,), 2),
            _order_case((0, 2), 2),
        ),
        differentiable=False,
        fit=_order_fit,
    ),
)


def lu_pivots_to_permutation(pivots: Any, permutation_size: Dim) -> Any:
    """Return the order of rows after each was exchanged with its pivot.

    Args:
        pivots: for each row, with which it is exchanged: int32.
        permutation_size: how many rows there are; at least as many as pivots.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.linalg.lu_pivots_to_permutation(np.array([2, 1], dtype="int32"), 3)
        Array([2, 1, 0], dtype=int32)
    """
    size = dims.as_dim(permutation_size, "lu_pivots_to_permutation")
    return lu_pivots_to_permutation_p.bind1(pivots, permutation_size=size)
