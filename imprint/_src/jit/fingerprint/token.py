"""Tokens: values as plain data that a cache can hash and compare.

A leaf that is not a tuple is itself: an `int`, a `str`, None, `...`, a stand-in
(`identity`), a nested token. A tuple is a composite whose head is a builtin type, a
`ClassLayout` or a `Mark`. So `1`, `1.0` and `True` have three contents, comparing them runs
no user code, and two can be compared part by part (`explain.fingerprint_diff`). Equal
contents share one token, so cache tables hash and compare tokens by identity.
"""

from collections.abc import Iterable
from types import NoneType
from typing import Any, Final, TypeAlias, cast, final
from weakref import ref

Content: TypeAlias = Any


@final
class Mark:
    """The head of a composite, or a special leaf. Compared by identity."""

    __slots__ = ("__weakref__", "name")

    def __init__(self, name: str) -> None:
        self.name: str = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


FUNCTION: Final = Mark("function")
"""(FUNCTION, code, globals, defaults, keyword defaults, attributes, *cells)

Attributes are None or (names, *contents), here and below.
"""
METHOD: Final = Mark("bound method")
"""(METHOD, self, function)"""
STATE: Final = Mark("state")
"""(layout, STATE, stand-in or None, items or None, names, *contents)"""
ROOT: Final = Mark("root")
"""(ROOT, content): the token of a value that is not a function"""
SPOKEN: Final = Mark("spoken")
"""(layout, SPOKEN, content of the result of `__imprint_token__`)"""
BACK: Final = Mark("back")
"""(BACK, n): the composite n levels up"""
DTYPE: Final = Mark("dtype")
"""(DTYPE, dtype, *contents of its metadata)"""
ARRAY: Final = Mark("array")
"""(ARRAY, dtype, shape, bytes, digest or Unread, strides)"""
MANY: Final = Mark("many")
"""(MANY, class, length, digest): the items of a long list or tuple of scalars"""
EMPTY: Final = Mark("nothing yet")
"""A closure variable without a value."""
ABSENT: Final = Mark("absent")
"""A keyword default, field or slot without a value."""


@final
class Unread:
    """Stands for the bytes of an array that was not read. Equal only to itself."""

    __slots__ = ()


@final
class Token:
    """The fingerprint of a callable or a static value. Equal content is the same object.

    Args:
        content: plain data; see the header.
    """

    __slots__ = ("__weakref__", "content")

    def __init__(self, content: Content) -> None:
        self.content = content

    def __repr__(self) -> str:
        return f"<token at {id(self):#x}>"


@final
class _TokenReference(ref[Token]):
    __slots__ = ("content",)
    content: Content


def scalar_contents(values: Iterable[object]) -> list[Content] | None:
    """Return the contents of scalars; None if a value is another. Hot: a reader takes 2 ×."""
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


def head_of(content: Content) -> Any:
    """Return the head of a composite; None for a leaf."""
    if not isinstance(content, tuple) or not content:
        return None
    return cast("tuple[Any]", content)[0]


def find_token(content: Content) -> Token | None:
    """Return the token of a content, if a cache holds it. Hot."""
    found = _tokens.get(content)
    return None if found is None else found()


def token_of(content: Content) -> Token:
    """Return the one token of a content."""
    found = find_token(content)
    if found is not None:
        return found
    token = Token(content)
    entry = _TokenReference(token, _forget)
    entry.content = content
    other = _tokens.setdefault(content, entry)
    if other is not entry:  # another thread added one, or a token is dying
        found = other()
        if found is not None:
            return found
        _tokens[content] = entry
    return token


def _forget(dead: Any) -> None:
    if _tokens.get(dead.content) is not dead:
        return
    entry = _tokens.pop(dead.content, None)
    if entry is not None and entry is not dead:  # another thread just added it
        _tokens.setdefault(dead.content, entry)


_tokens: Final[dict[Content, _TokenReference]] = {}
"""By content; an entry goes with its token."""
