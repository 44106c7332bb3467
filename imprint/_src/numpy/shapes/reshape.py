"""Change of shape and order of axes, broadcasting, and splitting.

Axes count from the end if negative. Nothing is copied eagerly; arrays are immutable, so
a view of the same memory equals a copy.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias, cast

import numpy as np

from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import Shape, get_aval
from imprint._src.core.dims import Dim
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, ConcretizationError, ShapeError
from imprint._src.interpreters.keys import accepts_keys
from imprint._src.numpy.promotion import (
    ArrayLike,
    NDArray,
    as_array,
    broadcast,
    broadcast_all,
)
from imprint._src.primitives.axes import (
    canonical_axes,
    canonical_axis,
    is_several,
    whole,
)
from imprint._src.primitives.copying import owned
from imprint._src.primitives.core_ops import transpose as transpose_
from imprint._src.primitives.indexing.slicing import slice_in_dim
from imprint._src.primitives.shape import expand_dims as expand_dims_
from imprint._src.primitives.shape import reshape as reshape_
from imprint._src.primitives.shape import squeeze as squeeze_

ShapeLike: TypeAlias = Dim | Sequence[Dim] | NDArray
"""A shape argument: an int is a shape of one axis."""
Axes: TypeAlias = int | Sequence[int]


def shape_of(name: str, shape: Any) -> Shape:
    """Return a shape argument as a tuple; `name` is the public function, for errors."""
    given: Any = shape
    try:
        single = isinstance(shape, int) or dims.is_symbolic(shape)
        single = single or getattr(shape, "ndim", 1) == 0
        lengths = dims.as_shape((shape,) if single else given)
        if isinstance(shape, set | frozenset | dict | bytes):
            raise TypeError  # they iterate, but not in an order of lengths
    except ConcretizationError:
        raise  # a tracer raises its own error
    except TypeError as err:
        raise ArgumentError(
            f"{name}: expected an int or a sequence of ints for the shape, got "
            f"{shape!r}. Sizes must be whole numbers known while tracing."
        ) from err
    if dims.has_negative(lengths):
        raise ShapeError(
            f"{name}: expected lengths of at least 0, got {lengths}. "
            "Only reshape takes -1, for the length that remains."
        )
    return lengths


def axis_tuple(name: str, axes: Axes | NDArray) -> tuple[int, ...]:
    """Return one axis or several as a tuple; `name` is the public function."""
    given = axes if isinstance(axes, Sequence | np.ndarray) else (axes,)
    return tuple([whole(name, "an axis", axis) for axis in given])


def size_tuple(name: str, sizes: ShapeLike) -> Shape:
    """Return one size or several, maybe negative, as a tuple."""
    if type(sizes) is tuple or is_several(sizes):  # most are tuples
        return dims.as_shape(cast("Any", sizes), name)
    return (dims.as_dim(sizes, name),)


# ---- reshape ----


@accepts_keys(0)
def reshape(
    a: ArrayLike,
    shape: ShapeLike,
    order: str = "C",
    *,
    copy: bool | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return the elements in another shape.

    Args:
        a: an array.
        shape: the lengths of the axes; one may be -1, to be inferred.
        order: "C" reads and writes the last axis fastest, "F" the first.
        copy: ignored: arrays are immutable.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of this shape, in the dtype of `a`.

    Raises:
        ShapeError: the shape has another number of elements, or several -1.
        ArgumentError: the order is unknown.

    References:
        NumPy, `numpy.reshape`.

    Example:
        >>> import imprint.numpy as np
        >>> np.reshape(np.arange(6), (2, -1))
        Array([[0, 1, 2],
               [3, 4, 5]], dtype=int32)
    """
    if out_sharding is not None:
        return spread(reshape(a, shape, order, copy=copy), out_sharding)
    x = as_array("reshape", a)
    sizes = _sizes(x, shape)
    if order == "C":
        return reshape_(x, sizes)
    if order != "F":
        raise ArgumentError(
            f"reshape: expected order 'C' or 'F', got {order!r}. Arrays have no other "
            "order in memory."
        )
    return transpose(reshape_(transpose(x), sizes[::-1]))


def _sizes(x: Array, shape: ShapeLike) -> Shape:
    """Return the lengths of a shape, with -1 replaced."""
    sizes = size_tuple("reshape", shape)
    free = [i for i, n in enumerate(sizes) if type(n) is int and n < 0]
    rest = dims.product(sizes)
    if not free:
        fits = dims.equal(x.size, rest)
    else:
        rest = -rest  # without the -1
        fits = sizes[free[0]] == -1 and len(free) == 1 and dims.divides(rest, x.size)
    if not fits:
        raise ShapeError(
            f"reshape: expected a shape of {x.size} elements, with at most one -1, for "
            f"{x.aval}, got {sizes}. Make the product of the lengths {x.size}."
        )
    if not free:
        return sizes
    return (*sizes[: free[0]], x.size // rest, *sizes[free[0] + 1 :])


@accepts_keys(0)
@owned
def ravel(
    a: ArrayLike,
    order: str = "C",
    *,
    out_sharding: Any = None,
) -> Array:
    """Return the elements along one axis.

    Args:
        a: an array.
        order: "C" reads the last axis fastest, "F" the first.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        A vector, in the dtype of `a`.

    References:
        NumPy, `numpy.ravel`.

    Example:
        >>> import imprint.numpy as np
        >>> np.ravel(np.array([[1, 2], [3, 4]]))
        Array([1, 2, 3, 4], dtype=int32)
    """
    if out_sharding is not None:
        return spread(ravel(a, order), out_sharding)
    return reshape(a, (get_aval(a).size,), order)


@accepts_keys(0)
@owned
def squeeze(a: ArrayLike, axis: Axes | None = None) -> Array:
    """Remove axes of length 1: the given ones, or all.

    Args:
        a: an array.
        axis: the axes to remove, each of length 1; None for all such.

    Returns:
        An array of the other axes, in the dtype of `a`.

    References:
        NumPy, `numpy.squeeze`.

    Example:
        >>> import imprint.numpy as np
        >>> np.squeeze(np.zeros((1, 3, 1))).shape
        (3,)
    """
    x = as_array("squeeze", a)
    if axis is None:
        return squeeze_(x, [i for i, n in enumerate(x.shape) if dims.is_same(n, 1)])
    return squeeze_(x, axis_tuple("squeeze", axis))


@accepts_keys(0)
@owned
def expand_dims(a: ArrayLike, axis: Axes) -> Array:
    """Insert axes of length 1 at positions of the result.

    Args:
        a: an array.
        axis: the positions of the new axes in the result: one or several.

    Returns:
        An array with these axes more, in the dtype of `a`.

    References:
        NumPy, `numpy.expand_dims`.

    Example:
        >>> import imprint.numpy as np
        >>> np.expand_dims(np.zeros(3), (0, -1)).shape
        (1, 3, 1)
    """
    return expand_dims_(as_array("expand_dims", a), axis_tuple("expand_dims", axis))


@accepts_keys(0)
@owned
def atleast_1d(*arys: ArrayLike) -> Any:
    """Return arrays with at least one axis.

    Args:
        arys: arrays or numbers.

    Returns:
        The array, or a list of several.

    References:
        NumPy, `numpy.atleast_1d`.

    Example:
        >>> import imprint.numpy as np
        >>> np.atleast_1d(3)
        Array([3], dtype=int32, weak_type=True)
    """
    return _each([_with_rank(as_array("atleast_1d", a), 1) for a in arys])


@accepts_keys(0)
@owned
def atleast_2d(*arys: ArrayLike) -> Any:
    """Return arrays with at least two axes; new ones come first.

    Args:
        arys: arrays or numbers.

    Returns:
        The array, or a list of several.

    References:
        NumPy, `numpy.atleast_2d`.

    Example:
        >>> import imprint.numpy as np
        >>> np.atleast_2d(np.arange(2))
        Array([[0, 1]], dtype=int32)
    """
    return _each([_with_rank(as_array("atleast_2d", a), 2) for a in arys])


@accepts_keys(0)
@owned
def atleast_3d(*arys: ArrayLike) -> Any:
    """Return arrays with at least three axes; a vector becomes the middle one.

    Args:
        arys: arrays or numbers.

    Returns:
        The array, or a list of several.

    References:
        NumPy, `numpy.atleast_3d`.

    Example:
        >>> import imprint.numpy as np
        >>> np.atleast_3d(np.arange(2)).shape
        (1, 2, 1)
    """
    new = {0: (0, 1, 2), 1: (0, 2), 2: (2,)}
    arrays = [as_array("atleast_3d", a) for a in arys]
    return _each([expand_dims_(x, new.get(x.ndim, ())) for x in arrays])


def _with_rank(x: Array, rank: int) -> Array:
    return expand_dims_(x, tuple(range(rank - x.ndim)))


def _each(arrays: list[Array]) -> Any:
    return arrays[0] if len(arrays) == 1 else arrays


# ---- order of axes ----


@accepts_keys(0)
def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """Permute the axes; without `axes`, reverse them.

    Args:
        a: an array.
        axes: for each axis of the result, the axis of `a`; None for all in reverse.

    Returns:
        An array in the dtype of `a`.

    Raises:
        ShapeError: `axes` does not name each axis.

    References:
        NumPy, `numpy.transpose`.

    Example:
        >>> import imprint.numpy as np
        >>> np.transpose(np.zeros((2, 3, 4)), (1, 2, 0)).shape
        (3, 4, 2)
    """
    x = as_array("transpose", a)
    if axes is None:
        return _permuted(x, tuple(reversed(range(x.ndim))))
    axes = axis_tuple("transpose", axes)
    order = canonical_axes("transpose", axes, x.ndim)
    if len(order) != x.ndim:
        raise ShapeError(
            f"transpose: expected each of {x.ndim} axes once for {x.aval}, got "
            f"axes={axes}. To exchange two, call swapaxes."
        )
    return _permuted(x, order)


def permute_dims(a: ArrayLike, /, axes: Sequence[int]) -> Array:
    """Return an array with its axes in another order.

    Args:
        a: an array.
        axes: for each axis of the result, the axis of `a`.

    Returns:
        An array in the dtype of `a`.

    References:
        NumPy, `numpy.permute_dims`.

    Example:
        >>> import imprint.numpy as np
        >>> np.permute_dims(np.zeros((2, 3, 4)), (2, 0, 1)).shape
        (4, 2, 3)
    """
    return transpose(a, axis_tuple("permute_dims", axes))


@accepts_keys(0)
def matrix_transpose(x: ArrayLike, /) -> Array:
    """Exchange the last two axes.

    Args:
        x: an array of at least two axes.

    Returns:
        An array in the dtype of `x`.

    Raises:
        ShapeError: `x` has fewer than two axes.

    References:
        NumPy, `numpy.matrix_transpose`.

    Example:
        >>> import imprint.numpy as np
        >>> np.matrix_transpose(np.array([[1, 2], [3, 4]]))
        Array([[1, 3],
               [2, 4]], dtype=int32)
    """
    array = as_array("matrix_transpose", x)
    if array.ndim < 2:
        raise ShapeError(
            f"matrix_transpose: expected at least two axes, got {array.aval}. "
            "Insert one with `x[None]`."
        )
    return swapaxes(array, -1, -2)


@accepts_keys(0)
@owned
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array:
    """Exchange two axes.

    Args:
        a: an array.
        axis1: one axis.
        axis2: the other axis.

    Returns:
        An array in the dtype of `a`.

    References:
        NumPy, `numpy.swapaxes`.

    Example:
        >>> import imprint.numpy as np
        >>> np.swapaxes(np.zeros((2, 3, 4)), 0, 2).shape
        (4, 3, 2)
    """
    x = as_array("swapaxes", a)
    first, second = (canonical_axis("swapaxes", i, x.ndim) for i in (axis1, axis2))
    order = list(range(x.ndim))
    order[first], order[second] = second, first
    return _permuted(x, tuple(order))


@accepts_keys(0)
@owned
def moveaxis(a: ArrayLike, source: Axes, destination: Axes) -> Array:
    """Move axes to new positions; the others keep their order.

    Args:
        a: an array.
        source: one axis or several.
        destination: the position of each in the result.

    Returns:
        An array in the dtype of `a`.

    Raises:
        ShapeError: there are not as many destinations as sources.

    References:
        NumPy, `numpy.moveaxis`.

    Example:
        >>> import imprint.numpy as np
        >>> np.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
    x = as_array("moveaxis", a)
    taken = canonical_axes("moveaxis", axis_tuple("moveaxis", source), x.ndim)
    placed = canonical_axes("moveaxis", axis_tuple("moveaxis", destination), x.ndim)
    if len(taken) != len(placed):
        raise ShapeError(
            f"moveaxis: expected as many destinations as sources, got {len(placed)} "
            f"and {len(taken)}. Name a position for each axis."
        )
    order = [i for i in range(x.ndim) if i not in taken]
    for place, axis in sorted(zip(placed, taken, strict=True)):
        order.insert(place, axis)
    return _permuted(x, tuple(order))


@accepts_keys(0)
@owned
def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array:
    """Move an axis before the axis that is at `start`.

    Args:
        a: an array.
        axis: the axis to move.
        start: the axis before which it is to be; the number of axes moves it to the
            end.

    Returns:
        An array in the dtype of `a`.

    References:
        NumPy, `numpy.rollaxis`.

    Example:
        >>> import imprint.numpy as np
        >>> np.rollaxis(np.zeros((2, 3, 4)), 2).shape
        (4, 2, 3)
    """
    x = as_array("rollaxis", a)
    taken = canonical_axis("rollaxis", axis, x.ndim)
    place = start + x.ndim if start < 0 else whole("rollaxis", "start", start)
    return moveaxis(x, taken, place - (taken < place))


def _permuted(x: Array, order: tuple[int, ...]) -> Array:
    return x if order == tuple(range(x.ndim)) else transpose_(x, order)


# ---- broadcasting ----


@accepts_keys(0)
def broadcast_to(
    array: ArrayLike,
    shape: ShapeLike,
    *,
    out_sharding: Any = None,
) -> Array:
    """Broadcast an array to a shape, along new axes in front and axes of length 1.

    Args:
        array: an array or number.
        shape: the lengths of the axes: an integer or a tuple.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of this shape, in the dtype of `array`.

    Raises:
        ShapeError: the array does not broadcast to this shape.

    References:
        NumPy, `numpy.broadcast_to`.

    Example:
        >>> import imprint.numpy as np
        >>> np.broadcast_to(np.arange(3), (2, 3))
        Array([[0, 1, 2],
               [0, 1, 2]], dtype=int32)
    """
    if out_sharding is not None:
        return spread(broadcast_to(array, shape), out_sharding)
    x = as_array("broadcast_to", array)
    wanted = shape_of("broadcast_to", shape)
    if not dims.repeats_to(x.shape, wanted):
        raise ShapeError(
            f"broadcast_to: expected a shape to which {x.aval} can be repeated, got "
            f"{wanted}. From the right, each length must be equal, or 1 in the array."
        )
    return broadcast(x, wanted)


@owned
def broadcast_arrays(*args: ArrayLike) -> tuple[Array, ...]:
    """Broadcast arrays to their common shape.

    Args:
        args: arrays or numbers.

    Returns:
        The arrays, of one shape, each in its own dtype.

    References:
        NumPy, `numpy.broadcast_arrays`.

    Example:
        >>> import imprint.numpy as np
        >>> np.broadcast_arrays(np.arange(2), 5)
        (Array([0, 1], dtype=int32), Array([5, 5], dtype=int32, weak_type=True))
    """
    arrays = [as_array("broadcast_arrays", x) for x in args]
    return tuple(broadcast_all("broadcast_arrays", arrays))


def broadcast_shapes(*shapes: ShapeLike) -> Shape:
    """Return the shape to which arrays of these shapes broadcast.

    Args:
        shapes: tuples of lengths, or single lengths.

    Returns:
        The common shape.

    Raises:
        ShapeError: the shapes do not broadcast together.

    References:
        NumPy, `numpy.broadcast_shapes`.

    Example:
        >>> import imprint.numpy as np
        >>> np.broadcast_shapes((2, 1), (3,), ())
        (2, 3)
    """
    given = [size_tuple("broadcast_shapes", shape) for shape in shapes]
    common = dims.broadcast_shapes(given)
    if common is None or any(map(dims.has_negative, given)):
        raise ShapeError(
            f"broadcast_shapes: expected shapes that broadcast together, got "
            f"{', '.join(map(str, given))}. From the right, lengths must be equal or 1."
        )
    return common


# ---- splitting ----


@accepts_keys(0)
def split(
    ary: ArrayLike, indices_or_sections: int | Sequence[int] | NDArray, axis: int = 0
) -> list[Array]:
    """Split an array into parts along an axis.

    Args:
        ary: an array.
        indices_or_sections: the number of equal parts, or the positions of the cuts.
        axis: the axis to split.

    Returns:
        The parts, in the dtype of `ary`.

    Raises:
        ArgumentError: the number of parts does not divide the length.

    References:
        NumPy, `numpy.split`.

    Example:
        >>> import imprint.numpy as np
        >>> np.split(np.arange(4), 2)
        [Array([0, 1], dtype=int32), Array([2, 3], dtype=int32)]
    """
    return _split("split", ary, indices_or_sections, axis)


@accepts_keys(0)
def array_split(
    ary: ArrayLike, indices_or_sections: int | Sequence[int] | NDArray, axis: int = 0
) -> list[Array]:
    """Split an array along an axis, the first parts longer by one if needed.

    Args:
        ary: an array.
        indices_or_sections: the number of parts, or the positions of the cuts.
        axis: the axis to split.

    Returns:
        The parts, in the dtype of `ary`.

    References:
        NumPy, `numpy.array_split`.

    Example:
        >>> import imprint.numpy as np
        >>> np.array_split(np.arange(3), 2)
        [Array([0, 1], dtype=int32), Array([2], dtype=int32)]
    """
    return _split("array_split", ary, indices_or_sections, axis)


def vsplit(
    ary: ArrayLike, indices_or_sections: int | Sequence[int] | NDArray
) -> list[Array]:
    """Split an array along its first axis; see `split`.

    Args:
        ary: an array.
        indices_or_sections: the number of equal parts, or the positions of the cuts.

    Returns:
        The parts, in the dtype of `ary`.

    References:
        NumPy, `numpy.vsplit`.

    Example:
        >>> import imprint.numpy as np
        >>> np.vsplit(np.array([[1, 2], [3, 4]]), 2)[0]
        Array([[1, 2]], dtype=int32)
    """
    return _split("vsplit", ary, indices_or_sections, 0)


def hsplit(
    ary: ArrayLike, indices_or_sections: int | Sequence[int] | NDArray
) -> list[Array]:
    """Split an array along its second axis, a vector along its first; see `split`.

    Args:
        ary: an array.
        indices_or_sections: the number of equal parts, or the positions of the cuts.

    Returns:
        The parts, in the dtype of `ary`.

    References:
        NumPy, `numpy.hsplit`.

    Example:
        >>> import imprint.numpy as np
        >>> np.hsplit(np.array([[1, 2], [3, 4]]), 2)[0]
        Array([[1],
               [3]], dtype=int32)
    """
    axis = 0 if get_aval(ary).ndim == 1 else 1
    return _split("hsplit", ary, indices_or_sections, axis)


def dsplit(
    ary: ArrayLike, indices_or_sections: int | Sequence[int] | NDArray
) -> list[Array]:
    """Split an array along its third axis; see `split`.

    Args:
        ary: an array of at least three axes.
        indices_or_sections: the number of equal parts, or the positions of the cuts.

    Returns:
        The parts, in the dtype of `ary`.

    References:
        NumPy, `numpy.dsplit`.

    Example:
        >>> import imprint.numpy as np
        >>> np.dsplit(np.ones((2, 2, 4)), 2)[0].shape
        (2, 2, 2)
    """
    return _split("dsplit", ary, indices_or_sections, 2)


@accepts_keys(0)
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Return the parts along an axis, without that axis.

    Args:
        x: an array of at least one axis.
        axis: the axis.

    Returns:
        As many arrays as the axis is long, in the dtype of `x`.

    References:
        NumPy, `numpy.unstack`.

    Example:
        >>> import imprint.numpy as np
        >>> np.unstack(np.array([[1, 2], [3, 4]]))
        (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
    """
    array = as_array("unstack", x)
    at = canonical_axis("unstack", axis, array.ndim)
    count = dims.concrete(array.shape[at], "unstack")
    parts = (slice_in_dim(array, i, i + 1, axis=at) for i in range(count))
    return tuple([squeeze_(part, (at,)) for part in parts])


def _split(name: str, ary: ArrayLike, cuts: Any, axis: int) -> list[Array]:
    x = as_array(name, ary)
    at = canonical_axis(name, axis, x.ndim)
    length = x.shape[at]
    if hasattr(cuts, "__len__") and getattr(cuts, "ndim", 1):
        bounds = [0, *dims.as_shape(cuts), length]
    else:
        bounds = _equal_bounds(name, length, dims.concrete(cuts, name))
    return [slice_in_dim(x, start, stop, axis=at) for start, stop in pairwise(bounds)]


def _equal_bounds(name: str, length: Dim, parts: int) -> list[Dim]:
    if parts < 1 or not (name == "array_split" or dims.divides(parts, length)):
        raise ArgumentError(
            f"{name}: expected a number of parts that divides {length}, got {parts}. "
            "Call array_split for parts of unequal length."
        )
    size, longer = divmod(length, parts)
    return [i * size + dims.minimum(i, longer) for i in range(parts + 1)]
