"""The trees of results as plain data, for JSON.

A tree is made of tuples, lists, dictionaries and None; any other node is the number of a part
of the tree of the arguments, as the new state of a model is, or of one with other children,
as its gradient is; or it is the name of a class of a library with its static data. Of an
object of a library that compares by its own `==` in such data, the state is written.
"""

import sys
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, Final, cast

from imprint._src.core.user_code import (
    is_user_class,
    is_user_namespace,
    module_namespace,
)
from imprint._src.jit.fingerprint.layout import layout_of
from imprint._src.jit.guards.locations import class_of
from imprint._src.jit.manifest.not_cacheable import NotCacheable, Reason
from imprint._src.jit.manifest.plain_data import Plain
from imprint._src.jit.manifest.stable_hash import is_reachable
from imprint._src.tree import internal as tree
from imprint._src.tree.statics import static_of
from imprint._src.tree.walk import is_named_tuple, registered


def serialize_tree(
    treedef: tree.TreeDef, arguments: tree.TreeDef, inputs: Sequence[Any] = ()
) -> Plain:
    """Return a tree as plain data.

    Args:
        treedef: the tree.
        arguments: the tree of the arguments.
        inputs: objects of the key, which another process has in the same order.

    Raises:
        NotCacheable: it has a node that neither the arguments have nor a library made of
            plain data.
    """
    return _TreeWriter(arguments, inputs).tree(treedef)


def deserialize_tree(
    plain: Plain, arguments: tree.TreeDef, inputs: Sequence[Any] = ()
) -> tree.TreeDef:
    """Return the tree, from the same arguments and inputs.

    Raises:
        Exception: a library that made a node is not imported.
    """
    return tree.structure(_TreeReader(arguments, inputs).tree(plain))


class _TreeWriter:
    """Writes trees and the static data of their nodes as plain data."""

    def __init__(self, arguments: tree.TreeDef, inputs: Sequence[Any]) -> None:
        self._inputs = {id(x): i for i, x in enumerate(inputs)}
        self._known = [*_parts(arguments)]  # kept: equal parts are one object
        self._parts = {id(part): i for i, part in enumerate(self._known)}
        self._heads = [part.root() for part in self._known]
        self._roots = {id(head): i for i, head in enumerate(self._heads)}

    def tree(self, each: tree.TreeDef) -> Plain:
        """Return a tree as plain data."""
        if each.is_leaf:
            return 0
        data = each.node_data()
        kind: Any
        held: Any
        kind, held = (type(None), None) if data is None else data
        if kind is type(None):
            return ["None"]
        is_dict = kind is dict and all(type(key) is str for key in held)
        is_builtin = is_dict or kind is tuple or kind is list
        if id(each) in self._parts and not is_builtin:
            return ["part", self._parts[id(each)]]
        children = [self.tree(child) for child in each.children()]
        if is_builtin:
            return [kind.__name__, children, *([list(held)] if is_dict else [])]
        root = self._roots.get(id(each.root()))
        if root is not None:
            return ["root", children, root]
        if is_named_tuple(kind):
            return ["named tuple", children, self.value(kind)]
        if id(kind) not in registered.functions:
            raise NotCacheable(Reason.RESULT, f"an object of class {kind.__qualname__}")
        return ["node", children, self.value(kind), self.value(held)]

    def value(self, x: Any) -> Plain:
        """Return static data as plain data."""
        kind = class_of(x)
        if x is None or kind is bool or kind is int or kind is str:
            return x
        if kind is float:
            return ["float", x.hex()]
        if kind is tuple or kind is list:
            return [kind.__name__, [self.value(y) for y in x]]
        if kind is tree.TreeDef:
            return ["tree", self.tree(x)]
        if id(x) in self._inputs:
            return ["input", self._inputs[id(x)]]
        if kind is dict:
            return ["dict", [[self.value(key), self.value(y)] for key, y in x.items()]]
        if is_named_tuple(kind):
            return ["named tuple", self.value(kind), [self.value(y) for y in x]]
        layout = layout_of(x)
        if layout.is_open and layout.defines_eq and not is_user_class(kind):
            state = [[name, self.value(y)] for name, y in layout.state(x).items()]
            return ["object", self.value(kind), state]
        return ["library", *_library_name(x)]


class _TreeReader:
    """Reads what a `_TreeWriter` wrote."""

    def __init__(self, arguments: tree.TreeDef, inputs: Sequence[Any]) -> None:
        self._arguments = arguments
        self._inputs = inputs
        self._parts: list[tree.TreeDef] = []

    def tree(self, each: Plain) -> Any:
        """Return a tree with zeros as leaves."""
        if each == 0:
            return 0
        kind, *rest = each
        if kind == "None":
            return None
        if kind in ("part", "root") and not self._parts:
            self._parts.extend(_parts(self._arguments))
        if kind == "part":
            part = self._parts[int(rest[0])]
            return part.unflatten([0] * part.num_leaves)
        children = [self.tree(child) for child in rest[0]]
        if kind == "root":
            return self._parts[int(rest[1])].root().unflatten(children)
        if kind == "named tuple":
            return _new_tuple(self.value(rest[1]), children)
        if kind == "node":
            _, restore = registered.functions[id(self.value(rest[1]))]
            held = self.value(rest[2])
            return restore(None if held is None else static_of(held), children)
        if kind == "dict":
            return dict(zip(rest[1], children, strict=True))
        return tuple(children) if kind == "tuple" else children

    def value(self, plain: Plain) -> Any:
        """Return static data."""
        if not isinstance(plain, list):
            return plain
        kind, *rest = cast("list[Any]", plain)
        if kind == "float":
            return float.fromhex(rest[0])
        if kind == "tree":
            return tree.structure(self.tree(rest[0]))
        if kind == "input":
            return self._inputs[int(rest[0])]
        if kind == "library":
            module, name = rest
            return reduce(getattr, name.split("."), sys.modules[module])
        if kind == "dict":
            return {self.value(key): self.value(y) for key, y in rest[0]}
        if kind == "named tuple":
            return _new_tuple(self.value(rest[0]), [self.value(y) for y in rest[1]])
        if kind == "object":
            made = _new_object(self.value(rest[0]))
            for attribute, y in rest[1]:
                _set_attribute(made, attribute, self.value(y))
            return made
        items = map(self.value, rest[0])
        return tuple(items) if kind == "tuple" else [*items]


_new_object: Final = object.__new__
_set_attribute: Final = object.__setattr__
_new_tuple: Final = cast("Any", tuple).__new__


def _library_name(x: Any) -> tuple[str, str]:
    """Return the module of a library and the name by which it has an object.

    Raises:
        NotCacheable: no library has it.
    """
    module: Any = getattr(x, "__module__", None)
    names: Any = module_namespace(sys.modules[module]) if module in sys.modules else {}
    name: Any = getattr(x, "__qualname__", None)
    if type(name) is not str:  # a constant of the module of its class
        name = next((key for key, value in names.items() if value is x), "")
    if is_user_namespace(names) or not is_reachable(x, module, name):
        raise NotCacheable(
            Reason.RESULT, f"an object of class {class_of(x).__qualname__}"
        )
    return module, name


def _parts(treedef: tree.TreeDef) -> Iterator[tree.TreeDef]:
    yield treedef
    if not treedef.is_leaf:
        for child in treedef.children():
            yield from _parts(child)
