"""`tree_equal`, and the switch of a model between training and inference.

`tree_equal` compares structures first, then leaves: arrays by shape, dtype and values,
everything else by `==`. Structures are compared exactly, as in all of imprint: static data
and keys that are equal in Python, such as `2` and `2.0`, differ.
"""

import copy
from typing import Any, Final

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.errors import TreeError
from imprint._src.module.filters import is_array
from imprint._src.numpy.elementwise.bitwise import bitwise_and
from imprint._src.numpy.elementwise.comparison import allclose, equal
from imprint._src.numpy.reductions.reductions import all as all_
from imprint._src.tree import internal as tree

_INFERENCE: Final = "inference"


def tree_equal(
    *pytrees: tree.PyTree, typematch: bool = False, rtol: Any = 0.0, atol: Any = 0.0
) -> bool | Array:
    """Return whether trees are equal, in structure and in every leaf.

    Arrays must have one shape and one dtype. NumPy's and imprint's are equal to each
    other unless `typematch` is set.

    Args:
        pytrees: any trees.
        typematch: whether leaves must have the same type too.
        rtol: the relative tolerance of inexact arrays, as in `imprint.numpy.allclose`.
        atol: their absolute tolerance.

    Returns:
        A bool, or an array of one where arrays of imprint were compared; it is traced
        if one of them is. `tree_equal(...) is True` is decided while tracing.

    References:
        Equinox, `equinox.tree_equal`.

    Example:
        >>> import numpy as np
        >>> from imprint.module import tree_equal
        >>> tree_equal({"w": np.ones(2)}, {"w": np.ones(2)}), tree_equal([1], [2])
        (True, False)
    """
    first, *others = pytrees
    leaves, treedef = tree.flatten(first)
    found: bool | Array = True
    for other in others:
        other_leaves, other_tree = tree.flatten(other)
        if other_tree != treedef:
            return False
        for x, y in zip(leaves, other_leaves, strict=True):
            if typematch and type(x) is not type(y):
                return False
            same = _leaves_equal(x, y, (rtol, atol))
            if same is False:
                return False
            if same is not True:
                found = same if found is True else bitwise_and(found, same)
    return found


def _leaves_equal(x: Any, y: Any, tolerances: tuple[Any, Any]) -> bool | Array:
    if not (is_array(x) or is_array(y)):
        return bool(x == y)
    if not (is_array(x) and is_array(y)):
        return False
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    exact = all(type(t) in (int, float) and t == 0 for t in tolerances)
    exact = exact or not dtypes.is_inexact(x.dtype)
    if isinstance(x, Array) or isinstance(y, Array):
        return all_(equal(x, y)) if exact else allclose(x, y, *tolerances)
    return bool(np.all(x == y) if exact else np.allclose(x, y, *tolerances))


def tree_inference(pytree: tree.PyTree, value: bool = True) -> tree.PyTree:  # noqa: FBT001, FBT002 - Equinox's signature
    """Return a tree in which every field `inference` has a value.

    Layers that behave differently in training, such as dropout, have this field. It may
    be static.

    Args:
        pytree: any tree.
        value: the new value of `inference`.

    Returns:
        The new tree; `pytree` is unchanged.

    Example:
        >>> from imprint.module import Module, tree_inference
        >>> class Noise(Module):
        ...     inference: bool = False
        >>> tree_inference([Noise(), Noise()])[0].inference
        True
    """
    children, treedef = tree.flatten(pytree, lambda x: x is not pytree)
    if treedef.is_leaf:
        return pytree
    changed = [tree_inference(child, value) for child in children]
    node = treedef.unflatten(changed)
    if _INFERENCE not in getattr(node, "__dataclass_fields__", ()):
        return node
    switched = copy.copy(node)
    object.__setattr__(switched, _INFERENCE, value)
    return switched


def tree_flatten_one_level(
    pytree: tree.PyTree,
) -> tuple[list[tree.PyTree], tree.TreeDef]:
    """Return the children of a node and its structure; of a leaf, the leaf itself.

    Args:
        pytree: any tree.

    Returns:
        The children, in order, and the structure, of which each child is a leaf.

    Example:
        >>> from imprint.module import tree_flatten_one_level
        >>> tree_flatten_one_level({"a": 3, "b": (1, 2)})
        ([3, (1, 2)], PyTreeDef({'a': *, 'b': *}))
    """
    children, treedef = tree.flatten(pytree, lambda x: x is not pytree)
    return children, treedef


def tree_check(pytree: tree.PyTree) -> None:
    """Raise an error if a tree contains a node twice, or a node inside itself.

    A transform flattens and rebuilds a tree, so a node at two places becomes two objects.

    Args:
        pytree: any tree.

    Returns:
        None, if there is no such node.

    Raises:
        TreeError: a node with children occurs twice; the message names both places.

    References:
        Equinox, `equinox.tree_check`.

    Example:
        >>> from imprint.module import tree_check
        >>> shared = [1]
        >>> tree_check([shared, [1]])
        >>> tree_check({"a": shared, "b": shared})
        Traceback (most recent call last):
        ...
        imprint.errors.TreeError: tree_check: expected each node at one place, got list...
    """
    places: dict[int, tree.KeyPath] = {}

    def visit(node: tree.PyTree, path: tree.KeyPath) -> None:
        children, treedef = tree_flatten_one_level(node)
        if not children or treedef.is_leaf:
            return
        before = places.setdefault(id(node), path)
        if before is not path:
            raise TreeError(
                f"tree_check: expected each node at one place, got "
                f"{type(node).__name__} at tree{tree.keystr(before)} and at "
                f"tree{tree.keystr(path)}. Make a copy for one of them."
            )
        for key, child in zip(treedef.keys(), children, strict=True):
            visit(child, (*path, key))

    visit(pytree, ())
