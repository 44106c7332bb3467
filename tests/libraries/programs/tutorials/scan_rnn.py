"""Train a recurrent network, written by `lax.scan`, to continue a sine."""

import sys
import time

import jax
import jax.numpy as jnp

HIDDEN = 32


def init(key):
    a, b, c = jax.random.split(key, 3)
    return {
        "inputs": jax.random.normal(a, (HIDDEN, 1)) * 0.3,
        "hidden": jax.random.normal(b, (HIDDEN, HIDDEN)) * 0.1,
        "bias": jnp.zeros(HIDDEN),
        "out": jax.random.normal(c, (1, HIDDEN)) * 0.3,
    }


def rnn(params, xs):
    def cell(h, x):
        h = jnp.tanh(params["inputs"] @ x + params["hidden"] @ h + params["bias"])
        return h, params["out"] @ h

    return jax.lax.scan(cell, jnp.zeros(HIDDEN), xs)


def loss(params, waves):
    _, predicted = jax.vmap(rnn, (None, 0))(params, waves[:, :-1])
    return jnp.mean((predicted - waves[:, 1:]) ** 2)


@jax.jit
def update(params, momentum, waves):
    value, grads = jax.value_and_grad(loss)(params, waves)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    params = jax.tree.map(lambda p, m: p - 0.02 * m, params, momentum)
    return params, momentum, value


phases = jnp.linspace(0, 6, 16)[:, None]
waves = jnp.sin(phases + 0.3 * jnp.arange(40))[..., None]
params = init(jax.random.key(0))
momentum = jax.tree.map(jnp.zeros_like, params)
for i in range(200):
    if i == 100:
        start = time.perf_counter()
    params, momentum, value = update(params, momentum, waves)
    if i % 40 == 0:
        print(f"{i}: {value:.4f}")
print((time.perf_counter() - start) / 100, file=sys.stderr)
carry, _ = rnn(params, waves[0])
print(carry.shape, f"{loss(params, waves):.4f}")
