"""Errors outside of traces end near the user's line, with few frames of imprint's."""

import traceback

import pytest

import imprint.numpy as np
from imprint import lax, nn

A, B = np.ones(3), np.ones(2)
CALLS = {
    "add": lambda: np.add(A, B),
    "axis of sum": lambda: np.sum(A, axis=3),
    "axis of softmax": lambda: nn.softmax(A, axis=4),
    "axis of mean": lambda: np.mean(A, axis=9),
    "einsum": lambda: np.einsum("ij,j->i", A, B),
    "expand_dims": lambda: np.expand_dims(A, 7),
    "concatenate": lambda: np.concatenate([A, np.ones((2, 2))]),
    "lax.add": lambda: lax.add(A, B),
    "dynamic_slice": lambda: lax.dynamic_slice(A, (0,), (9,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_eager_error_shows_few_internal_frames(name):
    with pytest.raises((ValueError, TypeError)) as caught:
        CALLS[name]()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert len([f for f in frames if f.filename != __file__]) <= 5
