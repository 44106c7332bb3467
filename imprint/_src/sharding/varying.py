"""The mesh axes along which a value may differ inside `shard_map`.

A function in `shard_map` is the program of one device. In the aval of a value,
`Varying` takes the place of the sharding; a value without it is the same on every
device. It is no placement: programs keep it, and results of operations have the axes of
all operands.
"""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Varying:
    """A value may differ along these axes of the mesh.

    Args:
        axes: their names; at least one.
    """

    axes: frozenset[str]

    def __repr__(self) -> str:
        return f"Varying({', '.join(sorted(self.axes))})"


def along(axes: "frozenset[str]") -> Varying | None:
    """Return the sharding of an aval that varies along these axes; None for none."""
    return Varying(axes) if axes else None
