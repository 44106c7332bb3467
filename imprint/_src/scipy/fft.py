"""Discrete cosine transforms under SciPy's names: dct, idct, dctn, idctn.

All have type 2: a Fourier transform of the elements with even index, followed by those
with odd index in reverse. The inverse has type 3. The parts of complex numbers are
transformed separately.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import Shape
from imprint._src.core.dims import Dim
from imprint._src.errors import ArgumentError, ShapeError, did_you_mean
from imprint._src.numpy.creation import full
from imprint._src.numpy.elementwise.exponential import exp, sqrt
from imprint._src.numpy.elementwise.rounding import imag, real
from imprint._src.numpy.promotion import ArrayLike, as_array, inexact
from imprint._src.numpy.ranges import arange
from imprint._src.numpy.shapes.concatenate import concatenate, stack
from imprint._src.numpy.shapes.reshape import axis_tuple, reshape, size_tuple
from imprint._src.primitives.axes import canonical_axes, canonical_axis
from imprint._src.primitives.core_ops import scalar_like
from imprint._src.primitives.elementwise.complex import complex_
from imprint._src.primitives.indexing.slicing import pad, slice_in_dim
from imprint._src.primitives.shape import expand_dims, rev
from imprint.numpy import fft as fourier

__all__ = ["dct", "dctn", "idct", "idctn"]

_NORMS: Final = ("backward", "ortho")

# ---- one axis ----


def dct(
    x: ArrayLike,
    type: int = 2,  # noqa: A002 - SciPy's name
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
) -> Array:
    """Return the discrete cosine transform along one axis.

    Args:
        x: an array; integers become floats, and the parts of complex numbers are
            transformed separately.
        type: must be 2.
        n: the length to which the axis is cut or padded with zeros; by default its own.
        axis: the axis to transform.
        norm: "ortho" makes the transform orthogonal; "backward", the default, does not.

    Returns:
        The transform, of the shape of `x` but for `n`.

    Raises:
        NotImplementedError: the type is not 2.
        ArgumentError: the norm is unknown.

    References:
        SciPy, `scipy.fft.dct`; Makhoul 1980.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.scipy.fft.dct(np.ones(4)).round(4)
        Array([8., 0., 0., 0.], dtype=float32)
    """
    return _along_one("dct", _forward, x, (type, n, axis, norm))


def idct(
    x: ArrayLike,
    type: int = 2,  # noqa: A002 - SciPy's name
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
) -> Array:
    """Return the inverse of `dct` along one axis.

    Args:
        x: as in `dct`.
        type: the type of the transform to invert; must be 2.
        n: as in `dct`.
        axis: the axis to transform.
        norm: the norm of the transform to invert.

    Returns:
        The inverse, of the shape of `x` but for `n`.

    Raises:
        NotImplementedError: the type is not 2.
        ArgumentError: the norm is unknown.

    References:
        SciPy, `scipy.fft.idct`; Makhoul 1980.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.scipy.fft.idct(np.asarray([8.0, 0.0, 0.0, 0.0]))
        Array([1., 1., 1., 1.], dtype=float32)
    """
    return _along_one("idct", _inverse, x, (type, n, axis, norm))


def _along_one(
    name: str, transform: Callable[..., Array], x: Any, asked: tuple[Any, ...]
) -> Array:
    kind, n, axis, norm = asked
    array = as_array(name, x)
    at = canonical_axis(name, axis, array.ndim)
    lengths = None if n is None else size_tuple(name, n)
    return _transformed(name, transform, array, (kind, lengths, (at,), norm))


# ---- several axes ----


def dctn(
    x: ArrayLike,
    type: int = 2,  # noqa: A002 - SciPy's name
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """Return the discrete cosine transform along several axes.

    Args:
        x: as in `dct`.
        type: as in `dct`.
        s: the lengths to which the axes are cut or padded with zeros.
        axes: the axes; by default as many last axes as `s` has lengths, or all.
        norm: as in `dct`.

    Returns:
        The transform, of the shape of `x` but for `s`.

    Raises:
        NotImplementedError: the type is not 2.
        ArgumentError: the norm is unknown.
        ShapeError: there are not as many lengths as axes.

    References:
        SciPy, `scipy.fft.dctn`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.scipy.fft.dctn(np.ones((2, 2)), norm="ortho").round(4)
        Array([[2., 0.],
               [0., 0.]], dtype=float32)
    """
    return _along_several("dctn", _forward, x, (type, s, axes, norm))


def idctn(
    x: ArrayLike,
    type: int = 2,  # noqa: A002 - SciPy's name
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """Return the inverse of `dctn`.

    Args:
        x: as in `dct`.
        type: as in `idct`.
        s: as in `dctn`.
        axes: as in `dctn`.
        norm: as in `idct`.

    Returns:
        The inverse, of the shape of `x` but for `s`.

    Raises:
        NotImplementedError: the type is not 2.
        ArgumentError: the norm is unknown.
        ShapeError: there are not as many lengths as axes.

    References:
        SciPy, `scipy.fft.idctn`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> x = np.arange(4.0).reshape(2, 2)
        >>> imprint.scipy.fft.idctn(imprint.scipy.fft.dctn(x)).round(4)
        Array([[0., 1.],
               [2., 3.]], dtype=float32)
    """
    return _along_several("idctn", _inverse, x, (type, s, axes, norm))


def _along_several(
    name: str, transform: Callable[..., Array], x: Any, asked: tuple[Any, ...]
) -> Array:
    kind, s, axes, norm = asked
    array = as_array(name, x)
    lengths = None if s is None else size_tuple(name, s)
    if axes is None:
        axes = range(-(array.ndim if lengths is None else len(lengths)), 0)
    along = canonical_axes(name, axis_tuple(name, axes), array.ndim)
    return _transformed(name, transform, array, (kind, lengths, along, norm))


# ---- implementation ----


def _transformed(
    name: str, transform: Callable[..., Array], x: Array, asked: tuple[Any, ...]
) -> Array:
    kind, lengths, along, norm = asked
    if kind != 2:
        raise NotImplementedError(
            f"{name}: expected type=2, got {shown(kind)}. Type 3 is its inverse, up to "
            "the scale: call idct or idctn."
        )
    way = "backward" if norm is None else norm
    if way not in _NORMS:
        raise ArgumentError(
            f"{name}: expected norm to be one of {list(_NORMS)}, got {shown(norm)}."
            f"{did_you_mean(str(norm), _NORMS)}"
        )
    if dtypes.is_complex(x.dtype):
        parts = [_transformed(name, transform, part(x), asked) for part in (real, imag)]
        return complex_(*parts)
    if lengths is not None:
        x = _resized(name, x, lengths, along)
    for axis in along:
        x = inexact(name, x)
        if not dims.has_zero(x.shape):
            x = transform(x, axis, way == "ortho")
    return x


def _resized(name: str, x: Array, lengths: Shape, along: tuple[int, ...]) -> Array:
    if len(lengths) != len(along):
        raise ShapeError(
            f"{name}: expected a length for each of {len(along)} axes, got {lengths}. "
            "Give as many lengths as axes."
        )
    config: list[tuple[Dim, Dim, int]] = [(0, 0, 0)] * x.ndim
    for axis, length in zip(along, lengths, strict=True):
        config[axis] = (0, length - x.shape[axis], 0)
    return pad(x, scalar_like(x, 0), config)


def _forward(x: Array, axis: int, ortho: bool) -> Array:  # noqa: FBT001 - a way of a transform
    count = dims.concrete(x.shape[axis], "dct")
    even = slice_in_dim(x, 0, count, 2, axis)
    odd = rev(slice_in_dim(x, 1, count, 2, axis), (axis,))
    spectrum = fourier.fft(concatenate([even, odd], axis), axis=axis)
    out = 2 * real(spectrum * _turns(spectrum, axis, -0.5))
    return out / sqrt(_twice(out, axis) * count) if ortho else out


def _inverse(x: Array, axis: int, ortho: bool) -> Array:  # noqa: FBT001 - a way of a transform
    count = dims.concrete(x.shape[axis], "idct")
    weights = _twice(x, axis) * count
    x = x / (sqrt(weights) if ortho else weights) * (2 * count)
    out = real(fourier.ifft(x * _turns(x, axis, 0.5), axis=axis))
    half = (count + 1) // 2
    even = slice_in_dim(out, 0, half, axis=axis)
    odd = rev(slice_in_dim(out, half, count, axis=axis), (axis,))
    config = [(0, half - (count - half) if i == axis else 0, 0) for i in range(x.ndim)]
    both = stack([even, pad(odd, scalar_like(odd, 0), config)], axis + 1)
    shape = [2 * half if i == axis else n for i, n in enumerate(x.shape)]
    return slice_in_dim(reshape(both, shape), 0, count, axis=axis)


def _turns(x: Array, axis: int, by: float) -> Array:
    """Return the phase factor of each frequency along an axis."""
    count = dims.concrete(x.shape[axis], "dct")
    places = arange(count, dtype=dtypes.real_part_dtype(x.dtype))
    return _along(exp(places * (by * 1j * math.pi / count)), x.ndim, axis)


def _twice(x: Array, axis: int) -> Array:
    """Return 4 for the first element of an axis and 2 for others."""
    rest = dims.concrete(x.shape[axis], "dct") - 1
    weights = concatenate([full(1, 4, x.dtype), full(rest, 2, x.dtype)])
    return _along(weights, x.ndim, axis)


def _along(vector: Any, rank: int, axis: int) -> Array:
    return expand_dims(vector, tuple(i for i in range(rank) if i != axis))
