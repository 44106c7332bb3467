"""Trees of results and avals, as plain data.

A tree is of tuples, lists, dictionaries and None; what else it has must be a part of the
tree of the arguments, as the new state of a model is: then it is the number of that part.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from imprint import tree
from imprint._src.core.aval import ShapedArray
from imprint._src.jit.manifest.not_cacheable import Refused, Why
from imprint._src.jit.manifest.shardings import placement_of, plain_placement

Plain = Any


def plain_tree(treedef: tree.TreeDef, given: tree.TreeDef) -> Plain:
    """Return a tree as plain data.

    Args:
        treedef: the tree.
        given: that of the arguments.

    Raises:
        Refused: it has what the arguments do not have.
    """
    known = [*_parts(given)]  # kept: equal ones are the same object while they live
    parts = {id(part): i for i, part in enumerate(known)}

    def plain(each: tree.TreeDef) -> Plain:
        if each.is_leaf:
            return 0
        data = each.node_data()
        kind, held = (type(None), None) if data is None else data
        children = [plain(c) for c in each.children()] if kind in _BUILTIN else []
        if kind is tuple or kind is list:
            return ["tuple" if kind is tuple else "list", children]
        keys: Any = held if kind is dict else ()
        if kind is dict and all(type(key) is str for key in keys):
            return ["dict", children, list(keys)]
        if kind is type(None):
            return ["None"]
        if id(each) in parts:
            return ["given", parts[id(each)]]
        raise Refused(Why.RESULT, f"an object of class {kind.__qualname__}")

    return plain(treedef)


_BUILTIN = (tuple, list, dict)


def tree_of(plain: Plain, given: tree.TreeDef) -> tree.TreeDef:
    """Return the tree that plain data stand for."""
    parts: list[tree.TreeDef] = []

    def made(each: Plain) -> Any:
        if each == 0:
            return 0
        kind, *rest = each
        if kind == "None":
            return None
        if kind == "given":
            if not parts:
                parts.extend(_parts(given))
            part = parts[int(rest[0])]
            return part.unflatten([0] * part.num_leaves)
        children = [made(child) for child in rest[0]]
        if kind == "dict":
            return dict(zip(rest[1], children, strict=True))
        return tuple(children) if kind == "tuple" else children

    return tree.structure(made(plain))


def _parts(treedef: tree.TreeDef) -> Iterator[tree.TreeDef]:
    yield treedef
    if not treedef.is_leaf:
        for child in treedef.children():
            yield from _parts(child)


def tree_data(treedef: tree.TreeDef) -> Iterator[Any]:
    """Yield the classes, static data and leaves of a tree, in order."""
    if treedef.is_leaf:
        yield 0
        return
    yield treedef.num_nodes
    data = treedef.node_data()
    if data is not None:
        yield from data
    for child in treedef.children():
        yield from tree_data(child)


def plain_aval(aval: ShapedArray) -> Plain:
    """Return an aval as plain data.

    Raises:
        Refused: its sizes or its dtype are no plain values, or another process has it.
    """
    if (
        not all(type(n) is int for n in aval.shape)
        or type(aval.dtype).__module__.partition(".")[0] != "numpy"
    ):
        raise Refused(Why.OPTION, f"an argument or result {aval!r}")
    plain = [list(aval.shape), aval.dtype.name, aval.weak_type]
    if aval.sharding is not None:
        plain.append(plain_placement(aval.sharding))
    return plain


def aval_of(plain: Plain) -> ShapedArray:
    """Return the aval that plain data stand for."""
    shape, name, weak_type, *placed = plain
    aval = ShapedArray(tuple(shape), np.dtype(name), weak_type)
    return aval.with_sharding(placement_of(placed[0])) if placed else aval
