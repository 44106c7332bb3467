"""Programs with reuse, which XLA computes again in each user: unrolled solvers and chains.

A `compile` row has tracing and lowering outside the timer, a `run` row a call and the wait.
Loops stay as they are written: `roll_loops` is off, so that cuts are measured.
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
RING = np.stack(STATES) * np.linspace(0.9, 1.1, 1000, dtype=np.float32)
WEIGHTS = [np.eye(64, dtype=np.float32) * np.float32(0.1 + 0.01 * i) for i in range(20)]
INPUTS = np.linspace(-1, 1, 128 * 64, dtype=np.float32).reshape(128, 64)
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


def ring(np, steps):
    """Return the midpoint rule for three equations, each coupled to both others."""

    def field(s):
        return (np.roll(s, -1, 0) - np.roll(s, 2, 0)) * np.roll(s, 1, 0) - s + 8.0

    def run(s):
        for _ in range(steps):
            s = s + 0.01 * field(s + 0.005 * field(s))
        return s

    return run


def gelus(np, steps):
    def run(x):
        for _ in range(steps):
            x = 0.5 * x * (1 + np.tanh(0.7978846 * (x + 0.044715 * x * x * x)))
        return x

    return run


def gradient(np, _):
    """Return the gradient of 20 layers with skip connections."""

    def loss(*weights_and_x):
        *weights, x = weights_and_x
        for w in weights:
            x = x + np.tanh(x @ w)
        return (x * x).mean()

    places = tuple(range(20))
    return (jax if np is jnp else imprint).grad(loss, argnums=places)


def products(np, _):
    """Return the products of matrices of that gradient, and nothing else."""

    def run(*weights_and_x):
        *weights, x = weights_and_x
        inputs, found = [], []
        for w in weights:
            inputs.append(x)
            x = x @ w
        for w, y in zip(reversed(weights), reversed(inputs), strict=True):
            found.append(y.T @ x)
            x = x @ w.T
        return found

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
    with imprint.roll_loops(False):
        run = library.jit(program(names, steps)).lower(*arrays).compile()
    return lambda: run(*arrays)


def compiles(library, names, program, steps, args):
    def fresh():
        salt = next(SALTS) + 0.5  # no cache has seen it
        fun = program(names, steps)
        with imprint.roll_loops(False):
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


def parts_pair(name, part, program, args, target):
    """Return the row of a part of a program in imprint and the whole in JAX."""
    sides = runs(imprint, inp, part, 0, args), runs(jax, jnp, program, 0, args)
    return Pair(f"run: {name}", *sides, target=target)


NETWORK = [*WEIGHTS, INPUTS]
PAIRS = [
    pair("sin(x)*x + x.sum(), 50 times", sums, 50, [VALUES], 0.12),
    compile_pair("sin(x)*x + x.sum(), 50 times", sums, 50, [VALUES], 0.12),
    pair("midpoint rule, 20 steps", solver, 20, STATE, 0.8),
    compile_pair("midpoint rule, 20 steps", solver, 20, STATE, 0.15),
    pair("midpoint rule of 1,000, 8 steps", solver, 8, STATES, 0.95),
    pair("ring of three, 30 steps", ring, 30, [RING[:, 0].copy()], 0.5),
    pair("ring of three of 1,000, 16 steps", ring, 16, [RING], 0.1),
    compile_pair("ring of three of 1,000, 16 steps", ring, 16, [RING], 0.3),
    pair("ten tanh of 1,000,000", row, 10, [LARGE], 0.7),
    pair("twelve gelu of 100,000", gelus, 12, [LARGE[:100_000].copy()], 0.8),
    pair("gradient of 20 layers", gradient, 0, NETWORK, 1.05),
    parts_pair("its products of matrices alone", products, gradient, NETWORK, 1.0),
    pair("softmax of 1,000,000", softmax, 0, [LARGE], 1.03),
]


class Recomputation(Suite):
    pairs = PAIRS
