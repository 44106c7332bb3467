"""Counts of what the process has done, for tests and dashboards.

They only grow, so a test takes the difference of two readings. They count events, not
objects: a version that was dropped was compiled all the same.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(slots=True)
class Counters:
    """How often something was done since the process started.

    Args:
        traces: functions traced by `jit`, but not to audit a hit.
        lowerings: programs written as StableHLO.
        compiles: programs compiled by XLA.
        compile_seconds: what that took.
        loads: programs that were loaded from the disk.
        equations: how many equations they had.
        evictions: versions and traces dropped to stay within the byte budget.
        misses: calls of jitted functions that needed a new version.
        needless: misses whose new version has the program of one that did not hold.
        audits: calls that hit, and were traced again to compare the programs.
        retired: calls that were answered by versions which are gone now.
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
