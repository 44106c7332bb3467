"""Compilation of a lowered program, and the whole first call.

Each sample compiles a program that no cache has. A `compile` row excludes tracing and
lowering; a `first call` row includes everything up to the result.
"""

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Pair, Suite, Timing
from benchmarks.tracing import salts

SALTS = salts()
X = np.linspace(0.0, 1.0, 64, dtype=np.float32).reshape(8, 8)


def one_operation(names, salt):
    return lambda x: names.sin(x + salt)


def layers(names, salt):
    """Return a new network of 20 layers and a sum."""

    def chain(x):
        y = x + salt
        for _ in range(20):
            y = names.tanh(y @ x)
        return names.sum(y)

    return chain


def compiles(library, names, program, values=X):
    def fresh():
        x = names.asarray(values)
        lowered = library.jit(program(names, next(SALTS))).lower(x)
        return lowered.compile

    return fresh


def first_calls(library, names, program):
    def fresh():
        x = names.asarray(X)
        compiled = library.jit(program(names, next(SALTS)))
        return lambda: compiled(x)

    return fresh


def gradient_calls(library, names, program):
    def fresh():
        x = names.asarray(X)
        compiled = library.jit(library.grad(program(names, next(SALTS))))
        return lambda: compiled(x)

    return fresh


def pair(name, kind, program):
    """Make one row of a program and its compilation."""
    return Pair(
        name,
        ours=kind(imprint, inp, program),
        jax=kind(jax, jnp, program),
        timing=Timing.FRESH,
    )


PAIRS = [
    pair("compile, 2 operations", compiles, one_operation),
    pair("compile, 20 layers", compiles, layers),
    pair("first call, 2 operations", first_calls, one_operation),
    pair("first call, gradient of 20 layers", gradient_calls, layers),
]


class Compiling(Suite):
    pairs = PAIRS
