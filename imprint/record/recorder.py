"""The recorder: which functions run while something is traced.

From 3.12 `sys.monitoring` tells of each function that starts; a library's is turned off
at its first start (`DISABLE`), imprint's own unheard, so a trace of 300 equations takes 0.1 ms more. A location
that is off stays off for a tool, even for one that registers again, until all of them
are turned on (`restart_events`). So one tool id is claimed for life, each trace turns
everything on, and starts a canary: when nobody tells of it (a debugger is in between, no
id is free), the record is what names lead to. On 3.11 `sys.setprofile` tells, and an
existing profiler is told too. What other threads run is not part of the trace.
"""

import sys
import threading
from collections.abc import Callable, Iterable
from threading import get_ident
from types import CodeType, FrameType, TracebackType
from typing import Any, Final, Self, final

from imprint.core.libraries import is_own_code, is_user_code, own_file
from imprint.record.record import Record
from imprint.watch.seen import Findings


@final
class Recording:
    """Records what is read while something is traced; use it in a `with`.

    Args:
        fun: the function that will be traced.
        arguments: what its arguments hold as Python values, by name: what is static, a
            `Partial`'s function.
        strict: whether libraries and the contents of arrays and objects count.
    """

    __slots__ = ("_error", "_heard", "_thread", "by_names", "findings", "record")

    def __init__(
        self,
        fun: Callable[..., Any],
        arguments: Iterable[tuple[str, Any]] = (),
        *,
        strict: bool = False,
    ) -> None:
        self.record: Record = Record(fun, arguments, strict=strict)
        self.findings = Findings((), ())
        self.by_names = False
        self._error: Exception | None = None
        self._heard: dict[int, CodeType] = {}
        self._thread = get_ident()

    def __enter__(self) -> Self:
        try:
            self.by_names: bool = not _listener.begin(self)
            if self.by_names:
                self.record.walk()
        except BaseException:  # an interrupt
            _listener.end(self)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _listener.end(self)
        if error is None:
            if self._error is not None:
                raise self._error
            self.findings: Findings = self.record.settle()
        for outer in _listener.recordings:
            if outer.is_here():
                outer.record.merge(self.record)

    def start(self, code: CodeType, frame: FrameType) -> bool:
        """Note what a function reads that starts now; see `Record.start`."""
        try:
            return self.record.start(code, frame)
        except Exception as error:  # not into the user's function: it could be caught
            self._error = error
            return True

    def library(self, code: CodeType, frame: FrameType) -> None:
        """Note once what a library's function reads; see `Record.library`."""
        if id(code) in self._heard:  # a trace inside has everything told again
            return
        self._heard[id(code)] = code
        try:
            self.record.library(code, frame)
        except Exception as error:
            self._error = error

    def is_here(self) -> bool:
        """Tell whether the thread that asks is the one that traces."""
        return self._thread == get_ident()


def contribute(findings: Findings, fun: Callable[..., Any]) -> None:
    """Add what an earlier trace found to the recordings that are under way.

    To be called when a trace takes the result of an earlier one instead of tracing.

    Args:
        findings: of the earlier trace.
        fun: the function that is called now; its token is that of the one traced then.
    """
    for recording in _listener.recordings:
        if recording.is_here():
            recording.record.adopt(findings, fun)


def _canary() -> None:
    """Do nothing, but start."""


_CANARY: Final = _canary.__code__


class _Listener:
    """Tells the recordings that are under way of each function that starts."""

    def __init__(self) -> None:
        self.recordings: tuple[Recording, ...] = ()
        self._lock = threading.RLock()
        self._heard = False

    def begin(self, recording: Recording) -> bool:
        """Start to tell a recording; return False if nothing is heard."""
        with self._lock:
            self.recordings = (*self.recordings, recording)
            self._heard = False
            if not self.listen():
                return False
            _canary()
            return self._heard

    def end(self, recording: Recording) -> None:
        """Stop to tell a recording."""
        with self._lock:
            self.recordings = tuple(r for r in self.recordings if r is not recording)
            self.leave()

    def listen(self) -> bool:
        """Have every function that starts from now on told; False if impossible."""
        raise NotImplementedError

    def leave(self) -> None:
        """Stop listening if there is no recording left."""
        raise NotImplementedError

    def tell(self, code: CodeType, frame: FrameType) -> bool:
        """Tell of a function; return whether its later starts have nothing to add."""
        if code is _CANARY:
            self._heard = True
            return True
        if is_own_code(code, frame.f_globals):
            return True
        users = is_user_code(code, frame.f_globals)
        done = True
        for recording in self.recordings:
            if not recording.is_here():  # its own thread may be the next to start it
                done = False
            elif users:
                done &= recording.start(code, frame)
            else:
                recording.library(code, frame)
        return done


if sys.version_info >= (3, 12):
    _MONITORING = sys.monitoring
    _IDS = (4, 3, 5)  # the first two have no meaning of their own

    @final
    class _Monitoring(_Listener):
        """Listens by `sys.monitoring`."""

        def __init__(self) -> None:
            super().__init__()
            self._tool: int | None = None

        def listen(self) -> bool:
            if self._tool is None:
                self._tool = self._claim()
            if self._tool is None:
                return False
            _MONITORING.set_events(self._tool, _MONITORING.events.PY_START)
            _MONITORING.restart_events()
            return True

        def leave(self) -> None:
            if self._tool is not None and not self.recordings:
                _MONITORING.set_events(self._tool, 0)

        def _claim(self) -> int | None:
            for tool in _IDS:
                if _MONITORING.get_tool(tool) is None:
                    _MONITORING.use_tool_id(tool, "imprint")
                    _MONITORING.register_callback(
                        tool, _MONITORING.events.PY_START, self._on_start
                    )
                    return tool
            return None

        def _on_start(self, code: CodeType, _: int) -> Any:
            if own_file(code.co_filename) and code is not _CANARY:
                return _MONITORING.DISABLE
            done = self.tell(code, sys._getframe(1))
            return _MONITORING.DISABLE if done else None

    # One for the process: what it claims is the interpreter's, and claimed for life.
    _listener: Final = _Monitoring()

else:
    _Profiler = Callable[[FrameType, str, Any], object]

    @final
    class _Profile(_Listener):
        """Listens by `sys.setprofile`, in each thread that records."""

        def __init__(self) -> None:
            super().__init__()
            self._hooks: dict[int, tuple[_Profiler, _Profiler | None]] = {}

        def listen(self) -> bool:
            current: Any = sys.getprofile()
            ours, _ = self._hooks.get(get_ident(), (None, None))
            if ours is None or current is not ours:
                if current is not None and not callable(current):
                    return False  # written in C: it cannot be told of what happens
                ours = self._hook(current)
                self._hooks[get_ident()] = ours, current
            sys.setprofile(ours)
            return True

        def leave(self) -> None:
            if any(recording.is_here() for recording in self.recordings):
                return
            ours, before = self._hooks.pop(get_ident(), (None, None))
            if ours is not None and sys.getprofile() is ours:
                sys.setprofile(before)

        def _hook(self, before: _Profiler | None) -> _Profiler:
            known: dict[int, tuple[Any, ...]] = {}

            def on_event(frame: FrameType, event: str, _: Any) -> None:
                if event == "call":
                    code = frame.f_code
                    if own_file(code.co_filename) and code is not _CANARY:
                        return
                    # A new recording has everything told again, as on 3.12.
                    entry = known.get(id(code))
                    if entry is not None and entry[1] is self.recordings:
                        return
                    recordings = self.recordings
                    if self.tell(code, frame):
                        known[id(code)] = code, recordings

            if before is None:
                return on_event

            def chained(frame: FrameType, event: str, arg: Any) -> None:
                on_event(frame, event, arg)
                before(frame, event, arg)

            return chained

    _listener: Final = _Profile()
