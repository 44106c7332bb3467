"""Spectra and draws: Fourier transforms, and samplers that refuse until they accept.

The timer holds a call of the compiled program and the wait for its results.
"""

import jax
import numpy as np

import imprint
import imprint.lax
import imprint.scipy
from benchmarks.pairs import Pair, Suite

_RNG = np.random.default_rng(0)
REAL = _RNG.normal(size=1 << 16).astype(np.float32)
COMPLEX = (REAL + 1j * REAL[::-1]).astype(np.complex64)
IMAGE = _RNG.normal(size=(512, 512)).astype(np.float32)
RATES = np.full(100_000, 20, np.float32)

PROGRAMS = {
    "fft of 2^16": (lambda lib, x: lib.numpy.fft.fft(x), COMPLEX),
    "rfft and irfft of 2^16": (
        lambda lib, x: lib.numpy.fft.irfft(lib.numpy.fft.rfft(x) ** 2),
        REAL,
    ),
    "fft2 of 512 x 512": (lambda lib, x: lib.numpy.fft.fft2(x), IMAGE),
    "dct of 512 rows": (lambda lib, x: lib.scipy.fft.dct(x), IMAGE),
    "resize to 256 x 256": (
        lambda lib, x: lib.image.resize(x, (256, 256), "linear"),
        IMAGE,
    ),
    "gamma of 1e5": (lambda lib, x: lib.random.gamma(lib.random.key(0), x), RATES),
    "poisson of 1e5": (lambda lib, x: lib.random.poisson(lib.random.key(0), x), RATES),
    "normal of 1e5 by rbg": (
        lambda lib, x: x + lib.random.normal(lib.random.key(0, impl="rbg"), x.shape),
        RATES,
    ),
}


def _run(lib, name):
    """Return the call of a program, compiled, whose operand is on the device."""
    program, x = PROGRAMS[name]
    run, x = lib.jit(lambda x: program(lib, x)), lib.device_put(x)
    return lambda: run(x)


PAIRS = [
    Pair(name, _run(imprint, name), _run(jax, name), target=1.05) for name in PROGRAMS
]


class Spectra(Suite):
    pairs = PAIRS
