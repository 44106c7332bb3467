"""The fingerprint of a callable: which functions may share compiled versions?

Functions with one fingerprint have the same code and the same globals, and capture equal
plain data. What can change (containers, objects, arrays) is in it by its class alone:
whether a version answers is decided by its guard, for each function apart.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, ClassVar

from imprint._src.core.identity import identity
from imprint._src.core.user_code import is_user_class, is_user_function
from imprint._src.jit.fingerprint.code import Code
from imprint._src.jit.fingerprint.content import ContentReader, scalar_function_token
from imprint._src.jit.fingerprint.layout import layout_of
from imprint._src.jit.fingerprint.token import ABSENT, ROOT, Content, Token, token_of
from imprint._src.jit.guards.locations import class_of


def fingerprint(fun: Callable[..., Any]) -> Token:
    """Return the fingerprint of a callable; equal ones are one object."""
    if type(fun) is FunctionType:
        token = scalar_function_token(fun)
        if token is not None:
            return token
    walk = _Shape()
    content = walk.value(fun)
    if type(content) is Token:
        return content
    return token_of((ROOT, content), volatile=walk.volatile, has_cells=walk.has_cells)


class _Shape(ContentReader):
    """A walk on which what can change is known by its class."""

    leaves: ClassVar[int] = 4096
    _is_of_library: bool = False
    """Whether a library's function holds what is read: no name of it is tracked."""

    def container(self, x: Any, read: Callable[[Any], Content]) -> Content:
        """Return the class of a container."""
        return layout_of(x), ABSENT

    def object(self, x: Any) -> Content:
        """Return the class of an object; one that a library holds is itself."""
        if self._is_of_library and not is_user_class(class_of(x)):
            return identity(x)
        return layout_of(x), ABSENT

    def array(self, x: Any) -> Content:
        """Return the class of an array."""
        return layout_of(x), ABSENT

    def cells(self, fun: FunctionType, code: Code) -> list[Content]:
        """Return what closure variables hold; of those that the code binds, nothing."""
        outer = self._is_of_library
        self._is_of_library = not is_user_function(fun)
        found = super().cells(fun, code)
        self._is_of_library = outer
        return found

    def attributes(self, owner: Any, held: Any) -> list[Content]:
        """Return what a function wraps; its other attributes are read by name."""
        wrapped = held.get("__wrapped__")
        return [("__wrapped__",), self.value(wrapped)] if wrapped is not None else [()]
