"""The functions on pytrees for transforms, under the names of `imprint.tree`.

Here an array of keys is a node, with the raw data as its leaf: programs compute with that.
To users it is a leaf (`functions`).
"""

from collections.abc import Callable
from typing import Any

from imprint._src.tree.functions import tree_all as all
from imprint._src.tree.functions import tree_reduce as reduce
from imprint._src.tree.functions import tree_transpose as transpose
from imprint._src.tree.functions import tree_unflatten as unflatten
from imprint._src.tree.functions import up_to
from imprint._src.tree.keys import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    Key,
    KeyPath,
    SequenceKey,
    keystr,
)
from imprint._src.tree.match import Match, match_of, split_match_of
from imprint._src.tree.prefix import (
    broadcast_prefix,
    check_prefix,
    check_structure,
    flatten_axes,
)
from imprint._src.tree.registry import (
    Partial,
    is_tree_node,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
)
from imprint._src.tree.statics import detached
from imprint._src.tree.treedef import (
    IsLeaf,
    Leaf,
    PyTree,
    TreeDef,
    flatten,
    register_leaf,
    structure,
    treedef_children,
    treedef_is_leaf,
    treedef_tuple,
)

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "IsLeaf",
    "Key",
    "KeyPath",
    "Leaf",
    "Match",
    "Partial",
    "PyTree",
    "SequenceKey",
    "TreeDef",
    "all",
    "broadcast_prefix",
    "check_prefix",
    "check_structure",
    "detached",
    "flatten",
    "flatten_axes",
    "is_tree_node",
    "keystr",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "match_of",
    "reduce",
    "register_dataclass",
    "register_leaf",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "split_match_of",
    "structure",
    "transpose",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
    "unflatten",
]


def leaves(tree: PyTree, is_leaf: IsLeaf | None = None) -> list[Leaf]:
    """Return the leaves of a pytree, in order."""
    return flatten(tree, is_leaf)[0]


def leaves_with_path(
    tree: PyTree, is_leaf: IsLeaf | None = None
) -> list[tuple[KeyPath, Leaf]]:
    """Return the leaves of a pytree, each with its key path."""
    found, treedef = flatten(tree, is_leaf)
    return list(zip(treedef.paths(), found, strict=True))


def map(
    f: Callable[..., Any], tree: PyTree, *rest: PyTree, is_leaf: IsLeaf | None = None
) -> PyTree:
    """Apply a function to each leaf, and to the subtrees at its place in other trees."""
    found, treedef = flatten(tree, is_leaf)
    others = up_to(treedef, rest, "tree.map")
    return treedef.unflatten([f(*each) for each in zip(found, *others, strict=True)])


def map_with_path(
    f: Callable[..., Any], tree: PyTree, *rest: PyTree, is_leaf: IsLeaf | None = None
) -> PyTree:
    """Apply a function to the key path and the value of each leaf, as `map`."""
    found, treedef = flatten(tree, is_leaf)
    others = up_to(treedef, rest, "tree.map_with_path")
    every = zip(treedef.paths(), found, *others, strict=True)
    return treedef.unflatten([f(*each) for each in every])
