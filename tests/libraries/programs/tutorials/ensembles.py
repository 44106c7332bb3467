"""Train an ensemble under vmap; gradients per example, Jacobians and Hessians."""

import sys
import time

import jax
import jax.numpy as jnp

KEY = jax.random.key(0)


def init(key):
    a, b = jax.random.split(key)
    return jax.random.normal(a, (24, 3)), jax.random.normal(b, (24,)) / 5


def predict(params, x):
    hidden, out = params
    return out @ jnp.tanh(hidden @ x)


def loss(params, x, y):
    return (predict(params, x) - y) ** 2


def mean_loss(params, xs, ys):
    return jnp.mean(jax.vmap(loss, (None, 0, 0))(params, xs, ys))


@jax.jit
def update(ensemble, xs, ys):
    @jax.vmap
    def one(params):
        value, grads = jax.value_and_grad(mean_loss)(params, xs, ys)
        return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), value

    return one(ensemble)


xs = jax.random.uniform(KEY, (128, 3), minval=-1)
ys = jnp.sin(3 * xs[:, 0]) + xs[:, 1] * xs[:, 2]
ensemble = jax.vmap(init)(jax.random.split(jax.random.key(1), 8))
for i in range(300):
    if i == 100:
        start = time.perf_counter()
    ensemble, values = update(ensemble, xs, ys)
print((time.perf_counter() - start) / 200, file=sys.stderr)
print("losses", *[f"{value:.4f}" for value in values])

first = jax.tree.map(lambda leaf: leaf[0], ensemble)
each = jax.jit(jax.vmap(jax.grad(loss), (None, 0, 0)))(first, xs, ys)
print("norm of each gradient", *[f"{jnp.linalg.norm(g[:4]):.3f}" for g in each])
jacobian = jax.jacfwd(predict, argnums=1)(first, xs[0])
assert jnp.allclose(jacobian, jax.jacrev(predict, argnums=1)(first, xs[0]), atol=1e-5)
hessian = jax.jit(jax.hessian(predict, argnums=1))(first, xs[0])
print("curvature", f"{jnp.trace(hessian):.3f}")
spread = jnp.std(jax.vmap(predict, (0, None))(ensemble, jnp.array([2.0, 2.0, 2.0])))
print("spread far away", f"{spread:.3f}")
