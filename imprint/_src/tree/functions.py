"""The functions on pytrees: `map`, `reduce`, `transpose` and the rest of `jax.tree`.

They are named `tree_…` here and in `imprint.tree_util`, and without it in `imprint.tree`.
Where several trees go in, the first must be a prefix of the others; `prefix` words the
error if it is not. Arrays of keys are leaves here; to transforms they are nodes, with the
raw data as their leaf (`internal`).
"""

import functools
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar, overload

import optree

from imprint._src.errors import ArgumentError, TreeError
from imprint._src.tree import prefix
from imprint._src.tree import treedef as nodes
from imprint._src.tree.keys import KeyPath
from imprint._src.tree.prefix import check_prefix, check_structure
from imprint._src.tree.treedef import (
    NAMESPACE,
    IsLeaf,
    Leaf,
    PyTree,
    TreeDef,
    Walks,
    opaque_types,
)

T = TypeVar("T")


def tree_flatten(
    tree: PyTree, is_leaf: IsLeaf | None = None
) -> tuple[list[Leaf], TreeDef]:
    """Flatten a pytree into its leaves and its structure.

    Args:
        tree: any object. Tuples, lists, dicts, `None`, named tuples, `OrderedDict`,
            `defaultdict`, `deque` and registered classes are nodes, all else is a leaf.
        is_leaf: called with each node; true makes a leaf of it.

    Returns:
        The leaves in order, and the structure.

    References:
        JAX, `jax.tree.flatten`.

    Example:
        >>> from imprint.tree import flatten
        >>> flatten({"b": 1, "a": (2, None)})
        ([2, 1], PyTreeDef({'a': (*, None), 'b': *}))
    """
    found = nodes.flatten(tree, is_leaf)
    if opaque_types and found[1].has_opaque:
        return nodes.flatten(tree, _or_opaque(is_leaf))
    return found


def tree_structure(tree: PyTree, is_leaf: IsLeaf | None = None) -> TreeDef:
    """Return the structure of a pytree.

    Args:
        tree: any object.
        is_leaf: called with each node; true makes a leaf of it.

    Returns:
        The structure, hashable and comparable.

    References:
        JAX, `jax.tree.structure`.

    Example:
        >>> from imprint import tree
        >>> tree.structure({"a": 1, "b": [2]})
        PyTreeDef({'a': *, 'b': [*]})
    """
    return tree_flatten(tree, is_leaf)[1]


def _or_opaque(is_leaf: IsLeaf | None) -> IsLeaf:
    """Return the test of a leaf that is also true for arrays of keys."""
    if is_leaf is None:
        return _is_opaque
    return lambda node: type(node) in opaque_types or is_leaf(node)


def _is_opaque(node: object) -> bool:
    return type(node) in opaque_types


def tree_unflatten(treedef: TreeDef, leaves: Iterable[Leaf]) -> PyTree:
    """Put leaves into a structure; the inverse of `flatten`.

    Args:
        treedef: the structure.
        leaves: as many objects as the structure has leaves.

    Returns:
        The pytree.

    References:
        JAX, `jax.tree.unflatten`.

    Example:
        >>> from imprint import tree
        >>> leaves, treedef = tree.flatten({"a": 1, "b": (2, 3)})
        >>> tree.unflatten(treedef, [10 * leaf for leaf in leaves])
        {'a': 10, 'b': (20, 30)}
    """
    return treedef.unflatten(leaves)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf | None = None) -> list[Leaf]:
    """Return the leaves of a pytree, in order.

    Args:
        tree: any object.
        is_leaf: called with each node; true makes a leaf of it.

    Returns:
        The leaves; keys of a dictionary are sorted, and `None` is not a leaf.

    References:
        JAX, `jax.tree.leaves`.

    Example:
        >>> from imprint import tree
        >>> tree.leaves({"b": 1, "a": [2, None]})
        [2, 1]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_map(
    f: Callable[..., Any], tree: PyTree, *rest: PyTree, is_leaf: IsLeaf | None = None
) -> PyTree:
    """Apply a function to each leaf, and to the subtrees at its place in other trees.

    Args:
        f: takes one leaf of `tree`, then one subtree from each of `rest`.
        tree: the tree whose structure the result has.
        *rest: trees of which `tree` is a prefix.
        is_leaf: as in `flatten`, for `tree`.

    Returns:
        A tree with the structure of `tree`.

    Raises:
        TreeError: `tree` is not a prefix of another tree.

    References:
        JAX, `jax.tree.map`.

    Example:
        >>> from imprint import tree
        >>> tree.map(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
        {'a': 11, 'b': [22]}
    """
    if Walks.map_tree is not None:
        found = Walks.map_tree(f, tree, rest, is_leaf)
        if found is not NotImplemented:
            return found
    leaves, treedef = tree_flatten(tree, is_leaf)
    return treedef.unflatten(list(map(f, leaves, *up_to(treedef, rest, "tree.map"))))


def tree_map_with_path(
    f: Callable[..., Any],
    tree: PyTree,
    *rest: PyTree,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> PyTree:
    """Apply a function to the key path and the value of each leaf, as `map`.

    Args:
        f: takes a key path, and what it takes for `map`.
        tree: the tree whose structure the result has.
        *rest: trees of which `tree` is a prefix.
        is_leaf: as in `flatten_with_path`.
        is_leaf_takes_path: as in `flatten_with_path`.

    Returns:
        A tree with the structure of `tree`.

    Raises:
        TreeError: `tree` is not a prefix of another tree.

    References:
        JAX, `jax.tree.map_with_path`.

    Example:
        >>> from imprint import tree
        >>> tree.map_with_path(lambda path, x: f"{tree.keystr(path)}={x}", {"a": [1]})
        {'a': ["['a'][0]=1"]}
    """
    paths, leaves, treedef = _with_paths(tree, is_leaf, is_leaf_takes_path)
    others = up_to(treedef, rest, "tree.map_with_path")
    return treedef.unflatten(list(map(f, paths, leaves, *others)))


def tree_flatten_with_path(
    tree: PyTree,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> tuple[list[tuple[KeyPath, Leaf]], TreeDef]:
    """Flatten a pytree as `flatten` does, each leaf with its key path.

    Args:
        tree: the tree.
        is_leaf: called with each node; true makes a leaf of it.
        is_leaf_takes_path: whether `is_leaf` is called with the key path first.

    Returns:
        Pairs (key path, leaf) in order, and the structure.

    References:
        JAX, `jax.tree.flatten_with_path`.

    Example:
        >>> from imprint import tree
        >>> tree.flatten_with_path([5])
        ([((SequenceKey(idx=0),), 5)], PyTreeDef([*]))
    """
    paths, leaves, treedef = _with_paths(tree, is_leaf, is_leaf_takes_path)
    return list(zip(paths, leaves, strict=True)), treedef


def _with_paths(
    tree: PyTree,
    is_leaf: Callable[..., bool] | None,
    takes_path: bool,  # noqa: FBT001 - JAX's signature
) -> tuple[list[KeyPath], list[Leaf], TreeDef]:
    if is_leaf is None or not takes_path:
        leaves, treedef = tree_flatten(tree, is_leaf)
        return treedef.paths(), leaves, treedef
    nodes: list[KeyPath] = []

    def walk(path: KeyPath, node: PyTree) -> PyTree:
        """Return a node of which each leaf is its place in the lists."""
        children, treedef = tree_flatten(node, lambda x: x is not node)
        if is_leaf(path, node) or treedef.is_leaf:
            nodes.append(path)
            found.append(node)
            return _Kept()
        pairs = zip(treedef.keys(), children, strict=True)
        return treedef.unflatten([walk((*path, key), child) for key, child in pairs])

    found: list[Leaf] = []
    return nodes, found, tree_flatten(walk((), tree), lambda x: isinstance(x, _Kept))[1]


class _Kept:
    """The place of a leaf in a tree."""


def tree_leaves_with_path(
    tree: PyTree,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> list[tuple[KeyPath, Leaf]]:
    """Return the leaves of a pytree, each with its key path.

    Args:
        tree: the tree.
        is_leaf: as in `flatten_with_path`.
        is_leaf_takes_path: as in `flatten_with_path`.

    Returns:
        Pairs (key path, leaf) in order.

    References:
        JAX, `jax.tree.leaves_with_path`.

    Example:
        >>> from imprint import tree
        >>> tree.leaves_with_path({"a": 5})
        [((DictKey(key='a'),), 5)]
    """
    return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


@overload
def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree: PyTree,
    *,
    is_leaf: IsLeaf | None = ...,
) -> Any: ...
@overload
def tree_reduce(
    function: Callable[[T, Any], T],
    tree: PyTree,
    initializer: T,
    is_leaf: IsLeaf | None = ...,
) -> T: ...
def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree: PyTree,
    initializer: Any = ...,
    is_leaf: IsLeaf | None = None,
) -> Any:
    """Combine the leaves from left to right, as `functools.reduce`.

    Args:
        function: takes the value so far and a leaf, and returns the next value.
        tree: the tree.
        initializer: the first value; by default the first leaf.
        is_leaf: called with each node; true makes a leaf of it.

    Returns:
        The last value.

    References:
        JAX, `jax.tree.reduce`.

    Example:
        >>> from imprint import tree
        >>> tree.reduce(lambda total, x: total + x, {"a": 1, "b": [2, 3]}, 0)
        6
    """
    leaves = tree_leaves(tree, is_leaf)
    if initializer is ...:
        return functools.reduce(function, leaves)
    return functools.reduce(function, leaves, initializer)


def tree_reduce_associative(
    operation: Callable[[T, T], T],
    tree: PyTree,
    *,
    identity: T = ...,
    is_leaf: IsLeaf | None = None,
) -> T:
    """Combine the leaves by halves: neighbours first, in about log2(leaves) rounds.

    Args:
        operation: must be associative.
        tree: the tree.
        identity: the result for a tree without leaves.
        is_leaf: as in `flatten`.

    Returns:
        The combination of all leaves.

    Raises:
        ArgumentError: the tree has no leaf, and there is no identity.

    References:
        JAX, `jax.tree.reduce_associative`.

    Example:
        >>> from imprint import tree
        >>> tree.reduce_associative(lambda a, b: f"({a}{b})", ["a", "b", "c", "d"])
        '((ab)(cd))'
    """
    leaves = tree_leaves(tree, is_leaf)
    if not leaves and identity is ...:
        raise ArgumentError(
            "tree.reduce_associative: expected a tree with a leaf, or an identity, got "
            f"{tree!r} alone. Pass identity=, the result for no leaves."
        )

    def reduced(leaves: list[T]) -> T:
        if len(leaves) == 1:
            return leaves[0]
        half = len(leaves) // 2
        return operation(reduced(leaves[:half]), reduced(leaves[half:]))

    return reduced(leaves) if leaves else identity


def tree_all(tree: PyTree, *, is_leaf: IsLeaf | None = None) -> bool:
    """Return whether every leaf is true.

    Args:
        tree: the tree.
        is_leaf: called with each node; true makes a leaf of it.

    Returns:
        A bool; True for a tree without leaves.

    References:
        JAX, `jax.tree.all`.

    Example:
        >>> from imprint import tree
        >>> tree.all({"a": True, "b": [1, 0]})
        False
    """
    return all(tree_leaves(tree, is_leaf))


def tree_transpose(
    outer_treedef: TreeDef, inner_treedef: TreeDef | None, pytree_to_transpose: PyTree
) -> PyTree:
    """Turn a tree of trees inside out.

    Args:
        outer_treedef: the outer structure of the argument.
        inner_treedef: the structure at each of its leaves; `None` finds it.
        pytree_to_transpose: a tree with structure `outer_treedef.compose(inner_treedef)`.

    Returns:
        A tree with structure `inner_treedef.compose(outer_treedef)`.

    Raises:
        TreeError: a structure has no leaf, or the tree has another structure.

    References:
        JAX, `jax.tree.transpose`.

    Example:
        >>> from imprint import tree
        >>> pairs = {"a": (1, 2), "b": (3, 4)}
        >>> outer, inner = tree.structure({"a": 0, "b": 0}), tree.structure((0, 0))
        >>> tree.transpose(outer, inner, pairs)
        ({'a': 1, 'b': 3}, {'a': 2, 'b': 4})
    """
    leaves, treedef = tree_flatten(pytree_to_transpose)
    if inner_treedef is None:
        (subtrees,) = up_to(outer_treedef, [pytree_to_transpose], "tree.transpose")
        inner_treedef = tree_flatten(subtrees[0])[1] if subtrees else outer_treedef
    outer, inner = outer_treedef.num_leaves, inner_treedef.num_leaves
    if not (outer and inner):
        raise TreeError(
            "tree.transpose: expected structures with at least one leaf, got outer "
            f"{outer_treedef} and inner {inner_treedef}. There is nothing to transpose."
        )
    expected = outer_treedef.compose(inner_treedef)
    check_structure(expected, treedef, "tree.transpose")
    columns = [outer_treedef.unflatten(leaves[i::inner]) for i in range(inner)]
    return inner_treedef.unflatten(columns)


def tree_broadcast(
    prefix_tree: PyTree, full_tree: PyTree, is_leaf: IsLeaf | None = None
) -> PyTree:
    """Return a tree like `full_tree`, each leaf being the leaf of the prefix above it.

    Args:
        prefix_tree: a prefix of `full_tree`.
        full_tree: any pytree.
        is_leaf: as in `flatten`, for both.

    Returns:
        A tree with the structure of `full_tree`.

    Raises:
        TreeError: the first is not a prefix of the second.

    References:
        JAX, `jax.tree.broadcast`.

    Example:
        >>> from imprint import tree
        >>> tree.broadcast((1, 2), ({"a": 0, "b": 0}, 0))
        ({'a': 1, 'b': 1}, 2)
    """
    treedef = tree_flatten(full_tree, is_leaf)[1]
    return treedef.unflatten(broadcast_prefix(prefix_tree, full_tree, is_leaf))


def broadcast_prefix(
    prefix_tree: PyTree, full_tree: PyTree, is_leaf: IsLeaf | None = None
) -> list[Leaf]:
    """Return the leaf of `prefix_tree` at or above each leaf of `full_tree`.

    Args:
        prefix_tree: a prefix of `full_tree`; `None` is a node unless `is_leaf` says no.
        full_tree: any pytree.
        is_leaf: as in `flatten`, for both.

    Returns:
        A list with a leaf for each leaf of `full_tree`.

    Raises:
        TreeError: the first is not a prefix of the second.

    Example:
        >>> from imprint import tree
        >>> tree.broadcast_prefix((1, 2), ([0, 0, 0], 0))
        [1, 1, 1, 2]
    """
    return prefix.broadcast_prefix(prefix_tree, full_tree, _or_opaque(is_leaf))


def flatten_one_level(tree: PyTree) -> tuple[list[PyTree], Any]:
    """Return the children of a node, and its static data.

    Args:
        tree: a node.

    Returns:
        A list of children, and the static data.

    Raises:
        TreeError: the tree is a leaf.

    References:
        JAX, `jax.tree_util.flatten_one_level`.

    Example:
        >>> from imprint import tree
        >>> tree.flatten_one_level({"b": 1, "a": [2, 3]})
        ([[2, 3], 1], ['a', 'b'])
    """
    children, treedef = tree_flatten(tree, lambda x: x is not tree)
    node = treedef.node_data()
    if node is None:
        raise TreeError(
            f"flatten_one_level: expected a node, got a leaf, {type(tree).__name__}. "
            "Register its class with imprint.tree.register_pytree_node."
        )
    return children, node[1]


def flatten_one_level_with_keys(
    tree: PyTree,
) -> tuple[list[tuple[Hashable, PyTree]], Any]:
    """Return the children of a node, each with its key, and its static data.

    Args:
        tree: a node.

    Returns:
        A list of pairs (key, child), and the static data.

    Raises:
        TreeError: the tree is a leaf.

    References:
        JAX, `jax.tree_util.flatten_one_level_with_keys`.

    Example:
        >>> from imprint import tree
        >>> tree.flatten_one_level_with_keys([5])
        ([(SequenceKey(idx=0), 5)], None)
    """
    children, data = flatten_one_level(tree)
    keys = tree_flatten(tree, lambda x: x is not tree)[1].keys()
    return list(zip(keys, children, strict=True)), data


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf | None = None) -> bool:
    """Return whether no element is a node.

    Args:
        iterable: the objects to check.
        is_leaf: called with each node; true makes a leaf of it.

    Returns:
        A bool; True without elements.

    References:
        JAX, `jax.tree_util.all_leaves`.

    Example:
        >>> from imprint import tree
        >>> tree.all_leaves([1, "a"]), tree.all_leaves([1, [2]])
        (True, False)
    """
    return optree.all_leaves(iterable, _or_opaque(is_leaf), namespace=NAMESPACE)


def up_to(treedef: TreeDef, trees: Iterable[PyTree], caller: str) -> list[list[PyTree]]:
    """Return the subtrees of each tree at the leaves of a structure."""
    subtrees: list[list[PyTree]] = []
    for tree in trees:
        try:
            subtrees.append(treedef.flatten_up_to(tree))
        except ValueError as err:
            check_prefix(treedef, nodes.flatten(tree)[1], caller)
            try:
                subtrees.append(_subtrees(treedef, tree))
            except ValueError:
                raise TreeError(f"{caller}: {err}") from err
    return subtrees


def _subtrees(treedef: TreeDef, tree: PyTree) -> list[PyTree]:
    """Return the subtrees at the leaves of a structure with equal static data."""
    if treedef.is_leaf:
        return [tree]
    children, _ = nodes.flatten(tree, lambda x: x is not tree)
    pairs = zip(treedef.children(), children, strict=True)
    return [x for below, child in pairs for x in _subtrees(below, child)]
