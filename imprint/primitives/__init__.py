"""The first-order primitives, a family per file; `ALL` lists every one of them."""

from types import ModuleType
from typing import Final

from imprint.core.primitive import Primitive
from imprint.primitives import (
    arithmetic,
    basis,
    bitwise,
    comparison,
    convert,
    select,
)

_FAMILIES: Final[tuple[ModuleType, ...]] = (
    basis,
    comparison,
    bitwise,
    select,
    arithmetic,
    convert,
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
