"""Special matrices as in JAX and SciPy: of vectors, of blocks, of a size."""

import jax
import numpy as np
import pytest
import scipy.linalg

import imprint
from imprint.errors import ArgumentError, ShapeError
from imprint.scipy import linalg
from tests.tolerances import assert_close
from tests.units.primitives.twin import assert_as_jax

RNG = np.random.default_rng(0)
V, W = RNG.standard_normal(3), RNG.standard_normal(5) + 1j


def of_vectors(library):
    s = library.scipy.linalg

    def function(v, w):
        return [
            s.toeplitz(v),
            s.toeplitz(w),
            s.toeplitz(w, v),
            s.toeplitz(v[:1], w),
            s.hankel(w),
            s.hankel(v, w),
            s.circulant(w),
            s.companion(w),
            s.leslie(w[:4], v),
            s.fiedler(v),
            s.block_diag(v, w[:2, None], 1.0),
        ]

    return function


def test_of_vectors():
    assert_as_jax(of_vectors(imprint), of_vectors(jax), V, W)


def test_of_a_stack_of_vectors():
    stack = RNG.standard_normal((2, 3, 4))
    for function in (linalg.toeplitz, linalg.circulant, linalg.companion):
        many = np.asarray(function(stack))
        for at in np.ndindex(2, 3):
            assert_close(many[at], function(stack[at]))


def test_of_few_elements():
    for n in (0, 1):
        x = np.ones(n, np.float32)
        for name in ("toeplitz", "circulant", "hankel"):
            assert getattr(linalg, name)(x).shape == (n, n)
    assert linalg.block_diag().shape == (1, 0)


@pytest.mark.parametrize("name", ["hilbert", "hadamard", "helmert", "dft"])
def test_of_a_size(name):
    for n in (1, 2, 8):
        want = np.asarray(getattr(scipy.linalg, name)(n))
        got = np.asarray(getattr(linalg, name)(n))
        assert_close(got, want.astype(got.dtype), "program")
    assert_close(linalg.helmert(4, full=True), jax.scipy.linalg.helmert(4, full=True))
    assert_close(linalg.dft(5, "sqrtn"), jax.scipy.linalg.dft(5, "sqrtn"), "program")


def test_invalid_arguments_raise():
    def message(error, function, *args):
        with pytest.raises(error) as caught:
            function(*args)
        return str(caught.value)

    assert message(ArgumentError, linalg.hadamard, 6) == (
        "scipy.linalg.hadamard: expected a power of two, got 6. Take the next."
    )
    assert message(ArgumentError, linalg.hilbert, -1) == (
        "scipy.linalg.hilbert: expected a size, got -1. Say how many rows."
    )
    assert message(ArgumentError, linalg.dft, 2, "m") == (
        "scipy.linalg.dft: expected scale None, 'sqrtn' or 'n', got 'm'. Leave it out for "
        "the sums as they are."
    )
    x = np.ones((1, 2, 3), np.float32)
    assert message(ShapeError, linalg.block_diag, x, x[0]) == (
        "scipy.linalg.block_diag: expected matrices, got float32[1,2,3] and float32[2,3]. "
        "Map it over a stack with vmap."
    )
    assert message(ShapeError, linalg.leslie, x[0, 0], x[0, 0]) == (
        "scipy.linalg.leslie: expected at least two ages and one survivor less, got "
        "float32[3] and float32[3]. None survives the last age."
    )
    assert message(ShapeError, linalg.companion, x[0, 0, :1]) == (
        "scipy.linalg.companion: expected at least two coefficients, got float32[1]. A "
        "polynomial that is constant has no roots."
    )
