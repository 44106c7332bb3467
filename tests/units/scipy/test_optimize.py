"""`minimize` is as in JAX, and continues where JAX's line search fails."""

import itertools

import jax
import jax.scipy.optimize
import numpy as np
import pytest
import scipy.optimize
import sklearn.datasets

import imprint
import imprint.numpy as inp
from imprint._src.scipy.optimize import line_search
from imprint.errors import ArgumentError, DTypeError, ShapeError
from imprint.scipy import optimize
from tests import oracle
from tests.lanes import exhaustive, exhaustive_but
from tests.tolerances import Tolerance, assert_close, assert_within

EVALUATIONS = 218
"""Of all curves together: a worse choice of points takes more."""
LIMITED = "l-bfgs-experimental-do-not-rely-on-this"
LOOSE = Tolerance(rtol=1e-4, atol=1e-4)
MET = Tolerance(rtol=1e-6, atol=1e-6)


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def bowl(x, weights, offset):
    return (weights * x**2).sum() / 2 - offset * x.sum()


WEIGHTS = np.arange(1.0, 6.0)
CASES = {
    "rosenbrock": (rosenbrock, np.array([0.5, 2, -1, 0.3, 1]), (), {}),
    "himmelblau": (himmelblau, np.ones(2), (), {}),
    "bowl": (bowl, np.zeros(5), (WEIGHTS, 2.0), {}),
    "two steps": (rosenbrock, np.array([0.5, 2, -1, 0.3, 1]), (), {"maxiter": 2}),
    "no line": (bowl, np.ones(5), (1e6 * WEIGHTS, 2), {"maxiter": 3, "norm": 2}),
}


def compare(got, want, allowed):
    for name in ("success", "status", "nfev", "njev", "nit"):
        ours, theirs = getattr(got, name), getattr(want, name)
        assert int(ours) == int(theirs), name
        assert ours.dtype == theirs.dtype
        assert ours.weak_type == theirs.weak_type
    for name in ("x", "fun", "jac", "hess_inv"):
        ours, theirs = getattr(got, name), getattr(want, name)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert_within(ours, theirs, allowed)


def of_jax(fun, x0, args=(), **given):
    run = jax.scipy.optimize.minimize
    return oracle.jit(lambda x: run(fun, x, args, **given))(x0)


METHODS = ["BFGS", *exhaustive(LIMITED)]
QUICK = [("bowl", LIMITED)]


@pytest.mark.parametrize(
    ("case", "method"),
    exhaustive_but(QUICK, list(itertools.product(CASES, ["BFGS", LIMITED]))),
)
def test_it_takes_the_steps_of_jax(case, method):
    fun, x0, args, options = CASES[case]
    with jax.enable_x64(True), imprint.enable_x64(True):
        given = {"method": method, "options": options}
        want = of_jax(fun, x0, args, **given)
        got = optimize.minimize(fun, x0, args, **given)
        compare(got, want, MET)


@pytest.mark.exhaustive
def test_float32_is_jaxs_too():
    x0 = np.ones(2, "float32")
    want = of_jax(himmelblau, x0, method="bfgs")
    got = optimize.minimize(himmelblau, x0, method="bfgs")
    assert got.success
    assert_within(got.x, want.x, LOOSE)
    assert got.hess_inv.dtype == want.hess_inv.dtype


@pytest.mark.parametrize("method", METHODS)
def test_it_finds_minima_at_which_jaxs_line_search_gives_up(method):
    x0 = np.array([-1.2, 1.0])
    with jax.enable_x64(True), imprint.enable_x64(True):
        theirs = of_jax(rosenbrock, x0, method=method)
        assert not theirs.success
        found = optimize.minimize(rosenbrock, x0, method=method)
    assert_within(found.x, np.ones(2), LOOSE)
    by_scipy = scipy.optimize.minimize(rosenbrock, x0, method="BFGS")
    assert_within(found.x, by_scipy.x, LOOSE)
    assert found.fun < by_scipy.fun


def test_the_result_is_of_one_point_if_the_line_search_fails():
    def kink(x):
        return abs(x - 0.3).sum() + 1.0

    found = optimize.minimize(kink, np.ones(3, "float32"), method="BFGS")
    assert not found.success
    assert int(found.status) == 3
    assert_close(found.fun, kink(found.x), "program")
    assert found.fun < kink(np.ones(3, "float32"))
    far = optimize.minimize(lambda x: -x[0], np.zeros(1), method="BFGS")
    assert (int(far.status), bool(far.success)) == (5, False)
    assert_close(far.fun, -far.x[0])


def test_values_that_are_nan_are_too_high():
    def likelihood(x):
        return (x - inp.log(x)).sum()

    start = np.full(2, 0.01, "float32")
    found = optimize.minimize(likelihood, start, method="BFGS")
    assert found.success
    assert_within(found.x, np.ones(2, "float32"), LOOSE)


def along(fun, slope=-1.0, first=1.0):
    """Search from 0 along a direction; return the point, and whether it failed."""
    x, direction = inp.zeros(1), inp.full(1, -slope)
    value, gradient = imprint.value_and_grad(fun)(x)
    return line_search.line_search(fun, x, direction, (value, gradient), first, 10)


def test_a_step_satisfies_the_wolfe_conditions_of_every_curve():
    waves = np.random.default_rng(0).normal(size=(60, 3)).astype("float32")

    def search(wave):
        def curve(x):
            wiggle = inp.sin(wave[0] * 5 * x + wave[1]) + wave[2] * inp.cos(9 * x)
            return (0.3 * x**2 - x + 0.4 * wiggle).sum()

        value, slope = imprint.value_and_grad(curve)(inp.zeros(1))
        return value, -(abs(slope[0]) ** 2), along(curve, slope[0])

    with imprint.enable_x64(True):
        run = imprint.jit(imprint.vmap(search))
        value, slope, found = run(waves.astype("float64"))
    point = found.point
    assert not found.failed.any()
    assert (point.value <= value + 1e-4 * point.step * slope).all()
    assert (abs(point.slope) <= -0.9 * slope).all()
    assert int(found.evaluations.sum()) == EVALUATIONS


def test_a_step_returns_from_points_without_a_value():
    def curve(x):
        return ((x - 0.3) ** 2 - 0.01 * inp.log(1 - x)).sum()

    found = along(curve, slope=-20.0)
    assert not found.failed
    assert 0 < 20 * float(found.point.step) < 1


def test_tolerances_stop_it():
    given = {"fun": rosenbrock, "x0": np.zeros(2), "method": "BFGS"}
    exact = optimize.minimize(**given)
    rough = optimize.minimize(**given, tol=1.0)
    assert rough.success
    assert rough.nit < exact.nit
    assert abs(rough.jac).max() < 1
    by_option = optimize.minimize(**given, tol=1e-9, options={"gtol": 1.0})
    assert int(by_option.nit) == int(rough.nit)


def test_it_is_compiled_batched_and_takes_traced_options():
    starts = np.array([[1, 1], [-2, 2], [3, -2]], "float32")

    def run(x0, gtol):
        return optimize.minimize(himmelblau, x0, method="BFGS", options={"gtol": gtol})

    ones = [run(x0, 1e-4) for x0 in starts]
    compiled = imprint.jit(run)(starts[0], 1e-4)
    assert_within(compiled.x, ones[0].x, LOOSE)
    batched = imprint.jit(imprint.vmap(run, in_axes=(0, None)))(starts, 1e-4)
    assert_within(batched.x, np.stack([one.x for one in ones]), LOOSE)
    assert batched.success.all()
    assert batched.nit.tolist() == [int(one.nit) for one in ones]


@pytest.mark.exhaustive
def test_digits_are_distinguished_as_by_scipy():
    images, labels = sklearn.datasets.load_digits(return_X_y=True)
    images, labels = images[:200] / 16, labels[:200]

    def loss(w):
        logits = images @ w.reshape(64, 10)
        picked = inp.take_along_axis(logits, labels[:, None], 1)[:, 0]
        scores = imprint.nn.logsumexp(logits, axis=1) - picked
        return scores.mean() + 1e-2 * (w**2).sum()

    with imprint.enable_x64(True):
        found = optimize.minimize(loss, np.zeros(640), method="BFGS", tol=1e-6)
        step = imprint.jit(imprint.value_and_grad(loss))
        theirs = scipy.optimize.minimize(
            lambda w: tuple(np.asarray(x) for x in step(w)),
            np.zeros(640),
            jac=True,
            method="L-BFGS-B",
            options={"gtol": 1e-7, "ftol": 1e-14},
        )
    assert found.success
    assert_within(found.x, theirs.x, LOOSE)


WRONG = [
    (
        lambda: optimize.minimize(himmelblau, np.ones((2, 1)), method="BFGS"),
        ShapeError,
        "minimize: expected a vector as x0, got float32[2,1]. Pass x0.ravel(), and "
        "reshape in the function; of trees, imprint.flatten_util.ravel_pytree.",
    ),
    (
        lambda: optimize.minimize(himmelblau, np.ones(2, complex), method="BFGS"),
        DTypeError,
        "minimize: expected real numbers as x0, got complex64[2]. Pass real and "
        "imaginary parts, and put them together in the function.",
    ),
    (
        lambda: optimize.minimize(himmelblau, np.ones(2), method="CG"),
        ArgumentError,
        f"minimize: expected a method of BFGS or {LIMITED}, got 'CG'.",
    ),
    (
        lambda: optimize.minimize(himmelblau, np.ones(2), 3, method="BFGS"),
        ArgumentError,
        "minimize: expected a tuple as args, got 3. Write args=(3,).",
    ),
    (
        lambda: optimize.minimize(
            himmelblau, np.ones(2), method="BFGS", options={"maxls": 3}
        ),
        ArgumentError,
        "minimize: expected options of maxiter, norm, gtol, line_search_maxiter, got "
        "'maxls'.",
    ),
    (
        lambda: optimize.minimize(lambda x: x, np.ones(2), method="BFGS"),
        ShapeError,
        "minimize: expected fun to return a number, got float32[2]. Reduce it, `.sum()` or "
        "`.mean()`.",
    ),
]


@pytest.mark.parametrize(("call", "kind", "text"), WRONG)
def test_an_error_message(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == text
