"""Conversion between dtypes: of values and of bits.

A float becomes an integer by dropping its fraction; NaN becomes 0, and a number out of range
the nearest limit. An integer out of range is cut to its low bits. Nonzero numbers become
True. A complex number loses its imaginary part first. `bitcast_convert_type` reads the same
bits as another dtype: to a narrower one with one more axis, to a wider one with one less. A
dtype in params is a canonical NumPy dtype.
"""

import warnings
from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import DType, Shape, ShapedArray, get_aval
from imprint._src.core.fusion import ARITHMETIC, NO_WORK
from imprint._src.core.padding import AS_IS, ELEMENTWISE
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import Zero, is_zero, zero_of
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import DTypeError, ShapeError
from imprint._src.primitives.core_ops import NOT_LINEAR, moveaxis, not_differentiable
from imprint._src.stablehlo import Builder, Value

NDArray = np.ndarray[Any, Any]

# ---- convert_element_type ----


def _convert_aval(x: ShapedArray, *, new_dtype: DType, weak_type: bool) -> Avals:
    return (x.with_dtype(new_dtype, weak_type=weak_type),)


def _convert_reference(x: NDArray, *, new_dtype: DType, weak_type: bool) -> Values:
    return (cast(x, new_dtype),)


def cast(x: NDArray, dtype: DType) -> NDArray:
    """Convert a NumPy array as the engine does."""
    if dt.is_complex(x.dtype) and not dt.is_complex(dtype):
        x = x.real
    if dt.is_bool(dtype):
        return np.not_equal(x, x.dtype.type(0))
    if dt.is_floating(x.dtype) and dt.is_integer(dtype):
        return _saturated(x, dtype)
    if x.dtype == np.float64 and dtype == np.float16:
        x = x.astype(np.float32)  # as in the lowering, on every CPU
    elif x.dtype == np.float64 and dtype.itemsize == 1 and dt.is_floating(dtype):
        x = _rounded_to_odd(x)  # ml_dtypes would round twice, the engine does once
    try:
        return x.astype(dtype)
    except TypeError:  # ml_dtypes has no direct way between some of its own
        middle = np.int8 if dt.is_integer(x.dtype) else np.float32
        return x.astype(middle).astype(dtype)


def _rounded_to_odd(x: NDArray) -> NDArray:
    """Return float32 that round to a narrower float as these float64 do.

    They are cut off, and their last bit is set where something was lost: no tie arises.
    """
    near = x.astype(np.float32)
    cut = np.where(np.abs(near) > np.abs(x), np.nextafter(near, np.float32(0)), near)
    return (cut.view(np.uint32) | (cut != x)).view(np.float32)


def _saturated(x: NDArray, dtype: DType) -> NDArray:
    info = dt.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    if x.dtype.itemsize < 4:
        x = x.astype(np.float32)
    storage = dtype if dtype.isbuiltin == 1 else np.dtype(np.int16)
    if x.size and low < x.min() and x.max() < float(high + 1):  # and no NaN
        return x.astype(storage).astype(dtype, copy=False)
    above = x >= float(high + 1)  # a power of two, so exact where `high` is not
    inside = (x > low) & ~above
    out = np.where(inside, x, 0).astype(storage)
    out = np.where(above, storage.type(high), out)
    return np.where(x <= low, storage.type(low), out).astype(dtype)


def _convert_lower(
    b: Builder, x: Value, *, new_dtype: DType, weak_type: bool
) -> tuple[Value, ...]:
    if x.dtype.kind == "c" and new_dtype.kind != "c":
        x = b.real(x)
    if new_dtype.kind == "b":
        return (b.compare(x, b.full(x.shape, 0, x.dtype), "NE"),)
    return (lower_cast(b, x, new_dtype),)


def lower_cast(b: Builder, x: Value, dtype: DType) -> Value:
    """Lower a conversion that neither drops an imaginary part nor gives a bool."""
    if x.dtype == dtype:
        return x
    if x.dtype == np.float64 and dtype == np.float16:
        x = b.convert(x, np.float32)  # a CPU with float16 of its own would round once
    return b.convert(x, dtype)


def _convert_jvp(
    primals: Values, tangents: Values, *, new_dtype: DType, weak_type: bool
) -> Any:
    (x,), (t,) = primals, tangents
    (out,) = convert_element_type_p.bind_all(
        x, new_dtype=new_dtype, weak_type=weak_type
    )
    if is_zero(t) or not dt.is_inexact(new_dtype):
        return (out,), (zero_of(get_aval(out)),)
    return (out,), convert_element_type_p.bind_all(
        t, new_dtype=new_dtype, weak_type=weak_type
    )


def _convert_transpose(
    cts: Values, operands: Values, *, new_dtype: DType, weak_type: bool
) -> Values:
    (ct,), (x,) = cts, operands
    if is_zero(ct):
        return (Zero(x.aval),)
    return convert_element_type_p.bind_all(
        ct, new_dtype=x.aval.dtype, weak_type=x.aval.weak_type
    )


def _convert_batch(args: Values, dims: Dims, **params: Any) -> Any:
    return convert_element_type_p.bind_all(*args, **params), dims


_PAIRS: Final = (
    *(("float32", to) for to in ("bool", "int8", "uint8", "int32", "uint32", "int64")),
    *(("float64", to) for to in ("int32", "uint64", "float16", "bfloat16", "float32")),
    *(("bfloat16", to) for to in ("int16", "uint16", "float64", "complex64")),
    *(("float16", to) for to in ("int64", "float32")),
    *(("float32", to) for to in ("float64", "complex128")),
    *(("int32", to) for to in ("bool", "int8", "uint64", "float16", "complex64")),
    *(("uint64", to) for to in ("int64", "float32")),
    *(("bool", to) for to in ("int8", "float32", "complex64")),
    *(("complex64", to) for to in ("bool", "int32", "float32", "complex128")),
    *(("complex128", to) for to in ("float64", "complex64")),
    *(("float64", to) for to in ("float64", "complex128")),
)


def _conversion(source: str, target: str) -> Case:
    params = {"new_dtype": np.dtype(dt.as_dtype(target)), "weak_type": False}
    return Case(((12,),), params, (source,))


convert_element_type_p: Final = Primitive(
    name="convert_element_type",
    aval=_convert_aval,
    reference=_convert_reference,
    lower=_convert_lower,
    fusion=ARITHMETIC,
    makes_nan=False,
    jvp=_convert_jvp,
    transpose=_convert_transpose,
    batch=_convert_batch,
    pad=ELEMENTWISE,
    samples=Samples(
        ("float64",),
        cases=tuple(_conversion(*pair) for pair in _PAIRS),
        # Halves, and the ends of integers: just inside, at, and beyond.
        edges=(
            0.5,
            -0.5,
            1.5,
            2.5,
            -1.9,
            127.5,
            -128.0,
            -128.5,
            255.5,
            -(2.0**31),
            2.0**31,
            2.0**63,
        ),
    ),
)


def convert_element_type(
    operand: Any, new_dtype: DTypeLike, *, weak_type: bool = False
) -> Any:
    """Convert the elements to a dtype; returns `operand` if they have it already.

    Args:
        operand: an array or number.
        new_dtype: the dtype; 64 bits become 32 unless `enable_x64` is set.
        weak_type: whether the result adopts the dtype of other operands in
            `imprint.numpy`.

    Returns:
        An array of that dtype and the same shape. Floats become integers towards 0; a
        complex number loses its imaginary part, with a `ComplexWarning`.

    References:
        StableHLO, `convert`.
    """
    aval = get_aval(operand)
    dtype = dt.requested(new_dtype, "convert_element_type")
    if dtype == aval.dtype and weak_type == aval.weak_type and hasattr(operand, "aval"):
        return operand
    if dt.is_complex(aval.dtype) and not dt.is_complex(dtype):
        warnings.warn(
            f"convert_element_type: expected a real array for {dtype}, got {aval}, so "
            "dropped the imaginary part. Call imprint.numpy.real to say so.",
            np.exceptions.ComplexWarning,
            stacklevel=2,
        )
    return convert_element_type_p.bind1(operand, new_dtype=dtype, weak_type=weak_type)


# ---- bitcast_convert_type ----


def _bitcast_aval(x: ShapedArray, *, new_dtype: DType) -> Avals:
    bitless = (dt.is_bool, dt.is_complex)
    if x.dtype != new_dtype and any(
        is_kind(dtype) for is_kind in bitless for dtype in (x.dtype, new_dtype)
    ):
        raise DTypeError(
            "bitcast_convert_type: expected integers or floats on both sides, got "
            f"{x} to {new_dtype}. Convert booleans to uint8, and split complex numbers "
            "with imprint.numpy.real and imag."
        )
    return (ShapedArray(_bitcast_shape(x, new_dtype), new_dtype),)


def _bitcast_shape(x: ShapedArray, new_dtype: DType) -> Shape:
    old, new = dt.bit_width(x.dtype), dt.bit_width(new_dtype)
    if old == new:
        return x.shape
    if old > new and old % new == 0:
        return (*x.shape, old // new)
    if new % old or not x.shape or not dims.equal(x.shape[-1], new // old):
        raise ShapeError(
            f"bitcast_convert_type: expected a last axis that fills {new} bits, got "
            f"{x} with {old} bits an element for {new_dtype}. "
            f"Reshape it to [..., {max(new // old, 1)}]."
        )
    return x.shape[:-1]


def _bitcast_reference(x: NDArray, *, new_dtype: DType) -> Values:
    old, new = dt.bit_width(x.dtype), dt.bit_width(new_dtype)
    shape = x.shape
    if old > new:
        shape = (*shape, old // new)
    elif old < new:
        shape = shape[:-1]
    raw = _packed(np.ascontiguousarray(x).reshape(-1))
    return (_unpacked(raw, new_dtype, dims.product(shape)).reshape(shape),)


def _packed(x: NDArray) -> NDArray:
    """Return the bytes of elements, several to a byte where they are narrower."""
    width = dt.bit_width(x.dtype)
    octets = x.view(np.uint8)
    if width == 8 * x.dtype.itemsize:
        return octets
    bits = np.unpackbits(octets[:, None], axis=1, count=width, bitorder="little")
    return np.packbits(bits.reshape(-1), bitorder="little")


def _unpacked(octets: NDArray, dtype: DType, size: int) -> NDArray:
    """Return elements out of their bytes, one to a byte if narrower."""
    width = dt.bit_width(dtype)
    if width == 8 * dtype.itemsize:
        return octets.view(dtype)
    bits = np.unpackbits(octets, count=size * width, bitorder="little")
    apart = np.packbits(bits.reshape(size, width), axis=1, bitorder="little")
    values = apart.reshape(size)
    if dt.is_signed(dtype):  # a signed element repeats its sign in the unused bits
        spare = 8 - width
        values = (values << spare).view(np.int8) >> spare
    return values.view(np.uint8).view(dtype)


def _bitcast_jvp(primals: Values, tangents: Values, *, new_dtype: DType) -> Any:
    return not_differentiable(bitcast_convert_type_p, primals, new_dtype=new_dtype)


def _bitcast_batch(args: Values, dims: Dims, *, new_dtype: DType) -> Any:
    (x,), (dim,) = args, dims
    assert dim is not None
    if dt.bit_width(get_aval(x).dtype) < dt.bit_width(new_dtype):
        x, dim = moveaxis(x, dim, 0), 0  # the last axis goes
    return bitcast_convert_type_p.bind_all(x, new_dtype=new_dtype), (dim,)


def _bitcast_lower(b: Builder, x: Value, *, new_dtype: DType) -> tuple[Value, ...]:
    aval = ShapedArray(x.shape, x.dtype)
    return (b.bitcast_convert(x, _bitcast_shape(aval, new_dtype), new_dtype),)


def _cast_case(source: str, target: str, shape: Shape = (3, 2)) -> Case:
    return Case((shape,), {"new_dtype": dt.as_dtype(target)}, (source,))


bitcast_convert_type_p: Final = Primitive(
    name="bitcast_convert_type",
    aval=_bitcast_aval,
    reference=_bitcast_reference,
    lower=_bitcast_lower,
    fusion=NO_WORK,
    makes_nan=True,
    jvp=_bitcast_jvp,
    transpose=NOT_LINEAR,
    batch=_bitcast_batch,
    pad=AS_IS,
    samples=Samples(
        ("float32",),
        cases=(
            _cast_case("int32", "float32"),
            _cast_case("float32", "uint32", ()),
            _cast_case("float64", "uint32"),
            _cast_case("uint16", "int32"),
            _cast_case("uint8", "uint16", (2,)),
            _cast_case("int64", "bfloat16", (0, 3)),
            _cast_case("float16", "int16"),
        ),
        differentiable=False,
    ),
)


def bitcast_convert_type(operand: Any, new_dtype: DTypeLike) -> Any:
    """Read the bits as another dtype; another width moves to the last axis.

    Args:
        operand: an array.
        new_dtype: the dtype; a narrower one adds a last axis, a wider one removes it.

    Returns:
        An array of that dtype with the same bits, the lowest first.

    References:
        StableHLO, `bitcast_convert`.
    """
    dtype = dt.requested(new_dtype, "bitcast_convert_type")
    return bitcast_convert_type_p.bind1(operand, new_dtype=dtype)
