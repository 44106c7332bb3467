"""Train a convolutional network of Equinox to see which quarter of an image is bright."""

import sys
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

KEY = jax.random.key(0)


class CNN(eqx.Module):
    layers: list

    def __init__(self, key):
        a, b, c = jax.random.split(key, 3)
        self.layers = [
            eqx.nn.Conv2d(1, 4, kernel_size=3, key=a),
            eqx.nn.MaxPool2d(kernel_size=2),
            jax.nn.relu,
            jnp.ravel,
            eqx.nn.Linear(4 * 81, 32, key=b),
            jax.nn.sigmoid,
            eqx.nn.Linear(32, 4, key=c),
            jax.nn.log_softmax,
        ]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def loss(model, x, y):
    predicted = jax.vmap(model)(x)
    return -jnp.mean(jnp.take_along_axis(predicted, y[:, None], axis=1))


optimizer = optax.adamw(3e-3)


@eqx.filter_jit
def make_step(model, state, x, y):
    value, grads = eqx.filter_value_and_grad(loss)(model, x, y)
    updates, state = optimizer.update(grads, state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, updates), state, value


@eqx.filter_jit
def accuracy(model, x, y):
    return jnp.mean(jnp.argmax(jax.vmap(model)(x), axis=1) == y)


y = jax.random.randint(KEY, (64,), 0, 4)
quarter = (
    jnp.zeros((4, 2, 2)).at[jnp.arange(4), jnp.arange(4) // 2, jnp.arange(4) % 2].set(1)
)
x = (
    0.5 * jax.random.normal(KEY, (64, 1, 12, 12))
    + jnp.kron(quarter, jnp.ones((6, 6)))[y, None]
)
model = CNN(jax.random.key(1))
state = optimizer.init(eqx.filter(model, eqx.is_array))
for i in range(120):
    if i == 60:
        start = time.perf_counter()
    model, state, value = make_step(model, state, x, y)
    if i % 40 == 0:
        print(f"{i}: {value:.3f}")
print((time.perf_counter() - start) / 60, file=sys.stderr)
print(f"{accuracy(eqx.nn.inference_mode(model), x, y):.2f}")
