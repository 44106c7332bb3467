"""Static: the static data of a registered node, compared with its types.

To Python `1 == 1.0 == True` and `0.0 == -0.0`: a structure that differs in these would be
answered with a program traced for the other. So static data is kept in a `Static`, in which
values are the same if they are equal, of one type, and so are their parts; NaN is NaN. Who
registers a class may say better what each value is compared by. Of a list, dictionary, set
or NumPy array, which may change in place, a structure keeps a copy of its own, and gives a
fresh one to each node that is put together: what is done to one is not seen in another.
Of what else may change, such as an object, it notes what it was.
"""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Mapping, Set
from typing import Any, ClassVar, Final, TypeAlias, cast, final

import numpy as np

from imprint.errors import ArgumentError


def _nothing_changes(_: Any) -> Hashable:
    return None


class Changing:
    """What reads values that can change in place; `static.exact` knows how.

    Attributes:
        read: returns what a value is now; None if it is that for as long as it lives.
    """

    read: ClassVar[Callable[[Any], Hashable]] = staticmethod(_nothing_changes)


Exact: TypeAlias = Callable[[Any], Hashable]
"""Gives what a value is compared by, or raises `ArgumentError`."""


def static_of(value: Any, exact: Exact | None = None) -> "Static":
    """Return the static data of a node as a structure keeps it."""
    kept = detached(value)
    return Static(value, exact) if kept is value else _Detached(kept, exact)


class Static:
    """A value that equals only what is the same to the last type.

    Args:
        value: the value; `static_of` makes sure that nobody changes it in place.
        exact: what to compare its items by; then it is a tuple.
    """

    __slots__ = ("exact", "key", "state", "value")

    def __init__(self, value: Any, exact: Exact | None = None) -> None:
        self.value: Any = value
        self.exact: Exact | None = exact
        self.key: Hashable = None if exact is None else _key(value, exact)
        self.state: Hashable = _state(value) if exact is None else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static):
            return False
        if not (self._is_as_made() and other._is_as_made()):
            return False
        if self.key is None or other.key is None:
            one = self.value
            is_known = one.__class__ in _COPIES  # else its `==` may not tell all
            return _same(one, other.value) and (is_known or self.state == other.state)
        if self.key != other.key:
            return False
        if self.exact is None:
            return True
        # One will stand for the other, so they must still be the same: the variables of
        # a closure may have changed since.
        pairs = zip(self.value, other.value, strict=True)
        return all(a is b or self.exact(a) == self.exact(b) for a, b in pairs)

    def _is_as_made(self) -> bool:
        return self.state is None or self.state == _state(self.value)

    def __hash__(self) -> int:
        if self.key is None and self.exact is not None:
            try:  # to say why there is none
                return hash(tuple(map(self.exact, self.value)))
            except ArgumentError as err:
                raise TypeError(str(err)) from err
        return hash(self.value if self.key is None else self.key)

    def __repr__(self) -> str:
        return repr(self.value)


@final
class _Detached(Static):
    """A value that could be changed in place, of which nobody else has this copy."""

    __slots__ = ("_kept",)

    def __init__(self, kept: Any, exact: Exact | None) -> None:
        self._kept = kept
        self.exact = exact
        self.key = _snapshot_key(kept) if exact is None else _key(kept, exact)
        self.state = _state(kept) if exact is None else None

    @property
    def value(self) -> Any:
        return detached(self._kept)


def detached(value: Any) -> Any:
    """Return a value whose containers nobody else can change: itself if it holds none.

    Example:
        >>> from imprint.tree.statics import detached
        >>> names, pair = ["a"], (1, "b")
        >>> detached(names) is names, detached(pair) is pair
        (False, True)
    """
    kind: Any = value.__class__
    copy = _COPIES.get(kind)
    if copy is not None:
        return copy(value)
    if not issubclass(kind, tuple):
        return value
    if _SCALARS.issuperset(map(type, value)):
        return value
    items = [detached(x) for x in value]
    if all(a is b for a, b in zip(items, value, strict=True)):
        return value
    return _new_tuple(kind, items)


def _state(value: Any) -> Hashable:
    """Return what a value is now, if it may be something else later."""
    kind: Any = value.__class__
    if kind is tuple and _SCALARS.issuperset(map(type, value)):
        return None
    return None if kind in _SCALARS else Changing.read(value)


_new_tuple: Final = cast("Any", tuple).__new__  # of named tuples, too


def is_detached(value: Any) -> bool:
    """Tell whether a value holds nothing that can change in place."""
    return detached(value) is value and _state(value) is None


def _copy_of_items(xs: Any) -> Any:
    if _SCALARS.issuperset(map(type, xs)):
        return xs.copy()
    return [detached(x) for x in xs]


def _copy_of_dict(x: Any) -> Any:
    copy = x.copy()  # keeps the factory of a defaultdict
    for key, held in x.items():
        copy[key] = detached(held)
    return copy


_SCALARS: Final = frozenset({int, float, bool, str, bytes, complex, type(None)})
_COPIES: Final[dict[type, Callable[[Any], Any]]] = {
    list: _copy_of_items,
    **dict.fromkeys((dict, OrderedDict, defaultdict), _copy_of_dict),
    deque: lambda x: deque(_copy_of_items(x), x.maxlen),
    **dict.fromkeys((set, bytearray, np.ndarray), lambda x: x.copy()),
}


def _snapshot_key(value: Any) -> Hashable:
    """Return what a value that could be changed is compared by; None if it has no key."""
    try:
        key = _snapshot(value)
        hash(key)
    except TypeError:  # something in it has no hash
        return None
    return key


def _snapshot(value: Any) -> Hashable:
    kind: Any = value.__class__
    if kind is np.ndarray:
        if value.dtype.hasobject:
            raise TypeError("unhashable type: array of objects")
        return kind, value.dtype, value.shape, value.tobytes()
    if kind is bytearray:
        return kind, bytes(value)
    if kind is set:
        return kind, frozenset(map(_snapshot, value))
    if issubclass(kind, tuple) or kind in (list, deque):
        items: Any = map(_snapshot, value)
        return cast("Any", kind), getattr(value, "maxlen", None), *items
    if kind in _COPIES:  # the dictionaries: what reads one may depend on the order
        items = [(_snapshot(k), _snapshot(v)) for k, v in value.items()]
        return kind, getattr(value, "default_factory", None), *items
    return Static(value)


def _key(values: tuple[Any, ...], exact: Exact) -> tuple[Hashable, ...] | None:
    try:
        return tuple(map(exact, values))
    except ArgumentError:  # a list, perhaps: it can be compared, but is no key
        return None


def _same(a: Any, b: Any) -> bool:
    kind = type(a)  # pyright: ignore[reportUnknownVariableType] - of an Any
    if a is b:
        return True
    if kind is not type(b):
        return False
    if issubclass(kind, tuple | list):
        return len(a) == len(b) and all(map(_same, a, b))
    if issubclass(kind, Mapping):
        return _same_members(a, b) and all(_same(a[k], b[k]) for k in a)
    if issubclass(kind, Set):
        return _same_members(a, b)
    if issubclass(kind, float | complex | np.inexact):
        return repr(a) == repr(b)
    if issubclass(kind, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return bool(a == b) and all(
        _same(getattr(a, f.name), getattr(b, f.name))
        if f.compare
        else _same_beside(getattr(a, f.name), getattr(b, f.name, None))
        for f in getattr(a, "__dataclass_fields__", {}).values()
        if hasattr(a, f.name)
    )


def _same_beside(a: Any, b: Any) -> bool:
    """Tell whether fields are the same that their dataclass does not compare."""
    try:
        return _same(a, b)
    except Exception:  # they may have no `==` that says yes or no
        return False


def _same_members(a: Any, b: Any) -> bool:
    held = {x: x for x in b}
    return len(a) == len(held) and all(x in held and _same(x, held[x]) for x in a)
