"""What it costs to know what a program read: in its trace, and at each warm call.

The model is 50 objects of plain classes that a function finds by name: attributes of its
layers are watched one by one. The trainer counts and logs in attributes that no traced
code reads, and is a static argument: JAX takes it by identity, so an `lr` that is changed
goes unseen there; imprint watches it. What a watched place costs at a warm call is told in
nanoseconds: JAX looks at none.
"""

import math
from dataclasses import asdict, dataclass, field

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.measure import do_nothing, measure
from benchmarks.pairs import Fact, Pair, Suite, Timing
from benchmarks.tracing import ARGUMENTS, SALTS, transformer
from imprint.record.recorder import Recording
from imprint.watch.guard import Watch

BLOCKS = 6
X = np.ones((4, 8), np.float32)
STEPS = 1000


class Linear:
    def __init__(self, width, height):
        self.weight = np.ones((width, height), np.float32)
        self.bias = np.zeros(height, np.float32)
        self.has_bias = True

    def __call__(self, x):
        y = x @ self.weight
        return y + self.bias if self.has_bias else y


class Norm:
    eps = 1e-5

    def __init__(self, width):
        self.gain = np.ones(width, np.float32)

    def __call__(self, x):
        centered = x - x.mean(-1, keepdims=True)
        variance = (centered * centered).mean(-1, keepdims=True)
        return centered / (variance + self.eps) ** 0.5 * self.gain


class Block:
    def __init__(self, names, width):
        self.names = names
        self.scale = 1 / math.sqrt(width)
        self.before, self.after = Norm(width), Norm(width)
        for name in ("query", "key", "value", "out"):
            setattr(self, name, Linear(width, width))
        self.feed = Linear(width, width)

    def __call__(self, x):
        h = self.before(x)
        scores = self.query(h) @ self.key(h).swapaxes(-1, -2) * self.scale
        weights = self.names.exp(scores - scores.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True)
        x = x + self.out(weights @ self.value(h))
        return x + self.names.tanh(self.feed(self.after(x)))


class Model:
    def __init__(self, names):
        self.layers = [Block(names, 8) for _ in range(BLOCKS)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


MODELS = {imprint: Model(inp), jax: Model(jnp)}
NAMES = {imprint: inp, jax: jnp}
SCALE = 2.0


def traces_model(library):
    """Trace the model in a function made anew."""

    def fresh():
        model, x = MODELS[library], NAMES[library].asarray(X)
        salt = next(SALTS)  # else what was traced before answers
        compiled = library.jit(lambda x: model(x * salt))
        return lambda: compiled.trace(x)

    return fresh


def traces_line(library):
    """Trace a function of one line: little but what is asked of each trace."""

    def fresh():
        names, salt = NAMES[library], next(SALTS)
        compiled, x = library.jit(lambda x: names.sin(x) * salt), names.asarray(X)
        return lambda: compiled.trace(x)

    return fresh


def traces_transformer(library):
    def fresh():
        compiled = library.jit(transformer(library, next(SALTS)))
        return lambda: compiled.trace(*ARGUMENTS)

    return fresh


@dataclass
class Settings:
    rate: float = 0.5
    sizes: list = field(default_factory=lambda: [1, 2, 3])


def traces_library(library):
    """Trace a function that calls Python code of libraries, which reads the user's."""
    settings = Settings()

    def fresh():
        salt = next(SALTS)

        def scaled(x):
            for _ in range(20):
                x = x * asdict(settings)["rate"]
            for _ in range(10):
                weights = np.linalg.inv(np.eye(4) * salt)
                x = x * float(np.median(np.pad(weights, 1, constant_values=1)))
            return x

        compiled, x = library.jit(scaled), NAMES[library].asarray(X)
        return lambda: compiled.trace(x)

    return fresh


def calls_model(library):
    """Call the compiled model: each attribute that it read is looked at."""
    model, x = MODELS[library], NAMES[library].asarray(X)
    compiled = library.jit(lambda x: model(x))
    return lambda: compiled(x)


def calls_names(library):
    """Call a function of some lines that reads names."""
    names = NAMES[library]
    compiled = library.jit(lambda x: names.sin(x) * SCALE + names.ones(8))
    x = names.asarray(X)
    return lambda: compiled(x)


class Trainer:
    def __init__(self, library):
        self.lr = 0.1
        self.count = self.traces = 0
        self.losses = []
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


def steps_trainer(library):
    """Train 100 steps."""
    trainer = Trainer(library)
    return lambda: trainer.train(100)


def steps_closure(library):
    """Train 100 steps of a closure over the plain number."""
    lr, x = 0.1, NAMES[library].asarray(X)
    compiled = library.jit(lambda w, x: w - lr * (w * x))

    def train():
        w = x
        for _ in range(100):
            w = compiled(w, x)
        return w

    return train


def traces_of(library, changes):
    """Count the traces of 1,000 steps in which `lr` is changed some times."""

    def count():
        trainer = Trainer(library)
        for i in range(changes + 1):
            trainer.lr = 0.1 + i
            trainer.train(STEPS // (changes + 1))
        return trainer.traces

    return count


A, B, C, D, E, F, G, H = (0.5 + i for i in range(8))
CONFIG = {"a": 0.5, "b": 1.5, "c": 2.5, "d": 3.5, "e": 4.5, "f": 5.5, "g": 6.5}


class Config:
    def __init__(self):
        self.a, self.b, self.c, self.d = 0.5, 1.5, 2.5, 3.5
        self.e, self.f, self.g, self.h = 4.5, 5.5, 6.5, 7.5


SETTINGS = Config()


def reads_names(x):
    return A + B + C + D + E + F + G + H


def reads_attributes(x):
    s = SETTINGS
    return s.a + s.b + s.c + s.d + s.e + s.f + s.g + s.h


def reads_items(x):
    first = CONFIG["a"] + CONFIG["b"] + CONFIG["c"] + CONFIG["d"]
    return first + CONFIG["e"] + CONFIG["f"] + CONFIG["g"]


PLACES = {
    "8 names": reads_names,
    "8 attributes of an object": reads_attributes,
    "7 items of a dictionary": reads_items,
    "a model of 50 objects": lambda x: MODELS[imprint](x),
}


def nanoseconds_of_place(reads):
    """Measure what a warm call takes longer for each place that it looks at."""

    def count():
        with Recording(reads, strict=False) as recording:
            reads(X)
        watch = Watch(recording.findings.reads)
        for _ in range(4):  # the guard is written meanwhile
            assert watch.holds()
        ours, _ = measure(Pair("", ours=watch.guard, jax=do_nothing))
        return round(1e9 * ours.best / len(watch.reads), 1)

    return count


PAIRS = [
    Pair(
        "trace of a model of 50 objects",
        ours=traces_model(imprint),
        jax=traces_model(jax),
        timing=Timing.FRESH,
    ),
    Pair(
        "trace of a function of one line",
        ours=traces_line(imprint),
        jax=traces_line(jax),
        timing=Timing.FRESH,
    ),
    Pair(
        "trace of a transformer's loss",
        ours=traces_transformer(imprint),
        jax=traces_transformer(jax),
        timing=Timing.FRESH,
    ),
    Pair(
        "trace of 50 calls of libraries' Python code",
        ours=traces_library(imprint),
        jax=traces_library(jax),
        timing=Timing.FRESH,
    ),
    Pair(
        "warm call of a model of 50 objects",
        ours=calls_model(imprint),
        jax=calls_model(jax),
    ),
    Pair(
        "warm call of a function that reads 2 names",
        ours=calls_names(imprint),
        jax=calls_names(jax),
        target=1.4,
    ),
    Pair(
        "a step of a trainer that counts and logs",
        ours=steps_trainer(imprint),
        jax=steps_trainer(jax),
        per=100,
    ),
    Pair(
        "a step of a closure over a number",
        ours=steps_closure(imprint),
        jax=steps_closure(jax),
        per=100,
    ),
]
FACTS = [
    Fact(
        "traces in 1,000 steps of a trainer",
        ours=traces_of(imprint, 0),
        jax=traces_of(jax, 0),
        limit=1,
    ),
    Fact(
        "traces in 1,000 steps, lr changed 3 times",
        ours=traces_of(imprint, 3),
        jax=traces_of(jax, 3),
        limit=4,
    ),
    *(
        Fact(
            f"ns a watched place: {what}",
            ours=nanoseconds_of_place(reads),
            jax=lambda: 0,
            limit=15,
        )
        for what, reads in PLACES.items()
    ),
]


class Watching(Suite):
    pairs = PAIRS
