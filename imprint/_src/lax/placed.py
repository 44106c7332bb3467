"""Functions of one primitive that take the sharding of their result.

Code of imprint calls those of `primitives`, which have no such parameter.
"""

from collections.abc import Sequence
from typing import Any

from imprint._src.core.dims import Dim
from imprint._src.eager.spread import spread
from imprint._src.primitives import dot, shape


def reshape(
    operand: Any,
    new_sizes: Dim | Sequence[Dim],
    dimensions: Sequence[int] | None = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Return the elements of `operand`, in row-major order, in an array of `new_sizes`.

    Args:
        operand: an array.
        new_sizes: the lengths of the axes of the result; their product is its size.
        dimensions: the order in which the axes of `operand` are read, if not 0, 1, 2, …
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of the same dtype and that shape.

    References:
        StableHLO, `reshape`.
    """
    out = shape.reshape(operand, new_sizes, dimensions)
    return out if out_sharding is None else spread(out, out_sharding)


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Sequence[Sequence[Sequence[int]]],
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Contract axes of `lhs` and `rhs`.

    Args:
        lhs: an array.
        rhs: an array.
        dimension_numbers: ((contracting axes of `lhs`, of `rhs`), (batch axes of `lhs`,
            of `rhs`)).
        precision: a `Precision` or its name, a pair of these, or the name of an
            algorithm; None for `config.default_matmul_precision`.
        preferred_element_type: the dtype in which terms are added and given back.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of the batch axes, the remaining axes of `lhs`, and those of `rhs`. Its
        dtype is `preferred_element_type`, or that of the operands, of two the wider
        one.

    References:
        StableHLO, `dot_general`.
    """
    out = dot.dot_general(
        lhs, rhs, dimension_numbers, precision, preferred_element_type
    )
    return out if out_sharding is None else spread(out, out_sharding)


def broadcasted_iota(
    dtype: Any, shape: Sequence[Dim], dimension: int, *, out_sharding: Any = None
) -> Any:
    """Return an array of `shape` that counts 0, 1, 2, … along `dimension`.

    Args:
        dtype: the dtype of the numbers.
        shape: the shape.
        dimension: the axis.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of that dtype and shape.

    References:
        StableHLO, `iota`.
    """
    out = _iota(dtype, shape, dimension)
    return out if out_sharding is None else spread(out, out_sharding)


_iota = shape.broadcasted_iota
