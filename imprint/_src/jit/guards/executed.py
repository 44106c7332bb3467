"""Instructions that ran in a trace.

On 3.12 and later, user code that a trace reaches is armed with local INSTRUCTION events of
`sys.monitoring`, each of which fires once and is then disabled. Nested and simultaneous
traces share one tool id, freed when the last one ends; no other tool is touched. On 3.11,
or without a free tool id, nothing is observed (`Executed.is_observed`): all reached code is
taken as executed.
"""

import sys
from collections.abc import Callable, Iterable
from threading import Lock
from types import CodeType
from typing import Any, Final, final

_Start = Callable[[CodeType, dict[str, Any] | None], None]


@final
class Executed:
    """The instructions that one trace executed.

    Args:
        start: called when a code object starts for the first time, with its globals.

    Attributes:
        is_observed: whether it is known which instructions ran.
        codes: the code objects that ran, by `id`.
        offsets: the offsets of their instructions, by `id`.
    """

    def __init__(self, start: _Start) -> None:
        self.is_observed: bool = False
        self.codes: dict[int, CodeType] = {}
        self.offsets: dict[int, set[int]] = {}
        self._whole: set[int] = set()
        self._armed: dict[int, CodeType] = {}
        self._start: _Start = start

    def begin(self) -> None:
        """Start observing."""
        self.is_observed = _begin(self)

    def end(self) -> None:
        """Stop observing."""
        _end(self)

    def close(self) -> None:
        """Release the callback."""
        self._start = _ignore

    def arm(self, code: CodeType) -> None:
        """Observe a code object, even if another trace observed it before."""
        if self.is_observed and id(code) not in self._armed:
            self._armed[id(code)] = code
            _arm(code)

    def starts(self, code: CodeType, offset: int) -> None:
        """Add the first instruction of a code object; called from the event of its frame."""
        self.add(code, (offset,), sys._getframe(2).f_globals)  # pyright: ignore[reportPrivateUsage] - the frame that runs

    def add(
        self, code: CodeType, offsets: Iterable[int], names: dict[str, Any] | None
    ) -> None:
        """Add instructions of a code object, which starts now if it is new."""
        known = self.offsets.get(id(code))
        if known is not None:
            known.update(offsets)
            return
        self.offsets[id(code)] = set(offsets)
        self.codes[id(code)] = code
        self._start(code, names)

    def add_whole(self, code: CodeType, names: dict[str, Any] | None) -> None:
        """Take all of a code object as executed."""
        if id(code) not in self._whole:
            self._whole.add(id(code))
            self.add(code, (), names)

    def add_like(
        self, code: CodeType, ran: CodeType, names: dict[str, Any] | None
    ) -> None:
        """Take the instructions of a code object as executed that ran of an equal one."""
        if id(ran) in self._whole:
            self.add_whole(code, names)
        elif id(ran) in self.offsets:
            self.add(code, self.offsets[id(ran)], names)

    def is_executed(self, code: CodeType, offset: int) -> bool:
        """Return whether an instruction ran, or may have run."""
        key = id(code)
        return key in self._whole or offset in self.offsets.get(key, ())

    def raised(self, code: CodeType, offset: int, after: int) -> bool:
        """Return whether an instruction ran and the next one did not."""
        key = id(code)
        if key in self._whole or after == offset:
            return False
        offsets = self.offsets.get(key, ())
        return offset in offsets and after not in offsets

    def is_whole(self, code: CodeType) -> bool:
        """Return whether all of a code object is taken as executed."""
        return id(code) in self._whole

    def frozen(self) -> "tuple[tuple[CodeType, frozenset[int] | None], ...]":
        """Return each code object that ran with its offsets; None stands for all."""
        return tuple(
            (code, None if key in self._whole else frozenset(self.offsets[key]))
            for key, code in self.codes.items()
        )


def _ignore(code: CodeType, names: dict[str, Any] | None) -> None:
    """Do nothing: the trace is over."""


# ---- the tool, which all traces share ----

_lock: Final = Lock()
_active: Final[list[Executed]] = []

if sys.version_info >= (3, 12):
    _monitoring: Final = sys.monitoring
    _CANDIDATES: Final = (3, 4, 1, 2, 0)
    _tools: Final[list[int]] = []
    _all_armed: Final[dict[int, CodeType]] = {}

    def _begin(executed: Executed) -> bool:
        with _lock:
            if not _tools:
                tool = next(
                    (i for i in _CANDIDATES if _monitoring.get_tool(i) is None), None
                )
                if tool is None:
                    return False
                _monitoring.use_tool_id(tool, "imprint")
                _monitoring.register_callback(
                    tool, _monitoring.events.INSTRUCTION, _observe
                )
                _tools.append(tool)
            _active.append(executed)
            return True

    def _end(executed: Executed) -> None:
        if not executed.is_observed:
            return
        with _lock:
            if executed in _active:
                _active.remove(executed)
            if _active or not _tools:
                return
            tool = _tools.pop()
            for code in _all_armed.values():
                _monitoring.set_local_events(tool, code, 0)
            _all_armed.clear()
            _monitoring.register_callback(tool, _monitoring.events.INSTRUCTION, None)
            _monitoring.free_tool_id(tool)

    def _arm(code: CodeType) -> None:
        with _lock:
            if not _tools:
                return
            tool = _tools[0]
            if id(code) in _all_armed:  # off and on: disabled events fire again
                _monitoring.set_local_events(tool, code, 0)
            _all_armed[id(code)] = code
            _monitoring.set_local_events(tool, code, _monitoring.events.INSTRUCTION)

    def _observe(code: CodeType, offset: int) -> Any:
        for executed in _active[:]:
            offsets = executed.offsets.get(id(code))
            if offsets is None:
                executed.starts(code, offset)
            else:  # hot: once an instruction
                offsets.add(offset)
        return _monitoring.DISABLE

else:

    def _begin(executed: Executed) -> bool:
        return False

    def _end(executed: Executed) -> None:
        return

    def _arm(code: CodeType) -> None:
        return
