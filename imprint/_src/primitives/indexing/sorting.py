"""sort and top_k: arrays sorted along one axis, and the largest elements of one.

The order of `sort` is total: NaN is last and all NaN are equal, as are -0.0 and 0.0; complex
numbers are ordered by real part, then by imaginary part. The first `num_keys` operands are
the keys, the first most significant; all move together. `top_k` compares the bits of floats:
0.0 is above -0.0, and NaN above all. Equal elements keep their order. Derivatives move by the
permutation, which one more operand brings.
"""

from collections.abc import Sequence
from functools import reduce
from importlib import import_module
from itertools import islice
from typing import Any, Final, cast

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import is_zero, zero_of
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.primitives.axes import canonical_axis, whole
from imprint._src.primitives.core_ops import (
    COMPLEXES,
    FLOATS,
    INTS,
    NOT_LINEAR,
    broadcast_in_dim,
    moveaxis,
)
from imprint._src.primitives.elementwise.comparison import may_have_zero
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.families import ORDERED
from imprint._src.primitives.native_calls import as_lines, has_kernel
from imprint._src.primitives.reductions import extreme
from imprint._src.primitives.shape import broadcasted_iota, expand_dims
from imprint._src.stablehlo import Builder, Value, indexed, reductions
from imprint._src.stablehlo.custom_calls import native_call
from imprint._src.stablehlo.types import tensor

NDArray = np.ndarray[Any, Any]

_UINT32: Final = np.dtype(np.uint32)
_INT32: Final = np.dtype(np.int32)

# ---- narrow dtypes ----


def comparable(x: NDArray) -> NDArray:
    """Return values in the same order in a dtype that NumPy compares well."""
    if dt.is_floating(x.dtype) and x.dtype.isbuiltin != 1:
        return x.astype(np.float32)
    return x if x.dtype.isbuiltin == 1 else x.astype(np.int16)


def _widened(b: Builder, x: Value) -> Value:
    """Widen dtypes below a byte, which the engine sorts only by themselves."""
    if dt.is_bool(x.dtype) or dt.bit_width(x.dtype) >= 8:
        return x
    if dt.is_floating(x.dtype):
        return b.convert(x, np.float32)
    return b.convert(x, np.uint8 if dt.is_unsigned(x.dtype) else np.int8)


def _narrowed(b: Builder, x: Value, dtype: Any) -> Value:
    return x if x.dtype == dtype else b.convert(x, dtype)


# ---- sort ----


def _sort_aval(
    *xs: ShapedArray, dimension: int, is_stable: bool, num_keys: int
) -> Avals:
    first = xs[0]
    if not all(dims.equal_shapes(x.shape, first.shape) for x in xs):
        raise ShapeError(
            f"sort: expected operands of one shape, got {', '.join(map(str, xs))}. "
            "Broadcast them first."
        )
    if not 0 <= dimension < first.ndim:
        raise ShapeError(
            f"sort: expected a dimension in [0, {first.ndim}) for operand {first}, got "
            f"dimension={dimension}. To count from the end, call imprint.lax.sort."
        )
    if not 1 <= num_keys <= len(xs):
        raise ArgumentError(
            f"sort: expected num_keys between 1 and {len(xs)}, the number of operands, "
            f"got {num_keys}. The first num_keys operands are compared."
        )
    return xs


def _sort_reference(
    *xs: NDArray, dimension: int, is_stable: bool, num_keys: int
) -> Values:
    keys = [part for x in xs[:num_keys] for part in _parts(x)]
    if len(xs) == 1 and len(keys) == 1 and xs[0].dtype.isbuiltin == 1:
        out = xs[0].copy()
        out.sort(dimension, _kind(out))
        return (out,)
    if len(keys) == 1:
        order = np.argsort(keys[0], dimension, "stable")
    else:
        order = np.lexsort(keys[::-1], dimension)
    if order.ndim == 1:  # five times as fast
        return tuple(x[order] for x in xs)
    return tuple(np.take_along_axis(x, order, dimension) for x in xs)


def _parts(x: NDArray) -> list[NDArray]:
    """Return the comparison keys of an operand, the most significant first."""
    return [x.real, x.imag] if dt.is_complex(x.dtype) else [comparable(x)]


def _kind(x: NDArray) -> Any:
    """Return NumPy's algorithm: a stable one, slow, where equal elements differ."""
    if not dt.is_floating(x.dtype) or not may_have_zero(x):
        return None
    return "stable" if np.any((x == 0) & np.signbit(x)) else None


def _sort_lower(
    b: Builder, *xs: Value, dimension: int, is_stable: bool, num_keys: int
) -> tuple[Value, ...]:
    if num_keys == 1 and all(has_kernel(b, x, _WORTH_A_CALL) for x in xs):
        return _by_kernel(b, xs, dimension)
    if _is_packed(xs, dimension, num_keys):
        order = lower_order(b, xs[0], dimension)
        return tuple(_lower_along(b, x, order, dimension) for x in xs)
    return _lower_compared(b, xs, dimension, is_stable=is_stable, num_keys=num_keys)


def _lower_compared(
    b: Builder, xs: Sequence[Value], dimension: int, *, is_stable: bool, num_keys: int
) -> tuple[Value, ...]:
    def before(r: Builder, scalars: Sequence[Value]) -> list[Value]:
        pairs = zip(scalars[::2], scalars[1::2], strict=True)
        keys = [
            key
            for x, y in islice(pairs, num_keys)
            for key in zip(sort_keys(r, x), sort_keys(r, y), strict=True)
        ]
        return [lies_before(r, keys)]

    wide = [_widened(b, x) for x in xs]
    outs = reductions.sort(b, wide, dimension, is_stable=is_stable, body=before)
    return tuple(_narrowed(b, out, x.dtype) for out, x in zip(outs, xs, strict=True))


# A kernel sorts short lines by a network, each in a lane of vectors, and long ones by digits.
# Measured with jaxlib 0.10.2 on a CPU with AVX-512, kernel / the engine: 10**6 float32 0.03,
# float64 0.1, int32 0.15; 1,000 rows of 64 0.006; argsort of 10**5 0.03. With the words below
# it is 0.2, 0.1, 1; 0.1; 0.2. It compiles in the time of the engine, or less.

_WORTH_A_CALL: Final = 32


def _by_kernel(b: Builder, xs: Sequence[Value], dimension: int) -> tuple[Value, ...]:
    lines = [as_lines(b, x, dimension) for x in xs]
    kernel = "sort" if len(xs) == 1 else "sort_by"
    outs = native_call(b, kernel, lines, [x.type for x in lines])
    return tuple(b.reshape(out, x.shape) for out, x in zip(outs, xs, strict=True))


# ---- one key in the upper half of a word, where it stood in the lower one ----


def _is_packed(xs: Sequence[Value], dimension: int, num_keys: int) -> bool:
    """Return whether sorting words and gathering is faster than comparing by a function.

    The engine sorts integers alone by its own code, five times as fast: 1e6 floats take
    60 ms and not 250. Below a thousand elements the steps around it take longer.
    """
    x = xs[0]
    if num_keys > 1 or not _fits_a_word(x):
        return False
    is_slow = len(xs) > 1 or dt.is_floating(x.dtype)
    length = x.shape[dimension]
    return is_slow and _is_large(x) and dims.is_surely_at_least(2**32 - 1, length)


def _is_large(x: Value) -> bool:
    return dims.is_surely_at_least(dims.product(x.shape), 1024)


def _fits_a_word(x: Value) -> bool:
    if dt.is_bool(x.dtype):
        return True
    return not dt.is_complex(x.dtype) and dt.bit_width(x.dtype) <= 32


def lower_order(b: Builder, x: Value, dimension: int) -> Value:
    """Return the indices that sort a key, as uint32."""
    if has_kernel(b, x, _WORTH_A_CALL):
        return _by_kernel(b, (x, b.iota(x.shape, _UINT32, dimension)), dimension)[1]
    if _fits_a_word(x):
        place = b.iota(x.shape, np.uint64, dimension)
        return lower_second(b, _word(b, x), place, dimension)
    place = b.iota(x.shape, _UINT32, dimension)
    return _lower_compared(b, (x, place), dimension, is_stable=True, num_keys=1)[1]


def lower_second(b: Builder, first: Value, second: Value, dimension: int) -> Value:
    """Sort pairs of a uint32 and a uint64 below 2**32; return the second ones as uint32."""
    half = b.full(first.shape, 32, np.uint64)
    packed = b.or_(b.shift_left(b.convert(first, np.uint64), half), second)
    (out,) = reductions.sort(
        b,
        [packed],
        dimension,
        is_stable=False,
        body=lambda r, pair: [r.compare(pair[0], pair[1], "LT")],
    )
    return b.convert(out, _UINT32)


def _word(b: Builder, x: Value, *, by_bits: bool = False) -> Value:
    """Return a key as uint32 in the order of `sort`, or of its bits."""
    top = b.full(x.shape, 1 << 31, _UINT32)
    if dt.is_floating(x.dtype):
        wide = b.convert(x, np.float32)
        wide = wide if by_bits else _one_kind(b, wide)
        bits = b.bitcast_convert(wide, x.shape, _UINT32)
        is_negative = b.compare(bits, top, "GE")
        return b.select(is_negative, b.not_(bits), b.or_(bits, top))
    if dt.is_bool(x.dtype) or dt.is_unsigned(x.dtype):
        return b.convert(x, _UINT32)
    signed = b.convert(x, _INT32)
    return b.xor(b.bitcast_convert(signed, x.shape, _UINT32), top)


def _lower_along(b: Builder, x: Value, index: Value, axis: int) -> Value:
    """Return the elements at indices along an axis."""
    others = tuple(i for i in range(x.ndim) if i != axis)
    numbers = (), (axis,), (axis,), others, others
    places = b.reshape(index, (*index.shape, 1))
    return indexed.gather(
        b, [x, places], numbers, [1] * x.ndim, index.shape, is_sorted=False
    )


# ---- comparison ----


def lies_before(r: Builder, keys: Sequence[tuple[Value, Value]]) -> Value:
    """Return whether the first of each pair is less; the first pair is most significant."""

    def or_later(later: Value, key: tuple[Value, Value]) -> Value:
        first = r.compare(*key, "LT", total=True)
        return r.or_(first, r.and_(r.compare(*key, "EQ", total=True), later))

    return reduce(or_later, keys[-2::-1], r.compare(*keys[-1], "LT", total=True))


def sort_keys(r: Builder, x: Value) -> list[Value]:
    """Return real values that `lies_before` compares for elements."""
    if dt.is_complex(x.dtype):
        return [_one_kind(r, r.real(x)), _one_kind(r, r.imag(x))]
    return [_one_kind(r, x) if dt.is_floating(x.dtype) else x]


def _one_kind(r: Builder, x: Value) -> Value:
    """Make all zeros 0.0, and all NaN one: equal, and last, in the order of bits."""
    zero = r.full(x.shape, 0, x.dtype)
    out = r.select(r.compare(x, zero, "EQ"), zero, x)
    nan = r.full(x.shape, np.nan, x.dtype)
    return r.select(r.compare(x, x, "NE"), nan, out)


def _sort_jvp(
    primals: Values, tangents: Values, *, dimension: int, **params: Any
) -> Any:
    if all(map(is_zero, tangents)):
        outs = sort_p.bind_all(*primals, dimension=dimension, **params)
        return outs, tuple(zero_of(get_aval(x)) for x in outs)
    place = broadcasted_iota(_UINT32, get_aval(primals[0]).shape, dimension)
    *outs, order = sort_p.bind_all(*primals, place, dimension=dimension, **params)
    moved = [t if is_zero(t) else taken_along(t, order, dimension) for t in tangents]
    return tuple(outs), tuple(moved)


def _sort_batch(args: Values, at: Dims, *, dimension: int, **params: Any) -> Any:
    like, b = next((x, d) for x, d in zip(args, at, strict=True) if d is not None)
    shape = get_aval(like).shape
    others = tuple(i for i in range(len(shape)) if i != b)
    moved = [
        broadcast_in_dim(x, shape, others) if d is None else moveaxis(x, d, b)
        for x, d in zip(args, at, strict=True)
    ]
    outs = sort_p.bind_all(*moved, dimension=dimension + (b <= dimension), **params)
    return outs, (b,) * len(outs)


def _sort_pad(
    bucket: PadContext, *xs: PaddedValue, dimension: int, is_stable: bool, num_keys: int
) -> Values:
    """Sort padding last, after equal elements."""
    keys = [
        bucket.filled(x, last_of(x.aval.dtype), (dimension,)) for x in xs[:num_keys]
    ]
    stable = is_stable or len(xs) > 1
    return bucket.bind_all(
        *keys,
        *xs[num_keys:],
        dimension=dimension,
        is_stable=stable,
        num_keys=num_keys,
    )


def last_of(dtype: Any) -> Any:
    """Return the element of a dtype that is sorted behind all but its equals."""
    if dt.is_complex(dtype):
        return complex(np.nan, np.nan)
    last = np.asarray(np.nan).astype(dtype)[()] if dt.is_floating(dtype) else None
    if last is not None and last != last:
        return last
    return extreme(dtype, largest=True)


def _sort_params(
    dimension: int, num_keys: int = 1, *, is_stable: bool = True
) -> dict[str, Any]:
    return {"dimension": dimension, "is_stable": is_stable, "num_keys": num_keys}


sort_p: Final = Primitive(
    name="sort",
    multiple_results=True,
    aval=_sort_aval,
    reference=_sort_reference,
    lower=_sort_lower,
    fusion=UNFUSED,
    makes_nan=False,
    jvp=_sort_jvp,
    transpose=NOT_LINEAR,
    batch=_sort_batch,
    pad=_sort_pad,
    samples=Samples(
        (*FLOATS, *INTS, *COMPLEXES, "bool"),
        cases=(
            Case(((1030,),), _sort_params(0)),
            Case(((13,),), _sort_params(0)),
            Case(((2, 520), (2, 520)), _sort_params(1), (None, "float32")),
            Case(((3, 7), (3, 7)), _sort_params(1), (None, "int32")),
            Case(((5, 2), (5, 2), (5, 2)), _sort_params(0, 2), (None, None, "int8")),
            Case(((2, 4, 3),), _sort_params(1, is_stable=False), ("int32",)),
            Case(((2, 9), (2, 9)), _sort_params(1, 2), ("float32", "complex64")),
            Case(((0, 2),), _sort_params(1)),
            Case(((2, 0),), _sort_params(1)),
        ),
    ),
)


def sort(
    operand: Any,
    dimension: int = -1,
    is_stable: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
    num_keys: int = 1,
) -> Any:
    """Sort one array, or several together by the first ones, along an axis.

    Args:
        operand: an array, or a sequence of arrays of one shape that move together.
        dimension: the axis; a negative one counts from the end.
        is_stable: whether equal elements keep their order.
        num_keys: how many of the arrays are compared, the first of them first.

    Returns:
        The sorted array, or a tuple of arrays.

    Raises:
        ArgumentError: there is no array, or not as many as `num_keys`.

    References:
        StableHLO, `sort`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.sort(np.array([3.0, 1.0, 2.0]))
        Array([1., 2., 3.], dtype=float32)
        >>> lax.sort((np.array([3, 1, 2]), np.array([30, 10, 20])))[1]
        Array([10, 20, 30], dtype=int32)
    """
    is_one = not isinstance(operand, Sequence)
    xs = (operand,) if is_one else tuple(cast("Sequence[Any]", operand))
    if not xs:
        raise ArgumentError(
            "sort: expected at least one array, got an empty sequence. Pass the arrays "
            "that move together."
        )
    at = canonical_axis("sort", dimension, get_aval(xs[0]).ndim)
    outs = sort_p.bind_all(
        *xs,
        dimension=at,
        is_stable=bool(is_stable),
        num_keys=whole("sort", "num_keys", num_keys),
    )
    return outs[0] if is_one else tuple(outs)


def sort_key_val(
    keys: Any,
    values: Any,
    dimension: int = -1,
    is_stable: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
) -> tuple[Any, Any]:
    """Sort keys along an axis, and move values with them.

    Args:
        keys: an array.
        values: an array of the same shape.
        dimension: the axis; a negative one counts from the end.
        is_stable: whether values of equal keys keep their order.

    Returns:
        The sorted keys, and the values in their order.

    References:
        StableHLO, `sort`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.sort_key_val(np.array([2, 1]), np.array([0.5, 1.5]))[1]
        Array([1.5, 0.5], dtype=float32)
    """
    first, second = sort((keys, values), dimension, is_stable)
    return first, second


# ---- the derivative ----


def taken_along(x: Any, index: Any, axis: int) -> Any:
    """Return the elements at indices along an axis, which are distinct and in bounds."""
    gathering = import_module(
        "imprint._src.primitives.indexing.gather"
    )  # 2 ms, which a sort can do without
    ndim = get_aval(x).ndim
    others = tuple(i for i in range(ndim) if i != axis)
    numbers = gathering.GatherDimensionNumbers((), (axis,), (axis,), others, others)
    places = expand_dims(index, (ndim,))
    return gathering.gather(x, places, numbers, (1,) * ndim, unique_indices=True)


# ---- top_k ----


def _top_k_aval(x: ShapedArray, *, k: int, axis: int) -> Avals:
    ORDERED.check("top_k", (x,))
    if not 0 <= axis < x.ndim:
        raise ShapeError(
            f"top_k: expected an axis in [0, {x.ndim}) for operand {x}, got axis={axis}. "
            "To count from the end, call imprint.lax.top_k."
        )
    length = x.shape[axis]
    if k < 0 or not dims.at_least(length, k):
        raise ArgumentError(
            f"top_k: expected k between 0 and {length}, the length of axis {axis} of "
            f"{x}, got {k}. There are no more elements."
        )
    if dims.is_surely_at_least(length, 2**31 + 1):
        raise ShapeError(
            f"top_k: expected an axis that int32 counts, got axis {axis} of {x}. Sort "
            "with imprint.lax.sort instead."
        )
    out = x.with_shape((*x.shape[:axis], k, *x.shape[axis + 1 :]))
    return out, out.with_dtype(_INT32, weak_type=x.weak_type)  # as in JAX


def _top_k_reference(x: NDArray, *, k: int, axis: int) -> Values:
    order = np.argsort(~_ordered_bits(x), axis, "stable")
    index = order[(*[slice(None)] * axis, slice(k))]
    found = x[index] if x.ndim == 1 else np.take_along_axis(x, index, axis)
    return found, index.astype(_INT32)


def _ordered_bits(x: NDArray) -> NDArray:
    """Return integers in the order of `x`: of floats, by sign and magnitude."""
    if not dt.is_floating(x.dtype):
        return comparable(x)
    x = x.astype(np.float32) if x.dtype.itemsize == 1 else x
    bits = x.view(f"i{x.dtype.itemsize}")
    return np.where(bits < 0, bits ^ ((1 << (8 * x.dtype.itemsize - 1)) - 1), bits)


def _top_k_lower(b: Builder, x: Value, *, k: int, axis: int) -> tuple[Value, ...]:
    order = list(range(x.ndim))
    order[axis], order[-1] = order[-1], order[axis]
    last = b.transpose(x, order)
    shape = (*last.shape[:-1], k)
    rows = b.reshape(last, (dims.product(shape[:-1]), last.shape[-1]))
    if k > 0 and has_kernel(b, rows, _WORTH_A_CALL):
        types = [tensor((rows.shape[0], k), dtype) for dtype in (x.dtype, _INT32)]
        values, index = native_call(b, "top_k", [rows], types)
    elif _is_sorted_whole(rows, k):
        values, index = _lower_best(b, rows, k)
    elif b.module.is_fast and _has_many_blocks(rows, k):
        values, index = _lower_best_of_blocks(b, rows, k)
    else:
        narrow = dt.is_floating(x.dtype) and dt.bit_width(x.dtype) <= 8
        wide = b.convert(rows, np.float32) if narrow else _widened(b, rows)
        values, index = reductions.top_k(b, wide, k)
        values = _narrowed(b, values, x.dtype)
    return tuple(b.transpose(b.reshape(out, shape), order) for out in (values, index))


def _is_sorted_whole(rows: Value, k: int) -> bool:
    """Return whether sorting words is faster than the engine's search.

    The search is fast for a few float32 of many; all else it sorts, by a function.
    """
    _, length = rows.shape
    is_few = rows.dtype == np.float32 and dims.is_surely_at_least(length, 8 * k)
    return not is_few and _fits_a_word(rows) and _is_large(rows)


def _lower_best(b: Builder, rows: Value, k: int) -> tuple[Value, Value]:
    """Sort by inverted words, and take the first ones."""
    word = b.not_(_word(b, rows, by_bits=True))
    order = lower_second(b, word, b.iota(rows.shape, np.uint64, 1), 1)
    index = b.slice(order, (0, 0), (rows.shape[0], k), (1, 1))
    return _lower_along(b, rows, index, 1), b.convert(index, _INT32)


# A kernel passes over vectors that have none of the largest. Measured with jaxlib 0.10.2 on a
# CPU with AVX-512, kernel / the engine: 10 of 10**6 float32 0.01, of int32 0.0001, 8 of 64
# rows of 10,000 0.06, 256 of them 0.1, 2 of 1,000 rows of 64 0.1; of ascending numbers 0.8.
#
# Without kernels, the engine searches a row with a heap of k elements: 2.5 ns an element. Of
# a row in blocks, only the k with the largest maxima can have one of the k largest elements.
# Measured with jaxlib 0.10.2 and 0.12 on two cores with AVX2, blocks / row: 10 of 10**6 0.25,
# 8 of 64 rows of 10,000 0.7 to 0.9. It compiles in 4 times as long.

_BLOCK: Final = 64
_LEAST_ROW: Final = 1 << 13


def _has_many_blocks(rows: Value, k: int) -> bool:
    """Return whether searching the best blocks is faster than searching rows."""
    _, length = rows.shape
    return (
        rows.dtype == np.float32
        and length >= max(_LEAST_ROW, 16 * _BLOCK * k)
        and k > 0
    )


def _lower_best_of_blocks(b: Builder, rows: Value, k: int) -> tuple[Value, Value]:
    """Search the maxima of blocks, then the blocks that have the `k` first of them.

    In a block that is not chosen, no element is among the first: each of the chosen has one
    that is larger, or equal and before it. The chosen are searched in their order.
    """
    count, length = rows.shape
    word = _word(b, rows, by_bits=True)
    whole = -(-length // _BLOCK)
    behind = b.constant(0, _UINT32)  # the least, and after all others
    word = b.pad(word, behind, (0, 0), (0, whole * _BLOCK - length), (0, 0))
    best = b.reshape(word, (count, whole, _BLOCK // 8, 8))
    for axis in (3, 2):  # a maximum of 8 integers is vectorized, of 64 it is not
        best = b.reduce(best, behind, "maximum", [axis])
    _, chosen = reductions.top_k(b, _of_word(b, best), k)
    (chosen,) = reductions.sort(
        b,
        [chosen],
        1,
        is_stable=False,
        body=lambda r, pair: [r.compare(pair[0], pair[1], "LT")],
    )
    first = b.multiply(chosen, b.full(chosen.shape, _BLOCK, _INT32))
    shape = (count, k, _BLOCK)
    places = b.add(b.broadcast_in_dim(first, shape, (0, 1)), b.iota(shape, _INT32, 2))
    places = b.reshape(places, (count, k * _BLOCK))
    values, at = reductions.top_k(b, _of_word(b, _lower_along(b, word, places, 1)), k)
    return values, _lower_along(b, places, at, 1)


def _of_word(b: Builder, word: Value) -> Value:
    """Return the float32 of which `_word` made a word, by its bits."""
    top = b.full(word.shape, 1 << 31, _UINT32)
    is_positive = b.compare(word, top, "GE")
    bits = b.select(is_positive, b.xor(word, top), b.not_(word))
    return b.bitcast_convert(bits, word.shape, np.float32)


def _top_k_jvp(primals: Values, tangents: Values, *, k: int, axis: int) -> Any:
    (t,) = tangents
    values, index = top_k_p.bind_all(*primals, k=k, axis=axis)
    out = zero_of(get_aval(values)) if is_zero(t) else taken_along(t, index, axis)
    return (values, index), (out, zero_of(get_aval(index)))


def _top_k_batch(args: Values, at: Dims, *, k: int, axis: int) -> Any:
    (x,), (b,) = args, at
    assert b is not None
    return top_k_p.bind_all(x, k=k, axis=axis + (b <= axis)), (b, b)


def _top_k_pad(bucket: PadContext, x: PaddedValue, *, k: int, axis: int) -> Values:
    value, axes = x.value, x.padded_axes((axis,))
    if axes:  # not `filled`, to which all NaNs are the same
        value = select_n(bucket.inside(x.aval.shape, axes), _last(x.aval.dtype), value)
    return bucket.bind_all(value, k=k, axis=axis)


def _last(dtype: Any) -> NDArray:
    """Return the value that is behind all others: a negative NaN is behind -inf."""
    last = np.asarray(extreme(dtype, largest=False), dtype)
    if not dt.is_floating(dtype) or dt.bit_width(dtype) < 8:
        return last
    size = dtype.itemsize
    ones, sign = (np.asarray(n, f"i{size}") for n in (-1, -(1 << (8 * size - 1))))
    return min(last, ones.view(dtype), sign.view(dtype), key=_ordered_bits)


top_k_p: Final = Primitive(
    name="top_k",
    multiple_results=True,
    aval=_top_k_aval,
    reference=_top_k_reference,
    lower=_top_k_lower,
    fusion=UNFUSED,
    makes_nan=False,
    jvp=_top_k_jvp,
    transpose=NOT_LINEAR,
    batch=_top_k_batch,
    pad=_top_k_pad,
    samples=Samples(
        (*FLOATS, *INTS, "bool"),
        cases=(
            Case(((1030,),), {"k": 200, "axis": 0}),
            Case(((9,),), {"k": 4, "axis": 0}),
            Case(((2, 600),), {"k": 3, "axis": 1}, ("float32",)),
            Case(((5, 3, 2),), {"k": 2, "axis": 0}),
            Case(((3, 6),), {"k": 6, "axis": 1}),
            Case(((2, 4),), {"k": 0, "axis": 1}),
            Case(((0, 3),), {"k": 1, "axis": 1}),
        ),
    ),
)


def top_k(
    operand: Any, k: int, *, axis: int = -1, is_stable: bool = True
) -> tuple[Any, Any]:
    """Return the largest elements along an axis, the largest first, and where they are.

    Args:
        operand: an array of real numbers or booleans.
        k: how many, up to the length of the axis.
        axis: the axis; a negative one counts from the end.
        is_stable: whether equal elements keep their order; they do in any case.

    Returns:
        Values and indices, the latter in int32.

    Raises:
        ArgumentError: `k` is negative or larger than the axis.
        DTypeError: the numbers are complex, and so have no order.

    References:
        CHLO, `top_k`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.top_k(np.array([3.0, 9.0, 5.0]), 2)
        (Array([9., 5.], dtype=float32), Array([1, 2], dtype=int32))
    """
    del is_stable
    at = canonical_axis("top_k", axis, get_aval(operand).ndim)
    count = k if dims.is_symbolic(k) else whole("top_k", "k", k)
    values, index = top_k_p.bind_all(operand, k=count, axis=at)
    return values, index
