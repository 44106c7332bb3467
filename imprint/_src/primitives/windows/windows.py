"""The windows of a convolution, and their contraction with a kernel by NumPy.

`ConvWindow` holds the params. A convolution is a product of matrices for each group: windows,
which are a view of the padded operand, are written out, a part of the batch at a time. The
semantics are in `convolution`.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import DType, Shape
from imprint._src.core.dims import Dim
from imprint._src.core.padding import PadContext, PaddedValue, PerSize
from imprint._src.core.primitive import Params, Values
from imprint._src.errors import ArgumentError, ShapeError

Ints = tuple[int, ...]
Pads = tuple[tuple[Dim, Dim], ...]
Steps = tuple[Ints, Pads, Ints, Ints]
"""Strides and padding, and the dilations of operand and window."""
NDArray = np.ndarray[Any, Any]


class ConvDimensionNumbers(NamedTuple):
    """Which axis of each array of a convolution is which.

    Args:
        lhs_spec: (batch, feature, spatial axes…) of the first operand.
        rhs_spec: (output feature, input feature, spatial axes…) of the kernel.
        out_spec: (batch, feature, spatial axes…) of the result.
    """

    lhs_spec: Sequence[int]
    rhs_spec: Sequence[int]
    out_spec: Sequence[int]


class ConvWindow(NamedTuple):
    """The params of a convolution that say where windows are, and which groups there are."""

    window_strides: Ints
    padding: Pads
    lhs_dilation: Ints
    rhs_dilation: Ints
    dimension_numbers: ConvDimensionNumbers
    feature_group_count: int = 1
    batch_group_count: int = 1


PADDINGS: Final = ("VALID", "SAME", "SAME_LOWER")


def pads_of(
    caller: str,
    padding: str,
    lengths: Sequence[Dim],
    extents: Sequence[Dim],
    strides: Ints,
) -> Pads:
    """Return the padding before and behind each axis, for a padding with a name.

    Args:
        caller: the function that the user called, for the error.
        padding: one of `PADDINGS`: none, or a window for each stride of the axis; an odd
            element is behind, or before the axis.
        lengths: of the axes.
        extents: of the windows.
        strides: the steps between windows.
    """
    name = padding.upper()
    if name not in PADDINGS:
        raise ArgumentError(
            f"{caller}: expected padding {', '.join(PADDINGS)} or pairs of ints, got "
            f"{padding!r}."
        )
    if any(n < 1 for n in strides):
        raise ShapeError(
            f"{caller}: expected positive strides, got {strides}. Write 1 for each place."
        )
    pads: list[tuple[Dim, Dim]] = []
    for n, extent, step in zip(lengths, extents, strides, strict=True):
        windows = dims.ceil_divide(n, step)
        total = dims.maximum((windows - 1) * step + extent - n, 0)
        low = total // 2 if name == "SAME" else total - total // 2
        pads.append((0, 0) if name == "VALID" else (low, total - low))
    return tuple(pads)


def out_space(lengths: Shape, kernel: Shape, steps: Steps) -> Shape | None:
    """Return how many windows there are along each axis; None if padding cuts too much."""
    found: list[Dim] = []
    for n, k, stride, (low, high), spread, dilation in zip(
        lengths, kernel, *steps, strict=True
    ):
        total = dims.dilated(n, spread) + low + high
        if dims.has_negative((total,)):
            return None
        windows = (total - dims.dilated(k, dilation)) // stride + 1
        found.append(dims.maximum(0, windows))
    return tuple(found)


def back_pads(lengths: Shape, kernel: Shape, counts: Shape, steps: Steps) -> Pads:
    """Return the padding with which cotangents are convolved with the reversed kernel.

    Args:
        lengths: of the operand.
        kernel: the lengths of a window.
        counts: how many windows there are.
        steps: of the windows.
    """
    pads: list[tuple[Dim, Dim]] = []
    for n, k, count, stride, (low, _), spread, dilation in zip(
        lengths, kernel, counts, *steps, strict=True
    ):
        extent = dims.dilated(k, dilation)
        before = extent - low - 1
        reach = dims.dilated(n, spread) + extent - 1
        pads.append((before, reach - dims.dilated(count, stride) - before))
    return tuple(pads)


def placed(
    lengths: Shape, padding: Pads, spreads: Ints
) -> tuple[Ints | None, list[slice], list[slice]]:
    """Return the lengths with padding, and which elements go where among it.

    None for the lengths: all stay where they are.
    """
    room: list[int] = []
    place: list[slice] = []
    source: list[slice] = []
    for n, (low, high), step in zip(lengths, padding, spreads, strict=True):
        total = dims.dilated(n, step) + low + high
        first = -(min(low, 0) // step)  # the first element that is not cut off
        last = max(min(n, -(-(total - low) // step)), first)
        start = low + first * step
        room.append(total)
        source.append(slice(first, last))
        place.append(slice(start, start + max((last - first - 1) * step + 1, 0), step))
        if last == first:
            place[-1] = slice(0, 0)
    is_whole = room == list(lengths) and place == [slice(0, n, 1) for n in lengths]
    return (None if is_whole else tuple(room)), place, source


# ---- reference of a convolution ----


class _ConvPlan(NamedTuple):
    """A convolution as a stack of products of matrices, one for each group.

    The first operand, as (batch, feature, spatial…), is put at `place` of zeros of the
    shape `room`; None: it stays as it is. Of that, `view` has the axes (group, feature,
    kernel…, batch, windows…), with `steps` in elements: in memory windows are long and
    kernels short. The kernel goes to `columns`, (group, output feature, summed axes).
    The product has the axes (group, output feature, batch, windows…) of `shape`, which
    `order` brings to (batch, group, output feature, windows…), and `out_order` from
    (batch, feature, windows…) to the result's.
    """

    x_order: Ints
    room: Ints | None
    place: tuple[slice, ...]
    source: tuple[slice, ...]
    view: Ints
    steps: Ints
    y_order: Ints
    columns: Ints
    shape: Ints
    order: Ints
    out_shape: Ints
    out_order: Ints


@lru_cache(maxsize=512)
def _plan(x: Shape, y: Shape, window: ConvWindow) -> _ConvPlan:
    lhs, rhs, out = map(tuple, window.dimension_numbers)
    count = len(lhs) - 2
    batch, features, *lengths = (x[i] for i in lhs)
    outputs, inputs, *kernel = (y[i] for i in rhs)
    groups, batches = window.feature_group_count, window.batch_group_count
    windows = out_space(tuple(lengths), tuple(kernel), window[:4])
    assert windows is not None
    room, place, source = placed(tuple(lengths), window.padding, window.lhs_dilation)
    padded = (batch, features, *(lengths if room is None else room))
    steps = [dims.product(padded[i + 1 :]) for i in range(count + 2)]
    rows = batch // batches
    group_step = inputs * steps[1] if groups > 1 else rows * steps[0]
    window_steps = map(int.__mul__, steps[2:], window.window_strides)
    kernel_steps = map(int.__mul__, steps[2:], window.rhs_dilation)
    split = groups * batches
    return _ConvPlan(
        lhs,
        None if room is None else padded,
        (slice(None), slice(None), *place),
        (slice(None), slice(None), *source),
        (split, inputs, *kernel, rows, *windows),
        (group_step, steps[1], *kernel_steps, steps[0], *window_steps),
        rhs,
        (split, outputs // split, inputs * dims.product(kernel)),
        (split, outputs // split, rows, *windows),
        (2, 0, 1, *range(3, count + 3)),
        (rows, outputs, *windows),
        tuple(out.index(i) for i in range(count + 2)),
    )


_MOST: Final = 1 << 22
"""How many elements of windows are written out at once, if the batch can be split."""


def convolve(x: NDArray, y: NDArray, window: ConvWindow) -> NDArray:
    """Convolve arrays of one dtype, which is one in which NumPy multiplies matrices."""
    plan = _plan(x.shape, y.shape, window)
    x = x.transpose(plan.x_order)
    if plan.room is None:
        x = np.ascontiguousarray(x)
    else:
        padded = np.zeros(plan.room, x.dtype)
        padded[plan.place] = x[plan.source]
        x = padded
    columns = y.transpose(plan.y_order).reshape(plan.columns)
    product = _product(columns, x, plan).transpose(plan.order)
    return product.reshape(plan.out_shape).transpose(plan.out_order)


def _product(columns: NDArray, x: NDArray, plan: _ConvPlan) -> NDArray:
    """Contract the kernel with windows, in parts of the batch."""
    size = dims.product(plan.view)
    if size == 0 or dims.product(plan.shape) == 0:
        return np.zeros(plan.shape, x.dtype)
    groups, _, rows, *_ = plan.shape
    steps = tuple([n * x.itemsize for n in plan.steps])
    view = np.ndarray(plan.view, x.dtype, x, 0, steps)
    terms = plan.columns[2]
    if size <= _MOST or rows == 1:
        return np.matmul(columns, view.reshape(groups, terms, -1)).reshape(plan.shape)
    product = np.empty(plan.shape, x.dtype)
    part = max(1, rows * _MOST // size)
    at = view.ndim - len(plan.shape) + 2
    whole = (slice(None),) * at
    for start in range(0, rows, part):
        some = view[(*whole, slice(start, start + part))].reshape(groups, terms, -1)
        found = product[:, :, start : start + part]
        found[...] = np.matmul(columns, some).reshape(found.shape)
    return product


# ---- padded ----


def filling_windows(
    *numbers: Callable[[DType, Params], Any],
) -> Callable[..., Values]:
    """Return the padding rule of a join of the elements of windows.

    Args:
        numbers: for each operand `(dtype, params)` → the identity of the join.
    """

    def rule(bucket: PadContext, *operands: PaddedValue, **params: Any) -> Values:
        check_padding(params["padding"])
        axes = [
            i
            for i, n in enumerate(params["window_dimensions"])
            if not dims.is_same(n, 1)
        ]
        filled = [
            bucket.filled(x, number(x.aval.dtype, params), axes)
            for x, number in zip(operands, numbers, strict=True)
        ]
        return bucket.bind_all(*filled, **params)

    return rule


def check_padding(padding: Pads) -> None:
    """Raise NoPaddingError if the first window begins where a size says."""
    if any(dims.is_symbolic(low) for low, _ in padding):
        _MOVED()


_MOVED: Final = PerSize("where its windows begin depends on the size")
