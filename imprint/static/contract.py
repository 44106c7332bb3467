"""The contract: what a class must offer for its instances to be static arguments.

A static argument selects a version, so it must be known before tracing and comparable.
Immutable composites count by their parts, and each part must keep the contract itself;
objects count by their state; what hides its state counts by its own `==`. A class is
judged once, when its first instance comes, and a refusal says what to do instead;
`place_of` finds where the refused part stands.
"""

import contextlib
import itertools
import warnings
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable
from enum import Enum, auto
from typing import Any, Final, TypeAlias, cast, final
from weakref import ref

import numpy as np

from imprint import tree
from imprint.core.array import Array
from imprint.core.identity import ids_of
from imprint.definition.layout import Layout, layout_of
from imprint.definition.rules import COPIES, by_state, is_settled, rule_of
from imprint.definition.state import reads_state

_RECENT: Final = 4


class Standing(Enum):
    """How an instance of a class counts as a static argument."""

    PARTS = auto()
    """By its parts, which are static arguments too."""
    NODE = auto()
    """By its attributes, which are: an unhashable node of pytrees."""
    VALUE = auto()
    """By what `StateWalk` makes of it."""
    EQUAL = auto()
    """By its own `==`."""


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
    """An object that only its own `==` can compare, with its hash when it was met."""

    __slots__ = ("_hash", "value")

    def __init__(self, value: Any) -> None:
        self.value: Any = value
        self._hash = hash(value)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if type(other) is not Equal or other._hash != self._hash:
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


def standing_of(value: object) -> Standing:
    """Return how a value counts as a static argument.

    Raises:
        RefusedError: it does not count.
    """
    kind = type(value)
    known = _BUILTIN.get(id(kind))
    if known is not None:
        return known
    layout = layout_of(value)
    if layout.standing is None:
        layout.standing = _judge(value, kind, layout)
        counts_by_state = rule_of(kind) is by_state and reads_state(layout)
        layout.is_plain = layout.standing is Standing.VALUE and counts_by_state
    return layout.standing


NODES: Final = ids_of(list, dict, OrderedDict, defaultdict, deque, set, bytearray)
"""Builtin containers that can change: they may only stand inside a node of pytrees."""


def place_of(part: Any, value: Any, depth: int = 8) -> str:
    """Return where in a static argument a part stands: `.layers`, `[0]`."""
    return _search(part, value, depth) or ""


def check_equal_hashes(value: Any, name: str) -> None:
    """Warn if a recent instance of the class is equal and has another hash.

    For calls that were not found: such a class never hits the cache of those who rely on
    its hash. Says so once for each class.
    """
    layout = layout_of(value)
    if layout.recent is None or layout.is_library or not layout.defines_eq:
        return
    with contextlib.suppress(Exception):  # the class's own: judged elsewhere
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


_COMPOSITES: Final = (tuple, frozenset)
_SCALARS: Final = (
    *(int, bool, str, bytes, float, complex, type(None), type(...)),
    *(range, slice),  # no hash before 3.12
)
_BUILTIN: Final[dict[int, Standing]] = {
    **dict.fromkeys(map(id, _COMPOSITES), Standing.PARTS),
    **dict.fromkeys(map(id, _SCALARS), Standing.VALUE),
}
"""By the `id` of a builtin class. Hot."""


# ---- judging a class ----


def _judge(value: Any, kind: Any, layout: Layout) -> Standing:
    if layout.speaks or issubclass(kind, type | Enum | np.generic | np.dtype):
        return Standing.VALUE
    if issubclass(kind, np.ndarray | Array):
        raise RefusedError(
            value,
            f"expected a value known before tracing, got an array {value!r}. "
            "Pass it as an ordinary (traced) argument.",
        )
    if layout.is_frozen and layout.is_open:
        return Standing.PARTS
    if not layout.hashable:
        return _judge_unhashable(value, kind, layout)
    if layout.defines_hash and not layout.defines_eq:
        raise RefusedError(
            value,
            f"expected a class with __eq__ beside __hash__, got {layout.name}, which "
            "has only __hash__: equal hashes would never make two objects equal, and "
            "each would be compiled for. Define __eq__ on the same attributes, or make "
            "it a frozen dataclass.",
        )
    if layout.storage is tuple:
        return Standing.PARTS
    rule = rule_of(kind)
    if rule is not by_state:
        return Standing.VALUE
    return _judge_object(value, layout)


def _judge_object(value: Any, layout: Layout) -> Standing:
    if layout.defines_eq:
        _check_methods(value, layout)
    if reads_state(layout):
        return Standing.VALUE
    if layout.defines_eq:
        return Standing.EQUAL
    if is_settled(value):
        return Standing.VALUE
    raise RefusedError(
        value,
        f"expected a value whose state can be read, got {layout.name}, which keeps it in "
        "C: what changes in it would go unseen. Pass what you need of it: a number, a "
        "text, an array; or give its class __imprint_token__, which says what stands "
        "for its state.",
    )


def _judge_unhashable(value: Any, kind: Any, layout: Layout) -> Standing:
    if layout.is_open and _is_node(value):
        return Standing.NODE
    remedy = _REMEDIES.get(id(kind)) or _class_remedy(layout)
    held = _array_in(value)
    if held is not None:
        remedy = (
            f"It holds an array ({held}): pass it as an ordinary (traced) argument."
        )
    raise RefusedError(value, f"expected a hashable value, got {layout.name}. {remedy}")


def _check_methods(value: Any, layout: Layout) -> None:
    for method, ask in (
        ("__hash__", lambda: hash(value)),
        ("__eq__", lambda: _eq(value)),
    ):
        try:
            ask()
        except Exception as err:
            raise RefusedError(
                value,
                f"expected {layout.name}.{method} to answer, got "
                f"{type(err).__name__}: {err}. Compute it from attributes that can be "
                "hashed and compared, or make the class a frozen dataclass.",
            ) from err


def _eq(value: Any) -> bool:
    return bool(value == value)


def _is_node(value: Any) -> bool:
    asked = itertools.count()  # after the value itself all are leaves
    return not tree.structure(value, is_leaf=lambda _: next(asked) > 0).is_leaf


def _array_in(value: Any) -> str | None:
    if not _is_node(value):
        return None
    try:
        leaves = tree.leaves_with_path(value)
    except RecursionError:  # it contains itself
        return None
    for path, leaf in leaves:
        if issubclass(type(leaf), np.ndarray | Array):
            return tree.keystr(path)
    return None


def _class_remedy(layout: Layout) -> str:
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


# ---- where a part stands ----


def _search(part: Any, value: Any, depth: int) -> str | None:
    if value is part:
        return ""
    for step, inner in _steps(value) if depth else ():
        rest = _search(part, inner, depth - 1)
        if rest is not None:
            return step + rest
    return None


def _steps(value: Any) -> Iterable[tuple[str, Any]]:
    layout = layout_of(value)
    names: Any = getattr(value, "_fields", None)
    if isinstance(value, dict):
        return [(f"[{k!r}]", x) for k, x in cast("_Dict", value).items()]
    if layout.storage is tuple and names:
        return zip(map(".{}".format, names), COPIES[tuple](value), strict=True)
    if isinstance(value, list | tuple | deque):
        return [(f"[{i}]", x) for i, x in enumerate(cast("_Items", value))]
    if isinstance(value, frozenset):
        return [("", x) for x in cast("_Items", value)]
    if not layout.is_open:
        return ()
    return [(f".{name}", x) for name, x in layout.state(value).items()]


_Dict: TypeAlias = dict[Any, Any]
_Items: TypeAlias = Iterable[Any]
