"""Application of a function to indexed elements; to an element indexed twice, twice.

The elements are read, the function is applied as often as the most frequent index needs,
and they are written. So it consists of primitives with all rules, where JAX puts the
function inside a scatter, without a derivative.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from imprint._src.control_flow.trace_body import trace_body
from imprint._src.control_flow.while_ import while_loop
from imprint._src.core import dims
from imprint._src.core.aval import Shape, get_aval
from imprint._src.core.trace import Tracer
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import DTypeError
from imprint._src.interpreters.vmap import vmap
from imprint._src.primitives.core_ops import add, full
from imprint._src.primitives.elementwise.comparison import lt
from imprint._src.primitives.elementwise.convert import convert_element_type_p
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.gather import windows_of
from imprint._src.primitives.indexing.scatter import scatter, scatter_add
from imprint._src.primitives.reductions import reduce_max
from imprint._src.primitives.shape import reshape
from imprint._src.primitives.windows.gather_dims import (
    GatherScatterMode,
    ScatterDimensionNumbers,
    mode_of,
)
from imprint._src.tree import internal as tree

_INT32: Final = np.dtype(np.int32)


@filter_traceback
def scatter_apply(  # noqa: PLR0913 - JAX's signature
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Shape = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Any:
    """Apply a function to the elements at some places; to one named twice, twice.

    Args:
        operand: an array.
        scatter_indices: integers; along the last axis, where a window begins.
        func: takes an element, of rank 0, and returns one of its dtype.
        dimension_numbers: which axes belong together, as in `scatter`.
        update_shape: the shape that updates would have.
        indices_are_sorted: the promise that the index vectors are sorted.
        unique_indices: the promise that no two windows overlap.
        mode: as in `scatter`.

    Returns:
        An array of the shape and dtype of `operand`.

    Raises:
        DTypeError: `func` returns another dtype than that of `operand`.

    References:
        JAX, `jax.lax.scatter_apply`.

    Example:
        >>> from imprint import lax, numpy as np
        >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
        >>> twice, once = np.array([[1], [1]]), np.array([[2]])
        >>> x = np.array([2.0, 3.0, 4.0])
        >>> lax.scatter_apply(x, twice, lambda v: v * v, numbers, update_shape=(2,))
        Array([ 2., 81.,  4.], dtype=float32)
    """
    chosen = mode_of("scatter_apply", mode)
    promises: dict[str, Any] = {
        "indices_are_sorted": indices_are_sorted,
        "unique_indices": unique_indices,
        "mode": chosen,
    }
    shape = dims.as_shape(update_shape)

    def windows(x: Any) -> Any:
        return windows_of(x, scatter_indices, shape, dimension_numbers, chosen)

    def applied(x: Any) -> Any:
        return reshape(vmap(func)(reshape(x, (dims.product(shape),))), shape)

    values = windows(operand)
    if unique_indices:
        values = _of_dtype(applied(values), values)
    else:
        zeros = full(get_aval(operand).shape, 0, _INT32)
        ones = full(shape, 1, _INT32)
        count = scatter_add(zeros, scatter_indices, ones, dimension_numbers, **promises)
        values = _repeated(applied, values, windows(count))
    return scatter(operand, scatter_indices, values, dimension_numbers, **promises)


def _repeated(applied: Callable[[Any], Any], values: Any, times: Any) -> Any:
    """Apply a function to each value `times` times."""
    aval = get_aval(values)
    if aval.weak_type:
        values = convert_element_type_p.bind1(
            values, new_dtype=aval.dtype, weak_type=False
        )
    most = reduce_max(times, tuple(range(aval.ndim)))

    def step(turn: Any, x: Any) -> tuple[Any, Any]:
        new = _of_dtype(applied(x), x)
        return add(turn, np.int32(1)), select_n(lt(turn, times), x, new)

    if not isinstance(most, Tracer):
        for turn in range(int(most)):
            _, values = step(np.int32(turn), values)
        return values
    state = [np.int32(0), values]
    in_tree, avals = tree.flatten(tuple(state))[1], [get_aval(x) for x in state]
    goes_on = trace_body(lambda *now: lt(now[0], most), in_tree, avals, "scatter_apply")
    body = trace_body(step, in_tree, avals, "scatter_apply")
    captured = goes_on.captured, body.captured
    return while_loop(goes_on.jaxpr, body.jaxpr, captured, state)[1]


def _of_dtype(new: Any, old: Any) -> Any:
    came, wanted = get_aval(new), get_aval(old)
    if came.dtype != wanted.dtype:
        raise DTypeError(
            f"scatter_apply: expected func to return {wanted.dtype}, as it is given, got "
            f"{came.dtype}. Convert its result with `.astype(...)`."
        )
    return new
