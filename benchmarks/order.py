"""Order: sorting, searching and counting a million elements.

The timer holds a call of the compiled program and the wait for its results.
"""

import jax
import numpy as np

import imprint
import imprint.lax
from benchmarks.pairs import Pair, Suite

_RNG = np.random.default_rng(0)
FLOATS = _RNG.normal(size=1_000_000).astype(np.float32)
WHOLE = _RNG.integers(0, 1000, 1_000_000).astype(np.int32)
LONG = _RNG.normal(size=10_000_000).astype(np.float32)
EDGES = np.linspace(-3, 3, 1000, dtype=np.float32)

PROGRAMS = {
    "sort": (lambda lib, x: lib.numpy.sort(x), FLOATS),
    "argsort": (lambda lib, x: lib.numpy.argsort(x), FLOATS),
    "sort integers": (lambda lib, x: lib.numpy.sort(x), WHOLE),
    "the 10 largest": (lambda lib, x: lib.lax.top_k(x, 10), FLOATS),
    "median": (lambda lib, x: lib.numpy.median(x), FLOATS),
    "searchsorted": (lambda lib, x: lib.numpy.searchsorted(EDGES, x), FLOATS),
    "histogram": (lambda lib, x: lib.numpy.histogram(x, 50), FLOATS),
    "bincount": (lambda lib, x: lib.numpy.bincount(x, length=1000), WHOLE),
    "unique": (lambda lib, x: lib.numpy.unique(x, size=1000), WHOLE),
    "cumsum of 1e7": (lambda lib, x: lib.numpy.cumsum(x), LONG),
    "gradient of sort": (
        lambda lib, x: lib.grad(lambda y: (lib.numpy.sort(y) * y).sum())(x),
        FLOATS,
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


class Order(Suite):
    pairs = PAIRS
