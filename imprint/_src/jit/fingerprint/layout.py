"""Layouts: where instances of a class keep their state, and plain copies of that in C.

A class is open if its instances hold everything in `__dict__` and slots. `storage` is the
base class that holds more, in C: `object` for an open class, `tuple` for a named tuple.
State is read past `__getattribute__` and methods of a subclass, so no user code runs. A
live class has one layout, which represents it in tokens and does not keep it alive.
"""

import gc
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property, partial
from types import (
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    SimpleNamespace,
)
from typing import Any, Final, cast, final
from weakref import ref

from imprint._src.core.identity import module_name, type_name
from imprint._src.core.user_code import keys_of
from imprint._src.jit.fingerprint.raw_access import (
    bases_of,
    class_of,
    dict_get,
    namespace_of,
    qualname_of,
)

_HEAP: Final = 1 << 9  # Py_TPFLAGS_HEAPTYPE: not one of the interpreter's own
_WORD: Final = 8
_read: Final = object.__getattribute__
_items: Final = cast("Any", dict).items
_ABSENT: Final = object()


@final
class ClassLayout:
    """Where instances of a class keep their state. Compared by identity.

    Args:
        cls: the class; it is not kept alive.

    Attributes:
        is_library: whether instances are never looked into.
        is_holder: whether an instance of a library class holds only what users put there.
        derived: cached properties, which reading an instance fills in.
        is_frozen: whether it is a frozen dataclass that compares by fields.
        speaks: whether it defines `__imprint_token__`.
        copier: copies the state in C; ellipsis until it is needed.
        rule: how `content` reads an instance.
        compared_by: how `static_values` compares instances.
        recent: weak references, for `static_values`.
    """

    __slots__ = (
        *("__weakref__", "_all_slots", "_class", "_field_set", "_hidden", "_hides"),
        *(
            "_slots",
            "compared_by",
            "copier",
            "defines_eq",
            "defines_hash",
            "derived",
            "fields",
        ),
        *("has_dict", "hashable", "is_dataclass", "is_exception"),
        *("is_frozen", "is_holder", "is_library", "module", "name"),
        *("package", "qualname", "recent", "rule", "speaks", "storage"),
    )

    def __init__(self, cls: type) -> None:
        mro = bases_of(cls)
        own = [namespace_of(c).copy() for c in mro]  # a thread may write into it
        self._class = ref(cls, _forgetter(id(cls)))
        self.name: str = type_name(cls)
        self.module: str = module_name(cls)
        self.package: str = self.module.partition(".")[0]
        self.qualname: str = str(qualname_of(cls))
        self.is_library: bool = _is_library(cls, self.module, self.qualname)
        self.is_exception: bool = _is_exception(mro)
        self.is_holder: bool = (
            self.is_exception or f"{self.module}.{self.qualname}" in _HOLDERS
        )
        self.storage: type = _storage(mro)
        self.has_dict: bool = type(_lookup(own, "__dict__")) in _DESCRIPTORS
        self._slots, self._hidden = _slots(mro, own)
        hides_dict = _dict_offset(cls) != 0 and not self.has_dict
        if hides_dict and self.storage is object:
            self.storage = cls
        self.derived: frozenset[str] = frozenset(
            [n for d in own for n, v in d.items() if type(v) is cached_property]
        )
        params = _lookup(own, "__dataclass_params__")
        self.is_dataclass: bool = type(params) is _Params
        self.is_frozen: bool = self.is_dataclass and params.frozen and params.eq
        self.fields: tuple[str, ...] = _field_names(cls) if self.is_dataclass else ()
        self._field_set = {*self.fields}
        self._all_slots = not self.has_dict and {*self._slots} == self._field_set
        is_more = bool(self._slots or self._hidden or self.derived)
        self._hides = is_more or not self.has_dict
        self.hashable: bool = _lookup(own, "__hash__") is not None
        self.defines_hash: bool = type(_lookup(own[:-1], "__hash__")) is FunctionType
        self.defines_eq: bool = any("__eq__" in d for d in own[:-1])
        self.speaks: bool = _lookup(own, "__imprint_token__") is not None
        self.copier: Any = ...
        self.rule: Any = None
        self.compared_by: Any = None
        self.recent: Any = ()

    @property
    def cls(self) -> type | None:
        """The class, if it is alive."""
        return self._class()

    def is_of(self, cls: type) -> bool:
        """Return whether it is the layout of a class, not of a dead one with its `id`."""
        return self._class() is cls

    @property
    def has_only_dict(self) -> bool:
        """Whether the `__dict__` of an instance has all its attributes."""
        return self.has_dict and not self._slots

    @property
    def has_attributes(self) -> bool:
        """Whether an instance can have attributes of its own."""
        return self.has_dict or bool(self._slots or self._hidden)

    @property
    def is_open(self) -> bool:
        """Whether Python can read all state of an instance."""
        return self.storage is object

    @property
    def is_named(self) -> bool:
        """Whether `names` and `get` reach all state of an instance."""
        return self.is_open or self.is_exception

    def state(self, value: Any) -> dict[str, Any]:
        """Return the attributes in `__dict__` and slots of an instance, by name."""
        held: dict[str, Any] = {}
        if self.has_dict:
            held.update(_items(_attributes(value)))
        for name in self._slots:
            with suppress(AttributeError):  # not set
                held[name] = _read(value, name)
        for depth, name in self._hidden:
            with suppress(AttributeError):
                cls = bases_of(class_of(value))[depth]
                held[f"{type_name(cls)}.{name}"] = _hidden_slot(value, depth, name)
        return held

    def names(self, value: Any) -> list[str]:
        """Return the names of the attributes of an instance, unset slots included."""
        held = keys_of(_attributes(value)) if self.has_dict else ()
        hidden = [name for _, name in self._hidden]
        return [*held, *self._slots, *hidden, *_ARGUMENTS[: self.is_exception]]

    def get(self, value: Any, name: str, default: Any = None) -> Any:
        """Return an attribute of the instance itself."""
        if self.has_dict:
            held = dict_get(_attributes(value), name, _ABSENT)
            if held is not _ABSENT:
                return held
        if name in self._slots:
            with suppress(AttributeError):  # not set
                return _read(value, name)
        if self.is_exception and name in OF_EXCEPTIONS:
            return OF_EXCEPTIONS[name].__get__(value)
        for depth, hidden in self._hidden:
            if name == hidden:
                with suppress(AttributeError, LookupError):  # not set; other bases
                    return _hidden_slot(value, depth, name)
        return default

    def field_values(self, value: Any) -> list[Any] | None:
        """Return the fields of a dataclass; None if it has more or fewer attributes."""
        if self._all_slots:
            try:
                return [_read(value, name) for name in self.fields]
            except AttributeError:
                return None
        held = self.state(value) if self._hides else _read(value, "__dict__")
        for name in self.derived:  # computed from the fields, which do not change
            held.pop(name, None)
        if held.keys() != self._field_set:
            return None
        return [held[name] for name in self.fields]

    def plain_state(self, value: Any) -> dict[str, Any] | None:
        """Return the `__dict__` of an instance if it is its whole state. Do not mutate it."""
        return None if self._hides else _read(value, "__dict__")

    def __repr__(self) -> str:
        return f"<layout of {self.name}>"


def layout_of(value: object) -> ClassLayout:
    """Return the layout of a value's class."""
    found = layouts.get(id(cls := type(value)))
    return _new(cls) if found is None or not found.is_of(cls) else found


def layout_of_class(cls: type) -> ClassLayout:
    """Return the layout of a class."""
    found = layouts.get(id(cls))
    return _new(cls) if found is None or not found.is_of(cls) else found


def _attributes(value: object) -> dict[str, Any]:
    """Return a `__dict__`; of a class, a copy."""
    held: Any = _read(value, "__dict__")
    return held if issubclass(type(held), dict) else dict(held)


def instance_dict(value: object) -> dict[str, Any]:
    """Return the `__dict__` of an object; an empty one if it has none."""
    return _read(value, "__dict__") if layout_of(value).has_dict else {}


layouts: Final[dict[int, ClassLayout]] = {}
"""By the `id` of a class; an entry goes with its class, or `is_of` detects it. Hot."""


def _new(cls: type) -> ClassLayout:
    layout = ClassLayout(cls)
    found = layouts.setdefault(id(cls), layout)
    if not found.is_of(cls):  # the stack was full when the entry should have gone
        found = layouts[id(cls)] = layout
    return found


def _forgetter(key: int) -> Callable[[object], None]:
    def forget(_: object) -> None:
        layouts.pop(key, None)

    return forget


# ---- the parts of a layout ----

_base_of: Final[Callable[[type], type | None]] = type.__dict__["__base__"].__get__
_size_of: Final[Callable[[type], int]] = type.__dict__["__basicsize__"].__get__
_flags_of: Final[Callable[[type], int]] = type.__dict__["__flags__"].__get__
_dict_offset: Final[Callable[[type], int]] = type.__dict__["__dictoffset__"].__get__
_HOLDERS: Final = frozenset(
    (
        *("types.SimpleNamespace", "argparse.Namespace", "collections.Counter"),
        *("collections.UserDict", "collections.UserList", "collections.UserString"),
    )
)
_LIBRARIES: Final = sys.stdlib_module_names | {
    *("imprint", "jaxlib", "ml_dtypes", "numpy", "optree"),
}


def _is_library(cls: type, module: str, qualname: str) -> bool:
    """Return whether a class is of a library whose objects are not looked into.

    A class made by `types.new_class`, or by text without a `__name__`, only claims to be
    from a module.
    """
    if module.partition(".")[0] not in _LIBRARIES:
        return False
    if "<locals>" in qualname:
        return module != "builtins"
    names: Any = vars(sys.modules.get(module, sys))
    *outer, name = qualname.split(".")
    for step in outer:
        found = names.get(step)
        names = namespace_of(found) if isinstance(found, type) else {}
    return names.get(name) is cls or not _flags_of(cls) & _HEAP


def _lookup(own: list[dict[str, Any]], name: str) -> Any:
    return next((d[name] for d in own if name in d), None)


def _storage(mro: tuple[type, ...]) -> type:
    """Return the class whose instances have memory that no descriptor names."""
    cls: type = mro[0]
    while True:
        base = _base_of(cls)
        if base is None:
            return object
        if cls is SimpleNamespace:  # written in C, and only a `__dict__`
            return object
        names = namespace_of(cls).copy()
        named = sum(type(v) is MemberDescriptorType for v in names.values())
        named += ("__dict__" in names) + ("__weakref__" in names)
        if _size_of(cls) - _size_of(base) > _WORD * named:
            return cls
        if not _flags_of(cls) & _HEAP:
            return cls  # written in C: its state may be anywhere
        cls = base


def _slots(
    mro: tuple[type, ...], own: list[dict[str, Any]]
) -> tuple[tuple[str, ...], tuple[tuple[int, str], ...]]:
    """Return the slots, and those that another attribute hides, with their class's index."""
    slots: list[str] = []
    hidden: list[tuple[int, str]] = []
    for depth, (cls, names) in enumerate(zip(mro, own, strict=True)):
        is_default_dict = cls is defaultdict  # a heap type from Python 3.12 on
        is_heap = is_default_dict or bool(_flags_of(cls) & _HEAP)
        if not (is_heap or _is_exception(bases_of(cls))):
            continue
        for name, value in names.items():
            if type(value) is MemberDescriptorType and name not in _NO_SLOTS:
                if _lookup(own, name) is value:
                    slots.append(name)
                else:
                    hidden.append((depth, name))
    return tuple(slots), tuple(hidden)


def _hidden_slot(value: Any, depth: int, name: str) -> Any:
    cls = bases_of(class_of(value))[depth]
    return namespace_of(cls)[name].__get__(value)


def _is_exception(mro: tuple[type, ...]) -> bool:
    return any(c is BaseException for c in mro)


_ARGUMENTS: Final = ("args",)
OF_EXCEPTIONS: Final[dict[str, Any]] = {
    name: BaseException.__dict__[name]
    for name in (*_ARGUMENTS, "__cause__", "__context__", "__suppress_context__")
}
"""Attributes that each exception has in C."""
arguments_of: Final[Callable[[Any], tuple[Any, ...]]] = OF_EXCEPTIONS["args"].__get__
_NO_SLOTS: Final = ("__dict__", "__suppress_context__", "__vectorcalloffset__")
"""Raising an exception writes the second; the third is an address."""
_DESCRIPTORS: Final = (GetSetDescriptorType, MemberDescriptorType)


@dataclass
class _Example:
    pass


_Params: Final = class_of(namespace_of(_Example)["__dataclass_params__"])


def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple([f.name for f in fields(cls)])


# ---- plain copies of builtin classes ----


def _plain(cls: Any) -> Any:
    return cls  # a builtin class, whose methods accept its subclasses too


def _pairs(x: Any) -> Any:
    return [*_plain(dict).items(x)]


SCALARS: Final[dict[type, Callable[[Any], Any]]] = {
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
    str: str.__str__,
    bytes: bytes.__bytes__,
}
COPIES: Final[dict[type, Callable[[Any], Any]]] = {
    **SCALARS,
    dict: _pairs,
    OrderedDict: lambda x: [*_plain(OrderedDict).items(x)],
    defaultdict: lambda x: [
        _plain(defaultdict).default_factory.__get__(x),
        *_pairs(x),
    ],
    list: lambda x: _plain(list).copy(x),
    deque: lambda x: [_plain(deque).maxlen.__get__(x), *_plain(deque).__iter__(x)],
    set: lambda x: {*_plain(set).__iter__(x)},
    frozenset: lambda x: frozenset(_plain(frozenset).__iter__(x)),
    tuple: lambda x: (*_plain(tuple).__iter__(x),),
    MappingProxyType: lambda x: (*gc.get_referents(x),),  # `copy` is the mapping's own
    partial: lambda x: tuple(
        [getattr(partial, n).__get__(x) for n in ("func", "args", "keywords")]
    ),
}
"""By builtin class, the function that copies an instance of a subclass."""
_COPIERS: Final = {id(cls): copy for cls, copy in COPIES.items()}


def copier_of(layout: ClassLayout) -> Callable[[Any], Any] | None:
    """Return the function that copies the state in C of an instance, if there is one."""
    if layout.copier is ...:
        is_exception = issubclass(layout.storage, BaseException)
        found = arguments_of if is_exception else _COPIERS.get(id(layout.storage))
        layout.copier = found
    return layout.copier
