"""Decompositions of lax.linalg as in JAX: values, derivatives, stacks, errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy
from imprint import lax
from imprint.errors import AbsentRuleError, ArgumentError, DTypeError, ShapeError
from tests.lanes import exhaustive
from tests.tolerances import assert_close
from tests.units.primitives.twin import assert_all_close, assert_as_jax

RNG = np.random.default_rng(0)
DTYPES = ["float32", "float64", "complex64", "complex128"]


def drawn(*shape, dtype="float64"):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if "c" in dtype else x).astype(dtype)


def distinct(*shape, dtype="float64"):
    """Return matrices whose eigenvalues and singular values differ."""
    return drawn(*shape, dtype=dtype) / 8 + np.eye(*shape[-2:]) * np.arange(
        1.0, shape[-1] + 1
    ).astype(dtype)


def of(library, name, **params):
    return lambda *xs: getattr(library.lax.linalg, name)(*xs, **params)


def assert_agree(name, *operands, grad=False, **params):
    """Assert that values, and derivatives, are JAX's, eagerly and compiled."""
    ours, theirs = of(imprint, name, **params), of(jax, name, **params)
    assert_as_jax(ours, theirs, *operands)
    if grad:
        tangents = [drawn(*x.shape, dtype=x.dtype.name) for x in operands]
        assert_as_jax(
            lambda *xs: inexact(imprint.jvp(ours, xs, tangents)[1]),
            lambda *xs: inexact(
                jax.jvp(theirs, xs, tuple(map(jnp.asarray, tangents)))[1]
            ),
            *operands,
        )


def inexact(tangents):
    leaves = imprint.tree.leaves(tangents)
    return [t for t in leaves if np.issubdtype(t.dtype, np.inexact)]


# ---- complex derivatives: of results, which laws leave out ----


@pytest.mark.parametrize("shape", [(4, 3), *exhaustive([3, 4], [3, 3])])
def test_complex_derivatives_of_qr(shape):
    x = distinct(*shape, dtype="complex128")
    assert_agree("qr", x, grad=True, full_matrices=False)
    assert_agree("qr", x, grad=True, pivoting=True)


@pytest.mark.parametrize("shape", [(4, 3), *exhaustive([3, 4], [3, 3])])
def test_complex_derivatives_of_svd(shape):
    assert_agree(
        "svd", distinct(*shape, dtype="complex128"), grad=True, full_matrices=False
    )


def test_equal_singular_values_and_eigenvalues_have_the_derivatives_of_jax():
    with np.errstate(all="ignore"):
        x = np.stack([np.eye(3), np.diag([2.0, 2.0, 1.0]), np.zeros((3, 3))])
        assert_agree("svd", x, grad=True)
        assert_agree("eigh", x, grad=True)


def test_projections_on_eigenvectors_have_the_derivative_of_differences():
    x, t = distinct(3, 3, dtype="complex128"), drawn(3, 3, dtype="complex128")
    x, t = x + x.conj().T, t + t.conj().T

    def projected(x):
        v, w = lax.linalg.eigh(x)
        return (v[:, :1] * w[:1]) @ v[:, :1].conj().T

    with imprint.enable_x64(True):
        got = imprint.jvp(projected, (x,), (t,))[1]
        step = 1e-6
        ends = [np.asarray(projected(x + s * t)) for s in (step, -step)]
    want = np.subtract(*ends) / (2 * step)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)


# ---- failures give NaN ----


@pytest.mark.parametrize(
    "name", ["svd", "eigh", "eig", "schur", "hessenberg", "tridiagonal", "qr"]
)
def test_nan_in_one_of_a_stack_leaves_the_others_alone(name):
    x = distinct(3, 3, 3)
    x[1] = np.nan
    assert_agree(name, x)


def test_a_matrix_that_is_not_finite_has_no_singular_values():
    x = distinct(2, 3, 3)
    x[0, 1, 2] = np.inf
    for run in (lax.linalg.svd, imprint.jit(lax.linalg.svd)):
        for out in run(x.astype(np.complex64)):
            assert np.isnan(out[0]).all()
            assert np.isfinite(out[1]).all()


# ---- signs that an algorithm leaves free ----


@pytest.mark.parametrize("dtype", ["float32", *exhaustive("complex64")])
def test_compiled_and_eager_results_have_the_same_signs(dtype):
    x = drawn(40, 40, dtype=dtype)
    symmetric = x + np.conj(x.T)
    cases = [(name, x) for name in ("qr", "svd", "eig", "schur", "hessenberg")]
    for name, operand in [*cases, ("eigh", symmetric), ("tridiagonal", symmetric)]:
        function = of(imprint, name)
        assert_all_close(function(operand), imprint.jit(function)(operand), "gradient")


def test_larger_matrices_are_as_in_jax():
    x = drawn(40, 24)
    for name in ("qr", "svd"):
        assert_agree(name, x)
        assert_agree(name, np.asarray(x.T), full_matrices=False)


# ---- params ----


def test_subsets():
    x = distinct(2, 4, 3)
    u, s, v = lax.linalg.svd(x, full_matrices=False)
    some = lax.linalg.svd(x, full_matrices=False, subset_by_index=(1, 3))
    assert_all_close(some, (u[..., 1:3], s[..., 1:3], v[..., 1:3, :]), "elementwise")
    only = lax.linalg.svd(
        x, compute_uv=False, subset_by_index=(0, 1), full_matrices=False
    )
    assert_close(np.asarray(only), np.asarray(s[..., :1]))
    assert len(lax.linalg.svd(x, subset_by_index=(0, 3))) == 3
    square = x[:, :3]
    v, w = lax.linalg.eigh(square)
    some = lax.linalg.eigh(square, subset_by_index=(2, 3))
    assert_all_close(some, (v[..., 2:], w[..., 2:]), "elementwise")


def test_one_triangle_of_a_hermitian_matrix():
    x = distinct(3, 3, dtype="complex128")
    for lower in (False, True):
        assert_agree("eigh", x, lower=lower, symmetrize_input=False)
        assert_agree("tridiagonal", x, lower=lower)


def test_ormqr_without_elements():
    a, taus = np.ones((3, 2), np.float32), np.ones(2, np.float32)
    for c, scales in ((np.ones((3, 0), np.float32), taus), (a, taus[:0])):
        for run in (lax.linalg.ormqr, imprint.jit(lax.linalg.ormqr)):
            assert_close(np.asarray(run(a, scales, c)), c)


def test_derivatives_that_are_refused():
    x = np.eye(3, 2, dtype=np.float32)
    assert message(AbsentRuleError, imprint.jvp, lax.linalg.svd, (x,), (x,)) == (
        "svd: expected full_matrices=False to differentiate, got float32[3,2] with "
        "full_matrices=True: vectors beyond the singular values are free to turn. "
        "Pass full_matrices=False, or compute_uv=False."
    )
    x = np.eye(2, dtype=np.float32)
    assert message(AbsentRuleError, imprint.jvp, lax.linalg.eig, (x,), (x,)) == (
        "eig: expected no derivative of eigenvectors, or to be asked for it: it is "
        "right only where all eigenvalues differ, and no two components of a vector "
        "are equally large. Differentiate eigvals, or pass "
        "enable_eigvec_derivs=True to lax.linalg.eig."
    )
    assert message(AbsentRuleError, imprint.jvp, lax.linalg.schur, (x,), (x,)) == (
        "schur: expected no derivative, as in JAX: the form is not determined by the "
        "matrix alone. Differentiate lax.linalg.eigh or lax.linalg.eig."
    )


# ---- errors ----


def message(error, function, *args, **params):
    with pytest.raises(error) as caught:
        function(*args, **params)
    return str(caught.value)


def test_operands_that_are_refused():
    x = np.ones((2, 3), np.float32)
    square = x[:, :2]
    for name in ("eigh", "eig", "schur", "hessenberg", "tridiagonal"):
        assert message(ShapeError, getattr(lax.linalg, name), x).startswith(
            f"{name}: expected square matrices along the last two axes, got float32[2,3]."
        )
    for name in ("qr", "svd"):
        assert message(ShapeError, getattr(lax.linalg, name), x[0]) == (
            f"{name}: expected an operand of at least 2 axes, got float32[3]. Reshape "
            "it: the last axes are those of a matrix or vector."
        )
        assert message(DTypeError, getattr(lax.linalg, name), square.astype(int)) == (
            f"{name}: expected float32, float64, complex64 or complex128, got "
            "int32[2,2]. Convert it with `.astype(...)`, or call imprint.numpy, which "
            "promotes."
        )
    assert message(ShapeError, lax.linalg.tridiagonal, x[:0, :0]) == (
        "tridiagonal: expected matrices with at least one row, got float32[0,0]. There "
        "is nothing to bring to a form: leave the call out."
    )


def test_reflectors_that_are_refused():
    x = np.ones((2, 3), np.float32)
    assert message(ShapeError, lax.linalg.householder_product, x, x[0]) == (
        "householder_product: expected at least as many rows as columns, got "
        "float32[2,3]. Only the first columns hold reflectors: cut the others off."
    )
    assert message(ShapeError, lax.linalg.householder_product, x.T, x[0]) == (
        "householder_product: expected at most one scale for each column of "
        "float32[3,2], got float32[3]. Cut the scales, or pad the matrix."
    )
    assert message(ShapeError, lax.linalg.ormqr, x, x[0], x.T) == (
        "ormqr: expected a matrix whose axis -2 is as long as the reflectors of "
        "float32[2,3], got float32[3,2]. Pass left=False, or transpose it."
    )
    assert message(ShapeError, lax.linalg.ormqr, x, x[0], x) == (
        "ormqr: expected at most one scale for each reflector of float32[2,3], got "
        "float32[3]. Cut the scales."
    )


def test_params_that_are_refused():
    x = np.eye(3, 2, dtype=np.float32)
    linalg = lax.linalg
    assert message(
        ArgumentError, linalg.svd, x, algorithm=linalg.SvdAlgorithm.POLAR
    ) == (
        "svd: expected an algorithm that the CPU has, got SvdAlgorithm.POLAR. Pass "
        "None, SvdAlgorithm.DIVIDE_AND_CONQUER or SvdAlgorithm.QR."
    )
    assert message(ArgumentError, linalg.svd, x, subset_by_index=(0, 1)) == (
        "svd: expected full_matrices=False with subset_by_index, got True. A subset has "
        "no vectors beyond it: pass full_matrices=False."
    )
    assert message(ArgumentError, linalg.eigh, x[:2], subset_by_index=(1, 3)) == (
        "eigh: expected a subset_by_index within [0, 2], got (1, 3). It is the first "
        "index, and the one behind the last."
    )
    jacobi = linalg.EighImplementation.JACOBI
    assert message(ArgumentError, linalg.eigh, x[:2], implementation=jacobi) == (
        "eigh: expected the implementation that the CPU has, got "
        "EighImplementation.JACOBI. Pass None or EighImplementation.QR."
    )
    assert message(ArgumentError, linalg.schur, x[:2], sort_eig_vals=True) == (
        "schur: expected sort_eig_vals=False, got True. The order of eigenvalues is "
        "that of the algorithm: reorder with scipy.linalg.schur, outside of jit."
    )
