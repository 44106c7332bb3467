"""Warm calls of compiled functions.

Timed: the call with its arguments ready, and the wait for the last result of a sample. The
program adds one to each of n arrays of 8 floats, so nearly all is dispatch.
"""

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Pair, Suite


def add_one(*xs):
    return tuple(x + 1 for x in xs)


def add_one_to_each(params):
    return {name: x + 1 for name, x in params.items()}


def hosts(count):
    return [np.arange(8, dtype=np.float32) + i for i in range(count)]


def positional(library, arrays):
    """Call with the arrays as arguments."""
    compiled = library.jit(add_one)
    return lambda: compiled(*arrays)


def in_a_dict(library, arrays):
    """Call with one dictionary of the arrays."""
    compiled = library.jit(add_one_to_each)
    params = {f"w{i}": x for i, x in enumerate(arrays)}
    return lambda: compiled(params)


def pair(name, call, count, target):
    """Make the row of `count` device arrays."""
    return Pair(
        name,
        ours=call(imprint, [inp.asarray(x) for x in hosts(count)]),
        jax=call(jax, [jnp.asarray(x) for x in hosts(count)]),
        target=target,
    )


def numpy_pair(count):
    """Make the row of `count` NumPy arguments."""
    return Pair(
        f"warm call, {count} NumPy argument(s)",
        ours=positional(imprint, hosts(count)),
        jax=positional(jax, hosts(count)),
        target=1.3,
    )


PAIRS = [
    pair("warm call, 1 array", positional, 1, 1.4),
    pair("warm call, 10 arrays", positional, 10, 1.15),
    pair("warm call, 100 arrays", positional, 100, 1.1),
    pair("warm call, a dict of 100 arrays", in_a_dict, 100, 1.1),
    *map(numpy_pair, (1, 10, 100)),
]


class Dispatch(Suite):
    pairs = PAIRS
