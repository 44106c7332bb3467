"""The recorder: which functions run while something is traced.

From 3.12 `sys.monitoring` tells of each that starts or is resumed; a library's is turned
off at its first start (`DISABLE`). A location that is off stays off for a tool, even for
one that registers again, until all are turned on (`restart_events`), so each trace does
that. On 3.11 `sys.setprofile` tells, and an existing profiler is told too; beside one
written in C, `sys.settrace`. A canary is started before and after: when nobody tells of
it (a debugger is in between, the function took the tool), the record is what names lead
to. Which work of other threads is a part of the trace is told by `elsewhere`.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterable
from functools import partial
from opcode import opmap
from threading import get_ident
from types import CodeType, FrameType, TracebackType
from typing import Any, Final, Self, final

from imprint.core.libraries import (
    is_asked_by_imprint,
    is_called_by_library,
    is_foreign_file,
    is_of_library,
    is_own_code,
    is_user_code,
    own_file,
)
from imprint.importing import LOADING
from imprint.record.absence import frames_left
from imprint.record.elsewhere import Elsewhere
from imprint.record.hook import SET_PROFILE, Hook, Profiler
from imprint.record.mentions import mentions_of
from imprint.record.noted import PLAIN
from imprint.record.probe import uncover
from imprint.record.record import Record
from imprint.watch.seen import Findings, Ran, class_of

_frame: Final = sys._getframe  # pyright: ignore[reportPrivateUsage] - no other way


@final
class Recording:
    """Records what is read while something is traced; use it in a `with`.

    Args:
        fun: the function that will be traced.
        arguments: what its arguments hold as Python values, by name: what is static, a
            `Partial`'s function.
        strict: whether libraries and the contents of arrays and objects count.
    """

    __slots__ = (
        *("by_names", "deaf", "findings", "frame", "lock", "record", "strict"),
        *("_elsewhere", "_error", "_files", "_heard", "_is_sure", "_make_record"),
        *("_thread", "_variables"),
    )

    def __init__(
        self,
        fun: Callable[..., Any],
        arguments: Iterable[tuple[str, Any]] = (),
        *,
        strict: bool = False,
    ) -> None:
        self._make_record = partial(Record, fun, tuple(arguments), strict=strict)
        self.record: Record = self._make_record()
        self.strict = strict
        self.findings = Findings((), ())
        self.by_names = False
        self.deaf: bool = False
        """Whether something may have started untold."""
        self.frame: FrameType | None = None
        # Work that was handed over starts elsewhere.
        self.lock: threading.RLock = threading.RLock()
        self._error: BaseException | None = None
        self._elsewhere = Elsewhere()
        self._heard: dict[int, tuple[CodeType, bool]] = {}
        """Libraries' code that started; whether later starts have nothing to add."""
        self._files: set[str] = set()  # where libraries' code is that ran
        self._variables: set[tuple[str, str | None]] = set()
        self._is_sure = True
        self._thread = get_ident()

    def __enter__(self) -> Self:
        self.frame = _frame(1)
        try:
            self.by_names: bool = not _listener.begin(self)
            if self.by_names:
                uncover()
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
        try:
            _listener.end(self)
        except BaseException:  # an interrupt
            _listener.end(self)
            raise
        if error is None:
            if self._error is not None:
                raise self._error
            if self.deaf:
                uncover()
            _listener.add(self, self._settle)
        _listener.add_to_all(lambda outer: outer.merge(self.record), _frame(1))

    def _settle(self, record: Record) -> None:
        if self.deaf and not self.by_names:
            late = self._make_record()
            late.walk()
            record.merge(late)
            record.take(late.settle().reads)
        is_sure = self._is_sure and not (self.deaf or self.by_names)
        files, variables = frozenset(self._files), frozenset(self._variables)
        record.ran_also(Ran((), files, variables, is_sure))
        self.findings: Findings = record.settle()

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
        try:
            with self.lock:
                self.record.failed(code, frame)
        except RecursionError:
            self.deaf = True
        except BaseException as error:  # not into the function that calls the user's
            self._error = error

    def given(self, code: CodeType, value: Any, *, is_ours: bool) -> None:
        """Note what a library's function gives, which may be the user's."""
        try:
            with self.lock:
                self.record.give(value, code.co_name, is_ours=is_ours)
        except RecursionError:
            self.deaf = True
        except BaseException as error:  # not into the user's function
            self._error = error

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
            self._is_sure: bool = False
        return True

    def is_here(self) -> bool:
        """Tell whether the thread that asks is the one that traces."""
        return self._thread == get_ident()

    def counts(self, frame: FrameType) -> bool:
        """Tell whether what runs in a frame, in this thread, is a part of the trace."""
        thread = get_ident()
        if thread in _listener.adding or thread in LOADING:
            return False
        is_here = self._thread == thread
        return is_here or self._elsewhere.serves(frame, self.record.reaches)

    def renew(self) -> None:
        """Make the lock anew, in the child of a fork."""
        self.lock = threading.RLock()


def is_strict() -> bool:
    """Tell whether a trace is under way in this thread for which contents count."""
    return any(x.strict and x.is_here() for x in _listener.recordings)


def contribute(findings: Findings, fun: Callable[..., Any]) -> None:
    """Add what an earlier trace found to the recordings that are under way.

    To be called when a trace takes the result of an earlier one instead of tracing.

    Args:
        findings: of the earlier trace.
        fun: the function that is called now; its token is that of the one traced then.
    """
    _listener.add_to_all(lambda record: record.adopt(findings, fun), _frame(1))


def expect(functions: Iterable[Any], values: Iterable[Any] = ()) -> None:
    """Add what functions read that may start when a trace is over to what it read.

    To be called where such functions are handed to a trace: the rule of a derivative,
    which runs when the program is differentiated.

    Args:
        functions: the user's.
        values: Python values that they will be given.
    """
    given = (*functions,), (*values,)
    _listener.add_to_all(lambda record: record.expect(*given), _frame(1))


def _canary() -> None:
    """Do nothing, but start."""


_CANARY: Final = _canary.__code__


class _Listener:
    """Tells the recordings that are under way of each function that starts."""

    def __init__(self) -> None:
        self.recordings: tuple[Recording, ...] = ()
        self._lock = threading.RLock()
        self.adding: set[int] = set()  # the threads that are in `add`
        self._heard = False
        os.register_at_fork(after_in_child=self._renew)

    def begin(self, recording: Recording) -> bool:
        """Start to tell a recording; return False if nothing is heard."""
        with self._lock:
            self._drop_dead()
            self._check()
            self.recordings = (*self.recordings, recording)
            return self.listen() and self.hears()

    def end(self, recording: Recording) -> None:
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

    def add(self, recording: Recording, action: Callable[[Record], None]) -> None:
        """Add to what is noted; what this thread runs meanwhile is told to nobody.

        To tell another recording it would wait for a thread that may wait for this one.
        """
        with recording.lock:
            try:
                self.adding.add(get_ident())
                action(recording.record)
            finally:
                self.adding.discard(get_ident())

    def add_to_all(self, action: Callable[[Record], None], frame: FrameType) -> None:
        """Add to all recordings for which what runs in a frame counts."""
        for recording in self.recordings:
            if recording.counts(frame):
                self.add(recording, action)

    def hears(self) -> bool:
        """Tell whether a function that starts now is told."""
        self._heard = False
        _canary()
        return self._heard and get_ident() not in self.adding

    def tell(self, code: CodeType, frame: FrameType) -> bool:
        """Tell of a function; return whether its later starts have nothing to add."""
        if code is _CANARY:
            self._heard = True
            return False
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
            else:
                done &= recording.library(code, frame)
                self.hear_results(code)
        return done

    def hear_results(self, code: CodeType) -> None:
        """Have it told what a library's function gives."""

    def tell_given(self, value: Any, frame: FrameType) -> None:
        """Tell of what a library's function gives to code that is not a library's."""
        if class_of(value) is tuple and PLAIN.issuperset(map(id, map(class_of, value))):
            return
        back = frame.f_back
        if not is_of_library(frame) or (back is not None and is_of_library(back)):
            return
        is_ours = back is not None and is_own_code(back.f_code, back.f_globals)
        for recording in self.recordings:
            if recording.counts(frame):
                recording.given(frame.f_code, value, is_ours=is_ours)

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
        frame: FrameType | None = _frame(1)
        while frame is not None:
            running.add(id(frame))
            frame = frame.f_back
        for recording in here:
            if id(recording.frame) not in running:
                recording.deaf = True
                self.end(recording)

    def _renew(self) -> None:
        """Go on in the child of a fork, where no other thread is."""
        self._lock, self.adding = threading.RLock(), set()
        self.recordings = tuple(r for r in self.recordings if r.is_here())
        for recording in self.recordings:
            recording.renew()
        self.leave()


LISTENS_ELSEWHERE: Final = sys.version_info >= (3, 12)
"""Whether a function that another thread starts is told."""

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
    class _Monitoring(_Listener):
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
            if own_file(code.co_filename) and code is not _CANARY:
                return _MONITORING.DISABLE
            recordings = self.recordings
            done = self.tell(code, _frame(1))
            # One that began meanwhile, in another thread, has turned this on again and
            # was not told. No other thread runs between this look and the end.
            is_same = self.recordings is recordings
            return _DISABLE if done and is_same else None

        def _on_give(self, code: CodeType, _: int, value: object) -> Any:
            if not self.recordings:  # also when the interpreter has taken all down
                return _DISABLE
            if id(class_of(value)) in PLAIN or is_called_by_library(_frame(1)):
                return None
            self._gave[id(code)] = count = self._gave.get(id(code), 0) + 1
            if count > _GIVEN:
                return _DISABLE  # to turn it on again costs more than to have it told
            self.tell_given(value, _frame(1))
            return None

        def _on_throw(self, code: CodeType, _: int, __: BaseException) -> None:
            self.tell(code, _frame(1))

        def _on_unwind(self, code: CodeType, _: int, error: BaseException) -> None:
            if issubclass(type(error), AttributeError):
                self.tell_failed(code, _frame(1))

    # One for the process: what it claims is the interpreter's.
    _listener: Final = _Monitoring()

else:
    _RETURN: Final = opmap["RETURN_VALUE"]

    @final
    class _Profile(_Listener):
        """Listens by `sys.setprofile`, in each thread that records."""

        def __init__(self) -> None:
            super().__init__()
            self._hooks: dict[int, Hook] = {}

        def listen(self) -> bool:
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
            if any(recording.is_here() for recording in self.recordings):
                return
            hook = self._hooks.pop(get_ident(), None)
            if hook is not None:
                hook.unset()

        def hears(self) -> bool:
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
                    if own_file(code.co_filename) and code is not _CANARY:
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

    _listener: Final = _Profile()
