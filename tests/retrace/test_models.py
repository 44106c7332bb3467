"""Models that are rebuilt repeatedly: one trace, one compilation."""

import dataclasses
import functools
import gc

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.filter_jit import filter_jit
from imprint.module import Module, field

MODELS = 50


@pytest.fixture(autouse=True, scope="module")
def _shared_executables():
    """Compile each program: these tests count compilations."""


class Model(Module):
    weight: object
    activation: object
    sizes: tuple = (2, 3)
    name: str = field(static=True, default="model")

    def __call__(self, x):
        return self.activation(self.weight * x)

    def loss(self, x):
        return self(x).sum()


@dataclasses.dataclass(frozen=True)
class Leaky:
    slope: float

    def __call__(self, x):
        return inp.where(x > 0, x, x * self.slope)


class Stretch(Module):
    by: float

    def apply(self, x):
        return x * self.by


def scaled(k, x):
    return x * k


def nested():
    scale = 0.5

    def inner(x):
        return x * scale

    return lambda x: inner(x) + 1


def configured():
    k = 0.25

    class Gain:
        def __init__(self):
            self.k = k

        def __eq__(self, other):
            return self.k == other.k

        def __hash__(self):
            return hash(self.k)

        def __call__(self, x):
            return x * self.k

    return Gain


GAIN = configured()

ACTIVATIONS = {
    "one function": lambda: inp.sin,
    "a fresh lambda": lambda: lambda x: x * 3,
    "a fresh closure": nested,
    "a partial": lambda: functools.partial(scaled, 2.5),
    "a partial of a fresh lambda": lambda: functools.partial(lambda k, x: x * k, 2),
    "a bound method of a module": lambda: Stretch(2.0).apply,
    "a module that is called": lambda: Stretch(2.0).apply.__wrapped__,
    "an equal frozen dataclass": lambda: Leaky(0.01),
    "an object with ==": lambda: GAIN(),
    "a nested jit": lambda: imprint.jit(lambda x: x * 4),
    "a nested filter_jit": lambda: filter_jit(lambda x: x * 5),
    "a grad": lambda: lambda x: imprint.vmap(imprint.grad(inp.sin))(x),
    "a builtin": lambda: abs,
}


def models(name):
    for i in range(MODELS):
        yield Model(inp.full(3, i), ACTIVATIONS[name]())


def traces_of(action):
    """Return how often `action` traced and compiled."""
    before = COUNTERS.traces, COUNTERS.compiles
    action()
    return COUNTERS.traces - before[0], COUNTERS.compiles - before[1]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_rebuilt_models_share_a_version(name):
    f = filter_jit(lambda model, x: model(x))
    x = inp.ones(3)
    expected = [np.asarray(model(x)) for model in models(name)]
    imprint.clear_caches()
    results = []
    traces, compiles = traces_of(lambda: results.extend(f(m, x) for m in models(name)))
    assert (traces, compiles) == (2 if "jit" in name else 1, 1)
    assert f._cache_size() == 1
    np.testing.assert_allclose(results, expected, rtol=1e-6)


@pytest.fixture
def _no_collection():
    """Collect no garbage: a version goes when an array that it captured dies."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_collection")
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_functions_made_of_rebuilt_models_share_a_version(name):
    x = inp.ones(3)

    def calls():
        for model in models(name):
            filter_jit(model)(x)

    assert traces_of(calls) == (2 if "jit" in name else 1, 1)


def test_a_training_loop_that_returns_its_model():
    @filter_jit
    def step(model, x):
        grads = imprint.grad(lambda w: dataclasses.replace(model, weight=w).loss(x))
        return dataclasses.replace(model, weight=model.weight - grads(model.weight))

    def train():
        model = Model(inp.ones(3), lambda x: x * 3)
        for _ in range(MODELS):
            model = step(model, inp.ones(3))
        return model

    # the first weights are strong, as all later ones
    assert traces_of(train) == (1, 1)
    assert train().weight.tolist() == [1 - 3 * MODELS] * 3


def test_numbers_that_change_are_versions_and_arrays_are_not():
    f = filter_jit(lambda x, rate: x * rate)
    assert traces_of(lambda: [f(inp.ones(2), i) for i in range(5)])[0] == 5
    assert traces_of(lambda: [f(inp.ones(2), inp.array(i)) for i in range(5)])[0] == 1


def test_two_models_that_take_turns():
    f = filter_jit(lambda model, x: model(x))
    pair = [Model(inp.ones(3), inp.sin), Model(inp.ones(3), inp.cos, (4,))]

    def calls():
        for i in range(MODELS):
            f(pair[i % 2], inp.ones(3))

    assert traces_of(calls) == (2, 2)
    assert f.cache_info().hits == MODELS - 2


def test_equal_settings_of_other_types_have_their_own_versions():
    f = filter_jit(lambda model, x: model(x) * model.sizes[0])
    for sizes in [(2,), (2.0,), (True,), (2,), (2.0,)] * 2:
        for name in ("a", "b"):
            model = Model(inp.ones(1), abs, sizes, name)
            assert f(model, inp.ones(1, inp.int32)).tolist() == [float(sizes[0])]
    assert f._cache_size() == 6


def no_flatten(*args):
    raise AssertionError("a warm call flattens no tree leaf by leaf")


def counting():
    calls = 0

    def activation(x):
        nonlocal calls
        calls += 1
        return x

    return activation


COUNTING = counting()
STRAIGHT = {
    "arrays on the device": lambda: (Model(inp.ones(3), inp.sin), inp.ones(3)),
    "fresh closures": lambda: (Model(inp.ones(3), nested()), inp.ones(3)),
    "arrays of NumPy": lambda: (Model(np.ones(3), inp.sin), np.ones(3)),
    "no function": lambda: (Model(inp.ones(3), 2, (1.0, "a")), inp.ones(3)),
    "a function with a counter": lambda: (Model(inp.ones(3), COUNTING), inp.ones(3)),
    "an activation of many layers": lambda: (
        [Model(inp.ones(3), inp.sin) for _ in range(4)],
        inp.ones(3),
    ),
}


@pytest.mark.unaudited
@pytest.mark.parametrize("name", STRAIGHT)
def test_generated_code_flattens_the_arguments_of_warm_calls(name, monkeypatch):
    def f(model, x):
        for layer in model if isinstance(model, list) else [model]:
            activation = layer.activation
            x = activation(layer.weight * x) if callable(activation) else x
        return x

    compiled = filter_jit(f)
    for _ in range(4):
        compiled(*STRAIGHT[name]())
    monkeypatch.setattr("imprint.tree.flatten", no_flatten)
    model, x = STRAIGHT[name]()
    compiled(model, x)
    assert compiled._cache_size() == 1
