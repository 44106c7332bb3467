"""What one operation outside `jit` costs, on 10 floats.

The timer holds the operation and the wait for the last result of a sample.
"""

import jax.numpy as jnp

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


PAIRS = [
    pair("eager x + x", lambda _, x: x + x, target=1.0),
    pair("eager np.sin(x)", lambda names, x: names.sin(x)),
    pair("eager np.sum(x)", lambda names, x: names.sum(x)),
    pair("eager x[3]", lambda _, x: x[3]),
    pair("eager x @ x", lambda _, x: x @ x),
]


class Eager(Suite):
    pairs = PAIRS
