"""Tracing, and lowering to StableHLO, per equation.

One program is elementwise, 3,000 equations long, written with NumPy names; the other is the
loss of a transformer and its gradient. Each sample traces a new function, so no cache hits;
its creation is not timed.
"""

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Pair, Suite, Timing

EQUATIONS = 3000
X = np.linspace(0.0, 1.0, 16, dtype=np.float32)


def program(names, salt):
    """Return a new function of 3,000 equations; `salt` makes it differ from the others."""

    def chain(x):
        y = x + salt
        for _ in range(EQUATIONS // 4 - 1):
            y = names.sin(y) * x - names.tanh(y)
        return y * x + x - y

    return chain


def salts():
    """Count up: no two programs of a process are equal."""
    number = 0.0
    while True:
        number += 1.0
        yield number


SALTS = salts()


def traces(library, names):
    def fresh():
        chain, x = program(names, next(SALTS)), names.asarray(X)
        return lambda: library.make_jaxpr(chain)(x)

    return fresh


def lowers(library, names):
    def fresh():
        compiled, x = library.jit(program(names, next(SALTS))), names.asarray(X)
        return lambda: compiled.lower(x)

    return fresh


LAYERS, WIDTH, HEADS, VOCABULARY, LENGTH = 12, 64, 4, 96, 32


def transformer(lib, salt):
    """Return a new function: the loss of a transformer whose layers a Python loop applies."""
    np, nn = lib.numpy, lib.nn

    def normed(w, x):
        mean = x.mean(-1, keepdims=True)
        deviation = x - mean
        variance = (deviation**2).mean(-1, keepdims=True)
        return deviation / np.sqrt(variance + 1e-5) * w["scale"] + w["bias"]

    def attended(w, x):
        heads = (x @ w["in"]).reshape(*x.shape[:-1], 3, HEADS, WIDTH // HEADS)
        q, k, v = (heads[..., i, :, :] for i in range(3))
        scores = np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
        seen = np.tril(np.ones((x.shape[-2],) * 2, bool))
        weights = nn.softmax(np.where(seen, scores, -np.inf))
        return np.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape) @ w["out"]

    def block(w, x):
        x = x + attended(w, normed(w["norm1"], x))
        hidden = nn.gelu(normed(w["norm2"], x) @ w["up"] + w["bias"])
        return x + hidden @ w["down"]

    def loss(weights, inputs, targets):
        x = nn.one_hot(inputs, VOCABULARY) @ weights["tokens"] + weights["places"]
        for layer in weights["layers"]:
            x = block(layer, x)
        logits = nn.log_softmax(normed(weights["norm"], x * salt) @ weights["tokens"].T)
        return -(logits * nn.one_hot(targets, VOCABULARY)).sum(-1).mean()

    return loss


def transformer_arguments():
    """Return weights of the transformer, and 8 texts."""
    rng = np.random.default_rng(0)
    new = lambda *shape: (rng.normal(size=shape) * 0.02).astype(np.float32)
    norm = lambda: {"scale": new(WIDTH), "bias": new(WIDTH)}

    def layer():
        return {
            "norm1": norm(),
            "in": new(WIDTH, 3 * WIDTH),
            "out": new(WIDTH, WIDTH),
            "norm2": norm(),
            "up": new(WIDTH, 4 * WIDTH),
            "bias": new(4 * WIDTH),
            "down": new(4 * WIDTH, WIDTH),
        }

    weights = {
        "tokens": new(VOCABULARY, WIDTH),
        "places": new(LENGTH, WIDTH),
        "layers": [layer() for _ in range(LAYERS)],
        "norm": norm(),
    }
    inputs, targets = rng.integers(0, VOCABULARY, (2, 8, LENGTH)).astype(np.int32)
    return weights, inputs, targets


ARGUMENTS = transformer_arguments()


def trains(library):
    def fresh():
        loss = transformer(library, next(SALTS))
        compiled = library.jit(library.value_and_grad(loss))
        return lambda: compiled.lower(*ARGUMENTS)

    return fresh


PAIRS = [
    Pair(
        "trace, per equation of 3,000",
        ours=traces(imprint, inp),
        jax=traces(jax, jnp),
        timing=Timing.FRESH,
        per=EQUATIONS,
    ),
    Pair(
        "trace and lower, per equation of 3,000",
        ours=lowers(imprint, inp),
        jax=lowers(jax, jnp),
        target=0.4,
        timing=Timing.FRESH,
        per=EQUATIONS,
    ),
    Pair(
        "trace and lower a transformer's gradient",
        ours=trains(imprint),
        jax=trains(jax),
        target=0.4,
        timing=Timing.FRESH,
    ),
]


class Tracing(Suite):
    pairs = PAIRS
