"""Counts of what this process has traced, compiled and answered.

They only grow, so the difference of two readings is what happened between them. They
count events, not objects: a version that was dropped was compiled all the same.
"""

from typing import NamedTuple

from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.versions.version import calls_answered


class Counts(NamedTuple):
    """How often something was done since the process started. They only grow.

    Args:
        traces: functions traced by `jit`.
        lowerings: programs written as StableHLO.
        compiles: programs compiled by XLA, those of single operations too.
        compile_seconds: what that took.
        loads: programs that were loaded from the disk instead.
        hits: calls of jitted functions that a version answered.
        misses: calls that needed a new version, or a trace to tell that they do not.
        evictions: versions and traces dropped to stay within the byte budget.
        needless: misses that gave the program of a version that did not hold any more.
        audits: hits that `audit` traced again; these are no traces here.
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


def counters() -> Counts:
    """Return the counts of this process.

    A test takes the difference of two readings. Counting costs a warm call nothing: each
    version counts its own calls.

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
