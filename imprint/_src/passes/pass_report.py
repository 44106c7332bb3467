"""Changes: what a pass tells of what it did to a program.

Versions have them, also those that started from the disk, which no pass was given.
"""

from typing import NamedTuple, TypeAlias

from imprint._src.diagnostics.source import Source


class Cut(NamedTuple):
    """A value that is written to memory.

    Args:
        value: the operation that makes it, and its type: `mul f32[1000]`.
        source: where the user wrote that.
        kernels: how many would compute it, or at how many places one that joins arrays
            would; 1 if it is between functions in a row.
        saves: what is not computed again, at least, in additions an element.
    """

    value: str
    source: Source | None
    kernels: int
    saves: float

    def __str__(self) -> str:
        at = f" at {self.source}" if self.source else ""
        if self.kernels == 1:
            return f"{self.value}{at}: between many functions in a row"
        return (
            f"{self.value}{at}: {self.kernels} kernels would compute it, "
            f"{self.saves:.0f} additions an element are saved"
        )


class Rolled(NamedTuple):
    """Equal blocks that run as one loop.

    Args:
        blocks: how many there are.
        equations: how many equations each has.
        source: where the user wrote the first of them.
    """

    blocks: int
    equations: int
    source: Source | None

    def __str__(self) -> str:
        at = f" from {self.source}" if self.source else ""
        return f"{self.blocks:,} equal blocks{at} run as one loop"


Change: TypeAlias = Cut | Rolled
"""What a pass tells of what it did."""
