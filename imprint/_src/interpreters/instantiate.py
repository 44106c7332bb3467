"""Demands: which tangents and cotangents a derived jaxpr gives even if they are zero.

A tangent that is symbolically zero costs nothing, but a loop must take back what its body
gives, and the branches of a conditional must give the same. So whoever derives a jaxpr
may demand values in the place of zeros. The tangent of an integer has no values: it
stays symbolic whatever is demanded.
"""

from collections.abc import Sequence
from typing import Any

from imprint._src.core.aval import ShapedArray
from imprint._src.dtypes import is_inexact
from imprint._src.primitives.core_ops import instantiate

Mask = bool | tuple[bool, ...]
"""One answer for each of several values, or the same for all of them."""


def mask_of(demand: Mask, avals: Sequence[ShapedArray]) -> tuple[bool, ...]:
    """Return for each aval whether its tangent is demanded, and has values."""
    every = demand if isinstance(demand, tuple) else (demand,) * len(avals)
    return tuple(
        on and is_inexact(aval.dtype) for on, aval in zip(every, avals, strict=True)
    )


def instantiated(tangents: Sequence[Any], demanded: Sequence[bool]) -> list[Any]:
    """Return the tangents, with values for the zeros that are demanded."""
    return [
        instantiate(t) if on else t for t, on in zip(tangents, demanded, strict=True)
    ]
