"""Structures of trees as plain data.

Tuples, lists, dictionaries with plain keys and None are known. Other classes are written
under a name that each process registers for them: names in the bytes import nothing.
"""

import base64
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from imprint._src.errors import ArgumentError
from imprint._src.tree import internal as tree

Data = Any
"""Data of JSON."""
_LEAF: Final = "*"


class _Node(NamedTuple):
    """The serialization of a registered class.

    Args:
        kind: the class.
        name: its name in the bytes.
        write: returns the bytes of its static data.
        read: returns the static data of the bytes.
        make: returns the node of static data and children.
    """

    kind: type
    name: str
    write: Callable[[Any], bytes | bytearray]
    read: Callable[[bytes], Any]
    make: Callable[[Any, tuple[Any, ...]], Any]


_by_kind: Final[dict[type, _Node]] = {}
_by_name: Final[dict[str, _Node]] = {}


def register_pytree_node_serialization(
    nodetype: type,
    *,
    serialized_name: str,
    serialize_auxdata: Callable[[Any], bytes | bytearray],
    deserialize_auxdata: Callable[[bytes], Any],
    from_children: Callable[[Any, Any], Any],
) -> type:
    """Register a class of nodes for the serialization of trees.

    Args:
        nodetype: a registered class of nodes.
        serialized_name: its name in the bytes, the same in every process.
        serialize_auxdata: returns the bytes of a node's static data.
        deserialize_auxdata: returns the static data of such bytes.
        from_children: returns a node of its static data and a tuple of children.

    Returns:
        The class.

    Raises:
        ArgumentError: the class has a name, or the name has a class.
    """
    return _register(
        _Node(
            nodetype,
            serialized_name,
            serialize_auxdata,
            deserialize_auxdata,
            from_children,
        )
    )


def register_namedtuple_serialization(nodetype: type, *, serialized_name: str) -> type:
    """Register a class of named tuples for the serialization of trees.

    Args:
        nodetype: the class.
        serialized_name: its name in the bytes, the same in every process.

    Returns:
        The class.

    Raises:
        ArgumentError: it is no named tuple, or the class or the name is registered.

    Example:
        >>> from typing import NamedTuple
        >>> from imprint import export
        >>> class Point(NamedTuple):
        ...     x: object
        ...     y: object
        >>> name = "geometry.Point"
        >>> export.register_namedtuple_serialization(
        ...     Point, serialized_name=name
        ... ) is Point
        True
    """
    kind: Any = nodetype
    if not (issubclass(nodetype, tuple) and hasattr(kind, "_fields")):
        raise ArgumentError(
            "register_namedtuple_serialization: expected a class of named tuples, got "
            f"{nodetype.__name__}. Take register_pytree_node_serialization for others."
        )

    def make(_: Any, children: tuple[Any, ...]) -> Any:
        return kind(*children)

    return _register(_Node(kind, serialized_name, _nothing, _nothing, make))


def _nothing(_: Any) -> bytes:
    return b""


def _register(node: _Node) -> type:
    for taken in (_by_kind.get(node.kind), _by_name.get(node.name)):
        if taken is not None:
            raise ArgumentError(
                f"serialization of {node.kind.__name__}: expected a class and a name that "
                f"are free, got {taken.kind.__name__} registered as {taken.name!r}. "
                "Register each class once, under a name of its own."
            )
    _by_kind[node.kind] = _by_name[node.name] = node
    return node.kind


# ---- to data ----


def to_data(who: str, treedef: tree.TreeDef) -> Data:
    """Return a structure as plain data."""
    found = treedef.node_data()
    if found is None:
        return _LEAF
    kind, static = found
    children = [to_data(who, child) for child in treedef.children()]
    if kind is type(None):
        return None
    if kind is tuple or kind is list:
        return [kind.__name__, children]
    if kind is dict or kind is OrderedDict:
        keys: list[Any] = list(static)
        if all(type(key) in (str, int) for key in keys):
            return [kind.__name__, children, keys]
    node = _by_kind.get(kind)
    if node is None:
        raise ArgumentError(
            f"{who}: expected trees of tuples, lists, dicts with keys that are texts or "
            f"ints, None and registered classes, got {kind.__name__}. Register it with "
            "imprint.export.register_pytree_node_serialization, or "
            "register_namedtuple_serialization."
        )
    data = base64.b64encode(bytes(node.write(static))).decode()
    return ["node", children, node.name, data]


# ---- and back ----


def from_data(who: str, data: Data) -> tree.TreeDef:
    """Return the structure of plain data."""
    return tree.structure(_built(who, data))


def _built(who: str, data: Data) -> Any:
    if data == _LEAF:
        return 0
    if data is None:
        return None
    kind, children, *more = data
    parts: list[Any] = [_built(who, child) for child in children]
    if kind in _SEQUENCES:
        return _SEQUENCES[kind](parts)
    if kind in _MAPPINGS:
        return _MAPPINGS[kind](zip(*more, parts, strict=True))
    name, static = more
    node = _by_name.get(name)
    if node is None:
        raise ArgumentError(
            f"{who}: expected the class that is registered as {name!r}, got none. "
            "Register it in this process as in the one that serialized."
        )
    return node.make(node.read(base64.b64decode(static)), tuple(parts))


_SEQUENCES: Final[dict[str, Callable[..., Any]]] = {"tuple": tuple, "list": list}
_MAPPINGS: Final[dict[str, Callable[..., Any]]] = {
    "dict": dict,
    "OrderedDict": OrderedDict,
}
