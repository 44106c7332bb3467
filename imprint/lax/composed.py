"""JAX's small compositions of one or two primitives: parts along one axis, products, fills.

Their arguments and defaults are JAX's, so programs written with `jax.lax` read the same.
"""

from collections.abc import Sequence
from typing import Any

from imprint import dtypes
from imprint.core import dims
from imprint.core.aval import get_aval
from imprint.core.dims import Dim
from imprint.dtypes import DTypeLike
from imprint.errors import ShapeError
from imprint.primitives import basis
from imprint.primitives.arithmetic import integer_pow
from imprint.primitives.axes import canonical_axis
from imprint.primitives.convert import convert_element_type
from imprint.primitives.dot import dot_general
from imprint.primitives.dynamic_slicing import dynamic_slice, dynamic_update_slice
from imprint.primitives.select import select_n
from imprint.primitives.shape import expand_dims, reshape, squeeze
from imprint.primitives.slicing import slice_in_dim

# ---- parts along one axis ----


def index_in_dim(
    operand: Any,
    index: Dim,
    axis: int = 0,
    keepdims: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
) -> Any:
    """Take one element of an axis, at a static index."""
    shape = get_aval(operand).shape
    at = canonical_axis("index_in_dim", axis, len(shape))
    length = shape[at]
    first = dims.element(dims.as_dim(index), length)
    if first is None:
        raise ShapeError(
            f"index_in_dim: expected an index in [{-length}, {length}) for axis {at} of "
            f"{get_aval(operand)}, got {index}. Check it against the shape."
        )
    part = slice_in_dim(operand, first, first + 1, axis=at)
    return part if keepdims else squeeze(part, (at,))


def dynamic_slice_in_dim(
    operand: Any, start_index: Any, slice_size: Dim, axis: int = 0
) -> Any:
    """Take `slice_size` elements of an axis, at a start that may be traced.

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
    return dynamic_slice(operand, starts, sizes)


def dynamic_index_in_dim(
    operand: Any,
    index: Any,
    axis: int = 0,
    keepdims: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
) -> Any:
    """Take one element of an axis, at an index that may be traced."""
    part = dynamic_slice_in_dim(operand, index, 1, axis)
    return part if keepdims else squeeze(part, (axis,))


def dynamic_update_slice_in_dim(
    operand: Any, update: Any, start_index: Any, axis: int
) -> Any:
    """Replace elements of an axis, from a start that may be traced."""
    aval = get_aval(operand)
    starts: list[Any] = [0] * aval.ndim
    starts[canonical_axis("dynamic_update_slice_in_dim", axis, aval.ndim)] = start_index
    return dynamic_update_slice(operand, update, starts)


def dynamic_update_index_in_dim(
    operand: Any, update: Any, index: Any, axis: int
) -> Any:
    """Replace one element of an axis, at an index that may be traced."""
    aval, part = get_aval(operand), update
    at = canonical_axis("dynamic_update_index_in_dim", axis, aval.ndim)
    if get_aval(part).ndim != aval.ndim:
        part = expand_dims(part, (at,))
    return dynamic_update_slice_in_dim(operand, part, index, at)


# ---- fills and shapes ----


def full(shape: Sequence[Dim], fill_value: Any, dtype: DTypeLike | None = None) -> Any:
    """Return an array with all elements equal.

    Example:
        >>> from imprint import lax
        >>> lax.full((2,), 1.5)
        Array([1.5, 1.5], dtype=float32, weak_type=True)
    """
    value = fill_value
    if dtype is not None:
        value = convert_element_type(fill_value, dtypes.requested(dtype, "full"))
    return basis.broadcast_in_dim(value, dims.as_shape(shape), ())


def full_like(
    x: Any,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    shape: Sequence[Dim] | None = None,
) -> Any:
    """Return an array with all elements equal, of the shape and dtype of another."""
    aval = get_aval(x)
    wanted = aval.dtype if dtype is None else dtypes.requested(dtype, "full_like")
    value = convert_element_type(
        fill_value, wanted, weak_type=aval.weak_type and dtype is None
    )
    sizes = aval.shape if shape is None else dims.as_shape(shape)
    return basis.broadcast_in_dim(value, sizes, ())


def broadcast(operand: Any, sizes: Sequence[Dim]) -> Any:
    """Repeat an array along new axes in front."""
    own, new = get_aval(operand).shape, dims.as_shape(sizes)
    kept = tuple(range(len(new), len(new) + len(own)))
    return basis.broadcast_in_dim(operand, (*new, *own), kept)


def collapse(
    operand: Any, start_dimension: int, stop_dimension: int | None = None
) -> Any:
    """Merge neighbouring axes into one."""
    shape = get_aval(operand).shape
    start, stop, _ = slice(start_dimension, stop_dimension).indices(len(shape))
    merged = dims.product(shape[start:stop])
    return reshape(operand, (*shape[:start], merged, *shape[stop:]))


# ---- choosing, products ----


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Return `on_true` where `pred` holds and `on_false` elsewhere, elementwise."""
    return select_n(pred, on_false, on_true)


def reciprocal(x: Any) -> Any:
    """Return `1 / x`, elementwise."""
    return integer_pow(x, -1)


def dot(
    lhs: Any,
    rhs: Any,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Any:
    """Contract the last axis of `lhs` with the first of `rhs`; both have one or two."""
    x, y = get_aval(lhs), get_aval(rhs)
    fits = 1 <= x.ndim <= 2 and 1 <= y.ndim <= 2
    if not fits or not dims.equal(x.shape[-1], y.shape[0]):
        raise ShapeError(
            "dot: expected vectors or matrices whose last and first axes have one "
            f"length, got {x} and {y}. For other products call imprint.lax.dot_general."
        )
    contracted = ((x.ndim - 1,), (0,))
    return dot_general(
        lhs, rhs, (contracted, ((), ())), precision, preferred_element_type
    )


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """Multiply stacks of matrices, which have equal leading axes."""
    rank = get_aval(lhs).ndim
    stack = tuple(range(rank - 2))
    return dot_general(
        lhs, rhs, (((rank - 1,), (rank - 2,)), (stack, stack)), precision
    )
