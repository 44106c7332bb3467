"""Indices and grids: diagonals, triangles, `ix_`, flat indices, `mgrid`, `r_`.

Shapes are concrete while tracing, and so are indices computed from them; indices
computed from other indices may be traced. In `mgrid[a:b:c]` a slice stands for the
numbers from `a` to before `b` with step `c`; an imaginary step `3j` for 3 numbers from
`a` to `b`, both included. Bounds and steps are concrete; arrays that `r_` and `c_` join
may be traced.
"""

import math
from collections.abc import Sequence
from typing import Any, Final, cast, final

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.numpy.creation import array, asarray
from imprint._src.numpy.datatypes import astype
from imprint._src.numpy.elementwise.arithmetic import divmod, remainder
from imprint._src.numpy.elementwise.selection import clip, where
from imprint._src.numpy.promotion import ArrayLike, as_array, promote_dtypes
from imprint._src.numpy.ranges import arange, linspace, meshgrid
from imprint._src.numpy.shapes.concatenate import concatenate, stack
from imprint._src.numpy.shapes.reshape import expand_dims, size_tuple, transpose
from imprint._src.primitives.axes import whole
from imprint._src.primitives.copying import owned
from imprint._src.primitives.shape import reshape

s_: Final = np.s_
index_exp: Final = np.index_exp


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """Return the indices of the diagonal of an array whose axes have length `n`.

    Args:
        n: the length of each axis.
        ndim: the number of axes.

    Returns:
        The same vector of `n` integers for each axis, in the default integer dtype.

    Raises:
        ShapeError: `n` or `ndim` is negative.

    References:
        NumPy, `numpy.diag_indices`.

    Example:
        >>> import imprint.numpy as np
        >>> np.diag_indices(2)
        (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    length, count = whole("diag_indices", "n", n), whole("diag_indices", "ndim", ndim)
    if length < 0 or count < 0:
        raise ShapeError(
            f"diag_indices: expected n and ndim of at least 0, got {n} and {ndim}. They "
            "are a length, and how many axes have it."
        )
    return (arange(length),) * count


def diag_indices_from(arr: ArrayLike) -> tuple[Array, ...]:
    """Return the indices of the diagonal of an array; see `diag_indices`.

    Args:
        arr: an array of at least two axes, all of one length.

    Returns:
        The same vector of integers for each axis, in the default integer dtype.

    Raises:
        ShapeError: `arr` has fewer axes, or axes of different lengths.

    References:
        NumPy, `numpy.diag_indices_from`.

    Example:
        >>> import imprint.numpy as np
        >>> np.diag_indices_from(np.ones((2, 2)))[0]
        Array([0, 1], dtype=int32)
    """
    aval = get_aval(arr)
    if aval.ndim < 2 or len(set(aval.shape)) > 1:
        raise ShapeError(
            f"diag_indices_from: expected at least two axes of one length, got {aval}. "
            "Give the length to diag_indices."
        )
    return diag_indices(aval.shape[0], aval.ndim)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Return the indices on and below a diagonal of an n by m matrix.

    Args:
        n: the number of rows.
        k: the number of the diagonal; 0 is the main one.
        m: the number of columns; None for `n`.

    Returns:
        The row and the column of each, two vectors in the default integer dtype.

    References:
        NumPy, `numpy.tril_indices`.

    Example:
        >>> import imprint.numpy as np
        >>> np.tril_indices(2)
        (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    rows, columns = np.tril_indices(n, k, m)
    return asarray(rows, int), asarray(columns, int)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Return the indices on and above a diagonal; see `tril_indices`.

    Args:
        n: the number of rows.
        k: the number of the diagonal; 0 is the main one.
        m: the number of columns; None for `n`.

    Returns:
        The row and the column of each, two vectors in the default integer dtype.

    References:
        NumPy, `numpy.triu_indices`.

    Example:
        >>> import imprint.numpy as np
        >>> np.triu_indices(2, 1)
        (Array([0], dtype=int32), Array([1], dtype=int32))
    """
    rows, columns = np.triu_indices(n, k, m)
    return asarray(rows, int), asarray(columns, int)


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """Return the indices on and below a diagonal of a matrix; see `tril_indices`.

    Args:
        arr: a matrix.
        k: the number of the diagonal; 0 is the main one.

    Returns:
        The row and the column of each, two vectors in the default integer dtype.

    References:
        NumPy, `numpy.tril_indices_from`.

    Example:
        >>> import imprint.numpy as np
        >>> np.tril_indices_from(np.ones((2, 2)))[1]
        Array([0, 0, 1], dtype=int32)
    """
    rows, columns = _matrix_shape("tril_indices_from", arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """Return the indices on and above a diagonal of a matrix; see `tril_indices`.

    Args:
        arr: a matrix.
        k: the number of the diagonal; 0 is the main one.

    Returns:
        The row and the column of each, two vectors in the default integer dtype.

    References:
        NumPy, `numpy.triu_indices_from`.

    Example:
        >>> import imprint.numpy as np
        >>> np.triu_indices_from(np.ones((2, 2)))[1]
        Array([0, 1, 1], dtype=int32)
    """
    rows, columns = _matrix_shape("triu_indices_from", arr)
    return triu_indices(rows, k, columns)


def _matrix_shape(name: str, arr: Any) -> tuple[int, int]:
    shape = as_array(name, arr).shape
    if len(shape) != 2:
        raise ShapeError(
            f"{name}: expected a matrix, got the shape {shape}. Give rows and columns to "
            f"{name.removesuffix('_from')}."
        )
    return shape


@owned
def ix_(*args: ArrayLike) -> tuple[Array, ...]:
    """Return vectors of indices, shaped to index the grid of their combinations.

    Args:
        args: vectors of integers, one for each axis.

    Returns:
        The vectors in their dtypes, each along its own axis of as many; other axes have
        length 1.

    Raises:
        ShapeError: an operand is no vector.
        NotImplementedError: an operand has booleans.

    References:
        NumPy, `numpy.ix_`.

    Example:
        >>> import imprint.numpy as np
        >>> np.ix_(np.array([0, 2]), np.array([1, 3]))[0]
        Array([[0],
               [2]], dtype=int32)
    """
    grids: list[Array] = []
    for i, given in enumerate(args):
        x = as_array("ix_", given)
        if x.ndim != 1:
            raise ShapeError(
                f"ix_: expected vectors of indices, got {x.aval}. Ravel it."
            )
        if dtypes.is_bool(x.dtype):
            raise NotImplementedError(
                f"ix_: expected integers, got {x.aval}. Which are true is not known "
                "while tracing: pass their positions."
            )
        shape = tuple(x.shape[0] if i == at else 1 for at in range(len(args)))
        grids.append(reshape(x, shape))
    return tuple(grids)


def unravel_index(indices: ArrayLike, shape: int | Sequence[int]) -> tuple[Array, ...]:
    """Convert flat indices to a tuple of indices for each axis.

    Args:
        indices: indices in the flattened array; those out of bounds are clipped.
        shape: the shape of the array.

    Returns:
        Integers of the shape of `indices`, an array for each axis.

    Raises:
        DTypeError: `indices` has no integers.

    References:
        NumPy, `numpy.unravel_index`.

    Example:
        >>> import imprint.numpy as np
        >>> np.unravel_index(np.array([1, 5]), (2, 3))
        (Array([0, 1], dtype=int32), Array([1, 2], dtype=int32))
    """
    rest = as_array("unravel_index", indices)
    if not dtypes.is_integer(rest.dtype):
        raise DTypeError(
            f"unravel_index: expected integers, got {rest.aval}. Convert them with "
            "`.astype(int)`."
        )
    sizes = size_tuple("unravel_index", shape)
    found: list[Array] = []
    for size in reversed(sizes):
        rest, position = divmod(rest, size)
        found.append(position)
    beyond, before = rest > 0, rest + 1 < 0  # unsigned indices are never negative
    return tuple(
        where(beyond, size - 1, where(before, 0, position))
        for size, position in zip(sizes, reversed(found), strict=True)
    )


def ravel_multi_index(
    multi_index: Sequence[ArrayLike],
    dims: Sequence[int],
    mode: str = "raise",
    order: str = "C",
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """Convert indices for each axis to flat indices.

    Args:
        multi_index: integers for each axis.
        dims: the lengths of the axes.
        mode: for indices out of bounds: "raise", which needs concrete ones; "wrap",
            "clip", or "ignore".
        order: "C" if the last axis varies fastest; "F" if the first.
        dtype: the integer dtype of the result; None for that of the indices, or wider.

    Returns:
        The flat indices, of the broadcast shape.

    Raises:
        ShapeError: there are more or fewer arrays than axes.
        DTypeError: the indices are no integers.
        ArgumentError: the dtype is too narrow, the mode or order is unknown, or an
            index is out of bounds with "raise".

    References:
        NumPy, `numpy.ravel_multi_index`.

    Example:
        >>> import imprint.numpy as np
        >>> np.ravel_multi_index((np.array([0, 1]), np.array([1, 2])), (2, 3))
        Array([1, 5], dtype=int32)
    """
    name = "ravel_multi_index"
    parts = [as_array(name, x) for x in multi_index]
    lengths = [whole(name, "a length", n) for n in dims]
    if len(parts) != len(lengths):
        raise ShapeError(
            f"{name}: expected positions for each of {len(lengths)} axes, got "
            f"{len(parts)}. Pass an array for each length."
        )
    for x in parts:
        if not dtypes.is_integer(x.dtype):
            raise DTypeError(f"{name}: expected integers as positions, got {x.aval}.")
    wanted = dtypes.result_type(int, *parts) if dtype is None else dtype
    wanted = dtypes.requested(wanted, name)
    if (
        not dtypes.is_integer(wanted)
        or math.prod(lengths) - 1 > dtypes.iinfo(wanted).max
    ):
        raise ArgumentError(
            f"{name}: expected an integer dtype that holds positions of "
            f"{math.prod(lengths)} elements, got {wanted}. Pass a wider dtype."
        )
    inside = [_inside(mode, x, n) for x, n in zip(parts, lengths, strict=True)]
    if order not in ("C", "F"):
        raise ArgumentError(f"{name}: expected order 'C' or 'F', got {order!r}.")
    stride, total = 1, asarray(0, wanted)
    pairs = list(zip(inside, lengths, strict=True))
    for x, length in pairs if order == "F" else reversed(pairs):
        total = total + astype(x, wanted) * stride
        stride *= length
    return total


def _inside(mode: str, x: Array, length: int) -> Array:
    """Bring indices within an axis by `mode`."""
    if mode == "clip":
        return clip(x, 0, length - 1)
    if mode == "wrap":
        return remainder(x, length)
    if mode == "raise":
        positions = np.asarray(x)
        if np.any((positions < 0) | (positions >= length)):
            raise ArgumentError(
                f"ravel_multi_index: expected positions in [0, {length}), got "
                f"{positions.tolist()}. Pass mode='wrap' or mode='clip'."
            )
    elif mode != "ignore":
        raise ArgumentError(
            "ravel_multi_index: expected mode 'raise', 'wrap', 'clip' or 'ignore', got "
            f"{mode!r}."
        )
    return x


@final
class Grid:
    """The class of `mgrid` and `ogrid`, which are indexed by slices for a grid.

    Args:
        name: the name of the object, for errors.
        sparse: whether arrays have length 1 along the axes of the others.

    Example:
        >>> import imprint.numpy as np
        >>> np.mgrid[:2, 1:3]
        Array([[[0, 0],
                [1, 1]],
        <BLANKLINE>
               [[1, 2],
                [1, 2]]], dtype=int32)
        >>> np.ogrid[0:1:3j]
        Array([0. , 0.5, 1. ], dtype=float32)
    """

    def __init__(self, name: str, *, sparse: bool) -> None:
        self._name = name
        self._sparse = sparse

    def __getitem__(self, key: slice | tuple[slice, ...]) -> Any:
        if not isinstance(key, tuple):
            return _points(self._name, key)
        axes = promote_dtypes(self._name, [_points(self._name, s) for s in key] or [0])
        if not key:
            return arange(0)
        grids = meshgrid(*axes, indexing="ij", sparse=self._sparse)
        return grids if self._sparse else stack(grids)


@final
class Joined:
    """The class of `r_` and `c_`, which join slices, numbers and arrays.

    A leading text "axis,ndmin,trans1d" gives the axis to join along, the minimum number
    of axes of each part, and the position of a part's own axes among these. "r" and "c"
    make a row or a column.

    Args:
        name: the name of the object, for errors.
        layout: axis, ndmin and trans1d, unless a text gives them.

    Example:
        >>> import imprint.numpy as np
        >>> np.r_[:3, 7, np.array([1, 2])]
        Array([0, 1, 2, 7, 1, 2], dtype=int32)
        >>> np.c_[np.array([1, 2]), np.array([3, 4])]
        Array([[1, 3],
               [2, 4]], dtype=int32)
    """

    def __init__(self, name: str, layout: tuple[int, int, int]) -> None:
        self._name = name
        self._layout = layout

    def __getitem__(self, key: Any) -> Array:
        items = cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,)
        layout, matrix = self._layout, None
        if items and isinstance(items[0], str):
            matrix = {"r": 0, "c": 1}.get(items[0])
            layout = layout if matrix is not None else self._parsed(items[0])
            items = items[1:]
        axis, ndmin, first = layout
        joined = concatenate([self._part(x, ndmin, first) for x in items], axis)
        is_flat = matrix is not None and joined.ndim == 1
        return expand_dims(joined, matrix) if is_flat and matrix is not None else joined

    def __len__(self) -> int:
        return 0

    def _parsed(self, text: str) -> tuple[int, int, int]:
        given = text.split(",")[:3]
        try:
            axis, ndmin, first = (*map(int, given), *self._layout[len(given) :])
        except ValueError:
            raise ArgumentError(
                f"{self._name}: expected 'r', 'c' or whole numbers 'axis,ndmin,trans1d' "
                f"in front, got {text!r}."
            ) from None
        return axis, ndmin, first

    def _part(self, item: Any, ndmin: int, first: int) -> Array:
        if isinstance(item, str):
            raise ArgumentError(
                f"{self._name}: expected a text in front alone, got {item!r} behind it."
            )
        part = _points(self._name, item) if isinstance(item, slice) else array(item)
        own = 0 if isinstance(item, slice) else part.ndim
        part = array(part, ndmin=ndmin)
        if first == -1 or ndmin <= own:
            return part
        shift = ndmin - abs(ndmin + first + 1) % ndmin
        order = list(range(ndmin))
        return transpose(part, order[shift:] + order[:shift])


mgrid: Final = Grid("mgrid", sparse=False)
ogrid: Final = Grid("ogrid", sparse=True)
r_: Final = Joined("r_", (0, 1, -1))
c_: Final = Joined("c_", (-1, 2, 0))


def _points(name: str, part: Any) -> Array:
    """Return the numbers that a slice stands for."""
    if not isinstance(part, slice) or cast("Any", part).stop is None:
        raise ArgumentError(
            f"{name}: expected slices with an end, such as 0:4 or 0:1:5j, got {part!r}."
        )
    given = cast("Any", part)
    start: Any = 0 if given.start is None else given.start
    step: Any = 1 if given.step is None else given.step
    if isinstance(step, complex):
        return linspace(start, given.stop, int(abs(step)))
    return arange(start, given.stop, step)
