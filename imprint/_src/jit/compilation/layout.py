"""Layouts: how the arguments and results of a program are to be spread over devices.

A `Layout` is what is asked: a sharding for each, or None where the compiler chooses. It
becomes attributes of the arguments and results of `main`, and a `Partition`, which tells
the engine the devices and what it may choose.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.primitives.constraints import sharding_text
from imprint._src.runtime import Partition
from imprint._src.sharding.mesh import Mesh
from imprint._src.sharding.named import NamedSharding

Asked = tuple[NamedSharding | None, ...]


class Layout(NamedTuple):
    """How a program is spread over devices.

    Args:
        mesh: the devices, in their order, and axes for what the compiler chooses.
        inputs: for each argument of the jaxpr; None where the compiler chooses.
        outputs: likewise for each result.
    """

    mesh: Mesh
    inputs: Asked
    outputs: Asked


class Spread(NamedTuple):
    """A layout of a program as it was lowered, with constants, and what it uses.

    Args:
        mesh: the devices.
        inputs: for each argument of the executable.
        outputs: for each of its results.
    """

    mesh: Mesh
    inputs: Asked
    outputs: Asked

    @property
    def partition(self) -> Partition:
        """Where the program runs."""
        inputs, outputs = self._free(self.inputs), self._free(self.outputs)
        return Partition(self.mesh, inputs, outputs)

    def _free(self, asked: Asked) -> tuple[bool, ...]:
        return tuple([each is None and self.mesh.size > 1 for each in asked])

    def attributes(self, avals: Sequence[ShapedArray], asked: Asked) -> dict[int, str]:
        """Return the attributes of arguments or results that are asked for."""
        if self.mesh.size == 1:
            return {}
        return {
            i: f"sdy.sharding = #sdy.sharding<{sharding_text(sharding, aval.ndim)}>"
            for i, (sharding, aval) in enumerate(zip(asked, avals, strict=True))
            if sharding is not None
        }


def spread_of(
    layout: Layout, consts: Sequence[Any], kept: Sequence[int], results: int
) -> Spread:
    """Return the layout of what is left of a program.

    Args:
        layout: what was asked for all of it.
        consts: the values of its leading arguments.
        kept: which arguments follow them.
        results: how many it has; those that are not the user's come last.
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
