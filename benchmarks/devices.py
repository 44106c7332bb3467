"""Calls over eight devices of the CPU.

The suite has rows only if the environment has
`XLA_FLAGS=--xla_force_host_platform_device_count=8`, which both libraries read. Timed: the
call and the wait for its result. Eight devices share the processors, so trust the ratio and
not the time.
"""

import os

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Pair, Suite

COUNT = 8
DRAW = np.random.default_rng(0)
BATCH = DRAW.standard_normal((1024, 64), np.float32)
ANSWERS = DRAW.standard_normal((1024, 10), np.float32)
WEIGHTS = [
    DRAW.standard_normal(shape, np.float32) / 10
    for shape in ((64, 256), (256, 256), (256, 10))
]


def add_one(x):
    return x + 1


def mean(x):
    return x.mean()


def step_of(library, numbers):
    """Return a step of training for a network of two hidden layers."""

    def loss(weights, x, y):
        first, second, last = weights
        x = numbers.tanh(numbers.tanh(x @ first) @ second)
        return ((x @ last - y) ** 2).mean()

    @library.jit
    def step(weights, x, y):
        value, grads = library.value_and_grad(loss)(weights, x, y)
        return [w - 0.01 * g for w, g in zip(weights, grads, strict=True)], value

    return step


def pairs():
    """Return the rows, if both have the devices."""
    if imprint.device_count() < COUNT or jax.device_count() < COUNT:
        return []
    ours = imprint.make_mesh((COUNT,), ("d",))
    theirs = jax.sharding.Mesh(np.array(jax.devices()[:COUNT]), ("d",))
    sides = (
        (imprint, inp, ours, imprint.NamedSharding, imprint.P),
        (jax, jnp, theirs, jax.sharding.NamedSharding, jax.P),
    )
    calls = [[], [], []]
    for library, numbers, mesh, sharding, spec in sides:
        rows, copies = sharding(mesh, spec("d")), sharding(mesh, spec())
        x, y = library.device_put((BATCH, ANSWERS), rows)
        weights = library.device_put(WEIGHTS, copies)
        calls[0].append(waited(library.jit(add_one), x))
        calls[1].append(waited(library.jit(mean), x))
        calls[2].append(waited(step_of(library, numbers), weights, x, y))
    names = (
        "an operation without exchange",
        "a mean",
        "a data-parallel step of an MLP",
    )
    return [
        Pair(f"{COUNT} devices, {name}", ours=mine, jax=other, target=target)
        for name, (mine, other), target in zip(
            names, calls, (1.2, 1.2, 1.05), strict=True
        )
    ]


def waited(function, *args):
    """Return a call that waits: JAX ends the process where several are in flight."""

    def call():
        out = function(*args)
        last = out[-1] if isinstance(out, tuple) else out
        return last.block_until_ready()

    return call


PAIRS = pairs() if "device_count" in os.environ.get("XLA_FLAGS", "") else []


class Devices(Suite):
    pairs = PAIRS
