"""Resident memory: leaks of calls, and the peak of a gradient.

A warm-up comes first: allocators keep memory, and compiling takes memory too. The peak is
that of Linux, reset before the call.
"""

import gc

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Fact

CALLS = 10_000
PAGE_KIB = 4


def resident_kib() -> int:
    """Return this process's resident memory."""
    with open("/proc/self/statm", encoding="utf-8") as sizes:
        return int(sizes.read().split()[1]) * PAGE_KIB


def growth(library, names):
    """Return a function that counts the KiB that 10,000 calls leave."""

    def count():
        step, x = library.jit(lambda x: x * 0.5 + 1.0), names.ones((1000,))
        before = 0
        for call in range(-2000, CALLS):
            if call == 0:
                gc.collect()
                before = resident_kib()
            x = step(x)
        x.block_until_ready()
        gc.collect()
        return resident_kib() - before

    return count


CALLBACKS = 100_000


def callbacks_growth(library):
    """Return a function that counts the KiB that 100,000 callbacks leave."""

    def program(x):
        step = lambda c, _: (library.pure_callback(lambda c: c, c, c) + 1, None)
        return library.lax.scan(step, x, None, 1000)[0]

    def count():
        run, x = library.jit(program), np.ones(16, np.float32)
        before = 0
        for call in range(-20, CALLBACKS // 1000):
            if call == 0:
                gc.collect()
                before = resident_kib()
            run(x).block_until_ready()
        gc.collect()
        return resident_kib() - before

    return count


STEPS, ROWS, WIDTH = 1000, 64, 256


def peak(library, wrap):
    """Return a function that counts the MiB that a gradient of 1,000 steps takes."""
    np_ = library.numpy

    def step(w, h, x):
        return np_.tanh(h @ w + x) * 0.5 + np_.sin(h)

    def loss(w, xs):
        one = wrap(step)
        end, _ = library.lax.scan(
            lambda h, x: (one(w, h, x), None), np_.zeros((ROWS, WIDTH)), xs
        )
        return (end**2).sum()

    def count():
        rng = np.random.default_rng(0)
        w, xs = rng.normal(size=(WIDTH, WIDTH)), rng.normal(size=(STEPS, ROWS, WIDTH))
        gradient = library.jit(library.grad(loss))
        args = [np_.asarray((0.05 * x).astype(np.float32)) for x in (w, xs)]
        for _ in range(3):
            gradient(*args).block_until_ready()
        gc.collect()
        with open("/proc/self/clear_refs", "w", encoding="ascii") as reset:
            reset.write("5")
        before = resident_kib()
        gradient(*args).block_until_ready()
        return (highest_kib() - before) / 1024

    return count


def highest_kib() -> int:
    """Return the highest resident memory since it was set back."""
    with open("/proc/self/status", encoding="utf-8") as lines:
        (line,) = (line for line in lines if line.startswith("VmHWM:"))
    return int(line.split()[1])


def plain(step):
    return step


FACTS = [
    Fact(
        "KiB left by 10,000 calls on 1,000 floats",
        ours=growth(imprint, inp),
        jax=growth(jax, jnp),
        limit=256,
    ),
    Fact(
        "KiB left by 100,000 callbacks",
        ours=callbacks_growth(imprint),
        jax=callbacks_growth(jax),
        limit=256,
    ),
    Fact(
        "MiB at the peak of grad of a scan",
        ours=peak(imprint, plain),
        jax=peak(jax, plain),
        limit=1.05,
        relative=True,
    ),
    Fact(
        "MiB at that peak with checkpoint in the step",
        ours=peak(imprint, imprint.checkpoint),
        jax=peak(jax, jax.checkpoint),
        limit=1.05,
        relative=True,
    ),
]
