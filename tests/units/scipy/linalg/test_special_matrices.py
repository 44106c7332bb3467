"""Special matrices as in JAX and SciPy: of vectors, of blocks, of a size."""

import jax
import numpy as np
import pytest
import scipy.linalg

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, ShapeError
from imprint.scipy import linalg
from tests.tolerances import assert_close
from tests.units.primitives.twin import assert_all_close, assert_as_jax

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


def message(error, function, *args, **params):
    with pytest.raises(error) as caught:
        function(*args, **params)
    return str(caught.value)


def test_invalid_arguments_raise():
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


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_tables_of_a_size(n):
    with imprint.enable_x64(True):
        assert_all_close(linalg.invhilbert(n), scipy.linalg.invhilbert(n), "program")
        for kind in ("symmetric", "lower", "upper"):
            want = scipy.linalg.pascal(n, kind) if n else np.zeros((0, 0))
            assert_all_close(linalg.pascal(n, kind), want.astype("float32"), "program")
            want = scipy.linalg.invpascal(n, kind) if n else np.zeros((0, 0))
            assert_all_close(
                linalg.invpascal(n, kind), want.astype("float64"), "program"
            )


def test_matrices_of_vectors():
    with imprint.enable_x64(True):
        for length in (1, 2, 3, 6):
            a = RNG.standard_normal(length)
            for n in (1, 3, 7):
                for mode in ("full", "same", "valid"):
                    want = scipy.linalg.convolution_matrix(a, n, mode)
                    assert_all_close(
                        linalg.convolution_matrix(a, n, mode), want, "program"
                    )
            if length > 1:
                want = scipy.linalg.fiedler_companion(a)
                got = imprint.jit(linalg.fiedler_companion)(inp.stack([a, 2 * a]))
                assert_all_close(got, np.stack([want, want]), "program")
        assert linalg.fiedler_companion(inp.ones((2, 1))).shape == (2, 0, 0)
        stack = linalg.convolution_matrix(inp.ones((2, 3)), 2)
        assert stack.shape == (2, 4, 2)


def test_invalid_arguments_of_tables_raise():
    x = inp.ones(3)
    assert message(ArgumentError, linalg.pascal, 3, "left") == (
        "scipy.linalg.pascal: expected kind 'symmetric', 'lower' or 'upper', got 'left'. "
        "Leave it out for 'symmetric'."
    )
    assert message(ArgumentError, linalg.invhilbert, -1) == (
        "scipy.linalg.invhilbert: expected a size, got -1. Say how many rows."
    )
    assert message(ArgumentError, linalg.convolution_matrix, x, 0) == (
        "scipy.linalg.convolution_matrix: expected n of at least 1 and mode 'full', "
        "'same' or 'valid', got n=0 and 'full'. Leave mode out for 'full'."
    )
    assert message(ShapeError, linalg.convolution_matrix, x[:0], 2) == (
        "scipy.linalg.convolution_matrix: expected vectors with elements, got float32[0]. "
        "Write [0] for the vector that is 0."
    )
    assert message(ShapeError, linalg.fiedler_companion, x[:0]) == (
        "scipy.linalg.fiedler_companion: expected coefficients, got float32[0]. Write [1] "
        "for the polynomial that is 1."
    )
