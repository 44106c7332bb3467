"""The gamma function of complex numbers: SciPy's values, and derivatives of every order."""

import itertools

import jax
import numpy as np
import pytest
import scipy.special

import imprint
from imprint.scipy import special
from tests import oracle
from tests.lanes import exhaustive
from tests.tolerances import assert_close

RNG = np.random.default_rng(0)
PLACES = np.concatenate(
    [
        RNG.normal(size=200) * across + 1j * RNG.normal(size=200) * up
        for across, up in itertools.product((0.5, 3, 30), (0.01, 0.5, 3, 30))
    ]
)
EDGES = np.array([0, -1, -2, np.nan, np.inf, -np.inf, complex(1, np.nan)], complex)
CUT = np.array([complex(x, y) for x in (-0.5, -1.5, -30.5, 0.5) for y in (0.0, -0.0)])


@pytest.mark.parametrize("name", ["loggamma", *exhaustive("gamma")])
def test_values_are_those_of_scipy(name):
    function, by_scipy = getattr(special, name), getattr(scipy.special, name)
    with imprint.enable_x64(True):
        compiled = imprint.jit(function)
        for z in (PLACES, CUT, EDGES):
            want = by_scipy(z)
            for got in (function(z), compiled(z)):
                assert_close(got, want, "gradient")  # exp of large logarithms
    small = PLACES[(abs(PLACES) < 20)].astype("complex64")
    want = by_scipy(small.astype(complex))
    for got in (function(small), imprint.jit(function)(small)):
        assert got.dtype == np.complex64
        off = abs(np.asarray(got) - want) / (
            1e-30 + np.maximum(abs(want), name != "gamma")
        )
        assert off.max() < 1e-4


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["gamma", "loggamma"])
def test_values_and_derivatives_are_those_of_jax(name):
    z = PLACES[(PLACES.imag != 0) & (abs(PLACES) < 8)][::29]
    tangent = np.full_like(z, 0.3 + 0.7j)

    def run(m):
        function = getattr(m.scipy.special, name)
        return [*m.jvp(function, (z,), (tangent,)), function(2 + 1j)]

    with jax.enable_x64(True), imprint.enable_x64(True):
        want = oracle.jit(lambda: run(jax))()
        for got in (run(imprint), imprint.jit(lambda: run(imprint))()):
            for ours, theirs in zip(got, want, strict=True):
                assert ours.weak_type == theirs.weak_type
                assert_close(ours, theirs, "factored")


def test_derivatives_of_every_order():
    x = np.array([0.7, 2.3, 9.5, -0.6, -2.3])
    z = PLACES[(abs(PLACES.imag) > 1e-3) & (abs(PLACES) < 30)][::17]

    def derivative(order):
        function = special.loggamma
        for _ in range(order):
            function = imprint.grad(function, holomorphic=True)
        return imprint.jit(imprint.vmap(function))

    with imprint.enable_x64(True):
        assert_close(derivative(1)(z), scipy.special.psi(z), "program")
        for order in (2, 3):
            got = derivative(order)(x + 0j)
            steps = np.arange(2000)
            near = sum((x[0] + steps) ** -float(order)) * scipy.special.gamma(order)
            whole = scipy.special.polygamma(order - 1, x[:3])
            assert_close(np.real(got[:3]), whole, "program")
            assert abs(abs(got[0]) - near) < 1e-2
            pushed = scipy.special.polygamma(order - 1, x[3:] + 8)
            back = [(y + np.arange(8)) ** -float(order) for y in x[3:]]
            sign = (-1) ** order * scipy.special.gamma(order)
            assert_close(np.real(got[3:]), pushed + sign * np.sum(back, 1), "gradient")


def test_the_derivative_far_to_the_left_in_float32():
    z = np.complex64(-30000.25 + 0.01j)
    got = imprint.jit(imprint.grad(special.loggamma, holomorphic=True))(z)
    want = scipy.special.psi(complex(z))
    assert abs(complex(got) - want) < 1e-4 * abs(want)


def test_reverse_derivatives_that_jax_has_none_of():
    z = np.complex64(1.5 + 0.3j)
    want = np.complex64(scipy.special.psi(1.5 + 0.3j))
    got = imprint.grad(special.loggamma, holomorphic=True)(z)
    assert_close(got, want, "program")
    with pytest.raises(ValueError, match="Reverse-mode"):
        jax.grad(jax.scipy.special.loggamma, holomorphic=True)(z)
    below = np.complex64(complex(-0.5, -0.0))
    assert special.loggamma(below).imag > 0 > special.loggamma(below.conj()).imag
    assert jax.scipy.special.loggamma(below).imag < 0
