"""Signals from their short transforms: `istft`, the inverse of `stft`.

Segments are transformed back, multiplied by their window and added where they overlap; what
the windows add up to is divided out.
"""

from typing import Any

import imprint.numpy as np
from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.errors import AxisError, ShapeError
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.primitives.axes import canonical_axis, whole
from imprint._src.scipy.signal.segments import added, counts, window_of
from imprint.numpy.fft import ifft, irfft

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
    """Return times and the signal of which `stft` gives these transforms.

    Args:
        Zxx: what `stft` returned last.
        fs: how many elements there are in a unit of time.
        window: the one that `stft` had.
        nperseg: how long a segment is; what the number of frequencies says, if None.
        noverlap: how much of it is in the next one; half of it, if None.
        nfft: how long the transforms are, if segments were extended by zeros.
        input_onesided: whether negative frequencies were left out.
        boundary: whether the signal went on at its ends, which is cut off.
        time_axis: the axis of segments.
        freq_axis: the axis of frequencies.

    Raises:
        ShapeError: there are fewer than two axes, or the window does not fit.
        AxisError: both axes are one.
        ArgumentError: numbers do not fit.

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
    x = added(parts * win * win.sum(), step)
    weight = added(np.broadcast_to(win * win, parts.shape[-2:]), step)
    if boundary:
        end = x.shape[-1] - size // 2
        x, weight = x[..., size // 2 : end], weight[size // 2 : end]
    x = x / np.where(abs(weight) > _LEAST, weight, 1)
    real = dtypes.real_part_dtype(x.dtype)
    times = np.arange(x.shape[-1], dtype=real) / fs
    return times, np.moveaxis(x, -1, of_time - (of_frequency < of_time))
