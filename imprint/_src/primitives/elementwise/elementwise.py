"""Operands of elementwise primitives, and their lowering.

Operands have one dtype and one shape. Some may have rank 0 and others a shape, as in JAX's
jaxprs, which saves an equation for every Python scalar.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import Shape, ShapedArray
from imprint._src.core.primitive import Avals
from imprint._src.errors import DTypeError, ShapeError
from imprint._src.stablehlo import Builder, Value

NDArray = np.ndarray[Any, Any]


def elementwise_aval(name: str, avals: Avals) -> ShapedArray:
    """Check that operands have one dtype and one shape (or rank 0); return their aval.

    The result is weakly typed if every operand is.
    """
    first = avals[0]
    shape: Shape = ()
    for aval in avals:
        if aval.dtype != first.dtype:
            raise DTypeError(
                f"{name}: expected operands of one dtype, got {listed(avals)}. "
                f"Convert one of them, or call imprint.numpy, which promotes."
            )
        if aval.shape and shape and not dims.equal_shapes(aval.shape, shape):
            raise ShapeError(
                f"{name}: expected operands of one shape or of rank 0, got "
                f"{listed(avals)}. Reshape one of them, or call imprint.numpy, which "
                "broadcasts."
            )
        shape = shape or aval.shape
    return ShapedArray(shape, first.dtype, all(a.weak_type for a in avals))


def repeated(b: Builder, values: Sequence[Value]) -> list[Value]:
    """Lower the repetition of rank-0 operands to the shape of others."""
    shape = next((v.shape for v in values if v.shape), ())
    return [v if v.shape == shape else b.broadcast_in_dim(v, shape, ()) for v in values]


def broadcast_reference(
    x: NDArray, *, shape: Shape, broadcast_dimensions: tuple[int, ...]
) -> tuple[NDArray]:
    """Do as `broadcast_in_dim`; `np.broadcast_to` takes 2.5 us at least."""
    expanded = [1] * len(shape)
    for n, d in zip(x.shape, broadcast_dimensions, strict=True):
        expanded[d] = n
    x = x.reshape(expanded)
    if x.shape == shape:
        return (x,)
    if dims.product(shape) > _FEW:
        return (np.broadcast_to(x, shape),)
    out = np.empty(shape, x.dtype)
    out[...] = x
    return (out,)


_FEW: Final = 8192


def where_reference(which: NDArray, x: NDArray, y: NDArray) -> NDArray:
    """Do as `np.where`, for operands of one dtype.

    `np.where` branches for each element, which takes 3.5 ms for a million of random
    booleans; to mix the bits takes 0.5 ms.
    """
    bits = _BITS.get(x.dtype.itemsize)
    if which.size < _MANY or bits is None:
        return np.where(which, x, y)
    first, second = x.view(bits), y.view(bits)
    differing = first ^ second
    out = differing if differing.shape == which.shape else None
    mixed = np.multiply(differing, which, dtype=bits, out=out)
    return np.bitwise_xor(mixed, second, out=mixed).view(x.dtype)


_BITS: Final = {n: np.dtype(f"u{n}") for n in (1, 2, 4, 8)}
_MANY: Final = 8192


def listed(avals: Avals) -> str:
    """Return avals as an error lists them."""
    return " and ".join(map(str, avals))
