"""Linear solvers and the exponential as in JAX; invalid arguments raise."""

import jax
import numpy as np
import pytest

import imprint
from imprint.errors import ArgumentError, ShapeError
from imprint.scipy import linalg
from tests.lanes import exhaustive
from tests.units.primitives.twin import assert_as_jax

RNG = np.random.default_rng(0)


def drawn(*shape, complex_=False):
    x = RNG.standard_normal(shape)
    return x + 1j * RNG.standard_normal(shape) if complex_ else x


def definite(complex_):
    x = drawn(3, 3, complex_=complex_)
    return x @ x.conj().T + np.eye(3)


def by_factors(library):
    s = library.scipy.linalg

    def function(a, b, v):
        outs = []
        for lower in (False, True):
            factor = s.cho_factor(a, lower=lower)
            outs += [factor[0], s.cho_solve(factor, b), s.cho_solve(factor, v)]
            outs.append(s.solve(a, b, lower=lower, assume_a="pos"))
        factors = s.lu_factor(a)
        outs += [s.lu_solve(factors, x, trans=t) for x in (b, v) for t in (0, 1, 2)]
        return [*outs, *s.lu(a), *s.lu(b, permute_l=True), s.inv(a), s.det(a)]

    return function


def by_triangles(library):
    solve = library.scipy.linalg.solve_triangular

    def function(a, b, v):
        outs = [solve(a, b, trans=t, lower=True) for t in (0, "T", 2)]
        return [*outs, solve(a, v, unit_diagonal=True)]

    return function


@pytest.mark.parametrize("complex_", [False, *exhaustive(True)])
@pytest.mark.parametrize("functions", [by_factors, by_triangles])
def test_solutions(functions, complex_):
    a, b, v = definite(complex_), *(drawn(3, *n, complex_=complex_) for n in ((2,), ()))
    assert_as_jax(functions(imprint), functions(jax), a, b, v, operation="factored")


def test_derivatives():
    def of(library):
        s = library.scipy.linalg

        def total(a, b):
            factors = s.lu_factor(a)
            some = (s.solve(a, b, assume_a="pos"), s.lu_solve(factors, b))
            return sum((x**2).sum() for x in some)

        return library.grad(total, (0, 1))

    a, b = definite(complex_=False), drawn(3, 2)
    assert_as_jax(of(imprint), of(jax), a, b, operation="factored")


def test_a_stack_of_systems():
    a = np.stack([definite(complex_=False), definite(complex_=False)])
    with imprint.enable_x64(True):
        x = linalg.solve(a, drawn(3, 4), assume_a="pos")
        assert x.shape == (2, 3, 4)
        assert linalg.lu_solve(linalg.lu_factor(a), drawn(2, 3, 1)).shape == (2, 3, 1)


# ---- the exponential ----


@pytest.mark.parametrize("norm", [40.0, *exhaustive(0.01, 0.1, 0.5, 1.5, 5.0)])
@pytest.mark.parametrize("complex_", [False, *exhaustive(True)])
def test_exponentials(norm, complex_):
    x = drawn(3, 3, complex_=complex_)
    x *= norm / np.abs(x).sum(0).max()

    def of(library):
        s = library.scipy.linalg
        return lambda x: [s.expm(x), *s.expm_frechet(x, x.T)]

    assert_as_jax(of(imprint), of(jax), x, operation="factored")


def test_exponentials_of_stacks_triangles_and_large_matrices():
    def of(library):
        expm = library.scipy.linalg.expm

        def function(x):
            triangles = expm(library.numpy.triu(x[0]), upper_triangular=True)
            return [expm(x), triangles, expm(1e7 * x[0])]

        return function

    assert_as_jax(of(imprint), of(jax), drawn(2, 3, 3), operation="factored")


# ---- errors ----


def test_invalid_arguments_raise():
    def message(error, function, *args, **params):
        with pytest.raises(error) as caught:
            function(*args, **params)
        return str(caught.value)

    x, square = np.ones((2, 3), np.float32), np.ones((3, 3), np.float32)
    assert message(ArgumentError, linalg.solve, square, x.T, assume_a="low") == (
        "scipy.linalg.solve: expected assume_a 'gen', 'sym', 'her' or 'pos', got 'low'. "
        "Leave it out for a matrix of no kind."
    )
    assert message(ShapeError, linalg.solve_triangular, square, x) == (
        "scipy.linalg.solve_triangular: expected a right-hand side of as many rows as the "
        "matrices, got float32[3,3] and float32[2,3]. A stack of vectors needs an axis "
        "more, `b[..., None]`."
    )
    assert message(ArgumentError, linalg.solve_triangular, square, x.T, trans=3) == (
        "scipy.linalg.solve_triangular: expected trans 0, 1, 2, 'N', 'T' or 'C', got 3. "
        "They stand for the matrix, its transpose, and the conjugate of that."
    )
    assert message(ShapeError, linalg.expm, x) == (
        "scipy.linalg.expm: expected square matrices along the last two axes, got "
        "float32[2,3]. For others there are imprint.numpy.linalg.lstsq, pinv and svd."
    )
    assert message(ShapeError, linalg.expm_frechet, square, square[None]) == (
        "scipy.linalg.expm_frechet: expected directions of the shape of the matrices, got "
        "float32[3,3] and float32[1,3,3]. Broadcast them first."
    )
