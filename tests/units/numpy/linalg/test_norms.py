"""Norms as in JAX: every order of vectors and matrices, eager, compiled and derived."""

import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError
from tests.lanes import exhaustive
from tests.tolerances import assert_close
from tests.units.primitives.twin import assert_as_jax

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 3, 4))
VECTOR_ORDERS = (None, 0, 1, 2, 3, 2.5, -1, np.inf, -np.inf)
MATRIX_ORDERS = (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)


def every(library, function, orders, **params):
    return lambda x: [function(library.numpy.linalg, x, o, **params) for o in orders]


def vector_norm(linalg, x, order, **params):
    return linalg.vector_norm(x, ord=order, **params)


def norm(linalg, x, order, **params):
    return linalg.norm(x, order, **params)


@pytest.mark.parametrize("complex_", [False, *exhaustive(True)])
@pytest.mark.parametrize(
    ("function", "orders", "axes"),
    [
        (vector_norm, VECTOR_ORDERS, [None, 1, (0, 2)]),
        (norm, VECTOR_ORDERS, [1]),
        (norm, MATRIX_ORDERS, [(0, 1), (2, 0)]),
    ],
)
def test_values(function, orders, axes, complex_):
    x = X + 1j * X[::-1] if complex_ else X

    def of(library):
        shapes = [{"axis": a, "keepdims": k} for a in axes for k in (False, True)]
        runs = [every(library, function, orders, **params) for params in shapes]
        return lambda x: [run(x) for run in runs]

    assert_as_jax(of(imprint), of(jax), x)


def test_derivatives():
    def of(library):
        def total(x):
            orders = (1, 3, np.inf, 2)
            return sum(library.numpy.linalg.norm(x, o, axis=1).sum() for o in orders)

        return library.grad(total)

    assert_as_jax(of(imprint), of(jax), X)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "complex64"])
def test_dtypes(dtype):
    x = (4 * X).astype(dtype)
    for ours, theirs in (
        (inp.linalg.norm(x), jax.numpy.linalg.norm(x)),
        (inp.linalg.matrix_norm(x), jax.numpy.linalg.matrix_norm(x)),
        (inp.linalg.norm(x[0], 1), jax.numpy.linalg.norm(x[0], 1)),
    ):
        assert_close(ours, theirs, "program")


def test_of_nothing():
    for order in (1, 2, np.inf):
        assert inp.linalg.norm(inp.zeros((0, 3)), order, axis=0).tolist() == [0, 0, 0]
    assert float(inp.linalg.norm(inp.zeros(0))) == 0


def test_invalid_arguments_raise():
    def message(*args, **params):
        with pytest.raises(ArgumentError) as caught:
            inp.linalg.norm(*args, **params)
        return str(caught.value)

    x = X.astype(np.float32)
    assert message(x, 2) == (
        "linalg.norm: expected one axis for vectors or two for matrices, got (0, 1, 2) of "
        "float32[2,3,4]. Name them, or leave out ord for the norm of all elements."
    )
    assert message(x[0], 3) == (
        "linalg.norm: expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf as the order of a "
        "matrix norm, got 3. Name one axis for a norm of vectors."
    )
    assert message(x, "inf", axis=1) == (
        "linalg.norm: expected a number as the order of a vector norm, got 'inf'. Write "
        "imprint.numpy.inf for the largest magnitude."
    )
