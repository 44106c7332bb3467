"""The progress of a long compilation, on standard error.

On a terminal, `compiling jit_step: 12,345 equations, 3.2 s` appears after two seconds, is
refreshed, and is cleared at the end or at an interrupt. If several threads compile, the line
shows the compilation that began first. With `config.show_progress`, which `imprint run`
sets, a notebook shows the same line, and a file or a pipe gets a line every ten seconds and
one at the end. Otherwise nothing is written there, and no thread is started. Where it is
shown, a compilation costs the start of one thread, 110 µs.
"""

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, Literal, TextIO, final

from imprint._src.config import config


@dataclass(eq=False)
class _Compile:
    """A compilation in progress.

    Args:
        text: the program.
        equations: their number.
        start: the time when it began.
        stream: where it is shown.
        is_log: whether that is a file or a pipe, where no line can be replaced.
        is_logged: whether a line was written there.
    """

    text: str
    equations: int
    start: float
    stream: TextIO
    is_log: bool
    is_logged: bool = False

    @property
    def name(self) -> str:
        """Its name."""
        name = _NAME.search(self.text)
        return name[1] if name else "a program"

    @property
    def title(self) -> str:
        """Its name and size."""
        return f"compiling {self.name}: {self.equations:,} equations"


_NAME: Final = re.compile(r"module @([^ ]+)")


@final
class Progress:
    """The compilations of a process.

    Args:
        delay: the seconds before a compilation is shown.
        period: the seconds between two refreshes.
        log_period: the seconds between two lines in a file or a pipe.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        delay: float = 2.0,
        period: float = 0.1,
        log_period: float = 10.0,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._delay = delay
        self._period = period
        self._log_period = log_period
        self._clock = clock
        self._lock = threading.RLock()  # a signal handler may compile too
        self._running: list[_Compile] = []
        self._done = threading.Event()
        self._shown = 0  # characters on the line

    @contextmanager
    def during(self, text: str, equations: int) -> Generator[None]:
        """Show the progress while the body compiles a program.

        Args:
            text: the program, a StableHLO module.
            equations: their number.
        """
        stream = sys.stderr
        kind = _kind_of(stream)
        if kind is None:
            yield
            return
        compiling = _Compile(text, equations, self._clock(), stream, kind == "log")
        try:
            self._enter(compiling)
            yield
        finally:
            self._leave(compiling)

    def _enter(self, compiling: _Compile) -> None:
        with self._lock:
            self._running.append(compiling)
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

    def _leave(self, compiling: _Compile) -> None:
        with self._lock:
            with suppress(ValueError):  # interrupted before it was entered
                self._running.remove(compiling)
            if compiling.is_logged:
                seconds = self._clock() - compiling.start
                _log(compiling.stream, f"compiled {compiling.name} in {seconds:.1f} s")
            elif not compiling.is_log:
                self._write(compiling.stream, "")
            if not self._running:
                self._done.set()

    def _watch(self, done: threading.Event) -> None:
        wait = self._first_wait()
        while not done.wait(wait):
            with self._lock:
                if done.is_set():
                    return
                wait = self._log_period if self._running[0].is_log else self._period
                self._refresh()

    def _first_wait(self) -> float:
        with self._lock:
            is_log = bool(self._running) and self._running[0].is_log
        return self._log_period if is_log else self._delay

    def _refresh(self) -> None:
        compiling = self._running[0]
        seconds = self._clock() - compiling.start
        if seconds < (self._log_period if compiling.is_log else self._delay):
            return
        line = f"{compiling.title}, {seconds:.1f} s"
        if compiling.is_log:
            compiling.is_logged = True
            _log(compiling.stream, line)
        else:
            self._write(compiling.stream, line)

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


def _kind_of(stream: TextIO | None) -> Literal["line", "log"] | None:
    """Return how the progress is shown on a stream; None if it is not."""
    try:
        if stream is None or (not stream.isatty() and not config.show_progress):
            return None
        is_notebook = type(stream).__module__.startswith("ipykernel.")
        return "line" if stream.isatty() or is_notebook else "log"
    except (AttributeError, ValueError):  # a stand-in, closed
        return None


def _log(stream: TextIO, line: str) -> None:
    with suppress(OSError, ValueError):  # the reader is gone
        stream.write(f"{line}\n")
        stream.flush()


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


PROGRESS: Final = Progress()
"""The progress of this process."""
