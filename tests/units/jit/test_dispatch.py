"""Every path of a warm call checks the dependencies of its version.

A call of arrays on the device takes the path of `Jitted.__call__`; one with static
arguments, keywords or trees that of `_warm`; one with host values that of `_find`. A path
is taken from the third call on, and must see a global that was rebound since.
"""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src import native
from imprint._src.jit.compilation.counters import COUNTERS

SCALE = 1.0


@pytest.fixture(autouse=True)
def _scale():
    yield
    bind(1.0)


def bind(value):
    global SCALE
    SCALE = value


@imprint.jit
def scaled(x):
    return x * SCALE


@imprint.jit(static_argnames="power")
def raised(x, power):
    return x**power * SCALE


@imprint.jit
def summed(tree):
    return (tree["a"] + tree["b"]) * SCALE


@imprint.filter_jit
def filtered(tree):
    return tree[0] * SCALE


def on_device():
    """Return an array that has a buffer."""
    return imprint.jit(lambda x: x + 0)(inp.ones(2))


# The call, and its path once it is warm.
WAYS = {
    "arrays on the device": lambda x: scaled(x),
    "a keyword": lambda x: scaled(x=x),
    "a static argument": lambda x: raised(x, power=2),
    "a tree": lambda x: summed({"a": x, "b": x - x}),
    "a filtered tree": lambda x: filtered([x, "text"]),
    "a NumPy array": lambda x: scaled(np.ones(2, np.float32)),
    "a number": lambda x: scaled(1.0),
    "a tree of NumPy arrays": lambda x: summed({"a": np.ones(2), "b": np.zeros(2)}),
    "a NumPy array beside text": lambda x: filtered([np.ones(2), "text"]),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_warm_call_sees_a_global_that_was_rebound(way):
    imprint.clear_caches()
    x = on_device()

    def call():
        return float(np.ravel(WAYS[way](x))[0])

    for _ in range(4):
        assert call() == 1.0
    bind(3.0)
    assert [call() for _ in range(4)] == [3.0] * 4
    before = COUNTERS.traces
    bind(1.0)  # the version of before is still there
    assert [call() for _ in range(4)] == [1.0] * 4
    bind(3.0)
    assert [call() for _ in range(4)] == [3.0] * 4
    assert COUNTERS.traces == before


@pytest.mark.unaudited
@pytest.mark.skipif(native.core is not None, reason="in C there is one way")
def test_arrays_on_the_device_take_the_shortest_way():
    x = on_device()
    for _ in range(3):
        scaled(x)
    assert scaled._on_device
    scaled(np.ones(2, np.float32))
    assert not scaled._on_device
