"""How exactly a matrix product is computed: precisions and algorithms.

A precision is a wish, one for each operand; on the CPU all of them mean full precision.
An algorithm is a promise: to which dtypes floating operands are converted and in which
one the terms are added. In params a precision is None, a pair of `Precision`s or the
name of an algorithm. The names of both are JAX's.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.config import settings
from imprint._src.core.aval import DType
from imprint._src.errors import ArgumentError, did_you_mean


class Precision(enum.Enum):
    """The precision of one operand of a matrix product."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    def __repr__(self) -> str:
        return f"Precision.{self.name}"

    def __str__(self) -> str:
        return self.name


CanonicalPrecision = None | tuple[Precision, Precision] | str

PrecisionLike: TypeAlias = (
    str | Precision | tuple[str, str] | tuple[Precision, Precision] | None
)
"""The precision argument of functions: see `canonical_precision`."""

_PRECISIONS: Final = {
    "default": Precision.DEFAULT,
    "fastest": Precision.DEFAULT,
    "bfloat16": Precision.DEFAULT,
    "high": Precision.HIGH,
    "bfloat16_3x": Precision.HIGH,
    "tensorfloat32": Precision.HIGH,
    "highest": Precision.HIGHEST,
    "float32": Precision.HIGHEST,
}


@dataclass(frozen=True)
class Algorithm:
    """How a product of floats is computed.

    Args:
        operands: dtypes that operands may have; others are converted to the first.
        results: dtypes in which results may be given; others are converted from the
            first, and a bfloat16 result needs bfloat16 operands.
        text: StableHLO's attribute.
    """

    operands: tuple[DType, ...]
    results: tuple[DType, ...]
    text: str

    def dtypes(self, x: DType, y: DType, out: DType) -> tuple[DType, DType, DType]:
        """Return the dtypes of the operands and of the result, as computed."""
        x, y = (d if d in self.operands else self.operands[0] for d in (x, y))
        narrow = out == dt.bfloat16 and (x, y) != (out, out)
        return x, y, self.results[0] if narrow or out not in self.results else out


def _algorithm(
    operands: str, results: str, accumulator: str, operations: int = 1
) -> Algorithm:
    given, asked = (
        tuple(np.dtype(name) for name in names.split()) for names in (operands, results)
    )
    short = dt.short_name(given[0])
    element = "bf16" if operations > 1 else short
    return Algorithm(
        given,
        asked,
        f"<lhs_precision_type = {element}, rhs_precision_type = {element}, "
        f"accumulation_type = {accumulator}, lhs_component_count = 1, "
        f"rhs_component_count = 1, num_primitive_operations = {operations}, "
        "allow_imprecise_accumulation = false>",
    )


ALGORITHMS: Final = {
    "F16_F16_F16": _algorithm("float16", "float16", "f16"),
    "BF16_BF16_F32": _algorithm("bfloat16 float32", "float32 bfloat16", "f32"),
    "BF16_BF16_F32_X3": _algorithm("float32", "float32", "f32", 3),
    "BF16_BF16_F32_X6": _algorithm("float32", "float32", "f32", 6),
    "F32_F32_F32": _algorithm("float32", "float32", "f32"),
    "F64_F64_F64": _algorithm("float64", "float64", "f64"),
}
"""The algorithms that the CPU has, by JAX's names."""


def canonical_precision(precision: Any) -> CanonicalPrecision:
    """Return a precision as params hold it.

    Args:
        precision: a `Precision` or its name, a pair of these, the name of an algorithm,
            or None for `config.default_matmul_precision`.
    """
    if precision is None:
        precision = settings().default_matmul_precision
    if precision is None or (isinstance(precision, str) and precision in ALGORITHMS):
        return precision
    if precision == "DEFAULT":  # JAX's algorithm of this name leaves the choice open
        return None
    if isinstance(precision, str | Precision):
        both = _one(precision)
        return both, both
    if not isinstance(precision, tuple | list):
        raise _unknown(precision)
    pair = [_one(p) for p in cast("Sequence[Any]", precision)]
    if len(pair) != 2:
        raise _unknown(precision)
    return pair[0], pair[1]


def _one(precision: Any) -> Precision:
    if isinstance(precision, Precision):
        return precision
    if isinstance(precision, str) and precision in _PRECISIONS:
        return _PRECISIONS[precision]
    raise _unknown(precision)


def _unknown(precision: Any) -> ArgumentError:
    names = [*_PRECISIONS, *ALGORITHMS]
    hint = did_you_mean(precision, names) if isinstance(precision, str) else ""
    return ArgumentError(
        f"precision: expected a Precision, a pair of them, or one of {names}, got "
        f"{precision!r}.{hint} An algorithm that the CPU lacks cannot be chosen; to "
        "leave the choice to the engine, pass None."
    )
