"""The discrete Fourier transform of the last one to three axes, of complex or real numbers.

FFT and IFFT take complex to complex. RFFT takes real numbers, and returns only the half of
its last axis that the other half mirrors; IRFFT takes such a half back. Lengths are those of
the axes of the whole side. All are linear: the transposes of the two on real numbers weight
each element by how often it occurs in the whole, once or twice.
"""

import enum
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import Shape, ShapedArray, get_aval, shape_str
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import in_batches
from imprint._src.core.primitive import Avals, Case, Samples
from imprint._src.errors import ArgumentError, DTypeError, ShapeError, did_you_mean
from imprint._src.primitives.axes import int_of
from imprint._src.primitives.core_ops import (
    broadcast_in_dim,
    full,
    moveaxis,
    mul,
    scalar_like,
)
from imprint._src.primitives.elementwise.complex import conj
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.indexing.slicing import pad
from imprint._src.primitives.shape import moving
from imprint._src.stablehlo import Builder, Value
from imprint._src.stablehlo.types import list_text, signature, tensor

NDArray = np.ndarray[Any, Any]


class FftType(enum.IntEnum):
    """Which transform: forward or inverse, of complex or of real numbers."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


_MOST_AXES: Final = 3


def _fft_aval(x: ShapedArray, *, fft_type: FftType, fft_lengths: Shape) -> Avals:
    _check_dtype(x, fft_type)
    count = len(fft_lengths)
    if not 1 <= count <= min(_MOST_AXES, x.ndim):
        raise ShapeError(
            f"fft: expected the lengths of the last 1 to {_MOST_AXES} axes of {x}, got "
            f"fft_lengths={shape_str(fft_lengths)}. For others, call "
            "imprint.numpy.fft.fftn."
        )
    lead, last = x.shape[: x.ndim - count], fft_lengths[-1]
    half = x.shape[-1] if dims.is_same(last, 0) else last // 2 + 1
    if fft_type is FftType.RFFT and dims.has_zero((last,)):
        raise ShapeError(
            f"fft: expected numbers to transform along the last axis, got {x}. Leave "
            "an array without elements as it is."
        )
    given = (*fft_lengths[:-1], half) if fft_type is FftType.IRFFT else fft_lengths
    if not dims.equal_shapes(x.shape[x.ndim - count :], given):
        raise ShapeError(
            f"fft: expected last axes {shape_str(given)} for {fft_type.name} of "
            f"fft_lengths={shape_str(fft_lengths)}, got {x}. To cut or to pad axes, "
            "call a function of imprint.numpy.fft."
        )
    if fft_type is FftType.RFFT:
        out = x.with_dtype(dt.to_complex(x.dtype), weak_type=x.weak_type)
        return (out.with_shape((*lead, *fft_lengths[:-1], half)),)
    if fft_type is FftType.IRFFT:
        out = x.with_dtype(dt.real_part_dtype(x.dtype), weak_type=x.weak_type)
        return (out.with_shape((*lead, *fft_lengths)),)
    return (x,)


def _check_dtype(x: ShapedArray, fft_type: FftType) -> None:
    if fft_type is FftType.RFFT:
        if x.dtype not in (dt.float32, dt.float64):
            raise DTypeError(
                f"fft: expected float32 or float64 for RFFT, got {x}. Convert with "
                "`.astype(float)`; of complex numbers take FFT."
            )
    elif not dt.is_complex(x.dtype):
        raise DTypeError(
            f"fft: expected complex numbers for {fft_type.name}, got {x}. Call "
            "imprint.lax.fft, which converts."
        )


def _fft_reference(x: NDArray, *, fft_type: FftType, fft_lengths: Shape) -> NDArray:
    if 0 in fft_lengths:  # NumPy refuses them
        shape, dtype = (*x.shape[: x.ndim - len(fft_lengths)], *fft_lengths), x.dtype
        return np.zeros(shape, x.real.dtype if fft_type is FftType.IRFFT else dtype)
    transform = getattr(np.fft, f"{fft_type.name.lower()}n")
    return transform(x, fft_lengths, range(-len(fft_lengths), 0))


def _fft_lower(b: Builder, x: Value, *, fft_type: FftType, fft_lengths: Shape) -> Value:
    lead, last = x.shape[: x.ndim - len(fft_lengths)], fft_lengths[-1]
    shape, dtype = (*lead, *fft_lengths), x.dtype
    if fft_type is FftType.RFFT:
        shape, dtype = (*shape[:-1], last // 2 + 1), dt.to_complex(dtype)
    elif fft_type is FftType.IRFFT:
        dtype = dt.real_part_dtype(dtype)
    if 0 in shape:
        return b.full(shape, 0, dtype)
    out = tensor(shape, dtype)
    kind, lengths = fft_type.name, list_text(fft_lengths)
    return b.op(
        f"stablehlo.fft {x.name}, type = {kind}, length = {lengths}",
        out,
        signature((x,), (out,)),
    )


def _fft_transpose(
    ct: Any, x: ShapedArray, *, fft_type: FftType, fft_lengths: Shape
) -> Any:
    if fft_type in (FftType.FFT, FftType.IFFT):
        return fft_p.bind1(ct, fft_type=fft_type, fft_lengths=fft_lengths)
    count = dims.concrete(dims.product(fft_lengths), "fft")
    if not count:  # an inverse to nothing
        return full(x.shape, 0, x.dtype)
    if fft_type is FftType.RFFT:
        once = conj(mul(ct, _weights(ct, fft_lengths[-1], 1 / 2)))
        whole = fft_p.bind1(once, fft_type=FftType.IRFFT, fft_lengths=fft_lengths)
        return mul(whole, scalar_like(whole, count))
    half = fft_p.bind1(ct, fft_type=FftType.RFFT, fft_lengths=fft_lengths)
    out = mul(half, _weights(half, fft_lengths[-1], 2))
    return conj(mul(out, scalar_like(out, 1 / count)))


def _weights(half: Any, length: Any, inner: float) -> Any:
    """Return 1 for elements of a half that occur once in the whole, `inner` for others.

    Those have no mirror image: the first, and the last of an even length.
    """
    aval = get_aval(half)
    even = length % 2 == 0
    twice = full((aval.shape[-1] - 1 - even,), inner, aval.dtype)
    weights = pad(twice, scalar_like(twice, 1), ((1, int(even), 0),))
    return broadcast_in_dim(weights, aval.shape, (aval.ndim - 1,))


def _fft_batch(x: Any, b: int, **params: Any) -> Any:
    lead = get_aval(x).ndim - len(params["fft_lengths"])
    if b >= lead:
        x, b = moveaxis(x, b, 0), 0
    return fft_p.bind1(x, **params), b


def _case(fft_type: FftType, shape: Shape, lengths: Shape) -> Case:
    params = {"fft_type": fft_type, "fft_lengths": lengths}
    real = "float64" if fft_type is FftType.RFFT else None
    return Case((shape,), params, (real,))


_CASES: Final = (
    _case(FftType.FFT, (2, 5), (5,)),
    _case(FftType.IFFT, (3, 2, 4), (2, 4)),
    _case(FftType.IRFFT, (2, 3), (4,)),
    _case(FftType.IRFFT, (3, 2, 3), (2, 5)),
    _case(FftType.RFFT, (3, 4), (4,)),
    _case(FftType.RFFT, (2, 3, 5), (3, 5)),
    _case(FftType.FFT, (2, 3, 2), (2, 3, 2)),
    _case(FftType.RFFT, (2, 1), (1,)),
    _case(FftType.IRFFT, (2, 2), (2,)),
    _case(FftType.IRFFT, (1,), (1,)),
    _case(FftType.FFT, (2, 0), (0,)),
    _case(FftType.IRFFT, (2, 1), (0,)),
    Case(((8,),), {"fft_type": FftType.RFFT, "fft_lengths": (8,)}, ("float32",)),
)


def _fft_axes(*, fft_lengths: Shape, **_: Any) -> int:
    return len(fft_lengths)


fft_p: Final = moving(
    "fft",
    aval=_fft_aval,
    reference=_fft_reference,
    lower=_fft_lower,
    fusion=UNFUSED,
    makes_nan=True,
    transpose=_fft_transpose,
    batch=_fft_batch,
    pad=in_batches(
        _fft_axes,
        "each element of a Fourier transform depends on its length",
    ),
    samples=Samples(("complex64", "complex128"), cases=_CASES, ulps=32),
)


def fft(x: Any, fft_type: Any, fft_lengths: Sequence[int]) -> Any:
    """Return the discrete Fourier transform of the last axes.

    Args:
        x: an array; converted to complex numbers, for RFFT to floats.
        fft_type: a `FftType` or its name.
        fft_lengths: the lengths of the last axes, on the side that is no half; one to
            three.

    Returns:
        A complex array; for IRFFT, of floats. Its shape is that of `x`, but the last
        axis has `n // 2 + 1` elements for RFFT and `n` for IRFFT, where `n` is the last
        length. The inverse transforms divide by the number of elements.

    References:
        StableHLO, `fft`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.lax.fft(np.asarray([1.0, 2.0, 3.0, 4.0]), "RFFT", (4,))
        Array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
    """
    kind = _kind(fft_type)
    aval = get_aval(x)
    if kind is FftType.RFFT and not dt.is_complex(aval.dtype):
        dtype = dt.to_inexact(aval.dtype)
    else:
        dtype = dt.to_complex(aval.dtype)
    if aval.dtype != dtype:
        x = convert_element_type(x, dtype)
    lengths = tuple([n if dims.is_symbolic(n) else int_of(n) for n in fft_lengths])
    if not lengths:
        return x
    return fft_p.bind1(x, fft_type=kind, fft_lengths=lengths)


def _kind(fft_type: Any) -> FftType:
    if isinstance(fft_type, FftType):
        return fft_type
    names = [kind.name for kind in FftType]
    if isinstance(fft_type, str) and fft_type in (*names, *map(str.lower, names)):
        return FftType[fft_type.upper()]
    hint = did_you_mean(fft_type.upper(), names) if isinstance(fft_type, str) else ""
    raise ArgumentError(
        f"fft: expected a FftType or its name, one of {names}, got {shown(fft_type)}."
        f"{hint}"
    )
