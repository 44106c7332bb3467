"""Calls of Python from compiled programs.

Timed: one call of the program and the wait for its effects. Output goes to a string in
memory. JAX needs `effects_barrier`, as its calls return earlier.
"""

from contextlib import redirect_stdout
from io import StringIO

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Pair, Suite


def printing(library, count):
    """Return a call of a program that prints so many lines."""

    def program(x):
        for _ in range(count):
            library.debug.print("x = {}", x)
        return x + 1

    compiled = library.jit(program)
    x = (inp if library is imprint else jnp).asarray(np.float32(1))

    def call():
        with redirect_stdout(StringIO()):
            compiled(x)
            library.effects_barrier()

    return call


def printing_in_scan(library):
    """Return a call of a loop that prints in each of its 1,000 steps."""

    def step(c, _):
        library.debug.print("c = {}", c)
        return c + 1, None

    compiled = library.jit(lambda x: library.lax.scan(step, x, None, 1000)[0])

    def call():
        with redirect_stdout(StringIO()):
            compiled(np.float32(1))
            library.effects_barrier()

    return call


def computing(library):
    """Return a call of a program that takes a result from Python."""

    def program(x):
        return library.pure_callback(lambda x: x, x, x) + 1

    compiled = library.jit(program)
    x = (inp if library is imprint else jnp).ones(1000)
    return lambda: compiled(x)


def pair(name, call, *args, target):
    return Pair(name, ours=call(imprint, *args), jax=call(jax, *args), target=target)


PAIRS = [
    pair("a call that prints 1 line", printing, 1, target=1.2),
    pair("a call that prints 100 lines", printing, 100, target=1.2),
    pair("a scan that prints 1,000 lines", printing_in_scan, target=1.2),
    pair("a call with a pure_callback", computing, target=1.2),
]


class Callbacks(Suite):
    pairs = PAIRS
