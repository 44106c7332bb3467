"""The first-order primitives, a family per file; `ALL` lists every one of them.

A family joins by its name in `_FAMILIES`; a primitive that is imported by several of them
counts once. Those that hold a jaxpr are in `control`.
"""

from types import ModuleType
from typing import Final

from imprint.core.primitive import Primitive
from imprint.primitives import (
    arg_reductions,
    arithmetic,
    barrier,
    basis,
    bits,
    bitwise,
    comparison,
    convert,
    cumulative,
    dot,
    dynamic_slicing,
    exponential,
    power,
    reduce_precision,
    reductions,
    rounding,
    select,
    shape,
    slicing,
    special,
    trigonometric,
)
from imprint.primitives import complex as complex_numbers

_FAMILIES: Final[tuple[ModuleType, ...]] = (
    basis,
    comparison,
    bitwise,
    select,
    arithmetic,
    complex_numbers,
    rounding,
    exponential,
    power,
    trigonometric,
    special,
    bits,
    convert,
    reduce_precision,
    shape,
    slicing,
    dynamic_slicing,
    reductions,
    arg_reductions,
    cumulative,
    dot,
    barrier,
)

ALL: Final[tuple[Primitive, ...]] = tuple(
    dict.fromkeys(
        value
        for family in _FAMILIES
        for value in vars(family).values()
        if isinstance(value, Primitive)
    )
)
"""Every first-order primitive; the laws and the disk loader read it."""
