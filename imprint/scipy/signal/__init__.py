"""Functions of signals, as `jax.scipy.signal` has them.

- `convolving`: what are convolutions and correlations?
- `trends`: what is left of data without what goes straight?
"""

from imprint.core import missing, public
from imprint.scipy.signal.convolving import (
    convolve,
    convolve2d,
    correlate,
    correlate2d,
    fftconvolve,
)
from imprint.scipy.signal.trends import detrend

__all__ = [
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "detrend",
    "fftconvolve",
]

missing.explain_missing(__name__)
public.offer_public(__name__)
