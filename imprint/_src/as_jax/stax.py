"""`jax.example_libraries.stax`: layers as pairs `(init, apply)`.

`init(key, input_shape)` returns the shape of the result and the parameters;
`apply(params, inputs, rng=...)` the result.
"""

# Strict types would be Any in each place: trees and layers of any kind.
# pyright: basic

import functools
from collections.abc import Callable
from typing import Any

import imprint.numpy as np
from imprint import nn, random

Layer = tuple[Callable[..., Any], Callable[..., Any]]


def Dense(out_dim: int, W_init: Any = None, b_init: Any = None) -> Layer:  # noqa: N802, N803 - JAX's names
    """Return an affine layer."""
    W_init = W_init or nn.initializers.glorot_normal()  # noqa: N806 - JAX's name
    b_init = b_init or nn.initializers.normal()

    def init(rng: Any, input_shape: Any) -> Any:
        k1, k2 = random.split(rng)
        weights = W_init(k1, (input_shape[-1], out_dim))
        return (*input_shape[:-1], out_dim), (weights, b_init(k2, (out_dim,)))

    def apply(params: Any, inputs: Any, **_: Any) -> Any:
        return np.dot(inputs, params[0]) + params[1]

    return init, apply


def elementwise(fun: Callable[..., Any], **options: Any) -> Layer:
    """Return a layer without parameters that applies a function."""
    return (
        lambda rng, input_shape: (input_shape, ()),
        lambda params, inputs, **_: fun(inputs, **options),
    )


Tanh = elementwise(np.tanh)
Relu = elementwise(nn.relu)
Exp = elementwise(np.exp)
LogSoftmax = elementwise(nn.log_softmax, axis=-1)
Softmax = elementwise(nn.softmax, axis=-1)
Softplus = elementwise(nn.softplus)
Sigmoid = elementwise(nn.sigmoid)
Elu = elementwise(nn.elu)
LeakyRelu = elementwise(nn.leaky_relu)
Selu = elementwise(nn.selu)
Gelu = elementwise(nn.gelu)
Identity = elementwise(lambda x: x)
Flatten = (
    lambda rng, shape: (
        (shape[0], functools.reduce(lambda a, b: a * b, shape[1:], 1)),
        (),
    ),
    lambda params, inputs, **_: np.reshape(inputs, (inputs.shape[0], -1)),
)
FanInSum = (
    lambda rng, shapes: (shapes[0], ()),
    lambda params, inputs, **_: sum(inputs),
)


def FanOut(num: int) -> Layer:  # noqa: N802 - JAX's name
    """Return a layer that repeats its input."""
    return (
        lambda rng, shape: ([shape] * num, ()),
        lambda params, inputs, **_: [inputs] * num,
    )


def FanInConcat(axis: int = -1) -> Layer:  # noqa: N802 - JAX's name
    """Return a layer that joins its inputs along an axis."""

    def init(rng: Any, shapes: Any) -> Any:
        at = axis % len(shapes[0])
        size = sum(shape[at] for shape in shapes)
        return (*shapes[0][:at], size, *shapes[0][at + 1 :]), ()

    return init, lambda params, inputs, **_: np.concatenate(inputs, axis)


def _keys(rng: Any, count: int) -> Any:
    """Return a key for each of several layers, or None for each."""
    return [None] * count if rng is None else random.split(rng, count)


def serial(*layers: Layer) -> Layer:
    """Return the layers one after the other."""
    inits, applies = zip(*layers, strict=True)

    def init(rng: Any, input_shape: Any) -> Any:
        params: list[Any] = []
        for each in inits:
            rng, own = random.split(rng)
            input_shape, param = each(own, input_shape)
            params.append(param)
        return input_shape, params

    def apply(params: Any, inputs: Any, **options: Any) -> Any:
        rng = options.pop("rng", None)
        keys = _keys(rng, len(applies))
        for each, param, key in zip(applies, params, keys, strict=True):
            inputs = each(param, inputs, rng=key, **options)
        return inputs

    return init, apply


def parallel(*layers: Layer) -> Layer:
    """Return the layers side by side, on a list of inputs."""
    inits, applies = zip(*layers, strict=True)

    def init(rng: Any, input_shape: Any) -> Any:
        keys = random.split(rng, len(inits))
        each = [i(k, s) for i, k, s in zip(inits, keys, input_shape, strict=True)]
        shapes, params = zip(*each, strict=True)
        return list(shapes), list(params)

    def apply(params: Any, inputs: Any, **options: Any) -> Any:
        rng = options.pop("rng", None)
        keys = _keys(rng, len(applies))
        each = zip(applies, params, inputs, keys, strict=True)
        return [f(p, x, rng=k, **options) for f, p, x, k in each]

    return init, apply
