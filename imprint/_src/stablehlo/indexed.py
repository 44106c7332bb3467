"""Operations on windows at places that are data: gather and scatter.

The last axis of the indices holds index vectors, as everywhere in imprint. The engine
moves the windows that a gather reads inside, and leaves out those that a scatter would
write outside.
"""

from collections.abc import Callable, Sequence

from imprint._src.stablehlo.builder import Builder
from imprint._src.stablehlo.sized import is_named
from imprint._src.stablehlo.types import Value, list_text, names_of, signature, tensor


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
        b: what writes the function.
        operands: an array, and indices, whose last axis says where a window begins.
        numbers: offset, collapsed, indexed axes, and batching axes of both.
        sizes: those of a window.
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
        return b.taking(text, [*operands, b.vector(sizes)], out)
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
        b: what writes the function.
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


def _axes(
    names: Sequence[str], numbers: Sequence[Sequence[int]], indices: Value
) -> str:
    """Return dimension numbers, of which empty ones are left out, in StableHLO's order."""
    named = dict(zip(names, numbers, strict=True))
    order = (*names[:2], *names[3:], names[2])
    listed = [f"{name} = {list_text(named[name])}" for name in order if named[name]]
    return ", ".join([*listed, f"index_vector_dim = {indices.ndim - 1}"])
