"""numpy.linalg's decompositions as in JAX: values, types, derivatives, errors."""

import jax
import jax.numpy as jnp
import numpy
import pytest

import imprint
import imprint.numpy as np
from imprint.errors import ArgumentError, ConcretizationError, DTypeError, ShapeError
from imprint.testing import check_grads
from tests.units.primitives.twin import assert_all_close, assert_as_jax

RNG = numpy.random.default_rng(0)


def drawn(*shape, dtype="float64"):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if "c" in dtype else x).astype(dtype)


def both(function):
    """Return a function of many results for either library, so that each compiles once."""
    return lambda *xs: function(np, *xs), lambda *xs: function(jnp, *xs)


def test_qr_and_singular_values():
    def every(m, *xs):
        return [
            [m.linalg.qr(x, mode) for mode in ("reduced", "complete", "r", "raw")]
            + [m.linalg.svd(x, full_matrices=False), m.linalg.svdvals(x)]
            + [m.linalg.pinv(x), m.linalg.pinv(x, 0.3), m.linalg.pinv(x, rcond=0.3)]
            + [m.linalg.matrix_rank(x), m.linalg.matrix_rank(x, tol=0.9)]
            + [m.linalg.norm(x, "nuc", (-2, -1)), m.linalg.norm(x, 2, (-2, -1))]
            for x in xs
        ]

    xs = drawn(4, 3), drawn(2, 2, 3), drawn(3, 3, dtype="complex64")
    assert_as_jax(*both(every), *xs)


def test_matrices_without_elements():
    x = drawn(2, 0, 3)
    assert np.linalg.pinv(x).shape == (2, 3, 0)
    assert [y.shape for y in np.linalg.svd(x)] == [(2, 0, 0), (2, 0), (2, 3, 3)]


def test_symmetric_and_general_eigenvalues():
    def every(m, *xs):
        return [
            [
                m.linalg.eigh(x),
                m.linalg.eigh(x, "U", symmetrize_input=False),
                m.linalg.eigvalsh(x),
                m.linalg.eig(x),
                m.linalg.eigvals(x),
                m.linalg.pinv(x, hermitian=True),
                m.linalg.matrix_rank(x, hermitian=True),
            ]
            for x in xs
        ]

    assert_as_jax(*both(every), drawn(3, 3), drawn(2, 2, 2, dtype="complex64"))


def test_singular_values_of_symmetric_matrices():
    def every(m, *xs):
        return [
            [
                m.linalg.svd(x, hermitian=True),
                m.linalg.svd(x, hermitian=True, compute_uv=False),
            ]
            for x in xs
        ]

    ties = numpy.diag([1.0, -1.0, 1.0])
    nothing = numpy.full((2, 2), numpy.nan)
    assert_as_jax(
        *both(every), drawn(2, 3, 3), drawn(2, 2, dtype="complex64"), ties, nothing
    )


def test_vectors_of_a_singular_symmetric_matrix_are_orthonormal():
    _, _, v = np.linalg.svd(np.diag(np.array([0.0, -1.0])), hermitian=True)
    assert_all_close(v @ v.T, np.eye(2), "program")


def test_condition():
    orders = None, 1, -1, 2, -2, numpy.inf, -numpy.inf, "fro", "nuc"

    def every(m, x, y):
        return [m.linalg.cond(y), *(m.linalg.cond(x, p) for p in orders)]

    assert_as_jax(*both(every), drawn(2, 3, 3), drawn(4, 2))
    for order in (None, 2, -2):
        assert numpy.isinf(np.linalg.cond(np.zeros((2, 2)), order))
    assert numpy.isinf(np.linalg.cond(np.array([[1.0, 2], [2, 4]]), 1))
    assert numpy.isnan(np.linalg.cond(np.full((2, 2), numpy.nan)))


def test_least_squares():
    deficient = numpy.ones((4, 3))

    def every(m, *xs):
        *matrices, one, many = xs
        return [
            [m.linalg.lstsq(x, b[: x.shape[0]], rcond) for rcond in (None, -1, 0.3)]
            for x in matrices
            for b in (one, many)
        ]

    matrices = drawn(4, 3), drawn(2, 3), deficient, drawn(4, 2, dtype="complex128")
    assert_as_jax(
        *both(every), *matrices, drawn(4, 0), drawn(0, 2), drawn(4), drawn(4, 2)
    )
    for a in (matrices[0], matrices[1], deficient):
        with imprint.enable_x64(True):
            got = np.linalg.lstsq(a, numpy.ones(len(a)), numpy_resid=True)
        assert_all_close(got, numpy_lstsq(a, numpy.ones(len(a))), "gradient")


def numpy_lstsq(a, b):
    x, rest, rank, s = numpy.linalg.lstsq(a, b)
    return x, rest, numpy.int64(rank), s


def test_vectors_and_integers():
    def every(m, whole, vector):
        linalg = m.linalg
        return [
            linalg.matrix_rank(whole),
            linalg.matrix_rank(vector),
            linalg.qr(whole),
            linalg.svdvals(whole),
            linalg.eigvals(whole),
            linalg.eigh(whole),
        ]

    with imprint.enable_x64(False), jax.enable_x64(False):
        whole, vector = (
            numpy.arange(9, dtype="int32").reshape(3, 3),
            numpy.zeros(3, "float32"),
        )
        ours, theirs = both(every)
        assert_all_close(ours(whole, vector), theirs(whole, vector), "gradient")


def test_derivatives_of_pseudo_inverses():
    with imprint.enable_x64(True):
        for shape in ((3, 2), (2, 3)):
            check_grads(np.linalg.pinv, (drawn(*shape),), order=2)
        x = drawn(2, 2, dtype="complex128")
        check_grads(lambda a: np.linalg.pinv(a, hermitian=True), (x,), order=1)


def test_derivatives_of_functions_of_eigenvalues():
    def solved(a, b):
        return np.linalg.lstsq(a, b)[0]

    def power(a):
        v = np.linalg.eigh(a)
        return (v.eigenvectors * v.eigenvalues**2) @ v.eigenvectors.T

    with imprint.enable_x64(True):
        check_grads(solved, (drawn(4, 2), drawn(4)), order=2)
        check_grads(power, (drawn(3, 3),), order=2)
        check_grads(np.linalg.cond, (drawn(3, 2),), order=1)
        check_grads(lambda a: np.linalg.norm(a, "nuc"), (drawn(3, 2),), order=2)
        check_grads(
            lambda a: np.real(np.linalg.eigvals(a)).sum(), (drawn(2, 2),), order=1
        )
        check_grads(
            lambda a: np.linalg.qr(a).Q @ np.linalg.qr(a).R, (drawn(3, 2),), order=2
        )


# ---- errors ----


def message(error, function, *args, **params):
    with pytest.raises(error) as caught:
        function(*args, **params)
    return str(caught.value)


def test_invalid_arguments_raise():
    linalg, x = np.linalg, np.ones((2, 3))
    assert message(ShapeError, linalg.eigh, x) == (
        "linalg.eigh: expected square matrices along the last two axes, got "
        "float32[2,3]. For others there are imprint.numpy.linalg.lstsq, pinv and svd."
    )
    assert message(ShapeError, linalg.svd, x[0]) == (
        "linalg.svd: expected matrices along the last two axes, got float32[3]. Insert "
        "an axis with `x[None]`, or `x[:, None]` for a column."
    )
    assert message(DTypeError, linalg.qr, x.astype("float16")).startswith(
        "linalg.qr: expected float32, float64, complex64 or complex128, got float16[2,3]."
    )
    assert message(ArgumentError, linalg.qr, x, "economic") == (
        "linalg.qr: expected mode 'reduced', 'complete', 'r' or 'raw', got 'economic'. "
        "Leave it out for 'reduced'."
    )
    assert message(ArgumentError, linalg.eigvalsh, x[:, :2], "l") == (
        "linalg.eigvalsh: expected UPLO 'L', 'U' or None, got 'l'. It says which "
        "triangle is read."
    )
    assert message(ArgumentError, linalg.pinv, x, 0.1, rcond=0.1) == (
        "linalg.pinv: expected one of rtol and rcond, got both. They are the same: leave "
        "one out."
    )
    assert message(ShapeError, linalg.lstsq, x, x.T) == (
        "linalg.lstsq: expected a matrix, and a vector or matrix of as many rows, got "
        "float32[2,3] and float32[3,2]. Map over stacks with imprint.vmap."
    )
    assert message(ShapeError, linalg.cond, x[:0]) == (
        "linalg.cond: expected matrices with elements, got float32[0,3]. Nothing has no "
        "condition: leave the call out."
    )
    with pytest.raises(ConcretizationError):
        imprint.jit(lambda a: linalg.lstsq(a, a[:, 0], numpy_resid=True))(x.T)


@pytest.mark.parametrize("run", [lambda f: f, imprint.jit], ids=["eager", "jitted"])
def test_a_matrix_with_an_infinity_has_a_decomposition_of_nan(run):
    x = numpy.float32([[numpy.inf, 1, 2], [1, 1, 0], [1, 2, 3]])
    for made in (x, -x, x[:, :2], x[:2]):
        for out in run(np.linalg.svd)(made):
            assert numpy.isnan(out).all()
        assert numpy.isnan(run(np.linalg.svdvals)(made)).all()
