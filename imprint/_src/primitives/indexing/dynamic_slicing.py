"""dynamic_slice and dynamic_update_slice: a part of an array at a traced index.

Starts are scalars, one for each axis, and are clamped so that the part lies within the
array. The functions count negative starts from the end, as JAX's do; the primitives
clamp them to 0. Under vmap each example may have a start of its own. Then, without a
gather, the part moves to its place in steps of 1, 2, 4, … where the start has that bit
(`_take_each`, `_put_each`): exact for every dtype and value, linear in the array, and
the work of one or two passes over it.
"""

from collections.abc import Sequence
from operator import index
from typing import Any, Final, cast

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import DType, Shape, ShapedArray, get_aval
from imprint._src.core.dims import Dim
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import UndefinedPrimal
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.primitives.core_ops import (
    add,
    broadcast_in_dim,
    full,
    instantiate,
    moveaxis,
    scalar_like,
)
from imprint._src.primitives.elementwise.arithmetic import max_, min_
from imprint._src.primitives.elementwise.bitwise import and_
from imprint._src.primitives.elementwise.comparison import ge, lt, ne
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.select import clamp, select_n
from imprint._src.primitives.indexing.slicing import pad, slice_in_dim
from imprint._src.primitives.shape import EVERY, broadcasted_iota, number_of, squeeze
from imprint._src.stablehlo import Builder, Value, indexed

NDArray = np.ndarray[Any, Any]

_INT32: Final = np.dtype(np.int32)

# ---- starts ----


def _check_starts(name: str, x: ShapedArray, starts: Avals, sizes: Shape) -> None:
    if len(starts) != x.ndim or len(sizes) != x.ndim or any(s.shape for s in starts):
        raise ShapeError(
            f"{name}: expected a scalar start and a size for each axis of {x}, got "
            f"starts {_listed(starts)} and sizes {sizes}. Give {x.ndim} of each."
        )
    if not all(
        dims.at_least(size, 0) and dims.at_least(n, size)
        for size, n in zip(sizes, x.shape, strict=True)
    ):
        raise ShapeError(
            f"{name}: expected sizes of at most {x.shape}, the shape of {x}, got "
            f"{sizes}. A part cannot be larger than the array."
        )
    dtypes = {s.dtype for s in starts}
    if len(dtypes) > 1 or not all(map(dt.is_integer, dtypes)):
        raise DTypeError(
            f"{name}: expected starts of one integer dtype, got {_listed(starts)}. "
            "Convert them with `.astype(...)`."
        )


def _listed(avals: Avals) -> str:
    return f"({', '.join(map(str, avals))})"


def _is_sequence(x: object) -> bool:
    return isinstance(x, Sequence)


def _starts(name: str, x: ShapedArray, start_indices: Any, wraps: Any) -> list[Any]:
    """Return one scalar start for each axis, counted from 0 where it `wraps`."""
    if hasattr(start_indices, "aval") or isinstance(start_indices, np.ndarray):
        count = dims.concrete(get_aval(start_indices).shape[0], name)
        parts = [slice_in_dim(start_indices, i, i + 1) for i in range(count)]
        start_indices = [squeeze(part, (0,)) for part in parts]
    if not _is_sequence(start_indices):
        raise ArgumentError(
            f"{name}: expected a sequence of starts, one for each axis of {x}, got "
            f"{shown(start_indices)}. Give {x.ndim} starts, in a tuple."
        )
    if len(start_indices) != x.ndim:
        raise ShapeError(
            f"{name}: expected one start for each axis of {x}, got "
            f"{len(start_indices)}. Give {x.ndim} starts."
        )
    typed = (get_aval(i).dtype for i in start_indices if not _is_size(i))
    dtype = next(typed, dt.default_int())  # a Python int takes the others' dtype
    start_indices = tuple(
        [number_of(i, dtype) if dims.is_symbolic(i) else i for i in start_indices]
    )
    each: Any = [wraps] * x.ndim if isinstance(wraps, bool) else wraps
    if not _is_sequence(each) or len(each) != x.ndim:
        raise ArgumentError(
            f"{name}: expected allow_negative_indices to be a bool, or one for each axis "
            f"of {x}, got {shown(wraps)}. Leave it out if starts count from the end."
        )
    if any(
        _is_static(i) and i < 0 and not w
        for i, w in zip(start_indices, each, strict=True)
    ):
        raise ShapeError(
            f"{name}: expected starts of at least 0 where allow_negative_indices is "
            f"False, got {start_indices} for {x}. Count from the front."
        )
    return [
        _from_zero(i, n, dtype) if w or _is_static(i) else i
        for i, n, w in zip(start_indices, x.shape, each, strict=True)
    ]


def _is_size(start: Any) -> bool:
    return type(start) is int or dims.is_symbolic(start)


def _from_zero(start: Any, length: Dim, dtype: DType) -> Any:
    if _is_static(start):
        own = dtype if type(start) is int else get_aval(start).dtype
        first = index(start)
        if dims.is_symbolic(length):
            return own.type(first) if first >= 0 else number_of(length + first, own)
        first += length if first < 0 else 0
        limits = dt.iinfo(own if dt.is_integer(own) else dt.default_int())
        if int(limits.min) <= first <= int(limits.max):
            return own.type(first)
        return own.type(max(0, min(first, length)))  # beyond is the same, clamped
    aval = get_aval(start)
    if not dt.is_integer(aval.dtype) or dt.is_unsigned(aval.dtype):
        return start
    negative = lt(start, scalar_like(start, 0))
    size = (
        number_of(length, aval.dtype)
        if dims.is_symbolic(length)
        else scalar_like(start, length)
    )
    return select_n(negative, start, add(start, size))


def _is_static(start: Any) -> bool:
    return isinstance(start, int | np.integer)


def _clamped(starts: Values, shape: Shape, sizes: Shape) -> list[int]:
    """Return concrete starts as the engine clamps them."""
    return [
        max(0, min(int(start), n - size))
        for start, n, size in zip(starts, shape, sizes, strict=True)
    ]


# ---- dynamic_slice ----


def _take_aval(x: ShapedArray, *starts: ShapedArray, slice_sizes: Shape) -> Avals:
    _check_starts("dynamic_slice", x, starts, slice_sizes)
    return (x.with_shape(slice_sizes),)


def _take_reference(x: NDArray, *starts: NDArray, slice_sizes: Shape) -> Values:
    firsts = _clamped(starts, x.shape, slice_sizes)
    spans = zip(firsts, slice_sizes, strict=True)
    return (x[tuple(slice(first, first + size) for first, size in spans)],)


def _take_lower(
    b: Builder, x: Value, *starts: Value, slice_sizes: Shape
) -> tuple[Value, ...]:
    return (indexed.dynamic_slice(b, x, starts, slice_sizes),)


def _take_jvp(primals: Values, tangents: Values, *, slice_sizes: Shape) -> Any:
    (x, *starts), t = primals, tangents[0]
    return (
        dynamic_slice_p.bind_all(x, *starts, slice_sizes=slice_sizes),
        dynamic_slice_p.bind_all(t, *starts, slice_sizes=slice_sizes),
    )


def _take_transpose(cts: Values, operands: Values, *, slice_sizes: Shape) -> Values:
    (ct,), (x, *starts) = cts, operands
    zeros = full(x.aval.shape, 0, x.aval.dtype)
    x_ct = dynamic_update_slice_p.bind1(zeros, ct, *starts)
    return (x_ct, *(None for _ in starts))


def _take_batch(args: Values, at: Dims, *, slice_sizes: Shape) -> Any:
    (x, *starts), (b, *starts_at) = args, at
    size = batch_size(args, at)
    x = in_front(x, b, size)
    shared, each = _shared_and_each(starts, starts_at)
    sizes = tuple(
        n if i in each else taken
        for i, (n, taken) in enumerate(
            zip(get_aval(x).shape[1:], slice_sizes, strict=True)
        )
    )
    x = dynamic_slice_p.bind1(x, *shared, slice_sizes=(size, *sizes))
    for axis, start in each.items():
        x = _take_each(x, start, axis + 1, slice_sizes[axis])
    return (x,), (0,)


def _take_each(x: Any, start: Any, axis: int, size: int) -> Any:
    """Take `size` elements of `axis` from `start[i]` on, for each example i.

    The largest step comes first. A step keeps only elements that smaller ones may need, so
    all steps together read little more than the array once.
    """
    room = dims.concrete(get_aval(x).shape[axis] - size, "vmap of dynamic_slice")
    start = _within(start, room)
    for step in reversed(_steps(room)):
        near = slice_in_dim(x, 0, size + step - 1, axis=axis)
        far = slice_in_dim(x, step, size + 2 * step - 1, axis=axis)
        far = _grown(far, axis, 0, size + step - 1)
        x = select_n(_has_bit(start, step, get_aval(near).shape), near, far)
    return x


def _take_pad(
    bucket: PadContext, x: PaddedValue, *starts: PaddedValue, slice_sizes: Shape
) -> Values:
    shape = x.aval.shape
    firsts = _true_starts(bucket, shape, starts, slice_sizes)
    room = roomy(bucket, x, slice_sizes)
    (out,) = bucket.bind_all(room, *firsts, slice_sizes=slice_sizes)
    fills = [
        fill if dims.is_same(n, k) else None
        for fill, n, k in zip(x.fills, shape, slice_sizes, strict=True)
    ]
    return (PaddedValue(out, bucket.outs[0], fills, x.known),)


def as_int32(x: Any) -> Any:
    """Return integers in int32; those beyond are its ends."""
    dtype = get_aval(x).dtype
    if dtype == _INT32:
        return x
    own: Any = cast("Any", dt).iinfo(dtype)
    info = np.iinfo(_INT32)
    if own.max > info.max:
        x = min_(x, scalar_like(x, info.max))
    if own.min < info.min:
        x = max_(x, scalar_like(x, info.min))
    return convert_element_type(x, _INT32)


def roomy(bucket: PadContext, x: PaddedValue, sizes: Shape) -> Any:
    """Return an operand, with room behind its end for windows whose sizes have names."""
    room = [
        0 if dims.is_same(k, n) or not dims.is_symbolic(k) else bucket.most(k)
        for k, n in zip(sizes, x.aval.shape, strict=True)
    ]
    if not any(room):
        return x.value
    return pad(x.value, scalar_like(x.value, 0), [(0, more, 0) for more in room])


def _true_starts(
    bucket: PadContext, shape: Shape, starts: Sequence[PaddedValue], sizes: Shape
) -> list[Any]:
    """Return starts clamped to the true sizes."""
    found: list[Any] = []
    for n, k, start in zip(shape, sizes, starts, strict=True):
        last = n - k
        first = as_int32(start.value)
        if dims.is_same(last, 0):
            first = np.int32(0)
        elif dims.is_symbolic(n) or dims.is_symbolic(k):
            first = clamp(np.int32(0), first, bucket.number(last))
        found.append(first)
    return found


dynamic_slice_p: Final = Primitive(
    name="dynamic_slice",
    aval=_take_aval,
    reference=_take_reference,
    lower=_take_lower,
    fusion=UNFUSED,
    makes_nan=False,
    jvp=_take_jvp,
    transpose=_take_transpose,
    batch=_take_batch,
    pad=_take_pad,
    samples=Samples(
        EVERY,
        cases=(
            Case(((5,), ()), {"slice_sizes": (2,)}, (None, "int32")),
            Case(((4, 6), (), ()), {"slice_sizes": (3, 2)}, (None, "int8", "int8")),
            Case(((9,), ()), {"slice_sizes": (1,)}, (None, "uint64")),
            Case(((3,), ()), {"slice_sizes": (3,)}, (None, "uint8")),
            Case(((0, 2), (), ()), {"slice_sizes": (0, 1)}, (None, "int64", "int64")),
            Case(((),), {"slice_sizes": ()}),
        ),
    ),
)


def dynamic_slice(
    operand: Any,
    start_indices: Any,
    slice_sizes: Sequence[Dim],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Any:
    """Take a part of `operand` of static sizes at starts that may be traced.

    Args:
        operand: an array.
        start_indices: a start for each axis, or an array of them; a negative one counts
            from the end. A part that would leave the array is moved inside.
        slice_sizes: the shape of the part.
        allow_negative_indices: whether negative starts count from the end, for all axes
            or for each. If not, those known while tracing raise and others are 0.

    Returns:
        An array of the shape `slice_sizes` and the dtype of `operand`.

    References:
        StableHLO, `dynamic_slice`.
    """
    starts = _starts(
        "dynamic_slice", get_aval(operand), start_indices, allow_negative_indices
    )
    return dynamic_slice_p.bind1(
        operand, *starts, slice_sizes=dims.as_shape(slice_sizes)
    )


# ---- dynamic_update_slice ----


def _put_aval(x: ShapedArray, update: ShapedArray, *starts: ShapedArray) -> Avals:
    _check_starts("dynamic_update_slice", x, starts, update.shape)
    if x.dtype != update.dtype:
        raise DTypeError(
            f"dynamic_update_slice: expected an update of dtype {x.dtype}, got {x} and "
            f"{update}. Convert the update with `.astype(...)`."
        )
    weak = all(aval.weak_type for aval in (x, update, *starts))
    return (ShapedArray(x.shape, x.dtype, weak),)


def _put_reference(x: NDArray, update: NDArray, *starts: NDArray) -> Values:
    firsts = _clamped(starts, x.shape, update.shape)
    spans = zip(firsts, update.shape, strict=True)
    out = np.array(x)
    out[tuple(slice(first, first + size) for first, size in spans)] = update
    return (out,)


def _put_lower(
    b: Builder, x: Value, update: Value, *starts: Value
) -> tuple[Value, ...]:
    return (indexed.dynamic_update_slice(b, x, update, starts),)


def _put_jvp(primals: Values, tangents: Values) -> Any:
    (_, _, *starts), (t, update_t, *_) = primals, tangents
    return (
        dynamic_update_slice_p.bind_all(*primals),
        dynamic_update_slice_p.bind_all(instantiate(t), instantiate(update_t), *starts),
    )


def _put_transpose(cts: Values, operands: Values) -> Values:
    (ct,), (x, update, *starts) = cts, operands
    aval = get_aval(update)
    x_ct = update_ct = None
    if isinstance(x, UndefinedPrimal):
        zeros = full(aval.shape, 0, aval.dtype)
        x_ct = dynamic_update_slice_p.bind1(ct, zeros, *starts)
    if isinstance(update, UndefinedPrimal):
        update_ct = dynamic_slice_p.bind1(ct, *starts, slice_sizes=aval.shape)
    return (x_ct, update_ct, *(None for _ in starts))


def _put_batch(args: Values, at: Dims) -> Any:
    (x, update, *starts), (b, update_b, *starts_at) = args, at
    size = batch_size(args, at)
    x, update = in_front(x, b, size), in_front(update, update_b, size)
    shared, each = _shared_and_each(starts, starts_at)
    if each:
        # Where the starts are shared, cut down to the part that changes, then put back.
        lengths = zip(get_aval(x).shape[1:], get_aval(update).shape[1:], strict=True)
        sizes = [n if i in each else m for i, (n, m) in enumerate(lengths)]
        part = dynamic_slice_p.bind1(x, *shared, slice_sizes=(size, *sizes))
        update = _put_each(part, update, each)
    return dynamic_update_slice_p.bind_all(x, update, *shared), (0,)


def _put_each(x: Any, update: Any, each: dict[int, Any]) -> Any:
    """Put `update[i]` into `x[i]` at its own starts, given by axis."""
    shape = get_aval(x).shape
    inside: Any = None
    for axis, start in each.items():
        size, length = (
            dims.concrete(s[axis + 1], "vmap of dynamic_update_slice")
            for s in (get_aval(update).shape, shape)
        )
        start = _within(start, length - size)
        for step in _steps(length - size):
            grown = get_aval(update).shape[axis + 1] + step
            near = _grown(update, axis + 1, 0, grown)
            far = _grown(update, axis + 1, step, grown)
            moved = _has_bit(start, step, get_aval(near).shape)
            update = select_n(moved, near, far)
        update = slice_in_dim(update, 0, length, axis=axis + 1)
        here = _covers(start, size, (shape[0], length))
        here = broadcast_in_dim(here, shape, (0, axis + 1))
        inside = here if inside is None else and_(inside, here)
    return select_n(inside, x, update)


def _covers(start: Any, size: int, shape: Shape) -> Any:
    """Return, for each example, which positions lie in `start[i] : start[i] + size`."""
    position = broadcasted_iota(_INT32, shape, 1)
    first = broadcast_in_dim(start, shape, (0,))
    limit = broadcast_in_dim(add(start, np.int32(size)), shape, (0,))
    return and_(ge(position, first), lt(position, limit))


def _put_pad(
    bucket: PadContext, x: PaddedValue, update: PaddedValue, *starts: PaddedValue
) -> Values:
    """Keep elements behind the true size of the update."""
    shape, sizes = x.aval.shape, update.aval.shape
    firsts = _true_starts(bucket, shape, starts, sizes)
    pairs = enumerate(zip(shape, sizes, strict=True))
    cut = [i for i, (n, k) in pairs if dims.is_symbolic(k) and not dims.is_same(n, k)]
    if not cut:
        return bucket.bind_all(x, update, *firsts)
    room = roomy(bucket, x, sizes)
    lengths = bucket.bound(sizes)
    there = dynamic_slice_p.bind1(room, *firsts, slice_sizes=lengths)
    value = select_n(bucket.inside(sizes, cut), there, update.value)
    (out,) = bucket.bind_all(room, value, *firsts)
    for axis in cut:
        out = slice_in_dim(out, 0, bucket.bound(shape[axis]), axis=axis)
    return (out,)


dynamic_update_slice_p: Final = Primitive(
    name="dynamic_update_slice",
    aval=_put_aval,
    reference=_put_reference,
    lower=_put_lower,
    fusion=UNFUSED,
    makes_nan=False,
    jvp=_put_jvp,
    transpose=_put_transpose,
    batch=_put_batch,
    pad=_put_pad,
    samples=Samples(
        EVERY,
        cases=(
            Case(((5,), (2,), ()), dtypes=(None, None, "int32")),
            Case(((4, 6), (3, 2), (), ()), dtypes=(None, None, "int8", "int8")),
            Case(((9,), (1,), ()), dtypes=(None, None, "uint64")),
            Case(((3,), (3,), ()), dtypes=(None, None, "uint8")),
            Case(((3,), (0,), ()), dtypes=(None, None, "int64")),
            Case(((), ())),
        ),
    ),
)


def dynamic_update_slice(
    operand: Any,
    update: Any,
    start_indices: Any,
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Any:
    """Return `operand` with `update` in the place that starts at `start_indices`.

    Args:
        operand: an array.
        update: an array of the same dtype and rank, in no axis longer.
        start_indices: a start for each axis, or an array of them; a negative one counts
            from the end. An update that would leave the array is moved inside.
        allow_negative_indices: whether negative starts count from the end, for all axes
            or for each. If not, those known while tracing raise and others are 0.

    Returns:
        An array of the shape and dtype of `operand`.

    References:
        StableHLO, `dynamic_update_slice`.
    """
    starts = _starts(
        "dynamic_update_slice", get_aval(operand), start_indices, allow_negative_indices
    )
    return dynamic_update_slice_p.bind1(operand, update, *starts)


# ---- batching ----


def batch_size(args: Values, at: Dims) -> Dim:
    """Return the length of the hidden axis."""
    return next(
        get_aval(x).shape[b] for x, b in zip(args, at, strict=True) if b is not None
    )


def in_front(x: Any, b: int | None, size: Dim) -> Any:
    """Bring the hidden axis to the front; make one if there is none."""
    if b is not None:
        return moveaxis(x, b, 0)
    shape = get_aval(x).shape
    return broadcast_in_dim(x, (size, *shape), tuple(range(1, len(shape) + 1)))


def _shared_and_each(
    starts: Sequence[Any], at: Sequence[int | None]
) -> tuple[list[Any], dict[int, Any]]:
    """Return starts of the batched array where one serves all, and the others by axis."""
    dtype = get_aval(starts[0]).dtype if starts else _INT32
    zero = dtype.type(0)
    shared = [s if b is None else zero for s, b in zip(starts, at, strict=True)]
    pairs = enumerate(zip(starts, at, strict=True))
    return [zero, *shared], {i: s for i, (s, b) in pairs if b is not None}


def _within(start: Any, room: int) -> Any:
    """Clamp starts to [0, room], in int32."""
    dtype = get_aval(start).dtype
    limit = min(room, int(dt.iinfo(dtype).max))
    clamped = clamp(dtype.type(0), start, dtype.type(limit))
    return convert_element_type(clamped, _INT32)


def _steps(room: int) -> list[int]:
    """Return the powers of two whose sums are all numbers up to `room`."""
    return [1 << i for i in range(room.bit_length())]


def _has_bit(start: Any, step: int, shape: Shape) -> Any:
    """Return, for all elements of example i, whether `start[i]` has the bit `step`."""
    bit = ne(and_(start, np.int32(step)), np.int32(0))
    return broadcast_in_dim(bit, shape, (0,))


def _grown(x: Any, axis: int, low: int, length: int) -> Any:
    """Pad one axis with zeros: `low` before, and behind up to `length`."""
    shape = get_aval(x).shape
    high = length - low - shape[axis]
    if not low and not high:
        return x
    config = [(0, 0, 0)] * len(shape)
    config[axis] = (low, high, 0)
    return pad(x, scalar_like(x, 0), config)
