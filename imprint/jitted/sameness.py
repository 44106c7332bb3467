"""Sameness: do two traces of a function give the same program and the same result?

It is asked when a hit is audited. Leaves of a result that are no arrays are compared by
their exact values, as `explain.programs` does: a trace makes them anew.
"""

from typing import Final

from imprint.calls.tracing import TracedCall
from imprint.explain.programs import Divergence, divergence_of, is_same_value


def divergence_of_traces(old: TracedCall, new: TracedCall) -> Divergence | None:
    """Return where two traces of one kind of call part; None if they are the same."""
    found = divergence_of(old.closed, new.closed)
    if found is not None:
        return found
    if old.out_tree != new.out_tree:
        return Divergence("the result", str(old.out_tree), str(new.out_tree))
    ours, theirs = old.results.kept(), new.results.kept()
    for name in sorted(ours.keys() | theirs.keys()):
        a, b = ours.get(name, _ARRAY), theirs.get(name, _ARRAY)
        if not is_same_value(a, b):
            return Divergence(f"result{name}", repr(a), repr(b))
    return None


class _AnArray:
    """Stands where a result is an array."""

    def __repr__(self) -> str:
        return "an array"


_ARRAY: Final = _AnArray()
