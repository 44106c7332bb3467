"""Sizes as numbers: what a mean divides by where the length has a name.

A size that is an int needs no equation; one that is an expression becomes a number where
it is computed with, and its value is put there before the program is lowered.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.aval import DType, ShapedArray
from imprint._src.core.dims import Dim
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import Bucket
from imprint._src.core.primitive import Absent, Avals, Primitive, Values
from imprint._src.core.samples import Case, Samples
from imprint._src.primitives.elementwise.convert import (
    convert_element_type,
    convert_element_type_p,
)
from imprint._src.stablehlo import Builder, Value


def _aval(*, dim: Dim) -> Avals:
    return (ShapedArray((), dtypes.scalar_type_dtype(int), weak_type=True),)


def _reference(*, dim: Dim) -> Values:
    dtype = dtypes.scalar_type_dtype(int)
    return (np.asarray(dims.concrete(dim, "a size as a number"), dtype),)


def _lower(b: Builder, *, dim: Dim) -> tuple[Value, ...]:
    return (b.constant(dim, dtypes.scalar_type_dtype(int)),)


def _pad(bucket: Bucket, *, dim: Dim) -> Values:
    (aval,) = bucket.outs
    number = bucket.number(dim)
    return convert_element_type_p.bind(number, new_dtype=aval.dtype, weak_type=True)


_NO_OPERANDS: Final = Absent("it has no operands")

dim_as_value_p: Final = Primitive(
    name="dim_as_value",
    aval=_aval,
    reference=_reference,
    lower=_lower,
    fusion=UNFUSED,
    makes_nan=False,
    jvp=_NO_OPERANDS,
    transpose=_NO_OPERANDS,
    batch=_NO_OPERANDS,
    pad=_pad,
    samples=Samples(
        ("int32",),
        cases=(Case((), {"dim": 3}), Case((), {"dim": 0})),
        differentiable=False,
    ),
)


def as_value(dim: Any) -> Any:
    """Return a size as an integer of no axes, weak as Python's."""
    return dim_as_value_p.bind1(dim=dim)


def as_operand(dim: Any) -> Any:
    """Return a size as arithmetic with arrays takes it: itself, unless it has names."""
    return as_value(dim) if dims.is_symbolic(dim) else dim


def number_of(dim: Any, dtype: DType) -> Any:
    """Return a size as a number of a dtype: NumPy's, unless it has names."""
    if dims.is_symbolic(dim):
        return convert_element_type(as_value(dim), dtype)
    return dtype.type(dim)
