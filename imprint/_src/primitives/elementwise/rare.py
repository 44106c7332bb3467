"""Two formulations of an elementwise function: one for common elements, one for all.

Only where no element is a rare one, the first is right, and computed. The choice is for the
whole array, since XLA has no branch for an element.
"""

from collections.abc import Callable

import numpy as np

from imprint._src.stablehlo import Builder, TensorType, Value
from imprint._src.stablehlo.builder import Region


def unless_any(
    b: Builder,
    is_rare: Value,
    result: TensorType,
    common: Callable[[Builder], Value],
    every: Callable[[Builder], Value],
) -> Value:
    """Return the result of `common`, or of `every` if an element is rare.

    Args:
        b: the builder of the function.
        is_rare: whether each element is.
        result: the type of the result.
        common: writes the function for elements that are not.
        every: writes the function for all.
    """
    zero, one = (b.full(is_rare.shape, n, np.float32) for n in (0, 1))
    flags = b.select(is_rare, one, zero)  # a maximum of bools takes 1 s to compile
    largest = b.reduce(flags, b.constant(0, np.float32), "maximum", range(is_rare.ndim))
    regions: list[Region] = [lambda r, _: [common(r)], lambda r, _: [every(r)]]
    (out,) = b.case(b.convert(largest, np.int32), regions, [result])
    return out
