"""The programs that the pairs of transforms run over, and the comparison with JAX.

A program is written once, for a module `np` that is imprint's or JAX's; its result is a
scalar and its first argument is the one that is differentiated. A test gives `agree` the
composition, as a function of `api` (the module imprint or jax) and the program for it.
JAX runs its side compiled; imprint's runs as written, eagerly unless the test says jit.
"""

from dataclasses import dataclass
from typing import Any

import numpy
import pytest

import imprint
import imprint.numpy
from imprint import tree
from tests import oracle
from tests.lanes import exhaustive
from tests.oracle import jax
from tests.tolerances import assert_close

SLICES = 3  # no axis of an argument has this length


@dataclass(frozen=True)
class Program:
    name: str
    function: Any
    args: tuple[Any, ...]

    def on(self, api):
        """Return the program for imprint or JAX."""
        return lambda *args: self.function(api.numpy, *args)

    @property
    def batched_args(self):
        """The arguments, different in each of some slices along a new first axis."""
        scales = [1.0 + 0.25 * i for i in range(SLICES)]
        return tree.map(
            lambda x: numpy.stack([x * numpy.float32(s) for s in scales]), self.args
        )

    @property
    def tangent(self):
        """A tangent of the first argument."""
        return tree.map(lambda x: numpy.cos(3 * x + 1), self.args[0])

    def __str__(self):
        return self.name


# ---- the programs ----


def mlp_loss(np, params, x, y):
    hidden = np.tanh(x @ params["hidden"][0] + params["hidden"][1])
    return np.mean((hidden @ params["out"][0] + params["out"][1] - y) ** 2)


def softmax_cross_entropy(np, logits, labels):
    shifted = logits - np.max(logits, axis=-1, keepdims=True)
    log_sum = np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))
    return -np.mean(np.sum(labels * (shifted - log_sum), axis=-1))


def polynomial(np, x):
    return 3 * x**3 - x**2 / 2 + 1.5 * x - 1


def logsumexp(np, x):
    top = x.max()
    return np.log(np.sum(np.exp(x - top))) + top


def matrix_chain(np, a, b, c):
    return np.sum(np.einsum("ij,jk,kl->il", a, b, c).T * np.sin(c[:1, :2]).sum())


def normalise(np, x, weights):
    centred = (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5)
    return np.sum(weights * centred)


def pieces(np, x):
    """Choose, slice, pad by concatenation, reverse, and compare."""
    bent = np.where(x > 0, np.log1p(np.abs(x)), x * x)
    moved = np.concatenate([bent[1:, ::-1], np.maximum(x, 0.5)[:1]])
    return np.sum(moved * np.clip(x, -1.0, 1.0)) + (x > 0).sum()


def _draw(*shape):
    size = int(numpy.prod(shape))
    return numpy.sin(numpy.arange(size) * 1.7 + size).reshape(shape).astype("float32")


PROGRAMS = [
    Program(
        "mlp_loss",
        mlp_loss,
        (
            {"hidden": (_draw(4, 5), _draw(5)), "out": (_draw(5, 2), _draw(2))},
            _draw(6, 4),
            _draw(6, 2),
        ),
    ),
    Program(
        "softmax_cross_entropy",
        softmax_cross_entropy,
        (_draw(4, 5), numpy.eye(5, dtype="float32")[[0, 2, 4, 2]]),
    ),
    Program("polynomial", polynomial, (numpy.float32(0.7),)),
    Program("logsumexp", logsumexp, (_draw(7) * 20,)),
    Program("matrix_chain", matrix_chain, (_draw(2, 4), _draw(4, 5), _draw(5, 2))),
    Program("normalise", normalise, (_draw(5, 4), _draw(5, 4))),
    Program("pieces", pieces, (_draw(4, 5) * 2,)),
]
QUICK = ("mlp_loss", "polynomial", "pieces")
"""A tree of parameters, a number, and operations that move and choose elements."""


def every_program(test):
    """Run a test over every program; slow, because JAX compiles its side."""
    programs = [p if p.name in QUICK else exhaustive(p)[0] for p in PROGRAMS]
    return pytest.mark.slow(pytest.mark.parametrize("program", programs, ids=str)(test))


# ---- the comparison ----


def agree(compose, program, args, operation="gradient"):
    """Assert that a composition of transforms gives the same as in JAX."""
    ours = compose(imprint, program.on(imprint))(*args)
    theirs = oracle.jit(compose(jax, program.on(jax)))(*args)
    got, want = jax.tree.leaves(ours), jax.tree.leaves(theirs)
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for a, b in zip(got, want, strict=True):
        assert a.weak_type == b.weak_type
        assert_close(a, b, operation)
