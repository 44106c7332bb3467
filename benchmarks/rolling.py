"""Loops that Python unrolls: imprint runs equal blocks as one loop, JAX block after block.

A `compile` row has tracing and lowering outside the timer, a `run` row a call and the wait.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Pair, Suite, Timing
from benchmarks.recomputation import STATE, STATES, VALUES, solver, sums

SALTS = itertools.count()
WEIGHTS = (0.1 * np.cos(np.arange(64 * 64))).astype(np.float32).reshape(64, 64)
INPUTS = np.sin(np.arange(60 * 64)).astype(np.float32).reshape(60, 64)


def recurrent(np, steps):
    def run(w, h, xs):
        total = 0.0
        for i in range(steps):
            h = np.tanh(w @ h + xs[i])
            total += (h**2).sum()
        return total

    return run


def recurrent_gradient(np, steps):
    library = imprint if np is inp else jax
    return library.grad(recurrent(np, steps))


def power(np, steps):
    def run(w, v):
        for _ in range(steps):
            v = w @ v
            v = v / np.sqrt((v * v).sum())
        return v

    return run


def normalised(np, steps):
    def run(x):
        for _ in range(steps):
            x = x - x.mean()
            x = x / np.sqrt((x * x).mean() + 1e-5) + 0.1 * np.sin(x)
        return x

    return run


def lowered(library, names, program, steps, args, salt=0.0):
    fun = program(names, steps)
    return library.jit(lambda *xs: fun(*(x + salt for x in xs))).lower(*args)


def run_of(library, names, *program):
    arrays = [*map(names.asarray, program[-1])]
    run = lowered(library, names, *program[:-1], arrays).compile()
    return lambda: run(*arrays)


def compile_of(library, names, *program):
    # No cache has seen it with this number.
    return lambda: lowered(library, names, *program, next(SALTS) + 0.5).compile


def pairs(name, program, steps, args, targets):
    """Return the rows of a program: its time to run and to compile."""
    sides = (imprint, inp), (jax, jnp)
    runs = [run_of(*side, program, steps, args) for side in sides]
    compiles = [compile_of(*side, program, steps, args) for side in sides]
    return [
        Pair(f"run: {name}", *runs, target=targets[0]),
        Pair(f"compile: {name}", *compiles, target=targets[1], timing=Timing.FRESH),
    ]


NETWORK = [WEIGHTS, INPUTS[0], INPUTS]
PAIRS = [
    *pairs("midpoint rule, 17 steps", solver, 17, STATE, (0.9, 0.1)),
    *pairs("midpoint rule of 1,000, 17 steps", solver, 17, STATES, (0.3, 0.1)),
    *pairs("sin(x)*x + x.sum(), 40 times", sums, 40, [VALUES], (0.1, 0.3)),
    *pairs("recurrent network, 60 steps of 64", recurrent, 60, NETWORK, (0.9, 0.3)),
    *pairs("its gradient", recurrent_gradient, 60, NETWORK, (1.0, 0.5)),
    *pairs("power iteration, 60 of 64", power, 60, [WEIGHTS, INPUTS[0]], (0.8, 0.3)),
    *pairs("normalisation, 40 of 1,000", normalised, 40, [VALUES], (0.9, 0.5)),
]


class Rolling(Suite):
    pairs = PAIRS
