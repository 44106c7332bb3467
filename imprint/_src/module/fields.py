"""Fields of a class of modules, and its conversion to a dataclass and a pytree node.

A field is an annotated name, as in dataclasses. `field` adds `static`, which moves it from
the tree into the structure, and `converter`, which is applied to its value after
`__init__`. `AbstractVar` and `AbstractClassVar` leave a name to subclasses.

`declare` runs when the body of a class ends. The dataclass is frozen, so readers of
dataclasses see all fields and that they are constant. `__setattr__` and `__eq__` are those
of `Module`: the first lets `__init__` assign, the second compares arrays.
"""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar, cast, final, get_origin

from imprint._src.errors import ArgumentError
from imprint._src.tree.registry import register_fields

T = TypeVar("T")


def field(
    *,
    static: bool = False,
    converter: Callable[[Any], Any] | None = None,
    **kwargs: Any,
) -> Any:
    """Declare a field of a `Module` with options.

    Args:
        static: the value is part of the structure and no leaf: transforms ignore it, and
            `jit` compiles for each value. Arrays cannot be static.
        converter: called with the value after `__init__`, also with a default; its result
            becomes the value.
        **kwargs: options of `dataclasses.field`: `default`, `default_factory`, `init`,
            `kw_only`, `repr`, `compare`, `metadata`.

    Returns:
        A field, to be assigned in the body of a class.

    Raises:
        ArgumentError: `metadata` has a key of this function.

    References:
        Equinox, `equinox.field`.

    Example:
        >>> from imprint import tree
        >>> from imprint.module import Module, field
        >>> class Scale(Module):
        ...     factor: float = field(converter=float)
        ...     axis: int = field(static=True, default=0)
        >>> tree.leaves(Scale(2))
        [2.0]
    """
    metadata = dict(kwargs.pop("metadata", None) or {})
    for name, given in (("static", static), ("converter", converter)):
        if name in metadata:
            raise ArgumentError(
                f"field: expected metadata without the key {name!r}, which is field's "
                f"own, got {metadata}. Write field({name}=...)."
            )
        if given:
            metadata[name] = given
    return dataclasses.field(metadata=metadata, **kwargs)


class AbstractVar(Generic[T]):
    """An annotation: subclasses must have this attribute, as a field or a property.

    Example:
        >>> from imprint.module import AbstractVar, Module
        >>> class Layer(Module):
        ...     width: AbstractVar[int]
        >>> class Dense(Layer):
        ...     width: int
        >>> Dense(3).width
        3
    """


class AbstractClassVar(Generic[T]):
    """An annotation: subclasses must have this class attribute.

    Example:
        >>> from typing import ClassVar
        >>> from imprint.module import AbstractClassVar, Module
        >>> class Layer(Module):
        ...     kind: AbstractClassVar[str]
        >>> class Dense(Layer):
        ...     kind: ClassVar[str] = "dense"
        >>> Dense.kind
        'dense'
    """


# ---- declarations ----


@final
@dataclasses.dataclass(frozen=True, slots=True)
class Declaration:
    """The declared fields and options of a class of modules.

    Args:
        order: the names of the fields.
        names: the same, as a set.
        data: the names of children.
        meta: the names of static fields.
        converters: of the fields that have one.
        checks: `__check_init__` of each class that has one, nearest first.
        abstract: abstract attributes, each with the word that declares it.
        own_init: whether the user wrote `__init__`.
    """

    order: tuple[str, ...]
    names: frozenset[str]
    data: tuple[str, ...]
    meta: tuple[str, ...]
    converters: tuple[tuple[str, Callable[[Any], Any]], ...]
    checks: tuple[Callable[[Any], Any], ...]
    abstract: tuple[tuple[str, str], ...]
    own_init: bool


def declare(cls: Any, options: dict[str, Any]) -> Declaration:
    """Make a class a dataclass and a node, and return its declaration.

    Args:
        cls: the class, fresh.
        options: of `dataclasses.dataclass`.

    Raises:
        ArgumentError: the body of the class contradicts itself.
    """
    _check_defaults(cls)
    own_init = _has_own_init(cls)
    _make_dataclass(cls, {**options, "init": not own_init})
    if not own_init:
        _annotate_converted(cls)
    fields = [f for f in dataclasses.fields(cls) if not _is_covered(cls, f, own_init)]
    order = tuple([f.name for f in fields])
    metadata = {f.name: f.metadata for f in fields}
    meta = tuple([name for name in order if metadata[name].get("static")])
    data = tuple([name for name in order if name not in meta])
    register_fields(cls, data, meta)
    return Declaration(
        order=order,
        names=frozenset(order),
        data=data,
        meta=meta,
        converters=tuple(
            [(n, m["converter"]) for n, m in metadata.items() if "converter" in m]
        ),
        checks=tuple([d[_CHECK] for d in map(vars, cls.__mro__) if _CHECK in d]),
        abstract=_abstract_names(cls),
        own_init=own_init,
    )


def _is_covered(cls: type, field: "dataclasses.Field[Any]", own_init: bool) -> bool:  # noqa: FBT001 - it has one caller
    """Return whether a property or method of a subclass stands for an inherited field.

    No instance holds such a field. A generated `__init__` assigns it, which raises.
    """
    for base in cls.__mro__:
        if field.name in inspect.get_annotations(base):
            return False
        if field.name in vars(base):
            found: object = vars(base)[field.name]
            is_method = hasattr(found.__class__, "__get__")
            return isinstance(found, property) or (own_init and is_method)
    return False


_CHECK: Final = "__check_init__"


def _has_own_init(cls: type) -> bool:
    """Return whether a class has or inherits an explicit `__init__`."""
    if "__init__" in vars(cls) and "__post_init__" in vars(cls):
        raise ArgumentError(
            f"{cls.__name__}: expected __init__ or __post_init__, got both; only the "
            "__init__ that dataclasses write calls __post_init__. Do its work in "
            "__init__, or in __check_init__, which is always called."
        )
    for base in cls.__mro__[:-1]:
        declared: Declaration | None = vars(base).get("__declaration__")
        if declared is not None:
            return declared.own_init
        if "__init__" in vars(base):
            return True
    return False


def _check_defaults(cls: type) -> None:
    for name, annotation in inspect.get_annotations(cls).items():
        default: Any = vars(cls).get(name)
        if isinstance(default, dataclasses.Field):
            default = cast("Any", default).default
        if type(default).__hash__ is None and _abstract_kind(annotation) is None:
            raise ArgumentError(
                f"{cls.__name__}.{name}: expected a default that cannot change, for all "
                f"instances would share it, got {type(default).__name__}. Give what "
                f"makes one: {name}: ... = imprint.field(default_factory=...)."
            )


_OURS: Final = ("__setattr__", "__delattr__", "__eq__", "__hash__")


def _make_dataclass(cls: Any, options: dict[str, Any]) -> None:
    annotations = inspect.get_annotations(cls)
    given: dict[str, Any] = {
        name: vars(cls)[name] for name in _OURS if name in vars(cls)
    }
    for name in given:
        delattr(cls, name)
    cls.__annotations__ = {
        name: annotation
        for name, annotation in annotations.items()
        if _abstract_kind(annotation) is None
    }
    dataclasses.dataclass(frozen=True, repr=False, **options)(cls)
    cls.__annotations__ = annotations
    for name in _OURS:
        if name in vars(cls):
            delattr(cls, name)
    for name, value in given.items():
        setattr(cls, name, value)


def _annotate_converted(cls: Any) -> None:
    """Annotate each parameter of `__init__` with the argument type of its converter."""
    annotations = cls.__init__.__annotations__
    for f in dataclasses.fields(cls):
        if "converter" in f.metadata and f.name in annotations:
            annotations[f.name] = _taken_by(f.metadata["converter"])


def _taken_by(converter: Callable[[Any], Any]) -> Any:
    try:
        parameters = inspect.signature(converter).parameters
    except ValueError:  # a builtin class, such as str
        return Any
    empty = inspect.Parameter.empty
    found = next((p.annotation for p in parameters.values()), empty)
    return Any if found is empty else found


# ---- abstract attributes ----


def _abstract_names(cls: type) -> tuple[tuple[str, str], ...]:
    """Return the names that were abstract and that no later class has made real."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        for name, annotation in inspect.get_annotations(base).items():
            kind = _abstract_kind(annotation)
            if kind is not None:
                found[name] = kind
            else:
                found.pop(name, None)
        for name in vars(base):
            found.pop(name, None)
    return tuple(found.items())


def _abstract_kind(annotation: Any) -> str | None:
    """Return the word that leaves a name to subclasses, if an annotation has one."""
    if isinstance(annotation, str):
        word = annotation.partition("[")[0].rpartition(".")[2]
    else:
        word = getattr(get_origin(annotation) or annotation, "__name__", None)
    return word if word in ("AbstractVar", "AbstractClassVar") else None
