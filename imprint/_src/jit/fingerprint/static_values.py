"""Cache keys of static arguments: exact values.

`1`, `1.0` and `True` are three values at every depth, so are `0.0` and `-0.0`, and NaN
equals NaN. Plain data and frozen dataclasses compare by content, functions by definition,
an object by the `==` and hash of its class, or else by identity. The token of a deeply
immutable object is remembered, so it is read once. A key keeps no object alive that takes
weak references, unless only its own `==` can compare it.
"""

import math
from collections import deque
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import fields
from types import FunctionType
from typing import Any, ClassVar, Final, cast, final
from weakref import ref

from imprint._src.core.identity import identity, ids_of
from imprint._src.core.user_code import is_user_function
from imprint._src.errors import ArgumentError
from imprint._src.jit.fingerprint.content import scalar_function_token
from imprint._src.jit.fingerprint.layout import ClassLayout, layout_of, layouts
from imprint._src.jit.fingerprint.state import HASHED, StateReader
from imprint._src.jit.fingerprint.static_contract import (
    IN_FIELDS,
    ComparedBy,
    Equal,
    RefusedError,
    check_equal_hashes,
    compared_by,
    is_scalar,
    path_of,
)
from imprint._src.jit.fingerprint.token import (
    ABSENT,
    Content,
    Mark,
    find_token,
    head_of,
    scalar_contents,
    token_of,
)
from imprint._src.tree.statics import Reading

__all__ = [
    "Equal",
    "check_equal_hashes",
    "is_plain_value",
    "read_field",
    "same_value",
    "static_token",
]

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
    token = _quick_token(value, kind)
    return _read(value, name, _StaticReader())[0] if token is None else token


def read_field(value: Any) -> tuple[Hashable, bool]:
    """Return the exact value of static data of a node, and whether it is steady.

    It is steady if it stays equal for as long as it is the same object. Mutable
    containers compare by content.

    Raises:
        ArgumentError: the value cannot be static.
    """
    known = _known.get(id(value))
    if known is not None and known() is value:
        return known.token, True
    if isinstance(value, FunctionType):
        token = scalar_function_token(value)
        if token is not None:
            return token, not (token.has_cells or is_user_function(value))
    return _read(value, "", _FieldReader())


Reading.read = staticmethod(read_field)


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
    is_steady = not (reader.volatile or reader.has_cells or reader.has_user_code)
    token, head = content, head_of(content)
    if head is tuple or head is frozenset or type(head) is ClassLayout:
        token = token_of(content, volatile=not is_steady, has_cells=reader.has_cells)
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


def _forget(dead: Any) -> None:
    if _known.get(dead.key) is dead:
        _known.pop(dead.key, None)  # another thread may have removed it


_known: Final[dict[int, _WeakEntry | _StrongEntry]] = {}
"""By `id`; an entry goes with its object, or a lookup finds it dead."""
_strong: Final[deque[_StrongEntry]] = deque()


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
    has_user_code: bool = False
    """Whether it reads user functions, whose code may be edited in place."""
    is_plain: bool = True
    """Whether it reads only plain data."""
    _is_free: bool = False

    def value(self, x: object) -> Content:
        kind = type(x)
        if kind is int or kind is str:
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
        self.has_user_code |= is_user_function(fun)
        return super().function(fun)

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
        return super().value(x)
