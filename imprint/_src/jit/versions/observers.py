"""Observers: who is told when a call needs a new version, before and after the work.

Limits, reports and tests watch the misses of a process through one list. It is read on
the cold path only, so a warm call costs the same whoever watches.
"""

from typing import Final, NamedTuple, Protocol

from imprint._src.jit.explain.explanation import Explanation


class Costs(NamedTuple):
    """What a new version took, in seconds; lowering and compiling are 0 when shared."""

    trace: float
    lower: float
    compile: float

    @property
    def total(self) -> float:
        """The sum."""
        return sum(self)


class Observer(Protocol):
    """Is told of every miss of every jitted function of the process, in any thread.

    It is told that a version is missed, and how that ended.
    """

    def missed(self, miss: Explanation) -> None:
        """Note that a call needs a new version; what is raised here prevents it."""
        ...

    def failed(self, miss: Explanation) -> None:
        """Note that it could not be made, or that another observer refused it."""
        ...

    def compiled(self, miss: Explanation, costs: Costs) -> None:
        """Note that the version was made."""
        ...


OBSERVERS: Final[list[Observer]] = []
"""The observers of this process."""
