"""Operations on windows at places that are data: gather and scatter.

The last axis of the indices holds index vectors, as everywhere in imprint. The engine
moves the windows that a gather reads inside, and leaves out those that a scatter would
write outside.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from imprint._src.stablehlo.builder import Builder
from imprint._src.stablehlo.types import (
    SIZE,
    TensorType,
    Value,
    is_named,
    list_text,
    names_of,
    signature,
    tensor,
)

_I32: Final = np.dtype(np.int32)


def gather(
    b: Builder,
    operands: Sequence[Value],
    numbers: Sequence[Sequence[int]],
    sizes: Sequence[int],
    shape: Sequence[int],
    *,
    is_sorted: bool,
) -> Value:
    """Read windows, moved inside.

    Args:
        b: the builder of the function.
        operands: an array, and indices, whose last axis says where a window begins.
        numbers: offset, collapsed, indexed axes, and batching axes of both.
        sizes: the sizes of a window.
        shape: that of the result.
        is_sorted: whether the index vectors come in order.
    """
    x, indices = operands
    names = "offset_dims", "collapsed_slice_dims", "start_index_map"
    batching = "operand_batching_dims", "start_indices_batching_dims"
    axes = _axes((*names, *batching), numbers, indices)
    out = tensor(tuple(shape), x.dtype)
    head = f"dimension_numbers = #stablehlo.gather<{axes}>, "
    head += f"indices_are_sorted = {str(is_sorted).lower()}"
    if any(map(is_named, sizes)):
        text = f'"stablehlo.dynamic_gather"({{}}) {{{head}}}'
        return b.dynamic_op(text, [*operands, b.vector(sizes)], out)
    listed = f": {list_text(sizes)[1:-1]}" if sizes else ""
    return b.op(
        f'"stablehlo.gather"({names_of(operands)}) '
        f"{{{head}, slice_sizes = array<i64{listed}>}}",
        out,
        signature(operands, (out,)),
    )


def scatter(
    b: Builder,
    operands: Sequence[Value],
    numbers: Sequence[Sequence[int]],
    join: Callable[[Builder, Value, Value], Value],
    *,
    is_sorted: bool,
    is_unique: bool,
) -> Value:
    """Join windows with elements; those that do not lie within are left out.

    Args:
        b: the builder of the function.
        operands: an array, indices, whose last axis says where a window begins, and
            the windows.
        numbers: window, inserted, indexed axes, and batching axes of both.
        join: writes the join of an element with an element of a window.
        is_sorted: whether the index vectors come in order.
        is_unique: whether no two windows overlap.
    """
    x, indices, _ = operands
    scalar = tensor((), x.dtype)
    text, _ = b.region([scalar, scalar], lambda inner, args: (join(inner, *args),))
    names = "update_window_dims", "inserted_window_dims"
    batching = "input_batching_dims", "scatter_indices_batching_dims"
    named = (*names, "scatter_dims_to_operand_dims", *batching)
    axes = _axes(named, numbers, indices)
    return b.op(
        f'"stablehlo.scatter"({names_of(operands)}) ({text}) '
        f"{{indices_are_sorted = {str(is_sorted).lower()}, "
        f"scatter_dimension_numbers = #stablehlo.scatter<{axes}>, "
        f"unique_indices = {str(is_unique).lower()}}}",
        x.type,
        signature(operands, (x.type,)),
    )


def dynamic_slice(
    b: Builder, x: Value, starts: Sequence[Value], sizes: Sequence[int]
) -> Value:
    """Take `sizes` elements of each axis from traced starts, which are clamped."""
    out = tensor(tuple(sizes), x.dtype)
    if not out.is_static:
        return _sliced_at(b, x, starts, out)
    return b.op(
        f"stablehlo.dynamic_slice {names_of((x, *starts))}, sizes = {list_text(sizes)}",
        out,
        signature((x, *starts), (out,)),
    )


def dynamic_update_slice(
    b: Builder, x: Value, update: Value, starts: Sequence[Value]
) -> Value:
    """Put `update` into `x` at traced starts, which are clamped."""
    return b.op(
        f"stablehlo.dynamic_update_slice {names_of((x, update, *starts))}",
        x.type,
        signature((x, update, *starts), (x.type,)),
    )


def _sliced_at(b: Builder, x: Value, starts: Sequence[Value], out: TensorType) -> Value:
    """Take a part of `x` as large as the result, from starts that are clamped."""
    begins = [
        _moved_inside(b, _as_int32(b, at), n, size)
        for at, n, size in zip(starts, x.shape, out.shape, strict=True)
    ]
    first = _stacked(b, begins)
    # XLA recognizes a slice from traced starts by such a sum as the limit.
    limit = b.add(first, b.vector(out.shape))
    spans = first, limit, b.vector([1] * x.ndim)
    return b.dynamic_op("stablehlo.real_dynamic_slice {}", [x, *spans], out)


def _moved_inside(b: Builder, at: Value, n: Any, size: Any) -> Value:
    last = b.maximum(b.size(n - size), b.size(0))
    above = b.maximum(at, b.size(0))
    return b.minimum(above, last)


def _as_int32(b: Builder, x: Value) -> Value:
    if x.dtype == _I32:
        return x
    return b.dynamic_op("stablehlo.convert {}", [x], SIZE)


def _stacked(b: Builder, numbers: Sequence[Value]) -> Value:
    one = tensor((1,), _I32)
    parts = [b.dynamic_op("stablehlo.reshape {}", [x], one) for x in numbers]
    out = tensor((len(parts),), _I32)
    return b.dynamic_op("stablehlo.concatenate {}, dim = 0", parts, out)


def _axes(
    names: Sequence[str], numbers: Sequence[Sequence[int]], indices: Value
) -> str:
    """Return dimension numbers, of which empty ones are left out, in StableHLO's order."""
    named = dict(zip(names, numbers, strict=True))
    order = (*names[:2], *names[3:], names[2])
    listed = [f"{name} = {list_text(named[name])}" for name in order if named[name]]
    return ", ".join([*listed, f"index_vector_dim = {indices.ndim - 1}"])
