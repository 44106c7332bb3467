"""Listening by `sys.monitoring`, from 3.12: it tells of each function, in all threads.

A library's function is turned off at its first start (`DISABLE`). A location that is off
stays off for a tool, even for one that registers again, until all are turned on
(`restart_events`), so each trace does that.
"""

import sys
from types import CodeType
from typing import Any, Final, final

from imprint.core.libraries import is_called_by_library, own_file
from imprint.record.listening import CANARY, Listener, frame_at
from imprint.record.noted import PLAIN
from imprint.watch.seen import class_of

if sys.version_info >= (3, 12):
    _MONITORING = sys.monitoring
    _DISABLE: Final = sys.monitoring.DISABLE
    _EVENTS = _MONITORING.events
    _GIVES: Final = _EVENTS.PY_RETURN | _EVENTS.PY_YIELD
    _GIVEN: Final = 1024
    """Results of one function after which no object is expected."""
    _IDS = (4, 3, 5)  # the first two have no meaning of their own
    _NAME = "imprint"

    @final
    class Monitoring(Listener):
        """Listens by `sys.monitoring`."""

        def __init__(self) -> None:
            super().__init__()
            self._tool: int | None = None
            self._giving: dict[int, CodeType] = {}  # kept alive, as it is known by `id`
            self._gave: dict[int, int] = {}
            """How often libraries' code gave something in the traces under way."""

        def hear_results(self, code: CodeType) -> None:
            """Have it told what a library's function gives."""
            if id(code) not in self._giving and self._is_ours():
                self._giving[id(code)] = code
                _MONITORING.set_local_events(self._tool, code, _GIVES)

        def listen(self) -> bool:
            """Have every function that starts from now on told; False if no tool is free."""
            if not self._is_ours():
                self._tool = self._claim()
            tool = self._tool
            if tool is None:
                return False
            _MONITORING.register_callback(tool, _EVENTS.PY_START, self._on_start)
            # A generator may have been started before, and be resumed or stopped now.
            _MONITORING.register_callback(tool, _EVENTS.PY_RESUME, self._on_start)
            _MONITORING.register_callback(tool, _EVENTS.PY_THROW, self._on_throw)
            _MONITORING.register_callback(tool, _EVENTS.PY_UNWIND, self._on_unwind)
            _MONITORING.register_callback(tool, _EVENTS.PY_RETURN, self._on_give)
            _MONITORING.register_callback(tool, _EVENTS.PY_YIELD, self._on_give)
            events = _EVENTS.PY_START | _EVENTS.PY_RESUME | _EVENTS.PY_THROW
            _MONITORING.set_events(tool, events | _EVENTS.PY_UNWIND)
            _MONITORING.restart_events()
            return True

        def leave(self) -> None:
            """Stop listening if there is no recording left."""
            if self._tool is None or self.recordings:
                return
            if _MONITORING.get_tool(self._tool) is None:  # freed, with its events on
                _MONITORING.use_tool_id(self._tool, _NAME)
            if self._is_ours():
                _MONITORING.set_events(self._tool, 0)
            self._gave.clear()

        def _is_ours(self) -> bool:
            """Tell whether the user's code has left the tool to us."""
            return self._tool is not None and _MONITORING.get_tool(self._tool) == _NAME

        def _claim(self) -> int | None:
            for tool in _IDS:
                if _MONITORING.get_tool(tool) is None:
                    _MONITORING.use_tool_id(tool, _NAME)
                    return tool
            return None

        def _on_start(self, code: CodeType, _: int) -> Any:
            if own_file(code.co_filename) and code is not CANARY:
                return _MONITORING.DISABLE
            recordings = self.recordings
            done = self.tell(code, frame_at(1))
            # One that began meanwhile, in another thread, has turned this on again and
            # was not told. No other thread runs between this look and the end.
            is_same = self.recordings is recordings
            return _DISABLE if done and is_same else None

        def _on_give(self, code: CodeType, _: int, value: object) -> Any:
            if not self.recordings:  # also when the interpreter has taken all down
                return _DISABLE
            if id(class_of(value)) in PLAIN or is_called_by_library(frame_at(1)):
                return None
            self._gave[id(code)] = count = self._gave.get(id(code), 0) + 1
            if count > _GIVEN:
                return _DISABLE  # to turn it on again costs more than to have it told
            self.tell_given(value, frame_at(1))
            return None

        def _on_throw(self, code: CodeType, _: int, __: BaseException) -> None:
            self.tell(code, frame_at(1))

        def _on_unwind(self, code: CodeType, _: int, error: BaseException) -> None:
            if issubclass(type(error), AttributeError):
                self.tell_failed(code, frame_at(1))
