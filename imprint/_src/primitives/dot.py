"""dot_general: contract axes of two operands, pair up others, multiply out the rest.

`dimension_numbers` is ((contracting axes of x, of y), (batch axes of x, of y)). The axes of
the result are the batch axes, the remaining axes of x, and the remaining axes of y. Without
`preferred_element_type` the result has the operands' dtype, the wider one if they differ;
with it, terms are added in that dtype. As in JAX's printed form, params that are None are
left out of the equation. Precision: see `precision`.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias, cast

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import DType, Shape, ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import (
    Avals,
    Case,
    Dims,
    Samples,
    ThreadedPrimitive,
    Values,
)
from imprint._src.core.tangents import UndefinedPrimal, is_zero, zero_of
from imprint._src.errors import DTypeError, ShapeError
from imprint._src.primitives.axes import int_tuple, push
from imprint._src.primitives.core_ops import (
    NOT_LINEAR,
    NUMBERS,
    add_tangents,
    transpose,
)
from imprint._src.primitives.elementwise.convert import cast as converted
from imprint._src.primitives.elementwise.convert import convert_element_type, lower_cast
from imprint._src.primitives.elementwise.precision import (
    ALGORITHMS,
    CanonicalPrecision,
    Precision,
    canonical_precision,
)
from imprint._src.stablehlo import Builder, Value, reductions

Ints = tuple[int, ...]
Pair = tuple[Ints, Ints]
DimensionNumbers = tuple[Pair, Pair]
DotDimensionNumbers: TypeAlias = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]
"""The dimension numbers of `dot_general`."""
NDArray = np.ndarray[Any, Any]

# ---- dtypes ----


def _result_dtype(x: DType, y: DType, preferred: DType | None) -> DType:
    if x == y and (preferred is None or preferred == x):
        return x
    rank_x, rank_y = _width(x), _width(y)
    if rank_x == rank_y and x != y:
        raise DTypeError(
            f"dot_general: expected operands of one dtype, got {x} and {y}. Convert one "
            "of them, or call imprint.numpy.matmul, which promotes."
        )
    joined = x if rank_x >= rank_y else y
    if preferred is None or preferred == joined:
        return joined
    too_narrow = dt.bit_width(preferred) < dt.bit_width(joined)
    if not dt.is_floating(joined) and too_narrow:
        raise DTypeError(
            f"dot_general: expected a preferred_element_type no narrower than {joined}, "
            f"got {preferred}. Convert the result with `.astype(...)`."
        )
    return preferred


def _width(dtype: DType) -> tuple[int, ...]:
    """Order dtypes as the engine does when those of operands differ."""
    part = dt.real_part_dtype(dtype) if dt.is_complex(dtype) else dtype
    exponent, mantissa = _float_bits(part) if dt.is_floating(part) else (-1, -1)
    signed = not dt.is_unsigned(part)
    return dt.is_complex(dtype), exponent, mantissa, dt.bit_width(part), signed


def _float_bits(dtype: DType) -> tuple[int, int]:
    info: Any = cast("Any", dt.finfo(dtype))
    return int(info.maxexp), int(info.nmant)


def _computed_dtypes(
    x: DType, y: DType, out: DType, precision: CanonicalPrecision
) -> tuple[DType, DType, DType]:
    """Return the dtypes to which operands are converted, and that of the product."""
    if isinstance(precision, str) and dt.is_floating(x) and dt.is_floating(y):
        return ALGORITHMS[precision].dtypes(x, y, out)
    return (x, y, out) if x == y else (out, out, out)


# ---- rules ----


def _dot_aval(
    x: ShapedArray,
    y: ShapedArray,
    *,
    dimension_numbers: DimensionNumbers,
    precision: CanonicalPrecision = None,
    preferred_element_type: DType | None = None,
) -> Avals:
    (x_sum, y_sum), (x_batch, y_batch) = dimension_numbers
    paired = ((x_sum, y_sum), (x_batch, y_batch))
    fits = (
        all(len(a) == len(b) for a, b in paired)
        and _are_distinct_axes((*x_sum, *x_batch), x.ndim)
        and _are_distinct_axes((*y_sum, *y_batch), y.ndim)
        and all(
            dims.equal(x.shape[i], y.shape[j])
            for a, b in paired
            for i, j in zip(a, b, strict=True)
        )
    )
    if not fits:
        raise ShapeError(
            "dot_general: expected contracting axes of equal lengths and batch axes of "
            f"equal lengths, each axis named once, got {x} and {y} with "
            f"dimension_numbers={dimension_numbers}. For matrices call "
            "imprint.numpy.matmul, for other products imprint.numpy.einsum."
        )
    dtype = _result_dtype(x.dtype, y.dtype, preferred_element_type)
    weak = x.weak_type and y.weak_type
    x_free = _rest(x.ndim, x_sum, x_batch)
    y_free = _rest(y.ndim, y_sum, y_batch)
    lead = tuple(x.shape[i] for i in (*x_batch, *x_free))
    return (ShapedArray((*lead, *(y.shape[i] for i in y_free)), dtype, weak),)


def _are_distinct_axes(axes: Ints, ndim: int) -> bool:
    return len(set(axes)) == len(axes) and all(0 <= a < ndim for a in axes)


class _DotPlan(NamedTuple):
    """A contraction as a product of stacks of matrices.

    `x_order` brings an operand's axes to (batch, free, contracting), `y_order` to
    (batch, contracting, free); None if they are so already. Likewise `x_shape` and `y_shape`.
    `is_outer`: there is one term, so nothing is added, not even to 0.0 (-0.0 stays).
    `needs_threads`: NumPy computes it in several threads, if not in blocks of `step` rows or
    columns, which is 0 where a program is faster than blocks.
    """

    x_order: Ints | None
    y_order: Ints | None
    x_shape: Shape | None
    y_shape: Shape | None
    shape: Shape
    is_outer: bool
    needs_threads: bool
    step: int


@lru_cache(maxsize=1024)
def _plan(x: Shape, y: Shape, dimension_numbers: DimensionNumbers) -> _DotPlan:
    (x_sum, y_sum), (x_batch, y_batch) = dimension_numbers
    x_free = _rest(len(x), x_sum, x_batch)
    y_free = _rest(len(y), y_sum, y_batch)
    x_order, y_order = (*x_batch, *x_free, *x_sum), (*y_batch, *y_sum, *y_free)
    batch = tuple(x[i] for i in x_batch)
    inner = dims.product(x[i] for i in x_sum)
    left, right = tuple(x[i] for i in x_free), tuple(y[i] for i in y_free)
    sizes = math.prod(left), math.prod(right), inner
    is_threaded = inner > 1 and needs_threads(*sizes)
    return _DotPlan(
        None if x_order == tuple(range(len(x))) else x_order,
        None if y_order == tuple(range(len(y))) else y_order,
        None if len(x_free) == len(x_sum) == 1 else (*batch, dims.product(left), inner),
        None
        if len(y_free) == len(y_sum) == 1
        else (*batch, inner, dims.product(right)),
        (*batch, *left, *right),
        inner == 1,
        is_threaded,
        _step(*sizes) if is_threaded else 0,
    )


def needs_threads(rows: int, columns: int, inner: int) -> bool:
    """Return whether NumPy computes a product of matrices in several threads."""
    return rows * columns * inner > _ALONE


def _step(rows: int, columns: int, inner: int) -> int:
    """Return how many rows or columns one thread multiplies; 0 where it takes too long."""
    if rows * columns * inner > _IN_BLOCKS:
        return 0
    step = _ALONE // (min(rows, columns) * inner)
    return step if step >= _THICK else 0


_ALONE: Final = 1 << 18
"""Multiplications up to which NumPy computes a product of matrices in one thread."""
_IN_BLOCKS: Final = 1 << 22
"""Up to here, 160 x 160 by itself, a program takes longer to start than blocks to run."""
_THICK: Final = 8
"""Rows or columns of a block; with fewer, a product of matrices is slow."""


def _rest(ndim: int, *named: Ints) -> Ints:
    taken = {*chain(*named)}
    return tuple([i for i in range(ndim) if i not in taken])


def _dot_reference(
    x: NDArray,
    y: NDArray,
    *,
    dimension_numbers: DimensionNumbers,
    precision: CanonicalPrecision = None,
    preferred_element_type: DType | None = None,
) -> Values:
    out = preferred_element_type or _result_dtype(x.dtype, y.dtype, None)
    plan = _plan(x.shape, y.shape, dimension_numbers)
    x_dtype, y_dtype, product = _computed_dtypes(x.dtype, y.dtype, out, precision)
    wide = accumulator(x_dtype, y_dtype, product)
    x, y = (
        v if v.dtype == d == wide else converted(converted(v, d), wide)
        for v, d in ((x, x_dtype), (y, y_dtype))
    )
    x = x if plan.x_order is None else x.transpose(plan.x_order)
    y = y if plan.y_order is None else y.transpose(plan.y_order)
    x = x if plan.x_shape is None else x.reshape(plan.x_shape)
    y = y if plan.y_shape is None else y.reshape(plan.y_shape)
    if plan.step:
        result = _in_blocks(x, y, plan.step)
    else:
        result = (np.multiply if plan.is_outer else np.matmul)(x, y)
    if result.shape != plan.shape:
        result = result.reshape(plan.shape)
    if result.dtype != product:
        result = converted(result, product)
    return (result if product == out else converted(result, out),)


def _in_blocks(x: NDArray, y: NDArray, step: int) -> NDArray:
    """Return the product of stacks of matrices, by blocks of rows or of columns."""
    rows, columns = x.shape[-2], y.shape[-1]
    out = np.empty((*x.shape[:-1], columns), x.dtype)
    for i in range(0, max(rows, columns), step):
        if rows < columns:
            np.matmul(x, y[..., i : i + step], out=out[..., i : i + step])
        else:
            np.matmul(x[..., i : i + step, :], y, out=out[..., i : i + step, :])
    return out


def accumulator(x: DType, y: DType, out: DType) -> DType:
    """Return the NumPy dtype in which a product is computed."""
    if (out == x == y and out.kind in "bifcu" and out.itemsize > 2) or out.kind == "b":
        return out
    if dt.is_integer(x) and dt.is_integer(y) and dt.is_integer(out):
        return np.dtype(np.uint64 if dt.is_unsigned(out) else np.int64)
    every = [d if d.kind in "bifcu" else np.dtype(np.float32) for d in (x, y, out)]
    return np.result_type(*every, np.float32)


def _dot_lower(
    b: Builder,
    x: Value,
    y: Value,
    *,
    dimension_numbers: DimensionNumbers,
    precision: CanonicalPrecision = None,
    preferred_element_type: DType | None = None,
) -> tuple[Value, ...]:
    out = preferred_element_type or _result_dtype(x.dtype, y.dtype, None)
    computed = _computed_dtypes(x.dtype, y.dtype, out, precision)
    # XLA:CPU 0.10 to 0.12 multiplies no integers of two bits.
    dtypes = [dt.int8 if d in (dt.int2, dt.uint2) else d for d in computed]
    x, y = (lower_cast(b, v, d) for v, d in zip((x, y), dtypes[:2], strict=True))
    numerics = _numerics(x.dtype, precision)
    narrowed = x.dtype == np.float64 and dtypes[2] == np.float16  # see `lower_cast`
    product = x.dtype if narrowed else dtypes[2]
    may_sum = b.module.is_fast and not isinstance(precision, str)
    if may_sum and _is_sum_of_few(b, x, y, dimension_numbers, product):
        result = _lower_sum(b, x, y, dimension_numbers)
    else:
        result = reductions.dot_general(b, x, y, dimension_numbers, product, numerics)
    return (lower_cast(b, result, out),)


# ---- small products as sums ----
#
# XLA:CPU calls a library for each product of two matrices, also in a stack or a loop:
# 0.8 µs for 4 × 4. A sum of broadcast products is elementwise, so it fuses with what is
# around it. Measured with jaxlib 0.10.2 and 0.12 on two cores with AVX2, sum / library:
# 10,000 products of 4 × 4 0.04, of 8 × 8 0.7, a Kalman filter of 4 0.02 to 0.12, a GRU of 8
# 0.14 to 0.5, 100,000 points times 3 × 3 0.17, times 8 × 8 0.7; but 1.3 to 2 for 1,000
# products of 8 × 64 and 64 × 8, and 1.1 for one of 100 × 4 and 4 × 100. A sum takes 10 ms
# more to compile, so few products that are in no loop stay.

_MOST_TERMS: Final = 8
_MANY: Final = 1 << 13
"""Products of numbers, outside of loops: 128 products of 4 × 4 take 0.1 ms."""
_MOST_COLUMNS: Final = 8
"""Columns of the narrower matrix of a product that is not one of a stack."""


def _is_sum_of_few(
    b: Builder, x: Value, y: Value, dimension_numbers: DimensionNumbers, product: DType
) -> bool:
    """Return whether a sum of elementwise products is faster than the library."""
    if not (x.dtype == y.dtype == product and product.name in _SUMMED):
        return False
    (x_sum, _), (x_batch, _) = dimension_numbers
    terms = dims.product(x.shape[i] for i in x_sum)
    stack = dims.product(x.shape[i] for i in x_batch)
    rows, columns = (dims.product(v.shape) // max(1, stack * terms) for v in (x, y))
    least = 1 if b.module.loops else _MANY
    if not 1 < terms <= _MOST_TERMS or stack * rows * columns * terms < least:
        return False
    return stack > 1 or min(rows, columns) <= _MOST_COLUMNS


_SUMMED: Final = ("float32", "float64", "int32", "int64", "uint32", "uint64")


def _lower_sum(
    b: Builder, x: Value, y: Value, dimension_numbers: DimensionNumbers
) -> Value:
    """Write the sum of the products of slices at each place of the contracting axes."""
    plan = _plan(x.shape, y.shape, dimension_numbers)
    x = x if plan.x_order is None else b.transpose(x, plan.x_order)
    y = y if plan.y_order is None else b.transpose(y, plan.y_order)
    x = x if plan.x_shape is None else b.reshape(x, plan.x_shape)
    y = y if plan.y_shape is None else b.reshape(y, plan.y_shape)
    last = x.ndim - 1
    shape = (*x.shape[:last], y.shape[last])

    def term(i: int) -> Value:
        pair = [
            b.broadcast_in_dim(reductions.place_of(b, v, axis, i), shape, axes)
            for v, axis, axes in (
                (x, last, range(last)),
                (y, last - 1, (*range(last - 1), last)),
            )
        ]
        return b.multiply(*pair)

    total = reductions.sum_of(b, map(term, range(x.shape[last])))
    return b.reshape(total, plan.shape)


def _numerics(dtype: DType, precision: CanonicalPrecision) -> str:
    """Return StableHLO's attributes for a precision."""
    if not isinstance(precision, str):
        x, y = precision or (Precision.DEFAULT, Precision.DEFAULT)
        return f"precision = [{x.name}, {y.name}]"
    default = "precision = [DEFAULT, DEFAULT]"
    if not dt.is_floating(dtype):
        return default
    return f"{default}, algorithm = {ALGORITHMS[precision].text}"


def _dot_jvp(primals: Values, tangents: Values, **params: Any) -> Any:
    (x, y), (tx, ty) = primals, tangents
    out = dot_general_p.bind1(x, y, **params)
    total: Any = zero_of(get_aval(out))
    if not dt.is_inexact(get_aval(out).dtype):
        return (out,), (total,)
    if not is_zero(tx):
        total = dot_general_p.bind1(tx, y, **params)
    if not is_zero(ty):
        total = add_tangents(total, dot_general_p.bind1(x, ty, **params))
    return (out,), (total,)


def _dot_transpose(
    cts: Values, operands: Values, *, dimension_numbers: DimensionNumbers, **params: Any
) -> tuple[Any, ...]:
    (ct,), (x, y) = cts, operands
    (x_sum, y_sum), (x_batch, y_batch) = dimension_numbers
    if isinstance(x, UndefinedPrimal):
        if isinstance(y, UndefinedPrimal):
            NOT_LINEAR()  # in each alone it is
        return _operand_ct(ct, x, y, dimension_numbers, params), None
    swapped = ((y_sum, x_sum), (y_batch, x_batch))
    return None, _operand_ct(ct, y, x, swapped, params, is_second=True)


def _operand_ct(
    ct: Any,
    x: UndefinedPrimal,
    y: Any,
    dimension_numbers: DimensionNumbers,
    params: dict[str, Any],
    *,
    is_second: bool = False,
) -> Any:
    """Contract the cotangent with the free axes of `y`, and restore the axes of `x`."""
    (x_sum, y_sum), (x_batch, y_batch) = dimension_numbers
    x_free = _rest(x.aval.ndim, x_sum, x_batch)
    y_free = _rest(get_aval(y).ndim, y_sum, y_batch)
    start = len(x_batch) + (0 if is_second else len(x_free))
    ct_free = tuple(range(start, start + len(y_free)))
    numbers = ((ct_free, y_free), (tuple(range(len(x_batch))), y_batch))
    product = dot_general_p.bind1(ct, y, dimension_numbers=numbers, **params)
    order = sorted(zip(y_sum, x_sum, strict=True))  # the result has y's axes in order
    axes = (*x_batch, *x_free, *(axis for _, axis in order))
    if axes != tuple(range(len(axes))):
        product = transpose(product, tuple(map(axes.index, range(len(axes)))))
    if get_aval(product).dtype != x.aval.dtype:
        product = convert_element_type(product, x.aval.dtype)
    return product


def _dot_batch(
    args: Values, at: Dims, *, dimension_numbers: DimensionNumbers, **params: Any
) -> Any:
    (x, y), (bx, by) = args, at
    (x_sum, y_sum), (x_batch, y_batch) = dimension_numbers
    hidden = (bx is not None, by is not None)
    free_x = _rest(get_aval(x).ndim - hidden[0], x_sum, x_batch)
    free_y = _rest(get_aval(y).ndim - hidden[1], y_sum, y_batch)
    out = 0
    if bx is not None:
        x_sum, x_batch = push(x_sum, bx), push(x_batch, bx)
        out = len(x_batch) + sum(i < bx for i in free_x)
    if by is not None:
        y_sum, y_batch = push(y_sum, by), push(y_batch, by)
        out = len(y_batch) + len(free_x) + sum(i < by for i in free_y)
    if bx is not None and by is not None:
        x_batch, y_batch, out = (bx, *x_batch), (by, *y_batch), 0
    numbers = ((x_sum, y_sum), (x_batch, y_batch))
    return dot_general_p.bind_all(x, y, dimension_numbers=numbers, **params), (out,)


def _dot_pad(
    bucket: PadContext,
    x: PaddedValue,
    y: PaddedValue,
    *,
    dimension_numbers: DimensionNumbers,
    **params: Any,
) -> Values:
    """Fill the contracted axes of both with zeros: a NaN times 0 is none."""
    (x_sum, y_sum), _ = dimension_numbers
    x, y = bucket.filled(x, 0, x_sum), bucket.filled(y, 0, y_sum)
    return bucket.bind_all(x, y, dimension_numbers=dimension_numbers, **params)


# ---- dot_general ----


def _numbers(x_sum: Ints, y_sum: Ints, x_batch: Ints = (), y_batch: Ints = ()) -> Any:
    return {"dimension_numbers": ((x_sum, y_sum), (x_batch, y_batch))}


_HIGHEST: Final = {"precision": (Precision.HIGHEST, Precision.DEFAULT)}
_MATMUL: Final = _numbers((1,), (0,))


def _dot_is_large(
    x: NDArray, y: NDArray, *, dimension_numbers: DimensionNumbers, **_: Any
) -> bool:
    plan = _plan(x.shape, y.shape, dimension_numbers)
    return plan.needs_threads and not (plan.step and dt.is_inexact(x.dtype))


dot_general_p: Final = ThreadedPrimitive(
    name="dot_general",
    is_large=_dot_is_large,
    aval=_dot_aval,
    reference=_dot_reference,
    lower=_dot_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_dot_jvp,
    transpose=_dot_transpose,
    batch=_dot_batch,
    pad=_dot_pad,
    samples=Samples(
        (*NUMBERS, "bool"),
        cases=(
            Case(((2, 3), (3, 4)), _MATMUL),
            Case(((3,), (3,)), _numbers((0,), (0,)) | _HIGHEST),
            Case(((2,), (3,)), _numbers((), ())),
            Case(((), ()), _numbers((), ())),
            Case(((2, 3, 4, 2), (4, 3, 5, 2)), _numbers((2, 1), (0, 1), (3,), (3,))),
            Case(((3, 2, 4), (4, 3, 2)), _numbers((), (), (1, 0), (2, 1))),
            Case(((2, 0), (0, 3)), _MATMUL),
            Case(((0, 2), (2, 3)), _MATMUL),
            Case(
                ((2, 3), (3, 2)),
                _MATMUL | {"preferred_element_type": np.dtype(np.float32)},
                ("bfloat16", "bfloat16"),
            ),
            Case(
                ((2, 3), (3, 2)),
                _MATMUL | {"preferred_element_type": np.dtype(np.int32)},
                ("int8", "int8"),
            ),
            Case(
                ((2, 3), (3, 2)),
                _MATMUL | {"preferred_element_type": np.dtype(np.float64)},
                ("float16", "float16"),
            ),
            Case(((2, 3), (3, 2)), _MATMUL, ("float32", "bfloat16")),
            Case(((2, 3), (3, 2)), _MATMUL, ("int16", "float64")),
        ),
        ulps=16,
    ),
)


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Sequence[Sequence[Sequence[int]]],
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Contract axes of `lhs` and `rhs`.

    Args:
        lhs: an array.
        rhs: an array.
        dimension_numbers: ((contracting axes of `lhs`, of `rhs`), (batch axes of `lhs`,
            of `rhs`)).
        precision: a `Precision` or its name, a pair of these, or the name of an
            algorithm; None for `config.default_matmul_precision`.
        preferred_element_type: the dtype in which terms are added and given back.
    """
    (x_sum, y_sum), (x_batch, y_batch) = dimension_numbers
    params: dict[str, Any] = {
        "dimension_numbers": (
            (int_tuple(x_sum), int_tuple(y_sum)),
            (int_tuple(x_batch), int_tuple(y_batch)),
        )
    }
    chosen = canonical_precision(precision)
    if chosen is not None:
        params["precision"] = chosen
    if preferred_element_type is not None:
        dtype = dt.requested(preferred_element_type, "dot_general")
        params["preferred_element_type"] = dtype
    return dot_general_p.bind1(lhs, rhs, **params)
