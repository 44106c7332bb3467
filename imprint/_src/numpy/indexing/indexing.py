"""Basic indexing: ints, slices, None, Ellipsis, and arrays of one integer.

Lists, masks and arrays of several integers are in `advanced`, which loads on first use.

1. Spread the index over the axes: Ellipsis and missing entries become full slices.
2. Apply the static entries as a slice; a negative step is a forward slice, reversed.
3. Arrays of rank 0 select one element of their axes, clipped into bounds, also when
   concrete: a function means the same with and without `jit`.
4. Remove the axes of integers, insert axes for None.
A Python integer out of bounds is an IndexError, where JAX takes the last element.
"""

import operator
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from imprint._src import dtypes
from imprint._src.bootstrap import hooks
from imprint._src.core import dims
from imprint._src.core.array import Array, NumberArray
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import ShapedArray
from imprint._src.core.dims import Dim
from imprint._src.core.host_kernel import HostKernel
from imprint._src.core.primitive import Avals, Values
from imprint._src.core.trace import Tracer
from imprint._src.errors import (
    ArgumentError,
    ConcretizationError,
    NonConcreteSliceError,
)
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.indexing.dynamic_slicing import dynamic_slice
from imprint._src.primitives.indexing.slicing import slice_
from imprint._src.primitives.shape import expand_dims, rev, squeeze

NDArray = np.ndarray[Any, Any]


def getitem(x: ArrayLike, index: Any) -> Array:
    """Return the part of `x` that an index selects: the function of `x[index]`.

    Example:
        >>> import imprint.numpy as np
        >>> x = np.arange(12).reshape(3, 4)
        >>> x[1, ::-2], x[..., None, 0].shape
        (Array([7, 5], dtype=int32), (3, 1))
    """
    array = as_array("indexing", x)
    if type(index) is int and array.ndim and _one_now.applies(array):
        at = dims.element(index, array.shape[0])
        if at is not None:
            return _one_now(array, at=at)[0]
    entries: Any = index if type(index) is tuple else (index,)  # pyright: ignore[reportUnknownVariableType] - an index may hold anything
    try:
        spread = _spread(array.aval, entries)
    except _Advanced:
        return hooks.numpy.take_at(array, entries)
    named = [e for e in spread if e is not None]
    array = _apply_dynamic(cut(array, named), named)
    array = squeeze(array, [i for i, e in enumerate(named) if not _is_slice(e)])
    left = [e for e in spread if e is None or _is_slice(e)]
    new = [i for i, e in enumerate(left) if e is None]
    return expand_dims(array, new) if new else array


def _one_aval(x: ShapedArray, *, at: int) -> Avals:
    return (x.with_shape(x.shape[1:]),)


def _one_reference(x: NDArray, *, at: int) -> Values:
    return (x[at],)


_one_now: Final = HostKernel("indexing", _one_aval, _one_reference)


class _Advanced(Exception):  # noqa: N818 - no error: an entry is of `advanced`
    """The index has an entry that is not basic."""


def _spread(x: ShapedArray, entries: tuple[Any, ...]) -> list[Any]:
    """Return an entry for each axis, in order, and None for each new one."""
    checked = [_entry(x, e) for e in entries]
    ellipses = sum(e is Ellipsis for e in checked)
    named = sum(e is not None and e is not Ellipsis for e in checked)
    if ellipses > 1:
        raise IndexError(
            f"indexing: expected at most one Ellipsis for {x}, got {ellipses}. "
            "Write `:` for each axis that the others leave out."
        )
    if named > x.ndim:
        raise IndexError(
            f"indexing: expected at most as many indices as {x} has axes, {x.ndim}, got "
            f"{named}. Leave out what has no axis."
        )
    at = next((i for i, e in enumerate(checked) if e is Ellipsis), len(checked))
    rest = [_ALL] * (x.ndim - named)
    return [*checked[:at], *rest, *checked[at + 1 :]]


def _entry(x: ShapedArray, entry: Any) -> Any:
    """Return an entry as int, slice, None, Ellipsis or traced integer; else raise."""
    if entry is None or entry is Ellipsis or type(entry) in (int, slice):
        return entry
    if dims.is_symbolic(entry):
        return entry
    if _is_array(entry):
        return _array_entry(x, as_array("indexing", entry), entry)
    if _is_sequence(entry):
        raise _Advanced
    try:
        return operator.index(entry)
    except TypeError:
        raise ArgumentError(
            f"indexing: expected ints, slices, None or Ellipsis, got {shown(entry)} "
            f"for {x}. Convert it to an int first."
        ) from None


def _is_slice(entry: Any) -> bool:
    return isinstance(entry, slice)


def _is_array(entry: Any) -> bool:
    return isinstance(entry, np.generic | np.ndarray | NumberArray)


def _is_sequence(entry: Any) -> bool:
    return isinstance(entry, bool | Sequence) and not isinstance(entry, str | bytes)


def _array_entry(x: ShapedArray, array: Array, entry: Any) -> Any:
    """Return a NumPy array of rank 0 as int, others unchanged; raise for floats."""
    aval = array.aval
    if aval.ndim or dtypes.is_bool(aval.dtype):
        raise _Advanced
    if not dtypes.is_integer(aval.dtype):
        raise ArgumentError(
            f"indexing: expected an integer, got {aval} for {x}. "
            "Convert it with .astype('int32')."
        )
    return entry if isinstance(entry, NumberArray) else operator.index(entry)


_ALL: Final = slice(None)


def cut(x: Array, entries: list[Any]) -> Array:
    """Apply the static entries; an int keeps its axis, of length 1."""
    starts, stops, steps = [0] * x.ndim, list(x.shape), [1] * x.ndim
    reversed_axes: list[int] = []
    is_cut = False
    for axis, entry in enumerate(entries):
        if entry is _ALL or isinstance(entry, NumberArray):
            continue
        length = x.shape[axis]
        part: Any = entry if _is_slice(entry) else one(entry, axis, x.aval)
        _check_concrete(part)
        start, stop, step = span(part, length)
        starts[axis], stops[axis], steps[axis] = start, stop, abs(step)
        is_cut = is_cut or not (dims.is_same(start, 0) and dims.is_same(stop, length))
        if step < 0:
            reversed_axes.append(axis)
    strided = any(n != 1 for n in steps)
    if strided or is_cut:
        x = slice_(x, starts, stops, steps if strided else None)
    return rev(x, reversed_axes) if reversed_axes else x


def _check_concrete(part: slice) -> None:
    """Raise NonConcreteSliceError if a slice has a traced part."""
    for bound in (part.start, part.stop, part.step):
        if isinstance(bound, Tracer):
            try:
                operator.index(bound)
            except ConcretizationError as err:
                raise NonConcreteSliceError(*err.args) from None


def span(part: slice, length: Dim) -> tuple[Dim, Dim, int]:
    """Return start, stop and step of a slice, with bounds in order for any step."""
    try:
        taken = range(*part.indices(length))
    except TypeError:
        if any(map(dims.is_symbolic, (part.start, part.stop, length))):
            return _symbolic_span(part, length)
        if any(hasattr(bound, "aval") for bound in (part.start, part.stop, part.step)):
            raise  # an array raises its own error
        raise ArgumentError(
            f"indexing: expected whole numbers in a slice, got {_written(part)}. Convert "
            "them with int()."
        ) from None
    except ValueError:
        raise ArgumentError(
            f"indexing: expected a step other than 0 in a slice, got {_written(part)}. "
            "Leave the step out, or write -1 to go backwards."
        ) from None
    if not taken:
        return 0, 0, 1
    first, last = sorted((taken[0], taken[-1]))
    return first, last + 1, taken.step


def _written(part: slice) -> str:
    bounds: list[Any] = [part.start, part.stop, part.step]
    shown_ = ["" if bound is None else f"{bound!r:.20}" for bound in bounds]
    return ":".join(shown_ if shown_[2] else shown_[:2])


def _symbolic_span(part: slice, length: Dim) -> tuple[Dim, Dim, int]:
    step = 1 if part.step is None else operator.index(part.step)
    if step > 0:
        return (*dims.slice_bounds(part.start, part.stop, length), step)
    if step != -1:
        dims.concrete(length, f"indexing backwards in steps of {-step}")
    # x[a:b:-1] selects the elements after b up to a, which is x[b + 1 : a + 1]
    # reversed.
    low = None if part.stop is None else _behind(part.stop, length)
    high = None if part.start is None else _behind(part.start, length)
    return (*dims.slice_bounds(low, high, length), step)


def _behind(index: Any, length: Dim) -> Dim:
    """Return the position after an index, which may be negative."""
    at = dims.as_dim(index)
    return dims.maximum((at if dims.at_least(at, 0) else at + length) + 1, 0)


def one(index: Dim, axis: int, x: ShapedArray) -> slice:
    """Return the slice of the one element at `index`."""
    length = x.shape[axis]
    at = dims.element(index, length)
    if at is None:
        raise IndexError(
            f"indexing: expected an index in [{-length}, {length}) for axis {axis} of "
            f"{x}, got {index}. Check it against x.shape[{axis}]."
        )
    return slice(at, at + 1)


def _apply_dynamic(x: Array, entries: list[Any]) -> Array:
    """Apply the arrays of rank 0; each keeps its axis, of length 1."""
    if not any(isinstance(e, NumberArray) for e in entries):
        return x
    for axis, entry in enumerate(entries):
        if isinstance(entry, NumberArray) and dims.is_same(x.shape[axis], 0):
            raise IndexError(
                f"indexing: expected an axis with elements for an index, got "
                f"{x.aval}, axis {axis}. An empty axis has no element to take."
            )
    starts = [e if isinstance(e, NumberArray) else 0 for e in entries]
    kinds = {e.dtype for e in starts if isinstance(e, NumberArray)}
    if len(kinds) > 1:
        kind = np.dtype(np.int64 if any(d.itemsize == 8 for d in kinds) else np.int32)
        starts = [convert_element_type(e, kind) for e in starts]
    sizes = [
        1 if isinstance(e, NumberArray) else n
        for e, n in zip(entries, x.shape, strict=True)
    ]
    return dynamic_slice(x, starts, sizes)
