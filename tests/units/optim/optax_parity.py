"""Run an optimizer of imprint and optax's of the same name on the same gradients.

Both start from one tree of parameters and take `STEPS` steps; the gradients are drawn by
NumPy. Leaves are compared with their key paths, so the layout of states is compared too.
"""

import jax
import numpy as np
import optax

import imprint
from imprint import optim, tree
from tests import oracle
from tests.units.optim.same_leaves import same_leaves

STEPS = 10


def draw(seed, dtype="float32"):
    """Return a tree of small numbers, about zero."""
    random = np.random.default_rng(seed)

    def normal(*shape):
        values = random.normal(size=shape) + 1j * random.normal(size=shape)
        return np.asarray(values if np.dtype(dtype).kind == "c" else values.real, dtype)

    return {"w": normal(3, 4), "b": [normal(4), normal()], "none": None}


def steps(package, optimizer, compiled, params, gradients):
    """Return the parameters and the state after one step for each gradient."""

    @compiled
    def step(params, state, gradient):
        updates, state = optimizer.update(gradient, state, params)
        return package.apply_updates(params, updates), state

    state = optimizer.init(params)
    for gradient in gradients:
        params, state = step(params, state, gradient)
    return params, state


def same_steps(make, dtype="float32", compiled=lambda step: step):
    """Assert that imprint and optax agree on parameters and states."""
    params, *gradients = (draw(seed, dtype) for seed in range(STEPS + 1))
    ours = tree.map(imprint.numpy.asarray, params)
    theirs = jax.tree.map(jax.numpy.asarray, params)
    same_leaves(
        steps(optim, make(optim), compiled, ours, gradients),
        steps(optax, make(optax), oracle.jit, theirs, gradients),
    )
