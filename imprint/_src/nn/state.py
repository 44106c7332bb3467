"""Explicit state of layers such as BatchNorm, passed from call to call.

A layer holds a `StateIndex` for each value. `make_with_state` creates a model and the
`State` of all its indices, by their positions in the model; the model itself holds no
values. Each call takes a `State` and returns the next one. The old one cannot be used
again, so no update is lost.
"""

from collections.abc import Callable
from typing import Any, Final, Generic, ParamSpec, TypeVar, final

import imprint.numpy as np
from imprint._src.core.aval import get_aval
from imprint._src.errors import ArgumentError
from imprint._src.tree import internal as tree
from imprint.module import Module, field, tree_at, tree_pformat

Value = TypeVar("Value")
P = ParamSpec("P")
T = TypeVar("T")


class _Gone(Module):
    """The placeholder of an initial value of a state."""


_GONE: Final = _Gone()


class StatefulLayer(Module):
    """A layer that takes a state, and returns its result and the next state."""

    def is_stateful(self) -> bool:
        """Return whether the layer is called with a state."""
        return True


class StateIndex(Module, Generic[Value]):
    """A reference to a value of a `State`; created with the initial value.

    Attributes:
        marker: the position of the index in the model, after `make_with_state`.
        init: the initial value, before that.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> class Counter(imprint.Module):
        ...     count: nn.StateIndex
        ...
        ...     def __init__(self):
        ...         self.count = nn.StateIndex(np.array(0))
        ...
        ...     def __call__(self, x, state):
        ...         seen = state.get(self.count) + 1
        ...         return x * seen, state.set(self.count, seen)
        >>> counter, state = nn.make_with_state(Counter)()
        >>> _, state = counter(10, state)
        >>> int(counter(10, state)[0])
        20
    """

    marker: Any = field(static=True)
    init: Any

    def __init__(self, init: Value) -> None:
        """Store the initial value: a tree of arrays."""
        if callable(init) and not isinstance(init, Module):
            raise ArgumentError(
                f"StateIndex: expected the first value, got the function {init!r}. Call "
                "it, and pass what it returns."
            )
        self.marker = object()
        self.init = init


def _is_index(x: Any) -> bool:
    return isinstance(x, StateIndex)


@final
class State:
    """The values of all indices of a model; immutable: an update returns a new one.

    Example:
        >>> from imprint import nn
        >>> model, state = nn.make_with_state(nn.BatchNorm)(3, "batch", mode="batch")
        >>> int(state.get(model.batch_counter))
        0
    """

    def __init__(self, model: Any) -> None:
        """Collect the initial values of a model; called by `make_with_state`."""
        values: dict[Any, Any] = {}
        for leaf in tree.leaves(model, is_leaf=_is_index):
            if isinstance(leaf, StateIndex):
                if isinstance(leaf.init, _Gone):
                    raise ArgumentError(
                        "State: expected a model that still has its first values, got one "
                        "that make_with_state made. Use the state that it made, too."
                    )
                values[leaf.marker] = tree.map(np.asarray, leaf.init)
        self._values: dict[Any, Any] | None = values

    def get(self, item: StateIndex[Value]) -> Value:
        """Return the value of an index."""
        return self._held()[_marker("get", item)]

    def set(self, item: StateIndex[Value], value: Value) -> "State":
        """Return a state with a value of the same shapes; invalidates this one."""
        values = {**self._held()}
        marker = _marker("set", item)
        new = tree.map(np.asarray, value)
        if _kinds(values[marker]) != _kinds(new):
            raise ArgumentError(
                "State.set: expected a value of the structure, shapes and dtypes of the "
                f"old one, {tree_pformat(values[marker])}, got {tree_pformat(new)}."
            )
        values[marker] = new
        return self._next(values)

    def substate(self, pytree: Any) -> "State":
        """Return the state of a part of the model."""
        values = self._held()
        leaves = tree.leaves(pytree, is_leaf=_is_index)
        markers = [x.marker for x in leaves if isinstance(x, StateIndex)]
        return _from_values({marker: values[marker] for marker in markers})

    def update(self, substate: "State") -> "State":
        """Return a state with the values of a part of it; invalidates this one."""
        values = {**self._held()}
        if type(substate) is not State:
            raise ArgumentError(
                f"State.update: expected a State, got {substate!r:.60}. Make it with "
                "state.substate(part)."
            )
        own = substate._held()
        if not own.keys() <= values.keys():
            raise ArgumentError(
                "State.update: expected a state of a part of the model, got one with the "
                f"further indices {sorted(map(str, own.keys() - values.keys()))}."
            )
        return self._next(values | own)

    def _held(self) -> dict[Any, Any]:
        if self._values is None:
            raise ArgumentError(
                "State: expected the newest state, got one that was updated. Go on with "
                "what the update returned: `x, state = layer(x, state)`."
            )
        return self._values

    def _next(self, values: dict[Any, Any]) -> "State":
        self._values = None
        return _from_values(values)

    def __repr__(self) -> str:
        if self._values is None:
            return "State(~old~)"
        held = ", ".join(f"{k}={tree_pformat(v)}" for k, v in self._values.items())
        return f"State({held})"

    def tree_flatten(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the values, and the positions of their indices."""
        values = self._held()
        return tuple(values.values()), tuple(values)

    @classmethod
    def tree_unflatten(cls, keys: Any, values: Any) -> "State":
        """Return a state of these values."""
        return _from_values(dict(zip(keys, values, strict=True)))


tree.register_pytree_node(State, State.tree_flatten, State.tree_unflatten)


def _from_values(values: dict[Any, Any]) -> State:
    state = object.__new__(State)
    state._values = values  # pyright: ignore[reportPrivateUsage] - its own constructor
    return state


def _marker(name: str, item: Any) -> Any:
    if type(item) is not StateIndex:
        raise ArgumentError(
            f"State.{name}: expected a StateIndex, got {item!r:.60}. Keep one as a field "
            "of the layer."
        )
    return item.marker


def _kinds(value: Any) -> Any:
    avals = [get_aval(x) for x in tree.leaves(value)]
    return tree.structure(value), [(a.shape, a.dtype) for a in avals]


def delete_init_state(model: Any) -> Any:
    """Return a model without the initial values of its state, which are in a `State`.

    Args:
        model: a pytree with `StateIndex` objects.

    Returns:
        The model, where each `StateIndex` has a placeholder in the place of its initial
        value.

    References:
        Equinox, `equinox.nn.delete_init_state`.

    Example:
        >>> from imprint import nn
        >>> nn.delete_init_state(nn.StateIndex(1.0)).init
        _Gone()
    """

    def delete(x: Any) -> Any:
        return tree_at(lambda y: y.init, x, _GONE) if _is_index(x) else x

    return tree.map(delete, model, is_leaf=_is_index)


def make_with_state(make_model: Callable[P, T]) -> Callable[P, tuple[T, State]]:
    """Return a function that creates a model and its state.

    Args:
        make_model: a class of modules, or a function that returns one.

    Returns:
        A function with the arguments of `make_model` that returns a pair of the model,
        without initial values, and its `State`.

    References:
        Equinox, `equinox.nn.make_with_state`.

    Example:
        >>> from imprint import nn
        >>> norm, state = nn.make_with_state(nn.BatchNorm)(3, "batch", mode="ema")
        >>> state.get(norm.ema_first_time_index)
        Array(True, dtype=bool)
    """

    def make(*args: P.args, **kwargs: P.kwargs) -> tuple[T, State]:
        model = make_model(*args, **kwargs)

        def placed(path: Any, x: Any) -> Any:
            if not _is_index(x):
                return x
            index: StateIndex[Any] = StateIndex(x.init)
            marker = type(model).__name__ + tree.keystr(path)
            object.__setattr__(index, "marker", marker)
            return index

        model = tree.map_with_path(placed, model, is_leaf=_is_index)
        return delete_init_state(model), State(model)

    return make
