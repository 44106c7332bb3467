"""Ten steps of training as with Equinox and optax on JAX, from one key and data set."""

import numpy as np
import optax
import pytest

import imprint
import imprint.numpy as inp
from imprint import nn, optim
from imprint.module import combine, is_inexact_array, partition
from tests.units.nn.equinox_parity import OURS, THEIRS, numbers
from tests.units.optim.same_leaves import same_leaves

X, Y = numbers(32, 3), (numbers(32, seed=1) > 0).astype(np.float32)


def network(m):
    return m.nn.Sequential(
        [
            m.nn.LayerNorm(3),
            m.nn.MLP(3, "scalar", 8, 2, m.jnn.gelu, key=m.key),
            m.nn.Lambda(m.jnn.sigmoid),
        ]
    )


def optimizer(o):
    schedule = o.warmup_cosine_decay_schedule(0.0, 0.1, 3, 10)
    return o.chain(o.clip_by_global_norm(1.0), o.adamw(schedule, weight_decay=0.01))


def train(m, package):
    """Return the parameters after ten steps, and how often the step was traced."""
    arrays, rest = m.modules.partition(network(m), m.modules.is_inexact_array)
    method, traces = optimizer(package), []

    def loss(arrays, x, y):
        out = m.transforms.vmap(m.modules.combine(arrays, rest))(x)
        return m.np.mean((out - y) ** 2)

    @m.jit
    def step(arrays, state, x, y):
        traces.append(1)
        gradient = m.transforms.grad(loss)(arrays, x, y)
        updates, state = method.update(gradient, state, arrays)
        return package.apply_updates(arrays, updates), state

    state = method.init(arrays)
    for _ in range(10):
        arrays, state = step(arrays, state, X, Y)
    return arrays, len(traces)


@pytest.mark.slow
def test_ten_steps_as_equinox_and_optax():
    imprint.clear_caches()
    got, traces = train(OURS, optim)
    want, _ = train(THEIRS, optax)
    same_leaves(got, want)
    assert traces == 1


@pytest.mark.slow
def test_updates_of_arrays_apply_to_the_whole_model():
    """Functions and settings, which have no update, stay as they are."""
    model = nn.MLP(3, "scalar", 8, 1, key=OURS.key)
    arrays, rest = partition(model, is_inexact_array)
    method = optim.adam(0.1)
    gradient = imprint.grad(lambda a: combine(a, rest)(inp.ones(3)))(arrays)
    updates, _ = method.update(gradient, method.init(arrays))
    after = optim.apply_updates(model, updates)
    assert after.activation is nn.relu
    assert after(inp.ones(3)) < model(inp.ones(3))


def test_a_donated_step_is_traced_once():
    imprint.clear_caches()
    traces = []
    arrays, rest = partition(nn.Linear(3, "scalar", key=OURS.key), is_inexact_array)
    method = optim.sgd(0.1, momentum=0.9)

    @imprint.jit(donate_argnums=(0, 1))
    def step(arrays, state):
        traces.append(1)
        gradient = imprint.grad(lambda a: combine(a, rest)(inp.ones(3)))(arrays)
        updates, state = method.update(gradient, state)
        return optim.apply_updates(arrays, updates), state

    state = method.init(arrays)
    for _ in range(5):
        arrays, state = step(arrays, state)
    assert len(traces) == 1
