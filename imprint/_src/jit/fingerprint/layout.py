"""Layout: what Python can see of an object's state, asked once for each class.

A class is open when all that its instances hold is in `__dict__` and slots. `storage` is
the class underneath that holds more, in C: `object` for an open class, `tuple` for a
named tuple. State is read past the class's own `__getattribute__`; nothing here runs
code of the user. The layout of a live class is one object, so it stands for the class in
tokens, and it does not keep the class alive.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    SimpleNamespace,
)
from typing import Any, Final, TypeAlias, cast, final
from weakref import ref

from imprint._src.core.identity import module_name, type_name
from imprint._src.core.user_code import keys_of

_HEAP: Final = 1 << 9  # Py_TPFLAGS_HEAPTYPE: not one of the interpreter's own
_WORD: Final = 8
_read: Final = object.__getattribute__
_get: Final = cast("Any", dict).get
_items: Final = cast("Any", dict).items
_ABSENT: Final = object()


@final
class ClassLayout:
    """What a class says of its instances. Compared by identity.

    Args:
        cls: the class; it is not kept.
        mro: its method resolution order.
    """

    __slots__ = (
        *("__weakref__", "_all_slots", "_class", "_field_set", "_hidden", "_hides"),
        *("_slots", "defines_eq", "defines_hash", "derived", "fields", "has_dict"),
        *("hashable", "is_hiding"),
        *("is_dataclass", "is_frozen", "is_descriptor", "is_holder"),
        *("copier", "is_exception", "is_library", "package", "properties"),
        *(
            "module",
            "name",
            "qualname",
            "recent",
            "rule",
            "speaks",
            "standing",
            "storage",
        ),
    )

    def __init__(self, cls: type, mro: tuple[type, ...]) -> None:
        own = [_vars_of(c).copy() for c in mro]  # a thread may write into it
        self._class = ref(cls, _forgetter(id(cls)))
        self.name: str = type_name(cls)
        self.module: str = module_name(cls)
        self.package: str = self.module.partition(".")[0]
        self.qualname: str = str(_qualname_of(cls))
        self.is_library: bool = _is_library(cls, self.module, self.qualname)
        known = f"{self.module}.{self.qualname}" in _HOLDERS
        self.is_exception: bool = _is_exception(mro)
        self.is_holder: bool = known or self.is_exception
        self.storage: type = _storage(mro)
        self.has_dict: bool
        self._slots, self._hidden, self.has_dict = _slots(mro, own)
        self.is_hiding: bool = _dict_offset(cls) != 0 and not (
            self.has_dict or self._hidden
        )
        """Whether its attributes are not shown: it says itself what `__dict__` is."""
        if self.is_hiding and self.storage is object:
            self.storage = cls
        self.derived: frozenset[str] = _derived(mro, own)
        """Attributes that reading the instance may fill in."""
        params = _lookup(own, "__dataclass_params__")
        self.is_dataclass: bool = type(params) is _Params
        self.is_frozen = self.is_dataclass and params.frozen and params.eq
        self.fields: tuple[str, ...] = _field_names(cls) if self.is_dataclass else ()
        self._field_set = {*self.fields}
        self._all_slots = not self.has_dict and {*self._slots} == self._field_set
        self._hides = (
            bool(self._slots or self._hidden or self.derived) or not self.has_dict
        )
        given = _lookup(own[:-1], "__hash__")
        self.hashable: bool = _lookup(own, "__hash__") is not None
        self.defines_hash: bool = type(given) is FunctionType
        self.defines_eq: bool = any("__eq__" in d for d in own[:-1])
        self.speaks: bool = _lookup(own, "__imprint_token__") is not None
        self.is_descriptor: bool = _lookup(own, "__get__") is not None
        """Whether instances are made to be held by classes, as functions are."""
        self.copier: Any = ...  # how `rules` sees what is beside the attributes
        self.rule: Any = None  # how `walk` reads an instance
        self.standing: Any = None  # what `contract` found
        self.recent: Any = ()  # weak references, for `contract`

    @property
    def cls(self) -> type | None:
        """The class, if it is alive."""
        return self._class()

    def is_of(self, cls: type) -> bool:
        """Tell whether it is this class's, not one's that had its `id` before."""
        return self._class() is cls

    @property
    def has_only_dict(self) -> bool:
        """Whether what an instance has of its own is in its `__dict__`."""
        return self.has_dict and not self._slots

    @property
    def has_attributes(self) -> bool:
        """Whether an instance can hold anything by name."""
        return self.has_dict or bool(self._slots or self._hidden)

    @property
    def is_open(self) -> bool:
        """Whether Python can see all that an instance holds."""
        return self.storage is object

    @property
    def is_named(self) -> bool:
        """Whether names lead to all that an instance holds: `names`, `get`."""
        return self.is_open or self.is_exception

    def state(self, value: Any) -> dict[str, Any]:
        """Return what an instance holds in its `__dict__` and slots, by name."""
        held: dict[str, Any] = {}
        if self.has_dict:
            held.update(_items(_attributes(value)))
        for name in self._slots:
            with suppress(AttributeError):  # not set
                held[name] = _read(value, name)
        for depth, name in self._hidden:
            cls = _mro_of(_class_of(value))[depth]
            with suppress(AttributeError):
                found = _vars_of(cls)[name].__get__(value)
                if name == "__dict__":
                    held.update(found)
                else:
                    held[f"{type_name(cls)}.{name}"] = found
        return held

    def names(self, value: Any) -> list[str]:
        """Return the names of what an instance holds, or may hold in slots."""
        held = keys_of(_attributes(value)) if self.has_dict else ()
        hidden = [name for _, name in self._hidden if name != "__dict__"]
        return [*held, *self._slots, *hidden, *_ARGUMENTS[: self.is_exception]]

    def get(self, value: Any, name: str, default: Any = None) -> Any:
        """Return what an instance itself holds under a name."""
        if self.has_dict:
            held = _get(_attributes(value), name, _ABSENT)
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
                    return _vars_of(_mro_of(_class_of(value))[depth])[name].__get__(
                        value
                    )
        return default

    def field_values(self, value: Any) -> list[Any] | None:
        """Return the fields of a dataclass; None if they are not all that it holds."""
        if self._all_slots:
            try:
                return [_read(value, name) for name in self.fields]
            except AttributeError:
                return None
        held = self.state(value) if self._hides else _read(value, "__dict__")
        for name in self.derived:  # it follows from the fields: those do not change
            held.pop(name, None)
        if held.keys() != self._field_set:
            return None
        return [held[name] for name in self.fields]

    def plain_state(self, value: Any) -> dict[str, Any] | None:
        """Return the `__dict__` of an instance if that is its state. Do not change it."""
        return None if self._hides else _read(value, "__dict__")

    def __repr__(self) -> str:
        return f"<layout of {self.name}>"


def layout_of(value: object) -> ClassLayout:
    """Return the layout of a value's class."""
    found = layouts.get(id(cls := type(value)))
    return _new(cls) if found is None or not found.is_of(cls) else found


def _attributes(value: object) -> dict[str, Any]:
    """Return a `__dict__`: its class may be the user's and is not asked; a class's, copied."""
    held: Any = _read(value, "__dict__")
    return held if issubclass(type(held), dict) else dict(held)


def instance_dict(value: object) -> dict[str, Any]:
    """Return the attributes that an object has of its own."""
    return _read(value, "__dict__") if layout_of(value).has_dict else {}


def layout_of_class(cls: type) -> ClassLayout:
    """Return the layout of a class: one for each live class."""
    found = layouts.get(id(cls))
    return _new(cls) if found is None or not found.is_of(cls) else found


layouts: Final[dict[int, ClassLayout]] = {}
"""By the `id` of a class, its layout; an entry leaves with its class, or is found to be
another's. Hot."""


def _new(cls: type) -> ClassLayout:
    layout = ClassLayout(cls, _mro_of(cls))
    found = layouts.setdefault(id(cls), layout)
    if not found.is_of(cls):  # the stack was full when it should have left
        found = layouts[id(cls)] = layout
    return found


def _forgetter(key: int) -> Callable[[object], None]:
    def forget(_: object) -> None:
        layouts.pop(key, None)

    return forget


# ---- the parts of a layout ----

_mro_of: Final[Callable[[type], tuple[type, ...]]] = type.__dict__["__mro__"].__get__
_vars_of: Final[Callable[[type], dict[str, Any]]] = type.__dict__["__dict__"].__get__
_base_of: Final[Callable[[type], type | None]] = type.__dict__["__base__"].__get__
_size_of: Final[Callable[[type], int]] = type.__dict__["__basicsize__"].__get__
_flags_of: Final[Callable[[type], int]] = type.__dict__["__flags__"].__get__
_dict_offset: Final[Callable[[type], int]] = type.__dict__["__dictoffset__"].__get__
_qualname_of: Final[Callable[[type], str]] = type.__dict__["__qualname__"].__get__
_MASKED: Final = frozenset(("numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"))
# Classes of Python's library whose instances hold what users put there, and no caches.
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
    """Tell whether a class is one of the libraries whose objects are not looked into.

    What `types.new_class` makes, or text that is run without a `__name__`, only names
    one as its module.
    """
    if module.partition(".")[0] not in _LIBRARIES or module.startswith(
        "imprint._src.cli"
    ):
        return False
    if "<locals>" in qualname:
        return module != "builtins"
    names = vars(sys.modules.get(module, sys))
    *outer, name = qualname.split(".")
    for step in outer:
        names = _vars_of(found) if isinstance(found := names.get(step), type) else {}
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
        names = _vars_of(cls).copy()
        named = sum(type(v) is MemberDescriptorType for v in names.values())
        named += ("__dict__" in names) + ("__weakref__" in names)
        if _size_of(cls) - _size_of(base) > _WORD * named:
            return cls
        if not _flags_of(cls) & _HEAP:
            return cls  # written in C: its state may be anywhere
        cls = base


_Hidden: TypeAlias = tuple[tuple[int, str], ...]


def _slots(
    mro: tuple[type, ...], own: list[dict[str, Any]]
) -> tuple[tuple[str, ...], _Hidden, bool]:
    """Return the slots, those hidden by a later class's name, whether a `__dict__`.

    A hidden one is known by the place of its class, and may be the `__dict__`.
    """
    slots: list[str] = []
    hidden: list[tuple[int, str]] = []
    has_dict = False
    for depth, (cls, names) in enumerate(zip(mro, own, strict=True)):
        if type(names.get("__dict__")) in _DESCRIPTORS:
            if _lookup(own, "__dict__") is names["__dict__"]:
                has_dict = True
            elif type(_lookup(own, "__dict__")) not in _DESCRIPTORS:
                hidden.append((depth, "__dict__"))
        if not (_flags_of(cls) & _HEAP or _is_exception(_mro_of(cls))):
            continue
        for name, value in names.items():
            if type(value) is MemberDescriptorType and name not in _APART:
                if _lookup(own, name) is value:
                    slots.append(name)
                else:
                    hidden.append((depth, name))
    return tuple(slots), tuple(hidden), has_dict


def _derived(mro: tuple[type, ...], own: list[dict[str, Any]]) -> frozenset[str]:
    names = [n for d in own for n, v in d.items() if type(v) is cached_property]
    if not _MASKED.isdisjoint([f"{module_name(c)}.{_qualname_of(c)}" for c in mro]):
        names.append("_fill_value")  # None until somebody asks for it
    return frozenset(names)


def _is_exception(mro: tuple[type, ...]) -> bool:
    return any(c is BaseException for c in mro)


_ARGUMENTS: Final = ("args",)
CHAIN: Final = ("__cause__", "__context__", "__suppress_context__")
"""What Python itself writes where an exception is raised."""
OF_EXCEPTIONS: Final[dict[str, Any]] = {
    name: BaseException.__dict__[name] for name in (*_ARGUMENTS, *CHAIN)
}
"""What each exception has of its own, in C."""
arguments_of: Final[Callable[[Any], tuple[Any, ...]]] = OF_EXCEPTIONS["args"].__get__
_APART: Final = ("__dict__", "__suppress_context__", "__vectorcalloffset__")
"""What is no slot: raising an exception writes the second, and the third is an address."""
_DESCRIPTORS: Final = (GetSetDescriptorType, MemberDescriptorType)


def _class_of(value: object) -> type:
    return type(value)


@dataclass
class _Example:
    pass


_Params: Final = _class_of(_vars_of(_Example)["__dataclass_params__"])


def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple([f.name for f in fields(cls)])
