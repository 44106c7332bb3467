"""Changes that passes make to a program, for reports.

Versions keep them, and so does the disk cache: a version loaded from it ran no pass.
"""

from typing import NamedTuple, TypeAlias

from imprint._src.diagnostics.source import Source


class Cut(NamedTuple):
    """A value that is written to memory.

    Args:
        value: the operation that computes it, and its type: `mul f32[1000]`.
        source: its line in user code.
        kernels: how many kernels would compute it, or how often a kernel that joins
            arrays would; 1 if it is between functions in a row.
        saves: the least work that is saved, in additions an element.
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
        source: the line of the first one in user code.
    """

    blocks: int
    equations: int
    source: Source | None

    def __str__(self) -> str:
        at = f" from {self.source}" if self.source else ""
        return f"{self.blocks:,} equal blocks{at} run as one loop"


Change: TypeAlias = Cut | Rolled
"""A change that a pass made."""
