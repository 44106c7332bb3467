"""Made of gathers and scatters: elements by index arrays, and a function at places.

The primitives are in `imprint.primitives.gather` and `scatter`, under the same names; how
NumPy's indexing becomes them is in `imprint.numpy`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from imprint.core import dims
from imprint.core.aval import Shape, get_aval
from imprint.core.folding import folding
from imprint.core.trace import Tracer
from imprint.errors import ArgumentError, DTypeError
from imprint.lax.loops import while_loop
from imprint.primitives.arithmetic import rem
from imprint.primitives.axes import canonical_axes
from imprint.primitives.basis import add, broadcast_in_dim, full
from imprint.primitives.comparison import lt
from imprint.primitives.gather import gather, windows_of
from imprint.primitives.reductions import reduce_max
from imprint.primitives.scatter import scatter, scatter_add
from imprint.primitives.select import select_n
from imprint.primitives.shape import expand_dims, reshape
from imprint.primitives.slicing import concatenate
from imprint.primitives.windows_at import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    mode_of,
)
from imprint.transforms.vmap import vmap

_INT32: Final = np.dtype(np.int32)


@folding
def index_take(src: Any, idxs: Sequence[Any], axes: Sequence[int]) -> Any:
    """Take elements by an index array for each of some axes, which must increase.

    Args:
        src: an array.
        idxs: vectors of integers of one length and dtype; one beyond the axis begins
            anew, and a negative one counts from the end.
        axes: the axis that each counts in; they disappear, and the vectors' comes first.

    Example:
        >>> from imprint import lax, numpy as np
        >>> x = np.arange(6).reshape(2, 3)
        >>> lax.index_take(x, [np.array([0, 1, 2]), np.array([2, -1, 3])], (0, 1))
        Array([2, 5, 0], dtype=int32)
    """
    aval = get_aval(src)
    at = canonical_axes("index_take", axes, aval.ndim)
    if not idxs or len(idxs) != len(at) or any(get_aval(i).ndim != 1 for i in idxs):
        listed = ", ".join([str(get_aval(i)) for i in idxs])
        raise ArgumentError(
            f"index_take: expected a vector of indices for each of the axes {at}, at "
            f"least one, got ({listed}) for {aval}. Give as many as axes."
        )
    indices = concatenate([expand_dims(i, (1,)) for i in idxs], 1)
    lengths = [dims.concrete(aval.shape[axis], "index_take") for axis in at]
    vector = np.array(lengths, get_aval(indices).dtype)
    period = broadcast_in_dim(vector, get_aval(indices).shape, (1,))
    indices = rem(indices, period)
    negative = lt(indices, np.zeros((), vector.dtype)[()])
    indices = select_n(negative, indices, add(indices, period))
    numbers = GatherDimensionNumbers(tuple(range(1, aval.ndim - len(at) + 1)), at, at)
    sizes = [1 if i in at else n for i, n in enumerate(aval.shape)]
    return gather(src, indices, numbers, sizes)


@folding
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
        indices_are_sorted: the promise that the index vectors come in order.
        unique_indices: the promise that no two windows overlap.
        mode: as in `scatter`.

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
    """Apply a function to each value so many times."""
    most = reduce_max(times, tuple(range(get_aval(times).ndim)))

    def step(state: tuple[Any, Any]) -> tuple[Any, Any]:
        turn, x = state
        new = _of_dtype(applied(x), x)
        return add(turn, np.int32(1)), select_n(lt(turn, times), x, new)

    if isinstance(most, Tracer):
        return while_loop(
            lambda state: lt(state[0], most), step, (np.int32(0), values)
        )[1]
    for turn in range(int(most)):
        _, values = step((np.int32(turn), values))
    return values


def _of_dtype(new: Any, old: Any) -> Any:
    came, wanted = get_aval(new), get_aval(old)
    if came.dtype != wanted.dtype:
        raise DTypeError(
            f"scatter_apply: expected func to return {wanted.dtype}, as it is given, got "
            f"{came.dtype}. Convert its result with `.astype(...)`."
        )
    return new
