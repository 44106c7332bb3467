"""Indexing by arrays, as a gather or scatter.

1. Parse the entries (`read_index`): a list becomes an array, a mask the indices where
   it is True, a scalar boolean an axis of length 0 or 1. Then each axis has an entry.
2. A constant array of evenly spaced indices becomes a slice, which costs less.
3. Convert the index to a `GatherPlan`: index vectors and dimension numbers. As in
   NumPy, the axes of the index arrays, broadcast to one shape, replace the first one;
   they come first if a slice, None or Ellipsis is between index arrays. Integers next
   to index arrays are index arrays too. For a read, slices are cut first. For a write,
   a slice is a window, or indices if it leaves gaps.
"""

import operator
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.bootstrap import hooks
from imprint._src.core import dims
from imprint._src.core.array import Array, NumberArray
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import Shape, ShapedArray
from imprint._src.core.trace import Tracer
from imprint._src.errors import ArgumentError, NonConcreteBooleanIndexError
from imprint._src.numpy.indexing.indexing import cut, getitem, span
from imprint._src.numpy.promotion import as_array
from imprint._src.primitives.core_ops import add, broadcast_in_dim, full, mul
from imprint._src.primitives.elementwise.comparison import lt
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.select import clamp, select_n
from imprint._src.primitives.indexing.gather import gather
from imprint._src.primitives.indexing.slicing import concatenate
from imprint._src.primitives.shape import expand_dims, iota, number_of
from imprint._src.primitives.windows.gather_dims import (
    GatherDimensionNumbers,
    GatherScatterMode,
)

_ALL: Final = slice(None)
_INT32: Final = np.dtype(np.int32)


def take_at(
    x: Array,
    index: Any,
    *,
    mode: Any = None,
    fill_value: Any = None,
    wraps: bool = True,
    **promises: bool,
) -> Array:
    """Return the part of `x` that an index selects, with any entries.

    Args:
        x: an array.
        index: an entry, or a tuple of them.
        mode: how to read out of bounds, as in `imprint.lax.gather`.
        fill_value: the value out of bounds for mode "fill".
        wraps: whether negative indices count from the end.
        **promises: `indices_are_sorted` and `unique_indices`.
    """
    chosen = None if mode is None else GatherScatterMode.from_any(mode)
    read = read_index(x.aval, index)
    inside = all_inside(x.aval, read, chosen, wraps=wraps)
    x, entries = read.widened(x), read.entries
    scalars = any(map(is_array, entries)) and (chosen is not None or not wraps)
    if inside and not read.is_advanced and not scalars:
        return getitem(x, tuple(entries))
    x = cut(x, [e if isinstance(e, slice) else _ALL for e in entries if e is not None])
    entries = [_ALL if isinstance(e, slice) else e for e in entries]
    plan = plan_of(x.aval, read._replace(entries=entries), wraps=wraps)
    if dims.has_zero(plan.shape):
        out = full(plan.shape, 0, x.dtype)
    else:
        out = gather(
            x,
            plan.indices,
            plan.numbers,
            plan.sizes,
            mode=chosen,
            fill_value=fill_value,
            **promises,
        )
    return expand_dims(out, plan.new) if plan.new else out


# ---- 1. entries ----


class ParsedIndex(NamedTuple):
    """The entries of an index: ints, slices, None and arrays of integers.

    Each entry but None is for one axis of the array, after the axes `added` of length
    1.
    """

    entries: list[Any]
    added: tuple[int, ...]
    are_together: bool
    """Whether the index arrays are adjacent."""

    @property
    def is_advanced(self) -> bool:
        """Whether there is an index array with an axis."""
        return any(is_array(e) and e.ndim for e in self.entries)

    def widened(self, x: Array) -> Array:
        """Return the array with an axis for each scalar boolean."""
        return expand_dims(x, self.added) if self.added else x


def is_array(entry: Any) -> bool:
    """Return whether an entry is an array of integers."""
    return isinstance(entry, np.ndarray | NumberArray)


def read_index(x: ShapedArray, index: Any) -> ParsedIndex:
    """Parse the index of an array like `x`: one entry for each axis."""
    given = cast("tuple[Any, ...]", index if type(index) is tuple else (index,))
    entries = [_entry(x, e) for e in given]
    taken = sum(map(_axes_of, entries))
    ellipses = sum(e is Ellipsis for e in entries)
    if ellipses > 1:
        raise IndexError(
            f"indexing: expected at most one Ellipsis for {x}, got {ellipses}. "
            "Write `:` for each axis that the others leave out."
        )
    if taken > x.ndim:
        raise IndexError(
            f"indexing: expected at most as many indices as {x} has axes, {x.ndim}, got "
            f"{taken}. Leave out what has no axis."
        )
    at = [i for i, e in enumerate(entries) if _counts(e)]
    together = not at or at[-1] - at[0] == len(at) - 1
    out, added = _spread(x, entries if ellipses else [*entries, Ellipsis], taken)
    if together:
        out = _with_slice(x, out, added)
    return ParsedIndex(out, tuple(added), together)


def _counts(entry: Any) -> bool:
    """Return whether an entry is an index: neither a slice, nor None, nor Ellipsis."""
    return entry is not None and entry is not Ellipsis and not isinstance(entry, slice)


def _axes_of(entry: Any) -> int:
    if entry is None or entry is Ellipsis or isinstance(entry, bool):
        return 0
    return entry.ndim if is_array(entry) and dt.is_bool(entry.dtype) else 1


def _spread(
    x: ShapedArray, entries: list[Any], taken: int
) -> tuple[list[Any], list[int]]:
    """Return entries for each axis, and the axes of length 1 that they need."""
    out: list[Any] = []
    added: list[int] = []
    axis = 0  # the axis of x
    for e in entries:
        if e is Ellipsis:
            out += [_ALL] * (x.ndim - taken)
            axis += x.ndim - taken
        elif isinstance(e, bool):
            added.append(axis + len(added))
            out.append(np.arange(int(e), dtype=_INT32))
        elif is_array(e) and dt.is_bool(e.dtype):
            _check_mask(x, e, axis)
            out += [place.astype(_INT32) for place in np.nonzero(e)]
            axis += e.ndim
        else:
            out.append(e)
            axis += e is not None
    return out, added


def _check_mask(x: ShapedArray, mask: Any, axis: int) -> None:
    there = x.shape[axis : axis + mask.ndim]
    if not all(
        n == 0 or dims.is_same(n, m) for n, m in zip(mask.shape, there, strict=True)
    ):
        raise IndexError(
            f"indexing: expected a mask of shape {there}, that of the axes it stands for "
            f"in {x}, got one of shape {mask.shape}. Compare an array of that shape."
        )


def _with_slice(x: ShapedArray, out: list[Any], added: list[int]) -> list[Any]:
    """Replace the only index array by a slice, if it is constant and evenly spaced."""
    arrays = [i for i, e in enumerate(out) if is_array(e)]
    if len(arrays) != 1 or added:
        return out
    places: Any = out[arrays[0]]
    axis = sum(e is not None for e in out[: arrays[0]])
    length = x.shape[axis]
    if not _is_row(places):
        return out
    first, last = int(places[0]), int(places[-1])
    step = int(places[1]) - first if len(places) > 1 else 1
    even = step and np.array_equal(places, first + step * np.arange(len(places)))
    if (
        not even
        or dims.is_symbolic(length)
        or not 0 <= min(first, last) <= max(first, last) < length
    ):
        return out
    stop = last + (1 if step > 0 else -1)
    part = slice(first, stop if stop >= 0 else None, step)
    return [*out[: arrays[0]], part, *out[arrays[0] + 1 :]]


def _is_row(places: Any) -> bool:
    """Return whether indices are constants along one axis, and not empty."""
    if not isinstance(places, np.ndarray):
        return False
    return places.ndim == 1 and len(cast("Any", places)) > 0


def _entry(x: ShapedArray, entry: Any) -> Any:
    """Return an entry as None, Ellipsis, slice, int, bool or array; else raise."""
    if entry is None or entry is Ellipsis or type(entry) in (int, bool, slice):
        return entry
    if dims.is_symbolic(entry):
        return entry
    if isinstance(entry, Sequence) and not isinstance(entry, str | bytes):
        entry = _listed(x, cast("Sequence[Any]", entry))
    if isinstance(entry, np.generic | np.ndarray | NumberArray):
        return _array_entry(x, entry)
    try:
        return operator.index(cast("Any", entry))
    except TypeError:
        raise ArgumentError(
            "indexing: expected ints, slices, None, Ellipsis, and arrays of integers or "
            f"booleans, got {shown(entry)} for {x}. Convert it to one of these first."
        ) from None


def _listed(x: ShapedArray, entry: Sequence[Any]) -> Any:
    """Return a list as an array; a NumPy array if nothing in it is traced."""
    if not entry:
        return np.zeros(0, _INT32)
    try:
        array = hooks.numpy.asarray(entry)
    except (TypeError, ValueError) as err:
        raise ArgumentError(
            "indexing: expected ints, slices, None, Ellipsis, and arrays of integers or "
            f"booleans, got {shown(entry)} for {x}. Convert it to one of these first."
        ) from err
    return array if isinstance(array, Tracer) else np.asarray(array)


def _array_entry(x: ShapedArray, entry: Any) -> Any:
    aval = as_array("indexing", entry).aval
    if dt.is_bool(aval.dtype):
        if isinstance(entry, Tracer):
            raise NonConcreteBooleanIndexError(
                "indexing: expected a mask whose values are known while tracing, got "
                f"{aval} for {x}. The result would have an unknown shape: use "
                "imprint.numpy.where(mask, x, other), or the places "
                "imprint.numpy.nonzero(mask, size=n)."
            )
        mask = np.asarray(entry)
        return mask if mask.ndim else bool(mask)
    if not dt.is_integer(aval.dtype):
        raise ArgumentError(
            f"indexing: expected integers or booleans, got {aval} for {x}. "
            "Convert it with .astype('int32')."
        )
    if isinstance(entry, NumberArray):
        return entry
    return np.asarray(entry) if aval.ndim else operator.index(entry)


def all_inside(x: ShapedArray, read: ParsedIndex, mode: Any, *, wraps: bool) -> bool:
    """Return whether each int is in bounds; if not, raise unless the mode allows it."""
    inside = True
    says = mode in (GatherScatterMode.CLIP, GatherScatterMode.FILL_OR_DROP)
    lengths = list(x.shape)
    for axis in read.added:
        lengths.insert(axis, 1)
    named = [e for e in read.entries if e is not None]
    for axis, (e, n) in enumerate(zip(named, lengths, strict=True)):
        if isinstance(e, slice | np.ndarray | NumberArray):
            continue
        at = dims.element(e, n) if wraps or dims.at_least(e, 0) else None
        inside = inside and at is not None
        if at is None and not says:
            raise IndexError(
                f"indexing: expected an index in [{-n if wraps else 0}, {n}) for axis "
                f"{axis} of {x}, got {e}. Check it against x.shape[{axis}]."
            )
    return inside


# ---- 3. the plan ----


class GatherPlan(NamedTuple):
    """An index as the dimension numbers of a gather, and of a scatter."""

    indices: Any
    numbers: GatherDimensionNumbers
    sizes: Shape
    shape: Shape
    """The shape of the gather."""
    reversed_axes: tuple[int, ...]
    """Axes of the gather to reverse."""
    new: tuple[int, ...]
    """New axes of the part, for each None."""
    is_unique: bool
    """Whether no element is selected twice."""


class _Sketch:
    """A plan under construction: axes of the result and the operand, index vectors."""

    def __init__(self) -> None:
        self.result: list[tuple[Any, bool, bool]] = []
        """For each axis its length, whether it is of a window, and whether it is
        reversed."""
        self.operand: list[tuple[Any, bool]] = []
        """For each axis the window size, and whether the result lacks the axis."""
        self.vectors: list[tuple[int, Any, tuple[int, ...]]] = []
        """An axis of the operand, its indices, and the axes of the result for them."""
        self.new: list[int] = []

    def add_axes(self, *lengths: Any, is_window: bool = False) -> tuple[int, ...]:
        """Add axes to the result; return them."""
        first = len(self.result)
        self.result += [(n, is_window, False) for n in lengths]
        return tuple(range(first, len(self.result)))

    def add_new(self) -> None:
        """Add an axis of length 1 to the part."""
        self.new.append(len(self.result) + len(self.new))

    def add_index(self, index: Any, axes: tuple[int, ...]) -> None:
        """Select one element of the next axis of the operand."""
        self.vectors.append((len(self.operand), index, axes))
        self.operand.append((1, True))

    def add_slice(self, part: Any, length: Any) -> None:
        """Select a slice of the next axis of the operand."""
        start, stop, step = span(part, length)
        if step in (1, -1):
            size = stop - start
            (out,) = self.add_axes(size, is_window=True)
            if not dims.is_same(size, length):
                self.vectors.append((len(self.operand), start, ()))
            self.operand.append((size, False))
        else:
            count = dims.ceil_divide(dims.maximum(stop - start, 0), abs(step))
            (out,) = self.add_axes(count)
            self.add_index(_places(start, abs(step), count), (out,))
        if step < 0:
            self.result[out] = (*self.result[out][:2], True)


def _places(start: Any, step: int, count: Any) -> Any:
    if dims.is_symbolic(count) or dims.is_symbolic(start):
        steps = mul(iota(_INT32, count), _INT32.type(step))
        return add(steps, number_of(start, _INT32))
    return np.arange(start, start + step * count, step, dtype=_INT32)


def plan_of(x: ShapedArray, read: ParsedIndex, *, wraps: bool) -> GatherPlan:
    """Return the plan of an index of an array like `x`, with its added axes."""
    sketch, entries = _Sketch(), read.entries
    is_index = [_counts(e) for e in entries]
    shared: Shape = ()
    if read.is_advanced:
        shared = _common_shape(x, [e for e in entries if is_array(e)])
    first = is_index.index(True) if read.is_advanced and read.are_together else 0
    axes: tuple[int, ...] = ()
    for at, e in enumerate(entries):
        if read.is_advanced and at == first:
            axes = sketch.add_axes(*shared)
        if e is None:
            sketch.add_new()
        elif isinstance(e, slice):
            sketch.add_slice(e, x.shape[len(sketch.operand)])
        else:
            length = x.shape[len(sketch.operand)]
            sketch.add_index(_from_zero(e, length) if wraps else e, axes)
    return _finished(x, sketch, read)


def _finished(x: ShapedArray, sketch: _Sketch, read: ParsedIndex) -> GatherPlan:
    lengths = tuple([n for n, _, _ in sketch.result])
    windows = tuple(
        [i for i, (_, is_window, _) in enumerate(sketch.result) if is_window]
    )
    absent = tuple([i for i, (_, is_absent) in enumerate(sketch.operand) if is_absent])
    if not dims.has_zero(lengths):
        for axis in absent:
            if dims.is_same(x.shape[axis], 0):
                raise IndexError(
                    f"indexing: expected an axis with elements for an index, got {x}, "
                    f"axis {axis}. An empty axis has no element to take."
                )
    index_map = tuple([axis for axis, _, _ in sketch.vectors])
    return GatherPlan(
        _vectors(sketch, [i for i in range(len(lengths)) if i not in windows]),
        GatherDimensionNumbers(windows, absent, index_map),
        tuple([size for size, _ in sketch.operand]),
        lengths,
        tuple([i for i, (*_, is_reversed) in enumerate(sketch.result) if is_reversed]),
        tuple(sketch.new),
        not read.is_advanced,
    )


def _common_shape(x: ShapedArray, arrays: list[Any]) -> Shape:
    shape = dims.broadcast_shapes([a.shape for a in arrays])
    if shape is None:
        raise IndexError(
            f"indexing: expected index arrays that broadcast together for {x}, got shapes "
            f"{' and '.join(str(a.shape) for a in arrays)}. Insert axes with `[:, None]`."
        )
    return shape


def _from_zero(index: Any, length: Any) -> Any:
    """Return nonnegative indices of an axis."""
    if isinstance(index, np.ndarray):
        values = cast("Any", index)
        if not (values < 0).any():
            return values
        if dims.is_symbolic(length):
            return _from_zero(as_array("indexing", values), length)
        shifted = values.astype(np.int64) + length
        return cast("Any", np).where(values < 0, shifted, values)
    if not isinstance(index, NumberArray):
        return index if dims.at_least(index, 0) else index + length
    dtype = index.dtype
    if dt.is_unsigned(dtype):
        return index
    index = _at_least_32(index)
    n = number_of(length, index.dtype)
    return select_n(lt(index, index.dtype.type(0)), index, add(index, n))


def _at_least_32(index: Any) -> Any:
    narrow = dt.bit_width(index.dtype) < 32
    return convert_element_type(index, _INT32) if narrow else index


def _vectors(sketch: _Sketch, along: list[int]) -> Any:
    """Return the array of index vectors."""
    lengths = tuple([sketch.result[i][0] for i in along])
    if not sketch.vectors:
        return np.zeros((*lengths, 0), _INT32)
    placed = [
        (
            number_of(v, _INT32) if dims.is_symbolic(v) else v,
            [along.index(i) for i in axes],
        )
        for _, v, axes in sketch.vectors
    ]
    if not any(isinstance(v, NumberArray) for v, _ in placed):
        each = [
            np.broadcast_to(_aligned(v, at, len(along)), lengths) for v, at in placed
        ]
        limits = np.iinfo(np.int32)  # no axis is longer
        return np.clip(np.stack(each, -1), limits.min, limits.max).astype(np.int32)
    typed = [v for v, _ in placed if isinstance(v, NumberArray)]
    if len(placed) == 1 and dims.is_same_shape(typed[0].shape, lengths):
        return expand_dims(_at_least_32(typed[0]), (len(lengths),))
    wide = any(v.dtype.itemsize == 8 for v in typed)
    dtype = np.dtype(np.int64) if wide else _INT32
    parts: list[Any] = []
    for v, at in placed:
        value = (
            _signed(v, dtype) if isinstance(v, NumberArray) else np.asarray(v, dtype)
        )
        repeated = broadcast_in_dim(value, lengths, tuple(at[len(at) - value.ndim :]))
        parts.append(expand_dims(repeated, (len(lengths),)))
    return concatenate(parts, len(lengths))


def _aligned(index: Any, at: list[int], ndim: int) -> Any:
    """Return constant indices with their axes at the given ones of `ndim`."""
    values = np.asarray(index)
    shape = [1] * ndim
    for n, axis in zip(values.shape, at[len(at) - values.ndim :], strict=True):
        shape[axis] = n
    return values.reshape(shape)


def _signed(index: Any, dtype: Any) -> Any:
    """Return indices in a signed dtype; values that do not fit stay out of bounds."""
    if dt.is_unsigned(index.dtype) and dt.bit_width(index.dtype) >= dt.bit_width(dtype):
        kind = index.dtype.type
        index = clamp(kind(0), index, kind(np.iinfo(dtype).max))
    return convert_element_type(index, dtype)
