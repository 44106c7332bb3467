"""`filter_jit` on models: warm calls, recompiles, donation.

The twin is Equinox's `filter_jit`, except in the row of imprint's `jit` on the leaves. The
model is 50 elementwise layers of two arrays of 8 floats, two static sizes and an activation
function, so nearly all is dispatch.
"""

import os
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Fact, Pair, Suite
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.filter_jit import filter_jit
from imprint.module import Module, field

LAYERS = 50
WIDTH = 8


def classes(base, static):
    """Return a layer and a network of either library."""

    class Layer(base):
        weight: object
        bias: object
        in_size: int = static()
        out_size: int = static()

        def __call__(self, x):
            return self.weight * x + self.bias

    class Network(base):
        layers: tuple
        activation: object

        def __call__(self, x):
            for layer in self.layers:
                x = self.activation(layer(x))
            return x

    return Layer, Network


def network(base, static, names, activation, layers=LAYERS):
    """Return a network of either library."""
    layer_class, network_class = classes(base, static)
    made = [
        layer_class(names.full(WIDTH, 0.5), names.full(WIDTH, 0.5), WIDTH, WIDTH)
        for _ in range(layers)
    ]
    return network_class(tuple(made), activation)


def apply(model, x):
    return model(x)


def our_call():
    model = network(Module, lambda: field(static=True), inp, inp.sin)
    compiled, x = filter_jit(apply), inp.ones(WIDTH)
    return lambda: compiled(model, x)


def equinox_call():
    model = network(eqx.Module, lambda: eqx.field(static=True), jnp, jnp.sin)
    compiled, x = eqx.filter_jit(apply), jnp.ones(WIDTH)
    return lambda: compiled(model, x)


def call_on_the_leaves():
    """Return a call of `jit` on the arrays of the model, one by one."""

    def flat(x, *arrays):
        for weight, bias in zip(arrays[::2], arrays[1::2], strict=True):
            x = inp.sin(weight * x + bias)
        return x

    compiled, x = imprint.jit(flat), inp.ones(WIDTH)
    arrays = [inp.full(WIDTH, 0.5) for _ in range(2 * LAYERS)]
    return lambda: compiled(x, *arrays)


PAIRS = [
    Pair("filter_jit, a model of 100 arrays", our_call(), equinox_call(), 0.7),
    Pair("filter_jit to jit on its 100 arrays", our_call(), call_on_the_leaves(), 1.3),
]


# ---- counts ----

MODELS = 1_000
SCALE = 0.5


def fresh_models(base, static, names):
    """Yield equal models, each with an activation that was made for it."""
    layer_class, network_class = classes(base, static)
    layers = (layer_class(names.ones(WIDTH), names.ones(WIDTH), WIDTH, WIDTH),)
    for _ in range(MODELS):
        scale = SCALE
        yield network_class(layers, lambda x: x * scale)  # noqa: B023 - never rebound


def traces_of_imprint():
    compiled, x = filter_jit(apply), inp.ones(WIDTH)
    before = COUNTERS.traces
    for model in fresh_models(Module, lambda: field(static=True), inp):
        compiled(model, x)
    return COUNTERS.traces - before


def traces_of_equinox():
    """Trace and lower only: to compile each, as a call does, would take a minute."""
    traces = []

    def counted(model, x):
        traces.append(1)
        return model(x)

    compiled, x = eqx.filter_jit(counted), jnp.ones(WIDTH)
    for model in fresh_models(eqx.Module, lambda: eqx.field(static=True), jnp):
        compiled.lower(model, x)
    jax.clear_caches()
    return len(traces)


PARAMETERS = 200 << 20  # bytes

TRAINING = """
import gc
{imports}

class Model(Module):
    layers: tuple
    activation: object

@filter_jit(donate="all")
def step(model, x):
    layers = tuple(w - 0.1 * (w * x) * x for w in model.layers)
    return Model(layers, model.activation)

def status(name):
    with open("/proc/self/status", encoding="utf-8") as lines:
        (line,) = [line for line in lines if line.startswith(name)]
    return int(line.split()[1]) << 10

def train(size):
    model = Model(tuple(np.full((size,), 0.5) for _ in range(8)), np.sin)
    for _ in range(4):
        model = step(model, np.ones(()))
    for w in model.layers:
        w.block_until_ready()

train(8)
gc.collect()
before = status("VmRSS")
train({bytes} // 4 // 8)
print((status("VmHWM") - before) / {bytes})
"""

OURS = """
import imprint.numpy as np
from imprint._src.jit.filter_jit import filter_jit
from imprint.module import Module
"""
EQUINOX = """
import jax.numpy as np
from equinox import Module, filter_jit
"""


def copies(imports):
    """Return how many copies of its parameters a training process holds at its peak."""
    code = TRAINING.format(imports=imports, bytes=PARAMETERS)
    finished = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    return round(float(finished.stdout), 3)


FACTS = [
    Fact(
        "traces of 1,000 models made anew",
        ours=traces_of_imprint,
        jax=traces_of_equinox,
        limit=1,
    ),
    Fact(
        "copies of 200 MB of parameters, donate='all'",
        ours=lambda: copies(OURS),
        jax=lambda: copies(EQUINOX),
        limit=1.1,
    ),
]


class Filtering(Suite):
    pairs = PAIRS
