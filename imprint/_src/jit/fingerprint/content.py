"""Content: a value read as plain data, for tokens.

Functions are read as code and captures, plain data by content, all else by identity. Values
below `DEPTH` levels, after `leaves` parts, or in a container of more than `container_leaves`
items are read by identity. A cycle is encoded as the distance to its ancestor. No user code
runs but `__imprint_token__`, and nothing raises. A builtin class has a rule, found by its
`id`, so no metaclass code runs; the rule of any other class is chosen once, from its layout.
Static data, `strict` and sharing use readers that look inside objects and arrays.
"""

import builtins
import functools
import marshal
import math
import sys
from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from enum import Enum
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    NoneType,
)
from typing import Any, ClassVar, Final, TypeAlias, cast

import numpy as np

from imprint._src.core.identity import Standin, identity, ids_of, namespace, namespaces
from imprint._src.jit.fingerprint.code import Code, code_of, codes
from imprint._src.jit.fingerprint.layout import (
    COPIES,
    SCALARS,
    ClassLayout,
    copier_of,
    layout_of,
    layout_of_class,
)
from imprint._src.jit.fingerprint.token import (
    ABSENT,
    ARRAY,
    BACK,
    DTYPE,
    EMPTY,
    FUNCTION,
    MANY,
    METHOD,
    SPOKEN,
    STATE,
    Content,
    Token,
    Unread,
    find_token,
    token_of,
)
from imprint._src.tree import internal as tree

DEPTH: Final = 60
_MANY: Final = 256
_FORMAT: Final = 2
"""Of `marshal`: equal values give equal bytes, whatever their reference counts."""
_ARE_SCALARS: Final = ids_of(int, float, bool, str, bytes, complex, NoneType)


class ContentReader:
    """Reads one value; create a new one for each value.

    Attributes:
        reads_all: whether attributes of numbers and enum members are read.
        volatile: whether a container, attribute or empty cell was read, which can change.
        leaves_read: the number of parts read.
    """

    leaves: ClassVar[int] = 4096
    container_leaves: ClassVar[int] = 256
    scalars: ClassVar[int] = 256
    reads_all: ClassVar[bool] = False
    volatile: bool = False
    leaves_read: int = 0
    _lowest = DEPTH

    def __init__(self) -> None:
        self._open: dict[int, int] = {}
        self._done: dict[int, Token] = {}
        self._owners: dict[int, Any] = {}
        self._kept: list[Any] = []  # so that no `id` in these is used again

    def value(self, x: object) -> Content:
        """Return the content of a value."""
        kind = type(x)
        if kind is int or kind is str:
            return x
        rule = _RULES.get(id(kind)) or rule_of(kind)
        return rule(self, x)

    def values(self, xs: Any) -> list[Content]:
        """Return the contents of several values."""
        self.leaves_read += len(xs)
        value = self.value
        return [
            x if x is None or type(x) is int or type(x) is str else value(x) for x in xs
        ]

    def pairs(self, x: Any) -> list[Content]:
        """Return the contents of the keys and values of a dict, in turn."""
        return self.values([part for pair in list(x.items()) for part in pair])

    def sequence(self, kind: type, xs: Any) -> Content:
        """Return the content of the items of a list or tuple.

        Many scalars become a digest, which takes 30 ns an item instead of 900.
        """
        if len(xs) <= _MANY or not _is_scalar(xs, self.scalars):
            return kind, *self.values(xs)
        self.leaves_read += len(xs) // 16
        digest = blake2b(marshal.dumps(tuple(xs), _FORMAT), digest_size=16).digest()
        return MANY, kind, len(xs), digest

    def node(self, x: Any, read: Callable[[Any], Content]) -> Content:
        """Return the content of a composite: the result of `read`."""
        key = id(x)
        at = self._open.get(key)
        if at is not None:
            self._lowest = min(self._lowest, at)
            return BACK, len(self._open) - at
        if len(self._open) >= DEPTH or self.leaves_read > self.leaves:
            return self.beyond(x)
        self._open[key] = len(self._open)
        try:
            return read(x)
        finally:
            del self._open[key]

    def items(self, x: Any, read: Callable[[Any], Content]) -> Content:
        """Return the content of an immutable container, which may be huge."""
        is_too_long = len(x) > self.leaves and not _is_scalar(x, self.scalars)
        return self.beyond(x) if is_too_long else self.node(x, read)

    def container(self, x: Any, read: Callable[[Any], Content]) -> Content:
        """Return the content of a mutable container; of a large one, its identity."""
        owner = self._owners.get(id(x), x)
        if len(x) > self.container_leaves and not _is_scalar(x, self.scalars):
            return self.beyond(owner)
        before = self.leaves_read
        content = self.node(x, read)
        if self.leaves_read - before > self.container_leaves:
            return self.beyond(owner)
        self.volatile = True
        return content

    # ---- functions ----

    def function(self, fun: FunctionType) -> Content:
        """Return the token of a function."""
        token = self._done.get(id(fun))
        if token is None:
            token = scalar_function_token(fun)
        return self.node(fun, self._read_function) if token is None else token

    def _read_function(self, fun: FunctionType) -> Token:
        outer, self._lowest = self._lowest, DEPTH
        self.leaves_read += 1
        code = code_of(fun.__code__)
        defaults, attributes = fun.__defaults__, fun.__dict__
        token = token_of(
            (
                FUNCTION,
                code,
                namespace(fun.__globals__),
                None if defaults is None else tuple(self.values(defaults)),
                self._keyword_defaults(fun.__kwdefaults__, code.keyword_only),
                tuple(self.attributes(attributes.copy())) if attributes else None,
                *self.cells(fun, code),
            )
        )
        if self._lowest >= len(self._open) - 1:  # no cycle through an outer composite
            self._done[id(fun)] = token
            self._kept.append(fun)
            self._lowest = DEPTH
        self._lowest = min(outer, self._lowest)
        return token

    def _keyword_defaults(self, held: Any, names: tuple[str, ...]) -> Content:
        if held is None:
            return None
        return tuple([self.value(held[n]) if n in held else ABSENT for n in names])

    def cells(self, fun: FunctionType, code: Code) -> list[Content]:
        """Return the closure variables; of those that the code binds the identity."""
        held = zip(code.free, fun.__closure__ or (), strict=True)
        written = code.written
        return [
            identity(cell) if name in written else self.cell(cell)
            for name, cell in held
        ]

    def cell(self, cell: CellType) -> Content:
        """Return the content of a closure variable."""
        try:
            held = cell.cell_contents
        except ValueError:
            self.volatile = True
            return EMPTY
        return self.value(held)

    def method(self, x: MethodType) -> Content:
        """Return the object and the function of a bound method."""
        return METHOD, self.value(x.__self__), self.value(x.__func__)

    # ---- objects ----

    def beyond(self, x: Any) -> Content:
        """Return the token of a value that is too large or too deep for this reader."""
        return identity(x)

    def object(self, x: Any) -> Content:
        """Return the content of an object that is not plain data."""
        return identity(x)

    def array(self, x: Any) -> Content:
        """Return the content of a NumPy array."""
        return identity(x)

    def state(self, x: Any, standin: Standin | None) -> Content:
        """Return the attributes and items of an object as its content."""
        layout = layout_of(x)

        def read(y: Any) -> Content:
            items = self.copied(y, copier_of(layout))
            return layout, STATE, standin, items, *self.attributes_of(y, layout)

        return self.node(x, read)

    def copied(self, x: Any, copy: Callable[[Any], Any] | None) -> Content:
        """Return the content of the plain copy of an object; None if there is none."""
        if copy is None:
            return None
        try:
            plain = copy(x)
        except Exception:  # it is partly constructed, or was released
            return None
        self._owners[id(plain)] = x
        self._kept.append(plain)
        return self.value(plain)

    def attributes_of(self, x: Any, layout: ClassLayout) -> list[Content]:
        """Return the names of all attributes of an object, and their contents."""
        self.volatile = True  # an object without attributes may get some
        return self.attributes(layout.state(x))

    def attributes(self, held: Mapping[str, Any]) -> list[Content]:
        """Return the names of attributes, and their contents."""
        self.leaves_read += len(held)
        self.volatile |= bool(held.keys() - {"__wrapped__"})  # set once, by wraps
        return [tuple(held), *[self.value(value) for value in held.values()]]

    def said(self, said: Any) -> Content:
        """Return the content of the result of `__imprint_token__`."""
        outer, self.volatile = self.volatile, False
        content = self.value(said)
        self.volatile |= outer
        return content


def _is_scalar(xs: Any, most: int) -> bool:
    """Return whether all items are scalars, and at most `most`."""
    if len(xs) > most or type(xs) not in (list, tuple):
        return False
    return _ARE_SCALARS.issuperset(map(id, map(type, xs)))


_codes: Final = codes.get
_namespaces: Final = namespaces.get


def scalar_function_token(fun: FunctionType, depth: int = 4) -> Token | None:  # noqa: C901 - hot: a branch for each kind
    """Return the token of a function that captures only scalars, and such functions.

    Hot, for re-created functions: the general way costs 1.5 µs more, and
    `scalar_contents` 150 ns. None if it captures more, or no cache holds the token.
    """
    known = _codes(id(fun.__code__))
    names = _namespaces(id(fun.__globals__))
    if known is None or names is None or fun.__defaults__ is not None:
        return None
    if known[1]() is not fun.__code__ or names() is None:
        return None
    if fun.__kwdefaults__ is not None or fun.__dict__:
        return None
    written = known[0].written
    content: list[Content] = [FUNCTION, known[0], names, None, None, None]
    try:
        for cell in fun.__closure__ or ():
            if written and known[0].free[len(content) - 6] in written:
                content.append(identity(cell))
                continue
            x: object = cell.cell_contents
            kind = type(x)
            if kind is int or kind is str or kind is NoneType:
                content.append(x)
            elif kind is float and x and x == x:
                content.append((float, x))
            elif kind is bool:
                content.append((bool, x))
            elif kind is FunctionType and depth:
                content.append(scalar_function_token(cast("Any", x), depth - 1))
                if content[-1] is None:
                    return None
            else:
                return None
    except ValueError:  # a variable without a value
        return None
    return find_token(tuple(content))


# ---- rules ----

Rule: TypeAlias = Callable[[ContentReader, Any], Content]


def rule_of(cls: type) -> Rule:
    """Return how instances of a class are read."""
    layout = layout_of_class(cls)
    if layout.rule is None:
        layout.rule = _RULES.get(id(cls)) or _choose(cls, layout)
    return layout.rule


def read_object(reader: ContentReader, x: Any) -> Content:
    """Read an object as the reader at hand reads objects."""
    return reader.object(x)


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
    if layout.storage in SCALARS:
        return _scalar_like
    if f"{layout.module}.{layout.qualname}" in _REDUCED:
        return _reduced
    return read_object


def _float(x: float) -> Content:
    return (float, x) if x == x and x else (float, x.hex())


def _scalar_like(reader: ContentReader, x: Any) -> Content:
    layout = layout_of(x)
    may_get_some = reader.reads_all and layout.has_dict and not layout.is_library
    if may_get_some or layout.state(x):
        return reader.object(x)
    return layout, reader.value(SCALARS[layout.storage](x))


def _numpy_scalar(_: ContentReader, x: Any) -> Content:
    if x.dtype.hasobject:
        return identity(x)
    return layout_of(x), (DTYPE, x.dtype), x.tobytes()


def _dtype(reader: ContentReader, x: Any) -> Content:
    return DTYPE, x, *([] if x.metadata is None else reader.pairs(x.metadata))


def _enum_member(reader: ContentReader, x: Any) -> Content:
    """Read a member of an enum: one object, and the attributes that a user set on it."""
    layout = layout_of(x)
    held = layout.plain_state(x) or layout.state(x)
    kind = cast("Any", type(held.get("_value_")))
    is_plain = held.keys() <= _OF_MEMBERS and id(kind) in _PLAIN
    return identity(x) if is_plain and not reader.reads_all else reader.object(x)


_OF_MEMBERS: Final = frozenset(("_name_", "_value_", "__objclass__", "_sort_order_"))
_PLAIN: Final = ids_of(int, str, float, bool, bytes, NoneType, object)


def _tuple(reader: ContentReader, x: Any) -> Content:
    return reader.items(x, lambda items: reader.sequence(tuple, items))


def _tuple_like(reader: ContentReader, x: Any) -> Content:
    """Read an instance of a class derived from `tuple`, such as a named tuple."""
    layout = layout_of(x)
    if layout.state(x):
        return reader.object(x)
    return reader.node(x, lambda y: (layout, *reader.values(COPIES[tuple](y))))


def _frozenset(reader: ContentReader, x: Any) -> Content:
    return reader.items(
        x, lambda items: (frozenset, len(items), frozenset(reader.values(items)))
    )


def _frozen(reader: ContentReader, x: Any) -> Content:
    layout = layout_of(x)
    fields = layout.field_values(x)
    if fields is None:
        return reader.object(x)
    return reader.node(x, lambda _: (layout, *reader.values(fields)))


def _set(reader: ContentReader, x: Any) -> Content:
    def read(y: Any) -> Content:
        members = reader.values(y.copy())
        return set, len(members), frozenset(members)

    return reader.container(x, read)


def _dict(reader: ContentReader, x: Any) -> Content:
    if x is vars(builtins) or x is sys.modules:  # a trace itself adds to the second
        return identity(x)
    return reader.container(x, lambda y: (dict, *reader.pairs(y)))


def _defaultdict(reader: ContentReader, x: Any) -> Content:
    def read(y: Any) -> Content:
        return defaultdict, reader.value(y.default_factory), *reader.pairs(y)

    return reader.container(x, read)


def _bytearray(reader: ContentReader, x: Any) -> Content:
    if len(x) > 256:
        return reader.object(x)
    return reader.container(x, lambda y: (bytearray, bytes(y)))


def _method(reader: ContentReader, x: Any) -> Content:
    return reader.node(x, reader.method)


def _builtin(reader: ContentReader, x: Any) -> Content:
    """Read a function written in C, and the object that it is a method of."""
    if x.__self__ is None or issubclass(type(x.__self__), ModuleType):
        return identity(x)
    return reader.node(x, lambda y: (METHOD, reader.value(y.__self__), y.__name__))


def _cell(reader: ContentReader, x: Any) -> Content:
    """Read a cell that is a value, like the closure variable of a function."""
    reader.volatile = True
    return layout_of(x), reader.node(x, reader.cell)


def _partial(reader: ContentReader, x: Any) -> Content:
    def read(y: Any) -> Content:
        return (
            layout_of(y),
            reader.value(y.func),
            (tuple, *reader.values(y.args)),
            (dict, *reader.pairs(y.keywords)),
            *reader.attributes(y.__dict__.copy()),
        )

    return reader.node(x, read)


def _reduced(reader: ContentReader, x: object) -> Content:
    reduced = type(x).__reduce_ex__(x, 4)  # 4: with the fold of a time
    return layout_of(x), reader.value(reduced[:2])


def _spoken(reader: ContentReader, x: Any) -> Content:
    def read(y: Any) -> Content:
        try:
            said = y.__imprint_token__()
        except Exception:  # it is user code: identity is always valid
            return identity(y)
        return layout_of(y), SPOKEN, reader.said(said)

    return reader.node(x, read)


def _read_array(reader: ContentReader, x: Any) -> Content:
    return reader.array(x)


_OF_BASES: Final[tuple[tuple[type, Rule], ...]] = (
    (Enum, _enum_member),
    (np.dtype, _dtype),
    (np.ndarray, _read_array),
    (np.void, _read_array),  # both are writable
)
# Values written in C whose state `__reduce__` returns.
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
    **dict.fromkeys((NoneType, type(...), type(NotImplemented)), lambda _, x: x),
    **dict.fromkeys((bool, bytes), lambda _, x: (type(x), x)),
    float: lambda _, x: _float(x),
    complex: lambda _, x: (complex, _float(x.real), _float(x.imag)),
    range: lambda _, x: (range, x.start, x.stop, x.step),
    slice: lambda r, x: (slice, r.value(x.start), r.value(x.stop), r.value(x.step)),
    tuple: _tuple,
    frozenset: _frozenset,
    list: lambda r, x: r.container(x, lambda y: r.sequence(list, y.copy())),
    deque: lambda r, x: r.container(
        x, lambda y: (deque, y.maxlen, *r.values(y.copy()))
    ),
    set: _set,
    dict: _dict,
    OrderedDict: lambda r, x: r.container(x, lambda y: (OrderedDict, *r.pairs(y))),
    defaultdict: _defaultdict,
    bytearray: _bytearray,
    FunctionType: lambda r, x: r.function(x),
    CellType: _cell,
    MethodType: _method,
    **dict.fromkeys((functools.partial, tree.Partial), _partial),
    **dict.fromkeys((BuiltinFunctionType, MethodWrapperType), _builtin),
    type: lambda _, x: identity(x),
    np.ndarray: _read_array,
}
_RULES: Final[dict[int, Rule]] = {id(kind): rule for kind, rule in _BY_TYPE.items()}
"""By the `id` of a builtin class. Hot."""


# ---- readers that look inside objects and arrays ----


def reads_state(layout: ClassLayout) -> bool:
    """Return whether a `StateReader` looks inside instances of a class."""
    if not layout.is_open and copier_of(layout) is None:
        return False
    if layout.is_holder or not layout.is_library:
        return True
    return layout.cls is layout.storage  # a class that has a rule


def has_bytes(x: Any) -> bool:
    """Return whether an array is fully described by its bytes.

    An array of objects is not, nor is an instance of a subclass, which may hold more.
    """
    return type(x) in (np.ndarray, np.memmap) and not x.dtype.hasobject


class StateReader(ContentReader):
    """A reader that adds the attributes of objects to their identity.

    If a class defines `==`, the identity is ignored. Objects of the standard library,
    NumPy and imprint are read by identity: they hold caches. An array is read by its
    bytes, an array of objects by its items, one of a subclass by its attributes too.
    """

    container_leaves: ClassVar[int] = 1 << 14
    array_bytes: ClassVar[float] = 2048

    def object(self, x: Any) -> Content:
        """Return the state of an object of a user class."""
        layout = layout_of(x)
        if not reads_state(layout):
            return identity(x)
        return self.state(x, None if layout.defines_eq else identity(x))

    def array(self, x: Any) -> Content:
        """Return the content of an array, unless it is too large for this reader."""
        owner = self._owners.get(id(x), x)
        plain = _base_array(x)
        if plain.nbytes > self.array_bytes:
            return self.beyond(owner)
        if has_bytes(x):
            return self._bytes(x, plain)
        return self.node(x, lambda y: self._subclass_array(y, plain))

    def _bytes(self, x: Any, plain: Any) -> Content:
        data = plain.tobytes() if plain.nbytes <= _SHORT else self.digest(x)
        self.volatile = True
        return ARRAY, (DTYPE, plain.dtype), plain.shape, data, plain.strides

    def _subclass_array(self, x: Any, plain: Any) -> Content:
        """Return the content of an array of objects, or of an instance of a subclass."""
        layout = layout_of(x)
        if plain.dtype.hasobject:
            items = self.copied(x, lambda _: plain.reshape(-1).tolist())
            content = ARRAY, (DTYPE, plain.dtype), plain.shape, items, plain.strides
            self.volatile: bool = True
        else:
            content = self._bytes(x, plain)
        if layout.is_library and not layout.is_holder:
            return (*content, layout)
        return *content, layout, *self.attributes_of(x, layout)

    def digest(self, x: Any) -> bytes | Unread:
        """Return a digest of the bytes of an array."""
        octets = np.ascontiguousarray(_base_array(x)).reshape(-1).view(np.uint8)
        return blake2b(octets.data, digest_size=16).digest()


_SHORT: Final = 2048
"""Bytes of an array up to which no digest is taken."""


def _base_array(x: Any) -> Any:
    """Return an array or NumPy scalar as a plain array, past methods of a subclass."""
    if type(x) is np.ndarray:
        return x
    if issubclass(type(x), np.generic):
        return np.generic.__array__(x)
    return np.ndarray.view(x, np.ndarray)


class StrictReader(StateReader):
    """A reader of large containers and arrays too."""

    leaves: ClassVar[int] = 1 << 16
    container_leaves: ClassVar[int] = 1 << 16
    scalars: ClassVar[int] = 1 << 23
    array_bytes: ClassVar[float] = math.inf
    reads_all: ClassVar[bool] = True


HASHED: Final = 16 << 20
"""Bytes of captured or static arrays, in all, up to which they are compared."""


class BoundedReader(StrictReader):
    """A strict reader that hashes a limited number of bytes of arrays.

    Args:
        limit: the bytes; the array that exceeds them and later ones equal nothing.

    Attributes:
        is_whole: whether all arrays were read.
    """

    def __init__(self, limit: int = HASHED) -> None:
        super().__init__()
        self._left = limit
        self._digests: dict[int, bytes | Unread] = {}
        self.is_whole: bool = True

    def object(self, x: Any) -> Content:
        """Return the identity of an object: guards cover what a trace read of it."""
        return identity(x)

    def beyond(self, x: Any) -> Content:
        """Clear `is_whole` for an array that holds too many objects."""
        self.is_whole &= not issubclass(type(x), np.ndarray)
        return super().beyond(x)

    def digest(self, x: Any) -> bytes | Unread:
        """Return a digest of the bytes of an array, which is hashed once."""
        known = self._digests.get(id(x))
        if known is None:
            self._left -= _base_array(x).nbytes
            self.is_whole &= self._left >= 0
            known = super().digest(x) if self.is_whole else Unread()
            self._digests[id(x)] = known
            self._kept.append(x)
        return known
