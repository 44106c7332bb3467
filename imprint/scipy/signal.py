"""Signal processing, as in `jax.scipy.signal`."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.scipy.signal.convolving import (
    convolve,
    convolve2d,
    correlate,
    correlate2d,
    fftconvolve,
)
from imprint._src.scipy.signal.spectra import csd, istft, stft, welch
from imprint._src.scipy.signal.trends import detrend

__all__ = [
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "csd",
    "detrend",
    "fftconvolve",
    "istft",
    "stft",
    "welch",
]

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)
