"""Discrete Fourier transforms along axes, and their inverses, under NumPy's names.

All fourteen are `_transform`:

1. Cut or pad each axis to the requested length.
2. Transform up to three axes at a time; real transforms first, their inverses last.
3. Scale by the norm: "backward" divides the inverse by the number of elements,
   "forward" the other direction, "ortho" each by its root.

`hfft` and `ihfft` are the inverses of real transforms, with exchanged roles.
"""

import math
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import Shape
from imprint._src.core.dims import Dim
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, DTypeError, ShapeError, did_you_mean
from imprint._src.numpy.elementwise.rounding import conjugate
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.numpy.shapes.reshape import axis_tuple, moveaxis, size_tuple
from imprint._src.primitives import fft as primitive
from imprint._src.primitives.axes import canonical_axes
from imprint._src.primitives.core_ops import mul, scalar_like
from imprint._src.primitives.fft import FftType
from imprint._src.primitives.indexing.slicing import pad

Norm: TypeAlias = Literal["backward", "ortho", "forward"]

_INVERSE: Final = (FftType.IFFT, FftType.IRFFT)
_REVERSED: Final = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
_TOGETHER: Final = 3
"""The number of axes that XLA transforms at once."""

# ---- one axis ----


@fuse_eager
def fft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm | None = None
) -> Array:
    """Return the discrete Fourier transform along one axis.

    Args:
        a: an array.
        n: the length to which the axis is cut or padded with zeros; by default its own.
        axis: the axis to transform.
        norm: the direction to divide by the length: "backward", the default, "forward",
            or "ortho" for each by its root.

    Returns:
        A complex array of the shape of `a`, but `n` long along the axis.

    References:
        NumPy, `numpy.fft.fft`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.fft(np.asarray([1.0, 2.0, 3.0, 4.0]))
        Array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j], dtype=complex64)
    """
    return _along_one("fft", FftType.FFT, a, n, axis, norm)


@fuse_eager
def ifft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm | None = None
) -> Array:
    """Return the inverse of `fft` along one axis.

    Args:
        a: an array.
        n: the length to which the axis is cut or padded with zeros; by default its own.
        axis: the axis to transform.
        norm: the direction to divide by the length: "backward", the default, "forward",
            or "ortho" for each by its root.

    Returns:
        A complex array of the shape of `a`, but `n` long along the axis.

    References:
        NumPy, `numpy.fft.ifft`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.ifft(np.fft.fft(np.asarray([1.0, 2.0, 3.0, 4.0])))
        Array([1.+0.j, 2.+0.j, 3.+0.j, 4.+0.j], dtype=complex64)
    """
    return _along_one("ifft", FftType.IFFT, a, n, axis, norm)


@fuse_eager
def rfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm | None = None
) -> Array:
    """Return the nonnegative half of the transform of real numbers.

    Args:
        a: an array of real numbers.
        n: the length to which the axis is cut or padded with zeros; by default its own.
        axis: the axis to transform.
        norm: the direction to divide by the length: "backward", the default, "forward",
            or "ortho" for each by its root.

    Returns:
        A complex array of the shape of `a`, but n // 2 + 1 long along the axis.

    Raises:
        DTypeError: `a` is complex, or a float of 16 bits.

    References:
        NumPy, `numpy.fft.rfft`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.rfft(np.asarray([1.0, 2.0, 3.0, 4.0]))
        Array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
    """
    return _along_one("rfft", FftType.RFFT, a, n, axis, norm)


@fuse_eager
def irfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm | None = None
) -> Array:
    """Return the inverse of `rfft` along one axis: real numbers.

    Args:
        a: an array, the first half of a transform.
        n: the length of the result; by default 2 (m - 1) for an axis of length m.
        axis: the axis to transform.
        norm: the direction to divide by the length: "backward", the default, "forward",
            or "ortho" for each by its root.

    Returns:
        A real array of the shape of `a`, but `n` long along the axis.

    References:
        NumPy, `numpy.fft.irfft`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.irfft(np.asarray([10.0, -2 + 2j, -2.0]))
        Array([1., 2., 3., 4.], dtype=float32)
    """
    return _along_one("irfft", FftType.IRFFT, a, n, axis, norm)


@fuse_eager
def hfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm | None = None
) -> Array:
    """Return the real transform of a Hermitian signal, of which half is given.

    Args:
        a: the nonnegative half of the signal.
        n: the length of the result; by default 2 (m - 1) for an axis of length m.
        axis: the axis to transform.
        norm: the direction to divide by the length: "backward", the default, "forward",
            or "ortho" for each by its root.

    Returns:
        A real array of the shape of `a`, but `n` long along the axis.

    References:
        NumPy, `numpy.fft.hfft`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.hfft(np.asarray([1.0, 2.0, 3.0]))
        Array([ 8., -2.,  0., -2.], dtype=float32)
    """
    reverse: Any = _REVERSED[_checked_norm("hfft", norm)]
    return _along_one("hfft", FftType.IRFFT, conjugate(a), n, axis, reverse)


@fuse_eager
def ihfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm | None = None
) -> Array:
    """Return the inverse of `hfft`: the nonnegative half of the signal.

    Args:
        a: an array of real numbers.
        n: the length to which the axis is cut or padded with zeros; by default its own.
        axis: the axis to transform.
        norm: the direction to divide by the length: "backward", the default, "forward",
            or "ortho" for each by its root.

    Returns:
        A complex array of the shape of `a`, but n // 2 + 1 long along the axis.

    Raises:
        DTypeError: `a` is complex, or a float of 16 bits.

    References:
        NumPy, `numpy.fft.ihfft`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.ihfft(np.asarray([8.0, -2.0, 0.0, -2.0]))
        Array([1.-0.j, 2.-0.j, 3.-0.j], dtype=complex64)
    """
    reverse: Any = _REVERSED[_checked_norm("ihfft", norm)]
    return conjugate(_along_one("ihfft", FftType.RFFT, a, n, axis, reverse))


def _along_one(name: str, kind: FftType, a: Any, n: Any, axis: Any, norm: Any) -> Array:
    if isinstance(axis, Sequence):
        raise ArgumentError(
            f"{name}: expected one axis, got {shown(axis)}. For several call "
            f"imprint.numpy.fft.{_of_several(name)}."
        )
    lengths = None if n is None else size_tuple(name, n)
    return _transform(name, kind, a, lengths, (axis,), norm)


def _of_several(name: str) -> str:
    return {"hfft": "irfftn", "ihfft": "rfftn"}.get(name, f"{name}n")


# ---- several axes ----


@fuse_eager
def fft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: Norm | None = None,
) -> Array:
    """Return the discrete Fourier transform along two axes.

    Args:
        a: an array.
        s: the lengths to which the axes are cut or padded with zeros; by default their
            own.
        axes: two axes; the last by default.
        norm: as in `fft`.

    Returns:
        A complex array of the shape of `a`, but of lengths `s` along the axes.

    References:
        NumPy, `numpy.fft.fft2`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.fft2(np.ones((2, 3))).real
        Array([[6., 0., 0.],
               [0., 0., 0.]], dtype=float32)
    """
    return _along_two("fft2", FftType.FFT, a, s, axes, norm)


@fuse_eager
def ifft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: Norm | None = None,
) -> Array:
    """Return the inverse of `fft2`.

    Args:
        a: an array.
        s: the lengths to which the axes are cut or padded with zeros; by default their
            own.
        axes: two axes; the last by default.
        norm: as in `fft`.

    Returns:
        A complex array of the shape of `a`, but of lengths `s` along the axes.

    References:
        NumPy, `numpy.fft.ifft2`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.ifft2(np.full((2, 3), 6.0)).real
        Array([[6., 0., 0.],
               [0., 0., 0.]], dtype=float32)
    """
    return _along_two("ifft2", FftType.IFFT, a, s, axes, norm)


@fuse_eager
def rfft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: Norm | None = None,
) -> Array:
    """Return the transform of real numbers along two axes: half of the last axis.

    Args:
        a: an array of real numbers.
        s: the lengths to which the axes are cut or padded with zeros; by default their
            own.
        axes: two axes; the last by default.
        norm: as in `fft`.

    Returns:
        A complex array of the shape of `a`, but of lengths `s` along the axes, of which
        the last is halved, s[-1] // 2 + 1.

    Raises:
        DTypeError: `a` is complex, or a float of 16 bits.

    References:
        NumPy, `numpy.fft.rfft2`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.rfft2(np.ones((2, 3))).shape
        (2, 2)
    """
    return _along_two("rfft2", FftType.RFFT, a, s, axes, norm)


@fuse_eager
def irfft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: Norm | None = None,
) -> Array:
    """Return the inverse of `rfft2`: real numbers.

    Args:
        a: an array, half of a transform.
        s: the lengths of the axes of the result; by default their own, and for the last
            axis 2 (m - 1) for its length m.
        axes: two axes; the last by default.
        norm: as in `fft`.

    Returns:
        A real array of the shape of `a`, but of lengths `s` along the axes.

    References:
        NumPy, `numpy.fft.irfft2`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.irfft2(np.ones((2, 3)), s=(2, 5)).shape
        (2, 5)
    """
    return _along_two("irfft2", FftType.IRFFT, a, s, axes, norm)


@fuse_eager
def fftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm | None = None,
) -> Array:
    """Return the discrete Fourier transform along several axes.

    Args:
        a: an array.
        s: the lengths to which the axes are cut or padded with zeros; by default their
            own.
        axes: the axes; by default as many last axes as `s` has lengths, or all.
        norm: as in `fft`.

    Returns:
        A complex array of the shape of `a`, but of lengths `s` along the axes.

    References:
        NumPy, `numpy.fft.fftn`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.fftn(np.ones((2, 2, 2)))[0, 0]
        Array([8.+0.j, 0.+0.j], dtype=complex64)
    """
    return _transform("fftn", FftType.FFT, a, s, axes, norm)


@fuse_eager
def ifftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm | None = None,
) -> Array:
    """Return the inverse of `fftn`.

    Args:
        a: an array.
        s: the lengths to which the axes are cut or padded with zeros; by default their
            own.
        axes: the axes; by default as many last axes as `s` has lengths, or all.
        norm: as in `fft`.

    Returns:
        A complex array of the shape of `a`, but of lengths `s` along the axes.

    References:
        NumPy, `numpy.fft.ifftn`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.ifftn(np.ones((2, 2, 2)))[0, 0]
        Array([1.+0.j, 0.+0.j], dtype=complex64)
    """
    return _transform("ifftn", FftType.IFFT, a, s, axes, norm)


@fuse_eager
def rfftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm | None = None,
) -> Array:
    """Return the transform of real numbers along several axes: half of the last axis.

    Args:
        a: an array of real numbers.
        s: the lengths to which the axes are cut or padded with zeros; by default their
            own.
        axes: the axes; by default as many last axes as `s` has lengths, or all.
        norm: as in `fft`.

    Returns:
        A complex array of the shape of `a`, but of lengths `s` along the axes, of which
        the last is halved, s[-1] // 2 + 1.

    Raises:
        DTypeError: `a` is complex, or a float of 16 bits.

    References:
        NumPy, `numpy.fft.rfftn`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.rfftn(np.ones((2, 3, 4))).shape
        (2, 3, 3)
    """
    return _transform("rfftn", FftType.RFFT, a, s, axes, norm)


@fuse_eager
def irfftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm | None = None,
) -> Array:
    """Return the inverse of `rfftn`: real numbers.

    Args:
        a: an array, half of a transform.
        s: the lengths of the axes of the result; by default their own, and for the last
            axis 2 (m - 1) for its length m.
        axes: the axes; by default as many last axes as `s` has lengths, or all.
        norm: as in `fft`.

    Returns:
        A real array of the shape of `a`, but of lengths `s` along the axes.

    References:
        NumPy, `numpy.fft.irfftn`.

    Example:
        >>> import imprint.numpy as np
        >>> np.fft.irfftn(np.ones((2, 3, 3))).shape
        (2, 3, 4)
    """
    return _transform("irfftn", FftType.IRFFT, a, s, axes, norm)


def _along_two(name: str, kind: FftType, a: Any, s: Any, axes: Any, norm: Any) -> Array:
    if len(axis_tuple(name, axes)) != 2:
        raise ArgumentError(
            f"{name}: expected two axes, got {shown(axes)}. For another number call "
            f"imprint.numpy.fft.{name[:-1]}n."
        )
    return _transform(name, kind, a, s, axes, norm)


# ---- implementation ----


def _transform(name: str, kind: FftType, a: Any, s: Any, axes: Any, norm: Any) -> Array:
    x = as_array(name, a)
    way = _checked_norm(name, norm)
    _check_dtype(name, kind, x)
    asked = None if s is None else size_tuple(name, s)
    along = _axes(name, x.ndim, asked, axes)
    # 1. Cut or pad.
    if asked is not None:
        _check_lengths(name, asked, along)
        x = _resized(x, kind, asked, along)
    lengths = _full_lengths(kind, x.shape, along) if asked is None else asked
    if kind is FftType.RFFT and lengths and dims.has_zero(lengths[-1:]):
        raise ShapeError(
            f"{name}: expected numbers along axis {along[-1]}, got {x.aval}. Leave an "
            "array without elements as it is."
        )
    # 2. Transform.
    out = _transformed(x, kind, lengths, along)
    # 3. Scale.
    if way == "backward" or dims.has_zero(lengths):
        return out
    count = dims.concrete(dims.product(lengths), name)
    root = 1 / 2 if way == "ortho" else 1
    power = root if kind in _INVERSE else -root
    return mul(out, scalar_like(out, math.pow(count, power)))


def _checked_norm(name: str, norm: Any) -> str:
    way = "backward" if norm is None else norm
    if isinstance(way, str) and way in _REVERSED:
        return way
    hint = did_you_mean(norm, _REVERSED) if isinstance(norm, str) else ""
    raise ArgumentError(
        f"{name}: expected norm to be one of {list(_REVERSED)}, got {shown(norm)}.{hint}"
    )


def _check_dtype(name: str, kind: FftType, x: Array) -> None:
    if kind is not FftType.RFFT:
        return
    if dtypes.is_complex(x.dtype):
        whole = name.replace("ihfft", "ifft").replace("rfft", "fft")
        raise DTypeError(
            f"{name}: expected real numbers, got {x.aval}. Call imprint.numpy.fft.{whole},"
            " or take a part first: imprint.numpy.real."
        )
    if dtypes.to_inexact(x.dtype).itemsize < 4:
        raise DTypeError(
            f"{name}: expected float32, float64 or integers, got {x.aval}. Convert with "
            "`.astype(float)`."
        )


def _axes(name: str, rank: int, asked: Shape | None, axes: Any) -> tuple[int, ...]:
    if axes is not None:
        given = axis_tuple(name, axes)
    else:
        given = range(-(rank if asked is None else len(asked)), 0)
    return canonical_axes(name, given, rank)


def _check_lengths(name: str, asked: Shape, along: tuple[int, ...]) -> None:
    if len(asked) != len(along):
        raise ShapeError(
            f"{name}: expected a length for each of {len(along)} axes, got {asked}. "
            "Give as many lengths as axes."
        )
    if dims.has_zero(asked) or dims.has_negative(asked):
        raise ShapeError(
            f"{name}: expected lengths of at least 1, got {asked}. Leave them out to "
            "keep those of the array."
        )


def _resized(x: Array, kind: FftType, asked: Shape, along: tuple[int, ...]) -> Array:
    wanted = list(asked)
    if kind is FftType.IRFFT:
        wanted[-1:] = [n // 2 + 1 for n in asked[-1:]]
    config: list[tuple[Dim, Dim, int]] = [(0, 0, 0)] * x.ndim
    for axis, length in zip(along, wanted, strict=True):
        config[axis] = (0, length - x.shape[axis], 0)
    if all(dims.is_same(high, 0) for _, high, _ in config):
        return x
    return pad(x, scalar_like(x, 0), config)


def _full_lengths(kind: FftType, shape: Shape, along: tuple[int, ...]) -> Shape:
    """Return the lengths of the axes on the full side of a half transform."""
    lengths = tuple([shape[axis] for axis in along])
    if kind is FftType.IRFFT and lengths:
        return (*lengths[:-1], dims.maximum(0, 2 * (lengths[-1] - 1)))
    return lengths


def _transformed(
    x: Array, kind: FftType, lengths: Shape, along: tuple[int, ...]
) -> Array:
    """Transform along any number of axes, at most three at once."""
    rest = max(0, len(along) - _TOGETHER)
    others, last = (lengths[:rest], along[:rest]), (lengths[rest:], along[rest:])
    if kind in _INVERSE:
        x = _transformed(x, FftType.IFFT, *others) if rest else x
        return _at_once(x, kind, *last)
    x = _at_once(x, kind, *last)
    return _transformed(x, FftType.FFT, *others) if rest else x


def _at_once(x: Array, kind: FftType, lengths: Shape, along: tuple[int, ...]) -> Array:
    end = tuple(range(x.ndim - len(along), x.ndim))
    if along == end:  # an identity transpose costs 4 us
        return primitive.fft(x, kind, lengths)
    x = moveaxis(x, along, end)
    return moveaxis(primitive.fft(x, kind, lengths), end, along)
