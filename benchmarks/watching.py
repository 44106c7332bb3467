"""Change detection: its time in a trace, and at each warm call.

A trace is compared with one without recording (`imprint.guards("off")`) and with JAX's, which
never records. Each sample traces a new function, so no cache hits; its creation is not timed.
A guard is timed alone, after it was compiled, in nanoseconds per location or call; JAX has
none. Limits are the goals for the native core on an idle machine.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.measure import ROUNDS, calls_per_sample, do_nothing, sample
from benchmarks.pairs import Fact, Pair, Suite, Timing
from benchmarks.tracing import SALTS
from imprint._src.jit.guards.guard import Guard
from imprint._src.jit.guards.recording import Recording

X = np.ones((4, 8), np.float32)
NAMES = {imprint: inp, jax: jnp}
LAYERS = 12  # of 8 equations: about 100
MANY = 100
SCALE, SHIFT = 2.0, 0.5


# ---- programs to trace; `salt` makes each differ from the others ----


def one_line(names, salt):
    """Return a function that reads closure variables alone."""
    return lambda x: x * salt


def two_globals(names, salt):
    """Return a function of one line that names two globals."""
    return lambda x: x * SCALE + (SHIFT + salt)


def layer(names, weight, scale, x):
    """Apply 8 equations."""
    h = names.tanh(x @ weight * scale)
    h = h * x - names.sin(h)
    return x + h * scale


def layers(names, salt):
    """Return a function of 12 layers, each a call of a function on captured arrays."""
    weights = WEIGHTS

    def loss(x):
        for weight in weights:
            x = layer(names, weight, 1 / math.sqrt(8), x)
        return x * salt

    return loss


class Layer:
    """The same layer, an object of 3 attributes."""

    def __init__(self, names, weight):
        self.names, self.weight, self.scale = names, weight, 1 / math.sqrt(8)

    def __call__(self, x):
        h = self.names.tanh(x @ self.weight * self.scale)
        h = h * x - self.names.sin(h)
        return x + h * self.scale


WEIGHTS = [np.full((8, 8), 1 / (i + 1), np.float32) for i in range(LAYERS)]
OBJECTS_OF = {
    names: [Layer(names, weight) for weight in WEIGHTS] for names in NAMES.values()
}


def objects(names, salt):
    """Return a function of 12 layer objects."""
    model = OBJECTS_OF[names]

    def loss(x):
        for each in model:
            x = each(x)
        return x * salt

    return loss


PROGRAMS = {
    "one line": one_line,
    "one line with 2 globals": two_globals,
    f"{LAYERS} layers": layers,
    f"{LAYERS} layer objects": objects,
}


def traces(library, program, guards="on"):
    """Return a maker of functions that trace a new program."""

    def fresh():
        names = NAMES[library]
        compiled, x = library.jit(program(names, next(SALTS))), names.asarray(X)

        def trace():
            if library is jax:
                return compiled.trace(x)
            with imprint.guards(guards):
                return compiled.trace(x)

        return trace

    return fresh


# ---- guards ----

A, B, C, D, E, F, G, H = (0.5 + i for i in range(8))


class Config:
    def __init__(self, start=0.5):
        self.a, self.b, self.c, self.d = (start + i for i in range(4))
        self.e, self.f, self.g, self.h = (start + 4 + i for i in range(4))


SETTINGS = Config()
LIST = [0.5 + i for i in range(250)]
OBJECTS = [Config(i) for i in range(50)]
PLACES = {f"place_{i}": 0.5 + i for i in range(MANY)}
exec(f"def reads_places(x): return {' + '.join(PLACES)}", PLACES)


def reads_names(x):
    return A + B + C + D + E + F + G + H


def reads_twelve_names(x):
    return A + B + C + D + E + F + G + H + MANY + LAYERS + SCALE + SHIFT


def reads_attributes(x):
    s = SETTINGS
    return s.a + s.b + s.c + s.d + s.e + s.f + s.g + s.h


def reads_name(x):
    return A


def reads_attribute(x):
    s = SETTINGS
    return s.a


def reads_list(x):
    return sum(LIST)


def reads_objects(x):
    return sum([each.a for each in OBJECTS])


def guard_of(reads):
    """Return the compiled guard of a function."""
    with Recording(reads, strict=False) as recording:
        reads(X)
    guard = Guard(recording.dependencies)
    for _ in range(4):  # it is compiled meanwhile
        assert guard.holds()
    return guard


def seconds_of(reads):
    """Return the best time of a guard over an empty call."""
    guard = guard_of(reads)
    count = calls_per_sample(guard.check)
    turns = [
        [sample(each, count, Timing.LOOP) for each in (guard.check, do_nothing)]
        for _ in range(ROUNDS[Timing.LOOP])
    ]
    ours, empty = (min(times) for times in zip(*turns, strict=True))
    return ours - empty


def nanoseconds(reads, one=None):
    """Return a measure of a guard; of one place, if `one` reads one and `reads` eight."""

    def count():
        if one is None:
            return round(1e9 * seconds_of(reads), 1)
        return round(1e9 * (seconds_of(reads) - seconds_of(one)) / 7, 1)

    return count


def calls(library):
    """Call a function that reads 2 names."""
    names = NAMES[library]
    compiled = library.jit(lambda x: x * SCALE + SHIFT)
    x = names.asarray(X)
    return lambda: compiled(x)


# ---- a trainer, which counts and logs next to the attribute that its trace reads ----

STEPS = 1000


class Trainer:
    def __init__(self, library):
        self.lr, self.count, self.traces, self.losses = 0.1, 0, 0, []
        self.x = NAMES[library].asarray(X)
        self.compiled = library.jit(Trainer.step, static_argnums=0)

    def step(self, w, x):
        self.traces += 1
        return w - self.lr * (w * x)

    def train(self, steps):
        w = self.x
        for _ in range(steps):
            w = self.compiled(self, w, self.x)
            self.count += 1
            self.losses.append(self.count)
        self.losses.clear()
        return w


def trainer_steps(library):
    trainer = Trainer(library)
    return lambda: trainer.train(100)


def traces_of(library, changes):
    """Count the traces of 1,000 steps in which `lr` is changed some times."""

    def count():
        trainer = Trainer(library)
        for i in range(changes + 1):
            trainer.lr = 0.1 + i
            trainer.train(STEPS // (changes + 1))
        return trainer.traces

    return count


def recorded(name, target):
    """Return a row: a trace that records, over one that does not."""
    program = PROGRAMS[name]
    return Pair(
        f"trace of {name} / without guards",
        ours=traces(imprint, program),
        jax=traces(imprint, program, "off"),
        target=target,
        timing=Timing.FRESH,
    )


def against_jax(name, target=None):
    """Return a row: a trace that records, over JAX's."""
    program = PROGRAMS[name]
    return Pair(
        f"trace of {name}",
        ours=traces(imprint, program),
        jax=traces(jax, program),
        target=target,
        timing=Timing.FRESH,
    )


PAIRS = [
    recorded("one line", 1.25),
    recorded(f"{LAYERS} layers", 1.15),
    recorded(f"{LAYERS} layer objects", 1.15),
    against_jax("one line with 2 globals", 1.3),
    against_jax(f"{LAYERS} layer objects"),
    Pair("warm call that reads 2 names", calls(imprint), calls(jax), target=1.4),
    Pair(
        "a step of a trainer that counts and logs",
        ours=trainer_steps(imprint),
        jax=trainer_steps(jax),
        per=100,
    ),
]


def fact(name, ours, limit):
    """Return a row that JAX has no part in."""
    return Fact(name, ours=ours, jax=lambda: 0, limit=limit)


FACTS = [
    fact("guard, ns a name", nanoseconds(reads_names, reads_name), 10),
    fact("guard, ns of 12 names", nanoseconds(reads_twelve_names), 100),
    fact("guard, ns an attribute", nanoseconds(reads_attributes, reads_attribute), 15),
    fact("guard, ns of a list of 250 numbers", nanoseconds(reads_list), 1000),
    fact(f"guard, ns of {MANY} places", nanoseconds(PLACES["reads_places"]), 1500),
    fact("guard, ns of 50 objects", nanoseconds(reads_objects), 1500),
    *(
        Fact(
            f"traces in 1,000 steps, lr changed {changes} times",
            ours=traces_of(imprint, changes),
            jax=traces_of(jax, changes),
            limit=changes + 1,
        )
        for changes in (0, 3)
    ),
]


class Watching(Suite):
    pairs = PAIRS
