"""Overhead of misses: explanations, captured arrays, guarded containers.

The time of a miss excludes tracing, lowering and compiling, as the version reports them;
for JAX, as its events report them. A re-created lambda over a NumPy array, of which it reads
little, is called once: over 10 MB the array is hashed to identify the lambda, over 100 MB
the lambda is traced. A guarded container is timed as the difference of two functions, one
of which has a constant in its place.
"""

import functools
import gc
import time

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Fact

LEAVES = 200
MB = 1_000_000


# ---- a miss of a function with many versions ----


def first_plus_one(leaves):
    return leaves["w0"] + 1


def leaves_of(numpy, n):
    return {f"w{i}": numpy.ones(2 if i else n) for i in range(LEAVES)}


def overheads(library, numpy, versions):
    """Yield the seconds of each miss without tracing, lowering and compiling."""
    compiled = library.jit(first_plus_one)
    parts = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **_: (
            parts.append(seconds) if event.startswith("/jax/core/compile/") else None
        )
    )
    for n in range(1, versions + 1):
        leaves = leaves_of(numpy, n)
        parts.clear()
        start = time.perf_counter()
        compiled(leaves)
        taken = time.perf_counter() - start
        if library is imprint:
            parts[:] = compiled.versions[-1].costs
        yield taken - sum(parts)
    jax.monitoring.clear_event_listeners()


def milliseconds_of_a_miss(library, versions):
    """Return the least of the last misses of a function with so many versions."""
    numpy = inp if library is imprint else jnp
    return round(min([*overheads(library, numpy, versions)][-20:]) * 1e3, 2)


# ---- re-created lambdas over a captured array ----


def milliseconds_of_a_lambda(library, megabytes):
    numpy = inp if library is imprint else jnp
    table = np.arange(megabytes * MB // 4, dtype=np.float32)
    x = numpy.ones(8)

    def call():
        library.jit(lambda x: x + table[:8] + table.size)(x).block_until_ready()

    call()
    return round(best(call, 1, 15) * 1e3, 2)


# ---- watched containers ----


class Layer:
    rate = 0.5


def list_of_numbers():
    return [0.5 + i for i in range(250)]


def list_of_objects():
    return [Layer() for _ in range(200)]


def microseconds_of_watching(make, *, captured):
    """Return the time that a read list adds to a warm call."""
    length = len(make())
    namespace = {"__name__": __name__, "HELD": make()}
    exec("def by_name(x): return x + len(HELD)", namespace)
    held = make()
    by_name = namespace["by_name"]
    reads = imprint.jit((lambda x: x + len(held)) if captured else by_name)
    constant = imprint.jit(lambda x: x + length)
    x = inp.ones(8)
    for _ in range(4):
        reads(x), constant(x)
    turns = [
        (best(lambda: reads(x), 200, 1), best(lambda: constant(x), 200, 1))
        for _ in range(41)
    ]
    ours, without = map(min, zip(*turns, strict=True))
    return round((ours - without) * 1e6, 2)


def best(function, calls, rounds):
    """Return the best time of one call in some rounds."""
    taken = []
    gc.collect()
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        taken.append((time.perf_counter() - start) / calls)
    return min(taken)


def fact(name, measure, limit, *args):
    """Make the row of a measurement of both libraries."""
    return Fact(
        name,
        ours=functools.partial(measure, imprint, *args),
        jax=functools.partial(measure, jax, *args),
        limit=limit,
    )


FACTS = [
    fact("ms of a miss of 200 leaves, 25 versions", milliseconds_of_a_miss, 5, 25),
    fact("ms of a miss of 200 leaves, 120 versions", milliseconds_of_a_miss, 5, 120),
    fact("ms of a lambda over 10 MB, made anew", milliseconds_of_a_lambda, 12, 10),
    fact("ms of a lambda over 100 MB, made anew", milliseconds_of_a_lambda, 12, 100),
    *[
        Fact(
            f"µs that a list of {what} adds to a call, {how}",
            ours=functools.partial(microseconds_of_watching, make, captured=captured),
            jax=lambda: 0,
            limit=limit,
        )
        for what, make, limit in (
            ("250 floats", list_of_numbers, 2.5),
            ("200 objects", list_of_objects, 10),
        )
        for how, captured in (("by name", False), ("captured", True))
    ],
]
