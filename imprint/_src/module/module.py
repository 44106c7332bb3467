"""`Module`, the frozen dataclass and pytree node of which models are made.

At the end of its body, a class becomes a dataclass and a node (`fields`), and its methods
bind as nodes (`methods`). The metaclass, ABC's with a `__call__`, finishes an instance; a
base class would have to wrap `__init__` at every level of inheritance, 100 ns each:
1. the instance is open while `__init__` runs: `self.x = ...` works only there;
2. defaults and converters are applied, and errors raised (`errors`);
3. `__check_init__` of every class is called. Then the instance is frozen.
Modules are equal by class, structure and leaves; arrays by dtype, shape and content.
"""

import dataclasses
import inspect
from abc import ABCMeta
from typing import Any, ClassVar, Final, TypeVar, cast, dataclass_transform

import numpy as np

from imprint._src.core.array import Array
from imprint._src.module import errors
from imprint._src.module.fields import Declaration, declare, field
from imprint._src.module.methods import BoundMethod, as_method, keep_methods
from imprint._src.module.show import repr_of
from imprint._src.tree import internal as tree
from imprint._src.tree.walk import fields_of

M = TypeVar("M")
_OPTIONS: Final = ("kw_only", "match_args")
_ARRAYS: Final[Any] = (Array, np.ndarray, np.generic)
_STABLE: Final = frozenset({int, bool, str, bytes, type(None)})


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
        """Make a class of modules; keywords that dataclasses know are theirs."""
        options = {k: kwargs.pop(k) for k in _OPTIONS if k in kwargs}
        keep_methods(namespace)
        cls = super().__new__(mcs, name, bases, namespace, **kwargs)
        cls.__declaration__ = declare(cls, options)
        return cls

    def __call__(cls: type[M], *args: Any, **kwargs: Any) -> M:
        """Make an instance."""
        declared: Declaration = cast("Any", cls).__declaration__
        if declared.abstract or cast("Any", cls).__abstractmethods__:
            raise errors.abstract_class(cls, declared)
        self: M = cls.__new__(cls, *args, **kwargs)
        if self.__class__ is not cls and not isinstance(self, cls):
            return self
        _open.add(id(self))
        try:
            self.__init__(*args, **kwargs)
        finally:
            _open.discard(id(self))
        finish(self, declared)
        return self

    def __setattr__(cls, name: str, value: Any) -> None:
        declared = cls.__dict__.get("__declaration__")
        is_field = declared is None or name in declared.names
        super().__setattr__(name, value if is_field else as_method(name, value))

    @property
    def __signature__(cls) -> inspect.Signature:
        signature = inspect.signature(cast("Any", cls).__init__)
        return signature.replace(parameters=[*signature.parameters.values()][1:])


# The `id`s of instances in their `__init__`, whose frame keeps them alive.
_open: Final[set[int]] = set()


class Module(metaclass=ModuleMeta):
    """A model, or a part of one: a frozen dataclass whose fields are a pytree.

    Annotate the fields. `__init__` is that of the dataclass, or your own, which assigns
    to `self` as usual; from then on the instance does not change. `tree_at` and
    `replace` make changed copies.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> class Linear(imprint.Module):
        ...     weight: imprint.Array
        ...     name: str = imprint.field(static=True, default="linear")
        ...
        ...     def __call__(self, x):
        ...         return self.weight @ x
        >>> model = Linear(np.eye(2))
        >>> model
        Linear(weight=f32[2,2], name='linear')
        >>> imprint.jit(lambda m, x: m(x))(model, np.ones(2))
        Array([1., 1.], dtype=float32)
    """

    __declaration__: ClassVar[Declaration]

    def __setattr__(self, name: str, value: Any) -> None:
        if id(self) not in _open:
            raise errors.assignment(self, name)
        if name not in type(self).__declaration__.names:
            raise errors.undeclared_field(self, name, value)
        if type(value) is BoundMethod and value.__self__ is self:
            raise errors.own_method(self, name, value)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if id(self) not in _open:
            raise errors.assignment(self, name)
        object.__delattr__(self, name)

    def __eq__(self, other: object) -> bool:
        return is_equal(self, other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash_of(self)

    __repr__ = repr_of


Module.register(BoundMethod)


def finish(self: Any, declared: Declaration) -> None:
    """Apply defaults and converters, check fields and freeze an instance."""
    held: dict[str, Any] = self.__dict__
    if len(held) < len(declared.names):
        missing = [name for name in declared.order if name not in held]
        held.update(
            {n: getattr(self, n) for n in missing if hasattr(self.__class__, n)}
        )
    for name, converter in declared.converters:
        if name in held:
            held[name] = converter(held[name])
    if not declared.names <= held.keys():
        raise errors.missing_fields(self, declared)
    for name in declared.meta:
        if held[name].__class__ not in _NO_ARRAYS:
            errors.check_static(self, name, held[name])
    object.__setattr__(self, "__dict__", {**held})  # read faster: see `restorer_for`
    for check in declared.checks:
        check(self)


_NO_ARRAYS: Final = frozenset({int, float, bool, str, bytes, type(None)})


# ---- equality ----


def is_equal(a: Any, b: Any) -> bool:
    """Return whether two pytrees are equal by value."""
    leaves, treedef = tree.flatten(a)
    others, other_treedef = tree.flatten(b)
    return treedef == other_treedef and all(map(_is_equal_leaf, leaves, others))


def _is_equal_leaf(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, _ARRAYS) and isinstance(b, _ARRAYS):
        return a.dtype == b.dtype and np.array_equal(np.asarray(a), np.asarray(b))
    if isinstance(a, _ARRAYS) or isinstance(b, _ARRAYS):
        return False
    return bool(a == b)


def hash_of(module: Any) -> int:
    """Return a hash that equal modules share, so one without arrays can be a dict key.

    Most static values count by type only: equal ones, such as functions of one definition,
    may have different hashes.

    Raises:
        TypeError: a leaf has no hash, such as an array.
    """
    static: list[Any] = [getattr(module, name) for name in fields_of[type(module)].meta]
    found: list[object] = [x if type(x) in _STABLE else type(x) for x in static]
    for path, leaf in tree.leaves_with_path(module):
        try:
            found.append(hash(leaf))
        except TypeError:
            raise TypeError(
                f"hash: expected a module whose leaves can be hashed, got "
                f"{type(leaf).__name__} in {type(module).__name__}{tree.keystr(path)}. "
                "Compare modules by ==; for a key, take id(module)."
            ) from None
    return hash((module.__class__, *found))
