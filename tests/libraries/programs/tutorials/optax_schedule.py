"""Train a classifier by optax: a schedule, clipping, decay of weights, accumulation."""

import sys
import time

import jax
import jax.numpy as jnp
import optax

KEY = jax.random.key(0)
STEPS = 200


def init(key, sizes=(8, 32, 3)):
    keys = jax.random.split(key, len(sizes) - 1)
    shapes = zip(sizes[:-1], sizes[1:])
    return [
        (jax.random.normal(k, shape) / jnp.sqrt(shape[0]), jnp.zeros(shape[1]))
        for k, shape in zip(keys, shapes)
    ]


def net(params, x):
    for w, b in params[:-1]:
        x = jax.nn.gelu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


schedule = optax.warmup_cosine_decay_schedule(0.0, 0.03, 20, STEPS, 0.001)
optimizer = optax.chain(
    optax.clip_by_global_norm(1.0),
    optax.adamw(
        schedule,
        weight_decay=1e-4,
        mask=lambda p: jax.tree.map(lambda x: x.ndim > 1, p),
    ),
)


def loss(params, x, y):
    smooth = optax.smooth_labels(jax.nn.one_hot(y, 3), 0.05)
    return optax.softmax_cross_entropy(net(params, x), smooth).mean()


@jax.jit
def step(params, state, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, value, optax.global_norm(grads)


x = jax.random.normal(KEY, (256, 8))
y = (x[:, 0] > 0).astype(int) + (x[:, 1] * x[:, 2] > 0)
params = init(jax.random.key(1))
state = optimizer.init(params)
average = params
for i in range(STEPS):
    if i == 100:
        start = time.perf_counter()
    params, state, value, norm = step(params, state, x, y)
    if i % 50 == 0:
        print(f"{i}: {value:.3f}, norm {norm:.3f}, rate {schedule(i):.4f}")
print((time.perf_counter() - start) / 100, file=sys.stderr)
average = optax.incremental_update(params, average, 0.9)
print("accuracy", f"{jnp.mean(jnp.argmax(net(average, x), -1) == y):.2f}")
