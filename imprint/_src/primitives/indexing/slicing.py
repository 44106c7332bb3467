"""Parts of arrays and arrays of parts: slice, pad, concatenate.

All are linear. `slice` and `pad` are each other's transposes: the gaps that a stride
skips are interior padding. `slice` has no negative strides (`rev` has them) and its
starts and limits lie within the operand; negative padding cuts. Where a part is taken
at a traced index, see `dynamic_slicing`.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import Shape, ShapedArray, get_aval
from imprint._src.core.dims import Dim
from imprint._src.core.fusion import INDEXING, JOIN
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import UndefinedPrimal
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.primitives.axes import canonical_axis, insert, int_of, int_tuple
from imprint._src.primitives.core_ops import (
    broadcast_in_dim,
    full,
    instantiate,
    moveaxis,
    reduce_sum,
    scalar_like,
    sub,
)
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.shape import EVERY, moving
from imprint._src.stablehlo import Builder, Value

NDArray = np.ndarray[Any, Any]
Ints = tuple[int, ...]
Padding = tuple[tuple[Dim, Dim, int], ...]

# ---- slice ----


def _slice_aval(
    x: ShapedArray, *, start_indices: Ints, limit_indices: Ints, strides: Ints | None
) -> Avals:
    steps = (1,) * x.ndim if strides is None else strides
    fits = len(start_indices) == len(limit_indices) == len(steps) == x.ndim and all(
        step > 0
        and dims.at_least(lo, 0)
        and dims.at_least(hi, lo)
        and dims.at_least(n, hi)
        for lo, hi, n, step in zip(
            start_indices, limit_indices, x.shape, steps, strict=True
        )
    )
    if not fits:
        raise ShapeError(
            "slice: expected for each axis of length n 0 <= start <= limit <= n and a "
            f"positive stride, got {x}, start_indices={start_indices}, "
            f"limit_indices={limit_indices}, strides={strides}. "
            "To count from the end or backwards, index the array."
        )
    spans = zip(start_indices, limit_indices, steps, strict=True)
    taken = (dims.ceil_divide(hi - lo, step) for lo, hi, step in spans)
    return (x.with_shape(tuple(taken)),)


def _slice_reference(
    x: NDArray, *, start_indices: Ints, limit_indices: Ints, strides: Ints | None
) -> NDArray:
    steps = (1,) * x.ndim if strides is None else strides
    spans = zip(start_indices, limit_indices, steps, strict=True)
    return x[tuple(slice(lo, hi, step) for lo, hi, step in spans)]


def _slice_lower(
    b: Builder,
    x: Value,
    *,
    start_indices: Ints,
    limit_indices: Ints,
    strides: Ints | None,
) -> Value:
    steps = (1,) * x.ndim if strides is None else strides
    return b.slice(x, start_indices, limit_indices, steps)


def _slice_transpose(
    ct: Any,
    x: ShapedArray,
    *,
    start_indices: Ints,
    limit_indices: Ints,
    strides: Ints | None,
) -> Any:
    steps = (1,) * len(start_indices) if strides is None else strides
    taken = [
        dims.dilated(n, step) for n, step in zip(get_aval(ct).shape, steps, strict=True)
    ]
    config = tuple(
        (lo, length - lo - n, step - 1)
        for lo, length, n, step in zip(
            start_indices, x.shape, taken, steps, strict=True
        )
    )
    return pad(ct, scalar_like(ct, 0), config)


def _slice_batch(
    x: Any,
    b: int,
    *,
    start_indices: Ints,
    limit_indices: Ints,
    strides: Ints | None,
) -> Any:
    out = slice_(
        x,
        insert(start_indices, b, 0),
        insert(limit_indices, b, get_aval(x).shape[b]),
        None if strides is None else insert(strides, b, 1),
    )
    return out, b


def _span(start: Ints, limit: Ints, strides: Ints | None = None) -> dict[str, Any]:
    return {"start_indices": start, "limit_indices": limit, "strides": strides}


def _slice_pad(
    bucket: PadContext,
    x: PaddedValue,
    *,
    start_indices: Ints,
    limit_indices: Ints,
    strides: Ints | None,
) -> Values:
    shape = x.aval.shape
    value, spans = x.value, [start_indices, limit_indices]
    moved = [i for i, lo in enumerate(start_indices) if dims.is_symbolic(lo)]
    for i in moved:  # they begin where the true size says
        lo, hi = start_indices[i], limit_indices[i]
        value = bucket.part(value, bucket.number(lo), bucket.bound(hi - lo), i)
        spans = [
            (*s[:i], n, *s[i + 1 :]) for s, n in zip(spans, (0, hi - lo), strict=True)
        ]
    starts, limits = spans
    (out,) = bucket.bind_all(
        value, start_indices=starts, limit_indices=limits, strides=strides
    )
    fills = [
        fill if i not in moved and dims.is_same(hi, n) else None
        for i, (fill, hi, n) in enumerate(
            zip(x.fills, limit_indices, shape, strict=True)
        )
    ]
    return (PaddedValue(out, bucket.outs[0], fills, x.known),)


slice_p: Final = moving(
    "slice",
    aval=_slice_aval,
    reference=_slice_reference,
    lower=_slice_lower,
    fusion=INDEXING,
    makes_nan=False,
    transpose=_slice_transpose,
    batch=_slice_batch,
    pad=_slice_pad,
    samples=Samples(
        EVERY,
        cases=(
            Case(((4, 5),), _span((1, 0), (3, 4))),
            Case(((4, 7),), _span((1, 1), (4, 6), (2, 3))),
            Case(((8,),), _span((1,), (7,), (3,))),  # the last step ends in a gap
            Case(((4, 3),), _span((2, 0), (2, 3))),
            Case(((0, 3),), _span((0, 1), (0, 3), (2, 2))),
            Case(((),), _span((), ())),
        ),
    ),
)


def slice_(
    operand: Any,
    start_indices: Sequence[Dim],
    limit_indices: Sequence[Dim],
    strides: Sequence[int] | None = None,
) -> Any:
    """Take `start:limit:stride` of each axis; all within bounds, strides positive.

    Args:
        operand: an array.
        start_indices: the first index along each axis.
        limit_indices: the end along each axis, excluded.
        strides: the steps along each axis; 1 by default.

    Returns:
        An array of the same dtype and rank.

    References:
        StableHLO, `slice`.
    """
    return slice_p.bind1(
        operand,
        start_indices=dims.as_shape(start_indices),
        limit_indices=dims.as_shape(limit_indices),
        strides=None if strides is None else int_tuple(strides),
    )


def slice_in_dim(
    operand: Any,
    start_index: Dim | None,
    limit_index: Dim | None,
    stride: int = 1,
    axis: int = 0,
) -> Any:
    """Take `start:limit:stride` of one axis; indices count as in Python's slices.

    Args:
        operand: an array.
        start_index: the first index; None for 0. A negative one counts from the end.
        limit_index: the end, excluded; None for the length.
        stride: the step, positive.
        axis: the axis; a negative one counts from the end.

    Returns:
        An array of the same dtype and rank; the other axes stay whole.

    References:
        StableHLO, `slice`.
    """
    shape = get_aval(operand).shape
    axis = canonical_axis("slice_in_dim", axis, len(shape))
    start, limit = dims.slice_bounds(start_index, limit_index, shape[axis])
    lows, highs, steps = [0] * len(shape), list(shape), [1] * len(shape)
    lows[axis], highs[axis], steps[axis] = start, limit, stride
    return slice_(operand, lows, highs, steps)


# ---- pad ----


def _pad_aval(x: ShapedArray, fill: ShapedArray, *, padding_config: Padding) -> Avals:
    if x.dtype != fill.dtype or fill.shape:
        raise DTypeError(
            f"pad: expected a padding value of rank 0 and dtype {x.dtype}, got {x} and "
            f"{fill}. Convert one of them, or call imprint.numpy.pad."
        )
    fits = len(padding_config) == x.ndim and all(gap >= 0 for *_, gap in padding_config)
    shape = _padded(x.shape, padding_config) if fits else (-1,)
    if dims.has_negative(shape):
        raise ShapeError(
            "pad: expected for each axis (low, high, interior), with interior >= 0, "
            f"that leave no negative length, got {x}, padding_config={padding_config}. "
            "Negative low or high cut at most the whole axis."
        )
    return (ShapedArray(shape, x.dtype, x.weak_type and fill.weak_type),)


def _padded(shape: Shape, padding_config: Padding) -> Shape:
    return tuple(
        lo + hi + n + (dims.maximum(0, n - 1) * gap if gap else 0)
        for n, (lo, hi, gap) in zip(shape, padding_config, strict=True)
    )


def _pad_reference(x: NDArray, fill: NDArray, *, padding_config: Padding) -> Values:
    shape = _padded(x.shape, padding_config)
    source: list[slice] = []
    target: list[slice] = []
    for n, length, (lo, _, gap) in zip(x.shape, shape, padding_config, strict=True):
        step = gap + 1
        first = max(0, -(lo // step))  # the first element not cut off on the left
        count = max(0, min(n, -(-(length - lo) // step)) - first)
        start = lo + first * step if count else 0
        source.append(slice(first, first + count))
        target.append(slice(start, start + count * step, step))
    out = np.full(shape, fill, x.dtype)
    out[tuple(target)] = x[tuple(source)]
    return (out,)


def _pad_lower(
    b: Builder, x: Value, fill: Value, *, padding_config: Padding
) -> tuple[Value, ...]:
    low, high, interior = zip(*padding_config, strict=True) if x.ndim else ((), (), ())
    return (b.pad(x, fill, low, high, interior),)


def _pad_jvp(primals: Values, tangents: Values, *, padding_config: Padding) -> Any:
    return (
        pad_p.bind_all(*primals, padding_config=padding_config),
        pad_p.bind_all(*map(instantiate, tangents), padding_config=padding_config),
    )


def _pad_transpose(
    cts: Values, operands: Values, *, padding_config: Padding
) -> tuple[Any, ...]:
    (ct,), (x, fill) = cts, operands
    x_aval = get_aval(x)
    x_ct = fill_ct = None
    zero = scalar_like(ct, 0)
    if isinstance(x, UndefinedPrimal):
        # Without low and high padding; a cut is undone by padding with zeros.
        outer = tuple((-lo, -hi, 0) for lo, hi, _ in padding_config)
        dilated = pad(ct, zero, outer)
        steps = [gap + 1 for _, _, gap in padding_config]
        shape = get_aval(dilated).shape
        x_ct = slice_(dilated, [0] * len(shape), shape, steps)
    if isinstance(fill, UndefinedPrimal):
        inside = _inside(x_aval.shape, padding_config)
        shape = get_aval(ct).shape
        outside = select_n(inside, ct, zero)
        fill_ct = reduce_sum(outside, tuple(range(len(shape))))
    return x_ct, fill_ct


def _inside(shape: Shape, padding_config: Padding) -> Any:
    """Return where a padded array holds elements of the operand of `shape`."""
    return pad(full(shape, 1, np.dtype(bool)), np.False_, padding_config)


def _pad_batch(args: Values, at: Dims, *, padding_config: Padding) -> Any:
    (x, fill), (b, fill_b) = args, at
    if fill_b is None:
        assert b is not None
        return (pad(x, fill, insert(padding_config, b, (0, 0, 0))),), (b,)
    (size,) = get_aval(fill).shape
    shape = get_aval(x).shape
    if b is None:
        x = broadcast_in_dim(x, (size, *shape), tuple(range(1, len(shape) + 1)))
    else:
        x = moveaxis(x, b, 0)
    config = ((0, 0, 0), *padding_config)
    padded = pad(x, scalar_like(x, 0), config)
    fills = broadcast_in_dim(fill, get_aval(padded).shape, (0,))
    return (select_n(_inside(get_aval(x).shape, config), fills, padded),), (0,)


def _pad_pad(
    bucket: PadContext, x: PaddedValue, fill: PaddedValue, *, padding_config: Padding
) -> Values:
    """Put the padding value behind the true size as well."""
    (aval,) = bucket.outs
    value = bucket.filled(x, fill).value
    config = [bucket.bound(triple) for triple in padding_config]
    moved = [i for i, (lo, *_) in enumerate(padding_config) if dims.is_symbolic(lo)]
    room = {i: (max(bucket.most(padding_config[i][0]), 0)) for i in moved}
    lengths = bucket.bound(aval.shape)
    for i, most in room.items():
        config[i] = (most, lengths[i], config[i][2])
    out = pad(value, fill.value, config)
    for i, most in room.items():
        start = sub(np.int32(most), bucket.number(padding_config[i][0]))
        out = bucket.part(out, start, lengths[i], i)
    fills = [
        fill.known if not dims.is_symbolic(hi) and hi >= 0 and i not in room else None
        for i, (_, hi, _) in enumerate(padding_config)
    ]
    return (PaddedValue(out, aval, fills),)


pad_p: Final = Primitive(
    name="pad",
    aval=_pad_aval,
    reference=_pad_reference,
    lower=_pad_lower,
    fusion=JOIN,
    makes_nan=True,
    jvp=_pad_jvp,
    transpose=_pad_transpose,
    batch=_pad_batch,
    pad=_pad_pad,
    samples=Samples(
        EVERY,
        cases=(
            Case(((2, 3), ()), {"padding_config": ((1, 2, 0), (0, 1, 2))}),
            Case(((5,), ()), {"padding_config": ((-1, -2, 1),)}),
            Case(((2,), ()), {"padding_config": ((-3, 4, 0),)}),  # nothing is left
            Case(((3,), ()), {"padding_config": ((4, -5, 2),)}),
            Case(((0, 2), ()), {"padding_config": ((1, 1, 3), (0, 0, 0))}),
            Case(((), ()), {"padding_config": ()}),
        ),
    ),
)


def pad(
    operand: Any, padding_value: Any, padding_config: Sequence[Sequence[Dim]]
) -> Any:
    """Pad each axis by `(low, high, interior)` times `padding_value`.

    Interior padding goes between neighbours; negative low and high padding cuts.

    Args:
        operand: an array.
        padding_value: a number of rank 0, of the dtype of `operand`.
        padding_config: a triple of ints for each axis.

    Returns:
        An array of the same dtype and rank.

    Raises:
        ArgumentError: an item of `padding_config` is not a triple.

    References:
        StableHLO, `pad`.
    """
    config = tuple(dims.as_shape(triple) for triple in padding_config)
    if any(len(triple) != 3 for triple in config):
        raise ArgumentError(
            f"pad: expected (low, high, interior) for each axis, got {padding_config}. "
            "Give three ints an axis."
        )
    return pad_p.bind1(operand, padding_value, padding_config=config)


# ---- concatenate ----


def _concatenate_aval(*avals: ShapedArray, dimension: int) -> Avals:
    first = avals[0]
    others = _without(first.shape, dimension)
    if (
        not 0 <= dimension < first.ndim
        or any(a.ndim != first.ndim for a in avals)
        or not all(
            dims.equal_shapes(_without(a.shape, dimension), others) for a in avals
        )
    ):
        raise ShapeError(
            "concatenate: expected operands whose shapes differ in the axis "
            f"`dimension` alone, got {', '.join(map(str, avals))}, "
            f"dimension={dimension}. To add an axis, call imprint.numpy.stack."
        )
    if any(a.dtype != first.dtype for a in avals):
        raise DTypeError(
            f"concatenate: expected operands of one dtype, got "
            f"{', '.join(map(str, avals))}. Convert them, or call "
            "imprint.numpy.concatenate, which promotes."
        )
    length = sum(a.shape[dimension] for a in avals)
    shape = (*first.shape[:dimension], length, *first.shape[dimension + 1 :])
    return (ShapedArray(shape, first.dtype, all(a.weak_type for a in avals)),)


def _without(shape: Shape, dimension: int) -> Shape:
    return shape[:dimension] + shape[dimension + 1 :]


def _concatenate_reference(*arrays: NDArray, dimension: int) -> Values:
    return (np.concatenate(arrays, dimension),)


def _concatenate_lower(b: Builder, *xs: Value, dimension: int) -> tuple[Value, ...]:
    return (b.concatenate(xs, dimension),)


def _concatenate_jvp(primals: Values, tangents: Values, *, dimension: int) -> Any:
    return (
        concatenate_p.bind_all(*primals, dimension=dimension),
        concatenate_p.bind_all(*map(instantiate, tangents), dimension=dimension),
    )


def _concatenate_transpose(
    cts: Values, operands: Values, *, dimension: int
) -> tuple[Any, ...]:
    (ct,), start, found = cts, 0, list[Any]()
    for x in operands:
        limit = start + get_aval(x).shape[dimension]
        linear = isinstance(x, UndefinedPrimal)
        found.append(slice_in_dim(ct, start, limit, axis=dimension) if linear else None)
        start = limit
    return tuple(found)


def _concatenate_batch(args: Values, at: Dims, *, dimension: int) -> Any:
    size = next(
        get_aval(x).shape[b] for x, b in zip(args, at, strict=True) if b is not None
    )
    moved: list[Any] = []
    for x, b in zip(args, at, strict=True):
        shape = get_aval(x).shape
        if b is None:
            axes = tuple(range(1, len(shape) + 1))
            moved.append(broadcast_in_dim(x, (size, *shape), axes))
        else:
            moved.append(moveaxis(x, b, 0))
    return concatenate_p.bind_all(*moved, dimension=dimension + 1), (0,)


def _concatenate_pad(bucket: PadContext, *xs: PaddedValue, dimension: int) -> Values:
    """Write each operand over the padding of the one before."""
    lengths = [x.aval.shape[dimension] for x in xs]
    if not any(map(dims.is_symbolic, lengths[:-1])):
        return bucket.bind_all(*xs, dimension=dimension)
    (aval,) = bucket.outs
    out = full(bucket.bound(aval.shape), 0, aval.dtype)
    start: Dim = 0
    for x, length in zip(xs, lengths, strict=True):
        out = bucket.written(out, x.value, bucket.number(start), dimension)
        start = start + length
    return (out,)


concatenate_p: Final = Primitive(
    name="concatenate",
    aval=_concatenate_aval,
    reference=_concatenate_reference,
    lower=_concatenate_lower,
    fusion=JOIN,
    makes_nan=False,
    jvp=_concatenate_jvp,
    transpose=_concatenate_transpose,
    batch=_concatenate_batch,
    pad=_concatenate_pad,
    samples=Samples(
        EVERY,
        cases=(
            Case(((2, 3), (2, 1), (2, 2)), {"dimension": 1}),
            Case(((2,), (0,), (3,)), {"dimension": 0}),
            Case(((3, 2),), {"dimension": 0}),
            Case(((0, 2), (0, 1)), {"dimension": 1}),
        ),
    ),
)


def concatenate(operands: Sequence[Any], dimension: int) -> Any:
    """Join arrays of one dtype along an existing axis, counted from 0.

    Args:
        operands: arrays of equal lengths along the other axes.
        dimension: the axis.

    Returns:
        An array of the same dtype; a single operand is returned itself.

    Raises:
        ArgumentError: there is no operand.

    References:
        StableHLO, `concatenate`.
    """
    if not operands:
        raise ArgumentError(
            "concatenate: expected at least one array, got none. "
            "Call imprint.numpy.empty for an array without elements."
        )
    if len(operands) == 1:
        return operands[0]
    axis = int_of(dimension)
    return concatenate_p.bind1(*operands, dimension=axis)
