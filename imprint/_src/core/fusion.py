"""Fusion of an operation into XLA:CPU kernels, and its cost: a field of each primitive.

XLA (jaxlib 0.10.2 and 0.12 alike) fuses an operation into its users. A cheap operation is
duplicated into each of them; an expensive one is fused only if a single kernel uses it,
else it is a kernel of its own. Operands and results of an unfused operation are written
to memory. `passes.fusion_model` counts kernels with these figures.
"""

from typing import Final, NamedTuple


class Fusion(NamedTuple):
    """How XLA:CPU fuses an operation.

    Args:
        work: the cost of an element, in additions.
        is_expensive: whether XLA computes it in one kernel only.
        has_one_use: whether two uses inside a kernel make it a kernel of its own.
        reindexes: whether it reads its operands at other indices than its own.
        reduces: whether it computes one element from many.
        broadcasts: whether it computes many elements from one.
        is_polynomial: whether it is a polynomial of vectors; ten of them in one loop run
            slower than in separate loops.
        is_instruction: whether an expensive operation is a processor instruction.
        wide: picoseconds an element that vectors of 512 bits cost over those of 256
            (negative if they are faster): for any dtype, or for float32 and float64.
    """

    work: float
    is_expensive: bool = False
    has_one_use: bool = False
    reindexes: bool = False
    reduces: bool = False
    broadcasts: bool = False
    is_polynomial: bool = False
    is_instruction: bool = False
    wide: int | tuple[int, int] = 0


# 10 equations with vectors of 512 bits: no change; 16: 21.2 µs become 15.9
ARITHMETIC: Final = Fusion(1.0, wide=-4)
PARTS: Final = Fusion(1.0)  # of complex numbers; not measured with wide vectors
NO_WORK: Final = Fusion(0.0)
INDEXING: Final = Fusion(0.25, reindexes=True)  # only an index is computed
BROADCAST: Final = INDEXING._replace(broadcasts=True)
SCALAR_CALL: Final = Fusion(20.0)  # sin of float32: 1 ns an element, 0.05 an addition
EXPENSIVE: Final = Fusion(0.0, is_expensive=True)
DIVISION: Final = EXPENSIVE._replace(is_instruction=True, wide=-4)
POLYNOMIAL: Final = EXPENSIVE._replace(is_polynomial=True)
JOIN: Final = Fusion(0.25, is_expensive=True, has_one_use=True, reindexes=True)
REDUCTION: Final = JOIN._replace(work=1.0, reduces=True)
UNFUSED: Final = None
"""Of an operation that XLA fuses with no other, and of one that was not measured."""
