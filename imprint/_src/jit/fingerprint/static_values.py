"""Static arguments: which values may be static, and their exact cache keys.

A static argument selects a version, so it must be known before tracing and comparable.
Plain data and frozen dataclasses compare by content, each part under the same contract;
functions by definition; an object by the `==` and hash of its class, or else by identity.
`1`, `1.0` and `True` are three values at every depth, so are `0.0` and `-0.0`, and NaN
equals NaN. A class is judged once, at its first instance. The token of a deeply immutable
object is remembered, so it is read once. A key keeps no object alive that takes weak
references, unless only its own `==` can compare it. Error messages name the refused part
(`path_of`) and the remedy.
"""

import math
import sys
import warnings
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from dataclasses import fields
from enum import Enum, auto
from types import FunctionType
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, cast, final
from weakref import ref

import numpy as np

from imprint._src import native
from imprint._src.core.array import Array
from imprint._src.core.identity import identity, ids_of
from imprint._src.core.user_code import are_libraries_fixed, is_fixed_function
from imprint._src.errors import ArgumentError
from imprint._src.jit.fingerprint.content import (
    HASHED,
    StateReader,
    read_object,
    rule_of,
    scalar_function_token,
)
from imprint._src.jit.fingerprint.layout import (
    COPIES,
    ClassLayout,
    layout_of,
    layouts,
)
from imprint._src.jit.fingerprint.raw_access import bases_of, class_of, namespace_of
from imprint._src.jit.fingerprint.token import (
    ABSENT,
    Content,
    Mark,
    find_token,
    head_of,
    scalar_contents,
    token_of,
)
from imprint._src.tree import internal as tree
from imprint._src.tree.statics import TokenReader

# ---- the contract ----

_RECENT: Final = 4


class ComparedBy(Enum):
    """How two instances of a class compare as static arguments."""

    PARTS = auto()
    """By their parts, which are static arguments too."""
    FIELDS = auto()
    """By the fields of their frozen dataclass."""
    COMPARED = auto()
    """By those fields that the dataclass compares."""
    VALUE = auto()
    """By the content rule of their class."""
    EQUAL = auto()
    """By their own `==` and hash."""
    IDENTITY = auto()


class RefusedError(Exception):
    """A part of a static argument breaks the contract.

    Args:
        part: the part.
        text: the message without the argument's name.
    """

    def __init__(self, part: Any, text: str) -> None:
        super().__init__(text)
        self.part = part
        self.text = text


@final
class Equal:
    """The key of an object that compares by its own `==` and hash.

    Args:
        value: the object.
        hashed: what is hashed; static data of a node needs no hash of its own.

    Raises:
        RefusedError: it has no hash.
    """

    __slots__ = ("__weakref__", "hash", "value")

    def __init__(self, value: Any, hashed: Any = ABSENT) -> None:
        self.value: Any = value
        try:
            self.hash: int = hash(value if hashed is ABSENT else hashed)
        except Exception as err:
            raise _failing(value, "__hash__", err) from err

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        if type(other) is not Equal or other.hash != self.hash:
            return False
        mine, its = self.value, other.value
        if mine is its or type(mine) is not type(its):
            return mine is its
        try:
            return bool(mine == its)
        except Exception as err:
            name = layout_of(its).name
            err.add_note(f"It was raised comparing two static {name} objects.")
            raise

    def __repr__(self) -> str:
        return repr(self.value)


def compared_by(value: object) -> ComparedBy:
    """Return how a value compares as a static argument.

    Raises:
        RefusedError: it cannot be one.
    """
    kind = type(value)
    known = _BUILTIN.get(id(kind))
    if known is not None:
        return known
    layout = layout_of(value)
    if layout.compared_by is None:
        layout.compared_by = _judge(value, kind, layout)
    return layout.compared_by


IN_FIELDS: Final = ids_of(
    list, dict, OrderedDict, defaultdict, deque, set, bytearray, np.ndarray
)
"""Mutable classes that compare by content; only static data of a node may have them."""


def is_scalar(value: object) -> bool:
    """Return whether a value is a number, a text or the like, of a builtin class."""
    return _BUILTIN.get(id(type(value))) is ComparedBy.VALUE


def check_equal_hashes(value: Any, name: str) -> None:
    """Warn if a recent instance of the class is equal and has another hash.

    Called for misses. Such a class never hits the cache. Warns once for each class.
    """
    layout = layout_of(value)
    if layout.recent is None or layout.is_library or not layout.defines_eq:
        return
    with suppress(Exception):  # of user code; `_judge` reports it
        found = [other() for other in layout.recent]
        unequal = any(
            x is not None and x is not value and x == value and hash(x) != hash(value)
            for x in found
        )
        layout.recent = None if unequal else (ref(value), *layout.recent[: _RECENT - 1])
    if layout.recent is None:
        warnings.warn(
            f"static argument {name}: expected equal {layout.name} objects to have "
            f"equal hashes, got two that are equal and hash differently. Compute "
            f"{layout.name}.__hash__ from what __eq__ compares.",
            stacklevel=3,
        )


_SCALARS: Final = (
    int,
    bool,
    str,
    bytes,
    float,
    complex,
    type(None),
    type(...),
    range,
    slice,  # no hash before 3.12
)
_BUILTIN: Final[dict[int, ComparedBy]] = {
    **dict.fromkeys(ids_of(tuple, frozenset), ComparedBy.PARTS),
    **dict.fromkeys(ids_of(*_SCALARS), ComparedBy.VALUE),
}
"""By the `id` of a builtin class. Hot."""


# ---- judging a class ----


def _judge(value: Any, kind: Any, layout: ClassLayout) -> ComparedBy:
    if layout.speaks or issubclass(kind, type | Enum | np.generic | np.dtype):
        return ComparedBy.VALUE
    if issubclass(kind, np.ndarray | Array):
        raise RefusedError(
            value,
            f"expected a value known before tracing, got an array {value!r}. "
            "Pass it as an ordinary (traced) argument.",
        )
    is_own = _is_users(kind, "__eq__") or _is_users(kind, "__hash__")
    if layout.is_frozen and not is_own:
        is_whole = all(f.compare for f in fields(kind))
        return ComparedBy.FIELDS if is_whole else ComparedBy.COMPARED
    if not layout.hashable:
        raise _unhashable(value, kind, layout)
    if layout.defines_hash and not layout.defines_eq:
        raise RefusedError(
            value,
            f"expected a class with __eq__ beside __hash__, got {layout.name}, which "
            "has only __hash__: equal hashes would never make two objects equal, and "
            "each would be compiled for. Define __eq__ on the same attributes, or make "
            "it a frozen dataclass.",
        )
    if not (is_own and layout.defines_eq):
        if layout.storage is tuple:
            return ComparedBy.PARTS
        if rule_of(kind) is not read_object:
            return ComparedBy.VALUE
        if not layout.defines_eq:
            return ComparedBy.IDENTITY
    _check_methods(value)
    return ComparedBy.EQUAL


def _check_methods(value: Any) -> None:
    Equal(value)
    try:
        bool(value == value)
    except Exception as err:
        raise _failing(value, "__eq__", err) from err


def _is_users(kind: type, name: str) -> bool:
    """Return whether a special method is written out, and not in Python's own library.

    A method that `dataclass` generates is compiled from a text and has no file.
    """
    spaces = map(namespace_of, bases_of(kind))
    method: Any = next((space[name] for space in spaces if name in space), None)
    if type(method) is not FunctionType or method.__code__.co_filename == "<string>":
        return False
    package = str(method.__globals__.get("__name__")).partition(".")[0]
    return package != "imprint" and package not in sys.stdlib_module_names


def _unhashable(value: Any, kind: Any, layout: ClassLayout) -> RefusedError:
    remedy = _REMEDIES.get(id(kind)) or _class_remedy(layout)
    held = _array_in(value)
    if held is not None:
        remedy = (
            f"It holds an array ({held}): pass it as an ordinary (traced) argument."
        )
    return RefusedError(
        value, f"expected a hashable value, got {layout.name}. {remedy}"
    )


def _failing(value: Any, method: str, err: Exception) -> RefusedError:
    name = layout_of(value).name
    return RefusedError(
        value,
        f"expected {name}.{method} to answer, got {type(err).__name__}: {err}. Compute "
        "it from attributes that can be hashed and compared, or make the class a frozen "
        "dataclass.",
    )


def _array_in(value: Any) -> str | None:
    try:
        leaves = tree.leaves_with_path(value)
    except RecursionError:  # it contains itself
        return None
    for path, leaf in leaves:
        if issubclass(type(leaf), np.ndarray | Array):
            return tree.keystr(path)
    return None


def _class_remedy(layout: ClassLayout) -> str:
    if layout.is_dataclass:
        return "Declare it @dataclass(frozen=True)."
    if layout.defines_eq and not layout.is_library:
        return (
            "It defines __eq__ without __hash__: define both on the same attributes, or "
            "make it a frozen dataclass."
        )
    return "Make its class a frozen dataclass."


_REMEDIES: Final[dict[int, str]] = {
    **dict.fromkeys(ids_of(list, deque), "Pass a tuple."),
    id(set): "Pass a frozenset.",
    id(bytearray): "Pass bytes.",
    **dict.fromkeys(
        ids_of(dict, OrderedDict, defaultdict),
        "Pass a frozen dataclass, or a tuple of pairs.",
    ),
}


# ---- paths ----


def path_of(part: Any, value: Any, depth: int = 8) -> str | None:
    """Return the path of a part in a value, `.layers` or `[0]`; None if it is not there."""
    if value is part:
        return ""
    for step, inner in _steps(value) if depth else ():
        rest = path_of(part, inner, depth - 1)
        if rest is not None:
            return step + rest
    return None


def _steps(value: Any) -> Iterable[tuple[str, Any]]:
    layout, given = layout_of(value), value
    names = getattr(value, "_fields", None)
    if isinstance(value, dict):
        return [(f"[{k!r}]", x) for k, x in given.items()]
    if layout.storage is tuple and names:
        return zip(map(".{}".format, names), COPIES[tuple](value), strict=True)
    if isinstance(value, list | tuple | deque):
        return [(f"[{i}]", x) for i, x in enumerate(given)]
    if isinstance(value, frozenset):
        return [("", x) for x in given]
    return [(f".{n}", x) for n, x in layout.state(value).items()] * layout.is_open


# ---- keys ----

_EXACT: Final = ids_of(int, bool, str, bytes, type(None), type(Ellipsis))
_PLAIN: Final = _EXACT | ids_of(float, complex)
_UNCOMPARED: Final = Mark("not compared")
"""A field that the `==` of its dataclass ignores."""


def is_plain_value(value: object) -> bool:
    """Return whether `same_value` compares values of this one's type."""
    return id(type(value)) in _PLAIN


def same_value(value: object, plain: object) -> bool:
    """Return whether `value` is exactly the plain value: type, bits, sign of zero."""
    kind = type(value)
    if kind is not type(plain) or id(kind) not in _PLAIN:
        return False
    if id(kind) in _EXACT:
        return bool(value == plain)
    return static_token(value, "") == static_token(plain, "")


def static_token(value: object, name: str) -> Hashable:
    """Return the exact value of a static argument as a hashable token.

    Args:
        value: the static argument.
        name: its name, for messages.

    Raises:
        ArgumentError: the value cannot be static; the message names the part.
    """
    kind = type(value)
    if kind is int or kind is str or value is None:
        return value
    known = _known.get(id(value))
    if known is not None:
        held: Any = known()
        if held is value:
            return known.token
        if held.__class__ is Equal and held.value is value:
            try:
                if hash(value) == held.hash:
                    return held
            except Exception:  # `Equal` reports it
                pass
    ids = nested_ids(value) if kind is tuple else None
    if ids is not None:
        return _nested_token(ids, value, name)
    token = _quick_token(value, kind)
    return _read(value, name, _StaticReader())[0] if token is None else token


def read_field(value: Any) -> tuple[Hashable, bool]:
    """Return the exact value of static data of a node, and whether it is steady.

    It is steady if it stays equal for as long as it is the same object. Mutable
    containers compare by content.

    Raises:
        ArgumentError: the value cannot be static.
    """
    kind = value.__class__
    if kind is bool:
        return _quick_token(value, kind), True
    known = _known.get(id(value))
    if known is not None and known() is value:
        return known.token, True
    if kind is FunctionType:
        token = scalar_function_token(value)
        if token is not None:
            return token, is_fixed_function(value)
    return _read(value, "", _FieldReader())


TokenReader.read = staticmethod(read_field)


def _quick_token(value: Any, kind: Any) -> Any:
    """Return the token of a number, a function, an object or plain data; or None.

    Hot: `_read` takes 2 to 3 us more, and gives the same token.
    """
    if kind is float or kind is bool:
        contents = scalar_contents((value,))
        return None if contents is None else contents[0]
    if kind is FunctionType:
        return scalar_function_token(value)
    head, held = tuple, value
    if kind is not tuple:
        head = layouts.get(id(kind))
        if head is None or not head.is_of(kind):
            return None
        if head.compared_by is ComparedBy.IDENTITY:
            return identity(value)
        if head.compared_by is ComparedBy.EQUAL:
            with suppress(RefusedError):  # `_read` raises it, with the name
                return _equal(value)
        is_by_fields = head.compared_by is ComparedBy.FIELDS
        held = head.field_values(value) if is_by_fields else None
    contents = None if held is None else scalar_contents(held)
    token = None if contents is None else find_token((head, *contents))
    if token is not None and (kind is not tuple or len(value) > _FEW):
        _remember(value, token, is_plain=True)
    return token


def _read(value: Any, name: str, reader: "_StaticReader") -> tuple[Hashable, bool]:
    """Return the token of a value, and whether it is deeply immutable."""
    try:
        content = reader.value(value)
    except RefusedError as refused:
        noun = f"static argument {name}" if name else "static field"
        raise ArgumentError(
            f"{noun}{path_of(refused.part, value) or ''}: {refused.text}"
        ) from refused.__cause__
    if type(content) is Equal:
        return content, True
    is_steady = not (reader.volatile or reader.variable)
    token, head = content, head_of(content)
    if head is tuple or head is frozenset or type(head) is ClassLayout:
        token = token_of(content)
    if is_steady and not is_scalar(value):
        is_small = reader.leaves_read < _LARGE
        _remember(value, token, is_plain=reader.is_plain and is_small)
    return token, is_steady


# ---- tokens of deeply immutable objects ----

_FEW: Final = 8
"""Items of a tuple up to which reading is as fast as a lookup."""
_LARGE: Final = 1 << 12
_MOST: Final = 256


@final
class _WeakEntry(ref[Any]):
    """A value that takes weak references, with its token; or an `Equal`."""

    __slots__ = ("key", "token")
    key: int
    token: Hashable


@final
class _StrongEntry:
    """Plain data that takes no weak reference, such as a tuple, and its token."""

    __slots__ = ("token", "value")

    def __init__(self, value: Any, token: Hashable) -> None:
        self.value: Any = value
        self.token: Hashable = token

    def __call__(self) -> Any:
        """Return the value, as a weak reference does."""
        return self.value


def _remember(value: Any, token: Hashable, *, is_plain: bool) -> None:
    """Keep the token of a value; for a while also the value, if it is plain data."""
    try:
        _enter(_WeakEntry(value, _forget), id(value), token)
    except TypeError:
        if not is_plain:  # it would keep the objects in it alive
            return
        if len(_strong) >= _MOST:
            oldest = _strong.popleft()
            if _known.get(id(oldest.value)) is oldest:
                _known.pop(id(oldest.value), None)
        kept = _known[id(value)] = _StrongEntry(value, token)
        _strong.append(kept)


def _equal(value: Any) -> Equal:
    """Return the `Equal` of an object: the same one while a key holds it."""
    equal = Equal(value)
    _enter(_WeakEntry(equal, _forget), id(value), None)
    return equal


def _enter(known: _WeakEntry, key: int, token: Hashable) -> None:
    known.key = key
    known.token = token
    _known[key] = known


_known: Final[dict[int, _WeakEntry | _StrongEntry]] = {}
"""By `id`; an entry goes with its object, or a lookup finds it dead."""


def _forget(dead: Any, *, known: Any = _known) -> None:
    # By a default: also at exit.
    if known.get(dead.key) is dead:
        known.pop(dead.key, None)  # another thread may have removed it


_strong: Final[deque[_StrongEntry]] = deque()


# ---- tokens of functions ----

_Variable: TypeAlias = tuple["ref[FunctionType]", Content]
"""A function that may change, and its token."""


class _FixedFunction(NamedTuple):
    """The token of a function that is taken to stay as it is, but for functions in it.

    Args:
        function: the function.
        token: its token.
        parts: the functions in it that may change.
    """

    function: "ref[FunctionType]"
    token: Content
    parts: tuple[_Variable, ...]


_fixed: Final[dict[int, _FixedFunction]] = {}
"""By the `id` of a function; an entry goes with it."""


def _remember_function(
    fun: FunctionType, token: Content, parts: tuple[_Variable, ...]
) -> None:
    key = id(fun)

    def forget(_: object, *, fixed: Any = _fixed) -> None:
        fixed.pop(key, None)  # by a default: also at exit

    _fixed[key] = _FixedFunction(ref(fun, forget), token, parts)


def _are_as_read(functions: Iterable[_Variable]) -> bool:
    return all([static_token(each(), "") is token for each, token in functions])  # noqa: C419 - a generator takes 100 ns more


# ---- tokens of nested tuples ----

_LASTING: Final = ids_of(int, bool, str, bytes, type(None))
"""Classes of which an entry keeps the values alive."""


class _NestedEntry(NamedTuple):
    """The token of nested tuples of the same items, which are new tuples at each call.

    Args:
        token: the token.
        kept: the numbers and texts among the items.
        watched: the other items; the entry goes with the first of them.
        functions: the functions in them that may change.
    """

    token: Hashable
    kept: list[Any]
    watched: list["ref[Any]"]
    functions: tuple[_Variable, ...]


def _nested_token(ids: bytes, value: Any, name: str) -> Hashable:
    entry = _nested.get(ids)
    if entry is not None and _are_as_read(entry.functions):
        return entry.token
    token = _quick_token(value, tuple)
    if token is None:
        reader = _StaticReader()
        token = _read(value, name, reader)[0]
        if not reader.volatile:
            _remember_nested(ids, value, token, reader.variable)
    return token


def _remember_nested(
    ids: bytes, value: Any, token: Hashable, functions: tuple[_Variable, ...]
) -> None:
    """Keep the token of nested tuples, if their items show when it no longer holds."""
    kept: list[Any] = []
    watched: list[ref[Any]] = []

    def forget(_: object, *, nested: Any = _nested) -> None:
        nested.pop(ids, None)  # by a default: also at exit

    for item in _items_of(value):
        kind = class_of(item)
        if id(kind) in _LASTING:
            kept.append(item)
            continue
        if kind is not FunctionType and kind is not tree.TreeDef:
            return
        watched.append(ref(item, forget))
    if len(_nested) >= _MOST:
        _nested.pop(next(iter(_nested)), None)
    _nested[ids] = _NestedEntry(token, kept, watched, functions)


def _items_of(value: Any) -> Iterable[Any]:
    for item in value:
        if type(item) is tuple:
            yield from _items_of(item)
        else:
            yield item


_nested: Final[dict[bytes, _NestedEntry]] = {}
"""By the identities of the items; none without the native core."""
nested_ids: Final[Callable[[Any], bytes | None]] = (
    (lambda _: None) if native.core is None else native.core.nested_ids
)
"""Returns bytes that nested tuples of the very same items share."""


# ---- reading a new value ----


class _StaticReader(StateReader):
    """A reader that enforces the contract for the parts of an argument.

    Functions, partials and objects with a token of their own may hold anything
    (`_is_free`): in them lists and arrays compare by content.
    """

    leaves: ClassVar[int] = HASHED // 8
    container_leaves: ClassVar[int] = HASHED // 8
    scalars: ClassVar[int] = HASHED // 8
    array_bytes: ClassVar[float] = HASHED
    variable: "tuple[_Variable, ...]" = ()
    """The functions that it read and which may change."""
    is_plain: bool = True
    """Whether it reads only plain data."""
    _is_free: bool = False

    def value(self, x: object) -> Content:
        kind = type(x)
        if kind is int or kind is str or x is None:
            return x
        if self._is_free:
            return super().value(x)
        by = compared_by(x)
        if by is ComparedBy.PARTS:
            return super().value(x)
        if by is ComparedBy.FIELDS or by is ComparedBy.COMPARED:
            return self.node(x, self._fields)
        if is_scalar(x):
            return super().value(x)
        self.is_plain = False
        if by is ComparedBy.IDENTITY:
            return identity(x)
        if by is ComparedBy.EQUAL:
            return self._by_equality(x)
        self._is_free = True
        try:
            return super().value(x)
        finally:
            self._is_free = False

    def function(self, fun: FunctionType) -> Content:
        """Return the token of a function; one that is fixed is read once."""
        known = _fixed.get(id(fun))
        if known is not None and known.function() is fun and _are_as_read(known.parts):
            self.variable += known.parts
            return known.token
        variable, volatile = self.variable, self.volatile
        self.variable, self.volatile = (), False
        token = super().function(fun)
        is_fixed = are_libraries_fixed() or not self.volatile
        if not (is_fixed and is_fixed_function(fun)):
            self.variable = ((ref(fun), token),)
        elif self._done.get(id(fun)) is token:  # it does not depend on its place
            _remember_function(fun, token, self.variable)
        self.variable, self.volatile = variable + self.variable, volatile
        return token

    def said(self, said: Any) -> Content:
        content = super().said(said)
        self.volatile = True  # the next result may differ
        return content

    def object(self, x: Any) -> Content:
        """Return the token of an object inside a value that is not plain data."""
        layout = layout_of(x)
        if id(layout.storage) in _CARRIERS and layout.compared_by in _BY_CONTENT:
            return self.state(x, None)  # a number or tuple with attributes
        if layout.defines_eq and layout.hashable:
            with suppress(RefusedError):
                return self._by_equality(x)
        return identity(x)

    def _by_equality(self, x: Any) -> Content:
        self.volatile = True
        return _equal(x)

    def _fields(self, x: Any) -> Content:
        layout = layout_of(x)
        held = layout.field_values(x)
        if held is None:  # it has more attributes, which are ignored, or fewer
            held = [layout.get(x, name, ABSENT) for name in layout.fields]
        if layout.compared_by is ComparedBy.COMPARED:
            compared = [f.compare for f in fields(cast("Any", type(x)))]
            pairs = zip(held, compared, strict=True)
            held = [value if is_used else _UNCOMPARED for value, is_used in pairs]
        return layout, *[y if type(y) is Mark else self.value(y) for y in held]


_CARRIERS: Final = ids_of(int, float, complex, str, bytes, tuple)
_BY_CONTENT: Final = (ComparedBy.PARTS, ComparedBy.VALUE)


@final
class _FieldReader(_StaticReader):
    """A reader of static data of a node, where containers compare by content."""

    array_bytes: ClassVar[float] = math.inf

    def value(self, x: object) -> Content:
        if id(type(x)) in IN_FIELDS:
            return StateReader.value(self, x)
        try:
            return super().value(x)
        except RefusedError:
            layout = layout_of(x)
            is_comparable = layout.defines_eq and layout.storage is object
            if layout.hashable or layout.is_library or not is_comparable:
                raise
            self.volatile = True
            return Equal(x, type(x))
