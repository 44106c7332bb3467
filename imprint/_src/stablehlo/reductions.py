"""Operations that compare or combine elements along axes: reduction, contraction, sorting.

A reduction or a sort takes a region, which sees an element of each operand twice. XLA
sorts without the region where it is one comparison of integers.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from imprint._src.stablehlo.builder import Builder, Region
from imprint._src.stablehlo.types import (
    Value,
    drop_axes,
    list_text,
    names_of,
    signature,
    tensor,
)


def reduce_with(
    b: Builder,
    xs: Sequence[Value],
    inits: Sequence[Value],
    dimensions: Sequence[int],
    body: Region,
) -> tuple[Value, ...]:
    """Reduce several operands together; `body` joins two sets of scalars."""
    outs = [tensor(drop_axes(x.shape, dimensions), x.dtype) for x in xs]
    scalars = [tensor((), x.dtype) for x in xs]
    text, _ = b.region([*scalars, *scalars], body)
    operands = (*xs, *inits)
    head = f'"stablehlo.reduce"({names_of(operands)}) ({text}) '
    attributes = f"{{dimensions = array<i64{_items(dimensions)}>}}"
    return b.ops(head + attributes, outs, signature(operands, outs))


def sum_of(b: Builder, terms: Iterable[Value]) -> Value:
    """Return the elementwise sum of values, which from 0.0 on is never -0.0."""
    total = reduce(b.add, terms)
    if total.dtype.kind in "iu":
        return total
    zero = b.full(total.shape, 0, total.dtype)  # XLA drops an addition of 0.0
    return b.select(b.compare(total, zero, "EQ"), zero, total)


def place_of(b: Builder, x: Value, axis: int, i: int) -> Value:
    """Return the elements at one place of an axis, without the axis."""
    start, limit = [0] * x.ndim, list(x.shape)
    start[axis], limit[axis] = i, i + 1
    part = b.slice(x, start, limit, [1] * x.ndim)
    return b.reshape(part, drop_axes(x.shape, (axis,)))


def dot_general(
    b: Builder,
    x: Value,
    y: Value,
    dimension_numbers: Sequence[tuple[Sequence[int], Sequence[int]]],
    dtype: Any,
    numerics: str,
) -> Value:
    """Contract axes of two operands; batch axes come first in the result.

    Args:
        b: the builder of the function.
        x: the first operand.
        y: the second operand.
        dimension_numbers: the contracting axes of both operands, and the batch axes.
        dtype: the dtype of the result.
        numerics: the attributes `precision = […]` and `algorithm = <…>`.
    """
    contracting, batching = dimension_numbers
    free = [
        tuple(n for i, n in enumerate(v.shape) if i not in (*b, *c))
        for v, b, c in zip((x, y), batching, contracting, strict=True)
    ]
    shape = tuple(x.shape[i] for i in batching[0]) + free[0] + free[1]
    out = tensor(shape, np.dtype(dtype))
    batch = (
        f"batching_dims = {list_text(batching[0])} x {list_text(batching[1])}, "
        if batching[0]
        else ""
    )
    return b.op(
        f"stablehlo.dot_general {x.name}, {y.name}, {batch}"
        f"contracting_dims = {list_text(contracting[0])} x {list_text(contracting[1])}, "
        f"{numerics}",
        out,
        signature((x, y), (out,)),
    )


def sort(
    b: Builder, xs: Sequence[Value], dimension: int, *, is_stable: bool, body: Region
) -> tuple[Value, ...]:
    """Sort several operands together.

    Args:
        b: the builder of the function.
        xs: the operands, of one shape.
        dimension: the axis.
        is_stable: whether equal elements keep their order.
        body: takes two elements of each operand, pair by pair, and returns whether the
            first precedes the second.
    """
    scalars = [tensor((), x.dtype) for x in xs for _ in range(2)]
    text, _ = b.region(scalars, body)
    types = [x.type for x in xs]
    return b.ops(
        f'"stablehlo.sort"({names_of(xs)}) ({text}) '
        f"{{dimension = {dimension} : i64, is_stable = {str(is_stable).lower()}}}",
        types,
        signature(xs, types),
    )


def top_k(b: Builder, x: Value, k: int) -> tuple[Value, ...]:
    """Return the `k` largest elements along the last axis, and their indices."""
    shape = (*x.shape[:-1], k)
    outs = [tensor(shape, x.dtype), tensor(shape, np.dtype(np.int32))]
    return b.ops(
        f"chlo.top_k({x.name}, k = {k})",
        outs,
        f"{x.type} -> ({', '.join(t.text for t in outs)})",
    )


def _items(numbers: Sequence[int]) -> str:
    return f": {', '.join(map(str, numbers))}" if numbers else ""
