"""Declarations of benchmarks: pairs of the same code in imprint and JAX.

A file has `PAIRS` (timed) or `FACTS` (counted once), and a `Suite` for asv. The rows of
`python -m benchmarks` and of asv come from the same pairs. The clock stops when the results
are ready, once per sample.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar


class Timing(Enum):
    """The unit that a pair's functions are timed in."""

    LOOP = "the function to time, called many times in a sample"
    FRESH = "makes, outside the timer, the function to time; once per sample"
    SELF = "measures itself and returns seconds"


@dataclass(frozen=True)
class Pair:
    """One row: `ours` and `jax` do the same work; `target` is the ratio to reach."""

    name: str
    ours: Callable[[], object]
    jax: Callable[[], object]
    target: float | None = None
    timing: Timing = Timing.LOOP
    per: int = 1  # divisor of the shown time: the equations of a program


@dataclass(frozen=True)
class Fact:
    """A row that is counted, not timed: ours must be at most `limit`.

    If `relative`, ours must be at most `limit` times JAX's.
    """

    name: str
    ours: Callable[[], float]
    jax: Callable[[], float]
    limit: float
    relative: bool = False


def block(result: object) -> None:
    """Wait until every array in `result` is computed."""
    if isinstance(result, (tuple, list)):
        for part in result:
            block(part)
    elif hasattr(result, "block_until_ready"):
        result.block_until_ready()


class Suite:
    """The benchmarks of asv: each side of each pair, one parameter per pair.

    Subclasses get the methods: asv would also run those of this class.
    """

    pairs: ClassVar[Sequence[Pair]] = ()
    params: ClassVar[list[str]] = []
    param_names: ClassVar[list[str]] = ["pair"]

    def __init_subclass__(cls):
        cls.params = [pair.name for pair in cls.pairs]
        timings = {pair.timing for pair in cls.pairs}
        if Timing.FRESH in timings:
            cls.number = 1
        kind = "track" if timings == {Timing.SELF} else "time"
        setattr(cls, f"{kind}_imprint", cls.run_ours)
        setattr(cls, f"{kind}_jax", cls.run_jax)

    def setup(self, name):
        (pair,) = (pair for pair in self.pairs if pair.name == name)
        fresh = pair.timing is Timing.FRESH
        self.ours = pair.ours() if fresh else pair.ours
        self.jax = pair.jax() if fresh else pair.jax

    def run_ours(self, _name):
        result = self.ours()
        block(result)
        return result

    def run_jax(self, _name):
        result = self.jax()
        block(result)
        return result
