"""Convolution and correlation of arrays of any number of axes.

Direct ones are `imprint.lax.conv_general_dilated` with one batch and one feature; the
kernel is the smaller array. `fftconvolve` multiplies transforms. Integers become
floats.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import imprint.numpy as np
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.dims import Dim
from imprint._src.dtypes import is_complex, to_inexact
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.interpreters.vmap import vmap
from imprint._src.lax.convolution import conv_general_dilated
from imprint._src.numpy.fft.transforms import fftn, ifftn, irfftn, rfftn
from imprint._src.numpy.promotion import ArrayLike, as_array, promote_dtypes
from imprint._src.primitives.axes import canonical_axes
from imprint._src.primitives.elementwise.complex import conj
from imprint._src.primitives.indexing.slicing import slice_
from imprint._src.primitives.shape import rev

_MODES = ("full", "same", "valid")


def convolve(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    method: str = "auto",
    precision: Any = None,
) -> Array:
    """Return the convolution of two arrays of any number of axes.

    Args:
        in1: an array.
        in2: an array with as many axes; one of both is at least as long along each
            axis.
        mode: "full" for every shift with an overlap, "same" for the shape of `in1`,
            "valid" for shifts with full overlap.
        method: "direct", "fft", or "auto", which is "direct".
        precision: the precision of products, as in `imprint.lax.conv_general_dilated`.

    Returns:
        The convolution, in the common inexact dtype. Along an axis of lengths n and m it
        has `n + m - 1` elements for "full", n for "same" and `abs(n - m) + 1` for "valid".

    Raises:
        ShapeError: the arrays are empty, or do not match.
        ArgumentError: the mode or method is unknown.

    References:
        SciPy, `scipy.signal.convolve`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import signal
        >>> signal.convolve(np.array([1, 2, 3]), np.array([1, 1]), mode="valid")
        Array([3., 5.], dtype=float32)
    """
    if method not in ("auto", "direct", "fft"):
        raise ArgumentError(
            f"convolve: expected a method of auto, direct or fft, got {method!r}."
        )
    if method == "fft":
        return fftconvolve(in1, in2, mode)
    return _convolved(
        "convolve", *_operands("convolve", in1, in2, mode), mode, precision
    )


def convolve2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """Return the convolution of two matrices.

    Args:
        in1: an array of two axes.
        in2: an array of two axes.
        mode: "full", "same" or "valid", as in `convolve`.
        boundary: must be "fill", as in JAX.
        fillvalue: must be 0, as in JAX.
        precision: the precision of products, as in `imprint.lax.conv_general_dilated`.

    Returns:
        The convolution, in the common inexact dtype.

    Raises:
        ShapeError: an array does not have two axes, or they do not match.
        ArgumentError: the mode or boundary is unknown.

    References:
        SciPy, `scipy.signal.convolve2d`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import signal
        >>> signal.convolve2d(np.ones((2, 2)), np.ones((2, 2)))
        Array([[1., 2., 1.],
               [2., 4., 2.],
               [1., 2., 1.]], dtype=float32)
    """
    x, y = _planes("convolve2d", in1, in2, mode, (boundary, fillvalue))
    return _convolved("convolve2d", x, y, mode, precision)


def correlate(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    method: str = "auto",
    precision: Any = None,
) -> Array:
    """Return the correlation: the convolution with the reversed conjugate.

    Args:
        in1: an array.
        in2: an array with as many axes.
        mode: "full", "same" or "valid", as in `convolve`.
        method: "direct", "fft", or "auto", which is "direct".
        precision: the precision of products, as in `imprint.lax.conv_general_dilated`.

    Returns:
        The correlation, in the common inexact dtype.

    Raises:
        ShapeError: the arrays are empty, or do not match.
        ArgumentError: the mode or method is unknown.

    References:
        SciPy, `scipy.signal.correlate`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import signal
        >>> signal.correlate(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0]))
        Array([1., 2., 3., 0.], dtype=float32)
    """
    y = as_array("correlate", in2)
    return convolve(in1, _turned(_conjugate(y)), mode, method, precision)


def correlate2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """Return the correlation of two matrices.

    Args:
        in1: an array of two axes.
        in2: an array of two axes.
        mode: "full", "same" or "valid", as in `convolve`.
        boundary: must be "fill", as in JAX.
        fillvalue: must be 0, as in JAX.
        precision: the precision of products, as in `imprint.lax.conv_general_dilated`.

    Returns:
        The correlation, in the common inexact dtype.

    Raises:
        ShapeError: an array does not have two axes, or they do not match.
        ArgumentError: the mode or boundary is unknown.

    References:
        SciPy, `scipy.signal.correlate2d`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import signal
        >>> signal.correlate2d(np.eye(2), np.eye(2), mode="valid")
        Array([[2.]], dtype=float32)
    """
    x, y = _planes("correlate2d", in1, in2, mode, (boundary, fillvalue))
    run = partial(_convolved, "correlate2d", mode=mode, precision=precision)
    if mode == "same" or not _is_within(x, y) or _is_within(y, x) == (mode == "valid"):
        return _turned(run(_turned(x), _conjugate(y)))
    out = run(_turned(y), _conjugate(x))
    return out if mode == "valid" else _conjugate(out)


def fftconvolve(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    axes: int | Sequence[int] | None = None,
) -> Array:
    """Return the convolution of two arrays, by their Fourier transforms.

    Args:
        in1: an array.
        in2: an array with as many axes.
        mode: "full", "same" or "valid", as in `convolve`.
        axes: the axes to convolve; None for all. Along others lengths are equal, and
            the arrays are multiplied elementwise.

    Returns:
        The convolution, in the common inexact dtype.

    Raises:
        ShapeError: the arrays do not match.
        ArgumentError: the mode is unknown.

    References:
        SciPy, `scipy.signal.fftconvolve`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import signal
        >>> signal.fftconvolve(np.array([1.0, 2.0]), np.array([1.0, 1.0])).round(3)
        Array([1., 3., 2.], dtype=float32)
    """
    x, y = _operands("fftconvolve", in1, in2, mode)
    run = partial(_transformed, mode=mode)
    if axes is None:
        return run(x, y)
    given = (axes,) if isinstance(axes, int) else axes
    own = canonical_axes("fftconvolve", given, x.ndim)
    others = [i for i in range(x.ndim) if i not in own]
    if not all(dims.equal(x.shape[i], y.shape[i]) for i in others):
        raise ShapeError(
            f"fftconvolve: expected arrays that are equally long but along axes {own}, "
            f"got {x.aval} and {y.aval}."
        )
    for axis in others:
        run = vmap(run, in_axes=axis, out_axes=axis)
    return run(x, y)


# ---- implementation ----


def _operands(
    name: str, in1: ArrayLike, in2: ArrayLike, mode: str
) -> tuple[Array, Array]:
    x, y = (as_array(name, z) for z in promote_dtypes(name, (in1, in2), to_inexact))
    if mode not in _MODES:
        raise ArgumentError(f"{name}: expected a mode of {_MODES}, got {mode!r}.")
    if x.ndim != y.ndim or dims.has_zero((*x.shape, *y.shape)):
        raise ShapeError(
            f"{name}: expected two arrays of as many axes that are not empty, got "
            f"{x.aval} and {y.aval}. Add axes with imprint.numpy.expand_dims."
        )
    return x, y


def _planes(
    name: str,
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str,
    boundary: tuple[str, float],
) -> tuple[Array, Array]:
    x, y = _operands(name, in1, in2, mode)
    if boundary != ("fill", 0):
        raise ArgumentError(
            f"{name}: expected boundary='fill' and fillvalue=0, got boundary="
            f"{boundary[0]!r} and fillvalue={boundary[1]}. Pad with imprint.numpy.pad."
        )
    if x.ndim != 2:
        raise ShapeError(
            f"{name}: expected two arrays of two axes, got {x.aval} and {y.aval}. Call "
            "imprint.scipy.signal.convolve, or map with imprint.vmap."
        )
    return x, y


def _is_within(x: Array, y: Array) -> bool:
    """Return whether `x` is at most as long as `y` along each axis."""
    return all(dims.at_least(m, n) for n, m in zip(x.shape, y.shape, strict=True))


def _fitted(name: str, x: Array, y: Array) -> bool:
    """Return whether `x` is the smaller one; raise if neither is."""
    is_smaller = _is_within(x, y)
    if not is_smaller and not _is_within(y, x):
        raise ShapeError(
            f"{name}: expected one array that is along each axis as long as the other, "
            f"got {x.aval} and {y.aval}. Pad one with imprint.numpy.pad."
        )
    return is_smaller


def _turned(x: Array) -> Array:
    return rev(x, tuple(range(x.ndim)))


def _conjugate(x: Array) -> Array:
    return conj(x) if is_complex(x.dtype) else x


def _convolved(name: str, x: Array, y: Array, mode: str, precision: Any) -> Array:
    shape = y.shape
    if _fitted(name, x, y):
        x, y = y, x
    pads = [_pads(mode, n, other) for n, other in zip(y.shape, shape, strict=True)]
    out = conv_general_dilated(
        np.expand_dims(x, (0, 1)),
        np.expand_dims(_turned(y), (0, 1)),
        (1,) * x.ndim,
        pads,
        precision=precision,
    )
    return np.squeeze(out, (0, 1))


def _pads(mode: str, n: Dim, other: Dim) -> tuple[Dim, Dim]:
    """Return the padding for a kernel of length n and a second operand `other`."""
    if mode == "valid":
        return 0, 0
    if mode == "full":
        return n - 1, n - 1
    half = (other - 1) // 2
    return n - 1 - half, n - other + half


def _transformed(x: Array, y: Array, mode: str) -> Array:
    whole = tuple([n + m - 1 for n, m in zip(x.shape, y.shape, strict=True)])
    if mode == "valid" and _fitted("fftconvolve", x, y):
        x, y = y, x
    if is_complex(x.dtype):
        out = ifftn(fftn(x, whole) * fftn(y, whole), whole)
    else:
        out = irfftn(rfftn(x, whole) * rfftn(y, whole), whole)
    shape = {
        "full": whole,
        "same": x.shape,
        "valid": tuple([n - m + 1 for n, m in zip(x.shape, y.shape, strict=True)]),
    }[mode]
    start = [(n - m) // 2 for n, m in zip(whole, shape, strict=True)]
    stop = [at + m for at, m in zip(start, shape, strict=True)]
    return slice_(out, tuple(start), tuple(stop))
