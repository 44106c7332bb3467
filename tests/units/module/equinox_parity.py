"""Models and programs that are written once, for imprint's modules and for Equinox's.

A `Side` has the libraries under the same names: `np` for arrays, `mod` for modules and
filters, `api` for the library itself. `agree` compares the results of a program on both:
structure, arrays by dtype and numbers, other leaves as they are.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import equinox
import jax
import numpy

import imprint
import imprint.module
from imprint import tree
from tests.tolerances import assert_close


def _side(api, mod):
    class MLP(mod.Module):
        layers: list[Any]
        activation: Callable[..., Any]
        steps: Any
        name: str = mod.field(static=True)
        inference: bool = False

        def __call__(self, x):
            for weight, bias in self.layers:
                x = self.activation(weight @ x + bias)
            return x

    return SimpleNamespace(
        np=api.numpy,
        mod=mod,
        api=api,
        random=api.random,
        MLP=MLP,
        model=lambda: _model(api, MLP),
    )


def _model(api, cls):
    layers = [
        (api.numpy.asarray(draw(4, 3)), api.numpy.asarray(draw(4))),
        (api.numpy.asarray(draw(2, 4)), api.numpy.asarray(draw(2))),
    ]
    return cls(layers, api.numpy.tanh, api.numpy.arange(2), "small")


def draw(*shape):
    size = int(numpy.prod(shape))
    return numpy.sin(numpy.arange(size) * 1.7 + size).reshape(shape).astype("float32")


OURS = _side(imprint, imprint.module)
THEIRS = _side(jax, equinox)


def agree(program, operation="gradient"):
    """Assert that a program gives the same on both sides, leaf by leaf."""
    ours, theirs = program(OURS), program(THEIRS)
    mine = tree.leaves(ours, lambda x: x is None)
    wanted = jax.tree.leaves(theirs, is_leaf=lambda x: x is None)
    assert len(mine) == len(wanted)
    for a, b in zip(mine, wanted, strict=True):
        if equinox.is_array(b):
            assert imprint.module.is_array(a)
            assert a.shape == b.shape
            assert a.dtype == b.dtype
            assert_close(a, b, operation)
        elif b is jax.numpy.tanh:
            assert a is imprint.numpy.tanh
        else:
            assert type(a) is type(b)
            assert a == b
