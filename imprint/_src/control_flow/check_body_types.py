"""Agreement: where what two bodies return, or a body takes and returns, differs.

The branches of a conditional return the same tree of the same dtypes and shapes, and a
loop's step returns what it takes. Weak types may differ: who asks promotes them. What is
found here is for messages, which show both trees and the leaf that differs.
"""

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from imprint import tree
from imprint._src import dtypes
from imprint._src.core.aval import ShapedArray
from imprint._src.core.functions import name_of
from imprint._src.tree.prefix import first_difference

_LONGEST = 300


class Returned(NamedTuple):
    """What a body takes or returns: the tree, and the avals of its leaves."""

    treedef: tree.TreeDef
    avals: Sequence[ShapedArray]

    def __str__(self) -> str:
        """Return the tree with the types of its leaves, as the user would write it."""
        leaves = [_Word(aval.strong()) for aval in self.avals]
        try:
            text = repr(self.treedef.unflatten(leaves))
        except Exception:  # a class of the user's that takes only arrays
            text = str(self.treedef)
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


class Kind(Enum):
    """In what two leaves differ, or that their trees do."""

    TREE = "tree"
    DTYPE = "dtype"
    SHAPE = "shape"


class Difference(NamedTuple):
    """The first place where two do not agree.

    Args:
        kind: what differs.
        where: the path, such as `['a'][0]`; empty for the whole.
        expected: what the first has there.
        got: what the second has.
        dtype: the name of what both can be cast to, if the dtypes differ.
    """

    kind: Kind
    where: str
    expected: str
    got: str
    dtype: str = ""


def difference(expected: Returned, got: Returned) -> Difference | None:
    """Return the first place where two differ; None if there is none."""
    found = first_difference(expected.treedef, got.treedef)
    if found is not None:
        return Difference(Kind.TREE, *found)
    paths = expected.treedef.paths()
    for path, ours, theirs in zip(paths, expected.avals, got.avals, strict=True):
        words = tree.keystr(path), str(ours.strong()), str(theirs.strong())
        if ours.dtype != theirs.dtype:
            pair = (ours.dtype, ours.weak_type), (theirs.dtype, theirs.weak_type)
            common, _ = dtypes.promote(pair)
            return Difference(Kind.DTYPE, *words, common.name)
        if ours.shape != theirs.shape:
            return Difference(Kind.SHAPE, *words)
    return None


def defined(function: Any) -> str:
    """Return the name of a function, and where it is defined."""
    code = getattr(function, "__code__", None)
    name = name_of(function)
    if code is None:
        return name
    return f"{name} at {Path(code.co_filename).name}:{code.co_firstlineno}"


class _Word:
    """A leaf that is written as a type."""

    def __init__(self, aval: ShapedArray) -> None:
        self._text = str(aval)

    def __repr__(self) -> str:
        return self._text
