"""Listening by `sys.setprofile`, on 3.11, in each thread that records.

A profiler that was set before is told too. Beside one that is written in C, which tells
nothing, `sys.settrace` does it.
"""

import sys
from opcode import opmap
from threading import get_ident
from types import FrameType
from typing import Any, Final, final

from imprint.core.libraries import is_called_by_library, own_file
from imprint.record.hook import SET_PROFILE, Hook, Profiler
from imprint.record.listening import CANARY, Listener
from imprint.record.noted import PLAIN
from imprint.watch.seen import class_of

_RETURN: Final = opmap["RETURN_VALUE"]


@final
class Profiling(Listener):
    """Listens by `sys.setprofile`, in each thread that records."""

    def __init__(self) -> None:
        super().__init__()
        self._hooks: dict[int, Hook] = {}

    def listen(self) -> bool:
        """Have what this thread starts from now on told; False beside what cannot share."""
        hook = self._hooks.get(get_ident())
        if hook is None or not hook.is_set():
            current: Any = sys.getprofile()
            if current is None and hook is not None and not hook.touched:
                current = hook.before
            if current is None or callable(current):
                hook = self._make_hook(current, traces=False)
            elif sys.gettrace() is None:  # a profiler written in C tells nothing
                hook = self._make_hook(None, traces=True)
            else:
                return False
            self._hooks[get_ident()] = hook
            hook.set()
        hook.touched = False
        return True

    def leave(self) -> None:
        """Stop listening in this thread if it has no recording left."""
        if any(recording.is_here() for recording in self.recordings):
            return
        hook = self._hooks.pop(get_ident(), None)
        if hook is not None:
            hook.unset()

    def hears(self) -> bool:
        """Tell whether a function that starts now, in this thread, is told."""
        hook = self._hooks.get(get_ident())
        return hook is not None and not hook.touched and super().hears()

    def _on_other(self, hook: Hook, frame: FrameType, arg: object) -> None:
        """Take in what starts no function of Python's.

        A profiler is set, which is told before and afterwards; or a function gives
        something, or ends by an exception.
        """
        if arg is SET_PROFILE:
            hook.touched = True
        elif arg is not None:
            if not (id(class_of(arg)) in PLAIN or is_called_by_library(frame)):
                self.tell_given(arg, frame)
        elif frame.f_code.co_code[frame.f_lasti] != _RETURN:
            self.tell_failed(frame.f_code, frame)

    def _make_hook(self, before: Profiler | None, *, traces: bool) -> Hook:
        hook = Hook(before, traces=traces)
        known = hook.known

        def on_event(frame: FrameType, event: str, arg: Any) -> None:
            if event == "call":
                code = frame.f_code
                if own_file(code.co_filename) and code is not CANARY:
                    return
                # A new recording has everything told again, as on 3.12.
                entry = known.get(id(code))
                recordings = self.recordings
                if entry is not None and entry[1] is recordings:
                    return
                if not recordings:  # the user's code has kept it, and set it again
                    hook.unset()
                elif self.tell(code, frame):
                    known[id(code)] = code, recordings
            elif (event == "return" or arg is SET_PROFILE) and not own_file(
                frame.f_code.co_filename
            ):
                self._on_other(hook, frame, arg)

        hook.ours = on_event
        if before is not None:
            told = before

            def chained(frame: FrameType, event: str, arg: Any) -> None:
                on_event(frame, event, arg)
                told(frame, event, arg)

            hook.ours = chained
        return hook
