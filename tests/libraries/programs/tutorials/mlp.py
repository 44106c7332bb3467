"""Train a multi-layer perceptron by gradient descent, with jit, grad and trees alone."""

import sys
import time

import jax
import jax.numpy as jnp

KEY = jax.random.key(0)
SIZES = [16, 64, 64, 4]


def init_layer(key, inputs, outputs):
    w_key, b_key = jax.random.split(key)
    scale = jnp.sqrt(2 / inputs)
    weights = scale * jax.random.normal(w_key, (outputs, inputs))
    return {"w": weights, "b": 0.01 * jax.random.normal(b_key, (outputs,))}


def init(key):
    keys = jax.random.split(key, len(SIZES) - 1)
    return [init_layer(*each) for each in zip(keys, SIZES[:-1], SIZES[1:])]


def predict(params, image):
    for layer in params[:-1]:
        image = jax.nn.relu(layer["w"] @ image + layer["b"])
    logits = params[-1]["w"] @ image + params[-1]["b"]
    return logits - jax.nn.logsumexp(logits)


batched_predict = jax.vmap(predict, in_axes=(None, 0))


def loss(params, images, labels):
    return -jnp.mean(batched_predict(params, images) * labels)


@jax.jit
def update(params, images, labels):
    value, grads = jax.value_and_grad(loss)(params, images, labels)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


@jax.jit
def accuracy(params, images, labels):
    predicted = jnp.argmax(batched_predict(params, images), axis=1)
    return jnp.mean(predicted == jnp.argmax(labels, axis=1))


images = jax.random.normal(KEY, (512, SIZES[0]))
teacher = init(jax.random.key(1))
labels = jax.nn.one_hot(jnp.argmax(batched_predict(teacher, images), 1), SIZES[-1])
params = init(jax.random.key(2))
for epoch in range(20):
    if epoch == 10:
        start = time.perf_counter()
    for at in range(0, 512, 64):
        params, value = update(params, images[at : at + 64], labels[at : at + 64])
    print(f"epoch {epoch}: {value:.4f}, {accuracy(params, images, labels):.3f}")
print((time.perf_counter() - start) / 80, file=sys.stderr)
