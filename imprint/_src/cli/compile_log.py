"""The compile log of a run: compiles of each jitted function, with reasons and seconds.

It observes every miss of the process. A row is a jitted function: a function of the program
text, and the place that jits it. Functions that one line creates and jits, such as a lambda
in a loop, are one row. Versions count their own calls. A version may be dropped before the
end, at a miss, so each miss reads all counts.
"""

import threading
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final
from weakref import ref

from imprint._src.diagnostics.source import Source, is_library
from imprint._src.jit.explain.explanation import Difference, Explanation
from imprint._src.jit.versions.definitions import DEFINITIONS, place_key
from imprint._src.jit.versions.version import Version, VersionCosts


class Seconds(NamedTuple):
    """The seconds of new versions; `load` is for programs from the disk."""

    trace: float = 0.0
    lower: float = 0.0
    compile: float = 0.0
    load: float = 0.0

    def as_dict(self) -> dict[str, float]:
        """Return them as plain data."""
        return {f"{name}_s": seconds for name, seconds in self._asdict().items()}


class Miss(NamedTuple):
    """A call that got a new version or was traced again, with reason and seconds.

    Args:
        why: its explanation.
        spent: the seconds of the version.
        is_first: whether it is the first of its row. Then its differences are those from
            another function, and no reason.
    """

    why: Explanation
    spent: VersionCosts
    is_first: bool = False

    @property
    def is_loaded(self) -> bool:
        """Whether the program is from the disk."""
        return self.why.origin == "disk"

    @property
    def is_recompile(self) -> bool:
        """Whether it compiled because something differed from an earlier version."""
        return not (self.why.hit or self.is_loaded) and bool(self.differences)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The differences from an earlier version of the row."""
        return () if self.is_first else self.why.differences

    @property
    def reason(self) -> str:
        """The reason in a few words: `static n: 3 → 4`."""
        return "; ".join(map(str, self.differences)) or "first call"

    @property
    def remedies(self) -> tuple[str, ...]:
        """The remedies; none for a version from the disk, which cost no compilation."""
        differences = () if self.is_loaded else self.differences
        return tuple(dict.fromkeys(d.remedy for d in differences))

    @property
    def costs(self) -> Seconds:
        """The seconds of the version."""
        trace, lower, last = self.spent
        if self.is_loaded:
            return Seconds(trace, lower, load=last)
        return Seconds(trace, lower, last)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        why = self.why.as_dict()
        if self.is_first:
            why["differences"] = []
        return {"reason": self.reason, **self.costs.as_dict(), **why}


@dataclass(slots=True)
class Row:
    """Versions of a jitted function.

    Args:
        function: their name.
        defined: their place, as `/path/file.py:12`; empty if unknown.
        misses: the calls that got a new version, in their order, and those that were
            traced again to find that a version answers.
        calls: the last known number of calls of each version.
        jitted_at: the place that jits them; None for those of imprint.
    """

    function: str
    defined: str
    misses: list[Miss] = field(default_factory=list[Miss])
    calls: dict[ref[Version], int] = field(default_factory=dict[ref[Version], int])
    jitted_at: Source | None = None

    @property
    def is_library(self) -> bool:
        """Whether the functions are imprint's own, such as those of random numbers."""
        return is_library(self.defined)

    @property
    def versions(self) -> int:
        """The number of versions."""
        return sum(not miss.why.hit for miss in self.misses)

    @property
    def loaded(self) -> int:
        """The number of versions whose program is from the disk."""
        return sum(miss.is_loaded for miss in self.misses)

    @property
    def recompiles(self) -> int:
        """The number of versions compiled because something differed from an earlier one.

        Functions of one line, such as a list of lambdas, each have a first call. A version
        from the disk is not compiled.
        """
        return sum(miss.is_recompile for miss in self.misses)

    @property
    def needless(self) -> int:
        """The number of recompiles that gave the program of an earlier version."""
        return sum(miss.is_recompile and miss.why.is_needless for miss in self.misses)

    @property
    def retraces(self) -> int:
        """The number of calls that were traced again and then hit a version."""
        return sum(miss.why.hit for miss in self.misses)

    @property
    def hits(self) -> int:
        """The number of calls that hit a version."""
        return max(0, sum(self.calls.values()) - len(self.misses))

    @property
    def costs(self) -> Seconds:
        """The seconds of all misses."""
        parts = [miss.costs for miss in self.misses]
        return Seconds(*[sum(seconds) for seconds in zip(*parts, strict=True)])

    @property
    def total(self) -> float:
        """All seconds."""
        return sum(self.costs)

    def read_calls(self) -> None:
        """Update the numbers of calls of the versions."""
        for known in self.calls:
            version = known()
            if version is not None:
                self.calls[known] = version.calls

    def as_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return {
            "function": self.function,
            "defined": self.defined,
            "jitted": "" if self.jitted_at is None else self.jitted_at.where,
            "library": self.is_library,
            "versions": self.versions,
            "loaded": self.loaded,
            "recompiles": self.recompiles,
            "needless": self.needless,
            "retraces": self.retraces,
            "hits": self.hits,
            **self.costs.as_dict(),
            "misses": [miss.as_dict() for miss in self.misses],
        }


@final
class CompileLog:
    """An `Observer` that logs every miss."""

    def __init__(self) -> None:
        self._rows: dict[Hashable, Row] = {}
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
            at = None if is_library(miss.defined) else miss.jitted_at
            key = miss.defined, miss.function, place_key(at)
            row = self._rows.setdefault(
                key, Row(miss.function, miss.defined, jitted_at=at)
            )
            row.misses.append(Miss(miss, costs, is_first=not row.misses))
            row.calls.update({ref(v.source or v): 0 for v in made_by(miss)} | row.calls)

    def rows(self) -> list[Row]:
        """Return the current rows, slowest first."""
        with self._lock:
            for row in self._rows.values():
                row.read_calls()
            return sorted(self._rows.values(), key=lambda row: -row.total)


def made_by(miss: Explanation) -> Iterator[Version]:
    """Yield the versions of the function that missed, including the new one."""
    for definition in DEFINITIONS:
        if definition.last_miss is miss:
            yield from definition.versions
