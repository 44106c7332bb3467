"""The gallery: each program finds what is known about its problem."""

import numpy as np
import pytest

from examples.gallery import (
    gaussian_process,
    hamiltonian_monte_carlo,
    heat_equation,
    kalman_filter,
    n_body,
    option_pricing,
)

pytestmark = pytest.mark.slow


def test_a_gaussian_process_fits_a_sine_and_knows_where_it_does_not():
    mean, deviation = gaussian_process.main()
    np.testing.assert_allclose(mean[:2], np.sin([0.5, 3.0]), atol=0.1)
    assert deviation[2] > 5 * deviation[0]


def test_a_kalman_filter_finds_the_speed():
    assert abs(kalman_filter.main()[-1, 1] - 2) < 0.1


def test_a_simulated_price_and_its_derivatives_are_those_of_black_and_scholes():
    found = option_pricing.main()
    np.testing.assert_allclose(found["simulated"], found["exact"], rtol=0.01)


def test_bodies_keep_their_energy():
    before, after = n_body.main()
    np.testing.assert_allclose(after, before, rtol=1e-3)


def test_chains_have_the_covariance_of_their_density():
    covariance = hamiltonian_monte_carlo.main()
    np.testing.assert_allclose(covariance, [[1.0, 0.8], [0.8, 2.0]], atol=0.15)


def test_heat_stays_and_its_source_is_found():
    heat, wanted, first, last = heat_equation.main()
    np.testing.assert_allclose(wanted.sum(), heat.sum(), rtol=1e-4)
    assert last < 1e-2 * first
