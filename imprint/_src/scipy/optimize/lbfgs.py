"""The L-BFGS method: the inverse Hessian follows from the last few steps.

Nocedal and Wright, Numerical Optimization, algorithm 7.5. Steps that were not taken yet
are zeros in the history, without effect.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.lax.loops import scan, while_loop
from imprint._src.scipy.optimize.line_search import dot, evaluate, line_search

_INF = float("inf")


@dataclass(frozen=True)
class LbfgsOptions:
    """The options of "L-BFGS"."""

    maxiter: Any = None
    norm: Any = _INF
    maxcor: int = 10
    ftol: Any = 2.220446049250313e-09
    gtol: Any = 1e-5
    maxfun: Any = None
    maxgrad: Any = None
    maxls: Any = 20


class _History(NamedTuple):
    moved: Array
    turned: Array
    scale: Array
    size: Array


class LbfgsState(NamedTuple):
    """The state of the iteration."""

    x: Array
    value: Array
    gradient: Array
    history: _History
    converged: Any
    failed: Any
    status: Any
    steps: Any
    evaluations: Any


def minimize_lbfgs(
    fun: Callable[[Array], Any], x: Array, options: LbfgsOptions
) -> LbfgsState:
    """Minimize a function.

    Args:
        fun: a function from vectors like `x` to a real number.
        x: the starting point.
        options: the stopping criteria, and the length of the history.
    """
    limits = options.maxiter, options.maxfun, options.maxgrad
    if limits == (None, None, None):
        limits = (200 * x.size, None, None)
    most, most_values, most_gradients = [_INF if m is None else m for m in limits]

    def goes_on(state: LbfgsState) -> Any:
        return ~state.converged & ~state.failed

    def step(state: LbfgsState) -> LbfgsState:
        direction = _direction(state.history, state.gradient)
        here = (state.value, state.gradient)
        one = np.ones((), x.dtype)
        found = line_search(fun, state.x, direction, here, one, options.maxls)
        point = found.point
        reasons = (
            (state.value - point.value < options.ftol, 4),
            (state.evaluations >= most_gradients, 3),
            (state.evaluations >= most_values, 2),
            (state.steps >= most, 1),
            (found.failed, 5),
        )
        status = 0
        for holds, reason in reasons:
            status = np.where(holds, reason, status)
        converged = np.linalg.norm(point.gradient, options.norm) < options.gtol
        moved = point.step * direction
        return LbfgsState(
            x=state.x + moved,
            value=point.value,
            gradient=point.gradient,
            history=_longer(state.history, moved, point.gradient - state.gradient),
            converged=converged,
            failed=(status > 0) & ~converged,
            status=np.where(converged, 0, status),
            steps=state.steps + 1,
            evaluations=state.evaluations + found.evaluations,
        )

    value, gradient = evaluate(fun, x)
    nothing = np.zeros((options.maxcor, x.size), x.dtype)
    no = np.zeros((), bool)
    history = _History(nothing, nothing, nothing[:, 0], np.ones((), x.dtype))
    state = LbfgsState(x, value, gradient, history, no, no, 0, 0, 1)
    return while_loop(goes_on, step, state)


def _direction(history: _History, gradient: Array) -> Array:
    """Return the product of the inverse Hessian and the negative gradient."""

    def back(vector: Array, one: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        moved, turned, scale = one
        share = scale * dot(moved, vector)
        return vector - share * turned, share

    def forth(vector: Array, one: Any) -> tuple[Array, None]:
        (moved, turned, scale), share = one
        return vector + (share - scale * dot(turned, vector)) * moved, None

    steps = (history.moved, history.turned, history.scale)
    vector, shares = scan(back, -gradient, steps, reverse=True)
    return scan(forth, history.size * vector, (steps, shares))[0]


def _longer(history: _History, moved: Array, turned: Array) -> _History:
    """Return the history shifted by a new step; unchanged if its curvature is 0."""
    product = dot(moved, turned)
    says = product != 0

    def entered(rows: Array, new: Array) -> Array:
        return np.where(says, np.concatenate([rows[1:], new[None]]), rows)

    safe = np.where(says, product, 1)
    return _History(
        entered(history.moved, moved),
        entered(history.turned, turned),
        entered(history.scale, 1 / safe),
        np.where(says, safe / dot(turned, turned), history.size),
    )
