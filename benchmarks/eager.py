"""Single operations outside `jit`, on 10 floats, and some on a million.

Timed: the operation and the wait for the last result of a sample. The rows have the
geometric means of the sixty functions of `functions`, in us and in ms, whose ratio is the
mean of the ratios; `python -m benchmarks.eager` prints each function.
"""

import json
import subprocess
import sys
from functools import cache
from statistics import geometric_mean

import jax
import jax.image
import jax.numpy as jnp
import jax.scipy
import numpy as np

import imprint
import imprint.image
import imprint.numpy as inp
from benchmarks.functions import FUNCTIONS, call_of
from benchmarks.import_time import ENVIRONMENT
from benchmarks.measure import calls_per_sample, sample
from benchmarks.pairs import Fact, Pair, Suite, Timing, block


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


def resized(old, new):
    """Make the row of a square image that gets another size."""
    image = np.random.default_rng(0).normal(size=(old, old)).astype(np.float32)
    ours, theirs = inp.asarray(image), jnp.asarray(image)
    return Pair(
        f"eager image.resize, {old} to {new}",
        ours=lambda: imprint.image.resize(ours, (new, new), "linear"),
        jax=lambda: jax.image.resize(theirs, (new, new), "linear"),
    )


_PLACES = np.random.default_rng(1).integers(0, 1_000_000, 1_000_000)
PLACES = {names: names.asarray(_PLACES, "int32") for names in (inp, jnp)}

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
    large("np.log1p(x * x)", lambda names, x: names.log1p(x * x)),
    large("np.clip(x, -1, 1)", lambda names, x: names.clip(x, -1, 1)),
    large("np.nanvar(x)", lambda names, x: names.nanvar(x)),
    large("np.hypot(x, x)", lambda names, x: names.hypot(x, x)),
    large("np.interp(x, ...)", lambda names, x: names.interp(x, x[:4] * 0, x[:4])),
    large("np.histogram(x)", lambda names, x: names.histogram(x)[0]),
    large("x[places]", lambda names, x: x[PLACES[names]]),
    large("np.median(x)", lambda names, x: names.median(x)),
    large("np.sort(x)", lambda names, x: names.sort(x)),
    resized(128, 224),
    resized(32, 64),
]


@cache
def warm():
    """Return the microseconds of a warm call of each function: imprint's and JAX's."""
    return {name: _alternating(name) for name in FUNCTIONS}


def _alternating(name):
    sides = [call_of(lib, name) for lib in (imprint, jax)]
    for side in sides:
        for _ in range(10):
            block(side())
    calls = max(1, max(map(calls_per_sample, sides)) // 4)
    taken = [[sample(f, calls, Timing.LOOP) * 1e6 for f in sides] for _ in range(15)]
    return tuple(map(min, zip(*taken, strict=True)))


@cache
def first():
    """Return the milliseconds of the first call of each: imprint's and JAX's."""
    ours, theirs = (_first_calls(lib) for lib in ("imprint", "jax"))
    return {name: (ours[name] * 1e3, theirs[name] * 1e3) for name in FUNCTIONS}


def _first_calls(lib):
    command = [sys.executable, "-m", "benchmarks.functions", lib]
    finished = subprocess.run(
        command, capture_output=True, text=True, check=True, env=ENVIRONMENT
    )
    return json.loads(finished.stdout)


def mean(taken, side):
    """Return the geometric mean of the times of one side."""
    return lambda: geometric_mean(pair[side] for pair in taken().values())


def worst(side):
    """Return the time of one side for the first call with the worst ratio."""
    return lambda: max(first().values(), key=lambda pair: pair[0] / pair[1])[side]


FACTS = [
    Fact("eager, 60 functions: us a call", mean(warm, 0), mean(warm, 1), 0.5, True),
    Fact("eager, 60 functions: ms first", mean(first, 0), mean(first, 1), 0.05, True),
    Fact("eager, worst of 60: ms first", worst(0), worst(1), 0.05, True),
]


def main():
    """Print the ratio of each function, warm and at its first call."""
    for name in sorted(FUNCTIONS, key=lambda x: warm()[x][0] / warm()[x][1]):
        pairs = warm()[name], first()[name]
        cells = [
            f"{ours:8.2f} {theirs:8.2f} {ours / theirs:7.3f}" for ours, theirs in pairs
        ]
        print(name.ljust(24), "us", cells[0], "   ms first", cells[1])
    for fact in FACTS:
        print(fact.name.ljust(40), f"{fact.ours() / fact.jax():.3f}")


class Eager(Suite):
    pairs = PAIRS


if __name__ == "__main__":
    main()
