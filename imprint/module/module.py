"""Module: a frozen dataclass that is a pytree; what models are made of.

A class is finished when its body ends: it becomes a dataclass, its methods bind as nodes
(`methods`), and it is registered with what it declares (`fields`). An instance is
finished when `__init__` ends, by the metaclass, which is ABC's with a `__call__`:
1. it is open while `__init__` runs, so `self.x = ...` works there and nowhere else;
2. converters are applied, missing fields refused, and `__check_init__` is called.
An instance holds its fields and nothing else.
"""

import dataclasses
from abc import ABCMeta
from typing import Any, ClassVar, Final, TypeVar, cast, dataclass_transform

from imprint.errors import ArgumentError
from imprint.module.declare import Declaration, declare
from imprint.module.fields import field
from imprint.module.methods import keep_methods

M = TypeVar("M")


@dataclass_transform(field_specifiers=(dataclasses.field, field))
class ModuleMeta(ABCMeta):
    """The class of classes of modules."""

    __declaration__: Declaration

    def __new__(
        mcs,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        **kwargs: Any,
    ) -> Any:
        options = {k: kwargs.pop(k) for k in _OPTIONS if k in kwargs}
        keep_methods(namespace, namespace.get("__annotations__", ()))
        cls = super().__new__(mcs, name, bases, namespace, **kwargs)
        cls.__declaration__ = declare(cls, options)
        return cls

    def __call__(cls: type[M], *args: Any, **kwargs: Any) -> M:
        declared: Declaration = cast("Any", cls).__declaration__
        if declared.abstract:
            raise _abstract_error(cls, declared)
        self: M = cls.__new__(cls, *args, **kwargs)
        _open.add(id(self))
        try:
            self.__init__(*args, **kwargs)
        finally:
            _open.discard(id(self))
        _finish(self, declared)
        return self


_OPTIONS: Final = ("kw_only", "match_args")
# By the `id`, what is inside its `__init__`, which keeps it alive.
_open: Final[set[int]] = set()


class Module(metaclass=ModuleMeta):
    """A model, or a part of one: a frozen dataclass whose fields are a pytree.

    Annotate the fields. `__init__` is that of the dataclass, or your own, which assigns
    to `self` as usual; from then on the instance does not change. `tree_at` and
    `dataclasses.replace` make changed copies.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> from imprint.module import Module, field
        >>> class Linear(Module):
        ...     weight: imprint.Array
        ...     name: str = field(static=True, default="linear")
        ...
        ...     def __call__(self, x):
        ...         return self.weight @ x
        >>> model = Linear(np.eye(2))
        >>> imprint.jit(lambda m, x: m(x))(model, np.ones(2))
        Array([1., 1.], dtype=float32)
    """

    __declaration__: ClassVar[Declaration]

    def __setattr__(self, name: str, value: Any) -> None:
        if id(self) not in _open:
            raise dataclasses.FrozenInstanceError(
                f"cannot assign to field {name!r} of {type(self).__name__}"
            )
        if name not in type(self).__declaration__.names:
            raise dataclasses.FrozenInstanceError(
                f"no field {name!r} of {type(self).__name__}"
            )
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if id(self) not in _open:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)


# ---- instances ----


def _finish(self: Any, declared: Declaration) -> None:
    missing = declared.names - vars(self).keys()
    for name in [*missing]:
        if hasattr(self, name):  # a default that a written __init__ left alone
            object.__setattr__(self, name, getattr(self, name))
            missing -= {name}
    if missing:
        raise ArgumentError(f"{type(self).__name__}: missing {sorted(missing)}")
    for name, converter in declared.converters:
        object.__setattr__(self, name, converter(getattr(self, name)))
    for check in declared.checks:
        check(self)


def _abstract_error(cls: type, declared: Declaration) -> ArgumentError:
    return ArgumentError(f"{cls.__name__}: abstract {declared.abstract}")
