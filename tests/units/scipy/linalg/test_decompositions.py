"""scipy.linalg's decompositions as in JAX and SciPy."""

import jax
import jax.scipy
import numpy
import pytest
import scipy

import imprint
import imprint.numpy as np
import imprint.scipy
from imprint.errors import ArgumentError, ShapeError
from imprint.testing import check_grads
from tests.units.primitives.twin import assert_all_close, assert_as_jax

RNG = numpy.random.default_rng(0)
ours, theirs = imprint.scipy.linalg, jax.scipy.linalg


def drawn(*shape, dtype="float64"):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if "c" in dtype else x).astype(dtype)


def assert_every(function, *xs):
    """Assert that a function of many results, of either library, gives the same."""
    assert_as_jax(lambda *a: function(ours, *a), lambda *a: function(theirs, *a), *xs)


def test_decompositions():
    def every(m, *xs):
        modes = {}, {"mode": "economic"}, {"mode": "r"}, {"pivoting": True}
        return [
            [m.qr(x, **mode) for mode in modes]
            + [m.svd(x, full_matrices=False), m.svd(x, compute_uv=False)]
            for x in xs
        ]

    assert_every(every, drawn(4, 3), drawn(2, 3, dtype="complex64"))


def test_forms_of_square_matrices():
    def every(m, *xs):
        return [
            [
                m.eigh(x),
                m.eigh(x, eigvals_only=True),
                m.hessenberg(x, calc_q=True),
                m.hessenberg(x),
                m.schur(x),
                m.schur(x, "complex"),
            ]
            for x in xs
        ]

    assert_every(every, drawn(3, 3), drawn(2, 2, 2, dtype="complex64"), drawn(0, 0))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_products_with_q(dtype):
    a = drawn(4, 3, dtype=dtype)
    with imprint.enable_x64(True):
        for mode, c in (
            ("right", drawn(2, 4, dtype=dtype)),
            ("left", drawn(3, 2, dtype=dtype)),
        ):
            for conjugate in (False, True):
                for operand in (c, c[0] if mode == "right" else c[:, 0]):
                    got = ours.qr_multiply(a, operand, mode, conjugate=conjugate)
                    want = scipy.linalg.qr_multiply(
                        a, operand, mode, conjugate=conjugate
                    )
                    assert_all_close(got, want, "program")
        got = ours.qr_multiply(a, c[:, 0], "left", pivoting=True)
        want = scipy.linalg.qr_multiply(a, c[:, 0], "left", pivoting=True)
        assert_all_close(got, want, "program")


def test_three_diagonals():
    d, e = drawn(5), drawn(4, dtype="complex128")
    with imprint.enable_x64(True):
        whole = numpy.diag(d) + numpy.diag(e, 1) + numpy.diag(e.conj(), -1)
        w, v = ours.eigh_tridiagonal(d, e)
        numpy.testing.assert_allclose(w, numpy.linalg.eigvalsh(whole), rtol=1e-10)
        numpy.testing.assert_allclose(whole @ v, v * numpy.asarray(w), atol=1e-10)
        some = ours.eigh_tridiagonal(
            d, e, eigvals_only=True, select="i", select_range=(1, 2)
        )
        numpy.testing.assert_allclose(some, w[1:3])
        one = ours.eigh_tridiagonal(d[:1], e[:0].real)
        assert_all_close(one, (d[:1], numpy.ones((1, 1))), "program")
        real = drawn(4)
        check_grads(
            lambda d, e: ours.eigh_tridiagonal(d, e, eigvals_only=True),
            (d, real),
            order=2,
        )


def test_three_real_diagonals_have_real_vectors_and_derivatives():
    d, e = drawn(5, dtype="float32"), drawn(4, dtype="float32")
    w, v = ours.eigh_tridiagonal(d, e)
    assert w.dtype == v.dtype == numpy.float32

    def least(m):
        return lambda d: m.eigh_tridiagonal(d, e, eigvals_only=True)[0]

    got = imprint.grad(least(ours))(d)
    numpy.testing.assert_allclose(got, v[:, 0] ** 2, rtol=1e-3, atol=1e-5)
    with pytest.raises(ValueError, match="Reverse-mode"):
        jax.grad(least(theirs))(d)


@pytest.mark.parametrize("method", ["schur", "eigen"])
def test_sylvester(method):
    def every(m, a, b, c, singular):
        return [
            m.solve_sylvester(a, b, c, method=method),
            m.solve_sylvester(a, b, c + 1j, method=method),
            m.solve_sylvester(singular, singular, singular, method=method),
        ]

    a, b = drawn(3, 3), drawn(2, 2)
    assert_every(every, a, b, drawn(3, 2), numpy.diag([1.0, -1.0]))
    with imprint.enable_x64(True):
        stack = ours.solve_sylvester(
            np.stack([a, 2 * a]), b, drawn(2, 3, 2), method=method
        )
        assert stack.shape == (2, 3, 2)


def test_derivatives_of_sylvester():
    operands = drawn(2, 2), drawn(2, 2), drawn(2, 2)
    with imprint.enable_x64(True):
        check_grads(
            lambda a, b, c: ours.solve_sylvester(a, b, c, method="eigen"),
            operands,
            order=1,
        )


def test_complex_forms_of_real_ones():
    turning = numpy.array([[0.0, 2, 1], [-1, 0, 3], [0, 0, 4]])
    for x in (drawn(5, 5), turning, numpy.eye(3)):
        with imprint.enable_x64(True):
            t, z = imprint.jit(ours.rsf2csf)(*ours.schur(x))
        want = scipy.linalg.rsf2csf(*scipy.linalg.schur(x))
        assert_all_close((t, z), want, "gradient")
        numpy.testing.assert_array_equal(numpy.tril(t, -1), 0)
        assert t.dtype == numpy.complex128


# ---- errors ----


def message(error, function, *args, **params):
    with pytest.raises(error) as caught:
        function(*args, **params)
    return str(caught.value)


def test_invalid_arguments_raise():
    x = np.ones((2, 3))
    assert message(ArgumentError, ours.qr, x, mode="reduced") == (
        "scipy.linalg.qr: expected mode 'full', 'r' or 'economic', got 'reduced'. Leave "
        "it out for 'full'."
    )
    assert message(NotImplementedError, ours.eigh, x[:, :2], x[:, :2]) == (
        "scipy.linalg.eigh: expected b=None, eigvals=None and type=1, as in JAX, got "
        "type=1, a b. With a factor L of b, take eigh of L⁻¹ a L⁻ᴴ."
    )
    assert message(ArgumentError, ours.schur, x[:, :2], "imaginary") == (
        "scipy.linalg.schur: expected output 'real' or 'complex', got 'imaginary'. Leave "
        "it out for 'real'."
    )
    assert message(ShapeError, ours.eigh_tridiagonal, x[0], x[0]) == (
        "scipy.linalg.eigh_tridiagonal: expected a diagonal, and one that is one element "
        "shorter, got float32[3] and float32[3]. Cut the second."
    )
    assert message(
        ArgumentError, ours.eigh_tridiagonal, x[0], x[1, :2], select="v"
    ) == (
        "scipy.linalg.eigh_tridiagonal: expected select 'a', or 'i' with a select_range, "
        "got 'v' with None. Cut the eigenvalues that you want out of all."
    )
    assert message(ShapeError, ours.solve_sylvester, x[:, :2], x[:, :2], x) == (
        "scipy.linalg.solve_sylvester: expected square matrices A and B, and C with the "
        "rows of A and the columns of B, got float32[2,2] and float32[2,2] and "
        "float32[2,3]. Transpose C, or change A for B."
    )
    assert message(ShapeError, ours.rsf2csf, x[:, :2], x[:1, :1]) == (
        "scipy.linalg.rsf2csf: expected a form, and vectors of the same size, got "
        "float32[2,2] and float32[1,1]. Pass both results of schur."
    )
    assert message(ArgumentError, ours.qr_multiply, x, x, "both") == (
        "scipy.linalg.qr_multiply: expected mode 'left' or 'right', got 'both'. It is the "
        "side of the product that `c` is not on."
    )
    assert message(ShapeError, ours.qr_multiply, x, x) == (
        "scipy.linalg.qr_multiply: expected matrices that Q can be multiplied with on the "
        "right, got float32[2,3] and float32[2,3]. Transpose one, or pass the other mode."
    )
