"""Masks: the program of a bucket compared with one for a single length, both imprint's.

The arguments are in reused memory of their bucket, which needs the most masks. At the size
of the bucket the other program computes the whole bucket; at 70 % it computes the true
length, which is less work.
"""

from functools import cache

import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Pair

RNG = np.random.default_rng(0)
UP, DOWN = (
    inp.asarray(RNG.normal(0, 0.1, shape).astype(np.float32))
    for shape in ((64, 256), (256, 64))
)
KERNEL = inp.asarray(RNG.normal(0, 0.1, (5, 64, 64)).astype(np.float32))


def attention(x):
    return imprint.nn.softmax(x @ x.T / 8, -1) @ x


def mlp_gradient(x):
    def loss(weights):
        up, down = weights
        return ((imprint.nn.gelu(x @ up) @ down) ** 2).mean()

    return imprint.grad(loss)((UP, DOWN))


def cumsum(x):
    return inp.cumsum(x, 0)


def convolution(x):
    numbers = ("NWC", "WIO", "NWC")
    return imprint.lax.conv_general_dilated(
        x[None], KERNEL, (1,), "SAME", dimension_numbers=numbers
    )


def softmax(x):
    return imprint.nn.softmax(x, 0)


def sums(x):
    return x.sum(0)


TARGETS = {
    attention: 1.2,
    mlp_gradient: 1.2,
    cumsum: 1.2,
    convolution: 1.2,
    softmax: 1.7,
    sums: 1.7,
}
BUCKET = 1024
WIDTHS = {softmax: 1024, sums: 1024}
"""Of rows where they are not 64, so that a call's own time counts little."""


@cache
def padded(function, length):
    """Return a call in its bucket."""
    named = imprint.jit(function, abstracted_axes={0: "n"}, buckets=[BUCKET])
    x = inp.pad_to(inp.asarray(rows(function, length)), BUCKET)
    return lambda: named(x)


@cache
def plain(function, length):
    """Return a call of a program for its length."""
    static, x = imprint.jit(function), inp.asarray(rows(function, length))
    return lambda: static(x)


def rows(function, length):
    shape = length, WIDTHS.get(function, 64)
    return np.random.default_rng(1).standard_normal(shape, np.float32)


def pair(function, length, beside, target):
    return Pair(
        f"{function.__name__} of {length} rows in {BUCKET}, beside {beside} rows",
        ours=lambda: padded(function, length)(),
        jax=lambda: plain(function, beside)(),
        target=target,
    )


SHORT = BUCKET * 7 // 10
PAIRS = [
    *(pair(f, BUCKET - 1, BUCKET, target) for f, target in TARGETS.items()),
    *(pair(f, SHORT, SHORT, 2.0) for f in TARGETS),
]
