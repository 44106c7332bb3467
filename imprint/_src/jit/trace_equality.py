"""Sameness: do two traces of a function give the same program and the same result?

It is asked when a hit is audited, and when a version was made that might not have been
needed: if the trace gives the program of a version that read what has changed since, then
what had changed did not matter, and the miss is told as needless.
"""

from collections.abc import Sequence
from typing import Final

from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.jit.explain import jaxpr_diff
from imprint._src.jit.lazy_program import LazyJaxpr
from imprint._src.jit.versions.version import Version

LATEST: Final = 8
"""Versions, the newest, with which a new one is compared, and that tell what changed."""


def divergence_of_traces(
    old: TracedCall, new: TracedCall
) -> "jaxpr_diff.Divergence | None":
    """Return where two traces of one kind of call part; None if they are the same."""
    found = jaxpr_diff.divergence_of(old.closed, new.closed)
    if found is not None:
        return found
    if old.out_tree != new.out_tree:
        return jaxpr_diff.Divergence("the result", str(old.out_tree), str(new.out_tree))
    ours, theirs = old.results.kept(), new.results.kept()
    for name in sorted(ours.keys() | theirs.keys()):
        a, b = ours.get(name, _ARRAY), theirs.get(name, _ARRAY)
        if not jaxpr_diff.is_same_value(a, b):
            return jaxpr_diff.Divergence(f"result{name}", repr(a), repr(b))
    return None


class _AnArray:
    """Stands where a result is an array."""

    def __repr__(self) -> str:
        return "an array"


_ARRAY: Final = _AnArray()


def is_late(closed: ClosedJaxpr) -> bool:
    """Tell whether nobody knows a program: it was never traced in this process."""
    return type(closed) is LazyJaxpr and not closed.is_known


def is_needless(of_its_key: Sequence[Version], made: Version) -> bool:
    """Tell whether a new version is the same as one that did not hold any more.

    Args:
        of_its_key: the versions of one kind of call, the newest first.
        made: the new one, which is among them.
    """
    return any(
        version is not made
        and not is_late(version.traced.closed)
        and divergence_of_traces(version.traced, made.traced) is None
        for version in of_its_key[: LATEST + 1]
    )
