"""Products, quotients, roots and fits of polynomials as in JAX."""

import jax.numpy as jnp
import numpy
import pytest

import imprint
import imprint.numpy as np
from imprint.errors import ArgumentError, ConcretizationError, ShapeError
from imprint.testing import check_grads
from tests.units.primitives.twin import assert_all_close, assert_as_jax

LISTS = [1.0, 2, 3], [0.0, 0, 1, 2, 0], [0.0, 0], [1.0], [1, 2 + 1j], [0.0, 3, 0]
POLYNOMIALS = tuple(map(numpy.asarray, LISTS))
DIVISORS = numpy.array([2.0, 1]), numpy.array([3.0, 0, 4])
RNG = numpy.random.default_rng(0)


def both(function):
    """Return a function of many results for either library, so that each compiles once."""
    return lambda *xs: function(np, *xs), lambda *xs: function(jnp, *xs)


def test_products_and_quotients():
    def every(m, *xs):
        *polynomials, first, second = xs
        return [
            f(p, q)
            for p in polynomials
            for q in (first, second)
            for f in (m.polymul, m.polydiv)
        ]

    empty = numpy.zeros(0)
    assert_as_jax(*both(every), *POLYNOMIALS, empty, *DIVISORS)


def test_roots():
    def every(m, *xs):
        return [[m.roots(x, strip_zeros=False), m.poly(x)] for x in xs]

    assert_as_jax(*both(every), *POLYNOMIALS, numpy.zeros(0))
    with imprint.enable_x64(True):
        square = RNG.standard_normal((3, 3))
        assert_all_close(np.poly(square), numpy.poly(square) + 0j, "program")


def test_trimming_of_concrete_values():
    with imprint.enable_x64(True):
        for p in POLYNOMIALS:
            want = numpy.asarray(numpy.roots(p), "complex128")
            assert_all_close(numpy.sort(np.roots(p)), numpy.sort(want), "program")
            for q in DIVISORS:
                want = numpy.polymul(p, q)
                got = np.polymul(p, q, trim_leading_zeros=True)
                numpy.testing.assert_allclose(
                    numpy.trim_zeros(got, "f"), numpy.trim_zeros(want, "f")
                )
        _, rest = np.polydiv(POLYNOMIALS[0], DIVISORS[0], trim_leading_zeros=True)
        assert rest.shape == (1,)


def test_fits():
    x, y, w = numpy.linspace(0, 1, 6), RNG.standard_normal((6, 2)), numpy.arange(1.0, 7)

    def every(m, x, y, w):
        options = (
            {},
            {"full": True},
            {"cov": True},
            {"cov": "unscaled"},
            {"rcond": 1e-3},
        )
        return [
            m.polyfit(x, values, 2, **more)
            for values in (y, y[:, 0])
            for more in (*options, {"w": w})
        ]

    assert_as_jax(*both(every), x, y, w)


def test_derivatives():
    x, y = RNG.standard_normal(4), RNG.standard_normal(4)
    with imprint.enable_x64(True):
        check_grads(lambda x, y: np.polyfit(x, y, 1), (x, y), order=2)
        check_grads(lambda p: np.roots(p, strip_zeros=False), (x,), order=1)
        check_grads(lambda u, v: np.polydiv(u, v)[0], (x, y[:2]), order=2)


def message(error, function, *args, **params):
    with pytest.raises(error) as caught:
        function(*args, **params)
    return str(caught.value)


def test_invalid_arguments_raise():
    x = np.ones(3)
    assert message(ConcretizationError, imprint.jit(np.roots), x) == (
        "roots: expected coefficients that are known, got float32[3] traced: how many "
        "zeros lead is the length of the result. Pass strip_zeros=False."
    )
    assert message(ShapeError, np.roots, x[None]) == (
        "roots: expected a vector of coefficients, got float32[1,3]. Map over several "
        "with imprint.vmap."
    )
    assert message(ShapeError, np.polymul, x, x[None]) == (
        "polymul: expected vectors of coefficients, got float32[3] and float32[1,3]. Map "
        "over several with imprint.vmap."
    )
    assert message(ShapeError, np.polydiv, x, x[:0]) == (
        "polydiv: expected a divisor of at least one coefficient, got float32[3] and "
        "float32[0]. Write [0] for the polynomial that is 0."
    )
    assert message(ShapeError, np.poly, np.ones((2, 3))) == (
        "poly: expected a vector of roots or a square matrix, got float32[2,3]. Map over "
        "several with imprint.vmap."
    )
    assert message(ShapeError, np.polyfit, x, x[:2], 1) == (
        "polyfit: expected a vector of places that is not empty, and as many values along "
        "the first of at most two axes, got float32[3] and float32[2]. Transpose the "
        "values."
    )
    assert message(ShapeError, np.polyfit, x, x, 1, w=x[:2]) == (
        "polyfit: expected one weight for each point, got float32[2] and float32[3]. "
        "Leave w out for equal weights."
    )
    assert message(ArgumentError, np.polyfit, x, x, -1) == (
        "polyfit: expected deg of at least 0, got -1. It is the highest power."
    )
    assert message(ArgumentError, np.polyfit, x, x, 3, cov=True) == (
        "polyfit: expected more than 4 points for the covariance, got 3. Pass "
        "cov='unscaled'."
    )
