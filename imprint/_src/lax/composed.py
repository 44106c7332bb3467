"""Functions composed of one or two primitives: slices along an axis, products, fills.

Arguments and defaults are JAX's, so programs with `jax.lax` are unchanged.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, cast

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.aval import DType, Shape, get_aval
from imprint._src.core.dims import Dim
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.spread import spread
from imprint._src.errors import AxisError, ShapeError
from imprint._src.interpreters.keys import accepts_keys
from imprint._src.primitives import core_ops
from imprint._src.primitives.axes import canonical_axis, int_tuple
from imprint._src.primitives.dot import dot_general
from imprint._src.primitives.elementwise.arithmetic import integer_pow
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.dynamic_slicing import (
    dynamic_slice,
    dynamic_update_slice,
)
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.shape import expand_dims, reshape, squeeze

# ---- slices along an axis ----


def index_in_dim(
    operand: Any,
    index: Dim,
    axis: int = 0,
    keepdims: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
) -> Any:
    """Take one element of an axis, at a static index.

    Args:
        operand: an array.
        index: the index; a negative one counts from the end.
        axis: the axis; a negative one counts from the end.
        keepdims: whether to keep the axis with length 1.

    Returns:
        An array of the dtype of `operand`.

    Raises:
        AxisError: the index is out of range.

    References:
        StableHLO, `slice`.
    """
    shape = get_aval(operand).shape
    at = canonical_axis("index_in_dim", axis, len(shape))
    length = shape[at]
    first = dims.element(dims.as_dim(index), length)
    if first is None:
        raise AxisError(
            f"index_in_dim: expected an index in [{-length}, {length}) for axis {at} of "
            f"{get_aval(operand)}, got {index}. Check it against the shape."
        )
    part = slice_in_dim(operand, first, first + 1, axis=at)
    return part if keepdims else squeeze(part, (at,))


def dynamic_slice_in_dim(
    operand: Any,
    start_index: Any,
    slice_size: Dim,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """Take `slice_size` elements of an axis, at a start that may be traced.

    Args:
        operand: an array.
        start_index: the first index, an integer of rank 0; one from which the part
            would leave the array is moved.
        slice_size: the number of elements, at most the length of the axis.
        axis: the axis; a negative one counts from the end.
        allow_negative_indices: whether a negative index counts from the end. If not,
            one known while tracing raises and others are 0.

    Returns:
        An array of the dtype of `operand` with `slice_size` elements along the axis;
        the other axes stay whole.

    References:
        StableHLO, `dynamic_slice`.

    Example:
        >>> from imprint import lax, numpy as np
        >>> lax.dynamic_slice_in_dim(np.arange(5), 1, 3)
        Array([1, 2, 3], dtype=int32)
    """
    aval = get_aval(operand)
    at = canonical_axis("dynamic_slice_in_dim", axis, aval.ndim)
    starts: list[Any] = [0] * aval.ndim
    starts[at] = start_index
    sizes = list(aval.shape)
    sizes[at] = dims.as_dim(slice_size)
    return dynamic_slice(
        operand, starts, sizes, allow_negative_indices=allow_negative_indices
    )


def dynamic_index_in_dim(
    operand: Any,
    index: Any,
    axis: int = 0,
    keepdims: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """Take one element of an axis, at an index that may be traced.

    Args:
        operand: an array.
        index: the index, an integer of rank 0; one out of range is clipped.
        axis: the axis; a negative one counts from the end.
        keepdims: whether to keep the axis with length 1.
        allow_negative_indices: whether a negative index counts from the end. If not,
            one known while tracing raises and others are 0.

    Returns:
        An array of the dtype of `operand`.

    References:
        StableHLO, `dynamic_slice`.
    """
    part = dynamic_slice_in_dim(
        operand, index, 1, axis, allow_negative_indices=allow_negative_indices
    )
    return part if keepdims else squeeze(part, (axis,))


def dynamic_update_slice_in_dim(
    operand: Any,
    update: Any,
    start_index: Any,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """Replace elements of an axis, from a start that may be traced.

    Args:
        operand: an array.
        update: an array of the same dtype and rank, in no axis longer.
        start_index: the first index, an integer of rank 0; one from which the update
            would leave the array is moved.
        axis: the axis; a negative one counts from the end.
        allow_negative_indices: whether a negative index counts from the end. If not,
            one known while tracing raises and others are 0.

    Returns:
        An array of the shape and dtype of `operand`.

    References:
        StableHLO, `dynamic_update_slice`.
    """
    aval = get_aval(operand)
    starts: list[Any] = [0] * aval.ndim
    starts[canonical_axis("dynamic_update_slice_in_dim", axis, aval.ndim)] = start_index
    return dynamic_update_slice(
        operand, update, starts, allow_negative_indices=allow_negative_indices
    )


def dynamic_update_index_in_dim(
    operand: Any,
    update: Any,
    index: Any,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """Replace one element of an axis, at an index that may be traced.

    Args:
        operand: an array.
        update: an array of the same dtype, without the axis or with length 1 along it.
        index: the index, an integer of rank 0; one out of range is clipped.
        axis: the axis; a negative one counts from the end.
        allow_negative_indices: whether a negative index counts from the end. If not,
            one known while tracing raises and others are 0.

    Returns:
        An array of the shape and dtype of `operand`.

    References:
        StableHLO, `dynamic_update_slice`.
    """
    aval, part = get_aval(operand), update
    at = canonical_axis("dynamic_update_index_in_dim", axis, aval.ndim)
    if get_aval(part).ndim != aval.ndim:
        part = expand_dims(part, (at,))
    return dynamic_update_slice_in_dim(
        operand, part, index, at, allow_negative_indices=allow_negative_indices
    )


def split(operand: Any, sizes: Sequence[Dim], axis: int = 0) -> list[Any]:
    """Cut an array into parts of these lengths along an axis.

    Args:
        operand: an array.
        sizes: the lengths of the parts, which add up to that of the axis.
        axis: the axis; a negative one counts from the end.

    Returns:
        The parts, with the dtype of `operand`.

    Raises:
        ShapeError: the lengths do not add up.

    References:
        JAX, `jax.lax.split`.

    Example:
        >>> from imprint import lax, numpy as np
        >>> lax.split(np.arange(3), (1, 2))
        [Array([0], dtype=int32), Array([1, 2], dtype=int32)]
    """
    aval = get_aval(operand)
    at = canonical_axis("split", axis, aval.ndim)
    lengths = dims.as_shape(sizes)
    ends = tuple(accumulate(lengths, initial=0))
    if dims.has_negative(lengths) or not dims.equal(ends[-1], aval.shape[at]):
        raise ShapeError(
            f"split: expected lengths that add up to {aval.shape[at]}, that of axis "
            f"{at} of {aval}, got {lengths}. The parts are the whole array."
        )
    return [
        slice_in_dim(operand, start, stop, axis=at) for start, stop in pairwise(ends)
    ]


def stack(operands: Sequence[Any], axis: int = 0) -> Any:
    """Join arrays of one shape and dtype along a new axis.

    Args:
        operands: arrays of one shape and dtype.
        axis: the position of the new axis; a negative one counts from the end of the
            result.

    Returns:
        An array of the same dtype, with an axis of as many elements as arrays.

    Raises:
        ShapeError: there is no array.

    References:
        NumPy, `numpy.stack`; StableHLO, `concatenate`.
    """
    if not operands:
        raise ShapeError("stack: expected at least one array, got none.")
    at = canonical_axis("stack", axis, get_aval(operands[0]).ndim + 1)
    return concatenate([expand_dims(x, (at,)) for x in operands], at)


def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    """Return the parts along an axis, without that axis.

    Args:
        x: an array.
        axis: the axis; a negative one counts from the end.

    Returns:
        A tuple of arrays of one rank less, with the dtype of `x`.

    References:
        NumPy, `numpy.unstack`.
    """
    aval = get_aval(x)
    at = canonical_axis("unstack", axis, aval.ndim)
    count = dims.concrete(aval.shape[at], "unstack")
    return tuple([index_in_dim(x, i, at, keepdims=False) for i in range(count)])


# ---- fills and shapes ----


def full(
    shape: Dim | Sequence[Dim],
    fill_value: Any,
    dtype: DTypeLike | None = None,
    *,
    sharding: Any = None,
) -> Any:
    """Return an array with all elements equal.

    Args:
        shape: a length, or a sequence of lengths.
        fill_value: a number of rank 0.
        dtype: the dtype; None for that of `fill_value`.
        sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of that shape and dtype.

    References:
        NumPy, `numpy.full`.

    Example:
        >>> from imprint import lax
        >>> lax.full((2,), 1.5)
        Array([1.5, 1.5], dtype=float32, weak_type=True)
    """
    if sharding is not None:
        return spread(full(shape, fill_value, dtype), sharding)
    value = fill_value
    if dtype is not None:
        value = convert_element_type(fill_value, dtypes.requested(dtype, "full"))
    return core_ops.broadcast_in_dim(value, _shape(shape), ())


def _shape(shape: Any) -> Shape:
    return dims.as_shape(
        cast("Any", shape) if isinstance(shape, Iterable) else (shape,)
    )


def empty(
    shape: Dim | Sequence[Dim],
    dtype: DTypeLike,
    *,
    out_sharding: Any = None,
) -> Any:
    """Return an array of unspecified values (zeros).

    Args:
        shape: a length, or a sequence of lengths.
        dtype: the dtype.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of that shape and dtype.

    References:
        NumPy, `numpy.empty`.
    """
    if out_sharding is not None:
        return spread(empty(shape, dtype), out_sharding)
    return full(shape, 0, dtype)


def full_like(
    x: Any,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    shape: Sequence[Dim] | None = None,
    sharding: Any = None,
) -> Any:
    """Return an array with all elements equal, with the shape and dtype of another.

    Args:
        x: an array or number.
        fill_value: a number of rank 0.
        dtype: the dtype; None for that of `x`.
        shape: the shape; None for that of `x`.
        sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of that shape and dtype.

    References:
        NumPy, `numpy.full_like`.
    """
    if sharding is not None:
        return spread(full_like(x, fill_value, dtype, shape), sharding)
    aval = get_aval(x)
    wanted = aval.dtype if dtype is None else dtypes.requested(dtype, "full_like")
    value = convert_element_type(
        fill_value, wanted, weak_type=aval.weak_type and dtype is None
    )
    sizes = aval.shape if shape is None else _shape(shape)
    return core_ops.broadcast_in_dim(value, sizes, ())


def broadcast(
    operand: Any,
    sizes: Sequence[Dim],
    *,
    out_sharding: Any = None,
) -> Any:
    """Broadcast an array along new axes in front.

    Args:
        operand: an array.
        sizes: the lengths of the new axes.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of the same dtype and the shape `(*sizes, *operand.shape)`.

    References:
        StableHLO, `broadcast_in_dim`.
    """
    if out_sharding is not None:
        return spread(broadcast(operand, sizes), out_sharding)
    own, new = get_aval(operand).shape, dims.as_shape(sizes)
    kept = tuple(range(len(new), len(new) + len(own)))
    return core_ops.broadcast_in_dim(operand, (*new, *own), kept)


def broadcast_in_dim(
    operand: Any,
    shape: Sequence[Dim],
    broadcast_dimensions: Sequence[int],
    *,
    out_sharding: Any = None,
) -> Any:
    """Broadcast an array to a shape; its axis i becomes `broadcast_dimensions[i]`.

    Args:
        operand: an array.
        shape: the shape of the result.
        broadcast_dimensions: increasing axes of the result, one for each axis of
            `operand`, which has the same length there or 1.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of the same dtype and that shape.

    References:
        StableHLO, `broadcast_in_dim`.
    """
    if out_sharding is not None:
        return spread(
            broadcast_in_dim(operand, shape, broadcast_dimensions), out_sharding
        )
    axes = int_tuple(broadcast_dimensions)
    return core_ops.broadcast_in_dim(operand, dims.as_shape(shape), axes)


def broadcast_like(arr: Any, like_arr: Any) -> Any:
    """Broadcast an array to the shape of another, by NumPy's rule.

    Args:
        arr: an array.
        like_arr: an array, of which only the shape is used.

    Returns:
        An array of the dtype of `arr` and the shape of `like_arr`.

    Raises:
        ShapeError: the first shape does not broadcast to the second.

    References:
        NumPy, `numpy.broadcast_to`.
    """
    own, wanted = get_aval(arr).shape, get_aval(like_arr).shape
    if not dims.repeats_to(own, wanted):
        raise ShapeError(
            f"broadcast_like: expected a shape to which {get_aval(arr)} can be repeated, "
            f"got {wanted}. From the right, lengths must be equal, or 1 in the array."
        )
    lead = len(wanted) - len(own)
    return core_ops.broadcast_in_dim(arr, wanted, tuple(range(lead, len(wanted))))


def broadcast_to_rank(x: Any, rank: int) -> Any:
    """Insert axes of length 1 in front, up to `rank`.

    Args:
        x: an array.
        rank: the number of axes of the result; if `x` has as many or more, it stays.

    Returns:
        An array of the same dtype and elements.

    References:
        JAX, `jax.lax.broadcast_to_rank`.
    """
    return broadcast(x, (1,) * (rank - get_aval(x).ndim))


def broadcast_shapes(*shapes: Sequence[Dim]) -> Shape:
    """Return the shape to which shapes broadcast, by NumPy's rule.

    Args:
        shapes: sequences of lengths.

    Returns:
        The common shape, a tuple; `()` without arguments.

    Raises:
        ShapeError: the shapes do not broadcast together.

    References:
        NumPy, `numpy.broadcast_shapes`.

    Example:
        >>> from imprint import lax
        >>> lax.broadcast_shapes((2, 1), (3,))
        (2, 3)
    """
    given = [dims.as_shape(shape) for shape in shapes]
    shape = dims.broadcast_shapes(given)
    if shape is None or any(map(dims.has_negative, given)):
        raise ShapeError(
            "broadcast_shapes: expected shapes that broadcast together, got "
            f"{', '.join(map(str, given))}. From the right, lengths must be equal or 1."
        )
    return shape


def tile(operand: Any, reps: Sequence[Dim]) -> Any:
    """Repeat a whole array along each of its axes.

    Args:
        operand: an array.
        reps: how often to repeat it along each axis.

    Returns:
        An array of the same dtype; each length is multiplied.

    Raises:
        ShapeError: `reps` is negative or not one number for each axis.

    References:
        NumPy, `numpy.tile`.
    """
    shape, times = get_aval(operand).shape, dims.as_shape(reps)
    if len(times) != len(shape) or dims.has_negative(times):
        raise ShapeError(
            f"tile: expected a number of at least 0 for each axis of "
            f"{get_aval(operand)}, got {times}. Expand the array to as many axes first."
        )
    pairs = tuple(n for pair in zip(times, shape, strict=True) for n in pair)
    kept = tuple(range(1, len(pairs), 2))
    sizes = tuple(k * n for k, n in zip(times, shape, strict=True))
    return reshape(core_ops.broadcast_in_dim(operand, pairs, kept), sizes)


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """Permute axes: axis i of the result is axis `permutation[i]` of the array.

    Args:
        operand: an array.
        permutation: the axes from 0, each once.

    Returns:
        An array of the same dtype and elements.

    References:
        StableHLO, `transpose`.
    """
    return core_ops.transpose(operand, int_tuple(permutation))


def collapse(
    operand: Any, start_dimension: int, stop_dimension: int | None = None
) -> Any:
    """Merge neighbouring axes into one.

    Args:
        operand: an array.
        start_dimension: the first axis to merge; a negative one counts from the end.
        stop_dimension: the end, excluded; None for all further axes.

    Returns:
        An array of the same dtype and elements, in row-major order.

    References:
        JAX, `jax.lax.collapse`.
    """
    shape = get_aval(operand).shape
    start, stop, _ = slice(start_dimension, stop_dimension).indices(len(shape))
    merged = dims.product(shape[start:stop])
    return reshape(operand, (*shape[:start], merged, *shape[stop:]))


# ---- selection, products ----


@accepts_keys(1, 2)
def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Return `on_true` where `pred` is true, else `on_false`, elementwise.

    Args:
        pred: booleans, of the shape of the cases or of rank 0.
        on_true: an array.
        on_false: an array of the same shape and dtype.

    Returns:
        An array of that shape and dtype.

    References:
        StableHLO, `select`.
    """
    return select_n(pred, on_false, on_true)


def reciprocal(x: Any) -> Any:
    """Return `1 / x`, elementwise.

    Args:
        x: floats or complex numbers.

    Returns:
        An array of the dtype and shape of `x`; inf for 0.

    References:
        JAX, `jax.lax.reciprocal`.
    """
    return integer_pow(x, -1)


def dot(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Any:
    """Contract the last axis of `lhs` with the first of `rhs`; both have one or two.

    With `dimension_numbers` it is `dot_general`.

    Args:
        lhs: a vector or matrix.
        rhs: a vector or matrix.
        dimension_numbers: None, or as for `dot_general`.
        precision: as for `dot_general`.
        preferred_element_type: as for `dot_general`.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        The product, of the remaining axes of `lhs` and `rhs`; its dtype is that of
        `dot_general`.

    Raises:
        ShapeError: ranks or lengths do not match.

    References:
        StableHLO, `dot_general`.
    """
    if out_sharding is not None:
        return spread(
            dot(
                lhs,
                rhs,
                dimension_numbers=dimension_numbers,
                precision=precision,
                preferred_element_type=preferred_element_type,
            ),
            out_sharding,
        )
    x, y = get_aval(lhs), get_aval(rhs)
    fits = 1 <= x.ndim <= 2 and 1 <= y.ndim <= 2
    if dimension_numbers is not None:
        contracted = dimension_numbers
    elif fits and dims.equal(x.shape[-1], y.shape[0]):
        contracted = (((x.ndim - 1,), (0,)), ((), ()))
    else:
        raise ShapeError(
            "dot: expected vectors or matrices whose last and first axes have one "
            f"length, got {x} and {y}. For other products call imprint.lax.dot_general."
        )
    return dot_general(lhs, rhs, contracted, precision, preferred_element_type)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """Multiply stacks of matrices with equal leading axes.

    Args:
        lhs: an array of shape `(*batch, m, k)`.
        rhs: an array of shape `(*batch, k, n)`.
        precision: as for `dot_general`.

    Returns:
        An array of shape `(*batch, m, n)`.

    References:
        StableHLO, `dot_general`.
    """
    rank = get_aval(lhs).ndim
    stack = tuple(range(rank - 2))
    return dot_general(
        lhs, rhs, (((rank - 1,), (rank - 2,)), (stack, stack)), precision
    )


# ---- reductions, dtypes ----


def reduce_sum(
    operand: Any,
    axes: Sequence[int],
    *,
    out_sharding: Any = None,
) -> Any:
    """Sum the elements over `axes`, which are counted from 0.

    Args:
        operand: an array of numbers.
        axes: distinct axes, counted from 0.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of the same dtype without `axes`; integers wrap around. Without
        elements it is 0.

    References:
        StableHLO, `reduce`.
    """
    if out_sharding is not None:
        return spread(reduce_sum(operand, axes), out_sharding)
    return core_ops.reduce_sum(operand, int_tuple(axes))


def dtype(x: Any) -> DType:
    """Return the dtype of an array, a dtype or a scalar type.

    Args:
        x: an array, number, dtype or name of a dtype; None for the default float.

    Returns:
        The dtype; 64 bits become 32 unless `enable_x64` is set.

    Raises:
        DTypeError: `x` has no dtype.

    References:
        JAX, `jax.lax.dtype`.
    """
    try:
        return get_aval(x).dtype
    except TypeError:
        return dtypes.requested(x, "dtype")
