"""`odeint` against the solution of `dy/dt = -k y`, and its derivatives."""

import numpy as np

import imprint
import imprint.numpy as inp
from imprint._src.as_jax.ode import odeint

TIMES = np.linspace(0.0, 2.0, 5, dtype=np.float32)


def decay(y, t, k):
    return {"y": -k * y["y"]}


def total(y0, k, times):
    return odeint(decay, {"y": y0}, times, k)["y"].sum()


def test_a_solution_and_its_gradient():
    y0, k = np.float32([1.0, 3.0]), np.float32(0.7)
    shares = np.exp(-k * TIMES)
    found = odeint(decay, {"y": y0}, imprint.numpy.asarray(TIMES), k)
    np.testing.assert_allclose(found["y"], np.outer(shares, y0), rtol=1e-5)
    gradient = imprint.jit(imprint.grad(total, argnums=(0, 1, 2)))
    by_y0, by_k, by_times = gradient(y0, k, imprint.numpy.asarray(TIMES))
    np.testing.assert_allclose(by_y0, [shares.sum()] * 2, rtol=1e-4)
    np.testing.assert_allclose(by_k, -4 * (TIMES * shares).sum(), rtol=1e-4)
    # To begin later moves each of the outputs that follow.
    expected = -4 * k * shares
    expected[0] = 4 * k * shares[1:].sum()
    np.testing.assert_allclose(by_times, expected, rtol=1e-4)


def test_an_eager_call_traces_an_equal_function_once():
    y, t = inp.ones(2), inp.linspace(0.0, 1.0, 3)

    def last(rate):
        return float(odeint(lambda y, t: -rate * y, y, t)[-1, 0])

    first = last(1.0)
    before = imprint.debug.counters().traces
    assert last(1.0) == first
    assert imprint.debug.counters().traces == before
    np.testing.assert_allclose([first, last(2.0)], np.exp([-1.0, -2.0]), rtol=1e-5)
