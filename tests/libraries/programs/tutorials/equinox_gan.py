"""Train two networks of Equinox against each other: a GAN of a distribution on the line."""

import sys
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

BATCH = 64


def binary_cross_entropy(logits, labels):
    return jnp.mean(
        jnp.clip(logits, 0) - logits * labels + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    )


@eqx.filter_value_and_grad
def discriminator_loss(discriminator, generator, real, noise):
    fake = jax.vmap(generator)(noise)
    logits = jax.vmap(discriminator)(jnp.concatenate([real, fake]))
    labels = jnp.concatenate([jnp.ones_like(real), jnp.zeros_like(fake)])
    return binary_cross_entropy(logits, labels)


@eqx.filter_value_and_grad
def generator_loss(generator, discriminator, noise):
    logits = jax.vmap(discriminator)(jax.vmap(generator)(noise))
    return binary_cross_entropy(logits, jnp.ones_like(logits))


@eqx.filter_jit
def make_step(models, states, key):
    generator, discriminator = models
    a, b, c = jax.random.split(key, 3)
    real = 2 + 0.5 * jax.random.normal(a, (BATCH, 1))
    noise, more = jax.random.normal(b, (BATCH, 4)), jax.random.normal(c, (BATCH, 4))
    d_value, grads = discriminator_loss(discriminator, generator, real, noise)
    updates, d_state = optimizer.update(grads, states[1])
    discriminator = eqx.apply_updates(discriminator, updates)
    g_value, grads = generator_loss(generator, discriminator, more)
    updates, g_state = optimizer.update(grads, states[0])
    generator = eqx.apply_updates(generator, updates)
    return (generator, discriminator), (g_state, d_state), (g_value, d_value)


a, b, key = jax.random.split(jax.random.key(0), 3)
models = (
    eqx.nn.MLP(4, 1, 16, 1, key=a),
    eqx.nn.MLP(1, 1, 16, 1, jax.nn.leaky_relu, key=b),
)
optimizer = optax.adam(5e-3, b1=0.5)
states = tuple(optimizer.init(eqx.filter(model, eqx.is_array)) for model in models)
for i in range(150):
    if i == 75:
        start = time.perf_counter()
    key, now = jax.random.split(key)
    models, states, values = make_step(models, states, now)
    if i % 50 == 0:
        print(f"{i}: {values[0]:.3f} {values[1]:.3f}")
print((time.perf_counter() - start) / 75, file=sys.stderr)
samples = jax.vmap(models[0])(jax.random.normal(key, (1000, 4)))
print(f"{samples.mean():.1f}")
