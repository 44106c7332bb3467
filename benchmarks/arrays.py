"""Arrays at work: places that are data, linear algebra, convolution; compiled and eager.

The timer holds a call, of the compiled program or of the function, and the wait.
"""

import jax
import numpy as np

import imprint
import imprint.lax
from benchmarks.pairs import Pair, Suite

_RNG = np.random.default_rng(0)
ROWS = _RNG.integers(0, 10_000, 1_000_000).astype(np.int32)
VALUES = _RNG.normal(size=1_000_000).astype(np.float32)
TABLE = _RNG.normal(size=(10_000, 32)).astype(np.float32)
SOME = ROWS[:50_000]
SQUARE = _RNG.normal(size=(256, 256)).astype(np.float32)
POSITIVE = (SQUARE @ SQUARE.T / 256 + np.eye(256)).astype(np.float32)
IMAGES = _RNG.normal(size=(8, 32, 28, 28)).astype(np.float32)
KERNELS = _RNG.normal(size=(32, 32, 3, 3)).astype(np.float32)
SMALL = np.linspace(0, 1, 64, dtype=np.float32)
PLACES = np.array([3, 1, 2], np.int32)
TWO = np.array([[2, 1], [1, 3]], np.float32)

COMPILED = {
    "scatter-add of 1e6 into 1e4": (
        lambda lib, i, v: lib.numpy.zeros(10_000, "float32").at[i].add(v),
        (ROWS, VALUES),
    ),
    "gather of 50,000 rows": (lambda lib, t, i: t[i], (TABLE, SOME)),
    "cholesky of 256": (lambda lib, a: lib.numpy.linalg.cholesky(a), (POSITIVE,)),
    "solve of 256": (lambda lib, a, b: lib.numpy.linalg.solve(a, b), (SQUARE, SQUARE)),
    "svd of 256": (lambda lib, a: lib.numpy.linalg.svd(a)[1], (SQUARE,)),
    "convolution 3 x 3": (
        lambda lib, x, k: lib.lax.conv(x, k, (1, 1), "SAME"),
        (IMAGES, KERNELS),
    ),
}
EAGER = {
    "x[3]": (lambda lib, x: x[3], (SMALL,), 0.2),
    "x[places]": (lambda lib, x, i: x[i], (SMALL, PLACES), 0.5),
    "x.at[3].set(1)": (lambda lib, x: x.at[3].set(1.0), (SMALL,), 0.5),
    "sort": (lambda lib, x: lib.numpy.sort(x), (SMALL,), 0.5),
    "median": (lambda lib, x: lib.numpy.median(x), (SMALL,), 0.5),
    "fft": (lambda lib, x: lib.numpy.fft.fft(x), (SMALL,), 0.5),
    "solve of 2 x 2": (lambda lib, a: lib.numpy.linalg.solve(a, a), (TWO,), 0.5),
}


def _run(lib, program, arguments, *, is_compiled):
    """Return the call of a program whose operands are on the device."""
    arrays = [lib.device_put(x) for x in arguments]
    if is_compiled:
        run = lib.jit(lambda *xs: program(lib, *xs))
        return lambda: run(*arrays)
    return lambda: program(lib, *arrays)


def _pair(name, program, arguments, target, *, is_compiled):
    ours, theirs = (
        _run(lib, program, arguments, is_compiled=is_compiled) for lib in (imprint, jax)
    )
    return Pair(name, ours, theirs, target=target)


PAIRS = [
    *(_pair(name, *row, 1.05, is_compiled=True) for name, row in COMPILED.items()),
    *(_pair(f"eager {name}", *row, is_compiled=False) for name, row in EAGER.items()),
]


class Arrays(Suite):
    pairs = PAIRS
