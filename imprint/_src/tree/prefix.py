"""Prefixes: a tree in the place of a larger one, and the error of a mismatch.

A tree is a prefix of another if cutting subtrees of the other down to leaves gives it:
`in_axes=(0, None)` is a prefix of two arguments of any structure. `flatten_axes` is for
options, in which `None` is a value; `broadcast_prefix` is for data, in which it is a
node. Only structures are compared, so no user value is touched.
"""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from typing import Final

from imprint._src.errors import TreeError
from imprint._src.tree.keys import DictKey, KeyPath, keystr
from imprint._src.tree.treedef import IsLeaf, Leaf, PyTree, TreeDef, flatten


def flatten_axes(prefix: PyTree, treedef: TreeDef, caller: str) -> list[Leaf]:
    """Return the leaf of `prefix` at or above each leaf of a structure.

    Args:
        prefix: the user's option; `None` is a leaf of it.
        treedef: the structure to which the option applies.
        caller: the option's name as the user typed it, such as "vmap in_axes".

    Returns:
        A list with a leaf of `prefix` for each leaf of the structure.

    Raises:
        TreeError: `prefix` is no prefix of the structure; the message says where.
    """
    leaves, prefix_def = flatten(prefix, _is_none)
    return _spread(leaves, prefix_def, treedef, caller)


def broadcast_prefix(
    prefix_tree: PyTree, full_tree: PyTree, is_leaf: IsLeaf | None = None
) -> list[Leaf]:
    """Return the leaf of `prefix_tree` at or above each leaf of `full_tree`."""
    leaves, prefix_def = flatten(prefix_tree, is_leaf)
    full_def = flatten(full_tree, is_leaf)[1]
    return _spread(leaves, prefix_def, full_def, "tree.broadcast_prefix")


def check_prefix(prefix: TreeDef, full: TreeDef, caller: str) -> None:
    """Raise `TreeError` unless `prefix` is a prefix of `full`, which is at fault.

    Args:
        prefix: the expected prefix of `full`.
        full: the structure in question.
        caller: the function that the user called.

    Returns:
        None.

    Raises:
        TreeError: `prefix` is not a prefix; the message says where.
    """
    try:
        for _ in _pairs((), prefix, full):
            pass
    except _Mismatch as at:
        raise TreeError(
            f"{caller}: expected {at.prefix} at {at.where}, got {at.full}. "
            "Pass trees that have the structure of the first."
        ) from None


def check_structure(expected: TreeDef, got: TreeDef, caller: str) -> None:
    """Raise `TreeError` unless two structures are the same; the second is at fault.

    Args:
        expected: the structure.
        got: the structure in question.
        caller: the function that the user called.

    Returns:
        None.

    Raises:
        TreeError: the structures differ; the message says where.
    """
    if expected.agrees(got):
        return
    check_prefix(expected, got, caller)
    for path, below in _pairs((), expected, got):
        if not below.is_leaf:
            raise TreeError(
                f"{caller}: expected a leaf at {_where(path)}, got {_kind(below)}. "
                f"The structure should be {expected}."
            )


def first_difference(expected: TreeDef, got: TreeDef) -> tuple[str, str, str] | None:
    """Return where two structures first differ, and both parts, in words."""
    if expected.agrees(got):
        return None
    try:
        for path, below in _pairs((), expected, got):
            if not below.is_leaf:
                return keystr(path), "a leaf", _kind(below)
    except _Mismatch as at:
        return keystr(at.path), at.prefix, at.full
    return "", str(expected), str(got)


def _spread(
    leaves: list[Leaf], prefix: TreeDef, full: TreeDef, caller: str
) -> list[Leaf]:
    if prefix is full:
        return leaves
    try:
        counts = [below.num_leaves for _, below in _pairs((), prefix, full)]
    except _Mismatch as at:
        raise TreeError(
            f"{caller}: expected {at.full} at {at.where}, got {at.prefix}. "
            "Write it with the structure of its value, or give one leaf for the whole."
        ) from None
    return [x for x, n in zip(leaves, counts, strict=True) for _ in range(n)]


class _Mismatch(Exception):  # noqa: N818 - caught in this file, never an error by itself
    """The first place where a prefix does not fit."""

    def __init__(self, path: KeyPath, prefix: TreeDef, full: TreeDef) -> None:
        super().__init__()
        self.path = path
        self.where = _where(path)
        self.prefix = _kind(prefix)
        self.full = _kind(full)


def _pairs(
    path: KeyPath, prefix: TreeDef, full: TreeDef
) -> Iterator[tuple[KeyPath, TreeDef]]:
    """Yield the path of each leaf of the prefix, and the structure at it."""
    if prefix.is_leaf:
        yield path, full
        return
    # One level without its children: the type, the keys and the static data.
    if prefix.spec.type is not full.spec.type or not prefix.root().agrees(full.root()):
        raise _Mismatch(path, prefix, full)
    children = zip(prefix.keys(), prefix.children(), full.children(), strict=True)
    for key, child, below in children:
        yield from _pairs((*path, key), child, below)


def _where(path: KeyPath) -> str:
    return keystr(path) or "the root"


def _kind(treedef: TreeDef) -> str:
    kind, keys = treedef.spec.type, treedef.keys()
    if kind is None:
        return "a leaf"
    if kind is type(None):
        return "None"
    if kind in (list, tuple, deque):
        return f"a {kind.__name__} of length {len(keys)}"
    if kind in (dict, OrderedDict, defaultdict):
        names = [repr(key.key) for key in keys if isinstance(key, DictKey)]
        listed = ", ".join(names[:_MOST_KEYS]) + ", …" * (len(names) > _MOST_KEYS)
        return f"a {kind.__name__} with keys {{{listed}}}"
    return str(treedef.root()).removeprefix("PyTreeDef(").removesuffix(")")


def _is_none(node: object) -> bool:
    return node is None


_MOST_KEYS: Final = 8
