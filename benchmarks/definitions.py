"""Re-created functions and guarded names: traces, microseconds, nanoseconds.

Functions re-created in a loop are traced once, where JAX traces each; the identification of
a re-created lambda is timed over a warm call of it. A guarded name is timed as the difference
of two functions, one of which reads constants instead.
"""

import dataclasses
import functools
import time
from itertools import repeat

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Fact
from imprint._src.jit.compilation.counters import COUNTERS

MANY = 1_000
HOST = np.arange(8, dtype=np.float32)


# ---- families of re-created functions ----


def scaled(scale, x):
    return x * scale


@dataclasses.dataclass(frozen=True)
class Scale:
    scale: float

    def __call__(self, x):
        return x * self.scale

    def method(self, x):
        return x - self.scale


def closure_over(scale):
    def inner(x):
        return x / scale

    return inner


FAMILIES = {
    "lambdas": lambda: lambda x: x * 2.5,
    "closures": lambda: closure_over(2.5),
    "partials": lambda: functools.partial(scaled, 2.5),
    "bound methods": lambda: Scale(2.5).method,
    "frozen dataclasses": lambda: Scale(2.5),
}


def traces_of_imprint(make):
    x = inp.asarray(HOST)
    before = COUNTERS.traces
    for _ in range(MANY):
        imprint.jit(make())(x)
    return COUNTERS.traces - before


def traces_of_jax(make):
    """Trace and lower only: to compile each, as a call does, would take a minute."""
    events = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, _seconds, **_: events.append(event)
    )
    x = jnp.asarray(HOST)
    for _ in range(MANY):
        jax.jit(make()).lower(x)
    jax.monitoring.clear_event_listeners()
    return sum("jaxpr_trace" in event for event in events)


# ---- a global that goes to and fro ----

rate = 2.0


def rated(x):
    return x * rate


def traces_to_and_fro(library):
    global rate
    traces = []

    def counted(x):
        traces.append(1)
        return rated(x)

    compiled = library.jit(counted)
    for rate in (2.0, 5.0, 2.0, 5.0):  # noqa: B007 - `rated` reads it
        compiled(1.0)
    rate = 2.0
    return len(traces)


# ---- look-ups ----


def seconds_of(function, calls=2_000, rounds=15):
    """Return the best time of one call in some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in repeat(None, calls):
            function()
        best = min(best, time.perf_counter() - start)
    return best / calls


def microseconds_of_a_new_lambda(library):
    numpy = inp if library is imprint else jnp
    x = numpy.asarray(HOST)

    def made(scale):
        return lambda x: x + scale

    compiled = library.jit(made(2.5))
    for _ in range(3):
        compiled(x)
    calls, rounds = (2_000, 15) if library is imprint else (1, 5)
    new = seconds_of(lambda: library.jit(made(2.5))(x), calls, rounds)
    making = seconds_of(lambda: made(2.5))
    return round((new - making - seconds_of(lambda: compiled(x))) * 1e6, 2)


def nanoseconds_of_watching(count):
    names = [f"watched_{i}" for i in range(count)]
    namespace = dict.fromkeys(names, 1.0) | {"__name__": __name__}
    exec(f"def reads(x): return x + ({' + '.join(names)})", namespace)
    exec(f"def constant(x): return x + ({' + '.join(['1.0'] * count)})", namespace)
    x = inp.asarray(HOST)
    reads, constant = map(imprint.jit, (namespace["reads"], namespace["constant"]))
    for _ in range(3):
        reads(x), constant(x)
    turns = [
        (
            seconds_of(lambda: reads(x), rounds=1),
            seconds_of(lambda: constant(x), rounds=1),
        )
        for _ in range(41)
    ]
    ours, without = (min(times) for times in zip(*turns, strict=True))
    return round((ours - without) * 1e9)


FACTS = [
    *[
        Fact(
            f"traces of {MANY:,} {name}, made anew",
            ours=functools.partial(traces_of_imprint, make),
            jax=functools.partial(traces_of_jax, make),
            limit=1,
        )
        for name, make in FAMILIES.items()
    ],
    Fact(
        "traces as a global goes 2, 5, 2, 5",
        ours=lambda: traces_to_and_fro(imprint),
        jax=lambda: traces_to_and_fro(jax),
        limit=2,
    ),
    Fact(
        "µs of a new equal lambda over a warm call",
        ours=lambda: microseconds_of_a_new_lambda(imprint),
        jax=lambda: microseconds_of_a_new_lambda(jax),
        limit=3,
    ),
    *[
        Fact(
            f"ns that {count} watched names add to a call",
            ours=functools.partial(nanoseconds_of_watching, count),
            jax=lambda: 0,
            limit=limit,
        )
        for count, limit in ((5, 120), (20, 400))
    ],
]
