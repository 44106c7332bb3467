"""Plain copies of builtin classes: what an instance of a subclass holds in C.

A copy runs no method of the subclass. `is_settled` says which other values written in C
are assumed never to change.
"""

import gc
from array import array
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from functools import partial
from struct import Struct
from threading import Lock, RLock
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    UnionType,
    WrapperDescriptorType,
)
from typing import Any, Final
from weakref import ref

import numpy as np

from imprint._src.jit.fingerprint.layout import ClassLayout, arguments_of, layout_of


def _plain(cls: Any) -> Any:
    return cls  # a builtin class, whose methods accept its subclasses too


def _octets(data: bytes, label: str = "") -> Any:
    """Return bytes as an array, of which a reader keeps a digest if it is long.

    Args:
        data: the bytes.
        label: the format of the data.
    """
    dtype = np.dtype([(label or "f0", np.uint8)])
    return np.frombuffer(data, dtype) if data else np.empty(0, dtype)


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
    bytearray: lambda x: _octets(bytes(memoryview(x))),
    memoryview: lambda x: _octets(x.tobytes(), f"{x.format}{x.shape}"),
    array: lambda x: _octets(
        _plain(array).tobytes(x), _plain(array).typecode.__get__(x)
    ),
    MappingProxyType: lambda x: (*gc.get_referents(x),),  # `copy` is the mapping's own
    ref: lambda x: (_plain(ref).__call__(x),),
    partial: lambda x: tuple(
        [getattr(partial, n).__get__(x) for n in ("func", "args", "keywords")]
    ),
    property: lambda x: (x.fget, x.fset, x.fdel),
    **dict.fromkeys(
        (staticmethod, classmethod), lambda x: (_plain(type(x)).__func__.__get__(x),)
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


def is_settled(x: Any) -> bool:
    """Return whether the unread state of a value is assumed never to change.

    That holds for parts of programs and types of arrays. Other values written in C may
    hold anything: a generator, a file, a socket, a `ContextVar`, a foreign array.
    """
    layout = layout_of(x)
    if layout.is_hiding:
        return False
    if layout.is_open or copier_of(layout) is not None or issubclass(type(x), _SHARED):
        return True
    if id(layout.storage) in _SETTLED or layout.package in _SETTLED_IN:
        return True
    return layout.is_descriptor


_SHARED: Final = (type, ModuleType, np.dtype)  # and instances of their subclasses
_SETTLED: Final = frozenset(
    id(cls)
    for cls in (
        *(CodeType, FunctionType, MethodType, BuiltinFunctionType),
        *(MethodWrapperType, MethodDescriptorType, ClassMethodDescriptorType),
        *(WrapperDescriptorType, GetSetDescriptorType, MemberDescriptorType),
        *(GenericAlias, UnionType, np.ufunc, type(Lock()), type(RLock()), Struct),
    )
)
_SETTLED_IN: Final = frozenset(
    ("imprint", "jaxlib", "jax", "typing", "re", "zoneinfo", "ml_dtypes")
)
