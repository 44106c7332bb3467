"""The gradient transformation: a pair of pure functions on trees.

`init` makes a state from parameters; `update` takes gradients and a state and returns
updates and the next state. There is no other state, so both may be traced, and a state
is a tree that can be donated, saved and compared. A leaf of a state keeps its dtype and
weak type, so a training step is traced once. None in a tree of gradients means no
gradient, and is passed on.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias, overload

import imprint.numpy as np
from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ArgumentError
from imprint._src.module.edit import apply_updates as apply_updates
from imprint._src.module.edit import like as like
from imprint._src.module.filters import is_none as is_none
from imprint._src.numpy.promotion import ArrayLike, as_array, is_operand
from imprint._src.tree import internal as tree
from imprint.tree import PyTree

Schedule: TypeAlias = Callable[[ArrayLike], ArrayLike]
"""A function from the step count to a value."""
ScalarOrSchedule: TypeAlias = ArrayLike | Schedule


class Init(Protocol):
    """Creates the state of a transformation."""

    def __call__(self, params: PyTree) -> PyTree:
        """Return the initial state for these parameters."""
        ...


class Update(Protocol):
    """One step of a transformation."""

    def __call__(
        self, updates: PyTree, state: PyTree, params: PyTree | None = None
    ) -> tuple[PyTree, PyTree]:
        """Return the transformed updates and the next state."""
        ...


class GradientTransformation(NamedTuple):
    """An optimizer, or a part of one: how to compute updates from gradients.

    Attributes:
        init: creates the state from the parameters.
        update: takes gradients, the state and, if needed, the parameters; returns
            updates to add to the parameters and the next state.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> optimizer = optim.sgd(0.5)
        >>> params = {"w": np.array([1.0, 2.0])}
        >>> state = optimizer.init(params)
        >>> gradients = {"w": np.array([2.0, 0.0])}
        >>> updates, state = optimizer.update(gradients, state, params)
        >>> optim.apply_updates(params, updates)
        {'w': Array([0., 2.], dtype=float32)}
    """

    init: Init
    update: Update


class EmptyState(NamedTuple):
    """The state of a stateless transformation."""


def empty(params: PyTree) -> EmptyState:
    """Return the state of a stateless transformation."""
    del params
    return EmptyState()


def stateless(function: Callable[[PyTree, PyTree | None], PyTree]) -> Any:
    """Return the transformation that applies a function to updates and parameters."""

    def update(
        updates: PyTree, state: PyTree, params: PyTree | None = None
    ) -> tuple[PyTree, PyTree]:
        return function(updates, params), state

    return GradientTransformation(empty, update)


def check_state(name: str, state: PyTree, kind: type) -> None:
    """Raise ArgumentError unless a state has the type of a transformation's state."""
    if not isinstance(state, kind):
        raise ArgumentError(
            f"{name}: expected its own state, a {kind.__name__}, got "
            f"{type(state).__name__}. Pass what init or the last update of the same "
            "optimizer returned."
        )


def check_number(name: str, value: Any) -> None:
    """Raise ArgumentError unless a setting is a number or an array."""
    if not is_operand(value):
        raise ArgumentError(
            f"{name}: expected a number, an array or a schedule, got "
            f"{type(value).__name__} {value!r}. Convert it first: float(value)."
        )


# ---- trees of updates ----


@overload
def map_updates(function: Callable[[Any], Any], updates: PyTree) -> PyTree: ...
@overload
def map_updates(
    function: Callable[[Any, Any], Any], updates: PyTree, other: PyTree, /
) -> PyTree: ...
@overload
def map_updates(
    function: Callable[[Any, Any, Any], Any],
    updates: PyTree,
    second: PyTree,
    third: PyTree,
    /,
) -> PyTree: ...
def map_updates(function: Callable[..., Any], updates: PyTree, *rest: PyTree) -> PyTree:
    """Apply a function to each update and the matching leaves; None stays None."""

    def apply(g: Any, *others: Any) -> Any:
        return None if g is None else function(g, *others)

    return tree.map(apply, updates, *rest, is_leaf=is_none)


def updated_state(new: PyTree, old: PyTree) -> PyTree:
    """Return the new values of a state, with the avals of the old ones.

    If a new value is None, because there is no update, keep the old one.
    """

    def keep(value: Any, before: Any) -> Any:
        return before if value is None else like(value, before)

    return tree.map(keep, new, old, is_leaf=is_none)


def zeros_for(name: str, params: PyTree, dtype: DTypeLike | None = None) -> PyTree:
    """Return zeros with the shapes of parameters, in their dtypes or in `dtype`."""
    return filled_for(name, params, 0, dtype)


def filled_for(
    name: str, params: PyTree, value: ArrayLike, dtype: DTypeLike | None = None
) -> PyTree:
    """Return arrays with the shapes of parameters, each filled with one value."""

    def filled(path: tree.KeyPath, x: Any) -> Array:
        if not is_operand(x):
            raise ArgumentError(
                f"{name}: expected parameters that are arrays, got {type(x).__name__} at "
                f"params{tree.keystr(path)}. Pass only the arrays: "
                "init(imprint.filter(model, imprint.is_inexact_array))."
            )
        return np.full_like(x, value, dtype)

    return tree.map_with_path(filled, params)


def squared(x: Any) -> Array:
    """Return the square of the absolute value, which is real."""
    if dtypes.is_complex(as_array("optim", x).dtype):
        return np.real(np.conj(x) * x)
    return np.square(x)


# ---- counting steps ----


def first_count() -> Array:
    """Return the step count 0."""
    return np.zeros((), np.int32)


def safe_increment(count: ArrayLike) -> Array:
    """Return the step count plus 1; it stays at the largest number of its dtype.

    Args:
        count: an integer of rank 0.

    Returns:
        An array of the same dtype.

    References:
        Optax, `optax.safe_increment`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> optim.safe_increment(np.zeros((), np.int32))
        Array(1, dtype=int32)
    """
    count = as_array("safe_increment", count)
    largest = np.iinfo(count.dtype).max
    return np.where(count < largest, count + 1, largest)


# ---- applying updates ----


def global_norm(updates: PyTree) -> Array:
    """Return the Euclidean norm of all leaves of a tree as one vector.

    Args:
        updates: a pytree of arrays.

    Returns:
        A float of rank 0; 0 for a tree without leaves.

    References:
        Optax, `optax.global_norm`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> optim.global_norm({"a": np.array([3.0]), "b": np.array(4.0)})
        Array(5., dtype=float32)
    """
    return np.sqrt(sum((np.sum(squared(x)) for x in tree.leaves(updates)), 0.0))
