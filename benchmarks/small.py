"""Small programs: warm calls of one to five kernels on 10 and on 1,000 elements.

`IMPRINT_DIRECT=1 python -m benchmarks small` measures calls without the engine; a name says
what runs it. In a row "NumPy" (or "Numba", if it is installed) that library takes JAX's place,
with the same formula on the same values.

Timed: the calling thread, so other processes do not count. Nor does what JAX computes in
other threads: its times are those of its dispatch.
"""

import gc
import time
from importlib import import_module
from importlib.util import find_spec
from itertools import repeat

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Pair, Suite, Timing

NUMBA = import_module("numba") if find_spec("numba") else None
SIZES = (10, 1000)
CALLS = 2000  # of a sample


def sine(np, x, y):
    return np.sin(x) + x


def axpy(np, x, y):
    return 2 * x + y


def polynomial(np, x, y):
    return ((x * 3 + 2) * x + 1) * x + 4


def rectifier(np, x, y):
    return np.where(x > 0, x, 0.1 * x)


def layer(np, x, y):
    return np.tanh(x * y + 1)


def pendulum(np, x, y):
    return x + 0.1 * y, y - 0.1 * np.sin(x)


def product(np, x, y):
    return (x * y).sum()


def distance(np, x, y):
    return np.sqrt(((x - y) ** 2).sum())


def softmax(np, x, y):
    z = np.exp(x - x.max())
    return z / z.sum()


def normalisation(np, x, y):
    z = x - x.mean()
    return z / np.sqrt((z * z).mean() + 1e-5)


FORMULAS = (
    *(sine, axpy, polynomial, rectifier, layer),
    *(pendulum, product, distance, softmax, normalisation),
)


def calls(formula, size):
    """Return the calls of a formula by library, and what runs imprint's."""
    draw = np.random.default_rng(0).normal
    values = [draw(size=size).astype(np.float32) for _ in range(2)]
    ours = imprint.jit(lambda x, y: formula(inp, x, y))
    theirs = jax.jit(lambda x, y: formula(jnp, x, y))
    x, y = map(inp.asarray, values)
    a, b = map(jnp.asarray, values)
    c, d = values
    ours(x, y)
    found = {
        "imprint": lambda: ours(x, y),
        "JAX": lambda: theirs(a, b),
        "NumPy": lambda: formula(np, c, d),
    }
    if NUMBA is not None:
        own = NUMBA.njit(lambda x, y: formula(np, x, y))
        found["Numba"] = lambda: own(c, d)
    return found, ours.versions[0].runs_on


def thread_time(call):
    """Return a function that returns the seconds of the thread for a call."""

    def sample():
        gc.disable()
        start = time.thread_time()
        for _ in repeat(None, CALLS):
            call()
        seconds = time.thread_time() - start
        gc.enable()
        return seconds / CALLS

    return sample


def pairs():
    """Return the rows: each formula and size with each library."""
    rows = []
    for size in SIZES:
        for formula in FORMULAS:
            found, runs_on = calls(formula, size)
            ours = found.pop("imprint")
            rows += [
                Pair(
                    f"{formula.__name__} of {size}, {runs_on}: {library}",
                    ours=thread_time(ours),
                    jax=thread_time(theirs),
                    target={"JAX": 0.15, "NumPy": 1.0}.get(library),
                    timing=Timing.SELF,
                )
                for library, theirs in found.items()
            ]
    return rows


PAIRS = pairs()


class Small(Suite):
    """The time of a warm call of a small program."""

    pairs = PAIRS
