"""How fast compiled programs run, and how fast a long chain compiles.

Both libraries have one engine, so ratios below 1 come from the options it is given and
from the program that it is handed. The timer of a `run` row holds a warm call and the
wait for its result; that of the `compile` row has tracing and lowering outside.
"""

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.compiling import compiles
from benchmarks.pairs import Pair, Suite, Timing
from benchmarks.tracing import program as chain_with_sin

TARGET = 1.05  # nothing runs below 0.95 of JAX's speed
LONG = np.linspace(0.1, 4.0, 1_000_000, dtype=np.float32)
SQUARE = np.linspace(-1.0, 1.0, 256 * 256, dtype=np.float32).reshape(256, 256)
SMALL = np.linspace(0.0, 1.0, 16, dtype=np.float32)


def sin(names, x):
    return names.sin(x)


def exp(names, x):
    return names.exp(x)


def tanh(names, x):
    return names.tanh(x)


def log(names, x):
    return names.log(x)


def where(names, x):
    return names.where(x > 1, x * 2, x - 1)


def selu(names, x):
    return names.where(x > 0, 1.05 * x, 1.67 * (names.exp(x) - 1))


def gelu(names, x):
    return 0.5 * x * (1 + names.tanh(0.7979 * (x + 0.0447 * x * x * x)))


def softmax(names, x):
    weights = names.exp(x - names.max(x, axis=-1, keepdims=True))
    return weights / names.sum(weights, axis=-1, keepdims=True)


def layernorm(names, x):
    centred = x - names.mean(x, axis=-1, keepdims=True)
    return centred / names.sqrt(names.mean(centred**2, axis=-1, keepdims=True) + 1e-5)


def network(names, x):
    y = x
    for _ in range(3):
        y = gelu(names, layernorm(names, y @ x))
    return names.mean(y**2)


def wave(names, x):
    return names.sin(x) * x + names.tanh(x)


def runs(name, operation, x, transform=lambda library, fun: fun):
    """Make the row of one program, run warm."""

    def side(library, names):
        fun = library.jit(transform(library, lambda x: operation(names, x)))
        held = names.asarray(x)
        return lambda: fun(held)

    return Pair(
        f"run, {name}", ours=side(imprint, inp), jax=side(jax, jnp), target=TARGET
    )


def gradient(library, fun):
    return library.grad(fun)


PAIRS = [
    *(
        runs(f"{operation.__name__} of 1,000,000", operation, LONG)
        for operation in (sin, exp, tanh, log, where, selu, gelu, wave)
    ),
    runs("softmax of 256 × 256", softmax, SQUARE),
    runs("layernorm of 256 × 256", layernorm, SQUARE),
    runs("network of 3 layers", network, SQUARE),
    runs("gradient of it", network, SQUARE, gradient),
    runs(
        "chain of 3,000 with sin", lambda names, x: chain_with_sin(names, 1.0)(x), SMALL
    ),
    Pair(
        "compile, chain of 3,000 with sin",
        ours=compiles(imprint, inp, chain_with_sin, SMALL),
        jax=compiles(jax, jnp, chain_with_sin, SMALL),
        target=TARGET,
        timing=Timing.FRESH,
    ),
]


class Engine(Suite):
    pairs = PAIRS
