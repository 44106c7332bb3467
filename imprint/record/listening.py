"""Listening: who is told of each function that starts while something is traced?

Here is what both ways to listen have in common (`monitoring`, `profiling`). A canary is
started before a trace and after it: when nobody tells of it (a debugger is in between, the
function took the tool), the record is what names lead to.
"""

import os
import sys
import threading
from collections.abc import Callable
from threading import get_ident
from types import CodeType, FrameType
from typing import Any, Final

from imprint.core.libraries import (
    is_foreign_file,
    is_of_library,
    is_own_code,
    is_user_code,
)
from imprint.record.absence import frames_left
from imprint.record.heard import ADDING, Hearing
from imprint.record.noted import PLAIN
from imprint.record.record import Record
from imprint.watch.seen import class_of

frame_at: Final = sys._getframe  # pyright: ignore[reportPrivateUsage] - no other way


def _canary() -> None:
    """Do nothing, but start."""


CANARY: Final = _canary.__code__
_OF_TUPLES: Final = frozenset(("__builtins__", "__name__", "_tuple_new"))
"""The names of the namespace in which `namedtuple` makes a class's `__new__`."""


class Listener:
    """Tells the recordings that are under way of each function that starts."""

    def __init__(self) -> None:
        self.recordings: tuple[Hearing, ...] = ()
        self._lock = threading.RLock()
        self._heard = False
        os.register_at_fork(after_in_child=self._renew)

    def begin(self, recording: Hearing) -> bool:
        """Start to tell a recording; return False if nothing is heard."""
        with self._lock:
            self._drop_dead()
            self._check()
            self.recordings = (*self.recordings, recording)
            return self.listen() and self.hears()

    def end(self, recording: Hearing) -> None:
        """Stop to tell a recording."""
        with self._lock:
            self._check()
            recording.frame = None
            self.recordings = tuple(r for r in self.recordings if r is not recording)
            self.leave()

    def listen(self) -> bool:
        """Have every function that starts from now on told; False if impossible."""
        raise NotImplementedError

    def leave(self) -> None:
        """Stop listening if there is no recording left."""
        raise NotImplementedError

    def add(self, recording: Hearing, action: Callable[[Record], None]) -> None:
        """Add to what is noted; what this thread runs meanwhile is told to nobody.

        To tell another recording it would wait for a thread that may wait for this one.
        """
        with recording.lock:
            try:
                ADDING.add(get_ident())
                action(recording.record)
            finally:
                ADDING.discard(get_ident())

    def add_to_all(self, action: Callable[[Record], None], frame: FrameType) -> None:
        """Add to all recordings for which what runs in a frame counts."""
        for recording in self.recordings:
            if recording.counts(frame):
                self.add(recording, action)

    def hears(self) -> bool:
        """Tell whether a function that starts now is told."""
        self._heard = False
        _canary()
        return self._heard and get_ident() not in ADDING

    def tell(self, code: CodeType, frame: FrameType) -> bool:
        """Tell of a function; return whether its later starts have nothing to add."""
        if code is CANARY:
            self._heard = True
            return False
        if code.co_filename == "<string>" and frame.f_globals.keys() == _OF_TUPLES:
            return True  # it makes a named tuple, and reads nothing
        is_library = is_foreign_file(code.co_filename)
        if is_library and all([r.knows(code, frame) for r in self.recordings]):  # noqa: C419 - a generator takes 100 ns more
            return False
        if not is_library and is_own_code(code, frame.f_globals):
            return True
        users = not is_library and is_user_code(code, frame.f_globals)
        done = code.co_name != "__exit__"
        for left in () if done else frames_left(frame.f_locals.values()):
            self.tell_failed(left.f_code, left)
        for recording in self.recordings:
            if not recording.counts(frame):
                done = False  # its own thread may be the next to start it
            elif users:
                done &= recording.start(code, frame)
                for each in recording.asked_for_results():
                    self.hear_results(each)
            else:
                done &= recording.library(code, frame)
                self.hear_results(code)
        return done

    def hear_results(self, code: CodeType) -> None:
        """Have it told what a function gives."""

    def tell_given(self, value: Any, frame: FrameType) -> None:
        """Tell of what a function gives to code that is not a library's."""
        if class_of(value) is tuple and PLAIN.issuperset(map(id, map(class_of, value))):
            return
        back = frame.f_back
        if back is not None and is_of_library(back):
            return
        is_ours = back is not None and is_own_code(back.f_code, back.f_globals)
        of_library = is_of_library(frame)
        for recording in self.recordings:
            asks = recording.record.asks_any
            if not (of_library or asks) or not recording.counts(frame):
                continue
            if of_library:
                recording.given(frame.f_code, value, is_ours=is_ours)
            if asks and back is not None and not is_ours:
                recording.taken(back.f_code, value)

    def tell_failed(self, code: CodeType, frame: FrameType) -> None:
        """Tell of a function of the user's that ends by an exception."""
        if not is_user_code(code, frame.f_globals):
            return
        for recording in self.recordings:
            if recording.counts(frame):
                recording.failed(code, frame)

    def _check(self) -> None:
        """Note it when the user's code has taken what told us."""
        here = [recording for recording in self.recordings if recording.is_here()]
        if here and not self.hears():
            for recording in here:
                recording.deaf = True

    def _drop_dead(self) -> None:
        """Drop recordings that an interrupt kept from ending: they run no more."""
        here = [recording for recording in self.recordings if recording.is_here()]
        if not here:
            return
        running: set[int] = set()
        frame: FrameType | None = frame_at(1)
        while frame is not None:
            running.add(id(frame))
            frame = frame.f_back
        for recording in here:
            if id(recording.frame) not in running:
                recording.deaf = True
                self.end(recording)

    def _renew(self) -> None:
        """Go on in the child of a fork, where no other thread is."""
        self._lock = threading.RLock()
        ADDING.clear()
        self.recordings = tuple(r for r in self.recordings if r.is_here())
        for recording in self.recordings:
            recording.renew()
        self.leave()
