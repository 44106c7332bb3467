"""optimistix, as its documentation uses it."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import optimistix as optx
import pytest

jax.config.update("jax_enable_x64", True)
TOLERANCES = {"rtol": 1e-8, "atol": 1e-8}


def rosenbrock(y, args):
    return {"a": 10 * (y[1] - y[0] ** 2), "b": args - y[0]}


def square(y, args):
    return sum(jnp.sum(v**2) for v in jax.tree.leaves(rosenbrock(y, args)))


MINIMISERS = {
    "bfgs": optx.BFGS(**TOLERANCES),
    "lbfgs": optx.LBFGS(**TOLERANCES),
    "cg": optx.NonlinearCG(**TOLERANCES),
    "nelder mead": optx.NelderMead(**TOLERANCES),
    "optax": optx.OptaxMinimiser(optax.adam(5e-2), rtol=1e-10, atol=1e-10),
}
LEAST_SQUARES = {
    "lm": optx.LevenbergMarquardt(**TOLERANCES),
    "gauss newton": optx.GaussNewton(**TOLERANCES),
    "dogleg": optx.Dogleg(**TOLERANCES),
    "indirect": optx.IndirectLevenbergMarquardt(**TOLERANCES),
}


@pytest.mark.parametrize("name", MINIMISERS)
def test_minimise(name):
    start = jnp.array([0.5, 0.7])
    found = optx.minimise(square, MINIMISERS[name], start, args=1.0, max_steps=5000)
    np.testing.assert_allclose(found.value, [1.0, 1.0], atol=1e-3)


@pytest.mark.parametrize("name", LEAST_SQUARES)
def test_least_squares(name):
    @jax.jit
    def solve(args):
        start = jnp.array([0.5, 0.7])
        return optx.least_squares(rosenbrock, LEAST_SQUARES[name], start, args).value

    np.testing.assert_allclose(solve(1.5), [1.5, 2.25], atol=1e-5)
    sensitivity = jax.jacrev(solve)(1.5)
    np.testing.assert_allclose(sensitivity, [1.0, 3.0], atol=1e-3)


@pytest.mark.parametrize("solver", [optx.Newton, optx.Chord])
def test_root_find(solver):
    def f(y, args):
        return y**2 - args

    find = lambda a: optx.root_find(f, solver(**TOLERANCES), jnp.array(1.2), a).value
    assert find(2.0) == pytest.approx(2**0.5, abs=1e-6)
    assert jax.grad(find)(2.0) == pytest.approx(0.5 / 2**0.5, abs=1e-5)
    np.testing.assert_allclose(
        jax.vmap(find)(jnp.array([1.0, 2.0])), [1.0, 2**0.5], atol=1e-6
    )


def test_bisection():
    options = {"lower": 0.0, "upper": 3.0}
    solver = optx.Bisection(**TOLERANCES)
    found = optx.root_find(lambda y, a: y**3 - a, solver, 1.0, 8.0, options=options)
    assert found.value == pytest.approx(2.0, abs=1e-6)


def test_fixed_point():
    solver = optx.FixedPointIteration(**TOLERANCES)
    solve = lambda a: (
        optx.fixed_point(lambda y, a: a * jnp.cos(y), solver, 0.5, a).value
    )
    assert solve(1.0) == pytest.approx(0.739085133, abs=1e-6)
    y = 0.739085133
    expected = np.cos(y) / (1 + np.sin(y))
    assert jax.grad(solve)(1.0) == pytest.approx(expected, abs=1e-5)


def test_too_few_steps():
    solver = optx.Newton(**TOLERANCES)
    f = lambda y, _: jnp.exp(y) - 100.0
    with pytest.raises(Exception, match="steps"):
        jax.block_until_ready(
            optx.root_find(f, solver, jnp.array(0.0), max_steps=2).value
        )
    found = optx.root_find(f, solver, jnp.array(0.0), max_steps=2, throw=False)
    assert bool(found.result == optx.RESULTS.nonlinear_max_steps_reached)


def test_aux_and_the_best_so_far():
    solver = optx.BestSoFarMinimiser(optx.BFGS(**TOLERANCES))
    f = lambda y, _: (jnp.sum((y - 3) ** 2), y.sum())
    found = optx.minimise(f, solver, jnp.zeros(2), has_aux=True)
    assert found.aux == pytest.approx(6.0, abs=1e-4)


def test_the_interface_of_scipy():
    found = optx.compat.minimize(
        lambda y: jnp.sum((y - 1) ** 2), jnp.zeros(3), method="bfgs"
    )
    np.testing.assert_allclose(found.x, np.ones(3), atol=1e-5)
