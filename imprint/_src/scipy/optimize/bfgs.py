"""The BFGS method, which updates an estimate of the inverse Hessian.

Nocedal and Wright, Numerical Optimization, algorithm 6.1. The estimate is updated by
products of vectors, so a step takes n**2 operations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.lax.loops import while_loop
from imprint._src.scipy.optimize.line_search import dot, evaluate, line_search


@dataclass(frozen=True)
class BfgsOptions:
    """The options of "BFGS"."""

    maxiter: Any = None
    norm: Any = float("inf")
    gtol: Any = 1e-5
    line_search_maxiter: Any = 10


class BfgsState(NamedTuple):
    """The state of the iteration."""

    x: Array
    value: Array
    gradient: Array
    inverse: Array
    former: Array
    converged: Any
    failed: Any
    status: Any
    steps: Any
    evaluations: Any


def minimize_bfgs(
    fun: Callable[[Array], Any], x: Array, options: BfgsOptions
) -> BfgsState:
    """Minimize a function.

    Args:
        fun: a function from vectors like `x` to a real number.
        x: the starting point.
        options: the stopping criteria.
    """
    most = 200 * x.size if options.maxiter is None else options.maxiter

    def is_flat(gradient: Array) -> Array:
        return np.linalg.norm(gradient, options.norm) < options.gtol

    def goes_on(state: BfgsState) -> Any:
        return ~state.converged & ~state.failed & (state.steps < most)

    def step(state: BfgsState) -> BfgsState:
        direction = -dot(state.inverse, state.gradient)
        slope = dot(state.gradient, direction)
        guess = 2.02 * (state.value - state.former) / slope
        found = line_search(
            fun,
            state.x,
            direction,
            (state.value, state.gradient),
            np.where((guess > 0) & (guess < 1), guess, 1.0).astype(x.dtype),
            options.line_search_maxiter,
        )
        converged = is_flat(found.point.gradient)
        moved = found.point.step * direction
        turned = found.point.gradient - state.gradient
        return BfgsState(
            x=state.x + moved,
            value=found.point.value,
            gradient=found.point.gradient,
            inverse=_updated(state.inverse, moved, turned),
            former=state.value,
            converged=converged,
            failed=found.failed & ~converged,
            status=found.status,
            steps=state.steps + 1,
            evaluations=state.evaluations + found.evaluations,
        )

    value, gradient = evaluate(fun, x)
    state = BfgsState(
        x=x,
        value=value,
        gradient=gradient,
        inverse=np.eye(x.size, dtype=x.dtype),
        former=(value + np.linalg.norm(gradient) / 2).astype(value.dtype),
        converged=is_flat(gradient),
        failed=np.zeros((), bool),
        status=0,
        steps=0,
        evaluations=1,
    )
    state = while_loop(goes_on, step, state)
    stopped = np.where(state.failed, 2 + state.status, -1)
    stopped = np.where(state.steps == most, 1, stopped)
    return state._replace(status=np.where(state.converged, 0, stopped))


def _updated(inverse: Array, moved: Array, turned: Array) -> Array:
    """Update the estimate by a step and the change of the gradient."""
    scale = 1 / dot(turned, moved)
    pulled = dot(inverse, turned)
    cross = np.outer(pulled, moved)
    along = (1 + scale * dot(turned, pulled)) * np.outer(moved, moved)
    new = inverse + scale * (along - cross - cross.T)
    return np.where(np.isfinite(scale), new, inverse)
