"""Cumulative reductions: element i of an axis joined with all before it.

cumsum, cumprod, cummax, cummin and cumlogsumexp; with `reverse`, all behind it. cumsum is
linear. The others are differentiated as the tree of joins that `_scan` evaluates on pairs
(value, tangent): no division, so zeros are no special case, and ties share as JAX's do.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from math import inf
from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import DType, ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import Fill, PadContext, PaddedValue, is_same_number
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.errors import ShapeError
from imprint._src.primitives.axes import int_of
from imprint._src.primitives.core_ops import (
    FLOATS,
    INTS,
    NOT_LINEAR,
    NUMBERS,
    add,
    mul,
    mul_p,
    scalar_like,
    sub,
)
from imprint._src.primitives.elementwise.arithmetic import max_, max_p, min_p
from imprint._src.primitives.elementwise.comparison import eq
from imprint._src.primitives.elementwise.exponential import exp, log
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.families import FLOATING, NUMBER, DTypeClass, wide
from imprint._src.primitives.indexing.slicing import concatenate, pad, slice_in_dim
from imprint._src.primitives.native_calls import as_lines, has_kernel
from imprint._src.primitives.reductions import extreme, lengthened
from imprint._src.primitives.shape import moving, rev
from imprint._src.stablehlo import Builder, Value, indexed, windows
from imprint._src.stablehlo.custom_calls import native_call

NDArray = np.ndarray[Any, Any]
Join = Callable[[Builder, Value, Value], Value]
Pair = tuple[Any, Any]
JoinPairs = Callable[[Pair, Pair], Pair]

REAL: Final = DTypeClass(
    lambda d: dt.is_integer(d) or dt.is_floating(d), "an integer or float dtype"
)
_CASES: Final = (
    *(
        Case((shape,), {"axis": axis, "reverse": reverse})
        for shape, axis, reverse in (
            ((5,), 0, False),
            ((3, 6), 1, True),
            ((4, 3, 2), 0, True),
            ((1,), 0, False),
            ((0, 2), 0, False),
            ((2, 0), 0, True),
        )
    ),
)

# ---- shared rules ----


def _check(name: str, dtypes: DTypeClass, x: ShapedArray, axis: int) -> Avals:
    dtypes.check(name, (x,))
    if not 0 <= axis < x.ndim:
        raise ShapeError(
            f"{name}: expected an axis in [0, {x.ndim}) for operand {x}, got "
            f"axis={axis}. To count from the end, call imprint.numpy.{name}."
        )
    return (x,)


def _directed(
    accumulate: Callable[[NDArray, int], Any], x: NDArray, axis: int, *, reverse: bool
) -> NDArray:
    if not reverse:
        return accumulate(x, axis)
    return np.flip(accumulate(np.flip(x, axis), axis), axis)


def _lowered(
    b: Builder, x: Value, join: Join, identity: Any, axis: int, *, reverse: bool
) -> Value:
    if dims.has_zero(x.shape):
        return x
    if join is Builder.add and has_kernel(b, x, _WORTH_A_CALL):
        lines = as_lines(b, x, axis)
        kernel = "cumsum_back" if reverse else "cumsum"
        (out,) = native_call(b, kernel, [lines], [lines.type])
        return b.reshape(out, x.shape)
    if b.module.is_fast and join in _IN_LOOPS and _is_loop(x, axis):
        return _lower_loop(b, x, join, identity, axis, reverse=reverse)
    init = b.constant(identity, x.dtype)
    return windows.cumulate(
        b, x, init, axis, reverse=reverse, body=lambda r, xs: [join(r, *xs)]
    )


# ---- by a kernel ----
#
# Measured with jaxlib 0.10.2 on a CPU with AVX-512, kernel / windows of XLA: 10**4 float32
# 0.12, 10**6 0.05, rows of 1024 x 1024 0.04, columns 0.04, 10**6 float64 0.03. Errors are at
# most those of windows. It compiles in 0.1 to 0.3 of the time.

_WORTH_A_CALL: Final = 32

# ---- as loops ----
#
# XLA:CPU joins windows, in a tree of about ten programs. A loop that joins one slice of the
# axis after another, in place, is one program: it compiles in 0.2 to 0.6 of the time.
# Measured with jaxlib 0.10.2 and 0.12 on two cores with AVX2, loop / windows: columns of
# 1024 x 1024 0.08, of 64 x 64 0.35, rows of 1024 x 1024 0.2 to 0.6, of 1000 x 64 0.1 to
# 0.2, one of 1,000 0.6, of 100,000 0.8. Below 16 elements the windows are one program too.

_IN_LOOPS: Final = (Builder.add, Builder.multiply, Builder.maximum, Builder.minimum)
_SHORTEST_LOOP: Final = 16
_LONGEST_ALONE: Final = 1 << 17  # a loop over a million numbers takes 1.9 times as long
_NARROWEST_SLICE: Final = 32
_LEAST_BLOCK: Final = 32
_MOST_OF_ONE_LEVEL: Final = 4096  # 100,000 in blocks of 256 are 2.3 times as wrong
_LOOPED: Final = ("float32", "float64", "int32", "int64", "uint32", "uint64")


def _is_loop(x: Value, axis: int) -> bool:
    """Return whether a loop over slices is faster than windows.

    A slice of few elements is slow to take, unless the axis is the only one.
    """
    length = x.shape[axis]
    if x.dtype.name not in _LOOPED or length < _SHORTEST_LOOP:
        return False
    size = dims.product(x.shape) // length
    if size == 1:
        return length <= _LONGEST_ALONE
    return size >= _NARROWEST_SLICE


def _lower_loop(
    b: Builder, x: Value, join: Join, identity: Any, axis: int, *, reverse: bool
) -> Value:
    """Write the loop that replaces each slice of an axis by the join of all until it.

    Slices are joined in blocks, blocks with others to larger ones, and those with all
    before: as with windows, the error grows with a root of the length.
    """
    order = axis, *(i for i in range(x.ndim) if i != axis)  # slices lie in one piece
    rows = b.transpose(x, order)
    shape = 1, *rows.shape[1:]
    length = rows.shape[0]
    levels = 1 if length <= _MOST_OF_ONE_LEVEL else 2
    block = max(_LEAST_BLOCK, 1 << length.bit_length() // (levels + 1))

    def is_left(r: Builder, carry: Sequence[Value]) -> list[Value]:
        return [r.compare(carry[0], r.constant(length, np.int32), "LT")]

    def step(r: Builder, carry: Sequence[Value]) -> list[Value]:
        i, rows, *sums = carry
        zero, one, last = (r.constant(n, np.int32) for n in (0, 1, length - 1))
        at = [r.subtract(last, i) if reverse else i, *[zero] * (x.ndim - 1)]
        none = r.full(shape, identity, x.dtype)
        for k in range(levels):
            size = r.constant(block ** (k + 1) - 1, np.int32)
            is_first = r.compare(r.and_(i, size), zero, "EQ")
            joined = join(r, sums[k + 1], sums[k])
            sums[k + 1] = r.select(is_first, joined, sums[k + 1])
            sums[k] = r.select(is_first, none, sums[k])
        sums[0] = join(r, sums[0], indexed.dynamic_slice(r, rows, at, shape))
        joined = reduce(lambda later, before: join(r, before, later), sums)
        rows = indexed.dynamic_update_slice(r, rows, joined, at)
        return [r.add(i, one), rows, *sums]

    none = b.full(shape, identity, x.dtype)
    start = [b.constant(0, np.int32), rows, *[none] * (levels + 1)]
    out = b.while_loop(start, is_left, step)[1]
    return b.transpose(out, [order.index(i) for i in range(x.ndim)])


def _cumulative(  # noqa: PLR0913 - one parameter a rule
    name: str,
    *,
    dtypes: DTypeClass,
    reference: Callable[[NDArray, int], Any],
    join: Join,
    identity: Callable[[DType], Any],
    pairs: JoinPairs,
    samples: Samples,
) -> Primitive:
    """Declare a cumulative reduction that is not linear.

    Args:
        name: as printed in jaxprs.
        dtypes: the dtypes it takes.
        reference: `(x, axis)` → its meaning forwards, on a NumPy array.
        join: the StableHLO that joins two elements.
        identity: the element, of a dtype, that joins without effect.
        pairs: joins two arrays of (value, tangent) pairs.
        samples: operands and params of the laws.
    """

    def aval(x: ShapedArray, *, axis: int, reverse: bool) -> Avals:
        return _check(name, dtypes, x, axis)

    def evaluate(x: NDArray, *, axis: int, reverse: bool) -> Values:
        return (_directed(reference, x, axis, reverse=reverse),)

    def lower(b: Builder, x: Value, *, axis: int, reverse: bool) -> tuple[Value, ...]:
        return (_lowered(b, x, join, identity(x.dtype), axis, reverse=reverse),)

    def jvp(primals: Values, tangents: Values, *, axis: int, reverse: bool) -> Any:
        (x,), (t,) = primals, tangents
        out = primitive.bind1(x, axis=axis, reverse=reverse)
        if reverse:
            x, t = rev(x, (axis,)), rev(t, (axis,))
        _, t = _scan_of_any_length(pairs, (x, t), axis)
        return (out,), (rev(t, (axis,)) if reverse else t,)

    def batch(args: Values, at: Dims, *, axis: int, reverse: bool) -> Any:
        (x,), (b,) = args, at
        assert b is not None
        return primitive.bind_all(x, axis=axis + (axis >= b), reverse=reverse), at

    primitive = Primitive(
        name=name,
        aval=aval,
        reference=evaluate,
        lower=lower,
        fusion=UNFUSED,
        makes_nan=True,
        jvp=jvp,
        transpose=NOT_LINEAR,
        batch=batch,
        pad=_filling(identity),
        samples=samples,
    )
    return primitive


# ---- padding ----


def _filling(identity: Fill) -> Callable[..., Values]:
    """Return the rule that fills the axis where it is joined from its end.

    Of all before it, a true element has no padding among them: prefixes need no fill.
    """

    def pad(bucket: PadContext, x: PaddedValue, *, axis: int, reverse: bool) -> Values:
        number = identity(x.aval.dtype)
        filled = bucket.filled(x, number, (axis,)) if reverse else x
        (out,) = bucket.bind_all(filled, axis=axis, reverse=reverse)
        fills = [f if is_same_number(f, number) else None for f in filled.fills]
        if not reverse:  # behind the last element, each prefix is all of them
            fills[axis] = None
        return (PaddedValue(out, bucket.outs[0], fills),)

    return pad


# ---- the scan of pairs ----


def _scan_of_any_length(join: JoinPairs, xs: Pair, axis: int) -> Pair:
    """Join all prefixes; what is put behind the elements is in none of them."""
    length = get_aval(xs[0]).shape[axis]
    if not dims.is_symbolic(length):
        return _scan(join, xs, axis)
    power = dims.power_of_two(length, "cumulative derivative")
    longer = lengthened(xs[0], power, 1, axis), lengthened(xs[1], power, 0, axis)
    return _part(_scan(join, longer, axis), axis, 0, length)


def _scan(join: JoinPairs, xs: Pair, axis: int) -> Pair:
    """Join all prefixes, with twice as many joins as elements.

    1. Join neighbours, and scan the half as many results: the odd elements.
    2. Join each of these with the element behind it: the even elements but the first.
    """
    length = get_aval(xs[0]).shape[axis]
    if length < 2:
        return xs
    odd = _scan(
        join,
        join(_part(xs, axis, 0, length - 1, 2), _part(xs, axis, 1, length, 2)),
        axis,
    )
    even = _part(xs, axis, 0, 1)
    if length > 2:
        before = _part(odd, axis, 0, (length - 1) // 2)
        later = join(before, _part(xs, axis, 2, length, 2))
        even = _each(lambda a, b: concatenate([a, b], axis), even, later)
    return _each(lambda a, b: _interleaved(a, b, axis), even, odd)


def _part(xs: Pair, axis: int, start: int, limit: int, stride: int = 1) -> Pair:
    x, t = (slice_in_dim(v, start, limit, stride, axis) for v in xs)
    return x, t


def _each(function: Callable[[Any, Any], Any], xs: Pair, ys: Pair) -> Pair:
    return function(xs[0], ys[0]), function(xs[1], ys[1])


def _interleaved(even: Any, odd: Any, axis: int) -> Any:
    shape = get_aval(even).shape
    length = shape[axis] + get_aval(odd).shape[axis]

    def spread(x: Any, low: int) -> Any:
        config = [(0, 0, 0)] * len(shape)
        config[axis] = (low, length - low - 2 * get_aval(x).shape[axis] + 1, 1)
        return pad(x, scalar_like(x, 0), config)

    return add(spread(even, 0), spread(odd, 1))


def _by_jvp_of(primitive: Primitive) -> JoinPairs:
    """Join pairs by the derivative of the primitive that joins values."""

    def join(a: Pair, b: Pair) -> Pair:
        (out,), (t,) = primitive.jvp((a[0], b[0]), (a[1], b[1]))
        return out, t

    return join


# ---- cumsum ----


def _sum_aval(x: ShapedArray, *, axis: int, reverse: bool) -> Avals:
    return _check("cumsum", NUMBER, x, axis)


@wide
def _forward_sum(x: NDArray, *, axis: int) -> NDArray:
    return np.add.accumulate(x, axis, x.dtype) + x.dtype.type(0)  # -0.0 is added to 0.0


def _sum_reference(x: NDArray, *, axis: int, reverse: bool) -> NDArray:
    return _directed(lambda v, at: _forward_sum(v, axis=at), x, axis, reverse=reverse)


def _sum_lower(b: Builder, x: Value, *, axis: int, reverse: bool) -> Value:
    return _lowered(b, x, Builder.add, 0, axis, reverse=reverse)


def _sum_transpose(ct: Any, x: ShapedArray, *, axis: int, reverse: bool) -> Any:
    return cumsum(ct, axis, reverse=not reverse)


def _sum_batch(x: Any, b: int, *, axis: int, reverse: bool) -> Any:
    return cumsum(x, axis + (axis >= b), reverse=reverse), b


cumsum_p: Final = moving(
    "cumsum",
    aval=_sum_aval,
    reference=_sum_reference,
    lower=_sum_lower,
    fusion=UNFUSED,
    makes_nan=True,
    transpose=_sum_transpose,
    batch=_sum_batch,
    pad=_filling(lambda _: 0),
    samples=Samples(NUMBERS, cases=_CASES, ulps=16),
)


def cumsum(
    operand: Any,
    axis: int = 0,
    reverse: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Any:
    """Return the sums of all prefixes of an axis, or of all suffixes.

    Args:
        operand: an array of numbers.
        axis: the axis, counted from 0.
        reverse: whether to take suffixes: element i is then the sum of elements i, i +
            1, …

    Returns:
        An array of the same shape and dtype; integers wrap around.

    References:
        NumPy, `numpy.cumsum`.
    """
    return cumsum_p.bind1(operand, axis=int_of(axis), reverse=reverse)


# ---- cumprod ----


@wide
def _forward_product(x: NDArray, *, axis: int) -> NDArray:
    return np.multiply.accumulate(x, axis, x.dtype)


cumprod_p: Final = _cumulative(
    "cumprod",
    dtypes=NUMBER,
    reference=lambda x, axis: _forward_product(x, axis=axis),
    join=Builder.multiply,
    identity=lambda _: 1,
    pairs=_by_jvp_of(mul_p),
    samples=Samples(NUMBERS, cases=_CASES, domain=(-2.0, 2.0), ulps=16),
)


def cumprod(
    operand: Any,
    axis: int = 0,
    reverse: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Any:
    """Return the products of all prefixes of an axis, or of all suffixes.

    Args:
        operand: an array of numbers.
        axis: the axis, counted from 0.
        reverse: whether to take suffixes: element i is then the product of elements i,
            i + 1, …

    Returns:
        An array of the same shape and dtype; integers wrap around.

    References:
        NumPy, `numpy.cumprod`.
    """
    return cumprod_p.bind1(operand, axis=int_of(axis), reverse=reverse)


# ---- cummax, cummin ----


def _forward_extreme(x: NDArray, axis: int, *, largest: bool) -> NDArray:
    pick: Any = np.maximum if largest else np.minimum
    out = np.asarray(pick.accumulate(x, axis))
    if not dt.is_floating(x.dtype):
        return out
    # Of zeros, a max prefers 0.0, in any order.
    signs = np.signbit(x)
    found = np.logical_or.accumulate((x == 0) & (~signs if largest else signs), axis)
    zero = np.asarray(0.0 if largest else -0.0, x.dtype)
    return np.where(out == 0, np.where(found, zero, -zero), out)


cummax_p: Final = _cumulative(
    "cummax",
    dtypes=REAL,
    reference=lambda x, axis: _forward_extreme(x, axis, largest=True),
    join=Builder.maximum,
    identity=lambda dtype: extreme(dtype, largest=False),
    pairs=_by_jvp_of(max_p),
    samples=Samples((*INTS, *FLOATS), cases=_CASES),
)


def cummax(
    operand: Any,
    axis: int = 0,
    reverse: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Any:
    """Return the largest elements of all prefixes of an axis, or of all suffixes.

    Args:
        operand: an array of real numbers.
        axis: the axis, counted from 0.
        reverse: whether to take suffixes: element i is then the largest of elements i,
            i + 1, …

    Returns:
        An array of the same shape and dtype; NaN from the first NaN on.

    References:
        NumPy, `numpy.maximum.accumulate`.
    """
    return cummax_p.bind1(operand, axis=int_of(axis), reverse=reverse)


cummin_p: Final = _cumulative(
    "cummin",
    dtypes=REAL,
    reference=lambda x, axis: _forward_extreme(x, axis, largest=False),
    join=Builder.minimum,
    identity=lambda dtype: extreme(dtype, largest=True),
    pairs=_by_jvp_of(min_p),
    samples=Samples((*INTS, *FLOATS), cases=_CASES),
)


def cummin(
    operand: Any,
    axis: int = 0,
    reverse: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Any:
    """Return the smallest elements of all prefixes of an axis, or of all suffixes.

    Args:
        operand: an array of real numbers.
        axis: the axis, counted from 0.
        reverse: whether to take suffixes: element i is then the smallest of elements i,
            i + 1, …

    Returns:
        An array of the same shape and dtype; NaN from the first NaN on.

    References:
        NumPy, `numpy.minimum.accumulate`.
    """
    return cummin_p.bind1(operand, axis=int_of(axis), reverse=reverse)


# ---- cumlogsumexp ----


@wide
def _forward_logsumexp(x: NDArray, *, axis: int) -> NDArray:
    return np.logaddexp.accumulate(x, axis) + x.dtype.type(0)  # so for -0.0


def _join_logs(b: Builder, x: Value, y: Value) -> Value:
    """log(exp(x) + exp(y)); of equal infinities, that infinity."""
    gap = b.abs(b.subtract(x, y))
    out = b.add(b.maximum(x, y), b.log_plus_one(b.exponential(b.negate(gap))))
    return b.select(b.compare(gap, gap, "NE"), b.add(x, y), out)


def _join_log_pairs(a: Pair, b: Pair) -> Pair:
    """Weigh tangents by the share of each in the sum; of nothing (-inf), not at all."""
    (x, tx), (y, ty) = a, b
    largest = max_(x, y)
    zero = scalar_like(x, 0)
    offset = select_n(eq(largest, scalar_like(x, -inf)), largest, zero)
    out = add(offset, log(add(exp(sub(x, offset)), exp(sub(y, offset)))))
    base = select_n(eq(out, scalar_like(x, -inf)), out, zero)
    terms = (mul(t, exp(sub(v, base))) for v, t in ((x, tx), (y, ty)))
    return out, add(*terms)


cumlogsumexp_p: Final = _cumulative(
    "cumlogsumexp",
    dtypes=FLOATING,
    reference=lambda x, axis: _forward_logsumexp(x, axis=axis),
    join=_join_logs,
    identity=lambda _: -inf,
    pairs=_join_log_pairs,
    samples=Samples(FLOATS, cases=_CASES, ulps=16),
)


def cumlogsumexp(
    operand: Any,
    axis: int = 0,
    reverse: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Any:
    """Return the log of the sums of exp(x) over all prefixes of an axis, or suffixes.

    Args:
        operand: an array of floats.
        axis: the axis, counted from 0.
        reverse: whether to take suffixes: element i is then of elements i, i + 1, …

    Returns:
        An array of the same shape and dtype; no exponential overflows.

    References:
        NumPy, `numpy.logaddexp.accumulate`.
    """
    return cumlogsumexp_p.bind1(operand, axis=int_of(axis), reverse=reverse)
