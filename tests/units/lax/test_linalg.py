"""lax.linalg as in JAX: values, derivatives, batches, NaN for failure, errors."""

import itertools

import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint.errors import DTypeError, ShapeError
from imprint.testing import check_grads
from tests.lanes import exhaustive, exhaustive_but
from tests.tolerances import assert_close
from tests.units.primitives.twin import assert_as_jax

RNG = np.random.default_rng(0)
DTYPES = ["float32", "float64", "complex64", "complex128"]


def drawn(*shape, dtype="float64"):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if "c" in dtype else x).astype(dtype)


def definite(*shape, dtype="float64"):
    x = drawn(*shape, dtype=dtype)
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(shape[-1], dtype=dtype)


def assert_agree(name, *operands, grad=True, **params):
    """Assert that values, a batch, and derivatives are JAX's, eagerly and compiled."""

    tangents = tuple(drawn(*x.shape, dtype=x.dtype.name) for x in operands)

    def of(library):
        def function(*xs):
            return getattr(library.lax.linalg, name)(*xs, **params)

        def every(*xs):
            batch = [library.numpy.stack([x, 2 * x]) for x in xs]
            outs = [function(*xs), library.vmap(function)(*batch)]
            return [*outs, library.jvp(function, xs, tangents)[1]] if grad else outs

        return every

    assert_as_jax(of(imprint), of(jax), *operands)


# ---- cholesky ----


@pytest.mark.parametrize("dtype", exhaustive_but(["float32", "complex128"], DTYPES))
def test_cholesky(dtype):
    assert_agree("cholesky", definite(3, 3, dtype=dtype))


def test_cholesky_of_one_triangle():
    x = np.tril(definite(2, 3, 3))
    assert_agree("cholesky", x, grad=False, symmetrize_input=False)


def test_only_the_matrix_that_is_not_positive_definite_is_nan():
    good = definite(2, 2)
    x = np.stack([good, -good, np.full((2, 2), np.nan), good])
    assert_agree("cholesky", x, grad=False)
    assert np.isnan(lax.linalg.cholesky(x)).any((1, 2)).tolist() == [0, 1, 1, 0]


def test_derivatives_of_cholesky():
    for dtype, both in (("float64", True), ("complex128", True), ("float64", False)):
        x = definite(3, 3, dtype=dtype)
        with imprint.enable_x64(True):
            check_grads(
                lambda x, both=both: lax.linalg.cholesky(x, symmetrize_input=both),
                (x,),
                order=2,
            )


# ---- triangular_solve ----


@pytest.mark.slow
@pytest.mark.parametrize(
    ("left_side", "lower", "dtype"),
    exhaustive_but(
        [
            *((False, False, "float32"), (False, True, "complex128")),
            *((True, False, "complex128"), (True, True, "float32")),
        ],
        list(
            itertools.product((False, True), (False, True), ("float32", "complex128"))
        ),
    ),
)
def test_triangular_solve(left_side, lower, dtype):
    a, b = definite(3, 3, dtype=dtype), drawn(3, 3, dtype=dtype)
    for more in ({"transpose_a": True, "conjugate_a": True}, {"unit_diagonal": True}):
        params = {"left_side": left_side, "lower": lower, **more}
        assert_agree("triangular_solve", a, b, **params)


def test_triangular_solve_of_a_vector():
    for left_side in (False, True):
        assert_agree("triangular_solve", definite(3, 3), drawn(3), left_side=left_side)


def test_a_singular_triangle_divides_by_zero():
    a = np.array([[1.0, 2.0], [0.0, 0.0]])
    for b in ([[1.0], [1.0]], [[1.0], [0.0]]):
        assert_agree("triangular_solve", a, np.array(b), grad=False, left_side=True)
    for hole in (np.nan, np.inf):
        a = np.array([[1.0, hole, 3.0], [0.0, 2.0, 1.0], [0.0, 0.0, 4.0]])
        b = np.array([[1.0], [2.0], [3.0]])
        assert_agree("triangular_solve", a, b, grad=False, left_side=True)


# ---- lu ----


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), *exhaustive([2, 4, 2], [2, 4], [2, 2, 2])])
def test_lu(shape, dtype):
    def of(library):
        def factor(x):
            return library.lax.linalg.lu(x)[0]

        def function(x):
            batch = library.numpy.stack([x, x[..., ::-1, :]])
            along = library.jvp(factor, (x,), (x * x,))[1]
            return [
                *library.lax.linalg.lu(x),
                *library.vmap(library.lax.linalg.lu)(batch),
                along,
            ]

        return function

    assert_as_jax(of(imprint), of(jax), drawn(*shape, dtype=dtype))


def test_lu_of_singular_matrices():
    for x in (np.zeros((2, 3, 3)), np.full((2, 2), np.nan), np.ones((3, 0))):
        assert_as_jax(lax.linalg.lu, jax.lax.linalg.lu, x)


def test_derivatives_of_lu():
    with imprint.enable_x64(True):
        for shape in ((3, 3), (2, 3), (3, 2)):
            check_grads(lambda x: lax.linalg.lu(x)[0], (drawn(*shape),), order=2)


# ---- tridiagonal_solve, symmetric_product, cholesky_update ----


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_tridiagonal_solve(dtype):
    diagonals = [drawn(2, 4, dtype=dtype) for _ in range(3)]
    assert_agree("tridiagonal_solve", *diagonals, drawn(2, 4, 3, dtype=dtype))


def test_a_singular_tridiagonal_matrix_is_nan_or_perturbed():
    ones, b = np.ones(3), drawn(3, 2)
    assert_agree("tridiagonal_solve", 0 * ones, 0 * ones, ones, b, grad=False)
    zeros = 0 * ones
    params = {"grad": False, "perturb_singular": True}
    assert_agree("tridiagonal_solve", ones, zeros, ones, b, **params)
    with imprint.enable_x64(True):  # of zeros alone, how large they get is no law
        out = lax.linalg.tridiagonal_solve(*[zeros] * 3, b, perturb_singular=True)
    assert np.isfinite(np.asarray(out)).all()


def test_derivatives_that_jax_lacks():
    r, w, a = np.triu(definite(3, 3)), drawn(3), drawn(2, 3)
    product = lax.linalg.symmetric_product
    with imprint.enable_x64(True):
        update = lambda r, w: lax.linalg.cholesky_update(inp.triu(r), w)
        check_grads(update, (r, w), order=2)
        check_grads(
            lambda a, c: product(a, c, alpha=2.0, beta=3.0),
            (a, definite(2, 2)),
            order=2,
        )


def test_updates():
    r, w = np.triu(definite(3, 3)), np.array([1.0, 0.0, 2.0])
    assert_as_jax(lax.linalg.cholesky_update, jax.lax.linalg.cholesky_update, r, w)
    stacks = np.stack([r, r]), np.stack([w, 2 * w])
    with imprint.enable_x64(True):
        many = imprint.jit(imprint.vmap(lax.linalg.cholesky_update))(*stacks)
        for i in range(2):
            one = lax.linalg.cholesky_update(stacks[0][i], stacks[1][i])
            assert_close(many[i], one, "program")
    a, c = drawn(2, 3, 4), definite(2, 3, 3)
    params = {"alpha": 2.0, "beta": 0.5, "symmetrize_output": True}
    assert_agree("symmetric_product", a, c, grad=False, **params)


# ---- errors ----


def message(error, function, *args, **params):
    with pytest.raises(error) as caught:
        function(*args, **params)
    return str(caught.value)


def test_invalid_arguments_raise():
    cholesky, solve = lax.linalg.cholesky, lax.linalg.triangular_solve
    x = np.ones((2, 3), np.float32)
    square = np.ones((3, 3), np.float32)
    assert message(ShapeError, cholesky, x) == (
        "cholesky: expected square matrices along the last two axes, got float32[2,3]. "
        "For others there are imprint.numpy.linalg.lstsq, pinv and svd."
    )
    assert message(ShapeError, cholesky, x[0]) == (
        "cholesky: expected an operand of at least 2 axes, got float32[3]. "
        "Reshape it: the last axes are those of a matrix or vector."
    )
    assert message(DTypeError, cholesky, np.ones((2, 2), np.int32)) == (
        "cholesky: expected float32, float64, complex64 or complex128, got int32[2,2]. "
        "Convert it with `.astype(...)`, or call imprint.numpy, which promotes."
    )
    assert message(ShapeError, solve, square, x, left_side=True) == (
        "triangular_solve: expected a right-hand side whose axis -2 is as long as those "
        "of the matrix float32[3,3], got float32[2,3]. Pass left_side=False, or "
        "transpose it."
    )
    assert message(DTypeError, solve, square, x.astype(np.complex64)) == (
        "triangular_solve: expected operands of one dtype, float32, got complex64[2,3]. "
        "Convert it with `.astype(...)`, or call imprint.numpy, which promotes."
    )
    assert message(ShapeError, solve, square[None], x[None, None]) == (
        "triangular_solve: expected operands with the same leading axes, got "
        "float32[1,3,3] and float32[1,1,2,3]. Broadcast them first, or call "
        "imprint.numpy.linalg."
    )
    tridiagonal, r = lax.linalg.tridiagonal_solve, np.ones((3, 3), np.float32)
    assert message(ShapeError, tridiagonal, r[0], r[0], r[0, 1:], r) == (
        "tridiagonal_solve: expected three diagonals as long as the axis -2 of the "
        "right-hand side, got float32[3] and float32[3] and float32[2] and "
        "float32[3,3]. Pad the outer diagonals: the first of the lower and the last of "
        "the upper are not read."
    )
    assert message(ShapeError, lax.linalg.symmetric_product, x, r) == (
        "symmetric_product: expected matrices of m rows and square ones of m, got "
        "float32[2,3] and float32[3,3]. Transpose the first, or cut the second."
    )
    assert message(ShapeError, lax.linalg.cholesky_update, r, r[0, 1:]) == (
        "cholesky_update: expected a vector as long as the axes of the factor, got "
        "float32[3,3] and float32[2]. To add several, update by each in turn."
    )
    pivots = np.zeros(3, np.int32)
    assert message(ShapeError, lax.linalg.lu_pivots_to_permutation, pivots, 2) == (
        "lu_pivots_to_permutation: expected at least as many rows as pivots, got 2 for "
        "int32[3]. Pass how many rows the matrix has."
    )
