"""Which work of other threads is a part of a trace.

1. What runs in a thread that the trace started, and what it submitted to a pool: the
   thread, or the pool's item of work, is on the stack of the thread that runs it.
2. Where work is handed over in another way (a queue, C), what the trace's code makes or
   names and has not called itself: a thread runs that for the trace, unless the thread
   came to it through something that the trace called too; then it works for itself.

What else runs beside a trace, such as a loader that counts its batches, is no part of it.
"""

from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final, final

from imprint.core.libraries import entry, is_own_code
from imprint.record.bytecode import inner_codes

_HANDS: Final = frozenset(
    {
        ("threading", "start"),
        ("concurrent.futures.thread", "__init__"),  # of an item of work
        ("queue", "put"),
        ("multiprocessing.pool", "apply_async"),
        ("multiprocessing.pool", "_map_async"),
    }
)
"""Functions that hand work to other threads: all that do go through one of these."""
_NAMES: Final = frozenset(name for _, name in _HANDS)
_RUNS: Final = frozenset({"_bootstrap", "run"})
"""Methods of a thread, and of an item of work, that run it."""


@final
class Elsewhere:
    """What one trace has handed over, or may have."""

    __slots__ = ("_begun", "_handed", "_made", "_names")

    def __init__(self) -> None:
        self._begun: dict[int, CodeType] = {}
        self._made: dict[int, CodeType] = {}
        self._names: set[str] = set()
        self._handed: dict[int, Any] = {}

    def begins(self, code: CodeType) -> None:
        """Note that code starts in the thread of the trace."""
        if id(code) not in self._begun:
            self._begun[id(code)] = code
            self._mention(code)

    def hands_over(self, code: CodeType, frame: FrameType) -> tuple[Any, ...] | None:
        """Return what a library's function that starts hands over; None if it does not.

        imprint hands over nothing of the user's: an event that a trace is done.
        """
        if code.co_name not in _NAMES:
            return None
        if (entry(frame.f_globals, "__name__"), code.co_name) not in _HANDS:
            return None
        back = frame.f_back
        if back is None or is_own_code(back.f_code, back.f_globals):
            return ()
        handed = tuple(frame.f_locals.values())
        self._handed[id(handed[0])] = handed[0]
        return handed

    def serves(self, top: FrameType, reaches: Callable[[CodeType], bool]) -> bool:
        """Tell whether what runs in another thread is done for the trace."""
        frame: FrameType | None = top
        named = False
        while frame is not None:
            code = frame.f_code
            if code.co_name in _RUNS and self._is_handed(code, frame):
                return True
            if id(code) in self._begun:
                return False
            named = named or (
                id(code) in self._made
                or (code.co_name in self._names and reaches(code))
            )
            frame = frame.f_back
        return named

    def _mention(self, code: CodeType) -> None:
        self._names.update(code.co_names)
        for inner in inner_codes(code):
            self._made[id(inner)] = inner
            self._mention(inner)

    def _is_handed(self, code: CodeType, frame: FrameType) -> bool:
        names = code.co_varnames
        return bool(names) and id(frame.f_locals.get(names[0])) in self._handed
