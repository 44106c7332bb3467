"""The hook: what is told, on 3.11, of functions in one thread?

A profiler that was set before is told too, and stands there again afterwards. Beside one
that is written in C, which tells nothing, the hook is set by `sys.settrace`. A function
that sets a profiler of its own while it is traced keeps it.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, TypeAlias, final

from imprint.core.unheard import LISTENERS

Profiler: TypeAlias = Callable[[FrameType, str, Any], object]
"""One of ours is a function."""
SET_PROFILE: Final = sys.setprofile


@final
class Hook:
    """What tells of functions in one thread, and what told of them before."""

    __slots__ = ("_get", "_set", "before", "known", "ours", "touched")

    def __init__(self, before: Profiler | None, *, traces: bool) -> None:
        self.before: Profiler | None = before
        self.ours: Profiler
        self.known: dict[int, tuple[Any, ...]] = {}
        """What starts of which code have nothing to add, and to whom."""
        self.touched: bool = False
        """Whether the user's code has put another in our place."""
        self._get = sys.gettrace if traces else sys.getprofile
        self._set: Callable[[Any], None] = sys.settrace if traces else SET_PROFILE

    def is_set(self) -> bool:
        """Tell whether it is told now."""
        return self._get() is self.ours

    def set(self) -> None:
        """Be told from now on, in the place of what was told before.

        A profiler of the user's, which is told by ours, hears what is `unheard`, too.
        """
        if self.before is None:
            LISTENERS.add(self.ours)
        self._set(self.ours)
        self.touched = False

    def unset(self) -> None:
        """Put what was told before back, unless the user's code has set another."""
        LISTENERS.discard(self.ours)
        self.known.clear()  # what it is told by holds it: a collection is far off
        current = self._get()  # an exception, such as an interrupt, takes ours away
        if current is self.ours or (current is None and not self.touched):
            self._set(self.before)
