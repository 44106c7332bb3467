"""The names of `jax.tree_util`, for programs that use `tree_map` instead of `tree.map`.

They are the functions of `imprint.tree`; new code uses that. It loads at its first use.
"""

from imprint._src.bootstrap import attribute_errors
from imprint._src.tree.functions import (
    all_leaves,
    flatten_one_level,
    flatten_one_level_with_keys,
    tree_all,
    tree_broadcast,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_leaves_with_path,
    tree_map,
    tree_map_with_path,
    tree_reduce,
    tree_reduce_associative,
    tree_structure,
    tree_transpose,
    tree_unflatten,
)
from imprint._src.tree.keys import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyPath,
    SequenceKey,
    keystr,
)
from imprint._src.tree.keys import Key as KeyEntry
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
from imprint._src.tree.treedef import TreeDef as PyTreeDef
from imprint._src.tree.treedef import treedef_children, treedef_is_leaf, treedef_tuple

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
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
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]

attribute_errors.explain_missing(__name__)
