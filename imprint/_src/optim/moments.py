"""Transformations by moving averages of gradients: Adam's and RMSProp's.

Averages start at zero, and `bias_correction` corrects for it. Operations and their
order are optax's, so results agree up to rounding.
"""

from typing import Any, NamedTuple

import imprint.numpy as np
from imprint import lax
from imprint._src.core.array import Array
from imprint._src.dtypes import DTypeLike
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.optim.base import (
    GradientTransformation,
    check_state,
    filled_for,
    first_count,
    map_updates,
    safe_increment,
    squared,
    updated_state,
    zeros_for,
)
from imprint.tree import PyTree


class ScaleByAdamState(NamedTuple):
    """The state of `scale_by_adam`.

    Attributes:
        count: the number of steps taken.
        mu: the average of the gradients.
        nu: the average of their squares.
    """

    count: Array  # pyright: ignore[reportIncompatibleMethodOverride] - optax's name
    mu: PyTree
    nu: PyTree


def scale_by_adam(
    b1: ArrayLike = 0.9,
    b2: ArrayLike = 0.999,
    eps: ArrayLike = 1e-8,
    eps_root: ArrayLike = 0.0,
    mu_dtype: DTypeLike | None = None,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Return Adam's transformation: the average gradient over the root of its square.

    Args:
        b1: the decay rate of the average of gradients.
        b2: the decay rate of the average of squares.
        eps: added to the root, against division by zero.
        eps_root: added below the root.
        mu_dtype: the dtype of the average of gradients, if not that of the parameters.
        nesterov: whether to use Nesterov momentum.

    Returns:
        A transformation: a pair of the functions `init` and `update`.

    References:
        Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2014.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> part = optim.scale_by_adam()
        >>> part.update([np.array([4.0, -9.0])], part.init([np.ones(2)]))[0]
        [Array([ 0.999..., -0.999...], dtype=float32)]
    """

    def init(params: PyTree) -> ScaleByAdamState:
        mu = zeros_for("scale_by_adam", params, mu_dtype)
        return ScaleByAdamState(first_count(), mu, zeros_for("scale_by_adam", params))

    def step(g: Any, mu: Any, nu: Any, count: Array) -> Any:
        mean = bias_correction(mu, b1, count)
        if nesterov:
            ahead = bias_correction(mu, b1, safe_increment(count))
            mean = average(bias_correction(g, b1, count), ahead, b1)
        return mean / (np.sqrt(bias_correction(nu, b2, count) + eps_root) + eps)

    def update(
        updates: PyTree, state: Any, params: PyTree | None = None
    ) -> tuple[PyTree, ScaleByAdamState]:
        del params
        check_state("scale_by_adam", state, ScaleByAdamState)
        count = safe_increment(state.count)
        mu = map_updates(lambda g, old: average(g, old, b1), updates, state.mu)
        nu = map_updates(lambda g, old: average(squared(g), old, b2), updates, state.nu)
        scaled = map_updates(lambda g, m, n: step(g, m, n, count), updates, mu, nu)
        return scaled, ScaleByAdamState(
            count, updated_state(mu, state.mu), updated_state(nu, state.nu)
        )

    return GradientTransformation(init, update)


# ---- RMSProp ----


class ScaleByRmsState(NamedTuple):
    """The state of `scale_by_rms`.

    Attributes:
        nu: the average of the squares of the gradients.
    """

    nu: PyTree


def scale_by_rms(
    decay: ArrayLike = 0.9,
    eps: ArrayLike = 1e-8,
    initial_scale: ArrayLike = 0.0,
    *,
    eps_in_sqrt: bool = True,
) -> GradientTransformation:
    """Return RMSProp's transformation: the gradient over the root of its mean square.

    Args:
        decay: the decay rate of the average of squares.
        eps: added against division by zero.
        initial_scale: the first value of the average.
        eps_in_sqrt: whether to add `eps` below the root, not to it.

    Returns:
        A transformation: a pair of the functions `init` and `update`.

    References:
        Tieleman and Hinton, "Lecture 6.5: RMSProp", 2012.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> part = optim.scale_by_rms(decay=0.75)
        >>> part.update([np.array([3.0, -5.0])], part.init([np.ones(2)]))[0]
        [Array([ 2., -2.], dtype=float32)]
    """

    def init(params: PyTree) -> ScaleByRmsState:
        return ScaleByRmsState(filled_for("scale_by_rms", params, initial_scale))

    def step(g: Any, nu: Any) -> Any:
        if eps_in_sqrt:
            return lax.rsqrt(nu + eps) * g
        return 1 / (np.sqrt(nu) + eps) * g

    def update(
        updates: PyTree, state: Any, params: PyTree | None = None
    ) -> tuple[PyTree, ScaleByRmsState]:
        del params
        check_state("scale_by_rms", state, ScaleByRmsState)
        nu = map_updates(
            lambda g, old: average(squared(g), old, decay), updates, state.nu
        )
        return map_updates(step, updates, nu), ScaleByRmsState(
            updated_state(nu, state.nu)
        )

    return GradientTransformation(init, update)


# ---- averages ----


def average(x: Any, old: Any, decay: Any) -> Any:
    """Return the next average: `decay` times the old one, the rest of `x`."""
    return (1 - decay) * x + decay * old


def bias_correction(moment: Any, decay: Any, count: Array) -> Any:
    """Return an average corrected for its start at zero."""
    return moment / np.astype(1 - decay**count, moment.dtype)
