"""Programs with reuse, which XLA computes again in each user: unrolled solvers and chains.

imprint's side has `cut_recomputation` on. A `compile` row has tracing and lowering outside
the timer, a `run` row a call and the wait.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Pair, Suite, Timing

SALTS = itertools.count()
STATE = [np.float32(v) for v in (0.1, 0.2, 0.3)]
STATES = [np.full(1000, v, np.float32) for v in (0.1, 0.2, 0.3)]
VALUES = np.linspace(0.1, 0.9, 1000, dtype=np.float32)
LARGE = np.linspace(0.1, 0.9, 1_000_000, dtype=np.float32)


def sums(np, steps):
    def run(x):
        for _ in range(steps):
            x = np.sin(x) * x + x.sum()
        return x

    return run


def solver(np, steps):
    """Return the midpoint rule, unrolled, for three coupled equations."""

    def field(x, y, z):
        return x - y, np.tanh(y) * z + np.exp(-z * z), z / (1 + y * y) + y * x

    def run(x, y, z):
        for _ in range(steps):
            a, b, c = field(x, y, z)
            p, q, r = field(x + 0.005 * a, y + 0.005 * b, z + 0.005 * c)
            x, y, z = x + 0.01 * p, y + 0.01 * q, z + 0.01 * r
        return x, y, z

    return run


def row(np, steps):
    def run(x):
        for _ in range(steps):
            x = np.tanh(x)
        return x

    return run


def softmax(np, _):
    def run(x):
        weights = np.exp(x - x.max())
        return weights / weights.sum()

    return run


def runs(library, names, program, steps, args):
    arrays = [*map(names.asarray, args)]
    with imprint.cut_recomputation():
        run = library.jit(program(names, steps)).lower(*arrays).compile()
    return lambda: run(*arrays)


def compiles(library, names, program, steps, args):
    def fresh():
        salt = next(SALTS) + 0.5  # no cache has seen it
        fun = program(names, steps)
        with imprint.cut_recomputation():
            lowered = library.jit(lambda *xs: fun(*(x + salt for x in xs))).lower(*args)
        return lowered.compile

    return fresh


def pair(name, program, steps, args, target):
    sides = [
        runs(lib, names, program, steps, args)
        for lib, names in ((imprint, inp), (jax, jnp))
    ]
    return Pair(f"run: {name}", *sides, target=target)


def compile_pair(name, program, steps, args, target):
    sides = [
        compiles(lib, names, program, steps, args)
        for lib, names in ((imprint, inp), (jax, jnp))
    ]
    return Pair(f"compile: {name}", *sides, target=target, timing=Timing.FRESH)


PAIRS = [
    pair("sin(x)*x + x.sum(), 50 times", sums, 50, [VALUES], 0.15),
    compile_pair("sin(x)*x + x.sum(), 50 times", sums, 50, [VALUES], 0.2),
    pair("midpoint rule, 20 steps", solver, 20, STATE, 0.8),
    compile_pair("midpoint rule, 20 steps", solver, 20, STATE, 0.1),
    pair("midpoint rule of 1,000, 8 steps", solver, 8, STATES, 0.9),
    pair("ten tanh of 1,000,000", row, 10, [LARGE], 0.7),
    pair("softmax of 1,000,000", softmax, 0, [LARGE], 1.03),
]


class Recomputation(Suite):
    pairs = PAIRS
