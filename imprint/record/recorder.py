"""The recorder: what is read while something is traced.

`sys.monitoring` tells of each function that starts, or `sys.setprofile` on 3.11; where
neither does, the record is what names lead to. Which work of other threads is a part of the
trace is told by `elsewhere`.
"""

import sys
from collections.abc import Callable, Iterable
from types import FrameType, TracebackType
from typing import Any, Final, Self, final

from imprint.record.heard import Hearing
from imprint.record.listening import Listener, frame_at
from imprint.record.probe import uncover
from imprint.record.record import Record
from imprint.watch.seen import Findings, Ran

if sys.version_info >= (3, 12):
    from imprint.record.monitoring import Monitoring as _Listening
else:
    from imprint.record.profiling import Profiling as _Listening


@final
class Recording(Hearing):
    """Records what is read while something is traced; use it in a `with`.

    Args: as of `Hearing`.

    Attributes:
        findings: what was read, when the trace is over.
        by_names: whether nobody tells what runs.
    """

    __slots__ = ("by_names", "findings")

    def __enter__(self) -> Self:
        self.findings: Findings = Findings((), ())
        self.frame: FrameType | None = frame_at(1)
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
        _listener.add_to_all(lambda outer: outer.merge(self.record), frame_at(1))

    def _settle(self, record: Record) -> None:
        if self.deaf and not self.by_names:
            late = self._make_record()
            late.walk()
            record.merge(late)
            record.take(late.settle().reads)
        is_sure = self._is_sure and not (self.deaf or self.by_names)
        files, variables = frozenset(self._files), frozenset(self._variables)
        record.ran_also(Ran((), files, variables, is_sure))
        self.findings = record.settle()


def is_strict() -> bool:
    """Tell whether a trace is under way in this thread for which contents count."""
    return any(x.strict and x.is_here() for x in _listener.recordings)


def contribute(
    findings: Findings,
    fun: Callable[..., Any],
    arguments: Callable[[], Iterable[tuple[str, Any]]] = tuple,
) -> None:
    """Add what an earlier trace found to the recordings that are under way.

    To be called when a trace takes the result of an earlier one instead of tracing.

    Args:
        findings: of the earlier trace.
        fun: the function that is called now; its token is that of the one traced then.
        arguments: returns what its arguments hold as Python values, by name; they are
            equal to those of then.
    """
    _listener.add_to_all(
        lambda record: record.adopt(findings, fun, arguments()), frame_at(1)
    )


def expect(functions: Iterable[Any], values: Iterable[Any] = ()) -> None:
    """Add what functions read that may start when a trace is over to what it read.

    To be called where such functions are handed to a trace: the rule of a derivative,
    which runs when the program is differentiated.

    Args:
        functions: the user's.
        values: Python values that they will be given.
    """
    given = (*functions,), (*values,)
    _listener.add_to_all(lambda record: record.expect(*given), frame_at(1))


# One for the process: what it claims is the interpreter's.
_listener: Final[Listener] = _Listening()
