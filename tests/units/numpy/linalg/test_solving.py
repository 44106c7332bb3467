"""solve, inv, det, slogdet and chains of products as in JAX, singular matrices too."""

import re

import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, ShapeError
from imprint.testing import check_grads
from tests.lanes import exhaustive, exhaustive_but
from tests.units.primitives.twin import assert_as_jax

RNG = np.random.default_rng(0)


def drawn(*shape, complex_=False):
    x = RNG.standard_normal(shape)
    return x + 1j * RNG.standard_normal(shape) if complex_ else x


def assert_agree(names, *operands, more=True, **params):
    """Assert that values, and those of a batch and a gradient, are JAX's."""

    def of(library):
        def function(*xs):
            functions = [getattr(library.numpy.linalg, name) for name in names.split()]
            return [function(*xs, **params) for function in functions]

        def total(*xs):
            outs = library.tree.leaves(function(*xs))
            return sum((abs(x) ** 2).sum() for x in outs)

        def every(*xs):
            batch = [library.numpy.stack([x, x[..., ::-1]]) for x in xs]
            gradient = library.grad(total, tuple(range(len(xs))))
            return [function(*xs), library.vmap(function)(*batch), gradient(*xs)]

        return every if more else function

    assert_as_jax(of(imprint), of(jax), *operands, operation="factored")


# ---- solve, inv ----


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3, 3), (3,)),
        ((3, 3), (2, 3, 4)),
        *exhaustive(
            ((2, 3, 3), (2, 3, 4)),
            ((3, 3), (3, 2)),
            ((2, 3, 3), (3,)),
            ((2, 1, 3, 3), (4, 3, 2)),
            ((1, 1), (1,)),
        ),
    ],
)
@pytest.mark.parametrize("complex_", [False, *exhaustive(True)])
def test_solve(a, b, complex_):
    assert_agree("solve", drawn(*a, complex_=complex_), drawn(*b, complex_=complex_))


def test_inverses():
    assert_agree("inv", drawn(2, 3, 3, complex_=True))
    assert_agree("tensorinv", drawn(2, 3, 6), more=False)
    assert_agree("tensorsolve", drawn(2, 3, 6), drawn(2, 3), more=False)


def test_derivatives():
    a, b = drawn(3, 3), drawn(3, 2)
    with imprint.enable_x64(True):
        check_grads(inp.linalg.solve, (a, b), order=2)
        check_grads(inp.linalg.det, (drawn(2, 2),), order=2)
        check_grads(lambda x: inp.linalg.slogdet(x)[1], (drawn(4, 4),), order=1)


def test_one_factorization_serves_values_and_derivatives():
    def loss(a, b):
        return inp.linalg.solve(a, b).sum()

    lowered = imprint.jit(imprint.grad(loss, (0, 1))).lower(drawn(3, 3), drawn(3))
    assert len(re.findall(r"getrf|kernel_lu\b", lowered.as_text())) == 1


SINGULAR = {
    "zeros": np.zeros((3, 3)),
    "ones": np.ones((4, 4)),
    "last": np.diag([1.0, 2.0, 3.0, 0.0]),
    "two": np.diag([1.0, 0.0, 3.0, 0.0]),
    "nan": np.array([[1.0, np.nan], [2.0, 3.0]]),
}


@pytest.mark.parametrize("name", exhaustive_but(["last", "nan"], SINGULAR))
def test_of_singular_matrices_as_jax(name):
    x = SINGULAR[name]
    assert_agree("inv det slogdet", x, more=False)
    assert_agree("solve", x, np.ones(len(x)), more=False)
    if name == "last":
        assert_agree("det", x)


def test_the_derivative_of_a_small_determinant_where_it_is_zero():
    x, t = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    _, along = imprint.jvp(inp.linalg.det, (x,), (t,))
    assert float(along) == -3.0
    for i in range(3):  # JAX gives 0 for all but the last, from 0.12 on
        one = np.zeros((3, 3))
        one[i, i] = 1
        assert imprint.grad(inp.linalg.det)(np.eye(3) - one).tolist() == one.tolist()
    second = imprint.hessian(inp.linalg.det)(np.ones((2, 2)))
    assert np.isfinite(second).all()


# ---- determinants ----


@pytest.mark.parametrize("complex_", [False, *exhaustive(True)])
@pytest.mark.parametrize("n", [3, 5, *exhaustive(1, 2, 4)])
def test_determinants(n, complex_):
    x = drawn(2, n, n, complex_=complex_)
    assert_agree("det slogdet", x)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3, 3), (2, 0, 0)])
def test_of_nothing(shape):
    assert_agree("det slogdet inv", np.zeros(shape), more=False)


@pytest.mark.parametrize("dtype", ["int32", *exhaustive("bool", "float32")])
def test_dtypes(dtype):
    x = np.array([[2, 1], [0, 3]]).astype(dtype)
    assert_agree("det slogdet inv", x, more=False)


# ---- chains ----


def test_chains():
    x = drawn(2, 3, 3)

    def of(library):
        power = library.numpy.linalg.matrix_power
        return lambda x: [power(x, n) for n in (0, 1, 5, -3)]

    assert_as_jax(of(imprint), of(jax), x, operation="factored")


def test_chains_of_several():
    arrays = [drawn(3), drawn(3, 4), drawn(4, 2), drawn(2)]
    for some in (arrays, arrays[1:3], arrays[:2]):
        assert_as_jax(
            lambda *xs: inp.linalg.multi_dot(xs),
            lambda *xs: jax.numpy.linalg.multi_dot(xs),
            *some,
        )


# ---- errors ----


def test_invalid_arguments_raise():
    def message(error, function, *args, **params):
        with pytest.raises(error) as caught:
            function(*args, **params)
        return str(caught.value)

    x, square = np.ones((2, 3), np.float32), np.ones((3, 3), np.float32)
    linalg = inp.linalg
    assert message(ShapeError, linalg.solve, square, x) == (
        "linalg.solve: expected a right-hand side of as many rows as the matrices, got "
        "float32[3,3] and float32[2,3]. A stack of vectors needs an axis more: "
        "solve(a, b[..., None])[..., 0]."
    )
    assert message(ShapeError, linalg.inv, x) == (
        "linalg.inv: expected square matrices along the last two axes, got float32[2,3]. "
        "For others there are imprint.numpy.linalg.lstsq, pinv and svd."
    )
    assert message(
        ShapeError, linalg.solve, np.stack([square] * 2), np.ones((3, 3, 1), np.float32)
    ) == (
        "linalg.solve: expected leading axes that broadcast, got float32[2,3,3] and "
        "float32[3,3,1]. Reshape one of them."
    )
    assert message(ShapeError, linalg.tensorinv, x, 1) == (
        "linalg.tensorinv: expected as many elements along the first 1 axes as along the "
        "others, got float32[2,3]. Pass another ind."
    )
    assert message(ArgumentError, linalg.matrix_power, square, 0.5) == (
        "linalg.matrix_power: expected a whole number as the power, got 0.5. For others "
        "there are the eigenvalues, imprint.numpy.linalg.eigh."
    )
    assert message(ShapeError, linalg.multi_dot, [x, x]) == (
        "linalg.multi_dot: expected each matrix to have as many columns as the next has "
        "rows, got float32[2,3] and float32[2,3]. Transpose some."
    )
    assert message(ArgumentError, linalg.slogdet, square, method="svd") == (
        "linalg.slogdet: expected method None, 'lu' or 'qr', got 'svd'. Leave it out."
    )
