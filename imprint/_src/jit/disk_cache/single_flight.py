"""One flight: of many processes that want the same program, one compiles it.

All of them lock one byte of the file `lock`, whose place the key says. The system gives a
lock back when a process ends, however it ends, so nothing is left to collect. Who waits
too long, or where there are no locks, goes on and compiles: a lock saves work, and
nothing depends on it. Threads of one process do not exclude each other here.
"""

import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


class Flights:
    """The locks of one folder.

    Args:
        folder: the store's.
        patience: how many seconds one waits for another process.
        mode: who may open the file of the locks.
    """

    def __init__(self, folder: Path, patience: float, mode: int = 0o600) -> None:
        self._path: Final = folder / "lock"
        self._patience: Final = patience
        self._mode: Final = mode
        self._descriptor: int | None = (
            None  # stays open: closing it gives all locks back
        )

    @contextmanager
    def of(self, key: bytes) -> Generator[bool]:
        """Hold the lock of a key; yield whether another process had it before."""
        place = int.from_bytes(key[:7], "big")
        waited, held = False, False
        until = time.monotonic() + self._patience
        pause = 0.005
        file = self._file()
        while file is not None and not held:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
                held = True
            except (BlockingIOError, PermissionError):  # another has it
                if time.monotonic() > until:
                    break
                waited = True
                time.sleep(pause)
                pause = min(2 * pause, 0.1)
            except OSError:  # no locks here
                break
        try:
            yield waited
        finally:
            if held:
                with suppress(OSError):
                    fcntl.lockf(file, fcntl.LOCK_UN, 1, place)

    def _file(self) -> int | None:
        if self._descriptor is None and fcntl is not None:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            with suppress(OSError):
                self._descriptor = os.open(self._path, flags, self._mode)
        return self._descriptor
