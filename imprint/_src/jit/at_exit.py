"""The end of the process: threads leave the engine before the interpreter ends.

The interpreter ends daemon threads where they next take its lock. Inside of the engine's
C++ that aborts the process. So when it is about to end:
1. What traces, compiles or runs a program raises `SystemExit` in every thread but the main
   one, which ends that thread silently, and releases its locks.
2. The main thread waits until no other thread is inside of imprint.
Nothing here costs anything before that.
"""

import atexit
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

from imprint._src import runtime
from imprint._src.core.primitive import Primitive
from imprint._src.core.user_code import is_own_file

_LONGEST: Final = 60.0
"""Seconds that the main thread waits: as long as most compilations take."""
_LOOKS: Final = 5
_LOOKS_AFTER_WORK: Final = 50
"""Looks in a row that find no busy thread; more if one that was busy lives: it may drop
its arrays, which the engine deletes, or be about to come back."""


def end_threads_at_exit(*entries: tuple[type, str]) -> None:
    """Let threads leave imprint when the process ends.

    Args:
        *entries: classes and names of the methods that do work.
    """
    binds = [(Primitive, name) for name in ("bind_all", "bind1")]
    atexit.register(_end_threads, (*entries, *binds))


def _end_threads(entries: tuple[tuple[type, str], ...]) -> None:
    if threading.active_count() == 1:
        return
    for owner, name in entries:
        setattr(owner, name, _refusing(getattr(owner, name)))
    runtime.change_calls(_refusing)
    end = time.monotonic() + _LONGEST
    seen: set[int] = set()
    quiet = 0
    while time.monotonic() < end:
        time.sleep(0.002)
        threads = sys._current_frames()  # pyright: ignore[reportPrivateUsage] - the one way to know
        del threads[threading.get_ident()]
        busy = {ident for ident, frame in threads.items() if _is_inside(frame)}
        seen |= busy
        quiet = 0 if busy else quiet + 1
        if quiet >= (_LOOKS_AFTER_WORK if seen & threads.keys() else _LOOKS):
            return


def _refusing(work: Callable[..., Any]) -> Callable[..., Any]:
    main = threading.main_thread().ident

    def refuse(*args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() != main:
            raise SystemExit
        return work(*args, **kwargs)

    return refuse


def _is_inside(frame: FrameType | None) -> bool:
    """Return whether a thread is inside of imprint."""
    while frame is not None:
        if is_own_file(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False
