"""Ragged dot products: parts of an axis are multiplied by separate factors.

`group_sizes` are the lengths of consecutive parts. The first operand gets a leading
axis of groups; each group holds its part and zeros. Then one product contracts the
groups, or keeps them if the ragged axis is contracted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.primitives.axes import (
    canonical_axes,
    canonical_axis,
    insert,
    int_tuple,
)
from imprint._src.primitives.core_ops import (
    broadcast_in_dim,
    scalar_like,
    sub,
    transpose,
)
from imprint._src.primitives.cumulative import cumsum
from imprint._src.primitives.dot import dot_general
from imprint._src.primitives.elementwise.comparison import ge, lt
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.shape import broadcasted_iota

Ints = tuple[int, ...]


@dataclass(frozen=True)
class RaggedDotDimensionNumbers:
    """The contracted, batch, ragged and group axes of a product.

    Attributes:
        dot_dimension_numbers: those of `dot_general`.
        lhs_ragged_dimensions: the ragged axis of the first operand.
        rhs_group_dimensions: the axis of the second with a factor for each part; none
            if the ragged axis is contracted or a batch axis.
    """

    dot_dimension_numbers: Any
    lhs_ragged_dimensions: Sequence[int]
    rhs_group_dimensions: Sequence[int]

    def __post_init__(self) -> None:
        """Convert the numbers to tuples, so that they compare equal."""
        pairs = tuple(
            tuple(int_tuple(axes) for axes in pair)
            for pair in self.dot_dimension_numbers
        )
        object.__setattr__(self, "dot_dimension_numbers", pairs)
        for name in ("lhs_ragged_dimensions", "rhs_group_dimensions"):
            object.__setattr__(self, name, int_tuple(getattr(self, name)))


_MATRICES = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))


def ragged_dot(  # noqa: PLR0913, PLR0917 - JAX's signature
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Multiply consecutive groups of rows of a matrix by a matrix each.

    Args:
        lhs: of shape `(m, k)`.
        rhs: of shape `(g, k, n)`.
        group_sizes: the number of rows of each group, of shape `(g,)`; further rows
            give 0.
        precision: as for `dot_general`.
        preferred_element_type: as for `dot_general`.
        group_offset: must be None, as in JAX on the CPU.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of shape `(m, n)`, of the dtype of `dot_general`.

    Raises:
        ShapeError: the shapes do not match.
        DTypeError: `group_sizes` are not integers.

    References:
        CHLO, `ragged_dot`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> factors = np.array([[[1.0]], [[10.0]]])
        >>> lax.ragged_dot(np.ones((4, 1)), factors, np.array([1, 2])).ravel()
        Array([ 1., 10., 10.,  0.], dtype=float32)
    """
    if out_sharding is not None:
        return spread(
            ragged_dot(
                lhs, rhs, group_sizes, precision, preferred_element_type, group_offset
            ),
            out_sharding,
        )
    return ragged_dot_general(
        lhs,
        rhs,
        group_sizes,
        _MATRICES,
        precision,
        preferred_element_type,
        group_offset=group_offset,
    )


def ragged_dot_general(  # noqa: PLR0913, PLR0917 - JAX's signature
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Multiply consecutive parts of an axis by separate factors.

    Args:
        lhs: an array with a ragged axis.
        rhs: an array, with an axis of groups if the ragged axis is not contracted.
        group_sizes: the lengths of the parts, of shape `(g,)`; or with leading axes:
            the batch axes of `lhs`, and axes of the same kind before the ragged one.
        ragged_dot_dimension_numbers: the roles of the axes.
        precision: as for `dot_general`.
        preferred_element_type: as for `dot_general`.
        group_offset: must be None, as in JAX on the CPU.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The result of `dot_general`; with a leading axis of groups, if the ragged axis
        is contracted.

    Raises:
        ShapeError: the shapes do not match.
        DTypeError: `group_sizes` are not integers.

    References:
        CHLO, `ragged_dot`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> numbers = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], [])
        >>> x, sizes = np.arange(4.0)[:, None], np.array([1, 3])
        >>> lax.ragged_dot_general(x, x, sizes, numbers).ravel()
        Array([ 0., 14.], dtype=float32)
    """
    if out_sharding is not None:
        return spread(
            ragged_dot_general(
                lhs,
                rhs,
                group_sizes,
                ragged_dot_dimension_numbers,
                precision,
                preferred_element_type,
                group_offset,
            ),
            out_sharding,
        )
    if group_offset is not None:
        raise ArgumentError(
            "ragged_dot: expected no group_offset, got one. Roll group_sizes and rhs."
        )
    x, y, sizes = get_aval(lhs), get_aval(rhs), get_aval(group_sizes)
    numbers = ragged_dot_dimension_numbers
    ((of_x, of_y), (batch_x, batch_y)), ragged, groups = _axes(numbers, x, y)
    rest = tuple(i for i in range(x.ndim) if i not in (*of_x, *batch_x))
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    _check_sizes(sizes)
    if ragged in batch_x:
        _check_groups(groups, 0, numbers)
        return dot_general(lhs, rhs, ((of_x, of_y), (batch_x, batch_y)), **options)
    if ragged in rest:
        _check_groups(groups, 1, numbers)
        outer = (*batch_x, *rest[: rest.index(ragged)])
        if not dims.equal(y.shape[groups[0]], sizes.shape[-1]):
            raise ShapeError(
                f"ragged_dot: expected as many factors as groups, got {y} along axis "
                f"{groups[0]} and group_sizes of {sizes}."
            )
        parts = _in_parts(lhs, group_sizes, ragged, outer)
        sums = ((0, *_later(of_x)), (groups[0], *of_y))
        return dot_general(parts, rhs, (sums, (_later(batch_x), batch_y)), **options)
    _check_groups(groups, 0, numbers)
    at = of_x.index(ragged)
    xs = _in_parts(lhs, group_sizes, ragged, (*batch_x, *of_x[:at]))
    ys = _in_parts(rhs, group_sizes, of_y[at], (*batch_y, *of_y[:at]))
    sums = (_later(of_x), _later(of_y))
    return dot_general(
        xs, ys, (sums, ((0, *_later(batch_x)), (0, *_later(batch_y)))), **options
    )


def _axes(
    numbers: RaggedDotDimensionNumbers, x: ShapedArray, y: ShapedArray
) -> tuple[Any, int, Ints]:
    """Return the axes, counted from 0: of the product, the ragged one, of groups."""
    if len(numbers.lhs_ragged_dimensions) != 1:
        raise ArgumentError(
            "ragged_dot: expected one axis in lhs_ragged_dimensions, got "
            f"{numbers.lhs_ragged_dimensions}."
        )
    ragged = canonical_axis("ragged_dot", numbers.lhs_ragged_dimensions[0], x.ndim)
    groups = canonical_axes("ragged_dot", numbers.rhs_group_dimensions, y.ndim)
    return numbers.dot_dimension_numbers, ragged, groups


def _check_sizes(sizes: ShapedArray) -> None:
    if not dtypes.is_integer(sizes.dtype):
        raise DTypeError(f"ragged_dot: expected integers as group_sizes, got {sizes}.")


def _check_groups(groups: Ints, count: int, numbers: RaggedDotDimensionNumbers) -> None:
    if len(groups) != count:
        wanted = "one axis" if count else "no axis"
        raise ArgumentError(
            f"ragged_dot: expected {wanted} in rhs_group_dimensions where the axis in "
            f"parts is {'not ' * count}contracted or a batch, got {numbers}."
        )


def _later(axes: Ints) -> Ints:
    return tuple(axis + 1 for axis in axes)


def _in_parts(x: Any, sizes: Any, at: int, outer: Ints) -> Any:
    """Return an array for each group, along a new first axis: its part, and zeros.

    Args:
        x: an array.
        sizes: the lengths of the parts, of shape `(g,)`, or with the lengths of some
            axes in front.
        at: the ragged axis.
        outer: those axes.
    """
    aval, of_sizes = get_aval(x), get_aval(sizes)
    wanted = tuple(aval.shape[i] for i in outer)
    if of_sizes.ndim != 1 and not dims.equal_shapes(of_sizes.shape[:-1], wanted):
        raise ShapeError(
            f"ragged_dot: expected group_sizes of shape (g,) or {(*wanted, 'g')}, got "
            f"{of_sizes} for {aval}."
        )
    shape = insert(aval.shape, 0, of_sizes.shape[-1])
    places = (0,) if of_sizes.ndim == 1 else (*_later(outer), 0)
    order = tuple(int(i) for i in numpy.argsort(places))

    def spread(values: Any) -> Any:
        if of_sizes.ndim != 1:
            values = transpose(values, order)
        return broadcast_in_dim(values, shape, tuple(sorted(places)))

    ends = cumsum(sizes, of_sizes.ndim - 1)
    place = broadcasted_iota(of_sizes.dtype, shape, at + 1)
    is_inside = ge(place, spread(sub(ends, sizes))) & lt(place, spread(ends))
    copies = broadcast_in_dim(x, shape, tuple(range(1, aval.ndim + 1)))
    return select_n(is_inside, scalar_like(x, 0), copies)
