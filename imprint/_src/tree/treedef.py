"""TreeDef: the structure of a pytree without its leaves; and `flatten`, which finds it.

optree's C++ does the walking, in a namespace of its own, so nothing that imprint
registers is seen by other users of optree. A TreeDef wraps optree's spec and is
interned: equal structures are one object, so a cache compares them with `is` and hashes
them for nothing. Interning is exact, unlike `==` of specs: keys `1`, `1.0` and `True`
give three TreeDefs (`_odd_keys`), and static data is compared with its types
(`statics.Static`). Dicts come back with sorted keys, in any original order, as in JAX.
"""

import sys
from _weakref import (
    _remove_dead_weakref as drop_dead,  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType] - atomic, as nothing public is
)
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence, Sized
from threading import RLock
from types import FunctionType
from typing import Any, ClassVar, Final, Never, TypeAlias, final
from weakref import ref

import optree

from imprint._src.errors import ArgumentError, TreeError
from imprint._src.tree import walk as walks
from imprint._src.tree.keys import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyPath,
    SequenceKey,
)
from imprint._src.tree.statics import (
    COPIES,
    SCALARS,
    STATICS_OF_TUPLES,
    Static,
    detached,
    static_of,
)
from imprint._src.tree.walk import Shape, all_leaf_types, all_text
from imprint._src.tree.walk import register_leaf as register_leaf

NAMESPACE: Final = "imprint"

# A pytree is any object, and unflattening gives one that only the caller knows.
PyTree: TypeAlias = Any
Leaf: TypeAlias = Any
IsLeaf: TypeAlias = Callable[[Any], bool]

_Spec: TypeAlias = optree.PyTreeSpec
_OddKeys: TypeAlias = tuple[tuple[Hashable, ...], ...]
opaque_types: Final[set[type]] = set()
"""Classes that are nodes to transforms and leaves to users: arrays of keys."""


class Walks:
    """Walks over trees: in Python until `jit` loads the native core.

    Attributes:
        walk: appends the leaves of a tree to a list and returns its shape.
        map_tree: applies a function to the leaves of trees, or returns NotImplemented.
    """

    walk: ClassVar[Callable[[Any, list[Any]], Shape]] = staticmethod(walks.walk)
    map_tree: ClassVar[Callable[..., Any] | None] = None


def use_native(core: Any) -> None:
    """Walk in C from now on."""
    core.setup_walks(
        walks.leaf_types,
        opaque_types,
        walks.openers,
        walks.plain_openers,
        walks.rebuilders,
        STATICS_OF_TUPLES.data,  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - its stub lacks the dictionary of weak references
        static_of,
        detached,
        COPIES,
        walks.is_named_tuple,
    )
    Walks.walk = staticmethod(core.walk)
    Walks.map_tree = staticmethod(core.map_tree)


_UNKNOWN: Final = ()
"""The shape of a tree that was not walked; a node's begins with its class."""


def flatten(
    tree: PyTree, is_leaf: IsLeaf | None = None
) -> tuple[list[Leaf], "TreeDef"]:
    """Flatten a pytree, for transforms: arrays of keys are nodes.

    Hot: every call of a compiled function uses it. A flat tuple or list of known leaf
    types costs 20 ns a leaf, and most other trees are walked (`walk`).

    Args:
        tree: any object.
        is_leaf: called with each node; true makes a leaf of it.
    """
    kind = type(tree)  # pyright: ignore[reportUnknownVariableType] - of an Any
    if is_leaf is not None:
        return _flatten_new(tree, _UNKNOWN, is_leaf)
    if (kind is tuple or kind is list) and all_leaf_types(map(type, tree)):
        return list(tree), _flat.get((kind, len(tree))) or _make_flat(kind, len(tree))
    leaves: list[Any] = []
    try:
        shape = Walks.walk(tree, leaves)
        found = _interned.get(shape)
    except (KeyError, TypeError, RecursionError):  # optree handles it, or raises
        return _flatten_new(tree, _UNKNOWN)
    treedef = None if found is None else found()
    return _flatten_new(tree, shape) if treedef is None else (leaves, treedef)


def _flatten_new(
    tree: PyTree, shape: Shape, is_leaf: IsLeaf | None = None
) -> tuple[list[Leaf], "TreeDef"]:
    try:
        leaves, spec = optree.tree_flatten(tree, is_leaf, namespace=NAMESPACE)
    except RecursionError:
        raise too_deep(tree) from None
    treedef = _intern(spec)
    if shape is not _UNKNOWN and type(treedef) is TreeDef:
        with _intern_lock:
            _remember(shape, treedef)
    return leaves, treedef


def too_deep(tree: PyTree) -> RecursionError:
    """Return the error of a tree without end, or with too many levels."""
    try:
        place = _cycle(tree, {id(tree)}, set())
    except RecursionError:
        place = None
    found = "more levels" if place is None else f"one that contains itself: tree{place}"
    return RecursionError(
        f"pytree: expected a tree of at most {optree.MAX_RECURSION_DEPTH} levels, got "
        f"{found}. A tree has an end: refer to what is above by a name or a number."
    )


def _cycle(node: PyTree, above: set[int], done: set[int]) -> str | None:
    """Return the way from a node down to one that is above it."""
    if id(node) in done or optree.all_leaves([node], namespace=NAMESPACE):
        return None
    children, _, keys, _ = optree.tree_flatten_one_level(node, namespace=NAMESPACE)
    for key, child in zip(keys, children, strict=True):
        step = str(key) if isinstance(key, GetAttrKey) else f"[{key!r}]"
        if id(child) in above:
            return step
        rest = _cycle(child, {*above, id(child)}, done)
        if rest is not None:
            return step + rest
    done.add(id(node))
    return None


class TreeDef:
    """The structure of a pytree: equal structures are the same object."""

    __slots__ = (
        *("__weakref__", "_has_opaque", "_unflatten"),
        *("is_flat_tuple", "num_leaves", "odd_keys", "spec"),
    )

    def __init__(self, spec: _Spec, odd_keys: _OddKeys) -> None:
        self.spec = spec
        self.odd_keys = odd_keys
        self.num_leaves: int = spec.num_leaves
        self.is_flat_tuple: bool = (
            spec.type is tuple and spec.num_nodes == spec.num_leaves + 1
        )
        self._unflatten = spec.unflatten
        self._has_opaque: bool | None = None

    @property
    def has_opaque(self) -> bool:
        """Whether a node of it is a leaf to users."""
        if self._has_opaque is None:
            self._has_opaque = not opaque_types.isdisjoint(self.classes())
        return self._has_opaque

    def agrees(self, other: "TreeDef | None") -> bool:
        """Return whether static data is equal by its own `==`, for which 1 is 1.0.

        That is enough where trees go together, as in `map` or the carry of a loop; a
        program is traced for exactly one structure.
        """
        if other is None or self == other:
            return other is not None
        if self.num_leaves != other.num_leaves:
            return False
        return self.spec == other.spec or _is_equal(self._nodes(), other._nodes())

    def _nodes(self) -> list[tuple[type, Any, int]]:
        """Return the class, the data and the number of children of each node."""
        found: list[tuple[type, Any, int]] = []

        def visit(kind: type, data: Any, children: tuple[object, ...]) -> None:
            found.append((kind, data, len(children)))

        self.spec.walk(range(self.num_leaves), visit)
        return found

    def unflatten(self, leaves: Iterable[Leaf]) -> PyTree:
        """Put leaves into this structure.

        Raises:
            TreeError: there are too few or too many.
        """
        try:
            return self._unflatten(leaves)
        except ValueError as err:
            count = len(leaves) if isinstance(leaves, Sized) else self.num_leaves
            if count == self.num_leaves:
                raise  # by a node's own unflatten
            raise TreeError(
                f"unflatten: expected {self.num_leaves} leaves, got {count}. "
                f"The structure is {self}."
            ) from err

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """Return the subtrees of `tree` at the leaves of this structure.

        Raises:
            ValueError: this structure is no prefix of `tree`; `prefix` says where.
        """
        return self.spec.flatten_up_to(tree)

    def children(self) -> tuple["TreeDef", ...]:
        """Return the structures of the root's children."""
        return tuple([_intern(child) for child in self.spec.children()])

    def node_data(self) -> tuple[type, Any] | None:
        """Return the class and the static data of the root; None for a leaf.

        Example:
            >>> from imprint import tree
            >>> tree.structure({"b": 1, "a": 2}).node_data()
            (<class 'dict'>, ['a', 'b'])
        """
        one = self.spec.one_level()
        if one is None:
            return None
        found: list[tuple[type, Any]] = []
        one.walk(
            range(one.num_leaves), lambda kind, data, _: found.append((kind, data))
        )
        ((kind, data),) = found
        if isinstance(data, Static):
            return kind, data.value
        return kind, (None if isinstance(data, type) else data)  # of a named tuple

    def static_data(self) -> list[object]:
        """Return the static data of all nodes of registered classes, and odd keys."""
        found: list[object] = []

        def visit(_: type, data: Any, __: tuple[Any, ...]) -> None:
            if isinstance(data, Static):
                found.append(data.value)

        self.spec.walk(range(self.num_leaves), visit)
        odd = [key for keys in self.odd_keys for key in keys]
        return found + [key.value for key in odd if isinstance(key, Static)]

    def classes(self) -> list[type]:
        """Return the classes of its nodes."""
        found: dict[int, type] = {}

        def visit(cls: type, _: Any, __: tuple[Any, ...]) -> None:
            if cls is not type(None):
                found[id(cls)] = cls

        self.spec.walk(range(self.num_leaves), visit)
        return [*found.values()]

    def root(self) -> "TreeDef":
        """Return the structure with a leaf for each child of the root."""
        one = self.spec.one_level()
        return self if one is None else _intern(one)

    def compose(self, inner: "TreeDef") -> "TreeDef":
        """Return this structure with `inner` at every leaf."""
        return _intern(self.spec.compose(inner.spec))

    def paths(self) -> list[KeyPath]:
        """Return the key path of every leaf."""
        accessors = self.spec.accessors()
        return [tuple([_as_key(entry) for entry in path]) for path in accessors]

    def keys(self) -> tuple[Hashable, ...]:
        """Return the key of each of the root's children."""
        one = self.spec.one_level()
        return () if one is None else tuple([_as_key(a[0]) for a in one.accessors()])

    @property
    def num_nodes(self) -> int:
        """How many nodes and leaves there are."""
        return self.spec.num_nodes

    @property
    def is_leaf(self) -> bool:
        """Whether this is the structure of a single leaf."""
        return self.spec.is_leaf()

    def __reduce__(self) -> tuple[object, ...]:
        return (_intern, (self.spec,))

    def __repr__(self) -> str:
        text = str(self.spec).removeprefix("PyTreeSpec(").removesuffix(")")
        text = text.removesuffix(f", namespace={NAMESPACE!r}")
        return f"PyTreeDef({text})".replace("CustomTreeNode(", "CustomNode(")


def _is_equal(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(
        x[0] is y[0] and x[2] == y[2] and _is_equal_data(x[1], y[1])
        for x, y in zip(one, other, strict=True)
    )


def _is_equal_data(one: Any, other: Any) -> bool:
    if not (isinstance(one, Static) and isinstance(other, Static)):
        return bool(one == other)
    if one == other:
        return True
    try:
        return bool(one.kept == other.kept)
    except Exception:  # arrays, whose `==` is no bool
        return False


@final
class _LooseTreeDef(TreeDef):
    """A structure whose static data has no hash. It maps and unflattens, but is no key."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeDef) and self.spec == other.spec

    def __hash__(self) -> Never:
        text = (
            f"pytree: expected static data that can be hashed, got {self}. "
            "Make it hashable (a tuple for a list), or a child of its node."
        )
        try:
            _odd_keys(self.spec)
        except TypeError as err:
            raise ArgumentError(f"{text} ({err})") from err
        raise ArgumentError(text)


# ---- flat tuples and lists ----

_flat: Final[dict[tuple[type, int], TreeDef]] = {}


def _make_flat(kind: type, length: int) -> TreeDef:
    treedef = _flat[kind, length] = structure(kind([0] * length))
    return treedef


def structure(tree: PyTree, is_leaf: IsLeaf | None = None) -> TreeDef:
    """Return the structure of a pytree."""
    try:
        return _intern(optree.tree_structure(tree, is_leaf, namespace=NAMESPACE))
    except RecursionError:
        raise too_deep(tree) from None


def treedef_tuple(treedefs: Sequence[TreeDef]) -> TreeDef:
    """Return the structure of a tuple of trees with these structures.

    Args:
        treedefs: the structures.

    Returns:
        The structure.

    References:
        JAX, `jax.tree_util.treedef_tuple`.
    """
    specs = [treedef.spec for treedef in treedefs]
    return _intern(optree.treespec_tuple(specs, namespace=NAMESPACE))


def treedef_children(treedef: TreeDef) -> list[TreeDef]:
    """Return the structures of the root's children.

    Args:
        treedef: the structure.

    Returns:
        A list; empty for a leaf.

    References:
        JAX, `jax.tree_util.treedef_children`.

    Example:
        >>> from imprint import tree
        >>> tree.treedef_children(tree.structure((1, [2])))
        [PyTreeDef(*), PyTreeDef([*])]
    """
    return list(treedef.children())


def treedef_is_leaf(treedef: TreeDef) -> bool:
    """Return whether this is the structure of a leaf, or of a node without children.

    Args:
        treedef: the structure.

    Returns:
        A bool.

    References:
        JAX, `jax.tree_util.treedef_is_leaf`.

    Example:
        >>> from imprint import tree
        >>> (
        ...     tree.treedef_is_leaf(tree.structure(1)),
        ...     tree.treedef_is_leaf(tree.structure([1])),
        ... )
        (True, False)
    """
    return treedef.num_nodes == 1


# ---- interning ----

# By spec, by (spec, odd keys), and by the shape of a walk.
_interned: Final[dict[object, ref[TreeDef]]] = {}
# Not a plain lock: a collection inside may run code of the user.
_intern_lock: Final = RLock()
# The last few structures stay alive that keep nothing else alive, so that a loop over
# `tree.map`, or over calls with static structures, does not make and drop the same ones
# every time.
_recent: Final[deque[TreeDef]] = deque(maxlen=64)


def _intern(spec: _Spec) -> TreeDef:
    try:
        odd = _odd_keys(spec)  # a string of a user class equals a plain one
    except TypeError:  # static data without a hash
        return _LooseTreeDef(_with_sorted_dicts(spec), ())
    found = _interned.get(spec)
    treedef = None if found is None else found()
    if treedef is not None and treedef.odd_keys == odd:
        return treedef
    return _intern_new(spec, odd)


def _intern_new(spec: _Spec, odd: _OddKeys) -> TreeDef:
    with _intern_lock:
        exact = (spec, odd)
        found = _interned.get(exact)
        treedef = None if found is None else found()
        if treedef is None:
            treedef = TreeDef(_with_sorted_dicts(spec), odd)
            _remember(exact, treedef)
        # Where keys are odd this entry is only the last one seen, for `_intern` to try.
        _remember(spec, treedef)
    if not spec.namespace or _keeps_nothing(treedef):
        _recent.append(treedef)
    return treedef


def _keeps_nothing(treedef: TreeDef) -> bool:
    """Return whether all objects in a structure have a name in a module, or no state."""
    try:
        named = all(map(_is_named, treedef.classes()))
        return named and all(map(_is_lasting, treedef.static_data()))
    except Exception:  # of a metaclass of the user
        return False


def _is_lasting(value: Any) -> bool:
    kind = _class_of(value)
    if kind in SCALARS or _is_named(value):
        return True
    if kind is tuple or kind is list:
        return all(map(_is_lasting, value))
    is_small = kind.__basicsize__ <= _EMPTY_SIZE and not kind.__itemsize__
    return is_small and kind.__dictoffset__ != 0 and not vars(value) and _is_named(kind)


def _is_named(value: Any) -> bool:
    """Return whether a class or a function is bound to its own name in its module."""
    kind = _class_of(value)
    if not (kind is FunctionType or issubclass(kind, type)):
        return False
    found: Any = sys.modules.get(value.__module__)
    for name in value.__qualname__.split("."):
        found = getattr(found, "__dict__", {}).get(name)
    return found is value


_class_of: Final[Callable[[Any], Any]] = type


class _Empty:
    pass


_EMPTY_SIZE: Final = _Empty.__basicsize__


def _remember(key: object, treedef: TreeDef) -> None:
    # Without the lock: the thread in which it dies may hold one for which another waits.
    def drop(_: object, *, drop_dead: Any = drop_dead, table: Any = _interned) -> None:
        drop_dead(table, key)  # by defaults: also at exit

    _interned[key] = ref(treedef, drop)


def _odd_keys(spec: _Spec) -> _OddKeys:
    """Return tokens of the keys of each dict with a key that is no plain `str`.

    Raises:
        TypeError: there is static data without a hash. optree's own hash skips it.
    """
    odd: list[tuple[Hashable, ...]] = []

    def visit(kind: type, data: Any, _children: tuple[object, ...]) -> None:
        if kind is not dict and kind is not OrderedDict and kind is not defaultdict:
            hash(data)
            return
        factory, keys = data if kind is defaultdict else (None, data)
        if not all_text(map(type, keys)):
            odd.append(tuple(map(_exactly, keys)))
        if type(factory) not in _THEMSELVES:
            odd.append((Static(factory),))

    spec.walk(range(spec.num_leaves), visit)
    return tuple(odd)


def _exactly(key: object) -> Hashable:
    """Return the token of a key: its type, or all of it."""
    return type(key) if type(key) in _TYPED else Static(key)


_TYPED: Final = frozenset({str, int, bool, bytes, type(None)})
"""Classes whose equal instances are the same."""
_THEMSELVES: Final = frozenset({type, FunctionType, type(None)})
"""Classes of factories that equal only themselves, and whose reads are watched."""


def _with_sorted_dicts(spec: _Spec) -> _Spec:
    """Return an equal spec that unflattens dicts in the order of their leaves.

    optree would keep the order in which the first dict of this structure was filled, and
    a program traced with it would depend on who called first.
    """
    return spec.transform(_sort_dict)


def _sort_dict(node: _Spec) -> _Spec:
    if node.type is not dict and node.type is not defaultdict:
        return node
    given: Any = node.unflatten(range(node.num_children))
    ordered = given.copy()  # keeps the factory of a defaultdict
    ordered.clear()
    ordered.update((key, given[key]) for key in node.entries())
    return optree.tree_structure(ordered, namespace=NAMESPACE)


# ---- key paths ----

_SEQUENCES: Final = frozenset(
    {optree.PyTreeKind.TUPLE, optree.PyTreeKind.LIST, optree.PyTreeKind.DEQUE}
)


def _as_key(entry: optree.PyTreeEntry) -> Hashable:
    if entry.kind in _SEQUENCES:
        return SequenceKey(entry.entry)
    if isinstance(entry, optree.NamedTupleEntry | optree.StructSequenceEntry):
        return GetAttrKey(entry.field)
    if entry.kind != optree.PyTreeKind.CUSTOM:
        return DictKey(entry.entry)
    given: Any = entry.entry
    # A class registered without keys gives its children's numbers.
    return FlattenedIndexKey(given) if type(given) is int else given
