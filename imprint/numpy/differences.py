"""Calculus along an axis: diff, gradient, trapezoid.

Made of slices, so nothing here has a loop or an index array; the lengths are known while
tracing.
"""

import operator
from typing import Any

from imprint.core.array import Array
from imprint.errors import ShapeError
from imprint.numpy.arithmetic import add, multiply, subtract, true_divide
from imprint.numpy.comparison import not_equal
from imprint.numpy.joining import concatenate
from imprint.numpy.promotion import ArrayLike, as_array, broadcast, inexact, is_bool
from imprint.numpy.reductions import sum
from imprint.primitives.axes import canonical_axis
from imprint.primitives.copying import owned
from imprint.primitives.slicing import slice_in_dim


@owned
def diff(
    a: ArrayLike,
    n: int = 1,
    axis: int = -1,
    prepend: ArrayLike | None = None,
    append: ArrayLike | None = None,
) -> Array:
    """Return the differences between neighbours along an axis.

    Args:
        a: an array; neighbours of booleans differ or do not.
        n: how often to take differences.
        axis: the axis.
        prepend: values before the first one.
        append: values after the last one.

    Example:
        >>> import imprint.numpy as np
        >>> np.diff(np.array([1, 4, 9]))
        Array([3, 5], dtype=int32)
    """
    x = as_array("diff", a)
    times = operator.index(n)
    if times == 0:
        return x  # without what is put at its ends
    if times < 0 or not x.ndim:
        raise ShapeError(
            f"diff: expected n of at least 0, and an axis to take differences along, got "
            f"n={times} and {x.aval}. Pass n=1 and an array of rank 1 or more."
        )
    at = canonical_axis("diff", axis, x.ndim)
    ends = [_end(e, x, at) for e in (prepend, x, append) if e is not None]
    x = concatenate(ends, at) if len(ends) > 1 else x
    for _ in range(times):
        later, earlier = _part(x, at, 1, None), _part(x, at, 0, -1)
        x = not_equal(later, earlier) if is_bool(x) else subtract(later, earlier)
    return x


def ediff1d(ary: ArrayLike) -> Array:
    """Return the differences between neighbours of a flattened array.

    Example:
        >>> import imprint.numpy as np
        >>> np.ediff1d(np.array([[1, 4], [9, 16]]))
        Array([3, 5, 7], dtype=int32)
    """
    return diff(as_array("ediff1d", ary).reshape(-1))


def gradient(f: ArrayLike, spacing: float = 1.0, *, axis: int | None = None) -> Any:
    """Return central differences along axes, one-sided at the ends.

    Args:
        f: values at equal distances.
        spacing: the distance.
        axis: the axis; None for a list with one array for each axis.

    Example:
        >>> import imprint.numpy as np
        >>> np.gradient(np.array([0.0, 1.0, 4.0]))
        Array([1., 2., 3.], dtype=float32)
    """
    x = as_array("gradient", inexact("gradient", f))
    axes = (
        range(x.ndim) if axis is None else (canonical_axis("gradient", axis, x.ndim),)
    )
    parts = [_gradient(x, at, spacing) for at in axes]
    return parts[0] if len(parts) == 1 else parts


def _gradient(x: Array, at: int, spacing: float) -> Array:
    first = subtract(_part(x, at, 1, 2), _part(x, at, 0, 1))
    last = subtract(_part(x, at, -1, None), _part(x, at, -2, -1))
    inner = multiply(subtract(_part(x, at, 2, None), _part(x, at, 0, -2)), 0.5)
    return true_divide(concatenate([first, inner, last], at), spacing)


def trapezoid(
    y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1
) -> Array:
    """Return the integral along an axis by the trapezoidal rule.

    Args:
        y: the values.
        x: where they are, along one axis; None for equal distances.
        dx: the distance, if equal.
        axis: the axis.

    Example:
        >>> import imprint.numpy as np
        >>> np.trapezoid(np.array([0.0, 1.0, 2.0]))
        Array(2., dtype=float32)
    """
    values = as_array("trapezoid", inexact("trapezoid", y))
    at = canonical_axis("trapezoid", axis, values.ndim)
    pairs = add(_part(values, at, 1, None), _part(values, at, 0, -1))
    if x is not None:
        widths = diff(x)
        shape = tuple(-1 if i == at else 1 for i in range(values.ndim))
        return multiply(sum(multiply(pairs, widths.reshape(shape)), at), 0.5)
    return multiply(sum(pairs, at), multiply(dx, 0.5))


def _end(end: ArrayLike, x: Array, axis: int) -> Array:
    array = as_array("diff", end)
    if array.ndim:
        return array
    return broadcast(array, tuple(1 if i == axis else n for i, n in enumerate(x.shape)))


def _part(x: Array, axis: int, start: int | None, stop: int | None) -> Array:
    return slice_in_dim(x, start, stop, axis=axis)
