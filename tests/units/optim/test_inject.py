import jax.numpy as jnp
import numpy as np
import optax
import pytest

import imprint
import imprint.numpy as inp
from imprint import optim, tree
from imprint.errors import ArgumentError
from tests.tolerances import assert_close
from tests.units.optim.optax_parity import draw, steps
from tests.units.optim.same_leaves import same_leaves

INJECTED = {
    "sgd": lambda o: o.inject_hyperparams(o.sgd)(0.1, momentum=0.9),
    "adam": lambda o: o.inject_hyperparams(o.adam)(learning_rate=0.1, b1=0.8),
    "schedule": lambda o: o.inject_hyperparams(o.adam)(o.linear_schedule(0.1, 0.0, 5)),
    "static": lambda o: o.inject_hyperparams(o.adam, static_args=("b1", "b2"))(0.1),
    "one static": lambda o: o.inject_hyperparams(o.adam, "b1")(0.1),
    "another dtype": lambda o: o.inject_hyperparams(o.sgd, hyperparam_dtype="bfloat16")(
        0.1
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", INJECTED)
def test_ten_steps_as_optax(name):
    params, *gradients = (draw(seed) for seed in range(11))
    run = (lambda step: step, params, gradients)
    got = steps(optim, INJECTED[name](optim), *run)
    jnp_params = {"w": jnp.asarray(params["w"]), "b": params["b"], "none": None}
    want = steps(optax, INJECTED[name](optax), run[0], jnp_params, gradients)
    same_leaves(got[0], want[0])
    same_leaves(got[1].hyperparams, want[1].hyperparams)
    same_leaves(got[1].inner_state, want[1].inner_state)
    same_leaves(got[1].count, want[1].count)


def test_another_learning_rate_is_no_new_trace():
    optimizer = optim.inject_hyperparams(optim.adam)(learning_rate=0.1)
    traces = []

    @imprint.jit
    def step(params, state):
        traces.append(1)
        updates, state = optimizer.update(params, state)
        return optim.apply_updates(params, updates), state

    params = inp.ones(3)
    state = optimizer.init(params)
    for rate in (0.1, 0.2, 0.0):
        state.hyperparams["learning_rate"] = inp.array(rate, "float32")
        before = params
        params, state = step(params, state)
    np.testing.assert_array_equal(params, before)
    assert len(traces) == 1


SCHEDULES = {
    "an array": (optim.linear_schedule(1.0, 0.0, 4), [1.0, 0.75, 0.5, 0.25]),
    "a python number": (optim.constant_schedule(0.5), [0.5] * 4),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_is_no_new_trace(name):
    schedule, wanted = SCHEDULES[name]
    optimizer = optim.inject_hyperparams(optim.sgd)(schedule)

    @imprint.jit
    def step(params, state):
        updates, state = optimizer.update(params, state)
        return optim.apply_updates(params, updates), state

    params = inp.ones(3)
    state = optimizer.init(params)
    rates = []
    for _ in range(4):
        params, state = step(params, state)
        rates.append(float(state.hyperparams["learning_rate"]))
    assert rates == wanted
    assert step._cache_size() == 1


NUMBERS = {
    "python": lambda n: 0.5,
    "typed": lambda n: n.asarray(0.5, "float32"),
    "integer": lambda n: 2,
}


@pytest.mark.parametrize("name", NUMBERS)
def test_conversion_of_numbers_is_as_in_optax(name):
    def rate(package, numpy):
        make = package.inject_hyperparams(package.scale)
        state = make(NUMBERS[name](numpy)).init([numpy.ones(2, "bfloat16")])
        return state.hyperparams["step_size"]

    assert_close(rate(optim, inp), rate(optax, jnp))


def test_numbers_have_the_dtype_of_the_parameters():
    optimizer = optim.inject_hyperparams(optim.adam)(learning_rate=0.1)
    for dtype in ("float32", "bfloat16"):
        numbers = optimizer.init([inp.ones(2, dtype)]).hyperparams
        assert {str(x.aval) for x in tree.leaves(numbers)} == {f"{dtype}[]"}
    assert str(optimizer.init(None).hyperparams["b1"].aval) == "float32[]"


def test_an_unknown_static_argument():
    with pytest.raises(ArgumentError) as caught:
        optim.inject_hyperparams(optim.scale, static_args="size")
    assert str(caught.value) == (
        "inject_hyperparams: expected static_args among ['step_size'], got ['size']. "
        "Name parameters of the function that is wrapped."
    )
