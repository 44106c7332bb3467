"""Types of arrays and modules: pyright reads this file, nothing runs it.

An ignore marks a line with an expected error: an unused one is an error.
"""

from typing import assert_type

import imprint
import imprint.numpy as np
from imprint import Array, nn


def operators_give_arrays(x: Array) -> None:
    assert_type(x + 1, Array)
    assert_type(1 - x, Array)
    assert_type(2.0**x, Array)
    assert_type(x @ x, Array)
    assert_type(x == 1, Array)
    assert_type(x != x, Array)
    assert_type(x >= 1, Array)
    assert_type(-x, Array)
    assert_type(~x, Array)
    assert_type(abs(x), Array)
    assert_type(round(x), Array)
    assert_type(divmod(x, 2), tuple[Array, Array])
    assert_type(x[0, ..., None], Array)
    assert_type([*x], list[Array])
    assert_type(float(x), float)
    assert_type(bool(x == 1), bool)
    assert_type(len(x), int)


def methods_give_arrays(x: Array) -> None:
    assert_type(x.T, Array)
    assert_type(x.sum(axis=0).mean(), Array)
    assert_type(x.astype(np.float32), Array)
    assert_type(x.reshape(2, -1), Array)
    assert_type(x.shape, tuple[int, ...])
    assert_type(x.ndim, int)


def functions_give_arrays(x: Array) -> None:
    key = imprint.random.key(0)
    assert_type(imprint.random.normal(key, (2,)), Array)
    assert_type(imprint.random.randint(key, (2,), 0, 9), Array)
    assert_type(np.where(x > 0, x, 0.0), Array)
    assert_type(np.float32(1), Array)
    assert_type(np.amax(np.asin(x)), Array)
    assert_type(imprint.nn.relu(x), Array)
    np.sinn(x)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - misspelt


class Linear(imprint.Module):
    weight: Array
    bias: Array | None = None
    name: str = imprint.field(static=True, default="linear")


class Own(imprint.Module):
    weight: Array

    def __init__(self, size: int) -> None:
        self.weight = np.ones(size)


def fields_are_parameters(x: Array) -> None:
    model = Linear(x, name="first")
    assert_type(model.bias, Array | None)
    assert_type(Own(3).weight, Array)
    assert_type(imprint.replace(model, bias=x), Linear)
    assert_type(imprint.tree_at(lambda m: m.weight, model, x), Linear)
    Linear()  # pyright: ignore[reportCallIssue] - no weight
    Linear("x")  # pyright: ignore[reportArgumentType] - a text
    Linear(x, names="first")  # pyright: ignore[reportCallIssue] - misspelt
    Own("3")  # pyright: ignore[reportArgumentType] - a text


def layers_are_made_and_called(x: Array) -> None:
    key = imprint.random.key(0)
    assert_type(nn.Linear(3, 4, key=key)(x), Array)
    assert_type(nn.MLP(3, 4, 8, 1, key=key)(x), Array)
    assert_type(nn.LayerNorm(3)(x), Array)
    assert_type(nn.RMSNorm((3,), use_bias=False)(x), Array)
    assert_type(nn.Dropout(0.1)(x, key=key), Array)
    nn.LayerNorm()  # pyright: ignore[reportCallIssue] - no shape
