"""Pytrees: nested containers as arguments, results and parameters.

The functions of `jax.tree`, with their names, and the key paths and the registration of
`jax.tree_util`.
"""

from imprint._src.tree.functions import (
    all_leaves,
    broadcast_prefix,
    flatten_one_level,
    flatten_one_level_with_keys,
)
from imprint._src.tree.functions import tree_all as all
from imprint._src.tree.functions import tree_broadcast as broadcast
from imprint._src.tree.functions import tree_flatten as flatten
from imprint._src.tree.functions import tree_flatten_with_path as flatten_with_path
from imprint._src.tree.functions import tree_leaves as leaves
from imprint._src.tree.functions import tree_leaves_with_path as leaves_with_path
from imprint._src.tree.functions import tree_map as map
from imprint._src.tree.functions import tree_map_with_path as map_with_path
from imprint._src.tree.functions import tree_reduce as reduce
from imprint._src.tree.functions import tree_reduce_associative as reduce_associative
from imprint._src.tree.functions import tree_structure as structure
from imprint._src.tree.functions import tree_transpose as transpose
from imprint._src.tree.functions import tree_unflatten as unflatten
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
    static,
)
from imprint._src.tree.statics import detached
from imprint._src.tree.treedef import (
    IsLeaf,
    Leaf,
    PyTree,
    TreeDef,
    register_leaf,
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
    "all_leaves",
    "broadcast",
    "broadcast_prefix",
    "check_prefix",
    "check_structure",
    "detached",
    "flatten",
    "flatten_axes",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "flatten_with_path",
    "is_tree_node",
    "keystr",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "match_of",
    "reduce",
    "reduce_associative",
    "register_dataclass",
    "register_leaf",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "split_match_of",
    "static",
    "structure",
    "transpose",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
    "unflatten",
]
