"""Products under linalg's names, and cholesky, as in JAX; invalid arguments raise."""

import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import DTypeError, ShapeError
from tests.units.primitives.twin import assert_as_jax

RNG = np.random.default_rng(0)
A, B = RNG.standard_normal((2, 3, 4)), RNG.standard_normal((2, 4, 3))
VECTORS = RNG.standard_normal((2, 3))
FACTOR = RNG.standard_normal((2, 3, 3))
DEFINITE = FACTOR @ np.swapaxes(FACTOR, -1, -2) + np.eye(3)


def products(library):
    linalg = library.numpy.linalg

    def function(a, b, v):
        return [
            linalg.matmul(a, b),
            linalg.tensordot(a, b[0], axes=1),
            linalg.vecdot(v, v),
            linalg.cross(v, v[::-1]),
            linalg.outer(v[0], v[1]),
            linalg.trace(a, offset=1),
            linalg.diagonal(a, offset=-1),
            linalg.matrix_transpose(a),
        ]

    return function


def test_products():
    assert_as_jax(products(imprint), products(jax), A, B, VECTORS)


@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(upper):
    def of(library):
        def factor(x):
            return library.numpy.linalg.cholesky(x, upper=upper)

        def both(x):
            return factor(x), library.jvp(factor, (x,), (x[::-1] * 0.5,))[1]

        return both

    assert_as_jax(of(imprint), of(jax), DEFINITE)


def test_cholesky_of_indefinite_matrices():
    x = np.stack([DEFINITE[0], -DEFINITE[0]])

    def of(library):
        factor = library.numpy.linalg.cholesky
        return lambda x: [factor(x), factor(x, upper=True), factor(x.astype(int))]

    assert_as_jax(of(imprint), of(jax), x)
    assert inp.linalg.cholesky(np.zeros((2, 0, 0))).shape == (2, 0, 0)


def test_invalid_arguments_raise():
    def message(error, function, *args):
        with pytest.raises(error) as caught:
            function(*args)
        return str(caught.value)

    x = A.astype(np.float32)
    linalg = inp.linalg
    assert message(ShapeError, linalg.cholesky, x) == (
        "linalg.cholesky: expected square matrices along the last two axes, got "
        "float32[2,3,4]. For others there are imprint.numpy.linalg.lstsq, pinv and svd."
    )
    assert message(ShapeError, linalg.cholesky, x[0, 0]) == (
        "linalg.cholesky: expected matrices along the last two axes, got float32[4]. "
        "Insert an axis with `x[None]`, or `x[:, None]` for a column."
    )
    assert message(DTypeError, linalg.cholesky, np.eye(2, dtype=np.float16)) == (
        "linalg.cholesky: expected float32, float64, complex64 or complex128, got "
        "float16[2,2]. Convert it with `.astype(...)`."
    )
    assert message(ShapeError, linalg.cross, x, x) == (
        "linalg.cross: expected vectors of three elements along axis -1, got "
        "float32[2,3,4]. Name their axis, or append zeros."
    )
    assert message(ShapeError, linalg.outer, x, x[0, 0]) == (
        "linalg.outer: expected two vectors, got float32[2,3,4] and float32[4]. To "
        "flatten what has more axes, call imprint.numpy.outer."
    )
