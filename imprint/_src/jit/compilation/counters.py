"""Counts of events in this process, for tests and dashboards.

They only grow, so a test takes the difference of two readings. A version that was dropped
still counts as compiled.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(slots=True)
class Counters:
    """The counts since the process started.

    Args:
        traces: functions traced by `jit`, but not to audit a hit.
        lowerings: programs written as StableHLO.
        compiles: programs compiled by XLA.
        compile_seconds: the time of compilations.
        loads: programs loaded from the disk.
        equations: the equations of compiled programs.
        evictions: versions and traces dropped to stay within the byte budget.
        misses: calls of jitted functions that needed a new version.
        needless: misses whose new version has the program of one that did not hold.
        audits: hits that were traced again to compare the programs.
        retired: hits of versions that were dropped.
    """

    traces: int = 0
    lowerings: int = 0
    compiles: int = 0
    compile_seconds: float = 0.0
    loads: int = 0
    equations: int = 0
    evictions: int = 0
    misses: int = 0
    needless: int = 0
    audits: int = 0
    retired: int = 0


COUNTERS: Final = Counters()
"""The counters of this process."""
