"""Warm steps of programs that use JAX's libraries: a process that runs one when asked.

`library_steps.py jax|imprint NAME` reads a count from each line of standard input, and
answers with the seconds of a step, the mean over that many. The programs import `jax`, which
is imprint if the first word says so.
"""

import importlib
import sys
import time

if sys.argv[1] == "imprint":
    importlib.import_module("imprint.as_jax")

import jax
import jax.numpy as jnp

KEY = jax.random.key(0)
X = jax.random.normal(KEY, (64, 16))
Y = jnp.sin(X).sum(-1, keepdims=True)


def equinox_mlp():
    """Return a training step of an Equinox MLP with optax's Adam."""
    import equinox as eqx
    import optax

    model = eqx.nn.MLP(16, 1, 32, 2, key=KEY)
    optimizer = optax.adam(1e-3)
    state = optimizer.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_jit
    def train(model, state, x, y):
        def loss(model):
            return jnp.mean((jax.vmap(model)(x) - y) ** 2)

        value, gradients = eqx.filter_value_and_grad(loss)(model)
        updates, state = optimizer.update(gradients, state, model)
        return eqx.apply_updates(model, updates), state, value

    def step():
        nonlocal model, state
        model, state, value = train(model, state, X, Y)
        return value

    return step


def neural_ode():
    """Return a gradient step through `diffrax.diffeqsolve`."""
    import diffrax
    import equinox as eqx

    model = eqx.nn.MLP(2, 2, 16, 1, activation=jnp.tanh, key=KEY)
    times = jnp.linspace(0.0, 1.0, 8)

    @eqx.filter_jit
    def train(model, start):
        def loss(model):
            found = diffrax.diffeqsolve(
                diffrax.ODETerm(lambda t, y, args: model(y)),
                diffrax.Tsit5(),
                0.0,
                1.0,
                0.1,
                start,
                saveat=diffrax.SaveAt(ts=times),
                stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-5),
            )
            return jnp.sum(found.ys**2)

        value, gradients = eqx.filter_value_and_grad(loss)(model)
        return eqx.apply_updates(
            model, jax.tree.map(lambda g: -1e-4 * g, gradients)
        ), value

    def step():
        nonlocal model
        model, value = train(model, jnp.ones(2))
        return value

    return step


def lineax_solve():
    """Return a linear solve under jit."""
    import lineax

    matrix = jnp.eye(16) + 0.1 * jax.random.normal(KEY, (16, 16))
    solve = jax.jit(
        lambda a, b: lineax.linear_solve(lineax.MatrixLinearOperator(a), b).value
    )
    return lambda: solve(matrix, X[0])


def nnx_model():
    """Return an MLP of flax.nnx with its optimizer."""
    import optax
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.Linear(16, 32, rngs=rngs)
            self.second = nnx.Linear(32, 1, rngs=rngs)

        def __call__(self, x):
            return self.second(nnx.relu(self.first(x)))

    model = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    def train(model, optimizer, x, y):
        def loss(model):
            return jnp.mean((model(x) - y) ** 2)

        value, gradients = nnx.value_and_grad(loss)(model)
        optimizer.update(model, gradients)
        return value

    return nnx, model, optimizer, nnx.jit(train)


def nnx_mlp():
    """Return a training step of flax.nnx under `nnx.jit`."""
    _, model, optimizer, train = nnx_model()
    return lambda: train(model, optimizer, X, Y)


def nnx_cached_partial():
    """Return the same step by `nnx.cached_partial`."""
    nnx, model, optimizer, train = nnx_model()
    cached = nnx.cached_partial(train, model, optimizer)
    return lambda: cached(X, Y)


def linen(module, x, y):
    """Return a training step of a module of flax.linen."""
    import optax

    params = module.init(KEY, x)
    optimizer = optax.sgd(1e-3)
    state = optimizer.init(params)

    @jax.jit
    def train(params, state):
        def loss(params):
            return jnp.mean((module.apply(params, x) - y) ** 2)

        value, gradients = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(gradients, state)
        return optax.apply_updates(params, updates), state, value

    def step():
        nonlocal params, state
        params, state, value = train(params, state)
        return value

    return step


def linen_cnn():
    """Return a training step of a small convolutional network of flax.linen."""
    from flax import linen as nn

    class Cnn(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Conv(8, (3, 3))(x))
            x = nn.avg_pool(x, (2, 2), (2, 2))
            return nn.Dense(1)(x.reshape(x.shape[0], -1))

    return linen(Cnn(), jnp.ones((4, 8, 8, 1)), jnp.ones((4, 1)))


def linen_attention():
    """Return a training step of a block of attention of flax.linen."""
    from flax import linen as nn

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = x + nn.MultiHeadDotProductAttention(num_heads=2)(nn.LayerNorm()(x))
            return nn.Dense(1)(x)

    return linen(Block(), jnp.ones((2, 8, 16)), jnp.ones((2, 8, 1)))


def blackjax_nuts():
    """Return one step of NUTS of blackjax."""
    import blackjax

    def density(x):
        return -0.5 * jnp.sum(x["a"] ** 2) - jnp.sum((x["b"] - 1) ** 2)

    kernel = blackjax.nuts(density, 0.3, jnp.ones(4))
    state = kernel.init({"a": jnp.zeros(2), "b": jnp.zeros(2)})
    move = jax.jit(kernel.step)

    def step():
        nonlocal state
        state, _ = move(KEY, state)
        return state.position["a"]

    return step


def numpyro_nuts():
    """Return one step of NUTS of numpyro."""
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import NUTS

    def model(x):
        w = numpyro.sample("w", dist.Normal(0, 1).expand([16]).to_event(1))
        numpyro.sample("y", dist.Normal(x @ w, 0.5), obs=Y[:, 0])

    kernel = NUTS(model)
    state = kernel.init(KEY, 0, None, (X,), {})
    move = jax.jit(lambda state: kernel.sample(state, (X,), {}))

    def step():
        nonlocal state
        state = move(state)
        return state.z["w"]

    return step


STEPS = {
    step.__name__: step
    for step in (
        equinox_mlp,
        neural_ode,
        lineax_solve,
        nnx_mlp,
        nnx_cached_partial,
        linen_cnn,
        linen_attention,
        blackjax_nuts,
        numpyro_nuts,
    )
}


def main():
    step = STEPS[sys.argv[2]]()
    for _ in range(3):
        jax.block_until_ready(step())
    for line in sys.stdin:
        count = int(line)
        start = time.perf_counter()
        for _ in range(count):
            result = step()
        jax.block_until_ready(result)
        print((time.perf_counter() - start) / count, flush=True)


if __name__ == "__main__":
    main()
