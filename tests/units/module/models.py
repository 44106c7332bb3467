"""Modules that several tests use."""

from collections.abc import Callable

import imprint
import imprint.numpy as np
from imprint.module import Module, field


class Linear(Module):
    weight: imprint.Array
    bias: imprint.Array | None
    size: int = field(static=True)

    def __init__(self, size, *, bias=True):
        self.weight = np.eye(size)
        self.bias = np.zeros(size) if bias else None
        self.size = size

    def __call__(self, x):
        out = self.weight @ x
        return out if self.bias is None else out + self.bias

    def loss(self, x):
        return (self(x) ** 2).sum()


class Layered(Module):
    layers: tuple
    activation: Callable

    def __call__(self, x):
        for layer in self.layers:
            x = self.activation(layer(x))
        return x


class Activated(Module):
    weight: imprint.Array
    activation: Callable = field(static=True)

    def __call__(self, x):
        return self.activation(self.weight * x)


class Pair(Module):
    first: object
    second: object = None
