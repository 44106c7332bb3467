"""multivariate_normal as in JAX: by each factor, in batches, with each dtype."""

import jax
import numpy as np
import pytest

import imprint
from imprint.errors import ArgumentError, ShapeError
from tests.lanes import exhaustive, exhaustive_but
from tests.tolerances import assert_close

COV = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
STACK = np.stack([COV, 2 * COV])
MEAN = np.array([1.0, -2.0, 3.0])
OPERANDS = {
    "one": (MEAN, COV),
    "shape": (MEAN, COV, (5, 2)),
    "stack": (np.zeros((2, 1, 3)), STACK),
}


def drawn(library, mean, cov, *args, **params):
    key = library.random.key(3)
    return library.random.multivariate_normal(key, mean, cov, *args, **params)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cholesky", "eigh", "svd"])
@pytest.mark.parametrize("case", exhaustive_but(["stack"], OPERANDS))
def test_draws_are_those_of_jax(case, method):
    operands = OPERANDS[case]
    ours = imprint.jit(lambda *xs: drawn(imprint, *xs, method=method))
    theirs = drawn(jax, *operands, method=method)
    assert_close(drawn(imprint, *operands, method=method), theirs, "program")
    if len(operands) == 2:
        assert_close(ours(*operands), theirs, "program")


@pytest.mark.slow
@pytest.mark.parametrize("x64", [True, *exhaustive(False)])
def test_dtypes_are_those_of_jax(x64):
    with imprint.enable_x64(x64), jax.enable_x64(x64):
        for mean, dtype in ((np.zeros(3), None), (np.zeros(3, int), np.float32)):
            want = drawn(jax, mean, COV, dtype=dtype)
            assert_close(drawn(imprint, mean, COV, dtype=dtype), want, "program")


def test_invalid_arguments_raise():
    def message(error, *args, **params):
        with pytest.raises(error) as caught:
            drawn(imprint, *args, **params)
        return str(caught.value)

    assert message(ShapeError, np.zeros(2, np.float32), COV) == (
        "multivariate_normal: expected a mean of n elements and a covariance matrix of n "
        "rows and columns, got float32[2] and float32[3,3]. Reshape them."
    )
    assert message(ArgumentError, np.zeros(3), COV, method="lu") == (
        "multivariate_normal: expected method 'cholesky', 'eigh' or 'svd', got 'lu'. For a "
        "singular covariance write 'eigh'."
    )
    assert message(ShapeError, np.zeros((2, 3)), COV, (5,)) == (
        "multivariate_normal: expected operands that broadcast to shape=(5,), got one of "
        "shape (2,). Pass numbers, or arrays of that shape or of its last axes."
    )
