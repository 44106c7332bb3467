"""Differences of two tokens, named as the user would name them.

`disagreements` descends two contents together while they have the same form, and returns a
path, an old and a new value for each difference: closure variables, defaults, constants,
attributes, items. Callers write the sentences and remedies. The forms of contents are in
`token`.
"""

import functools
import math
from collections import OrderedDict, defaultdict
from typing import Any, Final, NamedTuple, TypeAlias

from imprint._src.jit.fingerprint.code import Code
from imprint._src.jit.fingerprint.content import StateReader
from imprint._src.jit.fingerprint.layout import ClassLayout, layout_of
from imprint._src.jit.fingerprint.static_values import Equal
from imprint._src.jit.fingerprint.token import (
    ABSENT,
    ARRAY,
    FUNCTION,
    METHOD,
    ROOT,
    SPOKEN,
    STATE,
    Content,
    Token,
    Unread,
    head_of,
)
from imprint._src.jit.fingerprint.wording import (
    distinguish,
    show,
    show_both,
    show_code,
    show_constant,
)

TOO_LARGE: Final = "too large to compare"
"""The end of the text for an array that was not read, and may be unchanged."""


class Disagreement(NamedTuple):
    """A difference of two tokens.

    Args:
        path: the location: `closure variable i`, `default of k`, `cfg.lr`.
        old: the old value, as it would print.
        new: the new value.
    """

    path: str
    old: str
    new: str


def disagreements(old: Content, new: Content, path: str = "") -> list[Disagreement]:
    """Return the differences of two tokens, or contents.

    Args:
        old: a token of `definition_token` or `static_token`.
        new: another.
        path: the name of their value; empty for the function itself.
    """
    found = _differ(path, old, new, set())
    if not found and old != new:  # in an unnamed part: the order of attributes
        return [_replaced(path, show(old), show(new))]
    return found


def _differ(
    path: str, old: Content, new: Content, seen: set[tuple[int, int]]
) -> list[Disagreement]:
    if old is new or (type(old) is type(new) and old == new):
        return []
    if type(old) is Token and type(new) is Token:
        pair = id(old), id(new)
        if pair in seen:  # a decorator holds its function twice
            return []
        seen.add(pair)
        return _differ(path, old.content, new.content, seen)
    if type(old) is Code and type(new) is Code:
        return _code_difference(old, new, path)
    if head_of(new) is ARRAY and type(new[3]) is Unread:
        size = new[1][1].itemsize * math.prod(new[2]) / 2**20
        return [Disagreement(path, show(old), f"{size:.1f} MiB, {TOO_LARGE}")]
    parts = None
    if type(old) is Equal and type(new) is Equal:
        was, now = [*map(_attribute_contents, (old.value, new.value))]
        parts = _merged(was, now, f"{path or 'self'}.{{}}") or None
    if type(old) is tuple and type(new) is tuple and old and new:
        parts = _parts(path, old, new)
    if parts is None:
        return [Disagreement(path or "function", *show_both(old, new))]
    return [d for name, was, now in parts for d in _differ(name, was, now, seen)]


def _replaced(path: str, old: str, new: str) -> Disagreement:
    return Disagreement(path or "function", *distinguish(old, new))


# ---- composites ----

_Parts: TypeAlias = list[tuple[str, Content, Content]]
_PAIRED: Final = (dict, OrderedDict, defaultdict)
FEW: Final = 2
"""Added or removed keys up to which each is a difference."""


def _parts(path: str, old: Content, new: Content) -> _Parts | None:
    """Return the named parts of two composites of one form; None if they have none."""
    head = old[0]
    if head is not new[0]:
        return None
    if head is FUNCTION:
        return _function_parts(path, old, new)
    if head is ROOT:
        return [(path, old[-1], new[-1])]
    if head is METHOD:
        return [(_within("self", path), old[1], new[1]), (path, old[2], new[2])]
    if type(head) is ClassLayout:
        return _object_parts(path, head, old, new)
    if head in _PAIRED:
        start = 2 if head is defaultdict else 1
        return _pair_parts(path, old[start:], new[start:])
    if (head is tuple or head is list) and len(old) == len(new):
        return _item_parts(path, old[1:], new[1:])
    return None


def _function_parts(path: str, old: Content, new: Content) -> _Parts:
    code = new[1]
    if old[1] is not code:
        return [(path, old[1], code)]
    parts: _Parts = [(_within(f"globals of {code.name}", path), old[2], new[2])]
    parts += _merged(_defaults(old), _defaults(new), _within("default of {}", path))
    parts += _attributes(path, old[5], new[5])
    parts += [
        (_within(f"closure variable {name}", path), was, now)
        for name, was, now in zip(code.free, old[6:], new[6:], strict=True)
    ]
    return parts


def _defaults(content: Content) -> dict[str, Content]:
    _, code, _, positional, keyword, *_ = content
    found: dict[str, Content] = {}
    if positional:
        names = code.arguments[-len(positional) :]
        last = positional[len(positional) - len(names) :]  # Python ignores the rest
        found.update(zip(names, last, strict=True))
    if keyword:
        found.update(zip(code.keyword_only, keyword, strict=True))
    return found


def _object_parts(
    path: str, layout: ClassLayout, old: Content, new: Content
) -> _Parts | None:
    mark = old[1] if len(old) > 1 else None
    if len(new) > 1 and mark is new[1] and mark is STATE:
        named = _merged(_state(old), _state(new), f"{path or 'self'}.{{}}")
        return [*named, (path, old[2], new[2]), (path, old[3], new[3])]
    if len(new) > 1 and mark is new[1] and mark is SPOKEN:
        return _said_parts(path, layout, old[2], new[2])
    if layout.cls is not None and issubclass(layout.cls, functools.partial):
        return [
            (_within("function", path), old[1], new[1]),
            (_within("arguments", path), old[2], new[2]),
            (_within("keywords", path), old[3], new[3]),
            *_attributes(path, old[4:], new[4:]),
        ]
    if len(old) != len(new):
        return None
    if len(layout.fields) == len(new) - 1:
        names = [f"{path or 'self'}.{name}" for name in layout.fields]
        return list(zip(names, old[1:], new[1:], strict=True))
    return _item_parts(path, old[1:], new[1:])


def _said_parts(path: str, layout: ClassLayout, old: Content, new: Content) -> _Parts:
    """Return the parts of an `__imprint_token__`; those of a jitted function are unnamed."""
    is_tuple = head_of(old) is head_of(new) is tuple
    if layout.is_library and is_tuple and len(old) == len(new):
        return [(path, *pair) for pair in zip(old[1:], new[1:], strict=True)]
    return [(path, old, new)]


def _attribute_contents(value: Any) -> dict[str, Content]:
    """Return the attributes of an object that compares by its own `==`."""
    return {n: StateReader().value(x) for n, x in layout_of(value).state(value).items()}


def _state(content: Content) -> dict[str, Content]:
    return dict(zip(content[4], content[5:], strict=True))


def _attributes(path: str, old: Content, new: Content) -> _Parts:
    held = [dict(zip(c[0], c[1:], strict=True)) if c else {} for c in (old, new)]
    parts = _merged(held[0], held[1], "{}")
    return [
        (path if n == "__wrapped__" else _within(f"attribute {n}", path), was, now)
        for n, was, now in parts  # a decorated function is the one it wraps
    ]


def _merged(old: dict[str, Content], new: dict[str, Content], form: str) -> _Parts:
    return [
        (form.replace("{}", name), old.get(name, ABSENT), new.get(name, ABSENT))
        for name in {**old, **new}
    ]


def _item_parts(path: str, old: Content, new: Content) -> _Parts:
    pairs = zip(old, new, strict=True)
    return [(f"{path}[{i}]", was, now) for i, (was, now) in enumerate(pairs)]


def _pair_parts(path: str, old: Content, new: Content) -> _Parts | None:
    was, now = (dict(zip(c[::2], c[1::2], strict=True)) for c in (old, new))
    came, went = now.keys() - was.keys(), was.keys() - now.keys()
    if (came and went) or len(came | went) > FEW:
        return None
    if [key for key in was if key in now] != [key for key in now if key in was]:
        return None
    return [
        (f"{path}[{show(key)}]", was.get(key, ABSENT), now.get(key, ABSENT))
        for key in {**was, **now}
    ]


def _within(part: str, path: str) -> str:
    return f"{part} in {path}" if path else part


# ---- code ----


def _code_difference(old: Code, new: Code, path: str) -> list[Disagreement]:
    if old.name != new.name and path:  # not an edit: another function
        return [_replaced(path, *[f"function {show_code(x)}" for x in (old, new)])]
    place = _within(f"{new.name} at line {new.line}", path)
    found: list[Disagreement] = []
    if old.bytecode == new.bytecode:
        found += [
            Disagreement(f"name read in {place}", was, now)
            for was, now in _pairs(old.names, new.names)
            if was != now
        ]
        for was, now in _pairs(old.constants, new.constants):
            if type(was) is Code and type(now) is Code:
                found += [] if was is now else _code_difference(was, now, path)
            elif repr(was) != repr(now):
                change = show_constant(was), show_constant(now)
                found.append(Disagreement(f"constant in {place}", *change))
    return found or [_replaced(_within("code", path), show_code(old), show_code(new))]


def _pairs(old: tuple[Any, ...], new: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    return list(zip(old, new, strict=True)) if len(old) == len(new) else []
