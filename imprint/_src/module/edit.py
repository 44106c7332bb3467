"""Changed copies of immutable trees: `tree_at`, `replace` and `apply_updates`.

`tree_at` calls `where` with a copy of the tree in which all nodes and leaves are distinct
objects, and finds the results in the copy by identity. `replace` sets fields of one module,
static ones too; `apply_updates` adds the updates of an optimizer to the arrays of a model.
"""

import operator
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, final

from imprint._src.core.array import Array
from imprint._src.errors import ArgumentError, did_you_mean
from imprint._src.module.filters import is_none
from imprint._src.module.module import Module, finish
from imprint._src.module.show import tree_pformat
from imprint._src.numpy.promotion import as_array, convert
from imprint._src.tree import internal as tree

M = TypeVar("M", bound=Module)
T = TypeVar("T")
_IsLeaf = Callable[[Any], bool]


def tree_at(
    where: Callable[[T], Any],
    pytree: T,
    replace: Any = ...,
    replace_fn: Callable[[Any], Any] = ...,  # pyright: ignore[reportArgumentType] - `...` is "not given", as None is a function's result
    is_leaf: _IsLeaf | None = None,
) -> T:
    """Return a copy of a pytree in which one or several nodes are others.

    `__init__` and `__check_init__` do not run, so anything can be put anywhere.

    Args:
        where: from the tree to a node or a leaf of it, or to a sequence of them. It must
            not depend on the leaves, which are stand-ins.
        pytree: the tree.
        replace: the new node; for a sequence, as many.
        replace_fn: instead of `replace`, a function from the old node to the new one.
        is_leaf: as in `tree.flatten`; `lambda x: x is None` lets None be replaced.

    Returns:
        The new tree; `pytree` is unchanged.

    Raises:
        ArgumentError: a result of `where` is not in the tree, or is there twice; or the
            number of replacements differs.

    References:
        Equinox, `equinox.tree_at`.

    Example:
        >>> from imprint.module import tree_at
        >>> tree_at(lambda t: t["a"][1], {"a": [1, 2]}, 20)
        {'a': [1, 20]}
        >>> tree_at(lambda t: (t[0], t[2]), (1, 2, 3), replace_fn=lambda x: -x)
        (-1, 2, -3)
    """
    if (replace is ...) == (replace_fn is ...):
        raise ArgumentError(
            "tree_at: expected either replace or replace_fn, got "
            f"{'neither' if replace is ... else 'both'}. Give the one that says what to "
            "put there."
        )
    copy = _DistinctCopy(pytree, is_leaf)
    found, is_one = copy.reach(where)
    if replace_fn is not ...:
        values = [replace_fn(copy.original(node)) for node in found]
    elif is_one:
        values = [replace]
    else:
        values = _checked_values(replace, len(found))
    return copy.with_nodes(found, values)


def apply_updates(params: T, updates: tree.PyTree) -> T:
    """Return the parameters plus the updates, in the dtypes of the parameters.

    Args:
        params: the parameters, or a whole model.
        updates: the result of an optimizer; None leaves a part unchanged.

    Returns:
        The new parameters, of the structure and the dtypes of `params`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.module import apply_updates
        >>> params = {"w": np.ones(2), "name": "linear"}
        >>> apply_updates(params, {"w": np.array([0.5, 0.0]), "name": None})
        {'name': 'linear', 'w': Array([1.5, 1. ], dtype=float32)}
    """

    def apply(u: Any, p: Any) -> Any:
        return p if u is None or p is None else like(p + u, p)

    return tree.map(apply, updates, params, is_leaf=is_none)


def like(x: Any, old: Any) -> Array:
    """Return `x` with the dtype and the weak type of `old`."""
    aval = as_array(_UPDATES, old).aval
    return convert(
        _UPDATES, as_array(_UPDATES, x), aval.dtype, weak_type=aval.weak_type
    )


_UPDATES: Final = "apply_updates"


def replace(module: M, /, **changes: Any) -> M:
    """Return a copy of a module with other values for some fields, static ones too.

    As `dataclasses.replace`, but `__init__` does not run, so that it works whatever
    `__init__` takes. Converters and `__check_init__` do.

    Args:
        module: the module, which is unchanged.
        changes: the new value of each field, by its name.

    Returns:
        The copy.

    Raises:
        ArgumentError: there is no such field.

    References:
        Python, `dataclasses.replace`.

    Example:
        >>> from imprint.module import Module, field, replace
        >>> class Dropout(Module):
        ...     p: float = field(static=True)
        >>> replace(Dropout(0.5), p=0.1)
        Dropout(p=0.1)
    """
    cls: Any = module.__class__
    declared = cls.__declaration__
    for name in changes:
        if name not in declared.names:
            raise ArgumentError(
                f"replace: expected fields of {cls.__name__} ({', '.join(declared.order)}"
                f"), got {name}.{did_you_mean(name, declared.order)}"
            )
    copy = object.__new__(cls)
    copy.__dict__.update({n: vars(module)[n] for n in declared.order} | changes)
    finish(copy, declared)
    return copy


# ---- a copy with distinct parts ----


@final
class _LeafStandIn:
    """Stands for a leaf."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<leaf>"


@final
class _EmptyTuple(tuple[Any, ...]):
    """Stands for an empty tuple: Python has only one. It is a leaf."""


def _is_empty(x: Any) -> bool:
    return x.__class__ is tuple and not x


@final
class _DistinctCopy:
    """A tree, and a copy of it whose nodes and leaves are objects of their own."""

    def __init__(self, pytree: Any, is_leaf: _IsLeaf | None) -> None:
        def stop(x: Any) -> bool:
            return _is_empty(x) or (is_leaf is not None and is_leaf(x))

        self._stop = stop
        self._tree = pytree
        leaves, treedef = tree.flatten(pytree, stop)
        self._stand_ins: list[Any] = [
            _EmptyTuple() if _is_empty(leaf) else _LeafStandIn() for leaf in leaves
        ]
        self._by_id = {
            id(x): leaf for x, leaf in zip(self._stand_ins, leaves, strict=True)
        }
        self._copy = treedef.unflatten(self._stand_ins)

    def reach(self, where: Callable[[Any], Any]) -> tuple[list[Any], bool]:
        """Return the nodes that `where` names, and whether it names one by itself."""
        real = where(self._tree)  # first: the user sees errors of the real tree
        try:
            found = where(self._copy)
        except Exception as err:
            raise _looks_at_leaves() from err
        self._check_blind(found, real)
        counts = self._counts([found])
        is_one = counts[id(found)] > 0 or not isinstance(found, list | tuple)
        nodes: list[Any] = [found] if is_one else [*found]
        counts = self._counts(nodes)
        for node in nodes:
            if counts[id(node)] != 1 or sum(other is node for other in nodes) > 1:
                raise self._misplaced(node, nodes, counts[id(node)])
        return nodes, is_one

    def original(self, node: Any) -> Any:
        """Return the node of the tree at the place of a node of the copy."""
        leaves, treedef = tree.flatten(node)
        return treedef.unflatten([self._by_id[id(leaf)] for leaf in leaves])

    def with_nodes(self, nodes: Sequence[Any], values: Sequence[Any]) -> Any:
        """Return the tree with other values at nodes of the copy."""
        new = {id(node): value for node, value in zip(nodes, values, strict=True)}
        leaves, treedef = tree.flatten(self._copy, lambda x: id(x) in new)
        known = {**self._by_id, **new}
        return treedef.unflatten([known[id(leaf)] for leaf in leaves])

    def _counts(self, nodes: Sequence[Any]) -> Counter[int]:
        """Return how often the copy contains each of some objects, by `id`."""
        wanted = set(map(id, nodes))
        leaves = tree.leaves(self._copy, lambda x: id(x) in wanted)
        return Counter([id(leaf) for leaf in leaves if id(leaf) in wanted])

    def _check_blind(self, found: Any, real: Any) -> None:
        """Raise ArgumentError if `where` takes different paths in the tree and the copy."""
        leaves, treedef = tree.flatten(found, _is_empty)
        real_leaves, real_treedef = tree.flatten(real, self._stop)
        expected = [self._by_id.get(id(leaf), leaf) for leaf in leaves]
        if treedef != real_treedef or any(map(operator.is_not, expected, real_leaves)):
            raise _looks_at_leaves()

    def _misplaced(self, node: Any, nodes: Sequence[Any], count: int) -> ArgumentError:
        shown = _shown(self.original(node) if count else node)
        if sum(other is node for other in nodes) > 1:
            return ArgumentError(
                f"tree_at: expected where to return each node once, got {shown} more "
                "than once. Return it once, with one replacement."
            )
        if count > 1:
            return ArgumentError(
                f"tree_at: expected where to name one place, got {shown}, which is one "
                f"object at {count} places of the tree. Make it a leaf to "
                "distinguish them: tree_at(..., is_leaf=lambda x: x is None)."
            )
        if self._counts([node])[id(node)]:
            return ArgumentError(
                f"tree_at: expected separate nodes, got {_shown(self.original(node))}, which is "
                "inside another that where returns. Replace the outer one alone."
            )
        return ArgumentError(
            f"tree_at: expected where to return nodes or leaves of the tree, got {shown}, "
            "which is none. A static field is none either: to change it, use "
            "imprint.replace."
        )


def _looks_at_leaves() -> ArgumentError:
    return ArgumentError(
        "tree_at: expected where to find its way by the structure alone, got one that "
        "looks at the leaves: with stand-ins in their place it fails, or reaches another "
        "place. Decide outside of where, on the tree itself; what is to be computed of a "
        "leaf belongs in replace_fn."
    )


def _shown(value: Any) -> str:
    text = f"{tree_pformat(value, width=10**6)} ({type(value).__name__})"
    return text if len(text) <= 60 else f"a {type(value).__name__}"


def _checked_values(given: Any, count: int) -> Sequence[Any]:
    values: Sequence[Any] | None = given if isinstance(given, _SEQUENCES) else None
    size = None if values is None else len(values)
    if size != count:
        raise ArgumentError(
            f"tree_at: expected {count} replacements, as where returns {count} nodes, "
            f"got {_shown(given) if size is None else size}. Give a list with one for "
            "each."
        )
    return given


_SEQUENCES: Final[Any] = (list, tuple)
