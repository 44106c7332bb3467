"""Objects of library classes that a trace reached, and which of them it left unwritten.

Library code is not observed, so its writes are found by content: each object is read when
it is first reached, and again after the trace. An object inside of another is read with it.
The function and its static values are hashed before the trace, with all that they hold.
"""

from typing import Any, Final, final

from imprint._src.core.identity import Standin, identity
from imprint._src.jit.fingerprint.token import Content
from imprint._src.jit.guards.locations import ClassAttribute, Global, Location
from imprint._src.jit.guards.values import whole_content

_MOST: Final = 5000
"""Objects of libraries that one trace visits."""


@final
class LibraryObjects:
    """The objects of library classes that one trace reached.

    Attributes:
        is_bounded: whether there were more than are visited.
    """

    def __init__(self) -> None:
        self.is_bounded: bool = False
        self._found: dict[int, tuple[Any, int, Content | None]] = {}

    def add(self, value: Any, location: Location | None) -> bool:
        """Add an object; return whether to visit what it holds."""
        if len(self._found) >= _MOST:
            self.is_bounded = True
            return False
        outer, is_bound = self._bound_in(location)
        content = whole_content(value)[0] if is_bound and not outer else None
        self._found[id(value)] = value, outer, content
        return True

    def _bound_in(self, location: Location | None) -> tuple[int, bool]:
        """Return the `id` of the object around a location, or 0; and whether a name leads there."""
        head = location
        while location is not None:
            if id(location.owner) in self._found:
                return id(location.owner), True
            head, location = location, location.parent
        return 0, isinstance(head, Global | ClassAttribute)

    def unwritten(self) -> tuple[Standin, ...] | None:
        """Return those with the content that they had; None if not all were visited.

        Those that only the function and its static values reach are not among them.
        """
        if self.is_bounded:
            return None
        found: dict[int, Any] = {}
        for key, (value, outer, content) in self._found.items():
            if outer in found or (
                content is not None and whole_content(value)[0] == content
            ):
                found[key] = value
        return tuple(map(identity, found.values()))

    def close(self) -> None:
        """Release all objects."""
        self._found.clear()
