"""trim_zeros: an array without the zeros around it.

How much is left depends on the values, so they are known; inside traced functions there is
no such function.
"""

import numpy as np

from imprint._src.core.array import Array
from imprint._src.core.array_interop import shown
from imprint._src.core.trace import Tracer, ensure_compile_time_eval
from imprint._src.errors import ArgumentError, ConcretizationError
from imprint._src.numpy.elementwise.selection import as_bool
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.numpy.reductions.reductions import Axis, any, axes_of
from imprint._src.primitives.copying import owned


@owned
def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: Axis = None) -> Array:
    """Return an array without the zeros at its ends.

    Args:
        filt: an array.
        trim: "f" for those at the front, "b" for those at the back, "fb" for both.
        axis: the axes along which ends are cut; None for all.

    Raises:
        ConcretizationError: the array is traced.

    Example:
        >>> import imprint.numpy as np
        >>> np.trim_zeros(np.array([0, 0, 1, 0, 2, 0]))
        Array([1, 0, 2], dtype=int32)
    """
    x = as_array("trim_zeros", filt)
    if isinstance(x, Tracer):
        raise ConcretizationError(
            f"trim_zeros: expected an array whose values are known, got {x.aval} while "
            "tracing. The shape of the result depends on them: mask with "
            "imprint.numpy.where, or trim outside."
        )
    if not isinstance(trim, str):  # pyright: ignore[reportUnnecessaryIsInstance] - the user's
        raise ArgumentError(
            f"trim_zeros: expected trim to be 'f', 'b' or 'fb', got {shown(trim)}. Name "
            "the ends: front, back or both."
        )
    axes, ends = axes_of("trim_zeros", axis, x.ndim), trim.lower()
    return x[
        tuple(_span(x, i, ends) if i in axes else slice(None) for i in range(x.ndim))
    ]


def _span(x: Array, axis: int, ends: str) -> slice:
    """Return what is left of an axis."""
    if "f" not in ends and "b" not in ends:
        return slice(None)
    others = tuple(i for i in range(x.ndim) if i != axis)
    with ensure_compile_time_eval():
        found = np.flatnonzero(np.asarray(any(as_bool("trim_zeros", x), others)))
    if not found.size:
        return slice(0, 0)
    first, last = int(found[0]), int(found[-1])
    return slice(first if "f" in ends else None, last + 1 if "b" in ends else None)
