"""Special matrices by formula as in SciPy, and of vectors as in JAX."""

import numpy
import pytest
import scipy

import imprint
import imprint.numpy as np
import imprint.scipy
from imprint.errors import ArgumentError, ShapeError
from tests.units.primitives.twin import assert_all_close

ours, theirs = imprint.scipy.linalg, scipy.linalg
RNG = numpy.random.default_rng(0)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_tables_of_a_size(n):
    with imprint.enable_x64(True):
        assert_all_close(ours.invhilbert(n), theirs.invhilbert(n), "program")
        for kind in ("symmetric", "lower", "upper"):
            want = theirs.pascal(n, kind) if n else numpy.zeros((0, 0))
            assert_all_close(ours.pascal(n, kind), want.astype("float32"), "program")
            want = theirs.invpascal(n, kind) if n else numpy.zeros((0, 0))
            assert_all_close(ours.invpascal(n, kind), want.astype("float64"), "program")


def test_matrices_of_vectors():
    with imprint.enable_x64(True):
        for length in (1, 2, 3, 6):
            a = RNG.standard_normal(length)
            for n in (1, 3, 7):
                for mode in ("full", "same", "valid"):
                    want = theirs.convolution_matrix(a, n, mode)
                    assert_all_close(
                        ours.convolution_matrix(a, n, mode), want, "program"
                    )
            if length > 1:
                want = theirs.fiedler_companion(a)
                got = imprint.jit(ours.fiedler_companion)(np.stack([a, 2 * a]))
                assert_all_close(got, numpy.stack([want, want]), "program")
        assert ours.fiedler_companion(np.ones((2, 1))).shape == (2, 0, 0)
        stack = ours.convolution_matrix(np.ones((2, 3)), 2)
        assert stack.shape == (2, 4, 2)


def message(error, function, *args, **params):
    with pytest.raises(error) as caught:
        function(*args, **params)
    return str(caught.value)


def test_invalid_arguments_raise():
    x = np.ones(3)
    assert message(ArgumentError, ours.pascal, 3, "left") == (
        "scipy.linalg.pascal: expected kind 'symmetric', 'lower' or 'upper', got 'left'. "
        "Leave it out for 'symmetric'."
    )
    assert message(ArgumentError, ours.invhilbert, -1) == (
        "scipy.linalg.invhilbert: expected a size, got -1. Say how many rows."
    )
    assert message(ArgumentError, ours.convolution_matrix, x, 0) == (
        "scipy.linalg.convolution_matrix: expected n of at least 1 and mode 'full', "
        "'same' or 'valid', got n=0 and 'full'. Leave mode out for 'full'."
    )
    assert message(ShapeError, ours.convolution_matrix, x[:0], 2) == (
        "scipy.linalg.convolution_matrix: expected vectors with elements, got float32[0]. "
        "Write [0] for the vector that is 0."
    )
    assert message(ShapeError, ours.fiedler_companion, x[:0]) == (
        "scipy.linalg.fiedler_companion: expected coefficients, got float32[0]. Write [1] "
        "for the polynomial that is 1."
    )
