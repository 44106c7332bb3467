"""Values between the elements of images: JAX's, and their derivatives."""

import jax
import jax.scipy.ndimage as jsn
import numpy as np
import pytest

import imprint
from imprint.errors import ArgumentError
from imprint.scipy import ndimage
from tests import oracle
from tests.tolerances import assert_close

MODES = ("constant", "nearest", "wrap", "mirror", "reflect")
X = np.arange(12, dtype=np.float32).reshape(3, 4) ** 2
PLACES = [
    np.array([[0.5, -1.2, 2.0], [7.3, 1.0, -4.6]], np.float32),
    np.array([[1.5, 0.0, 9.9], [-0.4, 2.5, 3.0]], np.float32),
]
CALLS = [
    *((X, PLACES, order, mode, 0.0) for mode in MODES for order in (0, 1)),
    (X, PLACES, 1, "constant", 5.0),
    (X.astype(np.int32), PLACES, 1, "nearest", 0),
    (X[:, :1], PLACES, 1, "nearest", 0),
    (X[0], [PLACES[0].astype(np.int32)], 0, "wrap", 0.0),
]


def every(home):
    return [home.map_coordinates(*call) for call in CALLS]


@pytest.mark.slow
def test_values_are_those_of_jax():
    wanted = oracle.jit(lambda: every(jsn))()
    for got in (every(ndimage), imprint.jit(lambda: every(ndimage))()):
        for a, b in zip(got, wanted, strict=True):
            assert_close(np.asarray(a), np.asarray(b), "program")


@pytest.mark.slow
def test_derivatives_and_batches_are_those_of_jax():
    def total(home):
        return lambda x, p: (home.map_coordinates(x, [p, p], 1, "reflect") ** 2).sum()

    places = PLACES[0] / 3
    want = jax.vmap(jax.grad(total(jsn), (0, 1)), (None, 0))(X, places)
    got = imprint.jit(imprint.vmap(imprint.grad(total(ndimage), (0, 1)), (None, 0)))(
        X, places
    )
    for a, b in zip(got, want, strict=True):
        assert_close(np.asarray(a), np.asarray(b), "gradient")


MESSAGES = {
    "order": (
        lambda: ndimage.map_coordinates(X, PLACES, 3),
        NotImplementedError,
        "map_coordinates: expected order 0 or 1, got int 3. For other splines "
        "call SciPy's, by imprint.pure_callback.",
    ),
    "mode": (
        lambda: ndimage.map_coordinates(X, PLACES, 1, "miror"),
        NotImplementedError,
        "map_coordinates: expected mode to be one of ['constant', 'nearest', 'wrap', "
        "'mirror', 'reflect'], got str 'miror'. Did you mean 'mirror'?",
    ),
    "axes": (
        lambda: ndimage.map_coordinates(X, PLACES[:1], 1),
        ArgumentError,
        "map_coordinates: expected coordinates for each of 2 axes of float32[3,4], got "
        "1. Give an array of places for each axis.",
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages(case):
    call, error, message = MESSAGES[case]
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
