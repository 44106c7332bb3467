"""Layers with a state as in Equinox; an updated state is invalid."""

import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import nn, random
from imprint.errors import ArgumentError, ShapeError
from tests.units.nn.equinox_parity import numbers, same_calls


def mapped(f, transforms, **options):
    run = lambda x, state: f(x, state, **options)
    return transforms.vmap(run, (0, None), (0, None), axis_name="batch")


def transforms_of(model):
    return imprint if type(model).__module__.startswith("imprint") else jax


def two_batches(made, x):
    model, state = made
    transforms = transforms_of(model)
    first, state = mapped(model, transforms)(x, state)
    second, state = mapped(model, transforms)(x * 2 + 1, state)
    frozen, _ = mapped(model, transforms, inference=True)(x, state)
    return first, second, frozen, state


NORMS = {
    "batch": lambda m: m.nn.make_with_state(m.nn.BatchNorm)(3, "batch", mode="batch"),
    "ema": lambda m: m.nn.make_with_state(m.nn.BatchNorm)(
        3, "batch", 1e-3, momentum=0.7, mode="ema"
    ),
    "plain": lambda m: m.nn.make_with_state(m.nn.BatchNorm)(
        3, "batch", channelwise_affine=False, mode="batch"
    ),
}


@pytest.mark.parametrize("name", NORMS)
def test_batches_as_equinox(name):
    same_calls(NORMS[name], two_batches, numbers(5, 3, 2))


def test_singular_values_as_equinox():
    def make(m):
        layer = m.nn.Conv1d(2, 3, 2, key=m.key)
        return m.nn.make_with_state(m.nn.SpectralNorm)(layer, "weight", 2, key=m.key)

    def call(made, x):
        layer, state = made
        first, state = layer(x, state)
        return first, *layer(x, state, inference=True)

    same_calls(make, call, numbers(2, 4))


def test_layers_in_sequence_as_equinox():
    def make(m):
        def model():
            layers = [
                m.nn.Linear(2, 3, key=m.key),
                m.nn.BatchNorm(3, "batch", mode="batch"),
                m.nn.Lambda(m.jnn.relu),
                m.nn.Sequential([m.nn.BatchNorm(3, "batch", mode="batch")]),
            ]
            return m.nn.Sequential(layers)

        return m.nn.make_with_state(model)()

    def call(made, x):
        model, state = made
        first, state = mapped(model, transforms_of(model))(x, state)
        return first, *mapped(model, transforms_of(model))(x * 2, state)

    same_calls(make, call, numbers(4, 2))


@pytest.fixture
def made():
    return nn.make_with_state(nn.BatchNorm)(3, "batch", mode="batch")


def test_training_compiles_once(made):
    model, state = made

    @imprint.filter_jit
    def step(model, state, x):
        y, state = mapped(model, imprint)(x, state)
        return y.sum(), state

    for _ in range(3):
        _, state = step(model, state, inp.ones((4, 3)))
    assert step._cache_size() == 1
    assert int(state.get(model.batch_counter)) == 3
    assert not imprint.tree.leaves(model.batch_counter)


def test_a_part_has_a_state_of_its_own(made):
    model = nn.make_with_state(
        lambda: nn.Sequential([nn.Identity(), *[nn.BatchNorm(2, "b", mode="ema")] * 1])
    )
    whole, state = model()
    norm = whole[1]
    part = state.substate(norm)
    part = part.set(norm.ema_first_time_index, inp.zeros((), bool))
    updated = state.update(part)
    assert not updated.get(norm.ema_first_time_index)
    assert repr(state) == "State(~old~)"
    with pytest.raises(ArgumentError) as caught:
        made[1].update(updated)
    assert str(caught.value) == (
        "State.update: expected a state of a part of the model, got one with the further "
        "indices ['Sequential.layers[1].ema_first_time_index', "
        "'Sequential.layers[1].ema_state_index']."
    )


def refused(error, call):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_a_state_that_was_updated_is_used_up(made):
    model, state = made
    state.set(model.batch_counter, inp.array(1))
    said = (
        "State: expected the newest state, got one that was updated. Go on with what the "
        "update returned: `x, state = layer(x, state)`."
    )
    assert refused(ArgumentError, lambda: state.get(model.batch_counter)) == said
    assert refused(ArgumentError, lambda: imprint.tree.leaves(state)) == said


def test_error_messages_of_a_state(made):
    model, state = made
    assert refused(ArgumentError, lambda: state.get("batch_counter")) == (
        "State.get: expected a StateIndex, got 'batch_counter'. Keep one as a field of "
        "the layer."
    )
    new = inp.zeros(2)
    assert refused(ArgumentError, lambda: state.set(model.batch_counter, new)) == (
        "State.set: expected a value of the structure, shapes and dtypes of the old one, "
        "weak_i32[], got f32[2]."
    )
    assert refused(ArgumentError, lambda: state.update(3)) == (
        "State.update: expected a State, got 3. Make it with state.substate(part)."
    )
    assert refused(ArgumentError, lambda: nn.State(model)) == (
        "State: expected a model that still has its first values, got one that "
        "make_with_state made. Use the state that it made, too."
    )
    assert refused(ArgumentError, lambda: nn.StateIndex(abs)) == (
        "StateIndex: expected the first value, got the function <built-in function abs>. "
        "Call it, and pass what it returns."
    )


def test_error_messages_of_layers_with_state(made):
    model, state = made
    assert refused(ShapeError, lambda: model(np.ones((2, 3)), state)) == (
        "BatchNorm: expected one example of 3 channels, got float32[2,3]. For a batch "
        "write imprint.vmap(layer, (0, None), (0, None), axis_name='batch')."
    )
    layers = nn.Sequential([model])
    assert refused(ArgumentError, lambda: layers(np.ones(3))) == (
        "Sequential: expected a state for BatchNorm, got none. Make both with "
        "imprint.nn.make_with_state, and write `x, state = model(x, state)`."
    )
    assert refused(ArgumentError, lambda: nn.BatchNorm(3, "b", mode="some")) == (
        "BatchNorm: expected mode 'batch' or 'ema', got 'some'."
    )
    norm = nn.LayerNorm(3)
    make = lambda: nn.SpectralNorm(norm, "weight", key=random.key(0))
    assert refused(ShapeError, make) == (
        "SpectralNorm: expected a weight of at least two axes, got float32[3]. Name "
        "another with weight_name."
    )
    with pytest.warns(UserWarning, match="expected a mode, got none, so took 'ema'"):
        nn.BatchNorm(3, "b")
