"""Definitions: when two callables may share compiled versions, and what a trace wrote.

Sharing: they may if their tokens are equal: the same code, the same globals, and equal
defaults, closure variables and attributes, by exact content where it is plain data, else
by identity. A function made anew with the same captures has the token of the old one.
Effects: a token is read before and after a trace. What differs was written by the trace,
as a counter is; from then on it counts by its place, or the trace would be its own reason
to trace again. How values are read is in `walk`; what a token is, in `token`.
"""

from collections import deque
from collections.abc import Container, Iterable
from types import FunctionType
from typing import Any, Final, NamedTuple, cast

import numpy as np

from imprint.core.identity import Standin, identity
from imprint.definition.state import HASHED, ContentWalk, StateWalk, StrictWalk
from imprint.definition.token import (
    ABSENT,
    ROOT,
    Content,
    Token,
    head_of,
    referents,
    token_of,
)
from imprint.definition.walk import (
    NO_EFFECTS,
    ORDER,
    Effects,
    Name,
    Part,
    Walk,
    name_of_key,
    scalar_function_token,
)


def definition_token(fun: Any, effects: Effects = NO_EFFECTS) -> Token:
    """Return the token of a callable: equal tokens may share compiled versions.

    Never raises, and runs no code of the user but `__imprint_token__`.

    Args:
        fun: the callable.
        effects: state that does not count, from `effects_of`.
    """
    if type(fun) is FunctionType and not effects:
        token = scalar_function_token(fun)
        if token is not None:
            return token
    return _walk_token(fun, Walk(effects))


def strict_token(fun: Any, effects: Effects = NO_EFFECTS) -> Token:
    """Return a token that reads arrays, big containers and the state of objects too.

    It costs as much as there is to read, and is volatile if there is any.
    """
    return _walk_token(fun, StrictWalk(effects))


class Sharing(NamedTuple):
    """By what functions that are made anew find what was compiled for an equal one.

    Args:
        token: what the function is, with what is inside captured objects and arrays.
        is_whole: whether all captured arrays were read; else the token equals no other,
            as what was written into one of them since would go unseen.
    """

    token: Token
    is_whole: bool


def sharing_of(fun: Any, token: Token, effects: Effects = NO_EFFECTS) -> Sharing:
    """Return by what a callable is found, whose `definition_token` is given.

    Where that tells of more bytes of arrays than would be hashed, none is.
    """
    if token.nbytes is None:
        arrays = [x for x in referents(token) if issubclass(type(x), np.ndarray)]
        token.nbytes = sum(x.nbytes for x in arrays)
    walk = ContentWalk(effects, HASHED if token.nbytes <= HASHED else 0)
    return Sharing(_walk_token(fun, walk), walk.is_whole)


# ---- effects ----


class Snapshot(NamedTuple):
    """What was read at one time.

    Args:
        parts: the state in a value that can change in place, each apart from the others.
            They keep it alive.
        effects: what of it was left out. What is read later is compared by leaving out the
            same: else what another trace was found to write would seem to be taken away.
    """

    parts: tuple[Part, ...]
    effects: Effects = NO_EFFECTS


def read_definition(fun: Any, *, strict: bool = False) -> Snapshot:
    """Read a callable and the state in it, to find out later what changed."""
    parts: list[Part] = []
    walk = StateWalk if strict else Walk
    walk(NO_EFFECTS, parts, apart=True).value(fun)
    return Snapshot(tuple(parts))


def effects_of(before: Snapshot, after: Snapshot) -> Effects:
    """Return the places whose content differs: what ran between wrote them."""
    then = {(id(part.owner), part.name): part for part in before.parts}
    now = {(id(part.owner), part.name): part for part in after.parts}
    owners = {key for key, _ in then} & {key for key, _ in now}
    changed = {
        place: part
        for place, part in {**now, **then}.items()
        if place[0] in owners  # else what leads to it was written, or it was made anew
        and (
            place not in then or place not in now or now[place].content != part.content
        )
    }
    found = [
        (identity(part.owner), name)
        for place, part in changed.items()
        for name in _written(part, now.get(place), changed)
    ]
    return frozenset(found)


def owners_in(snapshot: Snapshot) -> set[int]:
    """Return the `id` of all in which something that was read can change."""
    return {id(part.owner) for part in snapshot.parts}


def added_items(before: Snapshot, after: Snapshot) -> list[tuple[Any, Any]]:
    """Return where there is something that was not: in dicts, at the ends of lists.

    Returns:
        The dicts and lists, each with a key or an index.
    """
    was = {(id(part.owner), part.name): part.content for part in before.parts}
    owners = owners_in(before)
    return [
        (part.owner, key)
        for part in after.parts
        if id(part.owner) in owners
        for key in _added(part, was.get((id(part.owner), part.name), ABSENT))
    ]


def _added(part: Part, was: Content) -> Iterable[Any]:
    """Return the keys or indices that a part of a dict or list tells of as new."""
    owner: Any = part.owner
    name, now = part.name, part.content
    if type(name) is tuple and name[0] == "key":
        is_new = was is ABSENT or (was is None and now is not None)
        keys = tuple(owner) if is_new and issubclass(type(owner), dict) else ()
        return [key for key in keys if name_of_key(key) == name]
    kind = cast("Any", type(owner))
    if kind is not list or head_of(was) is not list or now[: len(was)] != was:
        return ()
    return range(len(was) - _GROWING[list], len(owner))


def counts_of(before: Snapshot, after: Snapshot) -> Effects:
    """Return where a number has become one more, or a list one item longer.

    So it is where a trace counts how often it runs.
    """
    then = {(id(part.owner), part.name): part.content for part in before.parts}
    found: list[tuple[Standin, Name]] = []
    for part in after.parts:
        was, now = then.get((id(part.owner), part.name)), part.content
        if is_one_more(was, now):
            found.append((identity(part.owner), part.name))
        elif was is not None and head_of(was) in _GROWING and now[:-1] == was:
            length = len(was) - _GROWING[was[0]]
            found.append((identity(part.owner), ("length", length)))
    return frozenset(found)


def is_one_more(was: object, now: object) -> bool:
    """Tell whether a count went on by one."""
    return type(was) is int and type(now) is int and now == was + 1


def written_places(effects: Effects) -> frozenset[tuple[Standin, Name]]:
    """Return what effects write, which is the same of a list however long it was."""
    return frozenset((owner, _place(name)) for owner, name in effects)


def likewise(effects: Effects, last: Effects) -> Effects:
    """Return what earlier traces wrote that the last one wrote too, and what that wrote."""
    places = written_places(last)
    return last.union(each for each in effects if (each[0], _place(each[1])) in places)


def _place(name: Name) -> Name:
    is_length = type(name) is tuple and name[0] == "length"
    return ("length", None) if is_length else name


def _written(
    part: Part, now: Part | None, changed: Container[tuple[int, Name]]
) -> list[Name]:
    """Return the names of what was written in a place whose content differs."""
    was, then = part.content, None if now is None else now.content
    if then is None:
        return [part.name]
    if part.name == ORDER:  # of the keys that stayed
        both = {n for n in was if (id(part.owner), n) not in changed}
        kept = [[n for n in names if n in both] for names in (was, then)]
        return [] if kept[0] == kept[1] else [ORDER]
    if part.name is None and head_of(was) in _GROWING and then[: len(was)] == was:
        return [("length", len(was) - _GROWING[was[0]])]
    return [part.name]


_GROWING: Final[dict[Content, int]] = {list: 1, deque: 2}
"""By the head of a content, what stands before the items."""


def _walk_token(fun: Any, walk: Walk) -> Token:
    content = walk.value(fun)
    if type(content) is Token:
        return content
    return token_of((ROOT, content), volatile=walk.volatile, has_cells=walk.has_cells)
