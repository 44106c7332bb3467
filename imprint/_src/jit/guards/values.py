"""Values that a trace saw, recorded so that later values can be compared with them.

The same object is equal; so is plain data of equal type and value, and a function that ran
with equal code: its other parts are separate locations. Any other object is equal only to
itself. Objects are held weakly where that is possible. No user code runs here.
"""

from collections.abc import Iterator, Sequence
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, ClassVar, Final, NamedTuple, final
from weakref import ref

import numpy as np

from imprint._src.core.array import NumberArray
from imprint._src.core.identity import WeakStandin, identity, ids_of, namespace
from imprint._src.core.user_code import is_user_function
from imprint._src.jit.fingerprint.callables import definition_token
from imprint._src.jit.fingerprint.code import Code, code_of
from imprint._src.jit.fingerprint.content import (
    HASHED,
    BoundedReader,
    ContentReader,
    StrictReader,
    reads_state,
)
from imprint._src.jit.fingerprint.layout import layout_of
from imprint._src.jit.fingerprint.raw_access import (
    ATOMS,
    GONE,
    MISSING,
    bound_of,
    class_attribute,
    class_of,
    is_plain,
)
from imprint._src.jit.fingerprint.token import Content
from imprint._src.jit.fingerprint.wording import show
from imprint._src.jit.guards.locations import Attribute, Location, MissingNames

_STRONG: Final = ATOMS | ids_of(
    tuple,
    list,
    dict,
    set,
    frozenset,
    range,
    slice,
    type(MISSING),
    BuiltinFunctionType,
    MethodType,
)
"""Classes for which no weak reference is tried: a failed one costs 700 ns."""
_IDENTICAL: Final[Any] = (type, ModuleType, CodeType, NumberArray)


@final
class CaptureBudget:
    """The number of parts of captured values that a trace may still read."""

    def __init__(self) -> None:
        self.parts: int = 1 << 16


@final
class RecordedValue:
    """A value at a location.

    Args:
        value: it.
        budget: limits how much of captured values is read.
        is_captured: whether it may be re-created with the function; then equal content
            makes it the same.
        is_strict: whether the contents of arrays are compared.

    Attributes:
        has_arrays: whether it is or holds a captured NumPy array, which is compared by
            content once the function is re-created.
        is_left: whether the trace bound it where nothing was before.
        by_parts: whether the items of this container have locations of their own.
        bound: the largest length of a deque, which no item shows.
        has_run: whether this function ran in the trace. Another may be called later, by
            the compiled program, so it is compared by identity.
    """

    __slots__ = (
        *("_content", "_is_weak", "_value", "by_parts", "has_arrays", "has_run"),
        *("bound", "is_left", "is_strict", "kind"),
    )

    def __init__(
        self,
        value: Any,
        budget: CaptureBudget | None = None,
        *,
        is_captured: bool = False,
        is_strict: bool = False,
    ) -> None:
        kind = class_of(value)
        self.kind: Any = kind
        self._value: Any = _hold(value, kind)
        self._is_weak: bool = self._value is not value
        self.is_left: bool = False
        self.by_parts: bool = False
        self.bound: int | None = bound_of(value)
        self.has_run: bool = False
        self.has_arrays: bool = False
        self.is_strict: bool = is_strict and issubclass(kind, np.ndarray)
        self._content: Any = None
        if kind is FunctionType:
            self._content = _function_content(value)
        elif kind is CodeType:
            self._content = code_of(value)
        elif self.is_strict:
            self._content = StrictReader().value(value)
        elif self._is_weak and layout_of(value).is_frozen:
            self._content = _plain_content(value)
        elif (
            is_captured
            and id(class_of(value)) not in ATOMS
            and not issubclass(kind, _IDENTICAL)
        ):
            self._content, self.has_arrays = whole_content(value, budget)

    @property
    def value(self) -> Any:
        """The value; GONE if it is no longer alive."""
        if not self._is_weak:
            return self._value
        value = self._value()
        return GONE if value is None else value

    @property
    def reference(self) -> "ref[Any] | None":
        """The weak reference to the value, if it is held by one."""
        return self._value if self._is_weak else None

    @property
    def is_lost(self) -> bool:
        """Whether the value is no longer alive, and no other can equal it."""
        return self.is_alone and self.value is GONE

    @property
    def is_alone(self) -> bool:
        """Whether no other object can equal the value."""
        return self._is_weak and not self.is_known and not self.by_parts

    @property
    def is_known(self) -> bool:
        """Whether the content is known, so that another object can equal it."""
        return self._content is not None

    def matches(self, now: Any) -> bool:
        """Return whether a value is the same object, or equal plain data."""
        value = self.value
        if now is value:
            return not self.is_strict or StrictReader().value(now) == self._content
        if class_of(now) is not self.kind:
            return False
        if value is GONE:
            return self.is_known and _plain_content(now) == self._content
        return is_same_plain(value, now)

    def matches_again(self, now: Any, *, is_captured: bool) -> bool:
        """Return whether a value may replace this one after its owner was re-created.

        Args:
            now: the value.
            is_captured: whether it is reached through the function itself.
        """
        is_same_class = class_of(now) is self.kind
        if is_captured and self.has_arrays:
            is_comparable = is_same_class and self.is_known
            return is_comparable and whole_content(now)[0] == self._content
        if self.matches(now):
            return True
        if not is_same_class or now is MISSING or now is GONE:
            return False
        return self.has_parts(now) or (self.is_known and self._has_content(now))

    def has_parts(self, now: Any) -> bool:
        """Return whether a container may replace this one if its items are equal."""
        is_alike = self.by_parts and class_of(now) is self.kind
        return is_alike and bound_of(now) == self.bound

    def _has_content(self, now: Any) -> bool:
        if self.kind is FunctionType:
            if not self.has_run and is_user_function(now):
                return False
            content = _function_content(now)
        elif self.kind is CodeType:
            content = code_of(now)
        elif layout_of(now).is_frozen:
            content = _plain_content(now)
        else:
            content = whole_content(now)[0]
        return bool(content == self._content)

    @property
    def content(self) -> Content:
        """The value as plain data, for explanations."""
        value = self.value
        if value is GONE and self.code is not None:
            return self.code
        is_code = value is not GONE and self.kind in (FunctionType, CodeType)
        if not is_code and self.is_known:
            return self._content
        return ContentReader().value(value)

    @property
    def code(self) -> Code | None:
        """The code of a user function, which may be gone."""
        content: Any = self._content
        is_users = self.kind is FunctionType and issubclass(type(content), tuple)
        return content[0] if is_users else None

    def __repr__(self) -> str:
        return show(self.content)


def _hold(value: Any, kind: Any) -> Any:
    if id(kind) in _STRONG:
        return value
    try:
        return ref(value)
    except TypeError:
        return value


def is_hashed_plainly(key: Any) -> bool:
    """Return whether looking a key up runs no user code."""
    kind = class_of(key)
    if kind is tuple:
        return all(map(is_hashed_plainly, key))
    return id(kind) in ATOMS or not any(
        is_user_function(class_attribute(kind, name)) for name in ("__hash__", "__eq__")
    )


def is_same_plain(a: Any, b: Any) -> bool:
    """Return whether two values are plain data of equal type and value, exactly."""
    kind = class_of(a)
    if class_of(b) is not kind:
        return False
    if a is b:
        return True
    if kind is int or kind is str or kind is bytes or kind is bool:
        return bool(a == b)
    if issubclass(kind, _IDENTICAL):
        return False
    content = _plain_content(a)
    return content is not None and bool(content == ContentReader().value(b))


def _function_content(function: FunctionType) -> Content:
    """Return the content that makes functions equal; parts of a user function are read by name."""
    if not is_user_function(function):
        return definition_token(function)
    return code_of(function.__code__), namespace(function.__globals__)


def _plain_content(value: Any) -> Content | None:
    """Return the content of an object that is plain data; None if it can change."""
    reader = ContentReader()
    content = reader.value(value)
    return None if reader.volatile or type(content) is WeakStandin else content


def whole_content(
    value: Any, budget: CaptureBudget | None = None
) -> tuple[Content | None, bool]:
    """Return the whole content of a value, bounded, and whether it holds NumPy arrays.

    The content is None if it is too large, or unreadable.
    """
    if budget is not None and budget.parts <= 0:
        return None, False
    reader = _CaptureReader(HASHED)
    try:
        content = reader.value(value)
    except RecursionError:
        return None, False
    finally:
        if budget is not None:
            budget.parts -= reader.leaves_read
    return content if reader.is_whole else None, reader.has_arrays


class _CaptureReader(BoundedReader):
    """A reader of objects and NumPy arrays by content alone.

    Arrays on a device are read by identity: their content waits for the computation.
    """

    leaves: ClassVar[int] = 4096
    container_leaves: ClassVar[int] = 4096
    scalars: ClassVar[int] = 1 << 16
    has_arrays: bool = False

    def object(self, x: Any) -> Content:
        """Return the class and the state of an object."""
        if not reads_state(layout_of(x)):
            return identity(x)
        outer = self.has_arrays
        content = self.state(x, None)
        self.has_arrays = outer
        return content

    def array(self, x: Any) -> Content:
        """Return the content of an array."""
        self.has_arrays: bool = True
        return super().array(x)


class Dependency(NamedTuple):
    """A location, with the value that a trace saw there."""

    location: Location
    seen: Any

    def holds(self) -> bool:
        """Return whether it is unchanged; a location whose owner is gone is."""
        now = self.location.get()
        return now is GONE or self.matches(now)

    def parts(self, *, only_changed: bool = False) -> Iterator["Dependency"]:
        """Yield it by single names; those that an owner lacks are one dependency."""
        at = self.location
        if type(at) is not MissingNames:
            yield self
            return
        found = at.get() if only_changed else sorted(at.name)
        for part in map(at.part, () if found is GONE else found):
            if not (only_changed and _is_as_shown(part)):
                yield Dependency(part, RecordedValue(MISSING))

    @property
    def is_lost(self) -> bool:
        """Whether it can never hold again, because the value is no longer alive."""
        return bool(self.seen.is_lost) and self.location.get() is not GONE

    def matches(self, now: Any) -> bool:
        """Return whether a value equals the recorded one.

        An attribute of an object equals the same value of its class.
        """
        location, seen = self
        if type(location) is MissingNames:
            return all(map(_is_as_shown, map(location.part, now)))
        if now is MISSING and type(location) is Attribute:
            now = _shown(location)
        return bool(seen.matches(now))


def _shown(location: Attribute) -> Any:
    """Return the plain value that a class has for an attribute of its object; or MISSING."""
    shown = class_attribute(class_of(location.owner), location.name)
    return shown if is_plain(shown) else MISSING


def _is_as_shown(location: Location) -> bool:
    """Return whether an attribute that an object got is that of its class."""
    if type(location) is not Attribute:
        return False
    shown = _shown(location)
    return shown is not MISSING and is_same_plain(location.get(), shown)


@final
class RecordedItems:
    """The items of a container.

    Args:
        items: them, in order.
        budget: limits how much of captured values is read.
        is_captured: whether it may be re-created with the function.
        is_strict: whether the contents of arrays are compared.
        rest: excludes the items that the trace wrote; None if it wrote none.
    """

    __slots__ = ("by_parts", "is_left", "is_strict", "items", "kind", "rest")
    has_arrays: ClassVar[bool] = False

    def __init__(
        self,
        items: Sequence[Any],
        budget: CaptureBudget | None = None,
        *,
        is_captured: bool = False,
        is_strict: bool = False,
        rest: "UnwrittenItems | None" = None,
    ) -> None:
        self.rest: UnwrittenItems | None = rest
        self.items: tuple[RecordedValue, ...] = tuple(
            [
                RecordedValue(x, budget, is_captured=is_captured, is_strict=is_strict)
                for x in items
            ]
        )
        self.is_left: bool = False
        self.by_parts: bool = False
        self.is_strict: bool = is_strict
        self.kind: Any = tuple

    @property
    def value(self) -> tuple[Any, ...]:
        """The items, with GONE for those that are no longer alive."""
        return tuple([seen.value for seen in self.items])

    def learn(self, written: set[Any]) -> None:
        """Exclude items that other traces write."""
        if self.rest is not None:
            self.items = self.rest.learn(self.items, written)

    @property
    def is_lost(self) -> bool:
        """Whether an item is no longer alive, and no other can equal it."""
        return any(seen.is_lost for seen in self.items)

    def matches(self, now: Any) -> bool:
        """Return whether the same items are there, in order."""
        now = now if self.rest is None else self.rest(now)
        return len(now) == len(self.items) and all(
            [seen.matches(x) for seen, x in zip(self.items, now, strict=True)]  # noqa: C419 - a generator takes 100 ns more
        )

    def matches_again(self, now: Any, *, is_captured: bool) -> bool:
        """Return whether items may replace these after their owner was re-created."""
        now = now if self.rest is None else self.rest(now)
        return len(now) == len(self.items) and all(
            seen.matches_again(x, is_captured=is_captured)
            for seen, x in zip(self.items, now, strict=True)
        )

    @property
    def content(self) -> Content:
        """The items as plain data, for explanations."""
        return ContentReader().value(self.value)

    def __repr__(self) -> str:
        return show(self.content)


@final
class UnwrittenItems:
    """The items of a container except those that a trace wrote.

    An item has a name: the key in a dictionary, the member of a set, else the index. Of a
    sequence, items beyond its length before or now are excluded.

    Args:
        storage: the class of the container.
        before: the items before the trace.
        now: the items now.

    Attributes:
        written: the names of the items that the trace wrote.
        replaced: those of them that were there before.
    """

    __slots__ = ("_end", "_order", "_storage", "is_sequence", "replaced", "written")

    def __init__(
        self, storage: Any, before: tuple[Any, ...], now: tuple[Any, ...]
    ) -> None:
        self._storage, self._end = storage, None
        self.is_sequence: bool = storage not in (dict, set, frozenset)
        was, then = self._parts(before), self._parts(now)
        self._end = min(len(before), len(now)) if len(before) != len(now) else None
        self.written: set[Any] = {
            name
            for name in (*was, *then)
            if not (name in was and name in then and _are_same(was[name], then[name]))
        }
        self.replaced: set[Any] = self.written & was.keys()
        stayed = [name for name in was if name not in self.written]
        is_moved = stayed != [name for name in then if name not in self.written]
        is_moved = is_moved or storage in (set, frozenset)
        self._order = stayed if is_moved else None

    def __call__(self, now: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the unwritten ones of the items now."""
        if self.is_sequence:
            return tuple(
                MISSING if i in self.written else item
                for i, item in enumerate(now[: self._end])
            )
        parts = self._parts(now)
        names = [name for name in parts if name not in self.written]
        if self._order is not None:  # the trace moved them
            first = [name for name in self._order if name in parts]
            names = [*first, *[name for name in names if name not in {*first}]]
        return tuple(part for name in names for part in parts[name])

    def learn(
        self, items: tuple[RecordedValue, ...], written: set[Any]
    ) -> tuple[RecordedValue, ...]:
        """Exclude items that other traces write; return those that remain."""
        self.written |= written
        if self.is_sequence:
            return tuple(
                RecordedValue(MISSING) if i in written else x
                for i, x in enumerate(items)
            )
        width = 2 if self._storage is dict else 1
        return tuple(
            item
            for i, item in enumerate(items)
            if _name_of(items[i - i % width].value) not in written
        )

    def _parts(self, items: tuple[Any, ...]) -> dict[Any, tuple[Any, ...]]:
        if self._storage is dict:
            pairs = zip(items[::2], items[1::2], strict=True)
            return {_name_of(key): (key, value) for key, value in pairs}
        if self._storage in (set, frozenset):
            return {_name_of(item): (item,) for item in items}
        return {i: (item,) for i, item in enumerate(items[: self._end])}


def _name_of(key: Any) -> Any:
    return (class_of(key), key) if is_hashed_plainly(key) else id(key)


def _are_same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return all(is_same_plain(x, y) for x, y in zip(a, b, strict=True))
