"""Gradients and differences: errors, and arguments beyond JAX's."""

import jax.numpy as jnp
import numpy as np
import pytest

import imprint.numpy as inp
from imprint.errors import ArgumentError, ShapeError

V = inp.arange(4.0)

WRONG = {
    "gradient: expected at least two values along axis 0, got float32[1]. One value has "
    "no slope.": (ShapeError, lambda np: np.gradient(np.ones(1))),
    "gradient: expected a number, or a place for each of 4 values along axis 0, got "
    "float32[3]. Give a vector of that length.": (
        ShapeError,
        lambda np: np.gradient(np.arange(4.0), np.ones(3)),
    ),
    "gradient: expected one spacing, or one for each of the axes (0,), got 2. Name the "
    "axes with axis=.": (ArgumentError, lambda np: np.gradient(np.arange(4.0), 1, 2)),
    "diff: expected n of at least 0, got -1. It is how often to subtract.": (
        ArgumentError,
        lambda np: np.diff(np.arange(4.0), -1),
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_error_messages(message):
    kind, call = WRONG[message]
    with pytest.raises(kind) as caught:
        call(inp)
    assert str(caught.value) == message
    with pytest.raises((TypeError, ValueError)):
        call(jnp)


def test_the_edge_order_may_be_given():
    assert (
        inp.gradient(V, edge_order=1).tolist() == np.gradient(np.arange(4.0)).tolist()
    )
    with pytest.raises(NotImplementedError, match="expected edge_order 1, got 2"):
        inp.gradient(V, edge_order=2)
    with pytest.raises(NotImplementedError):
        jnp.gradient(jnp.arange(4.0), edge_order=1)


@pytest.mark.parametrize("axis", [0, -1, (1,), (1, 0)])
def test_slopes_are_along_the_axes_that_are_named(axis):
    x = np.arange(12.0).reshape(3, 4) ** 2
    got, expected = inp.gradient(x, axis=axis), jnp.gradient(x, axis=axis)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))


def test_no_axes_have_no_slopes():
    assert inp.gradient(inp.float32(1.0)) == jnp.gradient(jnp.float32(1.0)) == []
