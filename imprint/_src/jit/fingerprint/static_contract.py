"""The contract of static arguments: which values may be static, and how they compare.

A static argument selects a version, so it must be known before tracing and comparable.
Plain data compares by its parts, each of which must keep the contract. An object compares
by its class's own `==` and hash, or else by identity. A class is judged once, at its first
instance. Error messages name the refused part (`path_of`) and the remedy.
"""

import contextlib
import sys
import warnings
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable
from dataclasses import fields
from enum import Enum, auto
from types import FunctionType
from typing import Any, Final, final
from weakref import ref

import numpy as np

from imprint import tree
from imprint._src.core.array import Array
from imprint._src.core.identity import ids_of
from imprint._src.jit.fingerprint.content import read_object, rule_of
from imprint._src.jit.fingerprint.copies import COPIES
from imprint._src.jit.fingerprint.layout import ClassLayout, layout_of
from imprint._src.jit.fingerprint.raw_access import bases_of, namespace_of

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

    Raises:
        RefusedError: it has no hash.
    """

    __slots__ = ("__weakref__", "hash", "value")

    def __init__(self, value: Any) -> None:
        self.value: Any = value
        try:
            self.hash: int = hash(value)
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
    *(list, dict, OrderedDict, defaultdict, deque, set, bytearray, np.ndarray)
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
    with contextlib.suppress(Exception):  # of user code; `_judge` reports it
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
    *(int, bool, str, bytes, float, complex, type(None), type(...)),
    *(range, slice),  # no hash before 3.12
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
