"""Donation: which result takes the memory of which donated argument?

A result can take it if it has the argument's shape and dtype and no other result took it;
where both are spread over devices by the user, if their parts are as large, too. It is
decided on the user's program: that flags of a debugging build read an argument, or have
its aval, changes nothing.
"""

from math import prod
from typing import NamedTuple

from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.interpreters import dce
from imprint._src.jit.compilation.layout import Layout

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
    closed: ClosedJaxpr,
    donated: Donation,
    *,
    keep_unused: bool,
    layout: Layout | None = None,
) -> Aliases:
    """Give each donated argument a result, and say which have none."""
    if not donated:
        return Aliases({}, ())
    kept = dce.prune(closed, keep_unused=keep_unused).kept
    free = dict(enumerate(closed.out_avals))
    results: dict[int, int] = {}
    unusable: list[tuple[int, str]] = []
    for i in sorted(donated):
        aval = closed.in_avals[i]
        alike = [
            k
            for k, out in free.items()
            if out.shape == aval.shape and out.dtype == aval.dtype
        ]
        fits = [k for k in alike if _are_parts_as_large(aval, layout, i, k)]
        if i not in kept:
            unusable.append((i, "the function does not use it"))
        elif not alike:
            unusable.append((i, f"no result left of {aval.strong()}"))
        elif not fits:
            unusable.append((i, f"no result left of {aval.strong()} in parts as large"))
        else:
            results[i] = fits[0]
            del free[fits[0]]
    return Aliases(results, tuple(unusable))


def _are_parts_as_large(
    aval: ShapedArray, layout: Layout | None, argument: int, result: int
) -> bool:
    """Tell whether a device has as much of a result as of an argument of its shape."""
    if layout is None:
        return True
    asked = layout.inputs[argument], layout.outputs[result]
    return None in asked or len({prod(s.tiling(aval.ndim)) for s in asked if s}) == 1
