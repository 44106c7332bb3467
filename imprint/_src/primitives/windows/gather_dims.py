"""Windows of an array at indices that are data, as `gather` reads and `scatter` writes them.

Indices are an array of index vectors (its last axis); each is the start of a window of the
operand. The dimension numbers map axes, as XLA's do: window axes of the windows, operand axes
that a window lacks (of length 1), operand axes that the entries of a vector index, and batch
axes of operand and indices. The two kinds have the same fields under two names, so `numbers`
is either. A window outside of the operand is moved inside, dropped, or read as a fill value:
the mode.
"""

import enum
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import Shape, ShapedArray
from imprint._src.core.primitive import Dims
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.primitives.axes import int_tuple, push
from imprint._src.stablehlo import Builder, Value

NDArray = np.ndarray[Any, Any]
Ints = tuple[int, ...]


class GatherDimensionNumbers(NamedTuple):
    """Which axes of operand, indices and result of a `gather` belong together.

    Args:
        offset_dims: axes of the result that are axes of the windows, increasing.
        collapsed_slice_dims: axes of the operand that the result has not, increasing.
        start_index_map: for each entry of an index vector, the axis of the operand.
        operand_batching_dims: axes of the operand that are walked with axes of the indices.
        start_indices_batching_dims: these axes of the indices, in the order of the former.
    """

    offset_dims: Ints
    collapsed_slice_dims: Ints
    start_index_map: Ints
    operand_batching_dims: Ints = ()
    start_indices_batching_dims: Ints = ()


class ScatterDimensionNumbers(NamedTuple):
    """Which axes of operand, indices and updates of a `scatter` belong together.

    Args:
        update_window_dims: axes of the updates that are axes of the windows, increasing.
        inserted_window_dims: axes of the operand that the windows have not, increasing.
        scatter_dims_to_operand_dims: for each entry of an index vector, the axis of the
            operand.
        operand_batching_dims: axes of the operand that are walked with axes of the indices.
        scatter_indices_batching_dims: these axes of the indices, in the order of the former.
    """

    update_window_dims: Ints
    inserted_window_dims: Ints
    scatter_dims_to_operand_dims: Ints
    operand_batching_dims: Ints = ()
    scatter_indices_batching_dims: Ints = ()


Numbers = GatherDimensionNumbers | ScatterDimensionNumbers


class GatherScatterMode(enum.Enum):
    """The treatment of a window outside of the operand.

    CLIP moves it inside. FILL_OR_DROP reads a fill value in all of it, or writes none of it.
    PROMISE_IN_BOUNDS says that there is none: it is read as CLIP does and written as
    FILL_OR_DROP does. ONE_HOT is for `imprint.numpy.take_along_axis` alone.
    """

    CLIP = enum.auto()
    FILL_OR_DROP = enum.auto()
    PROMISE_IN_BOUNDS = enum.auto()
    ONE_HOT = enum.auto()

    @staticmethod
    def from_any(s: "str | GatherScatterMode | None") -> "GatherScatterMode":
        """Return the mode of a name; without one, FILL_OR_DROP."""
        if isinstance(s, GatherScatterMode):
            return s
        try:
            return _MODES[s]
        except (KeyError, TypeError):
            raise ArgumentError(
                "mode: expected 'clip', 'fill', 'drop', 'promise_in_bounds', 'one_hot' or "
                f"a GatherScatterMode, got {s!r}. Write one of these."
            ) from None


_MODES: dict[Any, GatherScatterMode] = {
    None: GatherScatterMode.FILL_OR_DROP,
    "fill": GatherScatterMode.FILL_OR_DROP,
    "drop": GatherScatterMode.FILL_OR_DROP,
    "clip": GatherScatterMode.CLIP,
    "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
    "one_hot": GatherScatterMode.ONE_HOT,
}


def mode_of(name: str, mode: Any) -> GatherScatterMode:
    """Return the mode of a `gather` or `scatter`, for which ONE_HOT is none."""
    found = GatherScatterMode.from_any(mode)
    if found is GatherScatterMode.ONE_HOT:
        raise ArgumentError(
            f"{name}: expected a mode other than 'one_hot', which is for "
            "imprint.numpy.take_along_axis. Write 'clip', 'fill' or 'promise_in_bounds'."
        )
    return found


def as_numbers(kind: Any, numbers: Any) -> Any:
    """Return dimension numbers of a kind that hold tuples of Python ints, as params do."""
    given: Any = numbers
    if not isinstance(given, Sequence) or not 3 <= len(given) <= len(kind._fields):  # pyright: ignore[reportUnknownArgumentType] - the user's
        raise ArgumentError(
            f"expected dimension_numbers to be {kind.__name__}, got {shown(numbers)}. Make "
            f"one of imprint.lax.{kind.__name__}."
        )
    try:
        return _as_numbers(kind, numbers)
    except TypeError:  # there are lists
        return kind(*map(int_tuple, numbers))


@lru_cache(maxsize=1024)
def _as_numbers(kind: Any, numbers: Any) -> Any:
    return kind(*map(int_tuple, numbers))


# ---- checks ----


def check_numbers(
    name: str, x: ShapedArray, indices: ShapedArray, numbers: Numbers
) -> None:
    """Raise unless dimension numbers fit an operand and its indices."""
    if not dt.is_integer(indices.dtype):
        raise DTypeError(
            f"{name}: expected indices of an integer dtype, got {indices}. "
            "Convert them with `.astype('int32')`."
        )
    for fits, what in _demands(x, indices, numbers):
        if not fits:
            raise ShapeError(
                f"{name}: expected {what}, got the operand {x}, the indices {indices} and "
                f"{numbers}. To index as NumPy does, write x[i], or x.at[i]."
            )


def _demands(x: ShapedArray, indices: ShapedArray, numbers: Numbers) -> Any:
    """Yield each requirement: whether it holds, and its message; later ones need earlier."""
    window, absent, index_map, batch, walked = numbers
    names = numbers._fields
    yield indices.ndim > 0, "indices whose last axis holds index vectors"
    rank = indices.ndim - 1
    yield _increase(window, rank + len(window)), _increasing(names[0])
    yield _increase(absent, x.ndim), _increasing(names[1])
    yield _increase(batch, x.ndim), _increasing(names[3])
    yield _are_distinct(index_map, x.ndim), f"{names[2]} to be distinct axes"
    yield _are_distinct(walked, rank), f"{names[4]} to be distinct axes but the last"
    apart = set(batch).isdisjoint({*absent, *index_map})
    yield apart, f"{names[3]} to be apart from {names[1]} and {names[2]}"
    axes = len(window) + len(absent) + len(batch)
    yield (
        axes == x.ndim,
        f"each axis of the operand in {names[0]}, {names[1]} or {names[3]}",
    )
    same = len(batch) == len(walked) and all(
        dims.equal(x.shape[i], indices.shape[j])
        for i, j in zip(batch, walked, strict=True)
    )
    yield same, f"{names[3]} and {names[4]} to be axes of equal lengths"
    counted = dims.equal(indices.shape[-1], len(index_map))
    yield counted, f"index vectors of {len(index_map)}, as many as {names[2]}"


def _increase(axes: Ints, ndim: int) -> bool:
    return all(0 <= a < ndim for a in axes) and all(a < b for a, b in pairwise(axes))


def _increasing(name: str) -> str:
    return f"{name} to be axes that increase"


def _are_distinct(axes: Ints, ndim: int) -> bool:
    return len(set(axes)) == len(axes) and all(0 <= a < ndim for a in axes)


def rows(numbers: Numbers, ndim: int) -> Ints:
    """Return the axes of a result or of updates, of `ndim`, that no window has."""
    return tuple([i for i in range(ndim) if i not in numbers[0]])


def sizes_of(x: Shape, updates: Shape, numbers: Numbers) -> Shape:
    """Return the sizes of windows, along each axis of the operand, from their array."""
    taken = iter(numbers[0])
    thin = {*numbers[1], *numbers[3]}
    return tuple([1 if i in thin else updates[next(taken)] for i in range(len(x))])


# ---- batching ----


def batched_numbers(numbers: Any, at: Dims) -> Any:
    """Return dimension numbers with a hidden axis in front of operand or indices or both.

    That of windows is in front as well. `at` is where operand and indices had it.
    """
    window, absent, index_map, batch, walked = numbers
    up, along = at[0] is not None, at[1] is not None
    if up:
        absent, index_map, batch = (push(a, 0) for a in (absent, index_map, batch))
    if along:
        walked = push(walked, 0)
    window = push(window, 0)
    if up and along:
        batch, walked = (0, *batch), (0, *walked)
    elif up:
        window = (0, *window)
    return type(numbers)(window, absent, index_map, batch, walked)


# ---- lowering ----


def lower_indices(b: Builder, indices: Value) -> Value:
    """Convert narrow indices, whose dtype may not hold the lengths of axes."""
    narrow = dt.bit_width(indices.dtype) < 32
    return b.convert(indices, np.dtype(np.int32)) if narrow else indices


def lower_limits(
    b: Builder, x: Shape, indices: Value, sizes: Shape, index_map: Sequence[int]
) -> Value:
    """Write the last place of windows for each entry of each index vector."""
    info: Any = cast("Any", dt).iinfo(indices.dtype)
    most = int(info.max)
    room = [x[i] - sizes[i] for i in index_map]
    if any(map(dims.is_symbolic, room)):
        limits = b.convert(b.vector(room), indices.dtype)
    else:
        limits = b.constant([min(n, most) for n in room], indices.dtype)
    last = (len(indices.shape) - 1,)
    return b.broadcast_in_dim(limits, indices.shape, last)


def lower_zeros(b: Builder, indices: Value) -> Value:
    """Write a zero for each entry of each index vector."""
    return b.full(indices.shape, 0, indices.dtype)
