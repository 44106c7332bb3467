"""Interpolation on grids, as in `jax.scipy.interpolate`.

For splines use SciPy, outside of programs; for one axis `imprint.numpy.interp`.
"""

import itertools
from collections.abc import Sequence
from typing import Any, Literal, Self, cast, final

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.numpy.promotion import ArrayLike, as_array, inexact
from imprint._src.tree import internal as tree

__all__ = ["RegularGridInterpolator"]

Method = Literal["linear", "nearest"]
_NAME = "RegularGridInterpolator"


@final
class RegularGridInterpolator:
    """A function of points, interpolated from values on a grid. A pytree.

    Args:
        points: the coordinates along each axis of the grid, ascending.
        values: the values on the grid, which may have further axes.
        method: "linear" or "nearest".
        bounds_error: must be False: a program cannot raise for a value.
        fill_value: the value outside the grid; None extrapolates from the nearest cell.

    Raises:
        ArgumentError: the method is unknown, or `bounds_error` is True.
        ShapeError: the grid does not match the values.
        DTypeError: the values cannot hold the fill value.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy.interpolate import RegularGridInterpolator
        >>> grid = np.array([1.0, 2.0, 3.0]), np.array([0.0, 10.0])
        >>> f = RegularGridInterpolator(grid, np.array([[0, 1], [2, 3], [4, 5.0]]))
        >>> f(np.array([[1.5, 5.0], [9.0, 0.0]]))
        Array([1.5, nan], dtype=float32)
    """

    def __init__(
        self,
        points: Sequence[ArrayLike],
        values: ArrayLike,
        method: Method = "linear",
        bounds_error: bool = False,  # noqa: FBT001, FBT002 - SciPy's signature
        fill_value: Any = float("nan"),
    ) -> None:
        if bounds_error:
            raise ArgumentError(
                f"{_NAME}: expected bounds_error=False, got {bounds_error!r}: a program "
                "does not raise for a value. Look for NaN in the result, or use "
                "imprint.experimental.checkify."
            )
        _check_method(method)
        self.method: Method = method
        self.bounds_error: bool = False
        self.values: Array = as_array(_NAME, inexact(_NAME, values))
        self.grid: tuple[Array, ...] = tuple([as_array(_NAME, p) for p in points])
        self.fill_value: Array | None = (
            None if fill_value is None else as_array(_NAME, fill_value)
        )
        self._check()

    def _check(self) -> None:
        lengths = [p.shape for p in self.grid]
        if lengths != [(n,) for n in self.values.shape[: len(lengths)]]:
            raise ShapeError(
                f"{_NAME}: expected for each axis of the values a vector of as many "
                f"coordinates, got vectors of shapes {lengths} for values of shape "
                f"{self.values.shape}."
            )
        fill = self.fill_value
        if fill is not None and not np.can_cast(
            fill.dtype, self.values.dtype, "same_kind"
        ):
            raise DTypeError(
                f"{_NAME}: expected a fill_value that {self.values.dtype} holds, got "
                f"{fill.aval}. Give one of that kind, or None."
            )

    def __call__(self, xi: Any, method: Method | None = None) -> Array:
        """Return the values at points.

        Args:
            xi: points, with the coordinates along the last axis; or a tuple with an
                array for each coordinate.
            method: overrides the interpolator's method.

        Returns:
            The values: an axis for all but the last axis of the points, then the further
            axes of the grid's values.

        Raises:
            ArgumentError: the method is unknown.
            ShapeError: the points do not have as many coordinates as the grid has axes.
        """
        method = self.method if method is None else method
        _check_method(method)
        points = _points(xi, len(self.grid))
        cells = [self._cell(points[..., i], p) for i, p in enumerate(self.grid)]
        at = self._linear if method == "linear" else self._nearest
        found = at([low for low, _ in cells], [share for _, share in cells])
        if self.fill_value is None:
            return found
        is_outside = np.zeros(points.shape[:-1], bool)
        for i, p in enumerate(self.grid):
            is_outside |= (points[..., i] < p[0]) | (points[..., i] > p[-1])
        return np.where(self._expand(is_outside), self.fill_value, found)

    def _cell(self, x: Array, points: Array) -> tuple[Array, Array]:
        """Return the grid point below, and the fraction of the way to the next one."""
        last = points.size - 2
        low = np.clip(np.searchsorted(points, x) - 1, 0, last)
        start = points[low]
        return low, (x - start) / (points[low + 1] - start)

    def _linear(self, low: list[Array], share: list[Array]) -> Array:
        total: Any = 0
        for corner in itertools.product((0, 1), repeat=len(low)):
            weight: Any = 1
            for side, part in zip(corner, share, strict=True):
                weight = weight * (part if side else 1 - part)
            at = tuple([i + side for i, side in zip(low, corner, strict=True)])
            total = total + self.values[at] * self._expand(weight)
        return total

    def _nearest(self, low: list[Array], share: list[Array]) -> Array:
        pairs = zip(low, share, strict=True)
        return self.values[tuple([np.where(s <= 0.5, i, i + 1) for i, s in pairs])]

    def _expand(self, x: Array) -> Array:
        """Return an array with an axis for each further axis of the values."""
        more = self.values.ndim - len(self.grid)
        return x.reshape(*x.shape, *(1,) * more)

    def tree_flatten(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the arrays and the static data."""
        return (self.grid, self.values, self.fill_value), (self.method,)

    @classmethod
    def tree_unflatten(
        cls, aux_data: tuple[Any, ...], children: tuple[Any, ...]
    ) -> Self:
        """Return the interpolator with other leaves."""
        made = object.__new__(cls)
        made.grid, made.values, made.fill_value = children
        (made.method,), made.bounds_error = aux_data, False
        return made


def _check_method(method: object) -> None:
    if method not in ("linear", "nearest"):
        raise ArgumentError(
            f"{_NAME}: expected method 'linear' or 'nearest', got {method!r}."
        )


def _points(xi: Any, count: int) -> Array:
    """Return points with their coordinates along the last axis."""
    if isinstance(xi, tuple):
        parts = cast("tuple[Any, ...]", xi)
        xi = (
            parts[0]
            if count == len(parts) == 1
            else np.stack(
                np.broadcast_arrays(*[inexact(_NAME, x) for x in parts]), axis=-1
            )
        )
    points = as_array(_NAME, inexact(_NAME, xi))
    if points.ndim == 1:
        points = points.reshape(-1, count)
    if points.ndim == 0 or points.shape[-1] != count:
        raise ShapeError(
            f"{_NAME}: expected points of {count} coordinates along the last axis, got "
            f"{points.aval}."
        )
    return points


tree.register_pytree_node(
    RegularGridInterpolator,
    RegularGridInterpolator.tree_flatten,
    RegularGridInterpolator.tree_unflatten,
)
