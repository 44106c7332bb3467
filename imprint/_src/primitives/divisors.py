"""The greatest common divisor of integers, elementwise: Euclid's algorithm.

In a program it is one loop, which ends when every element has its divisor. Of the least
integer the magnitude wraps, as everywhere.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.samples import Samples
from imprint._src.primitives.core_ops import INTS
from imprint._src.primitives.families import INTEGER, binary
from imprint._src.stablehlo import Builder, Value


def _gcd_lower(b: Builder, x: Value, y: Value) -> Value:
    if not dt.is_unsigned(x.dtype):
        x, y = b.abs(x), b.abs(y)
    axes = tuple(range(x.ndim))

    def condition(b: Builder, values: tuple[Value, ...]) -> tuple[Value, ...]:
        rest = values[1]
        going = b.compare(rest, b.full(rest.shape, 0, rest.dtype), "NE")
        return (b.reduce(going, b.constant(array=False), "or", axes),)

    def body(b: Builder, values: tuple[Value, ...]) -> tuple[Value, ...]:
        divisor, rest = values
        done = b.compare(rest, b.full(rest.shape, 0, rest.dtype), "EQ")
        return b.select(done, divisor, rest), b.select(
            done, rest, b.remainder(divisor, rest)
        )

    divisor = b.while_loop((x, y), condition, body)[0]
    return divisor if dt.is_unsigned(x.dtype) else b.abs(divisor)


gcd_p: Final = binary(
    "gcd",
    dtypes=INTEGER,
    reference=np.gcd,
    lower=_gcd_lower,
    fusion=UNFUSED,
    makes_nan=False,
    derivatives=None,
    samples=Samples(INTS, arity=2, edges=(12, 18, -6), differentiable=False),
)


def gcd(x: Any, y: Any) -> Any:
    """Return the greatest common divisor, elementwise; of 0 and 0 it is 0."""
    return gcd_p.bind1(x, y)
