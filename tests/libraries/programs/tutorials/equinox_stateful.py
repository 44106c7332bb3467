"""Train a network with state, by BatchNorm of Equinox; dropout by keys."""

import sys
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Model(eqx.Module):
    norm1: eqx.nn.BatchNorm
    linear1: eqx.nn.Linear
    norm2: eqx.nn.BatchNorm
    linear2: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.norm1 = eqx.nn.BatchNorm(3, axis_name="batch", mode="batch")
        self.linear1 = eqx.nn.Linear(3, 32, key=a)
        self.norm2 = eqx.nn.BatchNorm(32, axis_name="batch", mode="batch")
        self.linear2 = eqx.nn.Linear(32, 3, key=b)
        self.dropout = eqx.nn.Dropout(0.1)

    def __call__(self, x, state, key=None):
        x, state = self.norm1(x, state)
        x = jax.nn.relu(self.linear1(x))
        x, state = self.norm2(x, state)
        return self.linear2(self.dropout(x, key=key)), state


def loss(model, state, xs, ys, key):
    keys = jax.random.split(key, xs.shape[0])
    batched = jax.vmap(
        model, axis_name="batch", in_axes=(0, None, 0), out_axes=(0, None)
    )
    predicted, state = batched(xs, state, keys)
    return jnp.mean((predicted - ys) ** 2), state


@eqx.filter_jit
def make_step(model, state, opt_state, xs, ys, key):
    (value, state), grads = eqx.filter_value_and_grad(loss, has_aux=True)(
        model, state, xs, ys, key
    )
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), state, opt_state, value


xs = 3 + 5 * jax.random.normal(jax.random.key(0), (64, 3))
ys = jnp.sin(xs)
model, state = eqx.nn.make_with_state(Model)(jax.random.key(1))
optimizer = optax.adam(5e-3)
opt_state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
key = jax.random.key(2)
for i in range(120):
    if i == 60:
        start = time.perf_counter()
    key, now = jax.random.split(key)
    model, state, opt_state, value = make_step(model, state, opt_state, xs, ys, now)
    if i % 40 == 0:
        print(f"{i}: {value:.3f}")
print((time.perf_counter() - start) / 60, file=sys.stderr)
frozen = eqx.nn.inference_mode(model)
predicted, _ = jax.vmap(
    frozen, axis_name="batch", in_axes=(0, None), out_axes=(0, None)
)(xs, state)
print(f"{jnp.mean((predicted - ys) ** 2):.3f}")
