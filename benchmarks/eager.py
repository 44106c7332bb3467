"""What one operation outside `jit` costs, on 10 floats, and some on a million.

The timer holds the operation and the wait for the last result of a sample.
"""

import jax.numpy as jnp
import numpy as np

import imprint.numpy as inp
from benchmarks.pairs import Pair, Suite


def pair(name, operation, target=None):
    """Make the row of one operation of an array `x` and the library's names."""
    ours, theirs = inp.arange(10.0), jnp.arange(10.0)
    return Pair(
        name,
        ours=lambda: operation(inp, ours),
        jax=lambda: operation(jnp, theirs),
        target=target,
    )


def large(name, operation):
    """Make the row of one operation of a million normal numbers."""
    numbers = np.random.default_rng(0).normal(size=1_000_000).astype(np.float32)
    ours, theirs = inp.asarray(numbers), jnp.asarray(numbers)
    return Pair(
        f"eager {name}, 1M",
        ours=lambda: operation(inp, ours),
        jax=lambda: operation(jnp, theirs),
    )


PAIRS = [
    pair("eager x + x", lambda _, x: x + x, target=1.0),
    pair("eager np.sin(x)", lambda names, x: names.sin(x)),
    pair("eager np.sum(x)", lambda names, x: names.sum(x)),
    pair("eager x[3]", lambda _, x: x[3]),
    pair("eager x @ x", lambda _, x: x @ x),
    pair("eager np.where(x > 0, x, 0)", lambda names, x: names.where(x > 0, x, 0)),
    large("np.where(x > 0, x, 0)", lambda names, x: names.where(x > 0, x, 0)),
    large("np.maximum(x, 0)", lambda names, x: names.maximum(x, 0)),
    large("np.var(x)", lambda names, x: names.var(x)),
    large("x.astype(int)", lambda names, x: x.astype("int32")),
]


class Eager(Suite):
    pairs = PAIRS
