"""Differences and integrals along an axis: diff, gradient, trapezoid, unwrap.

They are slices, without loops or index arrays; lengths are known while tracing.
"""

import math
from typing import Any

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.elementwise.arithmetic import (
    absolute,
    add,
    floor_divide,
    multiply,
    negative,
    remainder,
    subtract,
    true_divide,
)
from imprint._src.numpy.elementwise.comparison import (
    equal,
    greater,
    less,
    logical_and,
    not_equal,
)
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    broadcast,
    convert,
    is_bool,
    promote_dtypes,
)
from imprint._src.numpy.reductions.cumulative import cumsum
from imprint._src.numpy.reductions.reductions import sum
from imprint._src.numpy.shapes.concatenate import concatenate
from imprint._src.numpy.shapes.reshape import Axes, axis_tuple, ravel, reshape
from imprint._src.primitives.axes import canonical_axes, canonical_axis, whole
from imprint._src.primitives.copying import owned
from imprint._src.primitives.core_ops import scalar_like, sub
from imprint._src.primitives.indexing.slicing import slice_in_dim


@fuse_eager
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
        a: an array; for booleans, whether neighbours differ.
        n: the order of the differences.
        axis: the axis.
        prepend: values before the first one.
        append: values after the last one.

    Returns:
        The differences, shorter by `n` along the axis, in the dtype of `a`.

    Raises:
        ArgumentError: `n` is negative.
        ShapeError: `a` has no axis.

    References:
        NumPy, `numpy.diff`.

    Example:
        >>> import imprint.numpy as np
        >>> np.diff(np.array([1, 4, 9]))
        Array([3, 5], dtype=int32)
    """
    times = whole("diff", "n", n)
    if times < 0:
        raise ArgumentError(
            f"diff: expected n of at least 0, got {times}. It is how often to subtract."
        )
    x = as_array("diff", a)
    if times == 0:
        return x  # without the additions at its ends
    if not x.ndim:
        raise ShapeError(
            f"diff: expected an axis to take differences along, got {x.aval}. Pass an "
            "array of rank 1 or more."
        )
    at = canonical_axis("diff", axis, x.ndim)
    ends = [_end(e, x, at) for e in (prepend, x, append) if e is not None]
    x = concatenate(ends, at) if len(ends) > 1 else x
    for _ in range(times):
        later, earlier = _part(x, at, 1, None), _part(x, at, 0, -1)
        x = not_equal(later, earlier) if is_bool(x) else subtract(later, earlier)
    return x


@fuse_eager
def ediff1d(
    ary: ArrayLike,
    to_end: ArrayLike | None = None,
    to_begin: ArrayLike | None = None,
) -> Array:
    """Return the differences between neighbours of a flattened array.

    Args:
        ary: an array.
        to_end: elements to append, in the array's dtype.
        to_begin: elements to prepend.

    Returns:
        A vector, in the dtype of `ary`.

    References:
        NumPy, `numpy.ediff1d`.

    Example:
        >>> import imprint.numpy as np
        >>> np.ediff1d(np.array([[1, 4], [9, 16]]), to_end=0)
        Array([3, 5, 7, 0], dtype=int32)
    """
    x = ravel(as_array("ediff1d", ary))
    between = sub(_part(x, 0, 1, None), _part(x, 0, 0, -1))
    begin, end = (
        [] if part is None else [ravel(convert("ediff1d", part, x.dtype))]
        for part in (to_begin, to_end)
    )
    return concatenate([*begin, between, *end]) if begin or end else between


@fuse_eager
def gradient(
    f: ArrayLike,
    *varargs: ArrayLike,
    axis: Axes | None = None,
    edge_order: int | None = None,
) -> Any:
    """Return the gradient: central differences, one-sided at the ends.

    Args:
        f: values.
        varargs: the spacing: a number, or a vector of coordinates; one for all axes, or
            one for each.
        axis: one axis, several or None for all. Several give a list with an array for
            each.
        edge_order: must be 1.

    Returns:
        An array of the shape of `f`, in the promoted floating or complex dtype, or a
        list of one for each axis.

    Raises:
        NotImplementedError: `edge_order` is another.
        ArgumentError: there are several spacings, but not one for each axis.
        ShapeError: an axis has fewer than two values, or coordinates of another length.

    References:
        NumPy, `numpy.gradient`.

    Example:
        >>> import imprint.numpy as np
        >>> np.gradient(np.array([0.0, 1.0, 4.0]))
        Array([1., 2., 3.], dtype=float32)
    """
    if edge_order not in (None, 1):
        raise NotImplementedError(
            f"gradient: expected edge_order 1, got {edge_order}. Leave it out."
        )
    values, *spacing = promote_dtypes("gradient", (f, *varargs), dtypes.to_inexact)
    x = as_array("gradient", values)
    axes = range(x.ndim) if axis is None else axis_tuple("gradient", axis)
    axes = canonical_axes("gradient", axes, x.ndim)
    if len(spacing) < 2:
        spacing = [*spacing] * len(axes) if spacing else [scalar_like(x, 1)] * len(axes)
    if len(spacing) != len(axes):
        raise ArgumentError(
            f"gradient: expected one spacing, or one for each of the axes {axes}, got "
            f"{len(spacing)}. Name the axes with axis=."
        )
    parts = [_gradient(x, at, by) for at, by in zip(axes, spacing, strict=True)]
    return parts[0] if len(parts) == 1 else parts


def _gradient(x: Array, at: int, spacing: Any) -> Array:
    length, places = x.shape[at], get_aval(spacing).shape
    if not dims.at_least(length, 2):
        raise ShapeError(
            f"gradient: expected at least two values along axis {at}, got {x.aval}. "
            "One value has no slope."
        )
    if len(places) > 1 or not all(dims.equal(n, length) for n in places):
        raise ShapeError(
            f"gradient: expected a number, or a place for each of {length} values along "
            f"axis {at}, got {get_aval(spacing)}. Give a vector of that length."
        )
    first = subtract(_part(x, at, 1, 2), _part(x, at, 0, 1))
    last = subtract(_part(x, at, -1, None), _part(x, at, -2, -1))
    if not places:
        both = subtract(_part(x, at, 2, None), _part(x, at, 0, -2))
        inner = true_divide(multiply(both, 0.5), spacing)
        ends = [true_divide(end, spacing) for end in (first, last)]
        return concatenate([ends[0], inner, ends[1]], at)
    along = tuple(length if i == at else 1 for i in range(x.ndim))
    at_places = reshape(spacing, along)
    steps = subtract(_part(at_places, at, 1, None), _part(at_places, at, 0, -1))
    before, after = _part(steps, at, 0, -1), _part(steps, at, 1, None)
    both = add(before, after)
    terms = (
        (_part(x, at, 0, -2), true_divide(negative(after), multiply(before, both))),
        (
            _part(x, at, 1, -1),
            true_divide(subtract(after, before), multiply(before, after)),
        ),
        (_part(x, at, 2, None), true_divide(before, multiply(after, both))),
    )
    left, middle, right = (multiply(weight, value) for value, weight in terms)
    inner = add(add(left, middle), right)
    first = true_divide(first, _part(steps, at, 0, 1))
    last = true_divide(last, _part(steps, at, -1, None))
    return concatenate([first, inner, last], at)


@fuse_eager
def trapezoid(
    y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1
) -> Array:
    """Return the integral along an axis by the trapezoidal rule.

    Args:
        y: the values.
        x: their coordinates along one axis; None for equal spacing.
        dx: the spacing, if equal.
        axis: the axis.

    Returns:
        The integrals, of the shape of `y` without the axis, in the promoted floating or
        complex dtype.

    References:
        NumPy, `numpy.trapezoid`.

    Example:
        >>> import imprint.numpy as np
        >>> np.trapezoid(np.array([0.0, 1.0, 2.0]))
        Array(2., dtype=float32)
    """
    given = (y,) if x is None else (y, x)
    values = as_array(
        "trapezoid", promote_dtypes("trapezoid", given, dtypes.to_inexact)[0]
    )
    at = canonical_axis("trapezoid", axis, values.ndim)
    pairs = add(_part(values, at, 1, None), _part(values, at, 0, -1))
    if x is not None:
        widths = diff(x)
        shape = tuple(-1 if i == at else 1 for i in range(values.ndim))
        return multiply(sum(multiply(pairs, widths.reshape(shape)), at), 0.5)
    return multiply(sum(pairs, at), multiply(dx, 0.5))


@fuse_eager
def unwrap(
    p: ArrayLike,
    discont: ArrayLike | None = None,
    axis: int = -1,
    period: ArrayLike = 2 * math.pi,
) -> Array:
    """Return angles along an axis with periods added, so that no step is large.

    Args:
        p: real numbers modulo a period.
        discont: the least step that is a jump; None for half a period.
        axis: the axis.
        period: the period.

    Returns:
        An array of the shape of `p`, in the promoted dtype.

    Raises:
        ArgumentError: `p` is complex.

    References:
        NumPy, `numpy.unwrap`.

    Example:
        >>> import imprint.numpy as np
        >>> np.unwrap(np.array([0, 3, 6, 1]), period=8)
        Array([0, 3, 6, 9], dtype=int32)
    """
    x, whole = promote_dtypes("unwrap", (p, period))
    x, whole = as_array("unwrap", x), as_array("unwrap", whole)
    if dtypes.is_complex(x.dtype):
        raise ArgumentError(
            f"unwrap: expected real numbers, got {x.aval}. Take imprint.numpy.angle."
        )
    at = canonical_axis("unwrap", axis, x.ndim)
    if dims.is_same(x.shape[at], 0):
        return x
    half = (floor_divide if dtypes.is_integer(x.dtype) else true_divide)(whole, 2)
    steps = diff(x, axis=at)
    near = subtract(remainder(add(steps, half), whole), half)
    at_edge = logical_and(equal(near, negative(half)), greater(steps, 0))
    near = where(at_edge, half, near)
    limit = true_divide(whole, 2) if discont is None else discont
    turns = where(less(absolute(steps), limit), 0, subtract(near, steps))
    moved = add(_part(x, at, 1, None), cumsum(turns, at))
    return concatenate([_part(x, at, 0, 1), moved], at)


def _end(end: ArrayLike, x: Array, axis: int) -> Array:
    array = as_array("diff", end)
    if array.ndim:
        return array
    return broadcast(array, tuple(1 if i == axis else n for i, n in enumerate(x.shape)))


def _part(x: Array, axis: int, start: int | None, stop: int | None) -> Array:
    return slice_in_dim(x, start, stop, axis=axis)
