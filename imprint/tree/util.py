"""The names of `jax.tree_util`, for programs that say `tree_map` rather than `tree.map`.

They are the same functions as in `imprint.tree`, where new code finds them; nothing is
defined here.
"""

from imprint.tree.functions import (
    all_leaves,
    tree_all,
    tree_broadcast,
    tree_flatten_with_path,
    tree_leaves,
    tree_leaves_with_path,
    tree_map,
    tree_map_with_path,
    tree_reduce,
    tree_transpose,
    tree_unflatten,
)
from imprint.tree.keys import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyPath,
    SequenceKey,
    keystr,
)
from imprint.tree.registry import (
    Partial,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
)
from imprint.tree.treedef import TreeDef as PyTreeDef
from imprint.tree.treedef import flatten as tree_flatten
from imprint.tree.treedef import structure as tree_structure
from imprint.tree.treedef import treedef_tuple

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_tuple",
]
