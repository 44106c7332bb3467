"""Registration of classes as nodes of pytrees.

Every way ends in `_register`: a function from a node to (children, static data, keys),
and one back. The names and signatures are JAX's. A class is registered once, for the
process, and for imprint only; a subclass is another class. Static data is hashed and
compared as `statics.Static` says. Keys are read at every flatten, so they should be
constants.
"""

import dataclasses
import functools
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar, cast, final

import optree

from imprint._src.errors import ArgumentError
from imprint._src.tree.fields import opener_for, restorer_for
from imprint._src.tree.keys import GetAttrKey
from imprint._src.tree.statics import Static, static_of
from imprint._src.tree.treedef import NAMESPACE
from imprint._src.tree.walk import (
    Fields,
    Opener,
    fields_of,
    register_opener,
    registered,
)

T = TypeVar("T")
C = TypeVar("C", bound=type)

Children: TypeAlias = Iterable[Any]
Flattened: TypeAlias = tuple[Children, Any] | tuple[Children, Any, tuple[Any, ...]]


class FlattensItself(Protocol):
    """A class that can be registered by `register_pytree_node_class`."""

    def tree_flatten(self) -> tuple[Children, Any]:
        """Return the children, and the static data."""
        ...

    @classmethod
    def tree_unflatten(cls, aux_data: Any, children: Any) -> Self:
        """Return a node with this static data and these children."""
        ...


F = TypeVar("F", bound=FlattensItself)


def register_pytree_node(
    nodetype: type[T],
    flatten_func: Callable[[T], tuple[Children, Any]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_with_keys_func: Callable[[T], tuple[Iterable[Any], Any]] | None = None,
) -> None:
    """Make a class a node of pytrees.

    Args:
        nodetype: the class; its subclasses stay leaves.
        flatten_func: from a node to its children and its static data. Children may be
            anything; to be an argument of `jit`, static data must be hashable, or lists,
            dictionaries, sets and NumPy arrays, which count by content.
        unflatten_func: from static data and children to a node. Children may be
            placeholders of any kind, so it should check nothing.
        flatten_with_keys_func: as `flatten_func`, with a pair (key, child) for each child.

    Returns:
        None.

    References:
        JAX, `jax.tree_util.register_pytree_node`.

    Example:
        >>> from imprint import tree
        >>> class Pair:
        ...     def __init__(self, a, b):
        ...         self.a, self.b = a, b
        >>> tree.register_pytree_node(
        ...     Pair, lambda p: ((p.a, p.b), None), lambda _, children: Pair(*children)
        ... )
        >>> tree.leaves(Pair(1, [2, 3]))
        [1, 2, 3]
    """
    if flatten_with_keys_func is not None:
        register_pytree_with_keys(nodetype, flatten_with_keys_func, unflatten_func)
        return

    def flatten(node: T) -> Flattened:
        children, aux = flatten_func(node)
        return children, _static(aux)

    rebuild = unflatten_func
    _register(nodetype, flatten, _unwrapped(rebuild), flatten_func, rebuild=rebuild)


def register_pytree_with_keys(
    nodetype: type[T],
    flatten_with_keys: Callable[[T], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_func: Callable[[T], tuple[Children, Any]] | None = None,
) -> None:
    """Make a class a node whose children have names.

    Args:
        nodetype: the class.
        flatten_with_keys: from a node to pairs (key, child) and its static data.
        unflatten_func: from static data and children to a node.
        flatten_func: from a node to its children and its static data, without names,
            for speed.

    Returns:
        None.

    References:
        JAX, `jax.tree_util.register_pytree_with_keys`.

    Example:
        >>> from imprint import tree
        >>> class Box:
        ...     def __init__(self, inside):
        ...         self.inside = inside
        >>> tree.register_pytree_with_keys(
        ...     Box,
        ...     lambda box: ([(tree.GetAttrKey("inside"), box.inside)], None),
        ...     lambda _, children: Box(*children),
        ... )
        >>> tree.structure(Box(1)).paths()
        [(GetAttrKey(name='inside'),)]
    """

    def flatten(node: T) -> Flattened:
        keyed, aux = flatten_with_keys(node)
        pairs = list(keyed)
        keys = tuple([key for key, _ in pairs])
        return [child for _, child in pairs], _static(aux), keys

    def without_keys(node: T) -> tuple[Children, Any]:
        keyed, aux = flatten_with_keys(node)
        return [child for _, child in keyed], aux

    raw = flatten_func or without_keys

    def opener(node: T) -> tuple[Children, Any]:
        children, aux = raw(node)
        return children, _static(aux)

    rebuild = unflatten_func
    _register(nodetype, flatten, _unwrapped(rebuild), raw, opener, rebuild=rebuild)


def register_pytree_node_class(cls: type[F]) -> type[F]:
    """Make a class a node by its methods `tree_flatten` and `tree_unflatten`.

    Args:
        cls: the class; `tree_flatten` returns children and static data, and the class
            method `tree_unflatten` takes static data and children.

    Returns:
        The class.

    References:
        JAX, `jax.tree_util.register_pytree_node_class`.

    Example:
        >>> from imprint import tree
        >>> @tree.register_pytree_node_class
        ... class Scaled:
        ...     def __init__(self, x, unit):
        ...         self.x, self.unit = x, unit
        ...
        ...     def tree_flatten(self):
        ...         return (self.x,), self.unit
        ...
        ...     @classmethod
        ...     def tree_unflatten(cls, unit, children):
        ...         return cls(*children, unit)
        >>> tree.map(lambda x: 2 * x, Scaled(3, "m")).x
        6
    """
    register_pytree_node(cls, cls.tree_flatten, cls.tree_unflatten)
    return cls


def register_pytree_with_keys_class(cls: C) -> C:
    """Make a class a node by `tree_flatten_with_keys` and `tree_unflatten`.

    Args:
        cls: the class; `tree_flatten_with_keys` returns pairs (key, child) and static
            data, and the class method `tree_unflatten` takes static data and children.

    Returns:
        The class.

    References:
        JAX, `jax.tree_util.register_pytree_with_keys_class`.

    Example:
        >>> from imprint import tree
        >>> @tree.register_pytree_with_keys_class
        ... class Named:
        ...     def __init__(self, x):
        ...         self.x = x
        ...
        ...     def tree_flatten_with_keys(self):
        ...         return [(tree.GetAttrKey("x"), self.x)], None
        ...
        ...     @classmethod
        ...     def tree_unflatten(cls, _, children):
        ...         return cls(*children)
        >>> tree.leaves(Named(3))
        [3]
    """
    methods: Any = cls
    register_pytree_with_keys(
        cls, methods.tree_flatten_with_keys, methods.tree_unflatten
    )
    return cls


def register_dataclass(
    nodetype: C,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> C:
    """Make a dataclass a node: its data fields are children, its meta fields are static.

    Args:
        nodetype: the class; calling it with its fields as keywords makes a copy.
        data_fields: the names of the children; by default all that are not static.
        meta_fields: the names of the static fields; by default those declared with
            `dataclasses.field(metadata={"static": True})`.
        drop_fields: the names of fields that are neither, and get their default.

    Returns:
        The class.

    References:
        JAX, `jax.tree_util.register_dataclass`.

    Example:
        >>> import dataclasses
        >>> from imprint import tree
        >>> @tree.register_dataclass
        ... @dataclasses.dataclass
        ... class Layer:
        ...     w: float
        ...     name: str = dataclasses.field(metadata={"static": True})
        >>> tree.map(lambda w: -w, Layer(2.0, "out"))
        Layer(w=-2.0, name='out')
    """
    data, meta = _split_fields(nodetype, data_fields, meta_fields, drop_fields)

    def restore(aux: Static, children: Iterable[Any]) -> Any:
        fields = dict(zip(data, children, strict=True))
        return nodetype(**fields, **dict(zip(meta, aux.value, strict=True)))

    _register_fields(nodetype, (data, meta), restore)
    return nodetype


def register_fields(cls: type, data: tuple[str, ...], meta: tuple[str, ...]) -> None:
    """Make a class a node whose children and static data are attributes.

    Unflattening runs no code of the class.

    Args:
        cls: the class.
        data: the names of the children.
        meta: the names of the static data.
    """
    _register_fields(cls, (data, meta), restorer_for(cls, data, meta))


def static(**options: Any) -> Any:
    """Return a field of a dataclass that is static, for `register_dataclass`.

    Args:
        **options: those of `dataclasses.field`.

    Returns:
        A field whose metadata has `static` set.

    References:
        JAX, `jax.tree.static`.

    Example:
        >>> import dataclasses
        >>> from imprint import tree
        >>> @tree.register_dataclass
        ... @dataclasses.dataclass
        ... class Layer:
        ...     weight: float
        ...     name: str = tree.static(default="layer")
        >>> tree.leaves(Layer(1.0))
        [1.0]
    """
    given: Any = options.pop("metadata", None) or {}
    return dataclasses.field(metadata={**given, "static": True}, **options)


def register_static(cls: C) -> C:
    """Make a class a node without children: its instances are static data.

    They must have `__hash__` and `__eq__`.

    Args:
        cls: the class.

    Returns:
        The class.

    References:
        JAX, `jax.tree_util.register_static`.

    Example:
        >>> from imprint import tree
        >>> @tree.register_static
        ... class Unit(str):
        ...     pass
        >>> tree.leaves([1, Unit("m")])
        [1]
    """
    _register(
        cls,
        lambda node: ((), Static(node)),
        lambda aux, _: aux.value,
        lambda node: ((), node),
    )
    return cls


def is_tree_node(typ: type) -> bool:
    """Return whether instances of exactly this class are nodes.

    Args:
        typ: the class.

    Returns:
        A bool.

    References:
        JAX, `jax.tree_util.is_tree_node`.

    Example:
        >>> from imprint import tree
        >>> tree.is_tree_node(dict), tree.is_tree_node(set)
        (True, False)
    """
    registered: Any = _register_in_optree.get(typ, namespace=NAMESPACE)
    return registered is not None or optree.is_namedtuple_class(typ)


class Partial(functools.partial[T]):
    """A `functools.partial` that is a node: the function is static, arguments are children.

    Unlike a plain partial it can be an argument or a result of a jitted function.

    Example:
        >>> from imprint import tree
        >>> tree.leaves(tree.Partial(max, 1, 2))
        [1, 2]

    The arguments of a plain partial that it is given stay part of the function:

        >>> tree.leaves(tree.Partial(functools.partial(max, 1), 2))
        [2]
    """

    def __new__(cls, func: Callable[..., T], /, *args: Any, **keywords: Any) -> Self:
        """Return the partial; Python would merge it with another one."""
        given: Any = func
        if isinstance(given, functools.partial) and not isinstance(given, cls):
            given = _Whole(cast("Callable[..., T]", given))
        return super().__new__(cls, given, *args, **keywords)


@final
class _Whole(Generic[T]):
    """A plain partial, as a function without arguments of its own."""

    __slots__ = ("__wrapped__",)

    def __init__(self, wrapped: Callable[..., T]) -> None:
        self.__wrapped__: Callable[..., T] = wrapped

    def __call__(self, *args: Any, **keywords: Any) -> T:
        """Call the partial."""
        return self.__wrapped__(*args, **keywords)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Whole) and self.__wrapped__ == other.__wrapped__

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __imprint_token__(self) -> object:
        """Return what stands for the partial in a key."""
        return self.__wrapped__

    def __repr__(self) -> str:
        return repr(self.__wrapped__)


def _register_fields(
    cls: type,
    names: tuple[tuple[str, ...], tuple[str, ...]],
    restore: Callable[[Any, Any], Any],
) -> None:
    data, meta = names
    keys = tuple([GetAttrKey(name) for name in data])
    nothing = Static(())

    def flatten(node: Any) -> Flattened:
        children = [getattr(node, name) for name in data]
        if not meta:
            return children, nothing, keys
        return children, static_of(tuple([getattr(node, n) for n in meta])), keys

    opener = opener_for(data, meta)
    _register(cls, flatten, restore, opener, opener)  # a match reads the fields
    fields_of[cls] = Fields(data, meta)


def _static(aux: object) -> object:
    return None if aux is None else static_of(aux)


def _split_fields(
    nodetype: type,
    data: Sequence[str] | None,
    meta: Sequence[str] | None,
    dropped: Sequence[str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    declared = hasattr(nodetype, "__dataclass_fields__")
    if not declared and (data is None or meta is None):
        raise ArgumentError(
            "register_dataclass: expected data_fields and meta_fields for a class that "
            f"is no dataclass, got only {nodetype.__name__}. Name the fields, or "
            "decorate the class with dataclasses.dataclass."
        )
    fields = dataclasses.fields(cast("Any", nodetype)) if declared else ()
    static = {f.name for f in fields if f.metadata.get("static", False)}
    wanted = [f.name for f in fields if f.init and f.name not in dropped]
    if meta is None:
        meta = [n for n in wanted if (n in static if data is None else n not in data)]
    if data is None:
        data = [n for n in wanted if n not in meta]
    if declared and sorted(wanted) != sorted((*data, *meta)):
        raise ArgumentError(
            f"register_dataclass: expected each of {sorted(wanted)} once among the "
            f"fields of {nodetype.__name__}, got data_fields={list(data)} and "
            f"meta_fields={list(meta)}. List the others in drop_fields."
        )
    return tuple(data), tuple(meta)


def _unwrapped(unflatten: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def restore(aux: object, children: object) -> Any:
        return unflatten(aux.value if isinstance(aux, Static) else aux, children)

    return restore


_register_in_optree: Any = optree.register_pytree_node  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - its stub names a class without its parameter


def _register(
    cls: type,
    flatten: Callable[[Any], Flattened],
    restore: Callable[[Any, Any], Any],
    raw: Opener,
    opener: Opener | None = None,
    rebuild: Callable[[Any, Any], Any] | None = None,
) -> None:
    try:
        with warnings.catch_warnings():  # a named tuple may be a node of another form
            warnings.simplefilter("ignore", UserWarning)
            _register_in_optree(cls, flatten, restore, namespace=NAMESPACE)
    except ValueError as err:
        raise ArgumentError(
            f"register: expected a class that is no node yet, got {cls.__name__}, which "
            "was registered before. Register it once, where it is defined."
        ) from err
    registered.functions[id(cls)] = flatten, restore
    register_opener(cls, opener or (lambda node: flatten(node)[:2]), raw, rebuild)


_register(
    Partial,
    lambda p: ((p.args, p.keywords), Static(p.func), _PARTIAL_KEYS),
    lambda aux, parts: Partial(aux.value, *parts[0], **parts[1]),
    lambda p: ((p.args, p.keywords), p.func),
)
_PARTIAL_KEYS = (GetAttrKey("args"), GetAttrKey("keywords"))
