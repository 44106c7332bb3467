"""Operations that bring elements in order: sort, and the largest ones.

What is compared is a region, which sees two elements of each operand. The engine sorts by
code of its own where that is one comparison of integers, and calls the region else.
"""

from collections.abc import Sequence

import numpy as np

from imprint._src.stablehlo.builder import Builder, Region
from imprint._src.stablehlo.types import Value, names_of, signature, tensor


def sort(
    b: Builder, xs: Sequence[Value], dimension: int, *, is_stable: bool, body: Region
) -> tuple[Value, ...]:
    """Sort several operands together.

    Args:
        b: what writes the function.
        xs: the operands, of one shape.
        dimension: the axis.
        is_stable: whether equal elements keep their order.
        body: tells of an element of each operand and another one, pair by pair, whether
            the first lies before the second.
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
