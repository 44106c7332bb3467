"""Differences of two argument trees.

These are the differences that leaves do not show, or would repeat: a list instead of a
tuple, None instead of an array, a longer list, other keys, another value of a static field.
The comparison descends where both nodes are of one class. Arrays are compared in `arrays`.
"""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Hashable, Iterator, Mapping
from enum import Enum, auto
from types import NoneType
from typing import Any, Final, NamedTuple, TypeAlias

from imprint._src.core.identity import type_name
from imprint._src.jit.explain.fingerprint_diff import FEW, disagreements
from imprint._src.jit.fingerprint.content import StateReader
from imprint._src.jit.fingerprint.wording import distinguish
from imprint._src.tree import internal as tree
from imprint._src.tree.registry import fields_of
from imprint._src.tree.statics import Static

Arguments: TypeAlias = Mapping[str, tree.TreeDef]
"""The trees of the arguments of a call, by name."""

_SEQUENCES: Final = (list, tuple, deque)


class TreePart(Enum):
    """The part of a node in which two trees differ."""

    CLASS = auto()
    LENGTH = auto()
    KEYS = auto()
    ORDER = auto()
    STATIC = auto()


class TreeDifference(NamedTuple):
    """A node at which two trees differ.

    Args:
        name: the node, as the user would name it.
        part: the part of it that differs.
        old: the old node: the name of a class, "None", "absent", "list of 3"; empty for
            a leaf.
        new: the new node.
    """

    name: str
    part: TreePart
    old: str
    new: str


def ancestors(name: str) -> Iterator[str]:
    """Yield the names of the nodes around one, the outermost first.

    Example:
        >>> list(ancestors("net.layers[0].w"))
        ['net', 'net.layers', 'net.layers[0]']
    """
    for i, letter in enumerate(name):
        if letter in ".[":
            yield name[:i]


def tree_differences(
    old: Arguments,
    new: Arguments,
    omitted: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
) -> list[TreeDifference]:
    """Return the nodes at which two trees of arguments differ.

    Args:
        old: the arguments of a call.
        new: those of another.
        omitted: the defaults of the arguments that each call omits.
    """
    found = list(_variadic(old, new))
    counted = {place.name for place in found}
    for name in {**old, **new}:
        was, now = old.get(name), new.get(name)
        if was is None and name in omitted[0]:
            found.append(
                TreeDifference(name, TreePart.CLASS, omitted[0][name], _class(now))
            )
        elif now is None and name in omitted[1]:
            found.append(
                TreeDifference(name, TreePart.CLASS, _class(was), omitted[1][name])
            )
        elif None not in (was, now) or name.partition("[")[0] not in counted:
            found += _places(name, was, now)
    return found


def _variadic(old: Arguments, new: Arguments) -> Iterator[TreeDifference]:
    """Yield each `*args` of another length."""
    bases = [[n.partition("[")[0] for n in names if "[" in n] for names in (old, new)]
    for name in dict.fromkeys([*bases[0], *bases[1]]):
        was, now = (names.count(name) for names in bases)
        if was != now:
            yield TreeDifference(name, TreePart.LENGTH, _given(was), _given(now))


def _given(n: int) -> str:
    return f"{n} argument{'s' * (n != 1)}"


def _places(
    name: str, old: tree.TreeDef | None, new: tree.TreeDef | None
) -> Iterator[TreeDifference]:
    if old is new:
        return
    if old is None or new is None or old.spec.type is not new.spec.type:
        yield TreeDifference(
            name, TreePart.CLASS, *distinguish(_class(old), _class(new))
        )
        return
    before, after = _children(old), _children(new)
    common = {**before, **after}
    if before.keys() == after.keys():
        yield from _static(name, old, new)
    elif old.spec.type in _SEQUENCES:
        words = [f"{_class(old)} of {len(keys)}" for keys in (before, after)]
        yield TreeDifference(name, TreePart.LENGTH, *words)
        common = {key: None for key in before if key in after}
    elif len(before.keys() ^ after.keys()) > FEW:
        yield _keys(name, _class(old), list(before), list(after))
        common = {key: None for key in before if key in after}
    for key in common:
        yield from _places(name + tree.keystr((key,)), before.get(key), after.get(key))


def _keys(
    name: str, kind: str, old: list[Hashable], new: list[Hashable]
) -> TreeDifference:
    gone = _listed("without", [key for key in old if key not in new])
    come = _listed("with", [key for key in new if key not in old])
    return TreeDifference(
        name,
        TreePart.KEYS,
        f"{kind} of {len(old)}",
        f"{kind} of {len(new)}{come}{gone}",
    )


def _listed(word: str, keys: list[Hashable]) -> str:
    if not keys:
        return ""
    shown = ", ".join(tree.keystr((key,)).strip("[].") for key in keys[:3])
    rest = f" and {len(keys) - 3} more" if len(keys) > 3 else ""
    return f", {word} {shown}{rest}"


# ---- static data ----


def _static(
    name: str, old: tree.TreeDef, new: tree.TreeDef
) -> Iterator[TreeDifference]:
    """Yield the differences in the static data of two nodes of one class and keys."""
    before, after = _data(old), _data(new)
    if before == after:
        return
    if not (isinstance(before, Static) and isinstance(after, Static)):
        yield from _of_builtin(name, old.spec.type, before, after)
        return
    fields = fields_of.get(old.spec.type) if old.spec.type else None
    parts = [(f"static data of {name}", before.value, after.value)]
    if fields is not None:
        names = [f"{name}.{field}" for field in fields.meta]
        parts = list(zip(names, before.value, after.value, strict=True))
    for place, was, now in parts:
        old_content, new_content = StateReader().value(was), StateReader().value(now)
        for change in disagreements(old_content, new_content, place):
            yield TreeDifference(change.path, TreePart.STATIC, change.old, change.new)


def _of_builtin(name: str, kind: Any, old: Any, new: Any) -> Iterator[TreeDifference]:
    """Yield the differences of two builtin containers with the same keys."""
    if kind is OrderedDict:
        words = [f"keys {', '.join(map(repr, keys))}" for keys in (old, new)]
        yield TreeDifference(name, TreePart.ORDER, *words)
        return
    attribute = _ATTRIBUTES.get(kind)
    if attribute is not None:
        values = [x[0] if kind is defaultdict else x for x in (old, new)]
        was, now = (StateReader().value(x) for x in values)
        for change in disagreements(was, now, f"{name}.{attribute}"):
            yield TreeDifference(change.path, TreePart.STATIC, change.old, change.new)


_ATTRIBUTES: Final[Mapping[Any, str]] = {
    defaultdict: "default_factory",
    deque: "maxlen",
}


def _data(treedef: tree.TreeDef) -> Any:
    """Return the static data of a node."""
    spec: Any = treedef.root().spec
    return spec.walk([None] * spec.num_leaves, _second)


def _second(_kind: object, data: Any, _children: object) -> Any:
    return data


# ---- words ----


def _children(treedef: tree.TreeDef) -> dict[Hashable, tree.TreeDef]:
    return dict(zip(treedef.keys(), treedef.children(), strict=True))


def _class(treedef: tree.TreeDef | None) -> str:
    if treedef is None:
        return "absent"
    kind = treedef.spec.type
    if kind is None:
        return ""
    return "None" if kind is NoneType else type_name(kind)
