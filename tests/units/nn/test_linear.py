import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import nn, random, tree
from imprint.errors import ShapeError
from imprint.module import combine, is_array, partition
from tests.lanes import exhaustive
from tests.units.nn.equinox_parity import (
    OURS,
    numbers,
    same_calls,
    same_parameters,
)

LINEAR = {
    "linear": (lambda m: m.nn.Linear(3, 4, key=m.key), 3),
    "no bias": (lambda m: m.nn.Linear(3, 4, use_bias=False, key=m.key), 3),
    "from a number": (lambda m: m.nn.Linear("scalar", 4, key=m.key), None),
    "to a number": (lambda m: m.nn.Linear(3, "scalar", key=m.key), 3),
    "number to number": (lambda m: m.nn.Linear("scalar", "scalar", key=m.key), None),
    "from nothing": (lambda m: m.nn.Linear(0, 2, key=m.key), 0),
}


def mlp(*args, activation=None, **kwargs):
    def make(m):
        chosen = {} if activation is None else {"activation": activation(m)}
        return m.nn.MLP(*args, key=m.key, **chosen, **kwargs)

    return make


MLPS = {
    "mlp": (mlp(3, 2, 5, 2), 3),
    "depth 0": (mlp(3, 2, 5, 0), 3),
    "depth 1, tanh": (mlp(3, 2, 5, 1, activation=lambda m: m.jnn.tanh), 3),
    "numbers": (mlp("scalar", "scalar", 4, 2), None),
    "no bias": (mlp(3, 2, 5, 2, use_bias=False, use_final_bias=False), 3),
    "no final bias": (mlp(3, 2, 5, 1, use_final_bias=False), 3),
    "prelu": (mlp(3, 2, 5, 2, activation=lambda m: m.nn.PReLU()), 3),
    "final prelu": (
        lambda m: m.nn.MLP(3, 2, 5, 1, final_activation=m.nn.PReLU(), key=m.key),
        3,
    ),
    "final prelu of a number": (
        lambda m: m.nn.MLP(3, "scalar", 5, 1, final_activation=m.nn.PReLU(), key=m.key),
        3,
    ),
}
CASES = {**LINEAR, **{f"MLP, {name}": case for name, case in MLPS.items()}}


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_as_equinox(name):
    make, size = CASES[name]
    x = numbers() if size is None else numbers(size)
    same_calls(make, lambda model, x: model(x), x)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["complex64", *exhaustive("float16", "bfloat16")])
def test_dtypes_as_equinox(dtype):
    same_parameters(lambda m: m.nn.Linear(3, 4, dtype=dtype, key=m.key))
    same_parameters(lambda m: m.nn.MLP(3, 4, 2, 1, dtype=dtype, key=m.key))


@pytest.mark.slow
def test_fields_as_equinox():
    """Static fields too, which are no leaves."""
    ours, theirs = same_parameters(mlp(3, "scalar", 5, 2))
    for model, other in ((ours, theirs), (ours.layers[1], theirs.layers[1])):
        for name, value in vars(model).items():
            if isinstance(value, int | str):
                assert getattr(other, name) == value


@pytest.mark.slow
def test_a_batch_as_equinox():
    ours, theirs = same_parameters(mlp(3, 2, 5, 2))
    x = numbers(4, 3)
    got, want = imprint.vmap(ours)(inp.asarray(x)), jax.vmap(theirs)(x)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_an_activation_may_look_at_the_whole_vector():
    model = nn.MLP(3, 4, 5, 1, final_activation=nn.softmax, key=OURS.key)
    assert inp.allclose(inp.sum(model(inp.ones(3))), 1)


def test_a_recreated_model_is_traced_once():
    imprint.clear_caches()
    traces = []

    @imprint.jit
    def apply(arrays, x):
        traces.append(1)
        return combine(arrays, rest)(x)

    for seed in range(3):
        model = nn.MLP(
            3, 4, 5, 2, activation=lambda x: nn.relu(x), key=random.key(seed)
        )
        arrays, rest = partition(model, is_array)
        apply(arrays, inp.ones(3))
    assert len(traces) == 1


def test_structures_are_equal_if_sizes_are():
    def model(**options):
        return nn.Linear(3, 4, key=random.key(0), **options)

    assert tree.structure(model()) == tree.structure(model())
    assert tree.structure(model()) != tree.structure(model(use_bias=False))


WRONG = {
    "Linear: expected one example of shape (3,), got float32[8,3]. "
    "For a batch write imprint.vmap(layer)(x).": (3, (8, 3)),
    "Linear: expected one example of shape (), got float32[1]. "
    "For a batch write imprint.vmap(layer)(x).": ("scalar", (1,)),
}


@pytest.mark.parametrize("message", WRONG)
def test_error_messages(message):
    size, shape = WRONG[message]
    with pytest.raises(ShapeError) as caught:
        nn.Linear(size, 2, key=OURS.key)(inp.ones(shape))
    assert str(caught.value) == message
