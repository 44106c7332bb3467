import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import optim
from imprint.errors import ArgumentError
from tests.units.optim.optax_parity import draw, same_steps

PARTS = {
    "identity": lambda o: o.identity(),
    "set_to_zero": lambda o: o.set_to_zero(),
    "chain of nothing": lambda o: o.chain(o.identity()),
    "scale": lambda o: o.scale(-0.5),
    "scale_by_schedule": lambda o: o.scale_by_schedule(o.linear_schedule(1.0, 0.0, 5)),
    "scale_by_learning_rate": lambda o: o.scale_by_learning_rate(0.5),
    "uphill": lambda o: o.scale_by_learning_rate(0.5, flip_sign=False),
    "uphill by a schedule": lambda o: o.scale_by_learning_rate(
        o.constant_schedule(0.5), flip_sign=False
    ),
    "no learning rate": lambda o: o.scale_by_learning_rate(None),
    "trace": lambda o: o.trace(0.5),
    "clip": lambda o: o.clip(0.5),
    "clip_by_global_norm": lambda o: o.clip_by_global_norm(0.5),
    "clip_by_a_large_norm": lambda o: o.clip_by_global_norm(100.0),
    "add_decayed_weights": lambda o: o.add_decayed_weights(0.1),
    "masked": lambda o: o.masked(
        o.trace(0.5), {"w": False, "b": [True, False], "none": None}
    ),
    "masked by a prefix": lambda o: o.masked(
        o.scale(0.5), {"w": False, "b": True, "none": None}
    ),
    "masked whole": lambda o: o.masked(o.scale(0.5), False),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_ten_steps_as_optax(name):
    same_steps(PARTS[name])


def test_a_mask_that_is_a_callable_tree_is_a_tree():
    class Mask(dict):
        def __call__(self, params):
            raise AssertionError

    imprint.tree.register_pytree_node(
        Mask,
        lambda m: (tuple(m.values()), tuple(m)),
        lambda k, v: Mask(zip(k, v, strict=True)),
    )
    part = optim.masked(optim.scale(2.0), Mask(a=True, b=False))
    updates, _ = part.update(Mask(a=1.0, b=1.0), part.init(Mask(a=1.0, b=1.0)))
    assert updates == {"a": 2.0, "b": 1.0}


def test_gradients_of_zero_are_clipped_without_a_nan():
    part = optim.clip_by_global_norm(1.0)
    with imprint.debug_nans(True):
        updates, _ = part.update(inp.zeros(3), optim.EmptyState())
    np.testing.assert_array_equal(updates, np.zeros(3))


def test_a_short_gradient_is_not_touched_at_all():
    gradients = draw(3)
    updates, _ = optim.clip_by_global_norm(50.0).update(gradients, optim.EmptyState())
    np.testing.assert_array_equal(updates["w"], gradients["w"])


WRONG = {
    "add_decayed_weights: expected the parameters, got params=None. "
    "Call update(updates, state, params).": (
        lambda: optim.add_decayed_weights(0.1).update([1.0], optim.EmptyState())
    ),
    "chain: expected a state with 2 parts, one for each transformation, got 1. "
    "Make it with init of this chain.": (
        lambda: optim.sgd(0.1).update([1.0], (optim.EmptyState(),))
    ),
    "trace: expected parameters that are arrays, got str at params['name']. Pass only "
    "the arrays: init(imprint.filter(model, imprint.is_inexact_array)).": (
        lambda: optim.sgd(0.1, 0.9).init({"name": "linear", "w": inp.ones(2)})
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_error_messages(message):
    with pytest.raises(ArgumentError) as caught:
        WRONG[message]()
    assert str(caught.value) == message


def message_of(call):
    with pytest.raises(ArgumentError) as caught:
        call()
    return str(caught.value)


def test_the_error_of_an_invalid_chain():
    assert message_of(lambda: optim.chain(optim.clip(1.0), 3)) == (
        "chain: expected transformations, each by itself, got int 3 as argument 1. Write "
        "chain(first, second), and call what makes one: clip(1.0)."
    )
    message_of(lambda: optim.chain([optim.clip(1.0)]))
    message_of(lambda: optim.chain(optim.clip))


def test_the_error_of_an_invalid_step_size():
    assert message_of(lambda: optim.sgd("0.1")) == (
        "learning_rate: expected a number, an array or a schedule, got str '0.1'. "
        "Convert it first: float(value)."
    )
    message_of(lambda: optim.scale([0.1]))


@pytest.mark.parametrize(
    "make",
    [
        optim.scale_by_adam,
        optim.scale_by_rms,
        lambda: optim.trace(0.5),
        lambda: optim.scale_by_schedule(optim.constant_schedule(0.1)),
        lambda: optim.add_decayed_weights(optim.constant_schedule(0.1)),
        lambda: optim.masked(optim.scale(0.1), True),
        lambda: optim.inject_hyperparams(optim.sgd)(0.1),
    ],
)
def test_the_state_of_another_optimizer(make):
    part, x = make(), inp.ones(1)
    kind = type(part.init(x)).__name__
    assert message_of(lambda: part.update(x, optim.EmptyState(), x)).endswith(
        f": expected its own state, a {kind}, got EmptyState. Pass what init or the last "
        "update of the same optimizer returned."
    )
