"""Padding and trimming at the ends of axes: pad, pad_to and trim_zeros.

Constant padding is one primitive. The other modes pad one axis at a time, each the
result of the previous, so corners are as in NumPy. `pad_to` only reserves memory: an
array in the memory of its bucket (`jit(abstracted_axes=)`) is not copied at each call.
The result of `trim_zeros` depends on values, so they must be concrete.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from imprint._src import dtypes
from imprint._src.array import ArrayImpl, padding_of
from imprint._src.bootstrap import hooks
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import get_aval
from imprint._src.core.dims import Dim
from imprint._src.core.trace import Tracer, ensure_compile_time_eval
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import (
    ArgumentError,
    ConcretizationError,
    ShapeError,
    did_you_mean,
)
from imprint._src.jit.bucketing.buckets import padded_to
from imprint._src.numpy.elementwise.arithmetic import multiply, subtract
from imprint._src.numpy.elementwise.rounding import round
from imprint._src.numpy.elementwise.selection import as_bool
from imprint._src.numpy.promotion import (
    ArrayLike,
    NDArray,
    as_array,
    broadcast,
    convert,
    is_operand,
)
from imprint._src.numpy.ranges import linspace
from imprint._src.numpy.reductions.reductions import Axis, axes_of, max, min
from imprint._src.numpy.reductions.reductions import any as any_
from imprint._src.numpy.reductions.statistics import mean
from imprint._src.numpy.shapes.concatenate import flip
from imprint._src.numpy.vectorize import apply_along_axis
from imprint._src.primitives.copying import owned
from imprint._src.primitives.core_ops import broadcast_in_dim
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.indexing.slicing import pad as pad_
from imprint._src.primitives.shape import squeeze

Pair: TypeAlias = tuple[Dim, Dim]
"""The numbers of elements to add before and after one axis."""
Widths: TypeAlias = tuple[Pair, ...]
Extend: TypeAlias = Callable[[Array, int, Pair, Any], Array]
"""A mode: pads one axis of an array by a pair of widths, with the option's values."""


@fuse_eager
def pad(
    array: ArrayLike,
    pad_width: Dim | Sequence[Any] | NDArray,
    mode: str | Callable[..., Any] = "constant",
    **kwargs: Any,
) -> Array:
    """Pad each axis of an array.

    Args:
        array: an array.
        pad_width: the widths: one number, (before, after), or a pair for each axis.
        mode: "constant", "edge" (the outermost element), "linear_ramp" (even steps to a
            value), "maximum", "mean", "median" or "minimum" (of the outermost elements),
            "wrap" (the other end), "reflect" (a mirror at the outermost element),
            "symmetric" (a mirror beyond it) or "empty". A function receives each row
            padded with zeros, its pair of widths, the axis and `kwargs`, and returns the
            row.
        kwargs: for "constant", `constant_values=0`; for "linear_ramp", `end_values=0`;
            for the statistics, `stat_length=None`, the number of elements to use; these
            three have the form of `pad_width`. For "reflect" and "symmetric",
            `reflect_type="even"`, or "odd" to reflect the values around the edge too.

    Returns:
        An array in the dtype of `array`, longer along each axis by its widths.

    Raises:
        ArgumentError: the mode or an option is unknown, or the widths are no integers.
        ShapeError: a width is negative, or an axis without elements is to be extended.

    References:
        NumPy, `numpy.pad`.

    Example:
        >>> import imprint.numpy as np
        >>> np.pad(np.array([1, 2, 3]), 1, mode="reflect")
        Array([2, 1, 2, 3, 2], dtype=int32)
    """
    x = as_array("pad", array)
    widths = _widths(pad_width, x.ndim)
    if callable(mode):
        x = _pad_constant(x, widths, 0)
        for axis, pair in enumerate(widths):
            x = apply_along_axis(mode, axis, x, pair, axis, kwargs)
        return x
    _check_option(mode, kwargs)
    if mode in ("constant", "empty"):
        return _pad_constant(x, widths, kwargs.get("constant_values", 0))
    extend, option = _MODES[mode]
    options = _option_of_each_axis(option, kwargs, x.ndim)
    for axis, pair in enumerate(widths):
        if dims.is_same(pair[0] + pair[1], 0):
            continue
        if dims.is_same(x.shape[axis], 0):
            raise ShapeError(
                f"pad: expected elements to extend along axis {axis}, got {x.aval}. "
                "Use mode='constant'."
            )
        x = extend(x, axis, pair, options[axis])
    return x


def _check_option(mode: str, kwargs: dict[str, Any]) -> None:
    """Raise unless the mode exists and has these options."""
    modes = {name: option for name, (_, option) in _MODES.items()}
    modes |= {"constant": "constant_values", "empty": None}
    if mode not in modes:
        raise ArgumentError(
            f"pad: expected one of the modes {', '.join(sorted(modes))}, got {mode!r}."
            f"{did_you_mean(mode, modes)}"
        )
    if unknown := sorted(set(kwargs) - {modes[mode]}):
        raise ArgumentError(
            f"pad: expected {modes[mode] or 'nothing'} beside mode={mode!r}, got "
            f"{', '.join(unknown)}. Leave it out, or choose the mode that it is for."
        )


def _widths(pad_width: Any, rank: int) -> Widths:
    """Return widths as a pair for each axis."""
    given = np.asarray(pad_width)
    is_symbolic = given.dtype.kind == "O" and any(map(dims.is_symbolic, given.flat))
    if given.dtype.kind not in "iu" and not is_symbolic:
        raise ArgumentError(
            f"pad: expected whole numbers for pad_width, got {pad_width!r}. "
            "Widths must be known while tracing."
        )
    pairs = _pairs("pad_width", pad_width, rank)
    widths = tuple((dims.as_dim(before), dims.as_dim(after)) for before, after in pairs)
    if not all(dims.at_least(n, 0) for pair in widths for n in pair):
        raise ShapeError(
            f"pad: expected widths of at least 0, got {widths}. Cut with a slice."
        )
    return widths


def _pairs(option: str, values: Any, rank: int) -> Any:
    """Return an option as a pair for each axis."""
    try:
        return np.broadcast_to(np.asarray(values), (rank, 2))
    except ValueError as err:
        raise ShapeError(
            f"pad: expected a number, a pair, or {rank} pairs for {option}, got "
            f"{values!r}. Give (before, after) for each axis."
        ) from err


def _option_of_each_axis(
    option: str | None, kwargs: dict[str, Any], rank: int
) -> Sequence[Any]:
    if option == "reflect_type":
        kind = kwargs.get(option, "even")
        if kind not in ("even", "odd"):
            raise ArgumentError(
                f"pad: expected reflect_type 'even' or 'odd', got {kind!r}."
            )
        return [kind] * rank
    if option == "end_values":
        return _pairs(option, kwargs.get(option, 0), rank)
    lengths = None if option is None else kwargs.get(option)
    if option is None or lengths is None:
        return [None] * rank
    pairs = _pairs(option, lengths, rank)
    if (pairs < 1).any():
        raise ArgumentError(
            f"pad: expected a stat_length of at least 1, got {lengths!r}. It is how "
            "many elements to look at."
        )
    return pairs


def _pad_constant(x: Array, widths: Widths, values: Any) -> Array:
    given = values if is_operand(values) else np.asarray(values)
    fill = convert("pad", given, x.dtype, weak_type=x.weak_type)
    if get_aval(fill).ndim == 0:
        return pad_(x, fill, [(before, after, 0) for before, after in widths])
    fill = broadcast(fill, (x.ndim, 2))
    for axis, (before, after) in enumerate(widths):
        for side, config in ((0, (before, 0, 0)), (1, (0, after, 0))):
            row = slice_in_dim(fill, axis, axis + 1, axis=0)
            value = squeeze(slice_in_dim(row, side, side + 1, axis=1), (0, 1))
            x = pad_(
                x, value, [config if i == axis else (0, 0, 0) for i in range(x.ndim)]
            )
    return x


def _pad_edge(x: Array, axis: int, widths: Pair, _: Any) -> Array:
    length = x.shape[axis]
    first = slice_in_dim(x, 0, 1, axis=axis)
    last = slice_in_dim(x, length - 1, length, axis=axis)
    return _between(first, x, last, axis, widths)


def _between(first: Array, x: Array, last: Array, axis: int, widths: Pair) -> Array:
    """Return `x` between repetitions of a slice of length 1 along an axis."""
    before, after = widths
    parts = [_stretched(first, axis, before), x, _stretched(last, axis, after)]
    return _joined(parts, axis)


def _joined(parts: Sequence[Array], axis: int) -> Array:
    kept = [part for part in parts if not dims.is_same(part.shape[axis], 0)]
    return concatenate(kept, axis)


def _stretched(x: Array, axis: int, times: Dim) -> Array:
    shape = (*x.shape[:axis], times, *x.shape[axis + 1 :])
    return broadcast_in_dim(x, shape, tuple(range(x.ndim)))


def _pad_ramp(x: Array, axis: int, widths: Pair, ends: Any) -> Array:
    length = x.shape[axis]
    counts = [dims.concrete(n, "pad with mode='linear_ramp'") for n in widths]
    edges = [slice_in_dim(x, i, i + 1, axis=axis) for i in (0, length - 1)]
    before, after = (
        convert(
            "pad",
            linspace(
                end, squeeze(edge, (axis,)), n, endpoint=False, dtype=x.dtype, axis=axis
            ),
            x.dtype,
            weak_type=x.weak_type,
        )
        for end, edge, n in zip(ends, edges, counts, strict=True)
    )
    return _joined([before, x, flip(after, axis)], axis)


def _statistic(of: Callable[..., Array]) -> Extend:
    """Return the mode that repeats a statistic of the elements at the ends."""

    def extend(x: Array, axis: int, widths: Pair, lengths: Any) -> Array:
        length = x.shape[axis]
        counts = (length, length) if lengths is None else lengths
        before, after = (dims.minimum(dims.as_dim(n), length) for n in counts)
        spans = (0, before), (length - after, length)
        parts = [slice_in_dim(x, i, j, axis=axis) for i, j in spans]
        found = [of(part, axis, keepdims=True) for part in parts]
        found = [round(s) if dtypes.is_integer(x.dtype) else s for s in found]
        first, last = (convert("pad", s, x.dtype, weak_type=x.weak_type) for s in found)
        return _between(first, x, last, axis, widths)

    return extend


def _median(x: Array, axis: int, *, keepdims: bool) -> Array:
    return hooks.numpy.median(x, axis, keepdims=keepdims)  # loads lazily


def _pad_wrap(x: Array, axis: int, widths: Pair, _: Any) -> Array:
    length, (before, after) = x.shape[axis], widths
    if dims.at_least(length, dims.maximum(before, after)):
        spans = (length - before, length), (0, length), (0, after)
        return _joined([slice_in_dim(x, i, j, axis=axis) for i, j in spans], axis)
    length, before, after = (
        dims.concrete(n, "pad by more than the length") for n in (length, *widths)
    )
    whole_before, rest_before = divmod(before, length)
    whole_after, rest_after = divmod(after, length)
    parts = [x] * (whole_before + 1 + whole_after)
    if rest_before:
        parts.insert(0, slice_in_dim(x, length - rest_before, length, axis=axis))
    if rest_after:
        parts.append(slice_in_dim(x, 0, rest_after, axis=axis))
    return concatenate(parts, axis)


def _pad_reflect(x: Array, axis: int, widths: Pair, kind: str) -> Array:
    skip = 1 if dims.at_least(x.shape[axis], 2) else 0
    return _mirror(x, axis, widths, skip=skip, odd=kind == "odd")


def _pad_symmetric(x: Array, axis: int, widths: Pair, kind: str) -> Array:
    return _mirror(x, axis, widths, skip=0, odd=kind == "odd")


def _mirror(x: Array, axis: int, widths: Pair, *, skip: int, odd: bool) -> Array:
    """Mirror at both ends as often as needed; `skip` elements are not repeated.

    An odd mirror reflects the values too, around the outermost element.
    """
    room = x.shape[axis] - skip
    before, after = widths
    if not dims.at_least(room, dims.maximum(before, after)):
        room, before, after = (
            dims.concrete(n, "pad by more than the length") for n in (room, *widths)
        )
    while not dims.is_same(before, 0):
        n = dims.minimum(before, room)
        mirrored = flip(slice_in_dim(x, skip, skip + n, axis=axis), axis)
        if odd:
            mirrored = _turned(mirrored, slice_in_dim(x, 0, 1, axis=axis))
        x, before = concatenate([mirrored, x], axis), before - n
    while not dims.is_same(after, 0):
        n, end = dims.minimum(after, room), x.shape[axis] - skip
        mirrored = flip(slice_in_dim(x, end - n, end, axis=axis), axis)
        if odd:
            mirrored = _turned(mirrored, slice_in_dim(x, -1, None, axis=axis))
        x, after = concatenate([x, mirrored], axis), after - n
    return x


def _turned(x: Array, edge: Array) -> Array:
    """Return values reflected around the edge."""
    return subtract(multiply(2, edge), x)


_MODES: Final[dict[str, tuple[Extend, str | None]]] = {
    "edge": (_pad_edge, None),
    "linear_ramp": (_pad_ramp, "end_values"),
    "maximum": (_statistic(max), "stat_length"),
    "mean": (_statistic(mean), "stat_length"),
    "median": (_statistic(_median), "stat_length"),
    "minimum": (_statistic(min), "stat_length"),
    "reflect": (_pad_reflect, "reflect_type"),
    "symmetric": (_pad_symmetric, "reflect_type"),
    "wrap": (_pad_wrap, None),
}


def pad_to(x: ArrayLike, size: int, axis: int = 0) -> Array:
    """Return an array with memory for `size` elements along an axis.

    Shape, elements and results of computations are unchanged. A function with
    `jit(abstracted_axes=)` uses the memory as it is if `size` is the length of its
    bucket; else it copies the array into memory of that length.

    Args:
        x: an array.
        size: the number of elements to reserve, at least the length of the axis.
        axis: the axis.

    Returns:
        The array; a traced or sharded one is returned unchanged.

    Raises:
        ShapeError: `size` is less than the length.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> x = np.pad_to(np.arange(50.0), 64)
        >>> x.shape
        (50,)
        >>> total = imprint.jit(lambda x: x.sum(), abstracted_axes={0: "n"})
        >>> total(x), total(np.pad_to(np.arange(60.0), 64))
        (Array(1225., dtype=float32), Array(1770., dtype=float32))
        >>> len(total.versions)
        1
    """
    array: Any = as_array("pad_to", x)
    at = dims.as_dim(axis, "pad_to")
    if not -array.ndim <= at < array.ndim:
        raise ShapeError(
            f"pad_to: expected an axis of {array.aval}, got {axis}. Count from 0, or from "
            "the end with -1."
        )
    room = dims.as_dim(size, "pad_to")
    if not dims.at_least(room, array.shape[at]):
        raise ShapeError(
            f"pad_to: expected room for the {array.shape[at]} elements along axis {axis} "
            f"of {array.aval}, got size={size}. Take a part of the array, or more room."
        )
    if not isinstance(array, ArrayImpl):
        return array
    known = padding_of(array)
    shape = list(array.shape if known is None else known.shape)
    shape[at] = room
    return padded_to(array, tuple(shape))


@owned
def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: Axis = None) -> Array:
    """Remove zeros at the ends of an array.

    Args:
        filt: an array.
        trim: "f" to trim the front, "b" the back, "fb" both.
        axis: the axes to trim; None for all.

    Returns:
        An array in the dtype of `filt`, cut along each axis to the span of nonzero
        elements.

    Raises:
        ConcretizationError: the array is traced.

    References:
        NumPy, `numpy.trim_zeros`.

    Example:
        >>> import imprint.numpy as np
        >>> np.trim_zeros(np.array([0, 0, 1, 0, 2, 0]))
        Array([1, 0, 2], dtype=int32)
    """
    x = as_array("trim_zeros", filt)
    if isinstance(x, Tracer):
        raise ConcretizationError(
            f"trim_zeros: expected an array whose values are known, got {x.aval} while "
            "tracing. The shape of the result depends on them: mask with "
            "imprint.numpy.where, or trim outside."
        )
    if not isinstance(trim, str):  # pyright: ignore[reportUnnecessaryIsInstance] - the user's
        raise ArgumentError(
            f"trim_zeros: expected trim to be 'f', 'b' or 'fb', got {shown(trim)}. Name "
            "the ends: front, back or both."
        )
    axes, ends = axes_of("trim_zeros", axis, x.ndim), trim.lower()
    return x[
        tuple(_span(x, i, ends) if i in axes else slice(None) for i in range(x.ndim))
    ]


def _span(x: Array, axis: int, ends: str) -> slice:
    """Return the slice of an axis without zeros at its ends."""
    if "f" not in ends and "b" not in ends:
        return slice(None)
    others = tuple(i for i in range(x.ndim) if i != axis)
    with ensure_compile_time_eval():
        found = np.flatnonzero(np.asarray(any_(as_bool("trim_zeros", x), others)))
    if not found.size:
        return slice(0, 0)
    first, last = int(found[0]), int(found[-1])
    return slice(first if "f" in ends else None, last + 1 if "b" in ends else None)
