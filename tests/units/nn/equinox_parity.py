"""Build and call a layer of imprint and Equinox's of the same name.

Both get the same key, so their parameters are the same numbers; then the same input, and
results and gradients are compared. `equinox.nn` is the oracle of layers as `jax.nn` is
that of functions.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from imprint import module, nn, random
from imprint.module import combine, is_array, is_inexact_array, partition
from tests import oracle
from tests.units.optim.same_leaves import same_leaves


class Side(NamedTuple):
    """The names of a case, on one of the two sides."""

    nn: Any  # layers
    jnn: Any  # functions
    np: Any
    transforms: Any
    modules: Any
    jit: Any
    key: Any


OURS = Side(nn, nn, inp, imprint, module, imprint.jit, random.key(7))
THEIRS = Side(eqx.nn, jax.nn, jnp, jax, eqx, oracle.jit, jax.random.key(7))


def numbers(*shape, dtype="float32", seed=0):
    """Return numbers about zero, as a NumPy array."""
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def same_parameters(make):
    """Assert that both sides make the same parameters, and return both models."""
    got, want = make(OURS), make(THEIRS)
    same_leaves(
        partition(got, is_array)[0], eqx.partition(want, eqx.is_array)[0], "elementwise"
    )
    return got, want


def same_calls(make, call, *inputs):
    """Assert that results agree, and the gradients of a weighted sum of them."""
    ours, theirs = same_parameters(make)
    arrays, rest = partition(ours, is_inexact_array)

    def our_loss(arrays, *xs):
        out = call(combine(arrays, rest), *xs)
        return _weighted(inp, imprint.tree.leaves(out)), out

    def their_loss(model, *xs):
        out = call(model, *xs)
        return _weighted(jnp, jax.tree.leaves(out)), out

    (_, got), got_grad = imprint.value_and_grad(our_loss, has_aux=True)(
        arrays, *map(inp.asarray, inputs)
    )
    (_, want), want_grad = oracle.jit(
        lambda *xs: eqx.filter_value_and_grad(their_loss, has_aux=True)(theirs, *xs)
    )(*inputs)
    same_leaves(got, want, "program")
    same_leaves(got_grad, want_grad)


def _weighted(numpy, outs):
    return sum(
        numpy.sum(out.ravel() * numbers(out.size, dtype=out.dtype, seed=i + 1))
        for i, out in enumerate(outs)
    )
