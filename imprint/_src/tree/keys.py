"""Key paths: the names of leaves and nodes of a pytree.

A path is a tuple of keys from the root down. `keystr` writes it as the Python
expression for the place (`['layers'][0].weight`), which names a leaf in messages. The
four classes, their fields and their text are JAX's, so that code which matches on them
moves over unchanged.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias, final


@final
@dataclass(frozen=True, slots=True)
class SequenceKey:
    """A position in a list, tuple or deque."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx}]"


@final
@dataclass(frozen=True, slots=True)
class DictKey:
    """A key of a dict, `OrderedDict` or `defaultdict`."""

    key: Hashable

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@final
@dataclass(frozen=True, slots=True)
class GetAttrKey:
    """A field of a named tuple or of a registered class."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@final
@dataclass(frozen=True, slots=True)
class FlattenedIndexKey:
    """A position among the children of a class registered without keys."""

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"


Key: TypeAlias = SequenceKey | DictKey | GetAttrKey | FlattenedIndexKey
KeyPath: TypeAlias = tuple[Hashable, ...]
"""Keys from the root down. A registered class may use keys of its own."""


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """Write a key path as text.

    Args:
        keys: the path.
        simple: write the bare index, key or name; `0` is then a position or a key.
        separator: the text between two keys.

    Returns:
        The text; of an empty path, an empty string.

    References:
        JAX, `jax.tree_util.keystr`.

    Example:
        >>> from imprint.tree import flatten_with_path, keystr
        >>> [keystr(path) for path, _ in flatten_with_path({"w": [1, 2]})[0]]
        ["['w'][0]", "['w'][1]"]
    """
    return separator.join([_simple(key) if simple else str(key) for key in keys])


def _simple(key: Hashable) -> str:
    match key:
        case SequenceKey(part) | DictKey(part) | GetAttrKey(part):
            return str(part)
        case FlattenedIndexKey(part):
            return str(part)
        case _:
            return str(key)
