"""index_take and scatter_apply are as in JAX, and errors show their arguments."""

import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint.errors import ArgumentError, DTypeError

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
PLACES = np.array([[0, 1], [0, 1], [1, 2], [5, 5], [-1, 0]], np.int32)
NUMBERS = (1,), (0, 1), (0, 1)


@pytest.mark.parametrize("axes", [(0, 2), (1,), (0, 1, 2)])
def test_index_take_wraps_around(axes):
    idxs = [np.array([0, 1, -1], np.int32), np.array([2, 7, -5], np.int32)]
    idxs = [*idxs, idxs[0]][: len(axes)]
    want = jax.lax.index_take(
        jax.numpy.asarray(X), list(map(jax.numpy.asarray, idxs)), axes
    )
    np.testing.assert_array_equal(lax.index_take(X, idxs, axes), want)
    run = imprint.jit(lambda x, idxs: lax.index_take(x, idxs, axes))
    np.testing.assert_array_equal(run(X, idxs), want)


def test_index_take_needs_a_vector_for_each_axis():
    with pytest.raises(ArgumentError) as caught:
        lax.index_take(X, [np.zeros(2, np.int32)], (0, 1))
    assert str(caught.value) == (
        "index_take: expected a vector of indices for each of the axes (0, 1), at least "
        "one, got (int32[2]) for float32[2,3,4]. Give as many as axes."
    )


@pytest.mark.parametrize("mode", ["clip", "drop", "promise_in_bounds"])
def test_a_function_is_applied_once_for_each_update(mode):
    def run(lib, np, x):
        numbers = lib.lax.ScatterDimensionNumbers(*NUMBERS)
        return lib.lax.scatter_apply(
            np.asarray(x),
            np.asarray(PLACES),
            lambda v: v * v + 1,
            numbers,
            update_shape=(5, 4),
            mode=mode,
        )

    want = run(jax, jax.numpy, X)
    np.testing.assert_array_equal(run(imprint, inp, X), want)
    np.testing.assert_array_equal(imprint.jit(lambda x: run(imprint, inp, x))(X), want)


def test_it_has_a_derivative_and_a_batch_where_places_are_unique():
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    places = np.array([[2], [0]], np.int32)

    def run(x):
        return lax.scatter_apply(
            x, places, inp.sin, numbers, update_shape=(2,), unique_indices=True
        )

    x = np.array([[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]], np.float32)
    slopes = imprint.jit(imprint.vmap(imprint.grad(lambda x: run(x).sum())))(x)
    want = np.cos(x)
    want[:, 1] = 1
    np.testing.assert_allclose(slopes, want, rtol=1e-6)


def test_a_function_keeps_the_dtype():
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    with pytest.raises(DTypeError) as caught:
        lax.scatter_apply(
            np.arange(3), np.zeros((1, 1), int), inp.sin, numbers, update_shape=(1,)
        )
    assert str(caught.value) == (
        "scatter_apply: expected func to return int32, as it is given, got float32. "
        "Convert its result with `.astype(...)`."
    )
