"""`jax.example_libraries.optimizers`: optimizers as three functions on trees.

An optimizer is `(init, update, get_params)`; `update(step, gradients, state)`.
"""

# Strict types would be Any in each place: trees and layers of any kind.
# pyright: basic

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import imprint.numpy as np
from imprint._src.tree import internal as tree
from imprint.tree_util import tree_map

Schedule = Callable[[Any], Any]


class Optimizer(NamedTuple):
    """The functions of an optimizer."""

    init_fn: Callable[[Any], Any]
    update_fn: Callable[[Any, Any, Any], Any]
    params_fn: Callable[[Any], Any]


class OptimizerState(NamedTuple):
    """For each parameter its state: a tuple of trees like the parameters."""

    states: Any


def _each(
    init: Callable[[Any], tuple[Any, ...]],
    update: Callable[[Any, Any, tuple[Any, ...]], tuple[Any, ...]],
) -> Optimizer:
    """Return the optimizer that treats each array by itself; a state begins with it."""

    def init_fn(params: Any) -> OptimizerState:
        leaves, structure = tree.flatten(params)
        return OptimizerState(
            [tree.unflatten(structure, x) for x in zip(*map(init, leaves), strict=True)]
        )

    def update_fn(i: Any, grads: Any, state: OptimizerState) -> OptimizerState:
        structure = tree.structure(state.states[0])
        parts = zip(*map(tree.leaves, state.states), strict=True)
        leaves = zip(tree.leaves(grads), parts, strict=True)
        new = [update(i, g, tuple(part)) for g, part in leaves]
        return OptimizerState(
            [tree.unflatten(structure, x) for x in zip(*new, strict=True)]
        )

    return Optimizer(init_fn, update_fn, lambda state: state.states[0])


def make_schedule(step_size: Any) -> Schedule:
    """Return a step size as a function of the step."""
    return step_size if callable(step_size) else lambda _: step_size


def constant(step_size: Any) -> Schedule:
    """Return the schedule of one step size."""
    return lambda _: step_size


def exponential_decay(step_size: Any, decay_steps: Any, decay_rate: Any) -> Schedule:
    """Return `step_size * decay_rate ** (i / decay_steps)`."""
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(
    step_size: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False
) -> Schedule:
    """Return `step_size / (1 + decay_rate * i / decay_steps)`."""

    def schedule(i: Any) -> Any:
        part = np.floor(i / decay_steps) if staircase else i / decay_steps
        return step_size / (1 + decay_rate * part)

    return schedule


def sgd(step_size: Any) -> Optimizer:
    """Return gradient descent."""
    rate = make_schedule(step_size)
    return _each(lambda x: (x,), lambda i, g, s: (s[0] - rate(i) * g,))


def momentum(step_size: Any, mass: Any) -> Optimizer:
    """Return gradient descent with momentum."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, v = state
        v = mass * v + g
        return x - rate(i) * v, v

    return _each(lambda x: (x, np.zeros_like(x)), update)


def adagrad(step_size: Any, momentum: Any = 0.9) -> Optimizer:
    """Return AdaGrad with momentum."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, mean = state
        squares = squares + np.square(g)
        scale = np.where(squares > 0, 1.0 / np.sqrt(squares), 0.0)
        mean = (1.0 - momentum) * (g * scale) + momentum * mean
        return x - rate(i) * mean, squares, mean

    return _each(lambda x: (x, np.zeros_like(x), np.zeros_like(x)), update)


def rmsprop(step_size: Any, gamma: Any = 0.9, eps: Any = 1e-8) -> Optimizer:
    """Return RMSProp."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares = state
        squares = squares * gamma + np.square(g) * (1.0 - gamma)
        return x - rate(i) * g / np.sqrt(squares + eps), squares

    return _each(lambda x: (x, np.zeros_like(x)), update)


def rmsprop_momentum(
    step_size: Any, gamma: Any = 0.9, eps: Any = 1e-8, momentum: Any = 0.9
) -> Optimizer:
    """Return RMSProp with momentum."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, mean = state
        squares = squares * gamma + np.square(g) * (1.0 - gamma)
        mean = momentum * mean + rate(i) * g / np.sqrt(squares + eps)
        return x - mean, squares, mean

    return _each(lambda x: (x, np.zeros_like(x), np.zeros_like(x)), update)


def adam(step_size: Any, b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8) -> Optimizer:
    """Return Adam."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, v = state
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * np.square(g) + b2 * v
        mean = m / (1 - np.asarray(b1, m.dtype) ** (i + 1))
        square = v / (1 - np.asarray(b2, m.dtype) ** (i + 1))
        return x - rate(i) * mean / (np.sqrt(square) + eps), m, v

    return _each(lambda x: (x, np.zeros_like(x), np.zeros_like(x)), update)


def sm3(step_size: Any, momentum: Any = 0.9) -> Optimizer:
    """Return SM3: one accumulator for each slice along each axis."""
    rate = make_schedule(step_size)

    def init(x: Any) -> tuple[Any, ...]:
        slices = [np.zeros(n, x.dtype) for n in x.shape]
        return x, np.zeros_like(x), slices

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean, slices = state
        spread = [
            np.expand_dims(v, [a for a in range(x.ndim) if a != k])
            for k, v in enumerate(slices)
        ]
        least = functools.reduce(np.minimum, spread) + np.square(g)
        scale = np.where(least > 0, 1.0 / np.sqrt(least), 0.0)
        mean = (1.0 - momentum) * (g * scale) + momentum * mean
        axes = [tuple(a for a in range(x.ndim) if a != k) for k in range(x.ndim)]
        return x - rate(i) * mean, mean, [least.max(axis) for axis in axes]

    def init_fn(params: Any) -> Any:
        return tree.map(init, params), None

    def update_fn(i: Any, grads: Any, state: Any) -> Any:
        leaves, structure = tree.flatten(grads)
        parts = structure.flatten_up_to(state[0])
        new = [update(i, g, part) for g, part in zip(leaves, parts, strict=True)]
        return tree.unflatten(structure, new), None

    def get_params(state: Any) -> Any:
        return tree.map(lambda s: s[0], state[0], is_leaf=_is_state)

    return Optimizer(init_fn, update_fn, get_params)


def _is_state(x: Any) -> bool:
    return isinstance(x, tuple) and len(x) == 3 and isinstance(x[2], list)


def l2_norm(params: Any) -> Any:
    """Return the norm of all elements of a tree."""
    return np.sqrt(sum(np.vdot(x, x) for x in tree.leaves(params)))


def clip_grads(grads: Any, max_norm: Any) -> Any:
    """Return gradients scaled to a norm of at most `max_norm`."""
    norm = l2_norm(grads)
    return tree_map(
        lambda g: np.where(norm < max_norm, g, g * (max_norm / norm)), grads
    )
