"""Cache keys of static arguments: exact values, by which a version is found.

`1`, `1.0` and `True` are three values at every depth, so are `0.0` and `-0.0`, and NaN
equals NaN. Plain data and frozen dataclasses count by content, functions as definitions,
enum members, classes and modules by identity; an object counts by its state, and by its
identity unless its class defines `==`, so an object that was changed is another key and
never a wrong answer. A key keeps no object alive that takes weak references, unless only
its own `==` can compare it. What may not be static is said in `contract`.
"""

from collections.abc import Hashable
from types import FunctionType
from typing import Any, ClassVar, Final, NoReturn, final
from weakref import ref

from imprint.core.identity import identity, ids_of
from imprint.core.libraries import is_user_code
from imprint.definition.layout import Layout, layout_of, layouts
from imprint.definition.share import Snapshot
from imprint.definition.state import StateWalk, reads_state
from imprint.definition.token import (
    EQUAL,
    STATE,
    Content,
    Unread,
    find_token,
    head_of,
    plain_contents,
    token_of,
)
from imprint.definition.walk import NO_EFFECTS, Effects, Part, scalar_function_token
from imprint.definition.wording import show
from imprint.errors import ArgumentError
from imprint.static.contract import (
    NODES,
    Equal,
    RefusedError,
    Standing,
    check_equal_hashes,
    place_of,
    standing_of,
)
from imprint.tree.statics import Changing

__all__ = [
    "check_equal_hashes",
    "field_token",
    "is_plain_value",
    "is_steady",
    "read_static",
    "same_value",
    "static_token",
]

_BUDGET: Final = 16 << 20
"""Bytes of arrays up to which a static argument counts by content; an item counts as 8."""
_EXACT: Final = ids_of(int, bool, str, bytes, type(None), type(Ellipsis))
_PLAIN: Final = _EXACT | ids_of(float, complex)


def is_plain_value(value: object) -> bool:
    """Tell whether `same_value` compares values of this one's type."""
    return id(type(value)) in _PLAIN


def same_value(value: object, plain: object) -> bool:
    """Tell whether `value` is exactly the plain value: type, bits, sign of zero."""
    kind = type(value)
    if kind is not type(plain) or id(kind) not in _PLAIN:
        return False
    if id(kind) in _EXACT:
        return bool(value == plain)
    return static_token(value, "") == static_token(plain, "")


def static_token(value: object, name: str, effects: Effects = NO_EFFECTS) -> Hashable:
    """Return the exact value of a static argument as a hashable token.

    Args:
        value: the static argument.
        name: what the user calls it, for messages.
        effects: state that does not count, from `effects_of`.

    Raises:
        ArgumentError: the value cannot be static; the message names the part.
    """
    kind = type(value)
    if kind is int or kind is str:
        return value
    memo = _frozen.get(id(value))
    if memo is not None and memo() is value:
        return memo.token
    token = None if effects else _quick_token(value, kind)
    return _token(value, name, _ArgumentWalk(effects)) if token is None else token


def field_token(value: object) -> Hashable:
    """Return the exact value of a static field of a node, as `static_token`.

    There, containers that can change count by their content.

    Raises:
        ArgumentError: the value cannot be static.
    """
    kind = type(value)
    if kind is int or kind is str:
        return value
    memo = _frozen.get(id(value))
    if memo is not None and memo() is value:
        return memo.token
    token = _quick_token(value, kind)
    return _token(value, "", _FieldWalk()) if token is None else token


def is_steady(value: object) -> bool:
    """Tell whether a static field's value is the same while it is the same object."""
    walk = _FieldWalk()
    try:
        _content(value, "", walk)
    except ArgumentError:
        return False
    return not walk.volatile


def changing(value: object) -> Hashable:
    """Return what a value is now, by its content; None if it cannot change in place.

    None, too, if it is too large to be read again and again.
    """
    if type(value) is FunctionType:
        token = scalar_function_token(value)
        if token is not None:
            return token if token.has_cells or _is_users(value) else None
    walk = _ArgumentWalk()
    walk.is_free = True
    try:
        content = walk.value(value)
    except RefusedError:
        return None
    can_change = walk.volatile or walk.has_cells or walk.has_own_code
    return content if can_change else None


Changing.read = staticmethod(changing)


def _is_users(function: FunctionType) -> bool:
    """Tell whether a function is the user's: its code may be edited in place."""
    return is_user_code(function.__code__, function.__globals__)


def _quick_token(value: Any, kind: Any) -> Hashable:
    """Return the token of a scalar, a tuple of them, an object that holds only them.

    Hot: the general way costs 1 to 2 µs more. It makes the same token; None if it cannot.
    """
    if kind is float or kind is bool:
        contents = plain_contents((value,))
        return None if contents is None else contents[0]
    if kind is tuple:
        contents = plain_contents(value)
        return None if contents is None else (tuple, *contents)
    if kind is FunctionType:
        return scalar_function_token(value)
    layout = layouts.get(id(kind))
    if layout is None or layout.standing is None or not layout.is_of(kind):
        return None
    if layout.is_frozen:
        return _quick_frozen(value, layout)
    return _quick_object(value, layout) if layout.is_plain else None


def _quick_frozen(value: Any, layout: Layout) -> Hashable:
    fields = layout.field_values(value) if layout.is_open else None
    contents = None if fields is None else plain_contents(fields)
    if contents is None:
        return None
    token = find_token((layout, *contents))
    if token is not None:
        _remember(value, token)
    return token


def _quick_object(value: Any, layout: Layout) -> Content:
    if not layout.defines_eq:
        return identity(value) if layout.is_named else None
    held = layout.plain_state(value)
    contents = None if held is None else plain_contents(held.values())
    if held is None or contents is None:
        return None
    return find_token((layout, STATE, None, None, tuple(held), *contents))


def read_static(value: Any, name: str, effects: Effects = NO_EFFECTS) -> Snapshot:
    """Read a static argument, to find out later what changed; see `effects_of`."""
    parts: list[Part] = []
    _content(value, name, _ArgumentWalk(effects, parts, apart=True))
    return Snapshot(tuple(parts))


def _content(value: Any, name: str, walk: "_ArgumentWalk") -> Content:
    try:
        return walk.value(value)
    except RefusedError as refused:
        what = f"static argument {name}" if name else "static field"
        raise ArgumentError(
            f"{what}{place_of(refused.part, value)}: {refused.text}"
        ) from refused.__cause__


def _token(value: Any, name: str, walk: "_ArgumentWalk") -> Hashable:
    content = _content(value, name, walk)
    head = head_of(content)
    if type(head) is not Layout:
        return content
    token = token_of(content, volatile=walk.volatile, has_cells=walk.has_cells)
    if head.is_frozen and not (token.volatile or token.has_cells or walk.has_own_code):
        _remember(value, token)
    return token


# ---- frozen dataclasses are read once ----


@final
class _Memo(ref[Any]):
    __slots__ = ("key", "token")
    key: int
    token: Hashable


def _remember(value: Any, token: Hashable) -> None:
    try:
        memo = _Memo(value, _forget)
    except TypeError:  # slots without a weak reference: it is read each time
        return
    memo.key = id(value)
    memo.token = token
    _frozen[memo.key] = memo


def _forget(dead: Any) -> None:
    if _frozen.get(dead.key) is dead:
        _frozen.pop(dead.key, None)  # another thread may have been here


# By the `id` of what is alive: an entry leaves with its object, or is found to be dead.
_frozen: Final[dict[int, _Memo]] = {}


# ---- the walk through an argument ----


class _ArgumentWalk(StateWalk):
    """A walk that holds the parts of an argument to the contract.

    Inside functions and objects the contract ends (`is_free`): there lists and arrays
    count by content. Inside a node of pytrees a list or a dict is a node itself.
    """

    leaves: ClassVar[int] = _BUDGET // 8
    container_leaves: ClassVar[int] = _BUDGET // 8
    scalars: ClassVar[int] = _BUDGET // 8
    array_bytes: ClassVar[float] = _BUDGET
    _left: int = _BUDGET
    is_free: bool = False
    has_own_code: bool = False
    """Whether it met functions of the user's, whose code may be edited in place."""
    _in_node: bool = False

    def value(self, x: object) -> Content:
        if self.is_free or (self._in_node and id(type(x)) in NODES):
            return super().value(x)
        standing = standing_of(x)
        if standing is Standing.PARTS:
            return super().value(x)
        if standing is Standing.NODE:
            return self._node(x)
        self.is_free = True
        try:
            if standing is Standing.VALUE:
                return super().value(x)
            return EQUAL, Equal(x), *self.attributes_of(x, layout_of(x))
        finally:
            self.is_free = False

    def function(self, fun: FunctionType) -> Content:
        self.has_own_code |= _is_users(fun)
        return super().function(fun)

    def _node(self, x: object) -> Content:
        outer, self._in_node = self._in_node, True
        try:
            return self.state(x, None)
        finally:
            self._in_node = outer

    def digest(self, x: Any) -> bytes | Unread:
        self._left -= x.nbytes
        if self._left < 0:
            self.refuse(x)
        return super().digest(x)

    def beyond(self, x: Any) -> Content:
        return identity(x) if type(x) is FunctionType else self.refuse(x)

    def refuse(self, x: Any) -> NoReturn:
        """Raise `RefusedError`: there is more of it than is read at each call."""
        raise RefusedError(
            x,
            f"expected at most {_BUDGET >> 20} MB of static data, got more with "
            f"{show(identity(x))}. Pass what is that large as an ordinary (traced) argument.",
        )

    def object(self, x: Any) -> Content:
        layout = layout_of(x)
        if layout.is_named and reads_state(layout) and not layout.defines_eq:
            return identity(x)  # a version watches what it read of it
        inside, self.is_free = self.is_free, True
        try:
            return super().object(x)
        finally:
            self.is_free = inside


@final
class _FieldWalk(_ArgumentWalk):
    """A walk through the static field of a node, where containers count by content."""

    _in_node = True
