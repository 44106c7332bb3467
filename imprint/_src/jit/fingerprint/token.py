"""Token: what a value is, as a value that a cache can hash and compare.

The content of a token is plain data. A leaf that is no tuple stands for itself: an `int`,
a `str`, None, `...`, a stand-in (`identity`), a nested token. A tuple is a composite, and
says first what of: a builtin type, a `Layout`, or a `Mark`. So `1`, `1.0` and `True` are
three contents, comparing them runs no code of the user, and two can be told apart by
name (`difference`). Tokens of equal content are one object: cache tables hash and
compare them for nothing.
"""

from collections.abc import Iterable
from types import NoneType
from typing import Any, Final, TypeAlias, cast, final
from weakref import ref

Content: TypeAlias = Any


@final
class Mark:
    """The head of a composite, or a special leaf. Compared by identity."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name: str = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


FUNCTION: Final = Mark("function")
"""(FUNCTION, code, globals, defaults, keyword defaults, attributes, *cells)

Attributes are None or (names, *contents), here as in what follows.
"""
METHOD: Final = Mark("bound method")
"""(METHOD, self, function)"""
STATE: Final = Mark("state")
"""(layout, STATE, stand-in or None, items or None, names, *contents)"""
ROOT: Final = Mark("root")
"""(ROOT, content): of a token whose value is no function"""
SPOKEN: Final = Mark("spoken")
"""(layout, SPOKEN, content of what `__imprint_token__` returned)"""
BACK: Final = Mark("back")
"""(BACK, n): the composite n levels up"""
DTYPE: Final = Mark("dtype")
"""(DTYPE, dtype, *contents of its metadata)"""
ARRAY: Final = Mark("array")
"""(ARRAY, dtype, shape, bytes, digest or Unread, strides)"""
MANY: Final = Mark("many")
"""(MANY, class, length, digest): of the items of a long list or tuple of scalars"""
EMPTY: Final = Mark("nothing yet")
"""A closure variable that has no value yet."""
ABSENT: Final = Mark("absent")
"""A keyword default, field or slot without a value."""


@final
class Unread:
    """Stands for the bytes of an array that nobody read. Equals nothing but itself."""

    __slots__ = ()


@final
class Token:
    """What a callable is. Equal content is the same object.

    Args:
        content: plain data; see the header.
        volatile: a container, attribute or empty cell in it can change in place, so the
            token is read again for each call.
        has_cells: it has closure variables, which other functions may bind anew.

    Attributes:
        is_scalar: it is of a function that captures nothing but numbers and text, so a
            strict walk finds no more.
    """

    __slots__ = (*("__weakref__", "content", "has_cells", "is_scalar", "volatile"),)

    def __init__(self, content: Content, *, volatile: bool, has_cells: bool) -> None:
        self.content = content
        self.volatile = volatile
        self.has_cells = has_cells
        self.is_scalar: bool = head_of(content) is FUNCTION and _are_scalars(content)

    def __repr__(self) -> str:
        return f"<token at {id(self):#x}>"


@final
class _TokenReference(ref[Token]):
    __slots__ = ("content",)
    content: Content


def plain_contents(values: Iterable[object]) -> list[Content] | None:
    """Return the contents of values if all are scalars. Hot: `Walk` takes twice as long."""
    found: list[Content] = []
    for x in values:
        kind = type(x)
        if kind is int or kind is str or kind is NoneType:
            found.append(x)
        elif kind is float and x and x == x:
            found.append((float, x))
        elif kind is bool:
            found.append((bool, x))
        else:
            return None
    return found


def _are_scalars(function: Content) -> bool:
    extras, cells = function[3:6], function[6:]
    if any(x is not None for x in extras):
        return False
    return all(type(x) in _SCALARS or head_of(x) in (float, bool) for x in cells)


_SCALARS: Final = (int, str, NoneType)


def head_of(content: Content) -> Any:
    """Return what a composite says first; None for a leaf."""
    if not isinstance(content, tuple) or not content:
        return None
    return cast("tuple[Any]", content)[0]


def find_token(content: Content) -> Token | None:
    """Return the token of a content, if some cache holds it. Hot."""
    found = _tokens.get(content)
    return None if found is None else found()


def token_of(content: Content, *, volatile: bool, has_cells: bool) -> Token:
    """Return the one token of a content."""
    found = find_token(content)
    if found is not None:
        return found
    token = Token(content, volatile=volatile, has_cells=has_cells)
    entry = _TokenReference(token, _forget)
    entry.content = content
    other = _tokens.setdefault(content, entry)
    if other is not entry:  # another thread was here, or a token is on its way out
        found = other()
        if found is not None:
            return found
        _tokens[content] = entry
    return token


def _forget(dead: Any) -> None:
    if _tokens.get(dead.content) is not dead:
        return
    entry = _tokens.pop(dead.content, None)
    if entry is not None and entry is not dead:  # another thread put it there just now
        _tokens.setdefault(dead.content, entry)


# By content, what is alive: an entry leaves with its token.
_tokens: Final[dict[Content, _TokenReference]] = {}
