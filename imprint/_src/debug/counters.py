"""Counts of the traces, compilations and hits of this process.

They only grow: use the difference of two readings. They count events, not objects: the
compilation of a version that was dropped counts.
"""

from typing import NamedTuple

from imprint._src.diagnostics import html
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.versions.version import calls_answered


class Counts(NamedTuple):
    """Counts of events since the process started.

    Args:
        traces: functions traced by `jit`.
        lowerings: programs written as StableHLO.
        compiles: programs compiled by XLA, those of single operations too.
        compile_seconds: the seconds of these compilations.
        loads: programs loaded from the disk instead.
        hits: calls of jitted functions that hit a version.
        misses: calls that needed a new version, or a trace to find that they do not.
        evictions: versions and traces dropped to stay within the byte budget.
        needless: misses that gave the program of a version whose guard had failed.
        audits: hits that `audit` traced again; they do not count as traces.
    """

    traces: int
    lowerings: int
    compiles: int
    compile_seconds: float
    loads: int
    hits: int
    misses: int
    evictions: int
    needless: int
    audits: int

    def _repr_html_(self) -> str:
        return html.fields("Counts of this process", self._asdict())


def counters() -> Counts:
    """Return the counts of this process.

    Counting costs a warm call nothing: each version counts its own calls.

    Example:
        >>> import imprint
        >>> f = imprint.jit(lambda x: x + 1)
        >>> before = imprint.debug.counters()
        >>> _ = f(1.0), f(2.0), f(3.0)
        >>> after = imprint.debug.counters()
        >>> after.misses - before.misses, after.hits - before.hits
        (1, 2)
    """
    return Counts(
        traces=COUNTERS.traces,
        lowerings=COUNTERS.lowerings,
        compiles=COUNTERS.compiles,
        compile_seconds=COUNTERS.compile_seconds,
        loads=COUNTERS.loads,
        hits=max(0, calls_answered() - COUNTERS.misses),
        misses=COUNTERS.misses,
        evictions=COUNTERS.evictions,
        needless=COUNTERS.needless,
        audits=COUNTERS.audits,
    )
