"""What differs between devices: the type of a value inside `shard_map`.

There a program says what one device does. `Varying` takes the place of the sharding in the
aval of a value that may differ along some axes of the mesh; a value without it is the
same on every device. It is no placement: programs keep it, and results of operations have
the axes of all operands.
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
    """Return what stands in an aval for these axes: None for none."""
    return Varying(axes) if axes else None
