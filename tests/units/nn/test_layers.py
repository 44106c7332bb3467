import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import nn, random
from imprint.errors import ArgumentError, ShapeError
from tests.units.nn.equinox_parity import OURS, THEIRS, numbers, same_calls


def sequence(m):
    split = random.split if m is OURS else jax.random.split
    first, second = split(m.key)
    return m.nn.Sequential(
        [
            m.nn.Linear(3, 5, key=first),
            m.nn.Lambda(m.jnn.gelu),
            m.nn.Dropout(0.3),
            m.nn.Identity(),
            m.nn.Linear(5, 2, key=second),
        ]
    )


def key_of(model):
    return OURS.key if type(model).__module__.startswith("imprint") else THEIRS.key


CASES = {
    "PReLU": (lambda m: m.nn.PReLU(), lambda layer, x: layer(x)),
    "PReLU, slopes": (
        lambda m: m.nn.PReLU(m.np.asarray([0.1, 0.2, 0.3])),
        lambda layer, x: layer(x),
    ),
    "Dropout": (lambda m: m.nn.Dropout(0.3), lambda f, x: f(x, key=key_of(f))),
    "Dropout, p": (
        lambda m: m.nn.Dropout(m.np.asarray(0.3)),
        lambda f, x: f(x, key=key_of(f)),
    ),
    "Dropout, inference": (lambda m: m.nn.Dropout(inference=True), lambda f, x: f(x)),
    "Dropout, called so": (lambda m: m.nn.Dropout(), lambda f, x: f(x, inference=True)),
    "Dropout of nothing": (lambda m: m.nn.Dropout(0), lambda f, x: f(x)),
    "Sequential": (sequence, lambda f, x: f(x, key=key_of(f))),
    "Sequential, part": (sequence, lambda f, x: f[1:3](x, key=key_of(f))),
    "Sequential, inference": (
        lambda m: m.nn.inference_mode(sequence(m)),
        lambda f, x: f(x),
    ),
    "Lambda": (lambda m: m.nn.Lambda(m.nn.PReLU()), lambda f, x: f(x)),
}


EMBEDDINGS = {
    "drawn": lambda m: m.nn.Embedding(5, 3, key=m.key),
    "drawn, bfloat16": lambda m: m.nn.Embedding(5, 3, dtype="bfloat16", key=m.key),
    "given": lambda m: m.nn.Embedding(weight=m.np.asarray(numbers(5, 3))),
    "given, with a number": lambda m: m.nn.Embedding(5, weight=m.np.ones((5, 2))),
}


@pytest.mark.parametrize("name", EMBEDDINGS)
@pytest.mark.parametrize("index", [0, 4, -1, np.int32(2)])
def test_an_embedding_as_equinox(name, index):
    same_calls(EMBEDDINGS[name], lambda f, x: f(x), index)


def test_embeddings_of_a_batch_and_their_gradient():
    words = nn.Embedding(4, 2, key=OURS.key)
    index = inp.array([3, 0, 3])
    assert (imprint.vmap(words)(index)[1] == words.weight[0]).all()
    loss = lambda model: imprint.vmap(model)(index).sum()
    counts = imprint.jit(imprint.grad(loss))(words).weight[:, 0]
    assert counts.tolist() == [1, 0, 0, 2]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: nn.Embedding(3, 2),
            r"expected num_embeddings, embedding_size and a k",
        ),
        (lambda: nn.Embedding(3, weight=inp.ones((2, 2))), r"shape \(3, None\), got f"),
        (lambda: nn.Embedding(weight=inp.ones(2)), r"expected a weight of shape"),
        (lambda: nn.Embedding(3, 2, key=OURS.key)(1.0), r"expected an integer of rank"),
        (
            lambda: nn.Embedding(3, 2, key=OURS.key)(inp.arange(2)),
            r"got int32\[2\]\. Of several write imprint.vmap",
        ),
    ],
)
def test_error_messages_of_embedding(make, said):
    with pytest.raises((ArgumentError, ShapeError), match=said):
        make()


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_as_equinox(name):
    make, call = CASES[name]
    same_calls(make, call, numbers(3))


def test_identity_takes_anything():
    layer = nn.Identity(3, name="first")
    x = object()
    assert layer(x, key=None) is x


def test_a_sequence_is_one():
    layers = [nn.Identity(), nn.Lambda(nn.relu)]
    model = nn.Sequential(layers)
    assert len(model) == 2
    assert list(model) == layers
    assert model[1] is layers[1]
    assert isinstance(model[:1], nn.Sequential)


def test_dropout_keeps_the_mean():
    x = inp.ones(20_000)
    got = np.asarray(nn.Dropout(0.25)(x, key=random.key(0)))
    assert set(np.unique(got)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs(got.mean() - 1) < 0.02


def test_the_probability_of_a_zero_has_no_gradient():
    def loss(p):
        return inp.sum(nn.Dropout(p)(inp.ones(8), key=random.key(0)))

    assert imprint.grad(loss)(inp.asarray(0.5)) == 0


def test_inference_is_found_wherever_it_is():
    model = {"a": [nn.Dropout(), nn.Sequential([nn.Dropout(0.1)])], "inference": 3}
    off = nn.inference_mode(model)
    assert off["a"][0].inference is off["a"][1][0].inference is True
    assert off["inference"] == 3
    on = nn.inference_mode(off, value=False)
    assert on["a"][1][0].inference is False
    assert on["a"][1][0].p == 0.1


def test_training_needs_a_key():
    with pytest.raises(ArgumentError) as caught:
        nn.Dropout()(inp.ones(3))
    assert str(caught.value) == (
        "Dropout: expected a key while training, got None. Pass "
        "key=imprint.random.key(seed), or inference=True for no zeros."
    )
