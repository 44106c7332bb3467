"""Native kernels in lowerings: where one is called, and in which shape.

A kernel takes arrays as [outer, n, inner] and works along n, or stacks of small matrices; its
dtypes are those of `DTYPES`. A call costs about as much as a hundred elements, and nothing is
fused into it, so small arrays stay with XLA. Whether there are kernels is a property of the
module: it is for one CPU device, and they were built.
"""

from typing import Any, Final

from imprint._src.core import dims
from imprint._src.stablehlo import Builder, Value
from imprint._src.stablehlo.custom_calls import native_call
from imprint._src.stablehlo.types import tensor

DTYPES: Final = ("float32", "float64", "int32", "int64", "uint32", "uint64")
"""The names of the dtypes that kernels have."""


def has_kernel(b: Builder, x: Value, least: int) -> bool:
    """Return whether a kernel can take an operand, and it has `least` elements."""
    if not b.module.has_kernels or x.dtype.name not in DTYPES:
        return False
    return least <= dims.product(x.shape) < 2**31  # kernels count in int32


def as_small_matrices(b: Builder, x: Value) -> Value | None:
    """Return a stack of small square matrices as [count, n, n]; None without a kernel."""
    n = x.shape[-1]
    if not has_kernel(b, x, 1) or x.dtype.name not in _FLOATS:
        return None
    if n != x.shape[-2] or n > _MOST_ROWS:
        return None
    return b.reshape(x, (dims.product(x.shape[:-2]), n, n))


_FLOATS: Final = ("float32", "float64")
_MOST_ROWS: Final = 8


def as_lines(b: Builder, x: Value, axis: int) -> Value:
    """Return a value as [outer, n, inner], where n is the length of an axis."""
    outer, inner = dims.product(x.shape[:axis]), dims.product(x.shape[axis + 1 :])
    return b.reshape(x, (outer, x.shape[axis], inner))


def reduce_by(b: Builder, kernel: str, x: Value, axis: int, dtype: Any) -> Value:
    """Return what a kernel finds in each line along an axis."""
    lines = as_lines(b, x, axis)
    outer, _, inner = lines.shape
    (found,) = native_call(b, kernel, [lines], [tensor((outer, inner), dtype)])
    return b.reshape(found, (*x.shape[:axis], *x.shape[axis + 1 :]))
