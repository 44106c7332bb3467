"""What one recording hears: of which starts, results and failures a record takes note.

Whoever tells it (`listening`) may be called in the middle of any function. What goes wrong
here is kept for the end of the trace: into the user's function it could be caught.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterable
from functools import partial
from threading import get_ident
from types import CodeType, FrameType
from typing import Any, Final

from imprint.core.libraries import is_asked_by_imprint
from imprint.importing import LOADING
from imprint.record.elsewhere import Elsewhere
from imprint.record.mentions import mentions_of
from imprint.record.probe import uncover
from imprint.record.record import Record

LISTENS_ELSEWHERE: Final = sys.version_info >= (3, 12)
"""Whether a function that another thread starts is told."""
ADDING: Final[set[int]] = set()
"""The threads that add to a record: what they run meanwhile is no part of a trace."""


class Hearing:
    """Has a record note what it is told.

    Args:
        fun: the function that is traced.
        arguments: what its arguments hold as Python values, by name: what is static, a
            `Partial`'s function.
        strict: whether libraries and the contents of arrays and objects count.
    """

    __slots__ = (
        *("deaf", "frame", "lock", "record", "strict"),
        *("_elsewhere", "_error", "_files", "_giving", "_heard", "_is_sure"),
        *("_make_record", "_thread", "_variables"),
    )

    def __init__(
        self,
        fun: Callable[..., Any],
        arguments: Iterable[tuple[str, Any]] = (),
        *,
        strict: bool = False,
    ) -> None:
        given = tuple(arguments)
        self._make_record = partial(Record, fun, given, strict=strict)
        self.record: Record = self._make_record()
        self.strict: bool = strict
        self.deaf: bool = False
        """Whether something may have started untold."""
        self._error: BaseException | None = None
        self.frame: FrameType | None = None
        """The one that traces, while it does."""
        # Work that was handed over starts elsewhere.
        self.lock: threading.RLock = threading.RLock()
        self._files: set[str] = set()  # where libraries' code is that ran
        self._variables: set[tuple[str, str | None]] = set()
        self._is_sure: bool = True
        self._elsewhere = Elsewhere()
        self._giving: dict[int, CodeType] = {}
        """The user's code of which it is told what it gives; by `id`: kept alive."""
        self._heard: dict[int, tuple[CodeType, bool]] = {}
        """Libraries' code that started; whether later starts have nothing to add."""
        self._thread = get_ident()

    def start(self, code: CodeType, frame: FrameType) -> bool:
        """Note what a function reads that starts now; see `Record.start`."""
        try:
            with self.lock:
                if self._thread == get_ident():
                    self._elsewhere.begins(code)
                return self.record.start(code, frame)
        except BaseException as error:
            return self._keep(error)

    def failed(self, code: CodeType, frame: FrameType) -> None:
        """Note what a function did not find that ends by an exception."""
        self._note(lambda record: record.failed(code, frame))

    def given(self, code: CodeType, value: Any, *, is_ours: bool) -> None:
        """Note what a library's function gives, which may be the user's."""
        self._note(lambda record: record.give(value, code.co_name, is_ours=is_ours))

    def taken(self, code: CodeType, value: Any) -> None:
        """Note what the user's code takes of a result, by names that are worked out."""
        self._note(lambda record: record.take_result(code, value))

    def _note(self, note: Callable[[Record], None]) -> None:
        try:
            with self.lock:
                note(self.record)
        except RecursionError:
            self.deaf = True
        except BaseException as error:  # not into the user's function
            self._error = error

    def asked_for_results(self) -> Iterable[CodeType]:
        """Return the user's code of which it is to be told what it gives, once."""
        if not self.record.asks_any:
            return ()
        new = [code for code in self.record.codes if id(code) not in self._giving]
        self._giving.update((id(code), code) for code in new)
        return new

    def library(self, code: CodeType, frame: FrameType) -> bool:
        """Note what a library's function reads; see `Record.library`.

        Returns:
            Whether later starts of the same code have nothing to add.
        """
        try:
            with self.lock:
                if id(code) in self._heard:  # a trace inside has all told again
                    done = self._heard[id(code)][1]
                    return done or self.record.library(code, frame)
                self._files.add(code.co_filename)
                asks = self._asks_environment(code, frame)
                handed = self._hands_over(code, frame)
                mentions = mentions_of(code)
                if mentions.reads_any and is_asked_by_imprint(frame):
                    return False
                if mentions.reads_whole:
                    uncover(frame.f_locals.values())
                done = self.record.library(code, frame)
                if asks or handed or mentions.reads_whole:
                    return False
                self._heard[id(code)] = code, done
                return done
        except BaseException as error:
            return self._keep(error)

    def knows(self, code: CodeType, frame: FrameType) -> bool:
        """Tell whether code was heard, and is given nothing new; hot."""
        try:
            return id(code) in self._heard and self.record.knows(code, frame)
        except BaseException as error:
            return self._keep(error)

    def _keep(self, error: BaseException) -> bool:
        """Keep an error for the end: into the user's function it could be caught."""
        if isinstance(error, RecursionError):  # which may be about to deal with it
            self.deaf = True
            raise error
        self._error = error
        if not isinstance(error, Exception):
            raise error
        return True

    def _hands_over(self, code: CodeType, frame: FrameType) -> bool:
        """Note what is handed to another thread, if anything."""
        handed = self._elsewhere.hands_over(code, frame)
        self._is_sure &= handed is None
        if handed and not LISTENS_ELSEWHERE:
            self.record.walk(handed)
        return handed is not None

    def _asks_environment(self, code: CodeType, frame: FrameType) -> bool:
        """Note which variable of the environment is read, if any."""
        if not code.co_qualname.startswith("_Environ."):
            return False
        name: Any = frame.f_locals.get("key")
        is_ours = frame.f_locals.get("self") is os.environ
        if is_ours and code.co_name == "__getitem__" and type(name) is str:
            self._variables.add((name, os.environ.get(name)))
        else:
            self._is_sure = False
        return True

    def is_here(self) -> bool:
        """Tell whether the thread that asks is the one that traces."""
        return self._thread == get_ident()

    def counts(self, frame: FrameType) -> bool:
        """Tell whether what runs in a frame, in this thread, is a part of the trace."""
        thread = get_ident()
        if thread in ADDING or thread in LOADING:
            return False
        is_here = self._thread == thread
        return is_here or self._elsewhere.serves(frame, self.record.reaches)

    def renew(self) -> None:
        """Make the lock anew, in the child of a fork."""
        self.lock = threading.RLock()
