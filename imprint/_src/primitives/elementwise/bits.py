"""Operations on the bits of one operand, elementwise: not, population_count, clz.

`not` takes booleans too. Counts have the dtype of the operand, and see a negative integer
as the bits that it is stored as. No derivative. Operations of two operands are in
`bitwise`.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.fusion import ARITHMETIC, UNFUSED
from imprint._src.core.samples import Samples
from imprint._src.primitives.core_ops import INTS
from imprint._src.primitives.families import BITS, INTEGER, unary

NDArray = np.ndarray[Any, Any]

not_p: Final = unary(
    "not",
    dtypes=BITS,
    reference=np.invert,
    lower=lambda b, x: b.not_(x),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivative=None,
    samples=Samples(("bool", *INTS), arity=1, differentiable=False),
)


def not_(x: Any) -> Any:
    """Return `x` with every bit inverted, elementwise; of a boolean, the other one."""
    return not_p.bind1(x)


def _bits(x: NDArray) -> NDArray:
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))


population_count_p: Final = unary(
    "population_count",
    dtypes=INTEGER,
    reference=lambda x: np.bitwise_count(_bits(x)).astype(x.dtype),
    lower=lambda b, x: b.popcnt(x),
    fusion=UNFUSED,
    makes_nan=False,
    derivative=None,
    samples=Samples(INTS, arity=1, edges=(6,), differentiable=False),
)


def population_count(x: Any) -> Any:
    """Return the number of bits of `x` that are 1, elementwise."""
    return population_count_p.bind1(x)


def _clz_reference(x: NDArray) -> NDArray:
    bits = _bits(x)
    width = dt.bit_width(x.dtype)
    distance = 1
    while distance < width:  # fills every place below the first 1
        bits = bits | (bits >> bits.dtype.type(distance))
        distance *= 2
    return (width - np.bitwise_count(bits)).astype(x.dtype)


clz_p: Final = unary(
    "clz",
    dtypes=INTEGER,
    reference=_clz_reference,
    lower=lambda b, x: b.count_leading_zeros(x),
    fusion=UNFUSED,
    makes_nan=False,
    derivative=None,
    samples=Samples(INTS, arity=1, edges=(6, 127), differentiable=False),
)


def clz(x: Any) -> Any:
    """Return the number of bits of `x` before the first that is 1, elementwise."""
    return clz_p.bind1(x)
