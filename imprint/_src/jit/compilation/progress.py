"""The line on the terminal during a long compilation.

`compiling jit_step: 12,345 equations, 3.2 s` appears after two seconds, is refreshed, and
is cleared at the end or at an interrupt. If several threads compile, the line shows the
compilation that began first. If standard error is no terminal (a file, a pipe, a notebook,
a captured test), nothing is written and no thread is started. On a terminal a compilation
costs the start of one thread, 110 µs.
"""

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, TextIO, final


@dataclass(eq=False)
class _Compile:
    """A compilation in progress."""

    text: str
    equations: int
    start: float

    @property
    def title(self) -> str:
        """Its name and size."""
        name = _NAME.search(self.text)
        return f"compiling {name[1] if name else 'a program'}: {self.equations:,} equations"


_NAME: Final = re.compile(r"module @([^ ]+)")


@final
class Progress:
    """The line of a process.

    Args:
        delay: the seconds before a compilation is shown.
        period: the seconds between two refreshes.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        delay: float = 2.0,
        period: float = 0.1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._delay = delay
        self._period = period
        self._clock = clock
        self._lock = threading.RLock()  # a signal handler may compile too
        self._running: dict[_Compile, TextIO] = {}
        self._done = threading.Event()
        self._shown = 0  # characters on the line

    @contextmanager
    def during(self, text: str, equations: int) -> Generator[None]:
        """Show the line while the body compiles a program.

        Args:
            text: the program, a StableHLO module.
            equations: their number.
        """
        stream = _terminal()
        if stream is None:
            yield
            return
        compiling = _Compile(text, equations, self._clock())
        try:
            self._enter(compiling, stream)
            yield
        finally:
            self._leave(compiling, stream)

    def _enter(self, compiling: _Compile, stream: TextIO) -> None:
        with self._lock:
            self._running[compiling] = stream
            if len(self._running) > 1:
                return
            self._done = threading.Event()
            watch = threading.Thread(
                target=self._watch,
                args=(self._done,),
                name="imprint-progress",
                daemon=True,
            )
            with suppress(RuntimeError):  # no more threads: go without the line
                watch.start()

    def _leave(self, compiling: _Compile, stream: TextIO) -> None:
        with self._lock:
            self._running.pop(compiling, None)
            self._write(stream, "")
            if not self._running:
                self._done.set()

    def _watch(self, done: threading.Event) -> None:
        wait = self._delay
        while not done.wait(wait):
            wait = self._period
            with self._lock:
                if not done.is_set():
                    self._refresh()

    def _refresh(self) -> None:
        compiling, stream = next(iter(self._running.items()))
        seconds = self._clock() - compiling.start
        if seconds >= self._delay:
            self._write(stream, f"{compiling.title}, {seconds:.1f} s")

    def _write(self, stream: TextIO, line: str) -> None:
        """Replace the line."""
        line = line[: _columns(stream) - 1]  # a line that wraps cannot be taken back
        if not (line or self._shown):
            return
        blank = " " * (self._shown - len(line))
        back = "" if line else "\r"
        self._shown = len(line)
        with suppress(OSError, ValueError):  # a terminal that is gone
            stream.write(f"\r{line}{blank}{back}")
            stream.flush()


def _terminal() -> TextIO | None:
    """Return standard error if it is a terminal."""
    stream = sys.stderr
    try:
        return stream if stream.isatty() else None
    except (AttributeError, ValueError):  # None, a stand-in, closed
        return None


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


PROGRESS: Final = Progress()
"""The line of this process."""
