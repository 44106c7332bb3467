"""Arrays written as indices: mgrid, ogrid, r_ and c_.

A slice `a:b:c` stands for the numbers from `a` to before `b`, `c` apart; an imaginary
step `3j` for 3 numbers from `a` to `b`, both among them. Bounds and steps are known while
tracing; the arrays that `r_` and `c_` join may be traced.
"""

from typing import Any, Final, cast, final

from imprint._src.core.array import Array
from imprint._src.errors import ArgumentError
from imprint._src.numpy.creation import array
from imprint._src.numpy.promotion import promote_dtypes
from imprint._src.numpy.ranges import arange, linspace, meshgrid
from imprint._src.numpy.shapes.concatenate import concatenate, stack
from imprint._src.numpy.shapes.reshape import expand_dims, transpose


@final
class Grid:
    """What `mgrid[...]` and `ogrid[...]` ask for the coordinates of a grid.

    Args:
        name: of the object, for errors.
        sparse: whether the arrays have length 1 along the axes of the others.

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
    """What `r_[...]` and `c_[...]` ask to join slices, numbers and arrays.

    A text in front, "axis,ndmin,trans1d", says along which axis, how many axes each part
    has at least, and where the axes that a part had itself begin among these; "r" and "c"
    make a row or a column.

    Args:
        name: of the object, for errors.
        layout: axis, ndmin and trans1d where no text says them.

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
