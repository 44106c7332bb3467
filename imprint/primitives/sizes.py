"""Sizes as numbers: what a mean divides by where the length has a name.

A size that is an int needs no equation; one that is an expression becomes a number where
it is computed with, and its value is put there before the program is lowered.
"""

from typing import Any, Final

import numpy as np

from imprint import dtypes
from imprint.core import dims
from imprint.core.aval import ShapedArray
from imprint.core.dims import Dim
from imprint.core.primitive import Absent, Avals, Primitive, Values
from imprint.core.samples import Case, Samples
from imprint.stablehlo import Builder, Value


def _aval(*, dim: Dim) -> Avals:
    return (ShapedArray((), dtypes.scalar_type_dtype(int), weak_type=True),)


def _reference(*, dim: Dim) -> Values:
    dtype = dtypes.scalar_type_dtype(int)
    return (np.asarray(dims.concrete(dim, "a size as a number"), dtype),)


def _lower(b: Builder, *, dim: Dim) -> tuple[Value, ...]:
    return (b.constant(_reference(dim=dim)[0]),)


_NO_OPERANDS: Final = Absent("it has no operands")

dim_as_value_p: Final = Primitive(
    name="dim_as_value",
    aval=_aval,
    reference=_reference,
    lower=_lower,
    jvp=_NO_OPERANDS,
    transpose=_NO_OPERANDS,
    batch=_NO_OPERANDS,
    samples=Samples(
        ("int32",),
        cases=(Case((), {"dim": 3}), Case((), {"dim": 0})),
        differentiable=False,
    ),
)


def as_value(dim: Any) -> Any:
    """Return a size as an integer of no axes, weak as Python's."""
    return dim_as_value_p.bind1(dim=dim)
