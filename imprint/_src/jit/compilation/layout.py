"""Layouts of programs over devices, and donation of arguments to results.

A `Layout` is requested: a sharding for each argument and result, or None where the
compiler chooses. It becomes attributes of the arguments and results of `main`, and a
`Partition`, which gives XLA the devices and its choices.
A result takes the memory of a donated argument if it has its shape and dtype and no other
result took it; if the user placed both over devices, their parts must be as large, too.
This is decided on the user's program: flags of a debugging build change nothing.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.interpreters import dce
from imprint._src.primitives.constraints import sharding_text
from imprint._src.runtime import Partition
from imprint._src.sharding.mesh import Mesh
from imprint._src.sharding.named import NamedSharding

Shardings = tuple[NamedSharding | None, ...]


class Layout(NamedTuple):
    """The requested layout of a program.

    Args:
        mesh: the devices, in their order, and axes for the choices of the compiler.
        inputs: for each argument of the jaxpr; None where the compiler chooses.
        outputs: likewise for each result.
    """

    mesh: Mesh
    inputs: Shardings
    outputs: Shardings


class Spread(NamedTuple):
    """The layout of a lowered program, with its constants and used arguments.

    Args:
        mesh: the devices.
        inputs: for each argument of the executable.
        outputs: for each of its results.
    """

    mesh: Mesh
    inputs: Shardings
    outputs: Shardings

    @property
    def partition(self) -> Partition:
        """The devices, and the choices of XLA."""
        inputs, outputs = self._free(self.inputs), self._free(self.outputs)
        return Partition(self.mesh, inputs, outputs)

    def _free(self, shardings: Shardings) -> tuple[bool, ...]:
        return tuple([each is None and self.mesh.size > 1 for each in shardings])

    def attributes(
        self, avals: Sequence[ShapedArray], shardings: Shardings
    ) -> dict[int, str]:
        """Return the attributes of arguments or results with a sharding."""
        if self.mesh.size == 1:
            return {}
        return {
            i: f"sdy.sharding = #sdy.sharding<{sharding_text(sharding, aval.ndim)}>"
            for i, (sharding, aval) in enumerate(zip(shardings, avals, strict=True))
            if sharding is not None
        }


def spread_of(
    layout: Layout, consts: Sequence[Any], kept: Sequence[int], results: int
) -> Spread:
    """Return the layout of a lowered program.

    Args:
        layout: the requested layout of the whole program.
        consts: the values of its leading arguments.
        kept: the arguments that follow them.
        results: their number; flags of a debugging build come last.
    """
    held = [get_aval(x).sharding for x in consts]
    devices = layout.mesh.flat_devices
    fixed = [
        x if isinstance(x, NamedSharding) and x.flat_devices == devices else None
        for x in held
    ]
    more = (None,) * (results - len(layout.outputs))
    inputs = (*fixed, *[layout.inputs[i] for i in kept])
    return Spread(layout.mesh, inputs, (*layout.outputs, *more))


# ---- donation ----

Donation = frozenset[int]
"""Positions of the arguments whose memory results may take."""


class Aliases(NamedTuple):
    """The use of donated arguments.

    Args:
        results: the result that takes the memory, by argument.
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
    """Return the result of each donated argument, and the arguments without one."""
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
    """Return whether the parts of an argument and of a result have one size."""
    if layout is None:
        return True
    shardings = layout.inputs[argument], layout.outputs[result]
    return (
        None in shardings
        or len({prod(s.tiling(aval.ndim)) for s in shardings if s}) == 1
    )
