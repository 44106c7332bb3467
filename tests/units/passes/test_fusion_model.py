"""Tests of passes.fusion_model: the counts are those of the programs that XLA compiles."""

import re

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.passes.fusion_model import FusionModel
from imprint._src.passes.pipeline import run_passes

ARITHMETIC = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "neg": "negate",
    "sin": "sine",
    "tanh": "tanh",
    "exp": "exponential",
}
S = [np.float32(v) for v in (0.1, 0.2, 0.3)]
V = [np.full(64, v, "float32") for v in (0.1, 0.2, 0.3)]
M = np.linspace(-1, 1, 32 * 32, dtype="float32").reshape(32, 32)


def in_jaxpr(fun, args):
    """Return the modelled number of compiled arithmetic operations."""
    with imprint.cut_recomputation(False):
        closed = run_passes(imprint.make_jaxpr(fun)(*args))
    kernels = FusionModel(closed.jaxpr).kernels
    return sum(
        len(kernels.get(e.outvars[0], ()))
        for e in closed.eqns
        if e.primitive.name in ARITHMETIC
    )


def in_engine(fun, args):
    """Return their number in the kernels of the compiled program."""
    with imprint.cut_recomputation(False):
        text = imprint.jit(fun).lower(*args).compile().as_text()
    parts = [
        part
        for part in re.split(r"\n\n", text)
        if part.lstrip().startswith(("%fused", "ENTRY"))
    ]
    return sum(
        part.count(f" {name}(") for part in parts for name in ARITHMETIC.values()
    )


def repeated(step, count):
    def run(*state):
        for _ in range(count):
            state = step(*state)
        return state

    return run


def coupled(x, y, z):
    a, b, c = x - y, inp.tanh(y) * z + inp.exp(-z * z), z / (1 + y * y)
    return x + 0.1 * a, y + 0.1 * b, z + 0.1 * c


def arithmetic(x, y, z):
    return x + 0.1 * (y - x), y + 0.1 * (x * z - y), z + 0.1 * (x * y - z)


def summed(x):
    return (inp.sin(x) * x + x.sum(),)


def softmax(x):
    weights = inp.exp(x - x.max())
    return (weights / weights.sum() + x * 0.5,)


def stacked(s):
    a, b, c = s
    return (s + 0.1 * inp.stack([b - a, a * c, a * b - c]),)


def rolled(x):
    return (x + 0.1 * (inp.roll(x, 1) - 2 * x),)


def spread(x, m):
    shifted = x - m[0]
    return x, inp.exp(shifted)[:, None] * m + shifted[:, None]


def network(w, x):
    for _ in range(4):
        x = x + inp.sin(x @ w)
    return (x * x).sum()


def gradient(w, x):
    return imprint.grad(network)(w, x)


@pytest.mark.parametrize(
    ("fun", "args"),
    [
        (repeated(arithmetic, 6), S),
        (repeated(coupled, 5), S),
        (repeated(coupled, 4), V),
        (repeated(summed, 6), V[:1]),
        (repeated(softmax, 8), S[:1]),
        (repeated(stacked, 4), [np.array(S)]),
        (repeated(rolled, 5), V[:1]),
        (repeated(spread, 3), [M[0], M]),
        (network, [M, M]),
        (gradient, [M, M]),
    ],
    ids=[
        *("arithmetic", "coupled", "vectors", "summed", "numbers", "stacked", "rolled"),
        *("spread", "network", "gradient"),
    ],
)
def test_an_operation_is_in_as_many_kernels_as_the_engine_makes(fun, args):
    assert in_jaxpr(fun, args) == pytest.approx(in_engine(fun, args), rel=0.1)
