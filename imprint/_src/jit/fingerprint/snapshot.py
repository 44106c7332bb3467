"""Snapshots: the tokens of functions that were read before, valid while nothing has changed.

A function with captures is read again at each call, as its variables may be rebound. From
its second reading on, a predicate compares its code, its defaults and what its variables
hold with what they were, by identity and in depth: a tenth of the time. It keeps nothing
alive: numbers and texts are held, containers by their items, all else by weak references. A
value whose content identity does not fix (an array of NumPy, an object with its own `==`)
has none; where the predicate is false the function is read again.
"""

from collections.abc import Callable, Iterable
from functools import partial
from operator import call, is_
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType, NoneType
from typing import Any, Final, TypeAlias, cast, final
from weakref import ref

from imprint._src.core.identity import ids_of
from imprint._src.core.user_code import are_libraries_fixed, is_user_function
from imprint._src.jit.fingerprint.code import code_of
from imprint._src.jit.fingerprint.content import read_object, read_tuple_like, rule_of
from imprint._src.jit.fingerprint.layout import COPIES, SCALARS, ClassLayout, layout_of
from imprint._src.jit.fingerprint.raw_access import class_of
from imprint._src.jit.fingerprint.token import EMPTY, Content

Check: TypeAlias = Callable[[Any], bool]


# ---- what is remembered ----


@final
class FunctionSnapshot(ref[FunctionType]):
    """The token of a function as it was read last, and whether it still holds.

    Attributes:
        token: the token.
        leaves: how many parts were read for it.
        has_user_code: whether user functions were among them.
        check: whether the function is unchanged; None if that is not known.
        readings: how often it was read.
    """

    __slots__ = ("check", "has_user_code", "key", "leaves", "readings", "token")
    key: int
    token: Content
    leaves: int
    has_user_code: bool
    check: Check | None
    readings: int


def snapshot_of(fun: FunctionType) -> FunctionSnapshot | None:
    """Return what is remembered of a function; None if it was not read before."""
    found = _snapshots.get(id(fun))
    return found if found is not None and found() is fun else None


def new_check(known: FunctionSnapshot | None, fun: FunctionType) -> Check | None:
    """Return the predicate of a function that is about to be read; None at most readings.

    A function that changes at each call would pay for one each time: it gets one at its
    second, fourth, eighth reading and so on.
    """
    count = 0 if known is None else known.readings
    return None if not count or count & (count - 1) else unchanged_since(fun)


def remember(
    fun: FunctionType, check: Check | None, read: tuple[Any, int, bool]
) -> None:
    """Remember the token of a function, with its number of parts and `has_user_code`."""
    known = snapshot_of(fun)
    if known is None:
        known = FunctionSnapshot(fun, _forget)
        known.key = id(fun)
        known.readings = 0
        _snapshots[id(fun)] = known
    known.check = None  # so that no thread sees a new predicate with an old token
    known.token, known.leaves, known.has_user_code = read
    known.readings += 1
    if check is not None and check(fun):  # it did not change while it was read
        known.check = check


_snapshots: Final[dict[int, FunctionSnapshot]] = {}
"""By the `id` of a function; an entry goes with its function."""


def _forget(dead: Any, *, snapshots: Any = _snapshots) -> None:
    # By a default: also at exit.
    if snapshots.get(dead.key) is dead:
        snapshots.pop(dead.key, None)


# ---- the predicate ----


def unchanged_since(fun: FunctionType) -> Check | None:
    """Return a predicate: whether a function and all that it holds are as they are now.

    None if comparing objects by identity cannot decide that. It runs no user code.
    """
    try:
        return _SnapshotBuilder().function(fun)
    except (_ByContentError, RecursionError):
        return None


class _ByContentError(Exception):
    """A value may change its content and stay the same object."""


@final
class _SnapshotBuilder:
    """Makes the predicate of one function; inner functions are compared once."""

    def __init__(self) -> None:
        self._functions: set[int] = set()
        self._left = _MOST
        self._user_functions = 0

    def value(self, x: Any) -> Check:
        self._left -= 1
        if not self._left:
            raise _ByContentError
        kind = class_of(x)
        if id(kind) in _PLAIN:
            return partial(is_, x)
        make = _BUILDERS.get(id(kind))
        if make is not None:
            return make(self, x)
        layout, rule = layout_of(x), rule_of(kind)
        if rule is read_tuple_like and not layout.state(x):
            return self.tuple_like(x, layout)
        has_content = layout.storage in SCALARS or layout.storage is tuple
        is_compared = layout.defines_eq and layout.hashable
        if rule is not read_object or has_content or is_compared:
            raise _ByContentError
        return _is_same(x)

    def values(self, xs: Iterable[Any]) -> tuple[Check, ...]:
        return tuple([self.value(x) for x in xs])

    def items(self, x: Any, copy: Callable[[Any], Any] = tuple) -> Check:
        """Compare a tuple or a list by its items."""
        kind, checks = class_of(x), self.values(copy(x))

        def check(y: Any) -> bool:
            if class_of(y) is not kind:
                return False
            items = copy(y)
            return len(items) == len(checks) and all(map(_call, checks, items))

        return check

    def tuple_like(self, x: Any, layout: ClassLayout) -> Check:
        """Compare an instance of a class derived from `tuple`, without attributes."""
        items = self.items(x, COPIES[tuple])
        if not layout.has_dict:
            return items
        return lambda y: items(y) and not layout.state(y)

    def pairs(self, x: Any) -> Check:
        """Compare a dictionary by its keys, in their order, and its values."""
        checks = self.values(_keys_and_values(x))

        def check(y: Any) -> bool:
            if class_of(y) is not dict or 2 * len(y) != len(checks):
                return False
            return all(map(_call, checks, _keys_and_values(y)))

        return check

    def method(self, x: MethodType) -> Check:
        """Compare a bound method, which is a new object each time, by its parts."""
        owner, function = self.value(x.__self__), self.value(x.__func__)

        def check(y: Any) -> bool:
            is_method = class_of(y) is MethodType
            return is_method and owner(y.__self__) and function(y.__func__)

        return check

    def builtin(self, x: Any) -> Check:
        if x.__self__ is not None and not isinstance(x.__self__, ModuleType):
            raise _ByContentError
        return _is_same(x)

    def function(self, fun: FunctionType) -> Check:
        is_same = _is_same(fun)
        if id(fun) in self._functions:
            return is_same
        self._functions.add(id(fun))
        code = fun.__code__
        # Of a variable that the function itself binds a token has the cell alone.
        written = code_of(code).written
        places = [i for i, n in enumerate(code.co_freevars) if n not in written]
        is_users = is_user_function(fun)
        self._user_functions += is_users
        if are_libraries_fixed() and not is_users:
            return self._fixed_function(fun, places)
        checks = self.values([*_settings(fun), *_contents(fun, places)])

        def check(f: Any) -> bool:
            if not is_same(f) or f.__code__ is not code:
                return False
            return all(map(_call, checks, [*_settings(f), *_contents(f, places)]))

        return check

    def _fixed_function(self, fun: FunctionType, places: list[int]) -> Check:
        """Compare a function of a library, which changes only in user functions in it."""
        found: list[tuple[int, Check]] = []
        for i, x in enumerate((*_settings(fun), *_contents(fun, places))):
            before = self._user_functions
            inner = self.value(x)
            if self._user_functions > before:
                found.append((i, inner))
        is_same = _is_same(fun)
        if not found:
            return is_same

        def check(f: Any) -> bool:
            if not is_same(f):
                return False
            held = *_settings(f), *_contents(f, places)
            return all([inner(held[i]) for i, inner in found])  # noqa: C419 - a generator takes 100 ns more

        return check


def _keys_and_values(x: Any) -> list[Any]:
    return [part for pair in list(x.items()) for part in pair]


def _settings(fun: FunctionType) -> tuple[Any, ...]:
    return fun.__defaults__, fun.__kwdefaults__, fun.__dict__ or None


def _contents(fun: FunctionType, places: list[int]) -> list[Any]:
    cells = fun.__closure__ or ()
    try:
        return [cells[i].cell_contents for i in places]
    except ValueError:  # a variable without a value, read one by one
        return [_content(cells[i]) for i in places]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return EMPTY


def _is_same(x: Any) -> Check:
    try:
        known = ref(x)
    except TypeError:
        raise _ByContentError from None
    return lambda y: known() is y


_call: Final[Callable[[Check, Any], bool]] = cast("Any", call)
_MOST: Final = 1024
"""Values of which a predicate compares fewer."""
_PLAIN: Final = ids_of(int, str, float, bool, bytes, complex, NoneType, type(...))
_BUILDERS: Final[dict[int, Callable[[_SnapshotBuilder, Any], Check]]] = {
    **dict.fromkeys(ids_of(tuple, list), _SnapshotBuilder.items),
    **dict.fromkeys(ids_of(type, ModuleType, type(EMPTY)), lambda _, x: _is_same(x)),
    id(dict): _SnapshotBuilder.pairs,
    id(MethodType): _SnapshotBuilder.method,
    id(BuiltinFunctionType): _SnapshotBuilder.builtin,
    id(FunctionType): _SnapshotBuilder.function,
}
"""By the `id` of a class."""
