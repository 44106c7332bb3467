"""Containers: where the trees of two calls hold containers of different kinds.

Leaves have names of their own, so what is missing is said of them. What stands here is
what leaves cannot tell: a list where a tuple was, None where an array was, a dict in the
place of a number. The way down stops at the first difference.
"""

from collections.abc import Hashable, Iterator, Sequence
from types import NoneType
from typing import NamedTuple

from imprint import tree
from imprint.core.identity import type_name
from imprint.definition.wording import told_apart


class Replaced(NamedTuple):
    """A place whose container is of another kind.

    Args:
        name: the place, as the user would name it.
        old: what was there: the name of a class, "None", "absent"; empty for an array.
        new: what is there.
    """

    name: str
    old: str
    new: str

    def is_above(self, leaf: str) -> bool:
        """Tell whether a leaf stands at this place or inside it."""
        rest = leaf.removeprefix(self.name)
        return rest != leaf and (not rest or rest[0] in ".[")


def replaced_containers(
    old: tree.TreeDef,
    new: tree.TreeDef,
    names: tuple[Sequence[str], Sequence[str]],
) -> list[Replaced]:
    """Return the places at which two trees of arguments hold containers of other kinds.

    Args:
        old: a tuple of arguments.
        new: another.
        names: the names of the arguments of each.
    """
    before = dict(zip(names[0], old.children(), strict=True))
    after = dict(zip(names[1], new.children(), strict=True))
    return [
        found
        for name in {**before, **after}
        for found in _replaced(name, before.get(name), after.get(name))
    ]


def _replaced(
    name: str, old: tree.TreeDef | None, new: tree.TreeDef | None
) -> Iterator[Replaced]:
    if old is new:
        return
    if old is None or new is None:  # leaves inside are told to be absent by themselves
        if not sum(x.num_leaves for x in (old, new) if x is not None):
            yield Replaced(name, _kind(old), _kind(new))
    elif old.spec.type is not new.spec.type:
        yield Replaced(name, *told_apart(_kind(old), _kind(new)))
    else:
        before, after = _children(old), _children(new)
        for key in {**before, **after}:
            inner = name + tree.keystr((key,))
            yield from _replaced(inner, before.get(key), after.get(key))


def _children(treedef: tree.TreeDef) -> dict[Hashable, tree.TreeDef]:
    return dict(zip(treedef.keys(), treedef.children(), strict=True))


def _kind(treedef: tree.TreeDef | None) -> str:
    if treedef is None:
        return "absent"
    kind = treedef.spec.type
    if kind is None:
        return ""
    return "None" if kind is NoneType else type_name(kind)
