"""Prints, breakpoints and checks of running programs, and counts of compilations.

`jit(f).replay(...)` returns replays; their classes are here for annotations.
"""

from imprint._src.bootstrap import attribute_errors
from imprint._src.debug.breakpoints import breakpoint as breakpoint  # noqa: A004 - JAX's name
from imprint._src.debug.checks import check as check
from imprint._src.debug.counters import Counts as Counts
from imprint._src.debug.counters import counters as counters
from imprint._src.debug.environment import environment as environment
from imprint._src.debug.printing import callback as callback
from imprint._src.debug.printing import print as print  # noqa: A004 - JAX's name
from imprint._src.debug.shardings import (
    visualize_array_sharding as visualize_array_sharding,
)
from imprint._src.debug.shardings import visualize_sharding as visualize_sharding
from imprint._src.jit.explain.replay import Parting as Parting
from imprint._src.jit.explain.replay import Replay as Replay
from imprint._src.jit.explain.steps import Entered as Entered
from imprint._src.jit.explain.steps import Step as Step

__all__ = [
    "Counts",
    "Entered",
    "Parting",
    "Replay",
    "Step",
    "breakpoint",
    "callback",
    "check",
    "counters",
    "environment",
    "print",
    "visualize_array_sharding",
    "visualize_sharding",
]

attribute_errors.explain_missing(__name__)
