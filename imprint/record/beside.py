"""Whether other threads ran beside a trace: then what changed may be theirs.

The system counts the time for which each thread ran, so one that only waits is told from
one that did something. Where it does not, or Python does not know the thread, it is taken
to have run. Threads that a library runs for itself do not write what is the user's. In a
virtual machine the clock may stand still for one that runs 20 µs: to ask the system how
often each ran as well takes 10 µs a thread, and lets the others in each time.
"""

import gc
import os
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final, final

from imprint.core.libraries import entry, is_user_code


@final
class Beside:
    """The threads other than this one, from now on."""

    __slots__ = ("_before",)

    def __init__(self) -> None:
        self._before = _times()

    @property
    def are_any(self) -> bool:
        """Whether there was one."""
        return bool(self._before)

    def ran(self) -> bool:
        """Tell whether one of them ran meanwhile, or may have."""
        return _times() != self._before


def _times() -> dict[int, object]:
    """Return for how long each other thread ran, by its `ident`."""
    known = {thread.ident: thread.native_id for thread in threading.enumerate()}
    own = threading.get_ident()
    with _no_collections():
        others = [
            ident
            for ident, frame in sys._current_frames().items()  # pyright: ignore[reportPrivateUsage] - no other way
            if ident != own and not _is_service(frame)
        ]
    return {ident: _time_of(known.get(ident)) for ident in others}


_walking: Final = threading.RLock()
os.register_at_fork(
    before=_walking.acquire,
    after_in_parent=_walking.release,
    after_in_child=_walking.release,
)


@contextmanager
def _no_collections() -> Generator[None]:
    """Have the garbage collector wait on 3.11, while frames of other threads are read.

    There it may begin inside `frame.f_back`, and what it calls lets the other thread run:
    when that returns from the frame being read, the process crashes. Later Pythons collect
    between two instructions. `gc.disable` may be called by the user meanwhile, and stays.
    """
    if sys.version_info >= (3, 12):
        yield
        return
    with _walking:
        before = gc.get_threshold()
        try:
            gc.set_threshold(0)
            yield
        finally:
            gc.set_threshold(*before)


def _time_of(native: int | None) -> object:
    """Return for how long a thread ran; an object that equals no other if unknown."""
    if native is None or not _HAS_CLOCKS:
        return object()
    try:
        return time.clock_gettime((~native << 3) | 6)  # CPUCLOCK_PERTHREAD_SCHED
    except OSError:  # it ended just now
        return object()


def _are_fine() -> bool:
    """Tell whether a thread's time goes on with all that it does, not by ticks."""
    start = time.thread_time_ns()
    return sum(range(1000)) > 0 and time.thread_time_ns() > start


_HAS_CLOCKS: Final = sys.platform == "linux" and _are_fine()


def _is_service(top: FrameType) -> bool:
    """Tell whether a thread runs code of libraries, and not just Python's own.

    A pool that waits for the user's work runs nothing but Python's.
    """
    frame: FrameType | None = top
    of_library = False
    while frame is not None:
        if is_user_code(frame.f_code, frame.f_globals):
            return False
        name = str(entry(frame.f_globals, "__name__"))
        of_library |= name.partition(".")[0] not in sys.stdlib_module_names
        frame = frame.f_back
    return of_library
