"""`associative_scan` is as in JAX."""

import jax
import numpy as np
import pytest

import imprint
from imprint import lax
from tests.tolerances import assert_close


def _affine(a, b):
    return b[0] * a[0], b[0] * a[1] + b[1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 7, 8, 13])
def test_partial_results_are_those_of_jax(length, reverse):
    rng = np.random.default_rng(length)
    elems = tuple(rng.uniform(0.5, 1.5, (length, 2)).astype("f4") for _ in range(2))
    want = jax.lax.associative_scan(_affine, elems, reverse=reverse)
    run = lambda *xs: lax.associative_scan(_affine, xs, reverse=reverse)
    for got in (run(*elems), imprint.jit(run)(*elems)):
        for one, other in zip(got, want, strict=True):
            assert_close(np.asarray(one), np.asarray(other), "gradient")


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_along_each_axis(axis):
    x = np.arange(24.0, dtype="f4").reshape(2, 3, 4)
    want = jax.lax.associative_scan(jax.numpy.maximum, -x, axis=axis)
    got = lax.associative_scan(imprint.numpy.maximum, -x, axis=axis)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_the_result_of_several_weak_elements_is_not_weak(length):
    def of(lib):
        elements = lib.numpy.stack([lib.numpy.asarray(2.0)] * length)
        return lib.lax.associative_scan(lib.numpy.add, elements).weak_type

    assert of(imprint) is of(jax)


def test_gradients_and_batches():
    x = np.linspace(0.5, 1.5, 10, dtype="f4").reshape(2, 5)

    def of(lib):
        scan = lambda x: lib.lax.associative_scan(lib.numpy.multiply, x)
        return lib.vmap(lib.grad(lambda x: (scan(x) ** 2).sum()))(x)

    assert_close(np.asarray(of(imprint)), np.asarray(of(jax)), "gradient")


def test_arrays_of_other_lengths_are_listed():
    with pytest.raises(ValueError, match=r"elems\[0\]: 3, elems\[1\]: 4"):
        lax.associative_scan(_affine, (np.ones(3), np.ones(4)))


def test_a_result_of_another_structure_is_an_error():
    with pytest.raises(TypeError, match="associative_scan"):
        lax.associative_scan(lambda a, b: a[0], (np.ones(3), np.ones(3)))
