"""The gallery: each program finds what is known about its problem, and draws it."""

import sys

import numpy as np
import pytest
import scipy.integrate
import scipy.ndimage
from matplotlib.figure import Figure

from examples.gallery import (
    adaptive_ode,
    gaussian_process,
    hamiltonian_monte_carlo,
    heat_equation,
    image_filters,
    kalman_filter,
    mlp,
    n_body,
    option_pricing,
    plain_numpy,
    policy_gradient,
    transformer,
    variational_autoencoder,
)
from examples.gallery.__main__ import PROGRAMS, main
from tests.meta.sources import EXAMPLES

pytestmark = pytest.mark.slow


def run(program, **arguments):
    """Return what a program found, once it is drawn."""
    found, figure = program.main(**arguments), Figure()
    program.plot(figure, found)
    assert any(axes.has_data() for axes in figure.axes)
    return found


def test_adaptive_steps_are_those_of_scipy_and_find_the_rates():
    seen, count, rough, rates = run(adaptive_ode)
    wanted = [1.1, 0.8, 0.6, 0.9]
    exact = scipy.integrate.solve_ivp(
        lambda _, y: np.asarray(adaptive_ode.rate(y, wanted)),
        (0, 10),
        adaptive_ode.START,
        t_eval=adaptive_ode.TIMES,
        rtol=1e-8,
        atol=1e-8,
    )
    np.testing.assert_allclose(seen, exact.y.T, rtol=1e-3)
    np.testing.assert_allclose(rates, wanted, rtol=1e-3)
    assert rough < count / 2


def test_a_gaussian_process_fits_a_sine_and_knows_where_it_does_not():
    *_, mean, deviation = run(gaussian_process)
    np.testing.assert_allclose(mean[:2], np.sin([0.5, 3.0]), atol=0.1)
    assert deviation[2] > 5 * deviation[0]


def test_a_kalman_filter_finds_the_speed():
    assert abs(run(kalman_filter)[1][-1, 1] - 2) < 0.1


def test_a_simulated_price_and_its_derivatives_are_those_of_black_and_scholes():
    found = option_pricing.main()
    np.testing.assert_allclose(found["simulated"], found["exact"], rtol=0.01)


def test_bodies_keep_their_energy():
    _, before, after = run(n_body)
    np.testing.assert_allclose(after, before, rtol=1e-3)


def test_chains_have_the_covariance_of_their_density():
    _, covariance = run(hamiltonian_monte_carlo)
    np.testing.assert_allclose(covariance, [[1.0, 0.8], [0.8, 2.0]], atol=0.15)


def test_heat_stays_and_its_source_is_found():
    heat, wanted, _, first, last = run(heat_equation)
    np.testing.assert_allclose(wanted.sum(), heat.sum(), rtol=1e-4)
    assert last < 1e-2 * first


def test_filters_are_those_of_scipy_and_repair_the_image():
    image, found = run(image_filters)
    edges = np.hypot(*(scipy.ndimage.sobel(image, axis) for axis in (0, 1)))
    blurred = scipy.ndimage.gaussian_filter(image, image_filters.DEVIATION)
    median = scipy.ndimage.median_filter(found["noisy"], 3)
    np.testing.assert_allclose(found["edges"], edges, atol=1e-5)
    np.testing.assert_allclose(found["blurred"], blurred, atol=1e-5)
    np.testing.assert_allclose(found["median"], median, atol=1e-6)
    for damaged, repaired in (("blurred", "sharp again"), ("noisy", "median")):
        before, after = (abs(found[x] - image).mean() for x in (damaged, repaired))
        assert after < 0.7 * before


def test_a_classifier_separates_the_arms():
    *_, right = run(mlp)
    assert right > 0.98


def test_numpys_code_gives_its_numbers_and_its_derivative():
    results, slope = run(plain_numpy, calls=20)
    np.testing.assert_allclose(results["jit"], results["NumPy"], atol=1e-4)
    food, eater = (x.astype(np.float64) for x in plain_numpy.start())
    above, below = (
        plain_numpy.react(food, eater, 0.037 + step)[1].sum() for step in (1e-5, -1e-5)
    )
    np.testing.assert_allclose(slope, (above - below) / 2e-5, rtol=1e-3)


def test_a_policy_finds_a_short_way():
    reached, _ = run(policy_gradient)
    assert reached[0] < -20
    assert reached[-10:].mean() > -8


def test_attention_learns_to_look_back():
    right, attention = run(transformer)
    period, places = transformer.PERIOD, np.arange(transformer.LENGTH)
    is_next = (places[:, None] - places) % period == period - 1
    seen = np.where(is_next, attention, 0).sum(axis=1)
    assert right > 0.95
    assert seen[period:].mean() > 0.8


def test_two_numbers_describe_a_spot():
    _, explained = run(variational_autoencoder)
    assert explained > 0.95


def test_the_command_writes_a_picture(tmp_path):
    main(["kalman_filter", "--plot", str(tmp_path / "errors.png")])
    assert (tmp_path / "errors.png").read_bytes().startswith(b"\x89PNG")


def test_a_program_without_a_picture_runs_without_the_option(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["option_pricing", "--plot", "price.png"])
    error = capsys.readouterr().err
    assert "option_pricing has no picture: leave out --plot\n" in error
    main(["option_pricing"])
    assert "delta" in capsys.readouterr().out


def test_a_picture_without_matplotlib_names_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SystemExit) as caught:
        main(["n_body", "--plot", "paths.png"])
    assert str(caught.value).startswith("examples: expected the module matplotlib.")
    assert str(caught.value).endswith(" pip install '.[demo]'.")
    assert not capsys.readouterr().out  # before the program runs


def test_a_program_is_short():
    lines = {str(source): len(source.lines) for source in EXAMPLES}
    names = [f"examples/gallery/{program}.py" for program in PROGRAMS]
    assert len(names) == 13
    assert max(lines[name] for name in names) < 120
