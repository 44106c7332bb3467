"""Tokens of callables: which functions may share compiled versions.

Functions with one `fingerprint` have the same code and globals, and capture equal plain
data. Mutable values (containers, objects, arrays) are in it by class alone: the guard of a
version checks those, for each function separately. A `definition_token` has all that a
`ContentReader` reads, for explanations and library functions.
"""

from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import Any, ClassVar

from imprint._src.core.identity import identity
from imprint._src.core.user_code import (
    are_libraries_fixed,
    is_user_class,
    is_user_function,
)
from imprint._src.jit.fingerprint.content import ContentReader, scalar_function_token
from imprint._src.jit.fingerprint.layout import layout_of
from imprint._src.jit.fingerprint.raw_access import class_of
from imprint._src.jit.fingerprint.token import ABSENT, ROOT, Content, Token, token_of


def fingerprint(fun: Callable[..., Any]) -> Token:
    """Return the fingerprint of a callable; equal ones are one object."""
    return _token(fun, _ShapeReader)


def definition_token(fun: Any) -> Token:
    """Return the token of a callable: its code, its globals and captured plain data."""
    return _token(fun, ContentReader)


def _token(fun: Any, reader_class: type[ContentReader]) -> Token:
    if type(fun) is FunctionType:
        token = scalar_function_token(fun)
        if token is not None:
            return token
    reader = reader_class()
    content = reader.value(fun)
    if type(content) is Token:
        return content
    return token_of((ROOT, content))


class _ShapeReader(ContentReader):
    """A reader of mutable values by class."""

    leaves: ClassVar[int] = 4096
    _is_of_library: bool = False
    """Whether a library function holds the value: its names are not tracked."""

    def container(self, x: Any, read: Callable[[Any], Content]) -> Content:
        """Return the class of a container; the identity of one that no guard reads."""
        if self._is_of_library and are_libraries_fixed():
            return identity(x)
        return layout_of(x), ABSENT

    def object(self, x: Any) -> Content:
        """Return the class of an object; the identity of one that a library holds."""
        is_held = self._is_of_library or not self._open
        if is_held and not is_user_class(class_of(x)):
            return identity(x)
        return layout_of(x), ABSENT

    def array(self, x: Any) -> Content:
        """Return the class of an array; the identity of one that a library holds."""
        return identity(x) if self._is_of_library else (layout_of(x), ABSENT)

    def function(self, fun: FunctionType) -> Content:
        """Return the token of a function."""
        return self._held_by(fun, super().function, fun)

    def method(self, x: MethodType) -> Content:
        """Return the object and the function of a bound method."""
        return self._held_by(x.__func__, super().method, x)

    def _held_by(self, holder: Any, read: Callable[[Any], Content], x: Any) -> Content:
        """Return what `read` returns, told whether the holder is a library's function."""
        outer = self._is_of_library
        self._is_of_library = not is_user_function(holder)
        try:
            return read(x)
        finally:
            self._is_of_library = outer

    def attributes(self, held: Mapping[str, Any]) -> list[Content]:
        """Return the wrapped function; other attributes are guarded by name."""
        wrapped = held.get("__wrapped__")
        return [("__wrapped__",), self.value(wrapped)] if wrapped is not None else [()]
