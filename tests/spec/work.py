"""The cost of a piece of a program: the number of traces and of compilations by XLA."""

from typing import NamedTuple

from imprint._src.jit.compilation.counters import COUNTERS


class Work(NamedTuple):
    traces: int
    compiles: int


def work_of(action):
    """Return the work of calling `action`."""
    traces, compiles = COUNTERS.traces, COUNTERS.compiles
    action()
    return Work(COUNTERS.traces - traces, COUNTERS.compiles - compiles)
