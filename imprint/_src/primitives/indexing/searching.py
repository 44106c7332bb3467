"""searchsorted: the positions of elements in sorted arrays.

The order is that of `sort`. The first `batch` axes of both operands are matched; the next
axis of the first operand is searched, for all other elements of the second. On the host
NumPy searches. Compiled, `method` is bisection, the largest step first; comparison with all;
or sorting both together and counting. In an unsorted array each finds something else.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Absent, Avals, Dims, Primitive, Values
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.primitives.core_ops import (
    NOT_LINEAR,
    broadcast_in_dim,
    moveaxis,
    not_differentiable,
)
from imprint._src.primitives.elementwise.arithmetic import min_
from imprint._src.primitives.indexing.sorting import (
    comparable,
    last_of,
    lies_before,
    lower_order,
    lower_second,
    sort_keys,
)
from imprint._src.stablehlo import Builder, Value, indexed, windows

NDArray = np.ndarray[Any, Any]
Keys = Sequence[Value]

_INT32: Final = np.dtype(np.int32)
_MOST: Final = 2**31 - 1
SIDES: Final = ("left", "right")


def _aval(
    a: ShapedArray, v: ShapedArray, *, side: str, method: str, batch: int
) -> Avals:
    if a.dtype != v.dtype:
        raise DTypeError(
            f"searchsorted: expected operands of one dtype, got {a} and {v}. Convert one "
            "with `.astype(...)`, or call imprint.numpy, which promotes."
        )
    fits = a.ndim == batch + 1 and v.ndim >= batch
    if not fits or not dims.equal_shapes(a.shape[:batch], v.shape[:batch]):
        raise ShapeError(
            f"searchsorted: expected an array of {batch + 1} axes and one that shares "
            f"the first {batch}, got {a} and {v}. Map over further axes with imprint.vmap."
        )
    if side not in SIDES:
        raise ArgumentError(
            f"searchsorted: expected side 'left' or 'right', got {side!r}. It is the side "
            "of equal elements."
        )
    if method not in METHODS:
        raise ArgumentError(
            f"searchsorted: expected a method of {', '.join(METHODS)}, got {method!r}. "
            "Leave it out."
        )
    if dims.is_surely_at_least(a.shape[batch], _MOST + 1):
        raise ShapeError(
            f"searchsorted: expected an axis that int32 counts, got {a}. Search in parts."
        )
    return (v.strong().with_dtype(_INT32),)


def _reference(a: NDArray, v: NDArray, *, side: Any, method: str, batch: int) -> Values:
    a, v = comparable(a), comparable(v)
    if not batch:
        return (np.asarray(np.searchsorted(a, v, side), _INT32),)
    out = np.empty(v.shape, _INT32)
    for at in np.ndindex(*v.shape[:batch]):
        out[at] = np.searchsorted(a[at], v[at], side)
    return (out,)


def _lower(
    b: Builder, a: Value, v: Value, *, side: str, method: str, batch: int
) -> tuple[Value, ...]:
    if not a.shape[batch]:
        return (b.full(v.shape, 0, _INT32),)
    return (METHODS[method](b, a, v, batch, side),)


def _lower_compare_all(b: Builder, a: Value, v: Value, batch: int, side: str) -> Value:
    """Count the elements before each."""
    shape = (*a.shape, *v.shape[batch:])
    own = range(batch + 1)
    others = [i for i in range(len(shape)) if i != batch]
    xs = [b.broadcast_in_dim(x, shape, own) for x in sort_keys(b, a)]
    ys = [b.broadcast_in_dim(y, shape, others) for y in sort_keys(b, v)]
    before = b.convert(_before(b, xs, ys, side=side), _INT32)
    return b.reduce(before, b.constant(0, _INT32), "add", (batch,))


def _before(b: Builder, xs: Keys, ys: Keys, *, side: str) -> Value:
    """Return whether each element x is less than y; or equal, on the right."""
    pairs = list(zip(xs, ys, strict=True))
    if side == "left":
        return lies_before(b, pairs)
    return b.not_(lies_before(b, [(y, x) for x, y in pairs]))


# ---- by halving ----


def _lower_unrolled(b: Builder, a: Value, v: Value, batch: int, side: str) -> Value:
    xs, ys = sort_keys(b, a), sort_keys(b, v)
    place = b.full(v.shape, 0, _INT32)
    for level in reversed(range(a.shape[batch].bit_length())):
        step = b.full(v.shape, 1 << level, _INT32)
        place = _stepped(b, xs, ys, batch, (place, step), side=side)
    return place


def _lower_scan(b: Builder, a: Value, v: Value, batch: int, side: str) -> Value:
    xs, ys = sort_keys(b, a), sort_keys(b, v)
    largest = 1 << (a.shape[batch].bit_length() - 1)
    place, step = b.full(v.shape, 0, _INT32), b.constant(largest, _INT32)

    def goes_on(r: Builder, carry: Sequence[Value]) -> list[Value]:
        return [r.compare(carry[1], r.constant(0, _INT32), "GT")]

    def body(r: Builder, carry: Sequence[Value]) -> list[Value]:
        place, step = carry
        steps = r.broadcast_in_dim(step, v.shape, ())
        place = _stepped(r, xs, ys, batch, (place, steps), side=side)
        return [place, r.shift_right_logical(step, r.constant(1, _INT32))]

    return b.while_loop([place, step], goes_on, body)[0]


def _stepped(
    b: Builder,
    xs: Keys,
    ys: Keys,
    batch: int,
    at: tuple[Value, Value],
    *,
    side: str,
) -> Value:
    """Go on by a step where the element that ends it still lies before."""
    place, step = at
    ahead = b.add(place, step)
    length = xs[0].shape[batch]
    last = b.subtract(ahead, b.full(ahead.shape, 1, _INT32))
    found = [_taken(b, x, last, batch) for x in xs]
    inside = b.compare(ahead, b.full(ahead.shape, length, _INT32), "LE")
    goes = b.and_(inside, _before(b, found, ys, side=side))
    return b.select(goes, ahead, place)


def _taken(b: Builder, x: Value, index: Value, batch: int) -> Value:
    """Take the element of the last axis at each index, which is moved inside."""
    walked = tuple(range(batch))
    vector = b.reshape(index, (*index.shape, 1))
    numbers = (), (batch,), (batch,), walked, walked
    ones = [1] * x.ndim
    return indexed.gather(b, [x, vector], numbers, ones, index.shape, is_sorted=False)


# ---- by sorting ----


def _lower_sort(b: Builder, a: Value, v: Value, batch: int, side: str) -> Value:
    """Sort both together, count, and sort the counts back.

    1. Among equal elements, the counted ones are first: the array's, on the right.
    2. A running sum counts the elements of the array up to each place.
    3. Sorted by their origin, the counts of `v` are consecutive.
    """
    flat = (*v.shape[:batch], int(np.prod(v.shape[batch:])))
    v_flat = b.reshape(v, flat)
    n, count = a.shape[batch], flat[batch]
    is_right = side == "right"
    joined = b.concatenate([a, v_flat] if is_right else [v_flat, a], batch)
    order = lower_order(b, joined, batch)
    edge = b.full(order.shape, n if is_right else count, np.uint32)
    of_a = b.convert(b.compare(order, edge, "LT" if is_right else "GE"), _INT32)
    counts = windows.cumulate(
        b,
        of_a,
        b.constant(0, _INT32),
        batch,
        reverse=False,
        body=lambda r, xs: [r.add(*xs)],
    )
    back = lower_second(b, order, b.convert(counts, np.uint64), batch)
    start = [0] * batch + [n if is_right else 0]
    stop = [*flat[:batch], start[-1] + count]
    taken = b.slice(back, start, stop, [1] * len(flat))
    return b.convert(b.reshape(taken, v.shape), _INT32)


METHODS: Final[dict[str, Callable[[Builder, Value, Value, int, str], Value]]] = {
    "scan": _lower_scan,
    "scan_unrolled": _lower_unrolled,
    "sort": _lower_sort,
    "compare_all": _lower_compare_all,
}

# ---- the primitive ----


def _jvp(primals: Values, _: Values, **params: Any) -> Any:
    return not_differentiable(searchsorted_p, primals, **params)


def _batch(args: Values, at: Dims, *, batch: int, **params: Any) -> Any:
    (a, v), (a_at, v_at) = args, at
    if a_at is None and not batch:
        return searchsorted_p.bind_all(a, v, batch=0, **params), (v_at,)
    size = next(
        get_aval(x).shape[d] for x, d in zip(args, at, strict=True) if d is not None
    )
    a, v = (
        broadcast_in_dim(
            x, (size, *get_aval(x).shape), tuple(range(1, get_aval(x).ndim + 1))
        )
        if d is None
        else moveaxis(x, d, 0)
        for x, d in zip(args, at, strict=True)
    )
    return searchsorted_p.bind_all(a, v, batch=batch + 1, **params), (0,)


def _pad(
    bucket: PadContext, a: PaddedValue, v: PaddedValue, *, batch: int, **params: Any
) -> Values:
    last = bucket.filled(a, last_of(a.aval.dtype), (batch,))
    (found,) = bucket.bind_all(last, v, batch=batch, **params)
    return (min_(found, bucket.number(a.aval.shape[batch])),)


searchsorted_p: Final = Primitive(
    name="searchsorted",
    aval=_aval,
    reference=_reference,
    lower=_lower,
    fusion=UNFUSED,
    makes_nan=False,
    jvp=_jvp,
    transpose=NOT_LINEAR,
    batch=_batch,
    pad=_pad,
    samples=Absent(
        "what it finds in an array that is not in order is open, and draws are not in order"
    ),
)


def searchsorted(a: Any, v: Any, side: str, method: str) -> Any:
    """Return where each element of `v` belongs in the last axis of `a`.

    All other axes of `a` are the first ones of `v`.
    """
    batch = get_aval(a).ndim - 1
    return searchsorted_p.bind1(a, v, side=side, method=method, batch=batch)
