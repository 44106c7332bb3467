"""Reading values for another process: what they are, in plain data without addresses.

A `Reader` goes through values one after the other and gives a digest of each. What can
change or be met twice is a node, with a number in the order in which it was met; met
again, the number stands for it. So in another process, as long as the digests are the
same, the node of a number is the same too: by it, places are found again (`anchors`).
Functions count by code and captures, the user's classes by all that they hold, objects by
their state, arrays by their bytes; what a library defines by its name. Whatever cannot be
told so that another process is sure, is `Refused`.
"""

import abc
import builtins
import dataclasses
import functools
import marshal
import os
import sys
from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from enum import Enum
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final, NamedTuple, final

import numpy as np

from imprint.array import ArrayImpl
from imprint.core.identity import module_name, type_name
from imprint.core.libraries import (
    is_user_class,
    is_user_file,
    is_user_function,
    is_user_namespace,
    module_namespace,
)
from imprint.core.trace import Tracer
from imprint.definition.code import code_digest
from imprint.definition.layout import layout_of
from imprint.definition.rules import copier_of
from imprint.definition.state import has_bytes, reads_state
from imprint.manifest.declared import OBJECTS
from imprint.manifest.placed import PLACED, plain_placement
from imprint.manifest.purity import Met, check_library
from imprint.manifest.refused import Refused, Why
from imprint.tree import Partial
from imprint.watch.classes import (
    MISSING,
    bases_of,
    class_namespace,
    class_of,
)
from imprint.watch.places import GONE

Content = Any
_PARTS: Final = 100_000
_BYTES: Final = 1 << 28
_FORMAT: Final = 2
"""Of `marshal`: equal values give equal bytes, whoever else refers to them."""


@final
class Reader:
    """One way through values.

    Attributes:
        nodes: what was met that has an identity, in the order in which it was met.
        codes: the `id` of the code of functions that were met, and of code in it.
        libraries: what of libraries was met.
    """

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.codes: set[int] = set()
        self.libraries: Met = Met()
        self._at: dict[int, int] = {}
        self._bare: dict[int, int] = {}
        self._parts = 0
        self._bytes = 0

    def copy(self) -> "Reader":
        """Return a reader that goes on from what this one has met."""
        other = Reader()
        other.nodes, other.codes = [*self.nodes], {*self.codes}
        other.libraries = self.libraries.copy()
        other._at, other._bare = {**self._at}, {**self._bare}
        other._parts, other._bytes = self._parts, self._bytes
        return other

    def digest(self, value: Any, *, bare: bool = False) -> bytes:
        """Return what stands for a value.

        Args:
            value: the value.
            bare: whether it counts as itself, whatever is inside.

        Raises:
            Refused: another process could not tell that it has the same.
        """
        try:
            content = self._itself(value) if bare else self.content(value)
        except RecursionError:
            raise Refused(Why.VALUE, "a value of too many levels") from None
        return digest_of(content)

    def number(self, value: Any) -> int | None:
        """Return the number of a node; None if it was not met."""
        found = self._at.get(id(value))
        return self._bare.get(id(value)) if found is None else found

    def content(self, x: Any) -> Content:
        """Return what a value is, in plain data."""
        kind = class_of(x)
        if kind in _PLAIN:
            return x
        self._parts += 1
        if self._parts > _PARTS:
            raise Refused(Why.VALUE, f"more than {_PARTS} values")
        at = self._at.get(id(x))
        if at is not None:
            return "again", at
        if id(x) in OBJECTS:
            return self.assumed(x, OBJECTS[id(x)][1])
        rule = _RULES.get(kind)
        return rule(self, x) if rule is not None else self._other(x)

    def contents(self, xs: Iterable[Any]) -> list[Content]:
        """Return what several values are."""
        return [self.content(x) for x in xs]

    def pairs(self, held: Iterable[tuple[Any, Any]]) -> list[Content]:
        """Return what keys and values are, in turn."""
        return [self.content(part) for pair in tuple(held) for part in pair]

    def node(self, x: Any) -> int:
        """Take in something with an identity; return its number."""
        self._at[id(x)] = at = len(self.nodes)
        self.nodes.append(x)
        return at

    def _itself(self, x: Any) -> Content:
        at = self.number(x)
        if at is not None:
            return "again", at
        self._bare[id(x)] = len(self.nodes)
        self.nodes.append(x)
        return "itself", type_name(class_of(x))

    # ---- what has a name in a library ----

    def named(self, x: Any, module: object, name: str) -> Content | None:
        """Return the name of what a library defines; None if it is no such thing."""
        if not standing(x, module, name):
            return None
        self.library(str(module), name)
        return "library", module, name

    def library(self, module: str, name: str) -> None:
        """Take in that something of a library's is met."""
        check_library(module, name, self.libraries)
        if not name:
            self.libraries.modules.add(module)
        found: Any = module_namespace(sys.modules[module]).get("__file__")
        if type(found) is str:
            self.libraries.files.add(found)

    def assumed(self, x: Any, name: str) -> Content:
        """Return what the user says to read its arguments alone: what it is called."""
        met = self.libraries
        met.relied.add(name)
        self.node(x)
        module: Any = sys.modules.get(getattr(x, "__module__", None) or "")
        file: Any = None if module is None else module_namespace(module).get("__file__")
        if type(file) is str:
            (met.own if is_user_file(file) else met.files).add(file)
        return "assumed", name

    # ---- functions ----

    def function(self, x: FunctionType) -> Content:
        """Return a function: its code, and what it carries along."""
        found = self.named(x, x.__module__, x.__qualname__)
        if found is not None:
            return found
        self.node(x)
        module: Any = x.__globals__.get("__name__")
        if not is_user_namespace(x.__globals__):
            check_library(str(module), x.__name__, self.libraries)
        keywords = x.__kwdefaults__ or {}
        return (
            *("function", x.__qualname__, self.code(x.__code__)),
            self.namespace(x.__globals__),
            self.contents(x.__defaults__ or ()),
            self.pairs(keywords.items()),
            self.pairs(x.__dict__.items()),
            self.contents(x.__closure__ or ()),
        )

    def cell(self, x: CellType) -> Content:
        """Return a closure variable."""
        self.node(x)
        try:
            return "cell", self.content(x.cell_contents)
        except ValueError:
            return ("empty cell",)

    def code(self, code: CodeType) -> bytes:
        """Return what code computes, and take it in with the code in it."""
        if id(code) not in self.codes:
            self.nodes.append(code)  # kept: its `id` is
            queue = [code]
            for each in queue:  # it grows
                self.codes.add(id(each))
                queue += [c for c in each.co_consts if type(c) is CodeType]
        return code_digest(code)

    def namespace(self, names: dict[str, Any]) -> Content:
        """Return the module whose dictionary this is."""
        name: Any = names.get("__name__")
        module: Any = sys.modules.get(name) if type(name) is str else None
        if module is not None and module_namespace(module) is names:
            return "globals", name
        return self._itself(names)

    # ---- classes ----

    def type(self, x: Any) -> Content:
        """Return a class: of a library by name, of the user by all that it holds."""
        module, name = module_name(x), _qualname_of(x)
        if not is_user_class(x):
            found = self.named(x, module, name)
            if found is not None:
                return found
        self.node(x)
        held = class_namespace(x).copy()
        return (
            *("class", module, name, self.content(class_of(x))),
            *(self.contents(bases_of(x)[1:]), _registered(x)),
            self.pairs(
                (name, value) for name, value in held.items() if name not in _UNTOLD
            ),
        )

    # ---- objects ----

    def _other(self, x: Any) -> Content:
        kind = class_of(x)
        if id(x) in _CONSTANTS:
            return "constant", _CONSTANTS[id(x)]
        if x is os.environ:  # each variable that is read counts
            return ("environment",)
        for base, rule in _OF_BASES:
            if issubclass(kind, base):
                return rule(self, x)
        if kind in _BY_SLOTS:
            self.node(x)
            values = [getattr(x, name) for name in _BY_SLOTS[kind]]
            return type_name(kind), *self.contents(values)
        layout = layout_of(x)
        if layout.speaks:
            self.node(x)
            return "says", self.content(kind), self.content(x.__imprint_token__())
        if not (is_user_class(kind) or layout.is_holder):
            return self._of_library(x, kind)
        if not reads_state(layout):
            raise Refused(Why.VALUE, f"an object of class {layout.qualname}")
        self.node(x)
        copy = copier_of(layout)
        plain = None if copy is None else self.content(copy(x))
        state = self.pairs(layout.state(x).items())
        return "object", self.content(kind), plain, state

    def _of_library(self, x: Any, kind: Any) -> Content:
        name: Any = getattr(x, "__qualname__", None) or getattr(x, "__name__", None)
        if type(name) is str:  # a function of a class of its own, as NumPy's are
            found = self.named(x, getattr(x, "__module__", None), name)
            if found is not None:
                return found
        layout = layout_of(x)
        fields = None
        if tuple in bases_of(kind) and hasattr(kind, "_fields") and not layout.has_dict:
            return "named tuple", self.content(kind), self.contents(x)
        params = class_namespace(kind).get("__dataclass_params__")
        if params is not None and params.frozen and layout.is_open:
            fields = layout.field_values(x)
        if fields is None:
            raise Refused(
                Why.VALUE, f"an object of class {layout.module}.{layout.qualname}"
            )
        self.node(x)
        return "fields", self.content(kind), self.contents(fields)

    def array(self, x: Any) -> Content:
        """Return an array of NumPy's, by its bytes."""
        if not has_bytes(x):
            raise Refused(Why.VALUE, f"an array of class {type_name(class_of(x))}")
        self.node(x)
        return "array", self.dtype(x.dtype), x.shape, x.strides, self._octets(x)

    def own_array(self, x: Any) -> Content:
        """Return an array of imprint's, by its bytes."""
        aval = x.aval
        self.node(x)
        where = plain_placement(aval.sharding)
        host = np.asarray(x)
        return "own array", str(aval), where, self.dtype(host.dtype), self._octets(host)

    def _octets(self, x: Any) -> bytes:
        self._bytes += x.nbytes
        if self._bytes > _BYTES:
            raise Refused(Why.VALUE, f"arrays of more than {_BYTES >> 20} MiB")
        octets = np.ascontiguousarray(x).reshape(-1).view(np.uint8)
        return blake2b(octets.data, digest_size=16).digest()

    def dtype(self, x: Any) -> Content:
        """Return a dtype of NumPy's."""
        more = not isinstance(x, np.dtype) or x.names is not None or x.metadata
        if more or x.hasobject:
            raise Refused(Why.VALUE, f"the dtype {x}")
        return "dtype", x.name, x.str

    def number_of_numpy(self, x: Any) -> Content:
        """Return a scalar of NumPy's."""
        return "scalar", self.dtype(x.dtype), x.tobytes()

    def members(self, x: Any) -> list[bytes]:
        """Return the items of a set, which have no order."""
        if any(type(item) not in _PLAIN for item in x):
            raise Refused(Why.VALUE, "a set of other things than numbers and texts")
        return sorted(marshal.dumps(item, _FORMAT) for item in x)


def digest_of(content: Content) -> bytes:
    """Return 16 bytes that stand for plain data."""
    return blake2b(marshal.dumps(content, _FORMAT), digest_size=16).digest()


def standing(x: Any, module: object, name: str) -> bool:
    """Tell whether something is what a library's module has under a name."""
    found: Any = sys.modules.get(module) if type(module) is str else None
    if found is None or is_user_namespace(module_namespace(found)):
        return False
    if is_user_function(x):
        return False  # the user's, put there under the name of what it wraps
    names: Any = module_namespace(found)
    *outer, last = name.split(".")
    for step in outer:
        owner = names.get(step)
        if not issubclass(type(owner), type):
            return False
        names = class_namespace(owner)
    return names.get(last) is x


_qualname_of: Final[Callable[[type], str]] = vars(type)["__qualname__"].__get__
_PLAIN: Final = frozenset(
    (int, bool, float, complex, str, bytes, type(None), type(...))
)
_UNTOLD: Final = frozenset(
    (
        *("__annotations__", "__annotate__", "__annotate_func__", "__dict__"),
        *("__annotations_cache__", "__doc__", "__firstlineno__", "__module__"),
        *("__orig_bases__", "__parameters__", "__static_attributes__"),
        *("__weakref__", "_abc_impl"),
    )
)
"""What a class holds that says nothing, or nothing that is the same twice."""


def _of_dataclasses(name: str) -> Any:
    return vars(dataclasses)[name]


_BY_SLOTS: Final[dict[Any, tuple[str, ...]]] = {
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    functools.cached_property: ("func",),
    dataclasses.Field: (
        *("name", "default", "default_factory", "init", "repr", "hash", "compare"),
        *("metadata", "kw_only", "_field_type"),
    ),
    _of_dataclasses("_DataclassParams"): (
        *("init", "repr", "eq", "order", "unsafe_hash", "frozen"),
    ),
}
_CONSTANTS: Final = {
    id(_of_dataclasses(name)): name
    for name in (
        *("MISSING", "KW_ONLY", "_FIELD", "_FIELD_CLASSVAR", "_FIELD_INITVAR"),
        "_HAS_DEFAULT_FACTORY",
    )
} | {id(NotImplemented): "NotImplemented"}


def _registered(cls: Any) -> list[str]:
    """Return the classes that were registered as subclasses of an abstract one."""
    if not issubclass(type(cls), abc.ABCMeta):
        return []
    known = [reference() for reference in _abc_dump(cls)[0]]
    return sorted(f"{module_name(c)}.{_qualname_of(c)}" for c in known if c is not None)


_abc_dump: Final[Callable[[Any], tuple[Any, ...]]] = vars(abc)["_get_dump"]


# ---- rules ----


class _Pair(NamedTuple):
    x: int


def _tuple(reader: Reader, x: Any) -> Content:
    return "tuple", *reader.contents(x)


def _list(reader: Reader, x: Any) -> Content:
    reader.node(x)
    return "list", *reader.contents(x.copy())


def _dict(reader: Reader, x: Any) -> Content:
    if x is vars(builtins):
        return ("builtins",)
    reader.node(x)
    return type_name(class_of(x)), *reader.pairs(x.items())


def _defaultdict(reader: Reader, x: Any) -> Content:
    reader.node(x)
    return (
        "defaultdict",
        reader.content(x.default_factory),
        *reader.pairs(x.items()),
    )


def _deque(reader: Reader, x: Any) -> Content:
    reader.node(x)
    return "deque", x.maxlen, *reader.contents(x.copy())


def _set(reader: Reader, x: Any) -> Content:
    reader.node(x)
    return type_name(class_of(x)), *reader.members(x.copy())


def _range(reader: Reader, x: Any) -> Content:
    return type_name(class_of(x)), *reader.contents((x.start, x.stop, x.step))


def _method(reader: Reader, x: Any) -> Content:
    return "method", reader.content(x.__self__), reader.content(x.__func__)


def _partial(reader: Reader, x: Any) -> Content:
    reader.node(x)
    return (
        *("partial", type_name(class_of(x)), reader.content(x.func)),
        reader.contents(x.args),
        reader.content(x.keywords),  # a place may be in it
        reader.pairs(x.__dict__.items()),
    )


def _builtin(reader: Reader, x: Any) -> Content:
    owner = x.__self__
    if owner is None or issubclass(type(owner), ModuleType):
        module: Any = x.__module__ or (owner and owner.__name__)
        if module not in sys.modules:
            raise Refused(Why.VALUE, f"`{x.__name__}`, which is in no module")
        reader.library(str(module), x.__name__)
        return "builtin", str(module), x.__qualname__
    return "builtin of", reader.content(owner), x.__name__


def _sentinel(reader: Reader, x: Any) -> Content:
    reader.node(x)  # it holds nothing: all it can be is itself
    return ("sentinel",)


def _described(reader: Reader, x: Any) -> Content:
    return type_name(class_of(x)), x.__name__, reader.content(x.__objclass__)


def _field_of_tuple(reader: Reader, x: Any) -> Content:
    return "field of a tuple", reader.contents(x.__reduce__()[1][:1])


def _slot(_: Reader, x: Any) -> Content:
    return type_name(class_of(x)), x.__name__


def _module(reader: Reader, x: Any) -> Content:
    names = module_namespace(x)
    name: Any = names.get("__name__")
    if type(name) is not str or sys.modules.get(name) is not x:
        raise Refused(Why.VALUE, f"a module that is not imported as {name}")
    if not is_user_namespace(names):
        reader.library(name, "")
    reader.node(x)
    return "module", name


def _code(reader: Reader, x: CodeType) -> Content:
    return "code", reader.code(x)


def _ufunc(_: Reader, x: Any) -> Content:
    if getattr(np, x.__name__, None) is not x:
        raise Refused(Why.VALUE, f"the ufunc {x.__name__}")
    return "ufunc", x.__name__


def _member(reader: Reader, x: Any) -> Content:
    kind = reader.content(class_of(x))
    if kind[0] == "library":
        return "member", kind, x._name_
    reader.node(x)
    return "member", kind, reader.pairs(layout_of(x).state(x).items())


def _proxy(reader: Reader, x: Any) -> Content:
    reader.node(x)
    return "proxy", *reader.pairs(x.copy().items())


def _placed(reader: Reader, x: Any) -> Content:
    reader.node(x)
    return "placed", plain_placement(x)


def _missing(_: Reader, x: Any) -> Content:
    if x is GONE:
        raise Refused(Why.VALUE, "an object that is gone")
    return ("missing",)


def _tracer(_: Reader, x: Any) -> Content:
    raise Refused(Why.VALUE, f"{x}, a value of a trace")


_RULES: Final[dict[Any, Callable[[Reader, Any], Content]]] = {
    tuple: _tuple,
    list: _list,
    **dict.fromkeys((dict, OrderedDict), _dict),
    defaultdict: _defaultdict,
    deque: _deque,
    **dict.fromkeys((set, frozenset), _set),
    **dict.fromkeys((range, slice), _range),
    object: _sentinel,
    FunctionType: Reader.function,
    CellType: Reader.cell,
    CodeType: _code,
    MethodType: _method,
    **dict.fromkeys((functools.partial, Partial), _partial),
    BuiltinFunctionType: _builtin,
    **dict.fromkeys((MethodDescriptorType, WrapperDescriptorType), _described),
    **dict.fromkeys((MemberDescriptorType, GetSetDescriptorType), _slot),
    type(_Pair.x): _field_of_tuple,
    MappingProxyType: _proxy,
    **dict.fromkeys(PLACED, _placed),
    np.ndarray: Reader.array,
    np.ufunc: _ufunc,
    type(MISSING): _missing,
}
_OF_BASES: Final[tuple[tuple[type, Callable[[Reader, Any], Content]], ...]] = (
    (type, Reader.type),
    (ModuleType, _module),
    (Tracer, _tracer),
    (ArrayImpl, Reader.own_array),
    (np.ndarray, Reader.array),
    (np.dtype, Reader.dtype),
    (Enum, _member),
    (np.generic, Reader.number_of_numpy),
)
