"""Hashes of values that are the same in every process.

Plain data counts by content, arrays by their bytes, functions by code and by the values
they carry, user classes and objects by all that they hold, libraries by names. A library
object counts by all that it holds too, if it is reached from the function or
its static arguments: these are compared again after the trace. A repeated value counts by
the number of its first visit, so aliases and cycles count too. Values without a
process-independent hash raise `NotCacheable`. Inside of objects, classes and closures such
a value counts by its class: code that reads it by name has it at a location of its own.
"""

import builtins
import functools
import marshal
import operator
import sys
import weakref
from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Container, Iterable
from enum import Enum
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
    ModuleType,
    UnionType,
    WrapperDescriptorType,
)
from typing import Any, Final, NamedTuple, final

import numpy as np

from imprint._src.array import ArrayImpl
from imprint._src.core.array import Array
from imprint._src.core.identity import InternalObject, module_name, type_name
from imprint._src.core.trace import Tracer
from imprint._src.core.user_code import (
    is_user_class,
    is_user_file,
    is_user_function,
    is_user_namespace,
    module_namespace,
)
from imprint._src.jit.fingerprint.code import code_digest, code_of
from imprint._src.jit.fingerprint.content import has_bytes, reads_state
from imprint._src.jit.fingerprint.layout import copier_of, layout_of
from imprint._src.jit.fingerprint.raw_access import (
    GONE,
    MISSING,
    bases_of,
    class_of,
    namespace_of,
    qualname_of,
)
from imprint._src.jit.manifest.not_cacheable import (
    DECLARED,
    NotCacheable,
    Reason,
    declared_name,
    impure_objects,
)
from imprint._src.jit.manifest.plain_data import (
    PLACEMENTS,
    serialize_placement,
    tree_data,
)
from imprint._src.tree import internal as tree
from imprint._src.tree.walk import registered
from imprint.tree import Partial

Content = Any
_PARTS: Final = 100_000
_BYTES: Final = 1 << 28
_FORMAT: Final = 2
"""The version of `marshal` whose bytes do not depend on reference counts."""


@final
class StableHash:
    """Hashes of values, one after the other.

    Args:
        of_roots: whether the values are inputs of the call, which are hashed before the
            trace and after it. Others are hashed after it alone, and library code writes
            unobserved: of library objects only admitted ones count then.

    Attributes:
        nodes: values with an identity, in the order of their first visits.
        libraries: names of the library modules that values come from.
        declared: names of the objects declared pure that values contain.
        own: user files in C that define such objects.
        library_objects: the number of objects of libraries.
    """

    def __init__(self, *, of_roots: bool = False) -> None:
        self.library_objects = 0
        self._of_roots = of_roots
        self._admitted: Container[int] = ()
        self.libraries: set[str] = set()
        self.declared: set[str] = set()
        self.own: set[str] = set()
        self.nodes: list[Any] = []
        self._at: dict[int, int] = {}
        self._parts = 0
        self._bytes = 0
        self._impure = impure_objects()

    def copy(self, admitted: Container[int]) -> "StableHash":
        """Return hashes that continue from here.

        Args:
            admitted: by `id`, the library objects that count. Those inside of user
                objects, classes and closures never do.
        """
        other = StableHash()
        other._admitted = admitted
        other.library_objects = self.library_objects
        other.libraries, other.declared = {*self.libraries}, {*self.declared}
        other.own, other.nodes = {*self.own}, [*self.nodes]
        other._at, other._parts, other._bytes = {**self._at}, self._parts, self._bytes
        return other

    def digest(self, value: Any) -> bytes:
        """Return the 16 bytes of a value.

        Raises:
            NotCacheable: another process could not know that it has the same value.
        """
        try:
            return digest_of(self.content(value))
        except RecursionError:
            raise NotCacheable(Reason.SIZE, "a value of too many levels") from None

    def content(self, x: Any) -> Content:
        """Return a value as plain data without addresses."""
        kind = class_of(x)
        if kind in _PLAIN:
            return x
        self._parts += 1
        if self._parts > _PARTS:
            raise NotCacheable(Reason.SIZE, f"more than {_PARTS} values")
        at = self._at.get(id(x))
        if at is not None:
            return "again", at
        if id(x) in self._impure or id(x) in DECLARED.objects:
            return self._declared(x, declared_name(x, self._impure))
        rule = _RULES.get(kind)
        return rule(self, x) if rule is not None else self._other(x)

    def contents(self, xs: Iterable[Any]) -> list[Content]:
        """Return several values as plain data."""
        return [self.content(x) for x in xs]

    def _part(self, x: Any) -> Content:
        """Return a part of a function, class or object; its class if it has no hash."""
        count = len(self.nodes)
        admitted, self._admitted = self._admitted, ()
        try:
            return self.content(x)
        except NotCacheable as err:
            if err.reason is Reason.SIZE:
                raise
            for node in self.nodes[count:]:
                self._at.pop(id(node), None)
            del self.nodes[count:]
            return "opaque", type_name(class_of(x))
        finally:
            self._admitted = admitted

    def held(self, held: Iterable[tuple[str, Any]]) -> list[Content]:
        """Return names and their values as plain data."""
        return [(name, self._part(value)) for name, value in tuple(held)]

    def number(self, x: Any) -> int | None:
        """Return the number of a node; None if it was not visited."""
        return self._at.get(id(x))

    def node(self, x: Any) -> None:
        """Add a value with an identity."""
        self._at[id(x)] = len(self.nodes)
        self.nodes.append(x)

    def _declared(self, x: Any, name: str) -> Content:
        self.declared.add(name)
        self.node(x)
        file = _file_of(getattr(x, "__module__", None))
        if file and is_user_file(file):
            self.own.add(file)
        return "assumed", name

    # ---- libraries ----

    def named(self, x: Any, module: object, name: str) -> Content | None:
        """Return the name of an object of a library; None if no library defines it."""
        if not is_reachable(x, module, name) or is_user_function(x):
            return None
        if is_user_namespace(module_namespace(sys.modules[str(module)])):
            return None
        self.libraries.add(str(module))
        return "library", module, name

    # ---- functions ----

    def function(self, x: FunctionType) -> Content:
        """Return a function as its code and the values it carries."""
        found = self.named(x, x.__module__, x.__qualname__)
        if found is not None:
            return found
        self.node(x)
        module: Any = x.__globals__.get("__name__")
        if not is_user_namespace(x.__globals__):
            self.libraries.add(str(module))
        return (
            "function",
            x.__qualname__,
            code_digest(x.__code__),
            module if type(module) is str else "",
            [self._part(y) for y in x.__defaults__ or ()],
            self.held((x.__kwdefaults__ or {}).items()),
            self.held(x.__dict__.items()),
            self._cells(x),
        )

    def _cells(self, x: FunctionType) -> list[Content]:
        """Return the closure variables of a function.

        Library code may rebind a variable of its own at its first call, as optax makes
        a float of the number of steps. Such a number has no type, or no process would
        find the trace of another.
        """
        is_tracked = is_user_function(x)
        written = frozenset[str]() if is_tracked else code_of(x.__code__).written
        named = zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
        return [
            ("cell", "number", float(y.cell_contents))
            if name in written and _is_small_number(y)
            else self.cell(y, is_tracked=is_tracked)
            for name, y in named
        ]

    def cell(self, x: CellType, *, is_tracked: bool = True) -> Content:
        """Return a closure variable.

        Args:
            x: the cell.
            is_tracked: whether reads of it are locations of a trace. Those of library
                code are not, so all of the value counts.
        """
        try:
            held = x.cell_contents
        except ValueError:
            return ("empty cell",)
        return "cell", self._part(held) if is_tracked else self.content(held)

    # ---- classes and objects ----

    def type(self, x: Any) -> Content:
        """Return a class: of a library by name, of the user by all that it holds."""
        module, name = module_name(x), qualname_of(x)
        if not is_user_class(x):
            found = self.named(x, module, name)
            if found is not None:
                return found
        self.node(x)
        held = namespace_of(x).copy()
        counted = ((name, y) for name, y in held.items() if name not in _IGNORED)
        return (
            "class",
            module,
            name,
            self.content(class_of(x)),
            self.contents(bases_of(x)[1:]),
            self.held(counted),
            [self._part(f) for f in registered.functions.get(id(x), ())],
        )

    def _other(self, x: Any) -> Content:
        kind = class_of(x)
        if x is NotImplemented or x is MISSING:
            return "constant", repr(kind)
        for base, rule in _OF_BASES:
            if issubclass(kind, base):
                return rule(self, x)
        if kind in _BY_PARTS:
            self.node(x)
            return type_name(kind), *[self._part(y) for y in _BY_PARTS[kind](x)]
        layout = layout_of(x)
        if layout.speaks:
            self.node(x)
            return "token", self.content(kind), self.content(x.__imprint_token__())
        if not (is_user_class(kind) or layout.is_holder):
            return self._of_library(x, kind)
        if not reads_state(layout):
            raise NotCacheable(Reason.VALUE, f"an object of class {layout.qualname}")
        self.node(x)
        copy = copier_of(layout)
        plain = None if copy is None else self.content(copy(x))
        return "object", self.content(kind), plain, self.held(layout.state(x).items())

    def _of_library(self, x: Any, kind: Any) -> Content:
        name: Any = getattr(x, "__qualname__", None) or getattr(x, "__name__", None)
        if type(name) is str:  # a function of a class of its own, as NumPy's are
            found = self.named(x, getattr(x, "__module__", None), name)
            if found is not None:
                return found
        layout = layout_of(x)
        is_named_tuple = tuple in bases_of(kind) and hasattr(kind, "_fields")
        if is_named_tuple and not layout.state(x):
            return "named tuple", self.content(kind), self.contents(x)
        params = namespace_of(kind).get("__dataclass_params__")
        if params is not None and params.frozen and layout.is_open:
            fields = layout.field_values(x)
            if fields is not None:
                self.node(x)
                return "fields", self.content(kind), [self._part(y) for y in fields]
        is_counted = self._of_roots or id(x) in self._admitted
        if not (is_counted and reads_state(layout)):
            name = f"{layout.module}.{layout.qualname}"
            raise NotCacheable(Reason.VALUE, f"an object of class {name}")
        self.node(x)
        self.library_objects += 1
        copy = copier_of(layout)
        of_roots, self._of_roots = self._of_roots, True  # all inside was read with it
        try:
            plain = None if copy is None else self.content(copy(x))
            parts = self.contents(y for pair in layout.state(x).items() for y in pair)
        finally:
            self._of_roots = of_roots
        return "library object", self.content(kind), plain, parts

    def array_digest(self, x: Any) -> bytes:
        """Return the digest of the bytes of an array."""
        self._bytes += x.nbytes
        if self._bytes > _BYTES:
            culprit = f"arrays of more than {_BYTES >> 20} MiB"
            raise NotCacheable(Reason.SIZE, culprit)
        data = np.ascontiguousarray(x).reshape(-1).view(np.uint8).data
        return blake2b(data, digest_size=16).digest()


def _is_small_number(cell: CellType) -> bool:
    """Return whether a variable is a number that a float has exactly."""
    try:
        held = cell.cell_contents
    except ValueError:
        return False
    return class_of(held) in (int, float) and abs(held) < 1 << 53


def digest_of(content: Content) -> bytes:
    """Return the 16 bytes of plain data."""
    return blake2b(marshal.dumps(content, _FORMAT), digest_size=16).digest()


def is_reachable(x: Any, module: object, name: str) -> bool:
    """Return whether a dotted name in a module is bound to an object."""
    found: Any = sys.modules.get(module) if type(module) is str else None
    if not issubclass(class_of(found), ModuleType):
        return False
    names: Any = module_namespace(found)
    *outer, last = name.split(".")
    for step in outer:
        owner = names.get(step)
        if not issubclass(class_of(owner), type):
            return False
        names = namespace_of(owner)
    return names.get(last) is x


def _file_of(module: Any) -> str:
    found: Any = sys.modules.get(module) if type(module) is str else None
    file: Any = found and module_namespace(found).get("__file__")
    return file if type(file) is str else ""


_PLAIN: Final = frozenset(
    (int, bool, float, complex, str, bytes, type(None), type(...))
)
_IGNORED: Final = frozenset(
    (
        *("__annotations__", "__annotate__", "__annotate_func__", "__dict__"),
        *("__annotations_cache__", "__doc__", "__firstlineno__", "__module__"),
        *("__orig_bases__", "__parameters__", "__static_attributes__"),
        *("__weakref__", "_abc_impl", "__dataclass_fields__", "__dataclass_params__"),
    )
)
"""Attributes of a class that mean nothing, differ in each process, or are in its methods."""
_BY_PARTS: Final[dict[Any, Callable[[Any], tuple[Any, ...]]]] = {
    property: lambda x: (x.fget, x.fset, x.fdel),
    staticmethod: lambda x: (x.__func__,),
    classmethod: lambda x: (x.__func__,),
    functools.cached_property: lambda x: (x.func,),
    type(functools.lru_cache(len)): lambda x: (x.__wrapped__,),  # whatever it keeps
    functools.partialmethod: lambda x: (x.func, x.args, x.keywords),
}

# ---- rules ----


class _Pair(NamedTuple):
    x: int


_Rule = Callable[[StableHash, Any], Content]


def _node_rule(name: str, parts: Callable[[Any], Iterable[Any]]) -> _Rule:
    """Return the rule of a class whose objects count by some parts."""

    def rule(to: StableHash, x: Any) -> Content:
        to.node(x)
        return name or type_name(class_of(x)), *to.contents(parts(x))

    return rule


def _dict(to: StableHash, x: Any) -> Content:
    return ("builtins",) if x is vars(builtins) else _ITEMS(to, x)


_ITEMS: Final = _node_rule("", lambda x: [y for pair in (*x.items(),) for y in pair])


def _set(to: StableHash, x: Any) -> Content:
    items = x.copy()
    if any(type(item) not in _PLAIN for item in items):
        culprit = "a set of other things than numbers and texts"
        raise NotCacheable(Reason.VALUE, culprit)
    to.node(x)
    members = sorted(marshal.dumps(item, _FORMAT) for item in items)
    return type_name(class_of(x)), *members


def _builtin(to: StableHash, x: Any) -> Content:
    owner = x.__self__
    if owner is not None and not issubclass(type(owner), ModuleType):
        return "builtin of", to.content(owner), x.__name__
    module: Any = x.__module__ or (owner and owner.__name__)
    if module not in sys.modules:
        culprit = f"`{x.__name__}`, which is in no module"
        raise NotCacheable(Reason.VALUE, culprit)
    file = _file_of(module)
    if file and is_user_file(file):
        raise NotCacheable(Reason.VALUE, f"code of {file}")
    to.libraries.add(str(module))
    return "builtin", str(module), x.__qualname__


def _module(to: StableHash, x: Any) -> Content:
    names = module_namespace(x)
    name: Any = names.get("__name__")
    if type(name) is not str or sys.modules.get(name) is not x:
        culprit = f"a module that is not imported as {name}"
        raise NotCacheable(Reason.VALUE, culprit)
    if not is_user_namespace(names):
        to.libraries.add(name)
    return "module", name


def _ufunc(_: StableHash, x: Any) -> Content:
    if getattr(np, x.__name__, None) is not x:
        raise NotCacheable(Reason.VALUE, f"the ufunc {x.__name__}")
    return "ufunc", x.__name__


def _enum_member(to: StableHash, x: Any) -> Content:
    kind = to.content(class_of(x))
    if kind[0] == "library":
        return "member", kind, x._name_
    to.node(x)
    return "member", kind, to.held(layout_of(x).state(x).items())


def _inner(to: StableHash, x: Any) -> Content:
    """Return a jitted function, or another wrapper of imprint around a user function."""
    to.node(x)
    options = getattr(x, "_options", None)
    given = sorted(options.as_given().items()) if options is not None else ()
    return type_name(class_of(x)), to.content(x.__wrapped__), to.held(given)


def _array(to: StableHash, x: Any) -> Content:
    if not has_bytes(x):
        culprit = f"an array of class {type_name(class_of(x))}"
        raise NotCacheable(Reason.VALUE, culprit)
    to.node(x)
    return "array", to.content(x.dtype), x.shape, x.strides, to.array_digest(x)


def _own_array(to: StableHash, x: Any) -> Content:
    to.node(x)
    host, where = np.asarray(x), serialize_placement(x.aval.sharding)
    dtype = to.content(host.dtype)
    return "own array", str(x.aval), where, dtype, to.array_digest(host)


def _other_array(to: StableHash, x: Any) -> Content:
    to.node(x)
    return "array of", to.content(class_of(x)), str(x.dtype), to.content(x.data)


def _weak(to: StableHash, x: Any) -> Content:
    """Return a weak reference by its object, or as one whose object is gone."""
    to.node(x)
    return type_name(class_of(x)), to.content(x())


def _reduced(to: StableHash, x: Any) -> Content:
    """Return an immutable object by what makes its copy."""
    make, *rest = x.__reduce__()
    return "made by", to.content(make), to.content(tuple(rest))


def _dtype(_: StableHash, x: Any) -> Content:
    if x.names is not None or x.metadata or x.hasobject:
        raise NotCacheable(Reason.VALUE, f"the dtype {x}")
    return "dtype", x.name, x.str


def _scalar(to: StableHash, x: Any) -> Content:
    return "scalar", to.content(x.dtype), x.tobytes()


def _not_cacheable(to: StableHash, x: Any) -> Content:
    culprit = "an object that is gone" if x is GONE else f"{x}, a value of a trace"
    raise NotCacheable(Reason.VALUE, culprit)


_RULES: Final[dict[Any, _Rule]] = {
    tuple: lambda to, x: ("tuple", *to.contents(x)),
    list: _node_rule("list", tuple),
    **dict.fromkeys((dict, OrderedDict), _dict),
    defaultdict: _node_rule("", lambda x: (x.default_factory, {**x})),
    deque: _node_rule("deque", lambda x: (x.maxlen, *x.copy())),
    **dict.fromkeys((set, frozenset), _set),
    **dict.fromkeys(
        (range, slice), _node_rule("", lambda x: (x.start, x.stop, x.step))
    ),
    object: _node_rule("sentinel", lambda x: ()),  # it has nothing but its identity
    FunctionType: StableHash.function,
    CellType: StableHash.cell,
    CodeType: lambda to, x: ("code", code_digest(x)),
    MethodType: lambda to, x: ("method", *to.contents((x.__self__, x.__func__))),
    **dict.fromkeys(
        (functools.partial, Partial),
        _node_rule("", lambda x: (x.func, x.args, x.keywords, x.__dict__)),
    ),
    BuiltinFunctionType: _builtin,
    **dict.fromkeys(
        (MethodDescriptorType, WrapperDescriptorType, ClassMethodDescriptorType),
        lambda to, x: (type_name(class_of(x)), x.__name__, to.content(x.__objclass__)),
    ),
    **dict.fromkeys(
        (MemberDescriptorType, GetSetDescriptorType),
        lambda to, x: (type_name(class_of(x)), x.__name__),
    ),
    type(_Pair.x): lambda to, x: ("field", to.contents(x.__reduce__()[1][:1])),
    MappingProxyType: _node_rule("proxy", lambda x: ({**x},)),
    **dict.fromkeys(PLACEMENTS, lambda to, x: ("placed", serialize_placement(x))),
    np.ndarray: _array,
    np.ufunc: _ufunc,
    UnionType: _node_rule("", lambda x: x.__args__),
    GenericAlias: _node_rule("", lambda x: (x.__origin__, *x.__args__)),
    **dict.fromkeys((weakref.ref, weakref.WeakMethod), _weak),
    # What only weak references reach is no input; `singledispatch` has a cache of this kind.
    **dict.fromkeys(
        (weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet),
        _node_rule("", lambda x: ()),
    ),
    **dict.fromkeys(
        (operator.attrgetter, operator.itemgetter, operator.methodcaller), _reduced
    ),
}
_OF_BASES: Final[tuple[tuple[type, _Rule], ...]] = (
    (type, StableHash.type),
    (ModuleType, _module),
    (Tracer, _not_cacheable),
    (type(GONE), _not_cacheable),
    (ArrayImpl, _own_array),
    (Array, _other_array),
    (np.ndarray, _array),
    (tree.TreeDef, lambda to, x: ("tree", *to.contents(tree_data(x)))),
    (np.dtype, _dtype),
    (Enum, _enum_member),
    (np.generic, _scalar),
    (InternalObject, _inner),
)
