"""Comparisons, elementwise: boolean results, no derivative.

Floats compare as IEEE says: nothing equals NaN or is less than it, and 0.0 equals -0.0.
False is less than True. Complex numbers have equality and no order. `maximum` and `minimum`
are NumPy functions with the engine's semantics, for the references of `max`, `min`, `clamp`
and others: NaN wins, and -0.0 is less than 0.0, which NumPy leaves open.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.fusion import ARITHMETIC
from imprint._src.core.primitive import Samples
from imprint._src.primitives.core_ops import COMPLEXES, FLOATS, INTS
from imprint._src.primitives.elementwise.elementwise import where_reference
from imprint._src.primitives.families import ANY, ORDERED, binary, bool_result

NDArray = np.ndarray[Any, Any]

_REALS: Final = ("bool", *INTS, *FLOATS)
_ORDER: Final = Samples(_REALS, arity=2, differentiable=False)
_EQUALITY: Final = Samples((*_REALS, *COMPLEXES), arity=2, differentiable=False)


eq_p: Final = binary(
    "eq",
    dtypes=ANY,
    reference=np.equal,
    lower=lambda b, x, y: b.compare(x, y, "EQ"),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivatives=None,
    samples=_EQUALITY,
    result=bool_result,
)


def eq(x: Any, y: Any) -> Any:
    """Return `x == y`, elementwise.

    Args:
        x: numbers or booleans.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        A boolean array of the common shape. It is False where either is NaN.

    References:
        StableHLO, `compare` (EQ).
    """
    return eq_p.bind1(x, y)


ne_p: Final = binary(
    "ne",
    dtypes=ANY,
    reference=np.not_equal,
    lower=lambda b, x, y: b.compare(x, y, "NE"),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivatives=None,
    samples=_EQUALITY,
    result=bool_result,
)


def ne(x: Any, y: Any) -> Any:
    """Return `x != y`, elementwise; True where either is NaN.

    Args:
        x: numbers or booleans.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        A boolean array of the common shape.

    References:
        StableHLO, `compare` (NE).
    """
    return ne_p.bind1(x, y)


lt_p: Final = binary(
    "lt",
    dtypes=ORDERED,
    reference=np.less,
    lower=lambda b, x, y: b.compare(x, y, "LT"),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivatives=None,
    samples=_ORDER,
    result=bool_result,
)


def lt(x: Any, y: Any) -> Any:
    """Return `x < y`, elementwise.

    Args:
        x: real numbers or booleans; False is less than True.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        A boolean array of the common shape. It is False where either is NaN.

    References:
        StableHLO, `compare` (LT).
    """
    return lt_p.bind1(x, y)


le_p: Final = binary(
    "le",
    dtypes=ORDERED,
    reference=np.less_equal,
    lower=lambda b, x, y: b.compare(x, y, "LE"),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivatives=None,
    samples=_ORDER,
    result=bool_result,
)


def le(x: Any, y: Any) -> Any:
    """Return `x <= y`, elementwise.

    Args:
        x: real numbers or booleans; False is less than True.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        A boolean array of the common shape. It is False where either is NaN.

    References:
        StableHLO, `compare` (LE).
    """
    return le_p.bind1(x, y)


gt_p: Final = binary(
    "gt",
    dtypes=ORDERED,
    reference=np.greater,
    lower=lambda b, x, y: b.compare(x, y, "GT"),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivatives=None,
    samples=_ORDER,
    result=bool_result,
)


def gt(x: Any, y: Any) -> Any:
    """Return `x > y`, elementwise.

    Args:
        x: real numbers or booleans; False is less than True.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        A boolean array of the common shape. It is False where either is NaN.

    References:
        StableHLO, `compare` (GT).
    """
    return gt_p.bind1(x, y)


ge_p: Final = binary(
    "ge",
    dtypes=ORDERED,
    reference=np.greater_equal,
    lower=lambda b, x, y: b.compare(x, y, "GE"),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivatives=None,
    samples=_ORDER,
    result=bool_result,
)


def ge(x: Any, y: Any) -> Any:
    """Return `x >= y`, elementwise.

    Args:
        x: real numbers or booleans; False is less than True.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        A boolean array of the common shape. It is False where either is NaN.

    References:
        StableHLO, `compare` (GE).
    """
    return ge_p.bind1(x, y)


# ---- the larger and the smaller, in NumPy ----


def maximum(x: NDArray, y: NDArray) -> NDArray:
    """Return the larger elements; complex ones by real part, then imaginary part."""
    if dt.is_complex(x.dtype):
        return np.where(_decided_by(np.greater, x, y), x, y)
    larger = np.maximum(x, y)
    if not dt.is_floating(x.dtype) or not may_have_zero(larger):
        return larger
    zeros = (x == 0) & (y == 0)  # of which two -0.0 alone give -0.0
    return where_reference(zeros, x + y, larger) if zeros.any() else larger


def minimum(x: NDArray, y: NDArray) -> NDArray:
    """Return the smaller elements; complex ones by real part, then imaginary part."""
    if dt.is_complex(x.dtype):
        return np.where(_decided_by(np.less, x, y), x, y)
    smaller = np.minimum(x, y)
    if not dt.is_floating(x.dtype) or not may_have_zero(smaller):
        return smaller
    zeros = (x == 0) & (y == 0)
    return where_reference(zeros, -(-x - y), smaller) if zeros.any() else smaller


def may_have_zero(x: NDArray) -> bool:
    """Return whether there may be a zero; for many elements checking costs too much."""
    return x.nbytes > 4096 or int(np.count_nonzero(x == 0)) > 0


def _decided_by(
    order: Callable[[Any, Any], NDArray], x: NDArray, y: NDArray
) -> NDArray:
    tie = x.real == y.real
    return np.where(tie, order(x.imag, y.imag), order(x.real, y.real))
