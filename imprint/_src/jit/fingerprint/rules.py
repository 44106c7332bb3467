"""Rules: how an instance of each class is read into the content of a token.

A rule is a function of a walk and a value. Builtin classes have a rule each, found by
the `id` of the class, so no metaclass is asked. For any other class the rule is chosen
once, from its layout: plain data by content, what is written in C and hides its state by
identity, other objects as the walk at hand reads objects. What a walk does on the way
(bounds, recursion, functions) is in `walk`.
"""

import builtins
import functools
import gc
import sys
from array import array
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from enum import Enum
from struct import Struct
from threading import Lock, RLock
from types import (
    BuiltinFunctionType,
    CellType,
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
    NoneType,
    UnionType,
    WrapperDescriptorType,
)
from typing import Any, ClassVar, Final, Protocol, TypeAlias, cast
from weakref import ref

import numpy as np

from imprint import tree
from imprint._src.core.identity import identity, ids_of
from imprint._src.jit.fingerprint.layout import (
    ClassLayout,
    arguments_of,
    layout_of,
    layout_of_class,
)
from imprint._src.jit.fingerprint.token import DTYPE, METHOD, SPOKEN, Content


class Visitor(Protocol):
    """What a rule needs of a walk.

    Attributes:
        reads_all: whether attributes count that a number or a member of an enum gets.
        volatile: whether something was read that can change in place.
    """

    reads_all: ClassVar[bool]
    volatile: bool

    def value(self, x: object) -> Content:
        """Return the content of a value."""
        ...

    def values(self, xs: Any) -> list[Content]:
        """Return the contents of several values."""
        ...

    def sequence(self, kind: type, xs: Any) -> Content:
        """Return the content of the items of a list or tuple."""
        ...

    def node(self, x: Any, read: Callable[[Any], Content]) -> Content:
        """Return the content of a composite: what `read` makes of it."""
        ...

    def items(self, x: Any, read: Callable[[Any], Content]) -> Content:
        """Return the content of what is immutable but may be huge."""
        ...

    def container(self, x: Any, read: Callable[[Any], Content]) -> Content:
        """Return the content of what can change in place; if it is big, its identity."""
        ...

    def function(self, fun: FunctionType) -> Content:
        """Return the token of a function."""
        ...

    def cell(self, cell: CellType) -> Content:
        """Return the content of a closure variable."""
        ...

    def object(self, x: Any) -> Content:
        """Return the content of an object that is no plain data."""
        ...

    def array(self, x: Any) -> Content:
        """Return the content of a NumPy array."""
        ...

    def pairs(self, x: Any) -> list[Content]:
        """Return the contents of the keys and values of a dict, in turn."""
        ...

    def members(self, x: Any) -> list[Content]:
        """Return the contents of what is in a set."""
        ...

    def attributes(self, owner: Any, held: Mapping[str, Any]) -> list[Content]:
        """Return the names of an object's attributes, and their contents."""
        ...

    def said(self, x: Any, said: Any) -> Content:
        """Return the content of what an object said that it stands for."""
        ...


Rule: TypeAlias = Callable[[Any, Any], Content]


def rule_of(cls: type) -> Rule:
    """Return how instances of a class are read."""
    layout = layout_of_class(cls)
    if layout.rule is None:
        layout.rule = RULES.get(id(cls)) or _choose(cls, layout)
    return layout.rule


def by_state(walk: Visitor, x: Any) -> Content:
    """Read an object as this walk reads objects."""
    return walk.object(x)


def _choose(cls: type, layout: ClassLayout) -> Rule:
    if layout.speaks:
        return _spoken
    for base, rule in _OF_BASES:
        if issubclass(cls, base):
            return rule
    if issubclass(cls, np.generic) and layout.is_library:
        return _numpy_scalar
    if layout.is_frozen and layout.is_open:
        return _frozen
    if layout.storage is tuple:
        return _tuple_like
    if layout.storage in _SCALARS:
        return _scalar_like
    if f"{layout.module}.{layout.qualname}" in _REDUCED:
        return _reduced
    return by_state


# ---- scalars ----


def _same(_: Visitor, x: Any) -> Content:
    return x


def _typed(_: Visitor, x: object) -> Content:
    return type(x), x


def _float(_: Visitor, x: float) -> Content:
    return (float, x) if x == x and x else (float, x.hex())


def _complex(walk: Visitor, x: complex) -> Content:
    return complex, _float(walk, x.real), _float(walk, x.imag)


def _range(_: Visitor, x: range) -> Content:
    return range, x.start, x.stop, x.step


def _slice(walk: Visitor, x: Any) -> Content:
    return slice, walk.value(x.start), walk.value(x.stop), walk.value(x.step)


def _scalar_like(walk: Visitor, x: Any) -> Content:
    layout = layout_of(x)
    may_get_some = walk.reads_all and layout.has_dict and not layout.is_library
    if may_get_some or layout.state(x):
        return walk.object(x)
    return layout, walk.value(_SCALARS[layout.storage](x))


def _numpy_scalar(_: Visitor, x: Any) -> Content:
    if x.dtype.hasobject:
        return identity(x)
    return layout_of(x), (DTYPE, x.dtype), x.tobytes()


def _dtype(walk: Visitor, x: Any) -> Content:
    if x.metadata is None:
        return DTYPE, x
    return DTYPE, x, *walk.values([p for pair in x.metadata.items() for p in pair])


def _itself(_: Visitor, x: Any) -> Content:
    return identity(x)


def _member(walk: Visitor, x: Any) -> Content:
    """Read a member of an enum: one object, and what else a user put on it."""
    layout = layout_of(x)
    held = layout.plain_state(x) or layout.state(x)
    kind = cast("Any", type(held.get("_value_")))
    is_plain = held.keys() <= _OF_MEMBERS and id(kind) in _PLAIN
    return identity(x) if is_plain and not walk.reads_all else walk.object(x)


_OF_MEMBERS: Final = frozenset(("_name_", "_value_", "__objclass__", "_sort_order_"))
_PLAIN: Final = ids_of(int, str, float, bool, bytes, NoneType, object)


def _by_array(walk: Visitor, x: Any) -> Content:
    return walk.array(x)


# ---- composites ----


def _tuple(walk: Visitor, x: Any) -> Content:
    return walk.items(x, lambda items: walk.sequence(tuple, items))


def _tuple_like(walk: Visitor, x: Any) -> Content:
    layout = layout_of(x)
    if layout.state(x):
        return walk.object(x)
    return walk.node(x, lambda y: (layout, *walk.values(COPIES[tuple](y))))


def _frozenset(walk: Visitor, x: Any) -> Content:
    return walk.items(
        x, lambda items: (frozenset, len(items), frozenset(walk.values(items)))
    )


def _frozen(walk: Visitor, x: Any) -> Content:
    layout = layout_of(x)
    fields = layout.field_values(x)
    if fields is None:
        return walk.object(x)
    return walk.node(x, lambda _: (layout, *walk.values(fields)))


def _list(walk: Visitor, x: Any) -> Content:
    return walk.container(x, lambda y: walk.sequence(list, y.copy()))


def _deque(walk: Visitor, x: Any) -> Content:
    return walk.container(x, lambda y: (deque, y.maxlen, *walk.values(y.copy())))


def _set(walk: Visitor, x: Any) -> Content:
    def read(y: Any) -> Content:
        members = walk.members(y)
        return set, len(members), frozenset(members)

    return walk.container(x, read)


def _dict(walk: Visitor, x: Any) -> Content:
    # In the namespace of a text that was executed; and what a trace itself adds to.
    if x is _BUILTINS or x is sys.modules:
        return identity(x)
    return walk.container(x, lambda y: (dict, *walk.pairs(y)))


def _ordered(walk: Visitor, x: Any) -> Content:
    return walk.container(x, lambda y: (OrderedDict, *walk.pairs(y)))


def _defaultdict(walk: Visitor, x: Any) -> Content:
    def read(y: Any) -> Content:
        return defaultdict, walk.value(y.default_factory), *walk.pairs(y)

    return walk.container(x, read)


def _bytearray(walk: Visitor, x: Any) -> Content:
    if len(x) > _SHORT:
        return walk.object(x)
    return walk.container(x, lambda y: (bytearray, bytes(y)))


_SHORT: Final = 256
_BUILTINS: Final = vars(builtins)


# ---- callables, and objects that say what they are ----


def _function(walk: Visitor, x: Any) -> Content:
    return walk.function(x)


def _method(walk: Visitor, x: Any) -> Content:
    return walk.node(
        x, lambda y: (METHOD, walk.value(y.__self__), walk.value(y.__func__))
    )


def _builtin(walk: Visitor, x: Any) -> Content:
    """Read a function written in C, and what it is a method of."""
    if x.__self__ is None or issubclass(type(x.__self__), ModuleType):
        return identity(x)
    return walk.node(x, lambda y: (METHOD, walk.value(y.__self__), y.__name__))


def _cell(walk: Visitor, x: Any) -> Content:
    """Read a cell that is a value, as the closure variable of a function is read."""
    walk.volatile = True
    return layout_of(x), walk.node(x, walk.cell)


def _partial(walk: Visitor, x: Any) -> Content:
    def read(y: Any) -> Content:
        return (
            layout_of(y),
            walk.value(y.func),
            (tuple, *walk.values(y.args)),
            (dict, *walk.values([p for pair in y.keywords.items() for p in pair])),
            *walk.attributes(y, y.__dict__.copy()),
        )

    return walk.node(x, read)


def _reduced(walk: Visitor, x: object) -> Content:
    reduced = type(x).__reduce_ex__(x, 4)  # 4: with the fold of a time
    return layout_of(x), walk.value(reduced[:2])


def _spoken(walk: Visitor, x: Any) -> Content:
    def read(y: Any) -> Content:
        try:
            said = y.__imprint_token__()
        except Exception:  # the class is the user's: identity always serves
            return identity(y)
        return layout_of(y), SPOKEN, walk.said(y, said)

    return walk.node(x, read)


def _plain(cls: Any) -> Any:
    return cls  # a builtin class, whose methods serve its subclasses too


# ---- tables ----

_OF_BASES: Final[tuple[tuple[type, Rule], ...]] = (
    *((Enum, _member), (np.dtype, _dtype)),
    *((np.ndarray, _by_array), (np.void, _by_array)),  # both can be written into
)

# How to see an instance of a subclass as one of the builtin class.
_SCALARS: Final[dict[type, Callable[[Any], Any]]] = {
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
    str: str.__str__,
    bytes: bytes.__bytes__,
}


def _octets(data: bytes, label: str = "") -> Any:
    """Return bytes as an array, of which a walk keeps a digest if they are many.

    Args:
        data: the bytes.
        label: what they are bytes of.
    """
    dtype = np.dtype([(label or "f0", np.uint8)])
    return np.frombuffer(data, dtype) if data else np.empty(0, dtype)


def _dict_items(x: Any) -> Any:
    return [*_plain(dict).items(x)]


COPIES: Final[dict[type, Callable[[Any], Any]]] = {
    **_SCALARS,
    dict: _dict_items,
    OrderedDict: lambda x: [*_plain(OrderedDict).items(x)],
    defaultdict: lambda x: [
        _plain(defaultdict).default_factory.__get__(x),
        *_dict_items(x),
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
    functools.partial: lambda x: tuple(
        [getattr(functools.partial, n).__get__(x) for n in ("func", "args", "keywords")]
    ),
    property: lambda x: (x.fget, x.fset, x.fdel),
    **dict.fromkeys(
        (staticmethod, classmethod), lambda x: (_plain(type(x)).__func__.__get__(x),)
    ),
}
"""By the class underneath, how to see an instance as plain data."""
_COPIERS: Final = {id(cls): copy for cls, copy in COPIES.items()}


def copier_of(layout: ClassLayout) -> Callable[[Any], Any] | None:
    """Return how to see what an instance holds beside its attributes, if it can be."""
    if layout.copier is ...:
        is_exception = issubclass(layout.storage, BaseException)
        found = arguments_of if is_exception else _COPIERS.get(id(layout.storage))
        layout.copier = found
    return layout.copier


def is_settled(x: Any) -> bool:
    """Tell whether what no walk reads of a value may be taken not to change.

    So it is of parts of a program and of types of arrays. What else is written in C may
    hold anything: a generator, a file, a socket, a `ContextVar`, another's array.
    """
    layout = layout_of(x)
    if layout.is_hiding:
        return False
    if layout.is_open or copier_of(layout) is not None or issubclass(type(x), _SHARED):
        return True
    if id(layout.storage) in _SETTLED or layout.package in _SETTLED_IN:
        return True
    return layout.is_descriptor


_SHARED: Final = (type, ModuleType, np.dtype)  # and what is made of their subclasses
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

# Values written in C that are what `__reduce__` says.
_REDUCED: Final = frozenset(
    (
        *("datetime.date", "datetime.datetime", "datetime.time"),
        *("datetime.timedelta", "datetime.timezone"),
        *("decimal.Decimal", "fractions.Fraction"),
        *("operator.attrgetter", "operator.itemgetter", "operator.methodcaller"),
        *("pathlib.PosixPath", "pathlib.PurePosixPath"),
        *("pathlib._local.PosixPath", "pathlib._local.PurePosixPath"),
    )
)
_BY_TYPE: Final[dict[Any, Rule]] = {
    **dict.fromkeys((NoneType, type(...), type(NotImplemented)), _same),
    **dict.fromkeys((bool, bytes), _typed),
    dict: _dict,
    OrderedDict: _ordered,
    **dict.fromkeys((functools.partial, tree.Partial), _partial),
    float: _float,
    complex: _complex,
    range: _range,
    slice: _slice,
    tuple: _tuple,
    frozenset: _frozenset,
    list: _list,
    set: _set,
    defaultdict: _defaultdict,
    deque: _deque,
    bytearray: _bytearray,
    FunctionType: _function,
    CellType: _cell,
    MethodType: _method,
    **dict.fromkeys((BuiltinFunctionType, MethodWrapperType), _builtin),
    type: _itself,
    np.ndarray: _by_array,
}
RULES: Final[dict[int, Rule]] = {id(kind): rule for kind, rule in _BY_TYPE.items()}
"""By the `id` of a builtin class. Hot."""
