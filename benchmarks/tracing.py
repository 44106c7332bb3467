"""What it costs to trace a program and to lower it to StableHLO, per equation.

The program is elementwise, 3,000 equations long, written with NumPy names. Each sample
traces a function made anew, so no cache answers; making it is outside the timer.
"""

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Pair, Suite, Timing

EQUATIONS = 3000
X = np.linspace(0.0, 1.0, 16, dtype=np.float32)


def program(names, salt):
    """Return a new function of 3,000 equations; `salt` makes it differ from the others."""

    def chain(x):
        y = x + salt
        for _ in range(EQUATIONS // 4 - 1):
            y = names.sin(y) * x - names.tanh(y)
        return y * x + x - y

    return chain


def salts():
    """Count up: no two programs of a process are equal."""
    number = 0.0
    while True:
        number += 1.0
        yield number


SALTS = salts()


def traces(library, names):
    def fresh():
        chain, x = program(names, next(SALTS)), names.asarray(X)
        return lambda: library.make_jaxpr(chain)(x)

    return fresh


def lowers(library, names):
    def fresh():
        compiled, x = library.jit(program(names, next(SALTS))), names.asarray(X)
        return lambda: compiled.lower(x)

    return fresh


PAIRS = [
    Pair(
        "trace, per equation of 3,000",
        ours=traces(imprint, inp),
        jax=traces(jax, jnp),
        timing=Timing.FRESH,
        per=EQUATIONS,
    ),
    Pair(
        "trace and lower, per equation of 3,000",
        ours=lowers(imprint, inp),
        jax=lowers(jax, jnp),
        target=0.4,
        timing=Timing.FRESH,
        per=EQUATIONS,
    ),
]


class Tracing(Suite):
    pairs = PAIRS
