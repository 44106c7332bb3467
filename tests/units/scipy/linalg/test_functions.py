"""Functions of matrices: square root, others by eigenvalues, the polar factors."""

import jax
import numpy as np
import pytest

import imprint
from imprint.errors import ArgumentError, ShapeError
from imprint.scipy import linalg
from tests.lanes import exhaustive
from tests.tolerances import assert_close
from tests.units.primitives.twin import assert_as_jax

RNG = np.random.default_rng(0)
A = RNG.standard_normal((4, 4))
C = A + 1j * RNG.standard_normal((4, 4))


def functions(library):
    s = library.scipy.linalg

    def function(a):
        applied, error = s.funm(a, library.numpy.exp, disp=False)
        return [s.sqrtm(a), s.polar(a), s.polar(a[:, :2]), applied, error * 0]

    return function


@pytest.mark.slow
@pytest.mark.parametrize("x", [A, *exhaustive(C)], ids=["real", "complex"])
def test_as_jax(x):
    assert_as_jax(functions(imprint), functions(jax), x)


def test_a_root_squared_is_the_matrix():
    with imprint.enable_x64(True):
        for x in (A, C, np.diag([0.0, 0.0, 4.0])):
            root = linalg.sqrtm(x)
            assert_close(root @ root, x.astype(complex), "program")


def test_the_left_polar_factor():
    with imprint.enable_x64(True):
        u, p = linalg.polar(C[:2], side="left", method="svd")
        assert_close(p @ u, C[:2], "program")
        assert_close(u @ u.conj().T, np.eye(2, dtype=complex), "program")


def test_polar_factors_of_any_shape_and_rank():
    for method in ("qdwh", "svd"):
        for x, side in (
            (A[:2], "right"),
            (A[:, :2], "left"),
            (np.ones((3, 3)), "right"),
        ):
            x = x.astype("float32")
            u, p = linalg.polar(x, side, method=method)
            assert_close(p @ u if side == "left" else u @ p, x, "factored")
            size = min(x.shape)
            narrow = u.T @ u if x.shape[0] >= x.shape[1] else u @ u.T
            assert_close(narrow, np.eye(size, dtype="float32"), "program")
    with pytest.raises(NotImplementedError):
        jax.scipy.linalg.polar(A[:2], "right")


def test_invalid_arguments_raise():
    def message(error, function, *args, **params):
        with pytest.raises(error) as caught:
            function(*args, **params)
        return str(caught.value)

    x = np.ones((2, 2, 2), np.float32)
    assert message(ShapeError, linalg.sqrtm, x) == (
        "scipy.linalg.sqrtm: expected one square matrix, got float32[2,2,2]. Map it over "
        "a stack with imprint.vmap."
    )
    assert message(ArgumentError, linalg.polar, x, side="up") == (
        "scipy.linalg.polar: expected side 'right' or 'left' and method 'qdwh' or 'svd', "
        "got 'up' and 'qdwh'. Leave them out for the right side."
    )
