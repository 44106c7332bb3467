"""The compile log of a run: compiles of each jitted function, with reasons and seconds.

It observes every miss of the process. Functions that one line creates, such as a lambda in
a loop, are one row. Versions count their own calls. A version may be dropped before the
end, at a miss, so each miss reads all counts.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final
from weakref import ref

from imprint._src.diagnostics.source import is_library
from imprint._src.jit.explain.explanation import Explanation
from imprint._src.jit.versions.definitions import DEFINITIONS
from imprint._src.jit.versions.version import Version, VersionCosts


class Miss(NamedTuple):
    """A call that compiled a version or was traced again, with reason and seconds."""

    why: Explanation
    costs: VersionCosts

    @property
    def reason(self) -> str:
        """The reason in a few words: `static n: 3 → 4`."""
        return "; ".join(map(str, self.why.differences)) or "first call"

    @property
    def remedies(self) -> tuple[str, ...]:
        """The remedies."""
        return tuple(dict.fromkeys(d.remedy for d in self.why.differences))

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        seconds = {f"{name}_s": s for name, s in self.costs._asdict().items()}
        return {"reason": self.reason, **seconds, **self.why.as_dict()}


@dataclass(slots=True)
class Row:
    """Compiles of the functions of one name and place.

    Args:
        function: their name.
        defined: their place, as `/path/file.py:12`; empty if unknown.
        misses: the calls that compiled a version, in their order, and those that were
            traced again to find that a version answers.
        calls: the last known number of calls of each version.
    """

    function: str
    defined: str
    misses: list[Miss] = field(default_factory=list[Miss])
    calls: dict[ref[Version], int] = field(default_factory=dict[ref[Version], int])

    @property
    def is_library(self) -> bool:
        """Whether the functions are imprint's own, such as those of random numbers."""
        return is_library(self.defined)

    @property
    def versions(self) -> int:
        """The number of compiled versions."""
        return sum(not miss.why.hit for miss in self.misses)

    @property
    def recompiles(self) -> int:
        """The number of versions compiled because something differed from an earlier one.

        Functions of one line, such as a list of lambdas, each have a first call.
        """
        whys = [miss.why for miss in self.misses]
        return sum(bool(why.differences) and not why.hit for why in whys)

    @property
    def needless(self) -> int:
        """The number of recompiles that gave the program of an earlier version."""
        whys = [miss.why for miss in self.misses]
        return sum(why.is_needless and not why.hit for why in whys)

    @property
    def retraces(self) -> int:
        """The number of calls that were traced again and then hit a version."""
        return sum(miss.why.hit for miss in self.misses)

    @property
    def hits(self) -> int:
        """The number of calls that hit a version."""
        return max(0, sum(self.calls.values()) - len(self.misses))

    @property
    def costs(self) -> VersionCosts:
        """The seconds of all misses."""
        parts = [miss.costs for miss in self.misses]
        return VersionCosts(*[sum(seconds) for seconds in zip(*parts, strict=True)])

    def read_calls(self) -> None:
        """Update the numbers of calls of the versions."""
        for known in self.calls:
            version = known()
            if version is not None:
                self.calls[known] = version.calls

    def as_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        seconds = {f"{name}_s": s for name, s in self.costs._asdict().items()}
        return {
            "function": self.function,
            "defined": self.defined,
            "library": self.is_library,
            "versions": self.versions,
            "recompiles": self.recompiles,
            "needless": self.needless,
            "retraces": self.retraces,
            "hits": self.hits,
            **seconds,
            "misses": [miss.as_dict() for miss in self.misses],
        }


@final
class CompileLog:
    """An `Observer` that logs every miss."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], Row] = {}
        self._lock = threading.RLock()

    def missed(self, miss: Explanation) -> None:
        """Update the calls of all versions: a new version may evict some."""
        with self._lock:
            for row in self._rows.values():
                row.read_calls()

    def failed(self, miss: Explanation) -> None:
        """Log nothing: the user sees the error."""

    def compiled(self, miss: Explanation, costs: VersionCosts) -> None:
        """Log a new version."""
        with self._lock:
            place = miss.defined, miss.function
            row = self._rows.setdefault(place, Row(miss.function, miss.defined))
            row.misses.append(Miss(miss, costs))
            row.calls.update(
                {ref(v.source or v): 0 for v in _made_by(miss)} | row.calls
            )

    def rows(self) -> list[Row]:
        """Return the current rows, slowest first."""
        with self._lock:
            for row in self._rows.values():
                row.read_calls()
            return sorted(self._rows.values(), key=lambda row: -row.costs.total)


def _made_by(miss: Explanation) -> Iterator[Version]:
    """Yield the versions of the function that missed, including the new one."""
    for definition in DEFINITIONS:
        if definition.last_miss is miss:
            yield from definition.versions
