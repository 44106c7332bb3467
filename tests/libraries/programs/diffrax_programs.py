"""diffrax, as its documentation uses it."""

import diffrax as dfx
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

jax.config.update("jax_enable_x64", True)
TIGHT = dfx.PIDController(rtol=1e-8, atol=1e-8)


def decay(t, y, rate):
    return -rate * y


SOLVERS = [
    *(dfx.Euler, dfx.Heun, dfx.Midpoint, dfx.Ralston, dfx.Bosh3, dfx.Tsit5),
    *(dfx.Dopri5, dfx.Dopri8, dfx.ImplicitEuler, dfx.Kvaerno3, dfx.Kvaerno5),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: s.__name__)
def test_a_solver_with_steps_of_one_length(solver):
    controller = dfx.ConstantStepSize()
    if solver in (dfx.ImplicitEuler, dfx.Kvaerno3, dfx.Kvaerno5):
        import optimistix as optx

        solver = solver(root_finder=optx.Newton(rtol=1e-8, atol=1e-8))
    else:
        solver = solver()
    found = dfx.diffeqsolve(
        dfx.ODETerm(decay),
        solver,
        0.0,
        1.0,
        0.005,
        1.0,
        0.7,
        stepsize_controller=controller,
    )
    np.testing.assert_allclose(found.ys, [np.exp(-0.7)], rtol=3e-3)


@pytest.mark.parametrize("solver", [dfx.Tsit5, dfx.Dopri5, dfx.Dopri8, dfx.Kvaerno5])
def test_adaptive_steps_and_dense_output(solver):
    save = dfx.SaveAt(ts=jnp.linspace(0, 2, 5), dense=True)
    found = eqx.filter_jit(dfx.diffeqsolve)(
        *(dfx.ODETerm(decay), solver(), 0.0, 2.0, None, jnp.array([1.0, 2.0]), 0.7),
        saveat=save,
        stepsize_controller=TIGHT,
    )
    expected = np.exp(-0.7 * np.linspace(0, 2, 5))
    np.testing.assert_allclose(found.ys[:, 0], expected, rtol=1e-6)
    assert found.evaluate(1.3)[1] == pytest.approx(2 * np.exp(-0.91), rel=1e-5)


ADJOINTS = {
    "checkpoints": dfx.RecursiveCheckpointAdjoint(),
    "direct": dfx.DirectAdjoint(),
    "backsolve": dfx.BacksolveAdjoint(stepsize_controller=TIGHT),
}


@pytest.mark.parametrize("name", ADJOINTS)
def test_gradients(name):
    @jax.jit
    @jax.grad
    def slope(rate):
        found = dfx.diffeqsolve(
            *(dfx.ODETerm(decay), dfx.Tsit5(), 0.0, 1.0, None, jnp.array(1.0), rate),
            stepsize_controller=TIGHT,
            adjoint=ADJOINTS[name],
            max_steps=256,
        )
        return found.ys[0]

    assert slope(0.7) == pytest.approx(-np.exp(-0.7), rel=1e-5)


def test_forward_mode():
    def final(rate):
        return dfx.diffeqsolve(
            *(dfx.ODETerm(decay), dfx.Tsit5(), 0.0, 1.0, None, jnp.array(1.0), rate),
            stepsize_controller=TIGHT,
            adjoint=dfx.ForwardMode(),
        ).ys[0]

    _, tangent = jax.jvp(final, (0.7,), (1.0,))
    assert tangent == pytest.approx(-np.exp(-0.7), rel=1e-5)


def test_a_batch_of_problems():
    def final(rate):
        return dfx.diffeqsolve(
            *(dfx.ODETerm(decay), dfx.Tsit5(), 0.0, 1.0, 0.1, jnp.array(1.0), rate),
            stepsize_controller=TIGHT,
        ).ys[0]

    rates = jnp.array([0.5, 1.0, 2.0])
    np.testing.assert_allclose(
        jax.jit(jax.vmap(final))(rates), np.exp(-rates), rtol=1e-6
    )


def test_an_event_stops_the_ball():
    def fall(t, y, _):
        return {"height": y["speed"], "speed": jnp.array(-9.8)}

    import optimistix as optx

    event = dfx.Event(
        lambda t, y, args, **_: y["height"], optx.Newton(1e-8, 1e-8, optx.rms_norm)
    )
    found = dfx.diffeqsolve(
        *(dfx.ODETerm(fall), dfx.Tsit5(), 0.0, jnp.inf, 0.1),
        {"height": jnp.array(10.0), "speed": jnp.array(0.0)},
        event=event,
        stepsize_controller=TIGHT,
    )
    assert found.ts[0] == pytest.approx((20 / 9.8) ** 0.5, rel=1e-5)


@pytest.mark.parametrize("solver", [dfx.Euler, dfx.ItoMilstein, dfx.SPaRK])
def test_a_stochastic_equation(solver):
    path = dfx.VirtualBrownianTree(0.0, 1.0, tol=1e-3, shape=(), key=jax.random.key(0))
    noise = dfx.ControlTerm(lambda t, y, _: 0.1 * y, path)
    if solver is dfx.SPaRK:
        path = dfx.VirtualBrownianTree(
            *(0.0, 1.0),
            tol=1e-3,
            shape=(),
            key=jax.random.key(0),
            levy_area=dfx.SpaceTimeLevyArea,
        )
        noise = dfx.ControlTerm(lambda t, y, _: jnp.array(0.1), path)
    terms = dfx.MultiTerm(dfx.ODETerm(decay), noise)
    found = dfx.diffeqsolve(terms, solver(), 0.0, 1.0, 0.01, jnp.array(1.0), 0.7)
    assert abs(found.ys[0] - np.exp(-0.7)) < 0.5


def test_interpolation_and_a_controlled_equation():
    ts = jnp.linspace(0.0, 1.0, 6)
    xs = jnp.stack([ts, jnp.sin(ts)], -1)
    coefficients = dfx.backward_hermite_coefficients(ts, xs)
    control = dfx.CubicInterpolation(ts, coefficients)
    np.testing.assert_allclose(control.evaluate(0.4), xs[2], rtol=1e-6)
    term = dfx.ControlTerm(lambda t, y, _: jnp.array([[1.0, 2.0]]), control).to_ode()
    found = dfx.diffeqsolve(
        term, dfx.Tsit5(), 0.0, 1.0, None, jnp.zeros(1), stepsize_controller=TIGHT
    )
    np.testing.assert_allclose(found.ys[0], [1 + 2 * np.sin(1.0)], rtol=1e-5)


def test_a_neural_ode_learns():
    class Field(eqx.Module):
        mlp: eqx.nn.MLP

        def __call__(self, t, y, args):
            return self.mlp(y)

    times = jnp.linspace(0.0, 1.0, 5)
    target = jnp.exp(-times)[:, None] * jnp.array([1.0, 0.5])
    field = Field(eqx.nn.MLP(2, 2, 8, 1, jnp.tanh, key=jax.random.key(0)))
    optimizer = optax.adam(3e-2)
    state = optimizer.init(eqx.filter(field, eqx.is_inexact_array))

    @eqx.filter_jit
    def step(field, state):
        @eqx.filter_value_and_grad
        def loss(field):
            found = dfx.diffeqsolve(
                *(dfx.ODETerm(field), dfx.Tsit5(), 0.0, 1.0, 0.1, target[0]),
                saveat=dfx.SaveAt(ts=times),
                stepsize_controller=dfx.PIDController(rtol=1e-3, atol=1e-6),
            )
            return jnp.mean((found.ys - target) ** 2)

        value, gradient = loss(field)
        updates, state = optimizer.update(gradient, state)
        return eqx.apply_updates(field, updates), state, value

    losses = []
    for _ in range(40):
        field, state, value = step(field, state)
        losses.append(float(value))
    assert losses[-1] < 0.1 * losses[0]


def test_steps_and_results():
    found = dfx.diffeqsolve(
        *(dfx.ODETerm(decay), dfx.Tsit5(), 0.0, 1.0, 0.1, jnp.array(1.0), 0.7),
        saveat=dfx.SaveAt(steps=True, t0=True),
        max_steps=20,
    )
    assert int(found.stats["num_steps"]) == 10
    assert int(jnp.isfinite(found.ts).sum()) == 11
    failed = dfx.diffeqsolve(
        *(dfx.ODETerm(decay), dfx.Tsit5(), 0.0, 1.0, 0.01, jnp.array(1.0), 0.7),
        max_steps=5,
        throw=False,
    )
    assert bool(failed.result == dfx.RESULTS.max_steps_reached)
