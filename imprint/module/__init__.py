"""Modules: models as pytrees, and functions on them.

`Module` and what it is declared with; how its instances are changed and shown. The names
are Equinox's where they mean the same.
"""

from imprint.module.fields import AbstractClassVar, AbstractVar, field
from imprint.module.filters import (
    combine,
    filter,  # noqa: A004 - Equinox's name
    is_array,
    is_array_like,
    is_inexact_array,
    is_inexact_array_like,
    partition,
)
from imprint.module.methods import BoundMethod
from imprint.module.module import Module

__all__ = [
    "AbstractClassVar",
    "AbstractVar",
    "BoundMethod",
    "Module",
    "combine",
    "field",
    "filter",
    "is_array",
    "is_array_like",
    "is_inexact_array",
    "is_inexact_array_like",
    "partition",
]
