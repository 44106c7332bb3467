"""What is seen of programs that run, and counts of what this process has compiled.

Replays come from `jit(f).replay(...)`; their classes are here to write types with.

- `printing`: how are values shown, or handed to a function, while a program runs?
- `stopping`: how does a program stop in pdb?
- `checking`: how does a program raise an error of the user's?
- `formats`: do arguments fit a text that is formatted when the program runs?
- `shardings`: which devices have which part of an array, as a picture?
- `counting`: what has this process traced, compiled and answered?
"""

from imprint._src.diagnostics import attribute_errors
from imprint._src.jit.explain.replay import Parting as Parting
from imprint._src.jit.explain.replay import Replay as Replay
from imprint._src.jit.explain.steps import Entered as Entered
from imprint._src.jit.explain.steps import Step as Step
from imprint.debug.checking import check as check
from imprint.debug.counting import Counts as Counts
from imprint.debug.counting import counters as counters
from imprint.debug.printing import callback as callback
from imprint.debug.printing import print as print  # noqa: A004 - JAX's name
from imprint.debug.shardings import (
    visualize_array_sharding as visualize_array_sharding,
)
from imprint.debug.shardings import visualize_sharding as visualize_sharding
from imprint.debug.stopping import breakpoint as breakpoint  # noqa: A004 - JAX's name

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
    "print",
    "visualize_array_sharding",
    "visualize_sharding",
]

attribute_errors.explain_missing(__name__)
