"""`index_take`: elements by an index array for each of some axes.

The gather and scatter primitives are in `imprint._src.primitives.indexing`; NumPy's
indexing is in `imprint.numpy`.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import get_aval
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ArgumentError
from imprint._src.primitives.axes import canonical_axes
from imprint._src.primitives.core_ops import add, broadcast_in_dim
from imprint._src.primitives.elementwise.arithmetic import rem
from imprint._src.primitives.elementwise.comparison import lt
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.gather import gather
from imprint._src.primitives.indexing.slicing import concatenate
from imprint._src.primitives.shape import expand_dims
from imprint._src.primitives.windows.gather_dims import GatherDimensionNumbers

_INT32: Final = np.dtype(np.int32)


@filter_traceback
def index_take(src: Any, idxs: Sequence[Any], axes: Sequence[int]) -> Any:
    """Take elements by an index array for each of several ascending axes.

    Args:
        src: an array.
        idxs: vectors of integers of one length and dtype; indices wrap around, and
            negative ones count from the end.
        axes: the axis of each; they are removed, and the vectors' axis comes first.

    Returns:
        An array of the dtype of `src`: an axis as long as the vectors, then the other
        axes of `src`.

    Raises:
        ArgumentError: there is no vector, or not one for each axis.

    References:
        JAX, `jax.lax.index_take`.

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
