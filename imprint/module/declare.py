"""Declare: how a class of modules becomes a dataclass and a node of pytrees.

Once for each class, when its body ends. The dataclass is a frozen one, so that whatever
reads dataclasses knows that its fields are all and do not change; but `__setattr__` and
`__eq__` are those of `Module`, for the first lets `__init__` assign and the second
compares arrays. What is known then is kept in a `Declaration`.
"""

import dataclasses
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final, final, get_origin

from imprint.module.fields import AbstractClassVar, AbstractVar
from imprint.tree.registry import register_fields


@final
@dataclasses.dataclass(frozen=True, slots=True)
class Declaration:
    """What a class of modules declares.

    Args:
        names: of the fields.
        data: of those that are children, in order.
        meta: of those that are static, in order.
        converters: of the fields that have one.
        checks: `__check_init__` of each class that has one, nearest first.
        abstract: attributes that a subclass must give.
        own_init: whether `__init__` was written by the user.
    """

    names: frozenset[str]
    data: tuple[str, ...]
    meta: tuple[str, ...]
    converters: tuple[tuple[str, Callable[[Any], Any]], ...]
    checks: tuple[Callable[[Any], Any], ...]
    abstract: tuple[str, ...]
    own_init: bool


def declare(cls: Any, options: dict[str, Any]) -> Declaration:
    """Make a class a dataclass and a node, and return what it declares.

    Args:
        cls: the class, fresh.
        options: of `dataclasses.dataclass`.
    """
    own_init = _has_own_init(cls)
    _make_dataclass(cls, {**options, "init": not own_init})
    fields = dataclasses.fields(cls)
    static = {f.name for f in fields if f.metadata.get("static", False)}
    converters = [(f.name, f.metadata.get("converter")) for f in fields]
    checks = [vars(c).get("__check_init__") for c in cls.__mro__]
    declared = Declaration(
        names=frozenset([f.name for f in fields]),
        data=tuple([f.name for f in fields if f.name not in static]),
        meta=tuple([f.name for f in fields if f.name in static]),
        converters=tuple([(name, c) for name, c in converters if c is not None]),
        checks=tuple([check for check in checks if check is not None]),
        abstract=_abstract_names(cls),
        own_init=own_init,
    )
    restore = _restorer(cls, (*declared.data, *declared.meta))
    register_fields(cls, declared.data, declared.meta, restore)
    return declared


def _has_own_init(cls: Any) -> bool:
    """Tell whether a class has or inherits an `__init__` that somebody wrote."""
    for base in cls.__mro__[:-1]:
        declared = vars(base).get("__declaration__")
        if declared is not None:
            return declared.own_init
        if "__init__" in vars(base):
            return True
    return False


_OURS: Final = ("__setattr__", "__delattr__", "__eq__", "__hash__")


def _make_dataclass(cls: Any, options: dict[str, Any]) -> None:
    annotations = inspect.get_annotations(cls)
    given = {name: vars(cls)[name] for name in _OURS if name in vars(cls)}
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


def _restorer(
    cls: type, names: tuple[str, ...]
) -> Callable[[tuple[Any, ...], Iterable[Any]], Any]:
    new = object.__new__

    def restore(static: tuple[Any, ...], children: Iterable[Any]) -> Any:
        self: Any = new(cls)
        self.__dict__.update(zip(names, (*children, *static), strict=True))
        return self

    return restore


# ---- abstract attributes ----


def _abstract_names(cls: type) -> tuple[str, ...]:
    """Return the names that were abstract and that no later class has made real."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        for name, annotation in inspect.get_annotations(base).items():
            kind = _abstract_kind(annotation)
            if kind is not None:
                found[name] = kind
            elif found.get(name) == "AbstractVar" or _is_class_var(annotation):
                found.pop(name, None)
        for name in vars(base):
            found.pop(name, None)
    return tuple(found)


def _abstract_kind(annotation: Any) -> str | None:
    origin: Any = get_origin(annotation) or annotation
    if origin is AbstractVar or origin is AbstractClassVar:
        return str(origin.__name__)
    return None


def _is_class_var(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.startswith(("ClassVar[", "typing.ClassVar["))
    return get_origin(annotation) is ClassVar
