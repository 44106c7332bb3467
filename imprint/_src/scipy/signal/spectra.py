"""Short-time Fourier transforms and spectral densities: stft, istft, csd, welch.

A signal is cut into overlapping segments; each is detrended, multiplied by a window and
transformed. Squares of the transforms, or products of two signals' transforms, are the
densities. The inverse adds up windowed segments and divides by the sum of the windows.
A segment is some steps long; the last step may be cut. So segments are rows of one step
next to each other, and their sum is a sum of shifted rows: there is no gather or
scatter.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import numpy

import imprint.numpy as np
from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.dtypes import is_complex, to_inexact
from imprint._src.errors import ArgumentError, AxisError, ShapeError
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    promote_dtypes,
    with_rank,
)
from imprint._src.primitives.axes import canonical_axis, insert, whole
from imprint._src.primitives.elementwise.complex import complex_
from imprint._src.primitives.indexing.slicing import pad
from imprint._src.scipy.signal.trends import detrend as without_trend
from imprint.numpy.fft import fft, fftfreq, ifft, irfft, rfft, rfftfreq

Trend = bool | str | Callable[[Array], Array]
"""The detrending of each segment: none, a mean, a line, or a function."""


def stft(  # noqa: PLR0913, PLR0917 - SciPy's signature
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Trend = False,  # noqa: FBT002 - SciPy's signature
    return_onesided: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
    boundary: str | None = "zeros",
    padded: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """Return frequencies, times, and the short-time Fourier transform of a signal.

    Args:
        x: the signal.
        fs: the sampling frequency.
        window: the name of a window, a tuple of a name and numbers, or an array.
        nperseg: the length of a segment.
        noverlap: the overlap of segments; half of the length, if None.
        nfft: the length of the transform, with zero padding.
        detrend: "constant" or "linear" for `detrend` of each segment, or a function.
        return_onesided: whether to omit the negative frequencies of a real signal.
        boundary: the extension at both ends: "zeros", "even", "odd", "constant", or
            None for no extension.
        padded: whether to add zeros, so that the last segment is complete.
        axis: the axis of time.

    Returns:
        The frequencies and the times, real vectors, and the transform: a complex array with
        frequencies at `axis`, and segments along a new last axis.

    Raises:
        ArgumentError: the window, trend or boundary is unknown, or numbers do not
            match.
        ShapeError: the window does not match.

    References:
        SciPy, `scipy.signal.stft`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import signal
        >>> frequencies, times, spectra = signal.stft(
        ...     np.sin(np.arange(16.0)), nperseg=8
        ... )
        >>> frequencies.shape, times, spectra.shape
        ((5,), Array([ 0.,  4.,  8., 12., 16.], dtype=float32), (5, 5))
    """
    how = _Way(
        "stft",
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        "spectrum",
        axis,
        boundary,
        padded,
    )
    return how.spectra(x, None, is_linear=True)


def csd(  # noqa: PLR0913, PLR0917 - SciPy's signature
    x: ArrayLike,
    y: ArrayLike | None,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Trend = "constant",
    return_onesided: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Return frequencies and the cross spectral density, by Welch's method.

    Args:
        x: a signal.
        y: another signal; None for `welch` of one.
        fs: the sampling frequency.
        window: the name of a window, a tuple of a name and numbers, or an array.
        nperseg: the length of a segment; None for that of the window or the signal.
        noverlap: the overlap of segments; half of the length, if None.
        nfft: the length of the transform, with zero padding.
        detrend: "constant" or "linear" for `detrend` of each segment, a function, or False.
        return_onesided: whether to fold the negative frequencies of real signals.
        scaling: "density", or "spectrum" for the power.
        axis: the axis of time.
        average: "mean" or "median" over the segments.

    Returns:
        The frequencies, a real vector, and the density, a complex array with frequencies at
        `axis`; real, if `y` is None.

    Raises:
        ArgumentError: the window, trend or average is unknown, or numbers do not match.
        ShapeError: the signals do not match.

    References:
        SciPy, `scipy.signal.csd`; Welch 1967.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import signal
        >>> x = np.arange(8.0) % 4
        >>> signal.csd(x, 2 * x, nperseg=4)[1].round(3)
        Array([1.333+0.j, 5.111+0.j, 1.778+0.j], dtype=complex64)
    """
    return _averaged(
        _Way(
            "csd",
            fs,
            window,
            nperseg,
            noverlap,
            nfft,
            detrend,
            return_onesided,
            scaling,
            axis,
        ),
        x,
        y,
        average,
    )


def welch(  # noqa: PLR0913, PLR0917 - SciPy's signature
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Trend = "constant",
    return_onesided: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Return frequencies and the power spectral density of a signal, by Welch's method.

    Args:
        x: the signal.
        fs: the sampling frequency.
        window: the name of a window, a tuple of a name and numbers, or an array.
        nperseg: the length of a segment; None for that of the window or the signal.
        noverlap: the overlap of segments; half of the length, if None.
        nfft: the length of the transform, with zero padding.
        detrend: "constant" or "linear" for `detrend` of each segment, a function, or False.
        return_onesided: whether to fold the negative frequencies of a real signal.
        scaling: "density", or "spectrum" for the power.
        axis: the axis of time.
        average: "mean" or "median" over the segments.

    Returns:
        The frequencies, a real vector, and the density, a real array with frequencies at
        `axis`.

    Raises:
        ArgumentError: the window, trend or average is unknown, or numbers do not match.
        ShapeError: the window does not match.

    References:
        SciPy, `scipy.signal.welch`; Welch 1967.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import signal
        >>> signal.welch(np.arange(8.0) % 4, nperseg=4)[1].round(3)
        Array([0.667, 2.556, 0.889], dtype=float32)
    """
    return _averaged(
        _Way(
            "welch",
            fs,
            window,
            nperseg,
            noverlap,
            nfft,
            detrend,
            return_onesided,
            scaling,
            axis,
        ),
        x,
        None,
        average,
    )


# ---- implementation ----


@dataclass(frozen=True)
class _Way:
    """The parameters of a spectrum: the arguments of the function `name`."""

    name: str
    fs: Any
    window: Any
    nperseg: Any
    noverlap: Any
    nfft: Any
    trend: Trend
    one_sided: bool
    scaling: str
    axis: int
    boundary: str | None = None
    padded: bool = False

    def spectra(
        self, x: ArrayLike, y: ArrayLike | None, *, is_linear: bool = False
    ) -> tuple[Array, Array, Array]:
        """Return frequencies, times, and transforms or their products.

        Args:
            x: a signal.
            y: another one, or None.
            is_linear: whether to return the transform of `x`, not its square.
        """
        promoted = promote_dtypes(self.name, (x,) if y is None else (x, y), to_inexact)
        signals = [as_array(self.name, z) for z in promoted]
        axis = canonical_axis(self.name, self.axis, signals[0].ndim)
        signals = self._aligned(signals, axis)
        dtype = signals[0].dtype
        kind, real = dtypes.to_complex(dtype), dtypes.real_part_dtype(dtype)
        if dims.has_zero([n for z in signals for n in z.shape]):
            empty = np.zeros(_empty_shape(signals, axis), real)
            is_real = y is None and not is_linear
            return empty, empty, empty if is_real else empty.astype(kind)
        given = self.nperseg
        given = None if given is None else whole(self.name, "nperseg", given)
        win, size = window_of(self.name, self.window, given, signals[0].shape[-1])
        win = np.asarray(win).astype(dtype)
        size, step, wide = counts(self.name, size, self.noverlap, self.nfft)
        one_sided = self._is_one_sided(dtype)
        parts = [
            self._transformed(self._cut(z, size, step), win, wide, one_sided=one_sided)
            for z in signals
        ]
        scale = self._scale(win)
        if is_linear:
            out = parts[0] * np.sqrt(scale)
        else:
            out = np.conj(parts[0]) * parts[-1] * scale
            out = out * (
                with_rank(_doubling(wide).astype(real), out.ndim) if one_sided else 1
            )
        out = out.astype(kind)
        if y is None and not is_linear:
            out = np.real(out)
        frequencies = (rfftfreq if one_sided else fftfreq)(
            wide, 1 / self.fs, dtype=real
        )
        first = 0 if self.boundary else size / 2
        middles = first + step * numpy.arange(out.shape[-2])
        times = np.asarray(middles.astype(real)) / self.fs
        return frequencies, times, np.moveaxis(out, -1, axis)

    def _aligned(self, signals: list[Array], axis: int) -> list[Array]:
        """Return the signals along the last axis, padded to the longest."""
        if len({z.ndim for z in signals}) > 1:
            raise self._misfit(signals)
        signals = [np.moveaxis(z, axis, -1) for z in signals]
        if dims.broadcast_shapes([z.shape[:-1] for z in signals]) is None:
            raise self._misfit(signals)
        lengths = [dims.concrete(z.shape[-1], self.name) for z in signals]
        if 0 in lengths:
            return signals
        longest = max(lengths)
        return [extended(z, (0, longest - z.shape[-1])) for z in signals]

    def _misfit(self, signals: list[Array]) -> ShapeError:
        avals = " and ".join(str(z.aval) for z in signals)
        return ShapeError(
            f"{self.name}: expected two signals of as many axes, whose shapes broadcast but "
            f"along the axis of time, got {avals}. Add axes with imprint.numpy.expand_dims."
        )

    def _is_one_sided(self, dtype: Any) -> bool:
        if self.one_sided and is_complex(dtype):
            warnings.warn(
                f"{self.name}: a complex signal has negative frequencies of its own: pass "
                "return_onesided=False.",
                stacklevel=4,
            )
        return self.one_sided and not is_complex(dtype)

    def _cut(self, x: Array, size: int, step: int) -> Array:
        """Return the segments of a signal with its ends extended."""
        if self.boundary not in _BOUNDARIES:
            raise ArgumentError(
                f"{self.name}: expected a boundary of zeros, even, odd, constant or None, "
                f"got {self.boundary!r}."
            )
        x = _BOUNDARIES[self.boundary](x, size // 2)
        rest = -(x.shape[-1] - size) % step % size if self.padded else 0
        return segments(extended(x, (0, rest)), size, step)

    def _transformed(
        self, parts: Array, win: Array, wide: int, *, one_sided: bool
    ) -> Array:
        parts = self._detrended(parts)
        parts = parts * with_rank(win, parts.ndim)
        if one_sided:
            return rfft(np.real(parts), wide)
        return fft(parts, wide)

    def _detrended(self, parts: Array) -> Array:
        trend = self.trend
        if isinstance(trend, str):
            return without_trend(parts, type=trend)
        if callable(trend):
            if self.axis == -1:
                return trend(parts)
            return np.moveaxis(trend(np.moveaxis(parts, -1, self.axis)), self.axis, -1)
        if trend:
            raise ArgumentError(
                f"{self.name}: expected detrend to be constant, linear, a function or "
                f"False, got {trend!r}."
            )
        return parts

    def _scale(self, win: Array) -> Any:
        if self.scaling == "density":
            return 1 / (self.fs * (win * win).sum())
        if self.scaling == "spectrum":
            return 1 / win.sum() ** 2
        raise ArgumentError(
            f"{self.name}: expected a scaling of density or spectrum, got "
            f"{self.scaling!r}."
        )


def _empty_shape(signals: list[Array], axis: int) -> tuple[Any, ...]:
    """Return the shape of the results for empty signals."""
    outer = dims.broadcast_shapes([z.shape[:-1] for z in signals])
    assert outer is not None
    return insert(outer, axis, min(z.shape[-1] for z in signals))


def _doubling(wide: int) -> Any:
    """Return the factor of each frequency: 2, but 1 for 0 and an unpaired last one."""
    factors = numpy.full(wide // 2 + 1, 2.0)
    factors[0] = 1
    if wide % 2 == 0:
        factors[-1] = 1
    return factors


def _odd(x: Array, by: int) -> Array:
    return np.pad(
        x, [(0, 0)] * (x.ndim - 1) + [(by, by)], "reflect", reflect_type="odd"
    )


def _going_on(mode: str) -> Callable[[Array, int], Array]:
    def longer(x: Array, by: int) -> Array:
        return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(by, by)], mode)

    return longer


_BOUNDARIES: Final[dict[str | None, Callable[[Array, int], Array]]] = {
    "even": _going_on("reflect"),
    "odd": _odd,
    "constant": _going_on("edge"),
    "zeros": _going_on("constant"),
    None: lambda x, by: x,
}


def _averaged(
    how: _Way, x: ArrayLike, y: ArrayLike | None, average: str
) -> tuple[Array, Array]:
    """Return frequencies, and the mean or median of densities over segments."""
    if average not in ("mean", "median"):
        raise ArgumentError(
            f"{how.name}: expected an average of mean or median, got {average!r}."
        )
    frequencies, _, out = how.spectra(x, y)
    if out.ndim < 2 or dims.has_zero(out.shape):
        return frequencies, out
    if average == "mean":
        return frequencies, out.mean(axis=-1)
    bias = numpy.asarray(_median_bias(out.shape[-1]), dtypes.real_part_dtype(out.dtype))
    middle = np.median(np.real(out), axis=-1)
    if is_complex(out.dtype):
        middle = complex_(middle, np.median(np.imag(out), axis=-1))
    return frequencies, middle / bias


def _median_bias(count: int) -> float:
    """Return the bias of the median of so many densities of noise of mean 1."""
    even = numpy.arange(2.0, count, 2)
    return 1 + float(numpy.sum(1 / (even + 1) - 1 / even))


def segments(x: Array, length: int, step: int) -> Array:
    """Return the segments, one each `step`, along a new last axis.

    Args:
        x: an array, at least as long as a segment.
        length: that of a segment.
        step: the distance between the starts of segments.
    """
    count = (x.shape[-1] - length) // step + 1
    parts = -(-length // step)
    long = extended(x, (0, (count + parts - 1) * step - x.shape[-1]))
    rows = long.reshape(*x.shape[:-1], -1, step)
    shifted = [rows[..., i : i + count, :] for i in range(parts)]
    return np.concatenate(shifted, axis=-1)[..., :length]


def added(x: Array, step: int) -> Array:
    """Return the sum of overlapping segments: the adjoint of `segments`.

    Args:
        x: segments along the axis before the last.
        step: the distance between the starts of segments.
    """
    count, length = x.shape[-2:]
    parts = -(-length // step)
    long = extended(x, (0, parts * step - length))
    total = np.zeros((), x.dtype)
    for i in range(parts):
        part = long[..., i * step : (i + 1) * step]
        total = total + extended(part, (i, parts - 1 - i), axis=-2)
    flat = total.reshape(*x.shape[:-2], -1)
    return flat[..., : (count - 1) * step + length]


def extended(x: Array, by: tuple[int, int], axis: int = -1) -> Array:
    """Return an array with zeros at both ends of an axis; negative numbers cut."""
    edges = [(0, 0, 0)] * x.ndim
    edges[axis] = (*by, 0)
    return pad(x, np.zeros((), x.dtype), edges)


def window_of(
    name: str, window: Any, length: int | None, limit: int
) -> tuple[Any, int]:
    """Return the elements of a window, and their number.

    Args:
        name: the public function, for errors.
        window: a name, a tuple of a name and numbers, or an array.
        length: of a segment; None for that of the array, or the whole signal.
        limit: the length of the signal.
    """
    if isinstance(window, str | tuple):
        size = limit if length is None else length
        if size > limit:
            warnings.warn(
                f"{name}: the signal has {limit} elements, fewer than nperseg={size}: "
                f"it is one segment of {limit}.",
                stacklevel=4,
            )
            size = limit
        return named_window(name, window, size), size
    win = as_array(name, window)
    size = win.size if length is None else length
    if win.ndim != 1 or size != win.size or size > limit:
        raise ShapeError(
            f"{name}: expected a window of nperseg numbers, at most {limit}, which the "
            f"signal has, got {win.aval} and nperseg={length}."
        )
    return win, size


def named_window(name: str, window: Any, length: int) -> Any:
    """Return the elements of a window that SciPy has by name."""
    if window == "hann":
        return numpy.sin(numpy.pi / length * numpy.arange(length)) ** 2 + (length == 1)
    known: Any = import_module("scipy.signal.windows")
    try:
        return known.get_window(window, length)
    except ValueError as err:
        raise ArgumentError(
            f"{name}: expected a window of scipy.signal.windows, or an array, got "
            f"{window!r}."
        ) from err


def counts(name: str, nperseg: Any, noverlap: Any, nfft: Any) -> tuple[int, int, int]:
    """Return the length of segments, their step, and the length of transforms.

    Args:
        name: the public function, for errors.
        nperseg: the length of segments.
        noverlap: the overlap of segments; None for half of the length.
        nfft: the length of transforms; None for that of segments.
    """
    length = whole(name, "nperseg", nperseg)
    overlap = length // 2 if noverlap is None else whole(name, "noverlap", noverlap)
    wide = length if nfft is None else whole(name, "nfft", nfft)
    if length < 1 or not 0 <= overlap < length or wide < length:
        raise ArgumentError(
            f"{name}: expected nperseg of 1 or more, noverlap in [0, nperseg), and nfft of "
            f"nperseg or more, got nperseg={length}, noverlap={overlap}, nfft={wide}."
        )
    return length, length - overlap, wide


_LEAST = 1e-10


def istft(  # noqa: PLR0913, PLR0917 - SciPy's signature
    Zxx: ArrayLike,  # noqa: N803 - SciPy's name
    fs: ArrayLike = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
    boundary: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """Return times and the signal with a short-time Fourier transform.

    Args:
        Zxx: the transform, as `stft` returns it.
        fs: the sampling frequency.
        window: the window of `stft`.
        nperseg: the length of a segment; None to infer it from the frequencies.
        noverlap: the overlap of segments; half of the length, if None.
        nfft: the length of the transforms, if segments were padded with zeros.
        input_onesided: whether negative frequencies are omitted.
        boundary: whether the signal was extended at its ends; these are cut off.
        time_axis: the axis of segments.
        freq_axis: the axis of frequencies.

    Returns:
        The times, a real vector, and the signal, with `time_axis` in place of both axes;
        real, if `input_onesided`.

    Raises:
        ShapeError: there are fewer than two axes, or the window does not match.
        AxisError: both axes are the same.
        ArgumentError: numbers do not match.

    References:
        SciPy, `scipy.signal.istft`; Griffin and Lim 1984.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import signal
        >>> spectra = signal.stft(np.array([1.0, 2, 3, 2, 1, 0, 1, 2]), nperseg=4)[2]
        >>> signal.istft(spectra)[1].round(3)
        Array([1., 2., 3., 2., 1., 0., 1., 2.], dtype=float32)
    """
    z = as_array("istft", Zxx)
    if z.ndim < 2:
        raise ShapeError(
            "istft: expected an axis of frequencies and one of segments, got "
            f"{z.aval}. Pass what stft returns last."
        )
    of_frequency = canonical_axis("istft", freq_axis, z.ndim)
    of_time = canonical_axis("istft", time_axis, z.ndim)
    if of_frequency == of_time:
        raise AxisError(
            f"istft: expected time_axis and freq_axis to differ, got {of_time} for both."
        )
    z = np.moveaxis(
        z.astype(dtypes.to_complex(z.dtype)), (of_time, of_frequency), (-2, -1)
    )
    count = dims.concrete(z.shape[-1], "istft")
    usual = 2 * (count - 1) if input_onesided else count
    size = usual if nperseg is None else whole("istft", "nperseg", nperseg)
    if nfft is None:
        nfft = usual + (input_onesided and size == usual + 1)
    size, step, wide = counts("istft", size, noverlap, nfft)
    win, _ = window_of("istft", window, size, size)

    parts = (irfft if input_onesided else ifft)(z, wide)[..., :size]
    win = np.asarray(win).astype(parts.dtype)
    x = added(parts * with_rank(win, parts.ndim) * win.sum(), step)
    weight = added(np.broadcast_to(win * win, parts.shape[-2:]), step)
    if boundary:
        end = x.shape[-1] - size // 2
        x, weight = x[..., size // 2 : end], weight[size // 2 : end]
    x = x / with_rank(np.where(abs(weight) > _LEAST, weight, 1), x.ndim)
    real = dtypes.real_part_dtype(x.dtype)
    times = np.arange(x.shape[-1], dtype=real) / fs
    return times, np.moveaxis(x, -1, of_time - (of_frequency < of_time))
