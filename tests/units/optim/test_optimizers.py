"""Complete optimizers as in optax, and the number of traces of a training step."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import optim, tree
from tests.units.optim.optax_parity import draw, same_steps


@pytest.fixture(autouse=True)
def _no_versions():
    """Equal functions share versions, so a count starts from none."""
    imprint.clear_caches()


def matrices(params):
    return {"w": True, "b": [False, False], "none": None}


def schedule(o):
    return o.warmup_cosine_decay_schedule(0.0, 0.5, 3, 9)


OPTIMIZERS = {
    "sgd": lambda o: o.sgd(0.1),
    "sgd, schedule": lambda o: o.sgd(schedule(o)),
    "momentum": lambda o: o.sgd(0.1, 0.9),
    "nesterov": lambda o: o.sgd(0.1, momentum=0.9, nesterov=True),
    "momentum in bfloat16": lambda o: o.sgd(0.1, 0.9, accumulator_dtype="bfloat16"),
    "adam": lambda o: o.adam(0.1),
    "adam, schedule": lambda o: o.adam(schedule(o)),
    "adam, all numbers": lambda o: o.adam(0.1, 0.8, 0.95, 1e-3, 1e-4),
    "nadam": lambda o: o.adam(0.1, nesterov=True),
    "adam with mu in bfloat16": lambda o: o.adam(0.1, mu_dtype="bfloat16"),
    "adamw": lambda o: o.adamw(0.1),
    "adamw, masked": lambda o: o.adamw(0.1, weight_decay=0.2, mask=matrices),
    "adamw, schedules": lambda o: o.adamw(schedule(o), weight_decay=schedule(o)),
    "rmsprop": lambda o: o.rmsprop(0.1),
    "rmsprop, eps": lambda o: o.rmsprop(0.1, eps=0.1),
    "rmsprop, momentum": lambda o: o.rmsprop(0.1, 0.8, momentum=0.9, nesterov=True),
    "rmsprop, eps apart": lambda o: o.rmsprop(
        0.1, eps=0.1, initial_scale=1.0, eps_in_sqrt=False
    ),
    "clipped": lambda o: o.chain(o.clip_by_global_norm(0.5), o.adam(0.1)),
}
ROUNDED = ["momentum in bfloat16", "adam with mu in bfloat16"]
"""Compiled programs skip some roundings to bfloat16, so both sides are compiled."""

# ---- as optax ----


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in OPTIMIZERS if n not in ROUNDED])
def test_ten_steps_as_optax(name):
    same_steps(OPTIMIZERS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", ROUNDED)
def test_ten_steps_compiled_as_optax(name):
    same_steps(OPTIMIZERS[name], compiled=imprint.jit)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["momentum", "adam", "adamw", "rmsprop"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_dtypes_as_optax(name, dtype):
    same_steps(OPTIMIZERS[name], dtype)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nesterov", "adam", "rmsprop"])
def test_complex_parameters_as_optax(name):
    same_steps(OPTIMIZERS[name], "complex64")


# ---- one trace ----


def traces_of(optimizer, params, steps=20, **options):
    """Return how often a step was traced, and the parameters at the end."""
    traces = []

    def loss(params):
        return sum(inp.sum((leaf - 1) ** 2) for leaf in tree.leaves(params))

    @imprint.jit(**options)
    def step(params, state):
        traces.append(1)
        updates, state = optimizer.update(imprint.grad(loss)(params), state, params)
        return optim.apply_updates(params, updates), state

    state = optimizer.init(params)
    for _ in range(steps):
        params, state = step(params, state)
    return len(traces), params


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_twenty_steps_trace_once(name):
    params = tree.map(inp.asarray, draw(0))
    count, after = traces_of(OPTIMIZERS[name](optim), params)
    assert count == 1
    assert inp.sum((after["w"] - 1) ** 2) < inp.sum((params["w"] - 1) ** 2)


@pytest.mark.parametrize("name", ["sgd", "momentum", "adam, schedule", "rmsprop"])
def test_weak_parameters_stay_weak_and_trace_once(name):
    count, params = traces_of(OPTIMIZERS[name](optim), {"x": inp.asarray(3.0)})
    assert count == 1
    assert params["x"].weak_type


@pytest.mark.parametrize("name", ["adam", "momentum in bfloat16"])
def test_a_donated_state_traces_once(name):
    params = tree.map(inp.asarray, draw(0))
    count, _ = traces_of(OPTIMIZERS[name](optim), params, donate_argnums=(0, 1))
    assert count == 1


def test_a_recreated_optimizer_is_not_traced_again():
    traces = []

    def make_step(rate):
        optimizer = optim.adamw(optim.exponential_decay(rate, 10, 0.5))

        @imprint.jit
        def step(params, state):
            traces.append(1)
            updates, state = optimizer.update(params, state, params)
            return optim.apply_updates(params, updates), state

        return step, optimizer.init

    params = inp.ones(3)
    for _ in range(5):
        step, init = make_step(0.1)
        step(params, init(params))
    assert len(traces) == 1
    step, init = make_step(0.2)
    step(params, init(params))
    assert len(traces) == 2


def test_an_optimizer_as_a_static_argument():
    @imprint.jit(static_argnums=0)
    def step(optimizer, params, state):
        updates, state = optimizer.update(params, state)
        return optim.apply_updates(params, updates), state

    params = inp.ones(3)
    for _ in range(3):
        optimizer = optim.adam(0.1)
        step(optimizer, params, optimizer.init(params))
    assert step._cache_size() == 1


def test_where_there_is_no_gradient_state_and_parameter_stay():
    params = {"w": inp.ones(2), "n": inp.asarray([3], "int32")}
    gradients = {"w": np.ones(2, np.float32), "n": None}
    for name in ("momentum", "adam", "rmsprop", "clipped"):
        optimizer = OPTIMIZERS[name](optim)
        state = optimizer.init(params)
        updates, after = optimizer.update(gradients, state, params)
        assert updates["n"] is None
        assert tree.structure(after) == tree.structure(state)
        assert optim.apply_updates(params, updates)["n"] is params["n"]
