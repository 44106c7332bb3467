"""Symbolic values in differentiation rules.

`Zero(aval)` is a tangent or cotangent known to be zero, so nothing is computed for it.
`UndefinedPrimal(aval)` is the operand of a transpose rule whose cotangent is wanted.
The tangent of an integer or boolean has the dtype float0, which has no values. It is
always a NumPy array: no program takes or returns one.
"""

from typing import Any, Final, final

import numpy as np

from imprint._src import dtypes
from imprint._src.core.aval import Shape, ShapedArray


@final
class Zero:
    """A tangent that is zero everywhere; `aval` is the tangent's aval."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval: Final = aval

    def __repr__(self) -> str:
        return f"Zero({self.aval})"


@final
class UndefinedPrimal:
    """An operand in which the equation is linear; transpose gives its cotangent."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval: Final = aval

    def __repr__(self) -> str:
        return f"Linear({self.aval})"


def tangent_aval(aval: ShapedArray) -> ShapedArray:
    """Return the aval of the tangents of values of `aval`."""
    return aval.to_tangent_aval()


def zero_of(aval: ShapedArray) -> Zero:
    """Return the zero tangent of a value of `aval`."""
    return Zero(tangent_aval(aval))


def no_values(shape: Shape) -> np.ndarray[Any, Any]:
    """Return the tangent of integers or booleans of a shape, as a NumPy array."""
    return np.zeros(shape, dtypes.float0)


def is_float0(x: Any) -> bool:
    """Return whether `x` is the tangent of an integer or boolean, or its aval."""
    return getattr(x, "dtype", None) == dtypes.float0


def is_zero(tangent: Any) -> bool:
    """Return whether a tangent is symbolically zero."""
    return type(tangent) is Zero
