"""Train a GRU of Equinox to say which way a spiral turns."""

import sys
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class RNN(eqx.Module):
    hidden_size: int
    cell: eqx.nn.GRUCell
    linear: eqx.nn.Linear
    bias: jax.Array

    def __init__(self, in_size, out_size, hidden_size, *, key):
        ckey, lkey = jax.random.split(key)
        self.hidden_size = hidden_size
        self.cell = eqx.nn.GRUCell(in_size, hidden_size, key=ckey)
        self.linear = eqx.nn.Linear(hidden_size, out_size, use_bias=False, key=lkey)
        self.bias = jnp.zeros(out_size)

    def __call__(self, xs):
        def step(carry, x):
            return self.cell(x, carry), None

        out, _ = jax.lax.scan(step, jnp.zeros((self.hidden_size,)), xs)
        return jax.nn.sigmoid(self.linear(out) + self.bias)


def spirals(count, key):
    t = jnp.linspace(0, 4 * jnp.pi, 16)
    start = jax.random.uniform(key, (count, 1), maxval=2 * jnp.pi)
    turn = jnp.where(jnp.arange(count) % 2, 1, -1)[:, None]
    angle = start + turn * t
    return jnp.stack([jnp.sin(angle), jnp.cos(angle)], -1) / (1 + t)[:, None], (
        turn[:, 0] + 1
    ) / 2


@eqx.filter_value_and_grad
def loss(model, x, y):
    predicted = jax.vmap(model)(x)[:, 0]
    return -jnp.mean(y * jnp.log(predicted) + (1 - y) * jnp.log(1 - predicted))


@eqx.filter_jit
def make_step(model, x, y, state):
    value, grads = loss(model, x, y)
    updates, state = optimizer.update(grads, state)
    return value, eqx.apply_updates(model, updates), state


x, y = spirals(64, jax.random.key(0))
model = RNN(in_size=2, out_size=1, hidden_size=16, key=jax.random.key(1))
optimizer = optax.adam(3e-2)
state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
for i in range(120):
    if i == 60:
        start = time.perf_counter()
    value, model, state = make_step(model, x, y, state)
    if i % 40 == 0:
        print(f"{i}: {value:.3f}")
print((time.perf_counter() - start) / 60, file=sys.stderr)
print(f"{jnp.mean((jax.vmap(model)(x)[:, 0] > 0.5) == y):.2f}")
