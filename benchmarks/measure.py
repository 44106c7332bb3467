"""Comparison of two functions, alternating in one process.

1. A sample calls a function often enough to last `SAMPLE_SECONDS`, then waits for the
   last result; both sides call equally often.
2. Samples alternate, and so does the first side: a slow phase of the machine affects both.
3. The result is the minimum and the median of each side, less the cost of calling an
   empty function. The garbage collector is off inside a sample.
"""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from statistics import median

from benchmarks.pairs import Pair, Timing, block

SAMPLE_SECONDS = 0.005
ROUNDS = {Timing.LOOP: 41, Timing.FRESH: 11, Timing.SELF: 7}


@dataclass(frozen=True)
class Side:
    """Seconds of one call, over the samples of one side."""

    best: float
    middle: float


def measure(pair: Pair) -> tuple[Side, Side]:
    """Return the times of imprint and JAX for one call of `pair`."""
    sides = (pair.ours, pair.jax)
    calls = 1
    empty = 0.0
    if pair.timing is Timing.LOOP:
        for side in sides:  # a first call compiles: it would pass for a whole sample
            for _ in range(3):
                block(side())
        calls = max(map(calls_per_sample, sides))
        empty = min(sample(do_nothing, calls, pair.timing) for _ in range(5))
    for side in sides:
        sample(side, calls, pair.timing)  # warm-up: the first sample is dropped
    taken: tuple[list[float], list[float]] = ([], [])
    for turn in range(ROUNDS[pair.timing]):
        for side in (0, 1) if turn % 2 else (1, 0):
            taken[side].append(sample(sides[side], calls, pair.timing) - empty)
    ours, jax = (Side(min(times), median(times)) for times in taken)
    return ours, jax


def do_nothing() -> None:
    """Do nothing: the overhead of a call."""


def sample(function: Callable[[], object], calls: int, timing: Timing) -> float:
    """Return the seconds of one call, over one sample."""
    if timing is Timing.SELF:
        return float(function())
    timed = function() if timing is Timing.FRESH else function
    gc.collect(0)
    gc.disable()
    try:
        start = time.perf_counter()
        for _ in repeat(None, calls):
            result = timed()
        block(result)
        return (time.perf_counter() - start) / calls
    finally:
        gc.enable()


def calls_per_sample(function: Callable[[], object]) -> int:
    """Return how many calls last `SAMPLE_SECONDS`."""
    calls = 1
    while (taken := sample(function, calls, Timing.LOOP) * calls) < SAMPLE_SECONDS:
        calls = max(2 * calls, int(calls * SAMPLE_SECONDS / max(taken, 1e-6)))
    return calls
