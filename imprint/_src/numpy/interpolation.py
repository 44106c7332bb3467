"""interp: piecewise linear interpolation of a function of one variable.

Before the first point and after the last the function is constant, unless `left` and
`right` say otherwise, or it repeats with a `period`.
"""

import builtins
from typing import Any, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.numpy.elementwise.selection import clip, where
from imprint._src.numpy.promotion import ArrayLike, as_array, promote_dtypes
from imprint._src.numpy.shapes.concatenate import concatenate
from imprint._src.numpy.sorting.searchsorted import searchsorted
from imprint._src.primitives.indexing.sorting import sort_key_val
from imprint._src.primitives.indexing.take_rows import rows_at


@fuse_eager
def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | str | None = None,
    right: ArrayLike | str | None = None,
    period: ArrayLike | None = None,
) -> Array:
    """Return a piecewise linear function at `x`.

    Args:
        x: where to evaluate.
        xp: the known points, ascending, unless there is a period.
        fp: the values at these points.
        left: the value before the first point; None for that of the first point,
            "extrapolate" for the first line.
        right: the value after the last point, as `left`.
        period: the period of the function; `left` and `right` are then ignored.

    Returns:
        An array of the shape of `x`, in the promoted floating or complex dtype.

    Raises:
        ShapeError: `xp` and `fp` are not vectors of one length.
        ArgumentError: `xp` is empty, or `left` or `right` is another word.
        DTypeError: `x` or `xp` is complex.

    References:
        NumPy, `numpy.interp`.

    Example:
        >>> import imprint.numpy as np
        >>> np.interp(np.array([0.5, 3.0]), np.array([0, 1]), np.array([2, 4]))
        Array([3., 4.], dtype=float32)
    """
    at, xs, fs = _operands(x, xp, fp)
    goes_on = [
        _extrapolates(word, end) for word, end in (("left", left), ("right", right))
    ]
    if period is not None:
        at, xs, fs = _one_period(at, xs, fs, as_array("interp", period))
    is_repeated = (at == xs[-1]) & (xs[-2:][0] == xs[-1])
    f = where(is_repeated, fs[-1], _lines(at, xs, fs))  # the last of equal places
    if period is not None:
        return f
    before: Any = fs[0] if left is None else left
    behind: Any = fs[-1] if right is None else right
    if not goes_on[0]:
        f = where(at < xs[0], before, f)
    return f if goes_on[1] else where(at > xs[-1], behind, f)


def _operands(x: ArrayLike, xp: ArrayLike, fp: ArrayLike) -> tuple[Array, Array, Array]:
    at, xs, fs = (as_array("interp", v) for v in (x, xp, fp))
    if xs.ndim != 1 or not dims.equal_shapes(xs.shape, fs.shape):
        raise ShapeError(
            f"interp: expected xp and fp with one axis of one length, got {xs.aval} and "
            f"{fs.aval}. Map over further axes with imprint.vmap."
        )
    if dims.is_same(xs.shape[0], 0):
        raise ArgumentError(
            f"interp: expected at least one place where the function is known, got "
            f"{xs.aval}."
        )
    at, xs = promote_dtypes("interp", (at, xs), dtypes.to_inexact)
    (fs,) = promote_dtypes("interp", (fs,), dtypes.to_inexact)
    if dtypes.is_complex(at.dtype):
        raise DTypeError(
            f"interp: expected real places, got {at.aval}. Values may be complex."
        )
    return at, xs, fs


def _extrapolates(word: str, end: Any) -> bool:
    if isinstance(end, str) and end != "extrapolate":
        raise ArgumentError(
            f"interp: expected {word} to be a number or 'extrapolate', got {end!r}."
        )
    return isinstance(end, str)


def _one_period(
    at: Array, xs: Array, fs: Array, period: Array
) -> tuple[Array, Array, Array]:
    """Return the points within one period, with a neighbour on each side."""
    if period.ndim:
        raise ShapeError(f"interp: expected a number as the period, got {period.aval}.")
    period = abs(period)
    at, xs = at % period, xs % period
    xs, fs = sort_key_val(xs, fs)
    xs = concatenate([xs[-1:] - period, xs, xs[:1] + period])
    return at, xs, concatenate([fs[-1:], fs, fs[:1]])


def _lines(at: Array, xs: Array, fs: Array) -> Array:
    """Return the value on the line around each point, or on the first or last line."""
    last = xs.shape[0] - 1
    behind = clip(searchsorted(xs, at, side="right"), builtins.min(last, 1), last)
    before = behind - builtins.min(last, 1)
    start, value = rows_at(xs, before), rows_at(fs, before)
    width = rows_at(xs, behind) - start
    info = cast("Any", dtypes).finfo(xs.dtype)
    none = np.spacing(np.asarray(info.eps, xs.dtype))
    is_step = abs(width) <= none  # otherwise the slope and its gradient are NaN
    slope = (at - start) / where(is_step, 1, width) * (rows_at(fs, behind) - value)
    return where(is_step, value, value + slope)
