"""What is derived from a jaxpr once, and for how long it counts.

A derivation runs rules, and a rule of the user's may read what changes. Who runs such a
rule hands in what it read (`note_read`): with that the result is kept, and it counts while
what was read is as it was. What is taken from a memo was read by the derivation around it,
too.
"""

from collections.abc import Callable, Hashable
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol, TypeVar, final


class Reads(Protocol):
    """What a rule read."""

    def holds(self) -> bool:
        """Tell whether it is as it was."""
        raise NotImplementedError

    def count(self) -> None:
        """Take it in as read now."""
        raise NotImplementedError


@final
class Kept(NamedTuple):
    """A result, and what was read for it."""

    result: Any
    reads: tuple[Reads, ...]


_T = TypeVar("_T")
_reads: ContextVar[list[Reads] | None] = ContextVar("imprint_reads", default=None)


def is_deriving() -> bool:
    """Tell whether a derivation runs, whose result is kept."""
    return _reads.get() is not None


def note_read(reads: Reads) -> None:
    """Take in what a rule read for the derivation that runs."""
    found = _reads.get()
    if found is not None:
        found.append(reads)


def derive(memo: dict[Hashable, Any], key: Hashable, make: Callable[[], _T]) -> _T:
    """Return what `make` gives, from a memo where that still counts."""
    found = memo.get(key)
    if type(found) is Kept and all(reads.holds() for reads in found.reads):
        for reads in found.reads:
            reads.count()
            note_read(reads)
        return found.result
    read: list[Reads] = []
    token = _reads.set(read)
    try:
        made = make()
    finally:
        _reads.reset(token)
    if not read:
        return memo.setdefault(key, made)
    for reads in read:
        note_read(reads)
    memo[key] = Kept(made, tuple(read))
    return made
