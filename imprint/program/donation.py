"""Donation: which result takes the memory of which donated argument?

A result can take it if it has the argument's shape and dtype and no other result took it.
It is decided on the user's program: that flags of a debugging build read an argument, or
have its aval, changes nothing.
"""

from typing import NamedTuple

from imprint.core.jaxpr import ClosedJaxpr
from imprint.passes.prune import prune

Donation = frozenset[int]
"""Positions of the jaxpr's arguments whose memory the results may take."""


class Aliases(NamedTuple):
    """What becomes of donated arguments.

    Args:
        results: for an argument, the result that takes its memory.
        unusable: arguments that no result can take, and why.
    """

    results: dict[int, int]
    unusable: tuple[tuple[int, str], ...]


def match_donated(
    closed: ClosedJaxpr, donated: Donation, *, keep_unused: bool
) -> Aliases:
    """Give each donated argument a result, and say which have none."""
    if not donated:
        return Aliases({}, ())
    kept = prune(closed, keep_unused=keep_unused).kept
    free = dict(enumerate(closed.out_avals))
    results: dict[int, int] = {}
    unusable: list[tuple[int, str]] = []
    for i in sorted(donated):
        aval = closed.in_avals[i]
        fits = [
            k
            for k, out in free.items()
            if out.shape == aval.shape and out.dtype == aval.dtype
        ]
        if i not in kept:
            unusable.append((i, "the function does not use it"))
        elif not fits:
            unusable.append((i, f"no result left of {aval.strong()}"))
        else:
            results[i] = fits[0]
            del free[fits[0]]
    return Aliases(results, tuple(unusable))
