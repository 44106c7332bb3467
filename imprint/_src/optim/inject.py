"""Hyperparameters as part of the state: change one between steps without a new trace.

`inject_hyperparams(adam)(learning_rate=1e-3)` is Adam with its numbers as leaves of its
state, in the dictionary `state.hyperparams`. A schedule among the arguments is
evaluated in each step; the dictionary holds its last value.
"""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import imprint.numpy as np
from imprint._src import dtypes
from imprint._src.core.array import Array, NumberArray
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ArgumentError
from imprint._src.numpy.promotion import is_operand
from imprint._src.optim.base import (
    GradientTransformation,
    check_state,
    first_count,
    like,
    safe_increment,
)
from imprint._src.tree import internal as tree
from imprint.tree import PyTree


class InjectHyperparamsState(NamedTuple):
    """The state of a transformation with injected hyperparameters.

    Attributes:
        count: the number of steps taken.
        hyperparams: the numbers of the last step; to change one, replace it by an array
            of the same dtype.
        inner_state: the state of the transformation.
    """

    count: Array  # pyright: ignore[reportIncompatibleMethodOverride] - optax's name
    hyperparams: dict[str, Array]
    inner_state: PyTree


def inject_hyperparams(
    inner_factory: Callable[..., GradientTransformation],
    static_args: str | Iterable[str] = (),
    hyperparam_dtype: DTypeLike | None = None,
) -> Callable[..., GradientTransformation]:
    """Return an optimizer's function that keeps its numbers in the state.

    Args:
        inner_factory: a function such as `adam`.
        static_args: names of parameters to pass on unchanged.
        hyperparam_dtype: the dtype of the numbers; None for that of the parameters.

    Returns:
        A function with the parameters of `inner_factory`. The state of its optimizers
        has the numbers, as a dictionary, in `hyperparams`.

    Raises:
        ArgumentError: a static argument is not a parameter of the function.

    References:
        Optax, `optax.inject_hyperparams`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> optimizer = optim.inject_hyperparams(optim.sgd)(learning_rate=0.5)
        >>> x = np.ones(1)
        >>> state = optimizer.init(x)
        >>> state.hyperparams["learning_rate"] = np.array(0.25, "float32")
        >>> optimizer.update(x, state)[0]
        Array([-0.25], dtype=float32)
    """
    signature = inspect.signature(inner_factory)
    static = {static_args} if isinstance(static_args, str) else set(static_args)
    unknown = sorted(static - set(signature.parameters))
    if unknown:
        raise ArgumentError(
            f"inject_hyperparams: expected static_args among {[*signature.parameters]}, "
            f"got {unknown}. Name parameters of the function that is wrapped."
        )

    @functools.wraps(inner_factory)
    def factory(*args: Any, **kwargs: Any) -> GradientTransformation:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments.items()
        moving = {k: v for k, v in given if k not in static and _may_move(v)}
        fixed = {k: v for k, v in given if k not in moving}
        make = functools.partial(inner_factory, **fixed)
        return _injected(make, moving, hyperparam_dtype)

    return factory


def _may_move(value: Any) -> bool:
    """Return whether an argument is a number or a schedule."""
    return callable(value) or (is_operand(value) and not isinstance(value, bool))


def _injected(
    make: Callable[..., GradientTransformation],
    moving: dict[str, Any],
    wanted: DTypeLike | None,
) -> GradientTransformation:
    schedules = {k: v for k, v in moving.items() if callable(v)}

    def init(params: PyTree) -> InjectHyperparamsState:
        count = first_count()
        values = moving | {k: schedule(count) for k, schedule in schedules.items()}
        dtype = _float_dtype(params) if wanted is None else wanted
        hyperparams = {k: _as_float(v, dtype) for k, v in values.items()}
        inner = make(**hyperparams).init(params)
        return InjectHyperparamsState(count, hyperparams, inner)

    def update(
        updates: PyTree, state: Any, params: PyTree | None = None
    ) -> tuple[PyTree, InjectHyperparamsState]:
        check_state("inject_hyperparams", state, InjectHyperparamsState)
        fresh = {k: schedule(state.count) for k, schedule in schedules.items()}
        new: dict[str, Array] = {
            k: like(fresh.get(k, old), old) for k, old in state.hyperparams.items()
        }
        updates, inner = make(**new).update(updates, state.inner_state, params)
        return updates, InjectHyperparamsState(safe_increment(state.count), new, inner)

    return GradientTransformation(init, update)


def _as_float(value: Any, dtype: DTypeLike) -> Array:
    """Return an array: floats in `dtype`; integers and typed arrays unchanged."""
    array = np.asarray(value)
    is_typed = isinstance(value, NumberArray) and not value.weak_type
    if is_typed or not dtypes.is_floating(array.dtype):
        return array
    return np.asarray(value, dtype)


def _float_dtype(params: PyTree) -> DTypeLike:
    leaves = tree.leaves(params)
    return dtypes.to_inexact(np.result_type(*leaves)) if leaves else np.float32
