"""An unmodified training script of JAX, optax and Equinox: it says nothing of imprint.

`python -m imprint.as_jax examples/train_with_jax.py` runs it on imprint.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

STEPS = 200


def spirals(key, count):
    """Return points on two noisy spirals, and which spiral each is on."""
    angle_key, noise_key = jax.random.split(key)
    angles = 3.0 * jax.random.uniform(angle_key, (count,)) + 0.5
    labels = jnp.arange(count) % 2
    turned = angles + jnp.pi * labels
    points = angles[:, None] * jnp.stack([jnp.cos(turned), jnp.sin(turned)], axis=1)
    return points + 0.3 * jax.random.normal(noise_key, points.shape), labels


def loss(model, points, labels):
    """Return the mean cross entropy."""
    logits = jax.vmap(model)(points)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def main():
    """Train a network, and print its loss and accuracy."""
    data_key, model_key = jax.random.split(jax.random.key(0))
    points, labels = spirals(data_key, 256)
    model = eqx.nn.MLP(2, 2, width_size=32, depth=2, key=model_key)
    optimizer = optax.adam(3e-3)
    state = optimizer.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_jit
    def step(model, state, points, labels):
        value, gradients = eqx.filter_value_and_grad(loss)(model, points, labels)
        updates, state = optimizer.update(gradients, state)
        return eqx.apply_updates(model, updates), state, value

    for i in range(STEPS):
        model, state, value = step(model, state, points, labels)
        if i % 50 == 0:
            hits = eqx.filter_jit(
                lambda model: jax.vmap(model)(points).argmax(1) == labels
            )
            print(f"step {i}: loss {value:.3f}, accuracy {hits(model).mean():.3f}")
    print(f"at the end: loss {value:.3f}")


if __name__ == "__main__":
    main()
