"""The static data of registered nodes, compared with its types.

In Python `1 == 1.0 == True` and `0.0 == -0.0`, but a program traced for one is wrong
for the other. So static data is kept in a `Static`, which compares tokens;
`jit.fingerprint.exact` makes them. Of a list, dictionary, set or NumPy array, which may
change in place, a structure keeps its own copy, and gives a fresh one to each node that
is rebuilt. `StaticGuard` compares the static data of a warm call with that of the last
call, by identity of the items where that is enough.
"""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable
from marshal import dumps
from operator import is_
from typing import Any, ClassVar, Final, TypeAlias, cast, final
from weakref import WeakValueDictionary

import numpy as np

from imprint._src.errors import ArgumentError


def _unread(value: Any) -> tuple[Hashable, bool]:
    return value, False


class TokenReader:
    """The function that makes tokens of static data; `jit.fingerprint.exact` sets it.

    Attributes:
        read: returns the token of a value, and whether it stays valid as long as the
            value is the same object. Raises `ArgumentError` if there is none.
    """

    read: ClassVar[Callable[[Any], tuple[Hashable, bool]]] = staticmethod(_unread)


@final
class _Tokenless:
    """A value without a token: it can be compared, but is no key."""

    __slots__ = ("_reason", "_value")

    def __init__(self, value: Any, reason: ArgumentError) -> None:
        self._value = value
        self._reason = reason

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Tokenless):
            return False
        one, two = self._value, other._value
        return one is two or (type(one) is type(two) and bool(one == two))

    def __hash__(self) -> int:
        if type(self._value) is not tuple:  # the fields of a node
            hash(self._value)
        raise TypeError(str(self._reason)) from self._reason


def static_of(value: Any) -> "Static":
    """Return the static data of a node as a structure keeps it; hot.

    A class that gives a new tuple of the same objects each time gets one object for it.
    """
    ids = (*map(id, value),) if value.__class__ is tuple else None
    known = None if ids is None else STATICS_OF_TUPLES.get(ids)
    if known is not None:
        return known
    kept = detached(value)
    if kept is not value:
        return _Detached(kept)
    made = Static(value)
    if ids is not None and made.is_steady:
        STATICS_OF_TUPLES[ids] = made  # which keeps the objects, and so the ids
    return made


class Static:
    """A value that equals only values that are the same down to the types.

    Args:
        value: the value; `static_of` makes sure that it does not change in place.
    """

    __slots__ = ("__weakref__", "is_steady", "token", "value")

    def __init__(self, value: Any) -> None:
        self.value: Any = value
        self.token: Hashable
        self.is_steady: bool
        self.token, self.is_steady = _token(value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static) or self.token != other.token:
            return False
        # One will replace the other, so both must still be unchanged: the
        # variables of a closure may have changed since.
        mine, its = self.kept, other.kept
        return mine is its or (self._is_as_made() and other._is_as_made())

    @property
    def kept(self) -> Any:
        """The value itself; it must not be changed."""
        return self.value

    def _is_as_made(self) -> bool:
        return self.is_steady or _token(self.kept)[0] == self.token

    def __hash__(self) -> int:
        return hash(self.token)

    def __reduce__(self) -> tuple[Any, ...]:
        return static_of, (self.value,)

    def __repr__(self) -> str:
        return repr(self.value)


@final
class _Detached(Static):
    """A private copy of a value that could be changed in place."""

    __slots__ = ("kept",)

    def __init__(self, kept: Any) -> None:
        self.kept: Any = kept
        self.token, self.is_steady = _token(kept)
        # The copy does not change, but its items may.
        kind = kept.__class__
        self.is_steady |= kind in _LINEAR and SCALARS.issuperset(map(type, kept))

    @property
    def value(self) -> Any:
        return detached(self.kept)


def _token(value: Any) -> tuple[Hashable, bool]:
    kind: Any = value.__class__
    if kind in _THEMSELVES:
        return value, True
    try:
        if kind is not tuple:
            return TokenReader.read(value)
        read = [
            (x, True) if type(x) in _THEMSELVES else TokenReader.read(x) for x in value
        ]
    except ArgumentError as err:
        return _Tokenless(value, err), False
    return (tuple, *[token for token, _ in read]), all(steady for _, steady in read)


# ---- values that can change in place ----


def detached(value: Any) -> Any:
    """Return a value with private copies of its containers; itself if it has none.

    Args:
        value: a list, dictionary, set, array, tuple or any other object.

    Returns:
        The copy, or the value itself.

    Example:
        >>> from imprint._src.tree.statics import detached
        >>> names, pair = ["a"], (1, "b")
        >>> detached(names) is names, detached(pair) is pair
        (False, True)
    """
    kind: Any = value.__class__
    copy = COPIES.get(kind)
    if copy is not None:
        return copy(value)
    if not issubclass(kind, tuple):
        return value
    if SCALARS.issuperset(map(type, value)):
        return value
    items = [detached(x) for x in value]
    if all(a is b for a, b in zip(items, value, strict=True)):
        return value
    return _new_tuple(kind, items)


_new_tuple: Final = cast("Any", tuple).__new__  # of named tuples, too


def _copy_of_items(xs: Any) -> Any:
    if SCALARS.issuperset(map(type, xs)):
        return xs.copy()
    return [detached(x) for x in xs]


def _copy_of_dict(x: Any) -> Any:
    copy = x.copy()  # keeps the factory of a defaultdict
    for key, held in x.items():
        copy[key] = detached(held)
    return copy


_THEMSELVES: Final = frozenset({int, str, type(None)})
"""Classes of tokens that are the value."""
SCALARS: Final = frozenset({int, float, bool, str, bytes, complex, type(None)})
_LINEAR: Final = frozenset({list, tuple})
COPIES: Final[dict[type, Callable[[Any], Any]]] = {
    list: _copy_of_items,
    **dict.fromkeys((dict, OrderedDict, defaultdict), _copy_of_dict),
    deque: lambda x: deque(_copy_of_items(x), x.maxlen),
    **dict.fromkeys((set, bytearray, np.ndarray), lambda x: x.copy()),
}


# ---- from call to call ----


@final
class StaticGuard:
    """Static data of a warm call, to compare that of the next one with it; hot.

    Plain data is compared as text of `marshal`, 100 numbers in 1.2 us; of another tuple or
    list the items, by identity.
    """

    __slots__ = ("_equal", "_last", "_static")

    def __init__(self, value: Any) -> None:
        self._static: Static = static_of(value)
        self._equal = 0
        self._last: _Last = self._learned(value)

    @property
    def is_steady(self) -> bool:
        """Whether the same object is always the same value."""
        return type(self._static) is Static and self._static.is_steady

    def differs(self, value: Any) -> bool:
        """Return whether a value is another one."""
        same, kind, text, items, parts = self._last
        if value is same:
            return False
        if value.__class__ is kind:
            if text is not None:
                try:
                    if dumps(value, _FORMAT) == text:
                        return False
                except ValueError:  # it is no plain data
                    pass
            elif len(value) == len(items) and all(map(is_, value, items)):
                return any(part.differs(value[i]) for i, part in parts)
        return self._differs_in_depth(value)

    def _differs_in_depth(self, value: Any) -> bool:
        static = self._static
        kind = value.__class__
        token, is_steady = None, False
        if kind not in COPIES and not issubclass(kind, tuple):
            token, is_steady = _token(value)
            if token is static.token and value is static.value:
                return False
        if is_steady and self.is_steady:  # `Static.__eq__`; a token may take 30 us
            differs = token != static.token
        else:
            differs = static_of(value) != static
        if differs:
            return True
        self._equal += 1
        if self._equal & (self._equal - 1) == 0:  # after 1, 2, 4, 8: it takes a while
            self._last = self._learned(value)
        return False

    def _learned(self, value: Any) -> "_Last":
        kind: Any = value.__class__
        same = value if self.is_steady else _NOTHING
        if _is_plain(value):
            return same, kind, dumps(value, _FORMAT), (), ()
        if kind not in _LINEAR or len(value) > _MOST:
            return same, None, None, (), ()
        each = [(i, StaticGuard(x)) for i, x in enumerate(value)]
        parts = tuple([(i, part) for i, part in each if not part.is_steady])
        return same, kind, None, tuple(value), parts


def _is_plain(value: Any) -> bool:
    """Return whether equal texts of `marshal` mean the same list, tuple or dict.

    Bytes are excluded, because an array has the text of its bytes.
    """
    kind: Any = value.__class__
    if kind is dict:
        return all(map(_is_plain_part, [*value, *value.values()]))
    return kind in _LINEAR and all(map(_is_plain_part, value))


def _is_plain_part(value: Any) -> bool:
    return type(value) in _WRITTEN or _is_plain(value)


_Parts: TypeAlias = tuple[tuple[int, StaticGuard], ...]
_Last: TypeAlias = tuple[Any, Any, bytes | None, tuple[Any, ...], _Parts]
"""An object that is always the same value; the class of a value compared by its text or
its items; the text; the items, and those items that may change in place."""
_NOTHING: Final = object()
_WRITTEN: Final = SCALARS - {bytes}
_FORMAT: Final = 2
"""The format of `marshal` in which equal values give equal bytes, whatever their
reference counts."""
_MOST: Final = 4096
STATICS_OF_TUPLES: Final = WeakValueDictionary[tuple[int, ...], Static]()
"""The static data of tuples, by the `id` of their items, as long as a structure has it."""
