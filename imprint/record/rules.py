"""Rules: what do rules of the user's read that run when a program is derived?

The rule of a derivative, of batching, or a policy runs long after the function with it was
traced, when another program is derived from its program; that is kept with it. What the
rule reads then is a part of what is kept: with it the next trace that is given the program
has read it too, and where it is not as it was, the program is derived anew.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, final

from imprint.core.derived import is_deriving, note_read
from imprint.record.record import is_of_tracer
from imprint.record.recorder import Recording, contribute, is_strict
from imprint.watch.guard import Watch
from imprint.watch.seen import Findings

R = TypeVar("R")


def run_rule(run: Callable[[], R], functions: Iterable[Any]) -> R:
    """Run a rule of the user's, and note what it reads for what is derived by it.

    Args:
        run: runs it.
        functions: what it is made of, and the Python values that it is given.
    """
    if not is_deriving():  # who traces hears it, and nothing is kept
        return run()
    recording = Recording(lambda: None, strict=is_strict())
    recording.record.lead(functions)
    with recording:
        result = run()
    note_read(_Read(recording.findings, is_whole=not recording.deaf))
    return result


@final
class _Read:
    """What was read in one run."""

    __slots__ = ("_findings", "_is_whole", "_watch")

    def __init__(self, findings: Findings, *, is_whole: bool) -> None:
        reads = tuple(read for read in findings.reads if not is_of_tracer(read))
        self._findings = findings._replace(reads=reads)
        self._watch = Watch(reads)
        self._is_whole = is_whole and not (findings.disturbed or findings.changed)

    def holds(self) -> bool:
        """Tell whether it is as it was; never if not all is known, or it wrote."""
        return self._is_whole and self._watch.holds()

    def count(self) -> None:
        """Take it in as read by the traces that are under way."""
        contribute(self._findings, _nothing)


def _nothing() -> None:
    """Stand for a function that captures nothing."""
