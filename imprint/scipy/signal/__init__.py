"""Functions of signals, as `jax.scipy.signal` has them.

- `convolving`: what are convolutions and correlations?
- `segments`: how is a signal cut into segments, and put together again?
- `spectra`: which frequencies does a signal have, and when?
- `synthesis`: which signal has such frequencies?
- `trends`: what is left of data without what goes straight?
"""

from imprint._src.bootstrap import public_names
from imprint._src.diagnostics import attribute_errors
from imprint.scipy.signal.convolving import (
    convolve,
    convolve2d,
    correlate,
    correlate2d,
    fftconvolve,
)
from imprint.scipy.signal.spectra import csd, stft, welch
from imprint.scipy.signal.synthesis import istft
from imprint.scipy.signal.trends import detrend

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
public_names.offer_public(__name__)
