"""`jax.experimental.ode.odeint`: a Runge-Kutta method of adaptive steps, with its adjoint.

The method of Dormand and Prince has order 5 and an error of order 4; a polynomial of degree
4 gives the outputs between steps. Hairer, Nørsett and Wanner, Solving Ordinary Differential
Equations I, sections II.4 and II.5. The gradient integrates the adjoint equation backward.
"""

# Strict types would be Any in each place: trees of any kind.
# pyright: basic

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, Final, NamedTuple

import numpy as onp

import imprint.lax as lax
import imprint.numpy as np
from imprint._src.as_jax.jaxpr_functions import valid_jaxtype
from imprint._src.config import default_matmul_precision
from imprint._src.core.trace import current_trace
from imprint._src.custom_derivatives.reverse import custom_vjp
from imprint._src.errors import ArgumentError, DTypeError
from imprint._src.interpreters.derivatives import vjp
from imprint._src.interpreters.vmap import vmap
from imprint._src.jit.api import jit
from imprint.custom_derivatives import closure_convert
from imprint.flatten_util import ravel_pytree
from imprint.tree import leaves
from imprint.tree import map as tree_map

TIMES: Final = onp.array([1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])
STAGES: Final = onp.array(
    [
        [1 / 5, 0, 0, 0, 0, 0, 0],
        [3 / 40, 9 / 40, 0, 0, 0, 0, 0],
        [44 / 45, -56 / 15, 32 / 9, 0, 0, 0, 0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0, 0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0, 0],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0],
    ]
)
SOLUTION: Final = STAGES[-1]
EMBEDDED: Final = onp.array(
    [1951 / 21600, 0, 22642 / 50085, 451 / 720, -12231 / 42400, 649 / 6300, 1 / 60]
)
MIDDLE: Final = 0.5 * onp.array(
    [
        *(6025192743 / 30085553152, 0, 51252292925 / 65400821598),
        *(-2691868925 / 45128329728, 187940372067 / 1594534317056),
        *(-1776094331 / 19743644256, 11237099 / 235043384),
    ]
)


class Limits(NamedTuple):
    """The tolerances of an integration and the limits of its steps."""

    rtol: float
    atol: float
    mxstep: float
    hmax: float

    def ratio(self, error: Any, y: Any, new: Any) -> Any:
        """Return the root mean square of an error over what is tolerated."""
        tolerated = self.atol + self.rtol * np.maximum(np.abs(y), np.abs(new))
        return np.sqrt(np.mean(np.square(np.abs(error / tolerated))))


class SolverState(NamedTuple):
    """The solution at a time, the next step, and the last step's time and polynomial."""

    y: Any
    slope: Any
    t: Any
    step: Any
    last: Any
    polynomial: Any


def odeint(  # noqa: PLR0913 - JAX's signature
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: float = np.inf,
    hmax: float = np.inf,
) -> Any:
    """Return the solution of `dy/dt = func(y, t, *args)` at each time.

    Args:
      func: The derivative of the state, a tree like it.
      y0: The state at the first time, a tree of arrays.
      t: The times, which increase.
      args: Further arguments of `func`; gradients reach them, too.
      rtol: The tolerance of the error relative to the state.
      atol: The absolute tolerance of the error.
      mxstep: The most steps between two times.
      hmax: The longest step.

    Returns:
      A tree like the state, with an axis of the times in front.

    Raises:
      ArgumentError: If an argument of `func` is no array.
      DTypeError: If the times are no floats.
    """
    for x in leaves(args):
        if not valid_jaxtype(x):
            raise ArgumentError(
                f"odeint: expected arrays as arguments of func, got {x!r}"
            )
    if not np.issubdtype(t.dtype, np.floating):
        raise DTypeError(f"odeint: expected times that are floats, got {t.dtype}")
    limits = Limits(rtol, atol, mxstep, hmax)
    are_numbers = all(isinstance(x, int | float) for x in limits)
    if current_trace() is None and type(func) is FunctionType and are_numbers:
        return _solve_eagerly(func, limits, y0, t, *args)
    return _solve_tree(func, limits, y0, t, *args)


def _solve_tree(
    func: Callable[..., Any], limits: Limits, y0: Any, t: Any, *args: Any
) -> Any:
    """Return the solution at the times, a tree like the state."""
    with default_matmul_precision("highest"):
        converted, captured = closure_convert(func, y0, t[0], *args)
        y, unravel = ravel_pytree(y0)

        def slope(y: Any, t: Any, *rest: Any) -> Any:
            return ravel_pytree(converted(unravel(y), t, *rest))[0]

        return vmap(unravel)(_solve(slope, limits, y, t, *args, *captured))


_solve_eagerly: Final = jit(_solve_tree, static_argnums=(0, 1))
"""The same for a call outside of any trace, which traces an equal function once."""


@partial(custom_vjp, nondiff_argnums=(0, 1))
def _solve(
    slope: Callable[..., Any], limits: Limits, y0: Any, ts: Any, *args: Any
) -> Any:
    """Return the solution at the times, an array for each."""

    def fun(y: Any, t: Any) -> Any:
        return slope(y, t, *args)

    def to(state: SolverState, target: Any) -> tuple[SolverState, Any]:
        def going_on(numbered: Any) -> Any:
            i, at = numbered
            return (at.t < target) & (i < limits.mxstep) & (at.step > 0)

        _, state = lax.while_loop(
            going_on,
            lambda numbered: (numbered[0] + 1, _step(fun, limits, numbered[1])),
            (0, state),
        )
        share = (target - state.last) / (state.t - state.last)
        return state, np.polyval(state.polynomial, share.astype(state.polynomial.dtype))

    slope0 = fun(y0, ts[0])
    step = np.clip(_first_step(fun, limits, y0, ts[0], slope0), 0, limits.hmax)
    start = SolverState(y0, slope0, ts[0], step, ts[0], np.stack([y0] * 5))
    return np.concatenate([y0[None], lax.scan(to, start, ts[1:])[1]])


def _solve_fwd(
    slope: Callable[..., Any], limits: Limits, y0: Any, ts: Any, *args: Any
) -> tuple[Any, Any]:
    ys = _solve(slope, limits, y0, ts, *args)
    return ys, (ys, ts, args)


def _solve_bwd(
    slope: Callable[..., Any], limits: Limits, kept: Any, cts: Any
) -> tuple[Any, ...]:
    """Integrate the adjoint equation from each time to the one before."""
    ys, ts, args = kept

    def backward(state: Any, minus_t: Any, *args: Any) -> Any:
        y, ct, *_ = state
        dy, pull = vjp(slope, y, -minus_t, *args)
        return (-dy, *pull(ct))

    def to(carry: Any, i: Any) -> Any:
        y_ct, t0_ct, args_ct = carry
        t_ct = np.dot(slope(ys[i], ts[i], *args), cts[i]).real
        state = ys[i], y_ct, t0_ct - t_ct, *args_ct
        times = np.stack([-ts[i], -ts[i - 1]])
        found = odeint(backward, state, times, *args, **limits._asdict())
        _, y_ct, t0_ct, *args_ct = tree_map(lambda x: x[1], found)
        return (y_ct + cts[i - 1], t0_ct, tuple(args_ct)), t_ct

    start = cts[-1], np.zeros((), ts.dtype), tree_map(np.zeros_like, args)
    with default_matmul_precision("highest"):
        (y_ct, t0_ct, args_ct), ts_ct = lax.scan(
            to, start, np.arange(len(ts) - 1, 0, -1)
        )
    return y_ct, np.concatenate([t0_ct[None], ts_ct[::-1]]), *args_ct


_solve.defvjp(_solve_fwd, _solve_bwd)


def _first_step(
    fun: Callable[..., Any], limits: Limits, y: Any, t: Any, slope: Any
) -> Any:
    """Return the length of the first step, from the first two derivatives (II.4)."""
    scale = (limits.atol + np.abs(y) * limits.rtol).astype(y.dtype)
    size, speed = np.linalg.norm(y / scale), np.linalg.norm(slope / scale)
    tiny = (size < 1e-5) | (speed < 1e-5)
    h = np.where(tiny, 1e-6, 0.01 * size / speed)
    change = fun(y + h.astype(y.dtype) * slope, t + h) - slope
    bend = np.linalg.norm(change / scale) / h
    flat = (speed <= 1e-15) & (bend <= 1e-15)
    longer = (0.01 / np.maximum(speed, bend)) ** (1 / 5)
    return np.minimum(100 * h, np.where(flat, np.maximum(1e-6, h * 1e-3), longer))


def _step(fun: Callable[..., Any], limits: Limits, state: SolverState) -> SolverState:
    """Try a step; return the state after it, or the old one if the error is too large."""
    y, slope, t, step, _, _ = state
    h = step.astype(y.dtype)
    times, stages = (x.astype(d) for x, d in ((TIMES, step.dtype), (STAGES, y.dtype)))

    def stage(i: Any, slopes: Any) -> Any:
        at = y + h * np.dot(np.asarray(stages)[i], slopes)
        return slopes.at[i + 1].set(fun(at, t + step * np.asarray(times)[i]))

    first = np.zeros((7, y.size), y.dtype).at[0].set(slope)
    slopes = lax.fori_loop(0, 6, stage, first)

    def mix(weights: Any) -> Any:
        return h * np.dot(weights.astype(y.dtype), slopes)

    new = y + mix(SOLUTION)
    ratio = limits.ratio(mix(SOLUTION - EMBEDDED), y, new)
    polynomial = _polynomial(y, new, y + mix(MIDDLE), h * slope, h * slopes[-1])
    smallest = np.where(ratio < 1, 1.0, 0.2)
    factor = np.minimum(10.0, np.maximum(0.9 * ratio ** (-1 / 5), smallest))
    next_step = np.clip(np.where(ratio == 0, 10.0, factor) * step, 0, limits.hmax)
    taken = SolverState(new, slopes[-1], t + step, next_step, t, polynomial)
    stayed = state._replace(step=next_step)
    return SolverState(
        *(np.where(ratio <= 1, a, b) for a, b in zip(taken, stayed, strict=True))
    )


def _polynomial(y0: Any, y1: Any, middle: Any, d0: Any, d1: Any) -> Any:
    """Return the coefficients of degree 4 to 0 through three values and two slopes."""
    return np.stack(
        [
            2 * (d1 - d0) - 8 * (y0 + y1) + 16 * middle,
            5 * d0 - 3 * d1 + 18 * y0 + 14 * y1 - 32 * middle,
            d1 - 4 * d0 - 11 * y0 - 5 * y1 + 16 * middle,
            d0,
            y0,
        ]
    )
