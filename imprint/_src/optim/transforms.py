"""Parts of optimizers: scaling, momentum, clipping, weight decay, and chains of them.

Names, arguments and states are optax's. Each part changes updates independently of the
parts before and after; `chain` orders them. Parts that use averages of gradients are in
`moments`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ArgumentError
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.optim.base import (
    GradientTransformation,
    ScalarOrSchedule,
    Schedule,
    check_number,
    check_state,
    empty,
    first_count,
    global_norm,
    map_updates,
    safe_increment,
    stateless,
    updated_state,
    zeros_for,
)
from imprint._src.tree import internal as tree
from imprint.tree import PyTree

# ---- composing ----


def identity() -> GradientTransformation:
    """Return the identity transformation.

    Example:
        >>> from imprint import optim
        >>> optim.identity().update([1.0], optim.EmptyState())
        ([1.0], EmptyState())
    """
    return stateless(lambda updates, params: updates)


def set_to_zero() -> GradientTransformation:
    """Return the transformation that sets every update to zero.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> optim.set_to_zero().update([np.ones(2)], optim.EmptyState())[0]
        [Array([0., 0.], dtype=float32)]
    """
    return stateless(lambda updates, params: map_updates(np.zeros_like, updates))


def chain(*args: GradientTransformation) -> GradientTransformation:
    """Return the composition of transformations in sequence.

    Args:
        args: transformations; the updates of one are the gradients of the next.

    Returns:
        A transformation: a pair of the functions `init` and `update`. Its state is a
        tuple of theirs.

    Raises:
        ArgumentError: an argument is not a transformation.

    References:
        Optax, `optax.chain`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> optimizer = optim.chain(optim.clip(1.0), optim.scale(-0.1))
        >>> updates, _ = optimizer.update([np.array([5.0])], optimizer.init([1.0]))
        >>> updates
        [Array([-0.1], dtype=float32)]
    """
    for i, part in enumerate(args):
        if not (hasattr(part, "init") and hasattr(part, "update")):
            raise ArgumentError(
                "chain: expected transformations, each by itself, got "
                f"{type(part).__name__} {part!r} as argument {i}. Write chain(first, "
                "second), and call what makes one: clip(1.0)."
            )

    def init(params: PyTree) -> PyTree:
        return tuple(part.init(params) for part in args)

    def update(
        updates: PyTree, state: PyTree, params: PyTree | None = None
    ) -> tuple[PyTree, PyTree]:
        if len(state) != len(args):
            raise ArgumentError(
                f"chain: expected a state with {len(args)} parts, one for each "
                f"transformation, got {len(state)}. Make it with init of this chain."
            )
        after: list[PyTree] = []
        for part, before in zip(args, state, strict=True):
            updates, new = part.update(updates, before, params)
            after.append(new)
        return updates, tuple(after)

    return GradientTransformation(init, update)


class MaskedNode(NamedTuple):
    """The placeholder of a masked parameter: a tree without leaves."""


class MaskedState(NamedTuple):
    """The state of `masked`.

    Attributes:
        inner_state: the state of the transformation, for the unmasked parameters.
    """

    inner_state: PyTree


def masked(
    inner: GradientTransformation, mask: PyTree | Callable[[PyTree], PyTree]
) -> GradientTransformation:
    """Return the transformation applied to some of the updates.

    Args:
        inner: the transformation.
        mask: a tree of bools that is a prefix of the parameters, or a function from
            parameters to such a tree. Updates where it is False stay unchanged.

    Returns:
        A transformation: a pair of the functions `init` and `update`.

    References:
        Optax, `optax.masked`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> half = optim.masked(optim.scale(0.5), {"w": True, "b": False})
        >>> params = {"w": np.ones(1), "b": np.ones(1)}
        >>> half.update(params, half.init(params))[0]
        {'b': Array([1.], dtype=float32), 'w': Array([0.5], dtype=float32)}
    """

    def init(params: PyTree) -> MaskedState:
        return MaskedState(inner.init(_hide(_mask_of(mask, params), params)))

    def update(
        updates: PyTree, state: Any, params: PyTree | None = None
    ) -> tuple[PyTree, MaskedState]:
        check_state("masked", state, MaskedState)
        chosen = _mask_of(mask, updates)
        shown = None if params is None else _hide(chosen, params)
        new, after = inner.update(_hide(chosen, updates), state.inner_state, shown)
        return tree.map(_choose, chosen, new, updates), MaskedState(after)

    return GradientTransformation(init, update)


def _mask_of(mask: Any, params: PyTree) -> PyTree:
    # A Module of bools may have a `__call__`; a function is its own only leaf.
    leaves = tree.leaves(mask)
    return mask(params) if leaves and all(map(callable, leaves)) else mask


def _hide(mask: PyTree, values: PyTree) -> PyTree:
    def hide(chosen: Any, value: Any) -> Any:
        return value if chosen else MaskedNode()

    return tree.map(hide, mask, values)


def _choose(chosen: Any, new: Any, old: Any) -> Any:
    return new if chosen else old


# ---- scaling ----


def scale(step_size: ArrayLike) -> GradientTransformation:
    """Return the transformation that multiplies updates by a number.

    Args:
        step_size: the factor, a number.

    Returns:
        A transformation: a pair of the functions `init` and `update`.

    References:
        Optax, `optax.scale`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> optim.scale(2.0).update([np.ones(2)], optim.EmptyState())[0]
        [Array([2., 2.], dtype=float32)]
    """
    check_number("scale", step_size)
    return stateless(
        lambda updates, params: map_updates(lambda g: step_size * g, updates)
    )


class ScaleByScheduleState(NamedTuple):
    """The state of `scale_by_schedule`.

    Attributes:
        count: the number of steps taken.
    """

    count: Array  # pyright: ignore[reportIncompatibleMethodOverride] - optax's name


def scale_by_schedule(step_size_fn: Schedule) -> GradientTransformation:
    """Return the transformation that multiplies updates by the value of a schedule.

    Args:
        step_size_fn: the schedule; the state counts its steps.

    Returns:
        A transformation: a pair of the functions `init` and `update`.

    References:
        Optax, `optax.scale_by_schedule`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> part = optim.scale_by_schedule(optim.linear_schedule(1.0, 0.0, 2))
        >>> updates, state = part.update([np.ones(1)], part.init([np.ones(1)]))
        >>> part.update(updates, state)[0]
        [Array([0.5], dtype=float32)]
    """

    def init(params: PyTree) -> ScaleByScheduleState:
        del params
        return ScaleByScheduleState(first_count())

    def update(
        updates: PyTree, state: Any, params: PyTree | None = None
    ) -> tuple[PyTree, ScaleByScheduleState]:
        del params
        check_state("scale_by_schedule", state, ScaleByScheduleState)
        size = np.asarray(step_size_fn(state.count))
        scaled = map_updates(lambda g: np.astype(size, g.dtype) * g, updates)
        return scaled, ScaleByScheduleState(safe_increment(state.count))

    return GradientTransformation(init, update)


def scale_by_learning_rate(
    learning_rate: ScalarOrSchedule | None = None, *, flip_sign: bool = True
) -> GradientTransformation:
    """Return the transformation that multiplies updates by a negative step size.

    Args:
        learning_rate: a number, a schedule, or None for no change.
        flip_sign: whether to negate the step size.

    Returns:
        A transformation: a pair of the functions `init` and `update`.

    References:
        Optax, `optax.scale_by_learning_rate`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> part = optim.scale_by_learning_rate(0.5)
        >>> part.update([np.ones(1)], part.init([np.ones(1)]))[0]
        [Array([-0.5], dtype=float32)]
    """
    sign: Any = -1 if flip_sign else 1
    if learning_rate is None:
        return identity()
    if callable(learning_rate):
        schedule = learning_rate
        return scale_by_schedule(lambda count: sign * schedule(count))
    check_number("learning_rate", learning_rate)
    return scale(sign * learning_rate)


# ---- momentum ----


class TraceState(NamedTuple):
    """The state of `trace`.

    Attributes:
        trace: the decaying sum of all updates.
    """

    trace: PyTree


def trace(
    decay: ArrayLike,
    *,
    nesterov: bool = False,
    accumulator_dtype: DTypeLike | None = None,
) -> GradientTransformation:
    """Return the transformation that accumulates a decaying sum of updates: momentum.

    Args:
        decay: the decay rate of the sum.
        nesterov: whether to use Nesterov momentum.
        accumulator_dtype: the dtype of the sum, if not that of the parameters.

    Returns:
        A transformation: a pair of the functions `init` and `update`.

    References:
        Polyak, "Some methods of speeding up the convergence of iteration methods",
        1964.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> part = optim.trace(0.5)
        >>> updates, state = part.update([np.ones(1)], part.init([np.ones(1)]))
        >>> part.update([np.ones(1)], state)[0]
        [Array([1.5], dtype=float32)]
    """

    def init(params: PyTree) -> TraceState:
        return TraceState(zeros_for("trace", params, accumulator_dtype))

    def add(g: Any, old: Any) -> Any:
        return g + decay * old

    def update(
        updates: PyTree, state: Any, params: PyTree | None = None
    ) -> tuple[PyTree, TraceState]:
        del params
        check_state("trace", state, TraceState)
        new = map_updates(add, updates, state.trace)
        moved = map_updates(add, updates, new) if nesterov else new
        return moved, TraceState(updated_state(new, state.trace))

    return GradientTransformation(init, update)


# ---- clipping ----


def clip(max_delta: ArrayLike) -> GradientTransformation:
    """Return the transformation that clips each element of the updates.

    Args:
        max_delta: the largest absolute value.

    Returns:
        A transformation: a pair of the functions `init` and `update`.

    References:
        Optax, `optax.clip`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> part = optim.clip(1.0)
        >>> part.update([np.array([-3.0, 0.5])], part.init([np.ones(2)]))[0]
        [Array([-1. ,  0.5], dtype=float32)]
    """
    limit: Any = max_delta
    return stateless(
        lambda updates, params: map_updates(
            lambda g: np.clip(g, -limit, limit), updates
        )
    )


def clip_by_global_norm(max_norm: ArrayLike) -> GradientTransformation:
    """Return the transformation that scales updates down to a maximum global norm.

    Args:
        max_norm: the maximum norm of all updates together.

    Returns:
        A transformation: a pair of the functions `init` and `update`.

    References:
        Pascanu, Mikolov and Bengio, "On the difficulty of training Recurrent Neural
        Networks", 2012.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> part = optim.clip_by_global_norm(1.0)
        >>> part.update([np.array([3.0, 4.0])], part.init([np.ones(2)]))[0]
        [Array([0.6, 0.8], dtype=float32)]
    """

    def shorten(updates: PyTree, params: PyTree | None) -> PyTree:
        del params
        # Exactly 1 below the limit, and no division by the norm, which may be zero.
        factor = max_norm / np.maximum(global_norm(updates), max_norm)
        return map_updates(lambda g: g * np.astype(factor, g.dtype), updates)

    return stateless(shorten)


# ---- weight decay ----


class WeightDecaySchedule(NamedTuple):
    """The state of `add_decayed_weights` where the decay is a schedule.

    Attributes:
        count: the number of steps taken.
    """

    count: Array  # pyright: ignore[reportIncompatibleMethodOverride] - optax's name


def add_decayed_weights(
    weight_decay: ScalarOrSchedule = 0.0,
    mask: PyTree | Callable[[PyTree], PyTree] | None = None,
) -> GradientTransformation:
    """Return the transformation that adds a multiple of the parameters to the updates.

    Args:
        weight_decay: the factor, a number or a schedule.
        mask: which parameters decay, as in `masked`; None for all.

    Returns:
        A transformation: a pair of the functions `init` and `update`. Its `update`
        needs the parameters.

    References:
        Optax, `optax.add_decayed_weights`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> part = optim.add_decayed_weights(0.1)
        >>> params = [np.array([10.0])]
        >>> part.update([np.ones(1)], part.init(params), params)[0]
        [Array([2.], dtype=float32)]
    """
    schedule = weight_decay if callable(weight_decay) else None

    def init(params: PyTree) -> PyTree:
        return empty(params) if schedule is None else WeightDecaySchedule(first_count())

    def update(
        updates: PyTree, state: Any, params: PyTree | None = None
    ) -> tuple[PyTree, PyTree]:
        if params is None:
            raise ArgumentError(
                "add_decayed_weights: expected the parameters, got params=None. "
                "Call update(updates, state, params)."
            )
        factor: Any = weight_decay
        after = state
        if schedule is not None:
            check_state("add_decayed_weights", state, WeightDecaySchedule)
            factor = schedule(state.count)
            after = WeightDecaySchedule(safe_increment(state.count))
        return map_updates(lambda g, p: g + factor * p, updates, params), after

    part = GradientTransformation(init, update)
    return part if mask is None else masked(part, mask)
