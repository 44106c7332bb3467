"""The bits of an array in another dtype: `x.view(dtype)`, `x.byteswap()`.

Both return new arrays without shared memory. A bool is a byte, and a complex number is
its two parts, real first. The last axis grows or shrinks with the width of the
elements.
"""

from typing import Any, Final

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import DType
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ShapeError
from imprint._src.numpy.elementwise.rounding import imag, real
from imprint._src.numpy.shapes.concatenate import flip, stack
from imprint._src.numpy.shapes.reshape import reshape
from imprint._src.primitives.copying import owned
from imprint._src.primitives.elementwise.complex import complex_
from imprint._src.primitives.elementwise.convert import (
    bitcast_convert_type,
    convert_element_type,
)


@owned
def view(x: Array, dtype: DTypeLike | None = None, type: object = None) -> Array:
    """Return the bits of an array as elements of another dtype.

    Args:
        x: an array.
        dtype: of the result; None for that of `x`.
        type: must be None; there is one class of arrays.

    Raises:
        ShapeError: the bits of the last axis do not make whole elements.

    Example:
        >>> import imprint.numpy as np
        >>> np.array([1.0, 2.0]).view("int32")
        Array([1065353216, 1073741824], dtype=int32)
    """
    if type is not None:
        raise NotImplementedError(
            f"view: expected type to be None, got {shown(type)}. Arrays have one class: "
            "leave it out, or convert with numpy.asarray."
        )
    if dtype is None:
        return x
    new = dtypes.requested(dtype, "view")
    if new == x.dtype:
        return x
    if x.ndim:
        return _as_elements(_as_numbers(x), new)
    if dtypes.bit_width(new) != dtypes.bit_width(x.dtype):
        raise _refused(x, new)
    return reshape(_as_elements(_as_numbers(reshape(x, (1,))), new), ())


@owned
def byteswap(x: Array) -> Array:
    """Return an array whose elements have their bytes in reverse order.

    Example:
        >>> import imprint.numpy as np
        >>> np.array([1, 256], "int16").byteswap()
        Array([256,   1], dtype=int16)
    """
    if dtypes.is_complex(x.dtype):
        parts = _as_numbers(reshape(x, (-1,)))
        return reshape(_as_elements(byteswap(parts), x.dtype), x.shape)
    if dtypes.bit_width(x.dtype) <= 8:
        return x
    octets: Any = bitcast_convert_type(x, dtypes.uint8)
    return bitcast_convert_type(flip(octets, -1), x.dtype)


def _as_numbers(x: Array) -> Array:
    """Return an array as integers or floats, with complex parts next to each other."""
    if dtypes.is_bool(x.dtype):
        return convert_element_type(x, dtypes.uint8)
    if not dtypes.is_complex(x.dtype):
        return x
    parts = stack([real(x), imag(x)], axis=-1)
    return reshape(parts, (*x.shape[:-1], 2 * x.shape[-1]))


def _as_elements(x: Array, dtype: DType) -> Array:
    if dtypes.is_bool(dtype):
        return convert_element_type(_bits(x, dtypes.uint8), dtypes.bool_)
    if not dtypes.is_complex(dtype):
        return _bits(x, dtype)
    parts = _split(_bits(x, _PART[dtype]), 2, dtype)
    return complex_(parts[..., 0], parts[..., 1])


def _bits(x: Array, dtype: DType) -> Array:
    old, new = dtypes.bit_width(x.dtype), dtypes.bit_width(dtype)
    if old > new:
        if old % new:
            raise _refused(x, dtype)
        parts: Any = bitcast_convert_type(x, dtype)
        return reshape(parts, (*x.shape[:-1], x.shape[-1] * (old // new)))
    if old < new:
        if new % old:
            raise _refused(x, dtype)
        x = _split(x, new // old, dtype)
    return bitcast_convert_type(x, dtype)


def _split(x: Array, count: int, dtype: DType) -> Array:
    """Return an array with groups of `count` of its last axis as a new axis."""
    groups = dims.concrete(x.shape[-1], "view()")
    if groups % count:
        raise _refused(x, dtype)
    return reshape(x, (*x.shape[:-1], groups // count, count))


def _refused(x: Array, dtype: DType) -> ShapeError:
    return ShapeError(
        f"view: expected a last axis of whole elements of {dtype}, "
        f"{dtypes.bit_width(dtype)} bits each, got {x.aval}. Reshape it, or convert the "
        f"values with x.astype('{dtype}')."
    )


_PART: Final = {
    dtypes.complex64: dtypes.float32,
    dtypes.complex128: dtypes.float64,
}
