"""Fusion: which operations does XLA:CPU put into one kernel, and what do they cost?

The engine (jaxlib 0.10.2 and 0.12 alike) fuses an operation into its users. A cheap one
goes into each of them; a dear one into a kernel that alone uses it, else it is a kernel
of its own. What is in no table here is written to memory, as are its operands. The pass
`cut` rests on these tables; what was measured for each figure stands beside it.
"""

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple

from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import Eqn, Jaxpr


class Kind(NamedTuple):
    """What the engine does with an operation.

    Args:
        work: what an element costs, in additions.
        dear: whether it is in one kernel only.
        blocks: whether two uses in a kernel are enough to make it one by itself.
        moves: whether it needs its operands at other places than its own.
        is_reduced: whether it computes one element from many.
        spreads: whether it computes many elements from one.
    """

    work: float
    dear: bool = False
    blocks: bool = False
    moves: bool = False
    is_reduced: bool = False
    spreads: bool = False


LIMIT: Final = 40.0
"""Additions an element that a cut must save.

A cut costs 17 ns of a scalar, which is 40 additions; 2 µs of 1,000 elements, which is 40
additions of each; 60 µs of 1,000,000, which is 20.
"""

SHARED: Final = 6
"""Kernels from which a value is shared by too many, though what it is made of is, too.

With 3 to 12, solvers of three coupled equations run alike, in 0.4 to 0.8 of their time; with
3, one that has three results is cut for nothing.
"""

_ARITHMETIC: Final = Kind(1.0)
_SAME: Final = Kind(0.0)
_MOVED: Final = Kind(
    0.25, moves=True
)  # slices, reshapes: an index is computed, and no more
_SPREAD: Final = _MOVED._replace(spreads=True)
_CALLED: Final = Kind(
    20.0
)  # sin, cos, tan of float32: 1 ns an element, 0.05 an addition
_DEAR: Final = Kind(0.0, dear=True)
_BLOCKING: Final = Kind(0.25, dear=True, blocks=True, moves=True)
_REDUCED: Final = Kind(1.0, dear=True, blocks=True, moves=True, is_reduced=True)

_AXIS: Final = 32  # a longer one is reduced in two steps, from memory
_REDUCED_ALONE: Final = 10_000  # elements; 4,000 are reduced where they are computed

_KINDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(
        (
            *("abs", "add", "and", "ceil", "clamp", "complex", "conj", "eq", "floor"),
            *("convert_element_type", "ge", "gt", "imag", "integer_pow", "is_finite"),
            *("le", "lt", "max", "min", "mul", "ne", "neg", "not", "or", "real"),
            *("reduce_precision", "round", "select_n", "shift_left", "sign", "sub"),
            *("shift_right_arithmetic", "shift_right_logical", "square", "xor"),
        ),
        _ARITHMETIC,
    ),
    **dict.fromkeys(
        (*("bitcast_convert_type", "copy", "name", "stop_gradient"),),
        _SAME,
    ),
    **dict.fromkeys(
        (*("reshape", "rev", "slice", "squeeze", "transpose"),),
        _MOVED,
    ),
    "broadcast_in_dim": _SPREAD,
    **dict.fromkeys(("cos", "sin", "tan"), _CALLED),
    **dict.fromkeys(
        (
            *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt"),
            *("cosh", "digamma", "div", "erf", "erf_inv", "erfc", "exp", "exp2"),
            *("expm1", "lgamma", "log", "log1p", "logistic", "pow", "rem", "rsqrt"),
            *("sinh", "sqrt", "tanh"),
        ),
        _DEAR,
    ),
    **dict.fromkeys(("concatenate", "pad"), _BLOCKING),
    **dict.fromkeys(
        (
            "reduce_and",
            "reduce_max",
            "reduce_min",
            "reduce_or",
            "reduce_prod",
            "reduce_sum",
        ),
        _REDUCED,
    ),
}


_NAME: Final = attrgetter("primitive.name")
_OUTVARS: Final = attrgetter("outvars")
_AVAL: Final = attrgetter("aval")


def kind_of(eqn: Eqn) -> Kind | None:
    """Return what the engine does with an operation; None if it fuses it with nothing."""
    return _KINDS.get(eqn.primitive.name)


def kinds_of(eqns: Sequence[Eqn]) -> list[Kind | None]:
    """Return what the engine does with each of many operations."""
    return [*map(_KINDS.get, map(_NAME, eqns))]


def kinds_in(eqns: Sequence[Eqn]) -> list[Kind | None]:
    """Return what the engine does with the operations that there are among many."""
    return [*map(_KINDS.get, {*map(_NAME, eqns)})]


def avals_of(eqns: Sequence[Eqn]) -> set[ShapedArray]:
    """Return the avals of all results of equations."""
    return {*map(_AVAL, chain.from_iterable(map(_OUTVARS, eqns)))}


def is_one_kernel(jaxpr: Jaxpr) -> bool:
    """Tell whether a program is one kernel, in which nothing is computed twice.

    That is so if it has one result, and each operation works element by element.
    """
    eqns = jaxpr.eqns
    if len({*jaxpr.outvars}) > 1:
        return False
    if not all(kind and not kind.moves for kind in kinds_in(eqns)):
        return False
    return len({aval.shape for aval in avals_of(eqns)}) < 2


def is_small(eqns: Sequence[Eqn]) -> bool:
    """Tell whether a program is so small that no cut saves enough."""
    if len(eqns) > LIMIT:
        return False
    kinds = kinds_of(eqns)
    work = sum([kind.work for kind in kinds if kind])
    return None not in kinds and work * len(eqns) < LIMIT


def takes_memory(eqn: Eqn) -> bool:
    """Tell whether a reduction reads its operand from memory."""
    of = eqn.invars[0].aval
    if dims.is_symbolic(of.size):
        return True
    axes: tuple[int, ...] = eqn.params["axes"]
    longest = max([of.shape[axis] for axis in axes], default=0)
    return longest > _AXIS or of.size >= _REDUCED_ALONE


# ---- functions in a row ----

IN_VECTORS: Final = frozenset(
    ("erf", "erfc", "exp", "expm1", "log", "log1p", "logistic", "tanh")
)
"""Functions that are polynomials; ten of them in one loop run slower than one by one."""

IN_A_ROW: Final = 2
"""After so many a row is cut: ten tanh of 30,000, 358 µs become 164, by threes 193."""

LARGE: Final = 10_000
"""Elements; with 3,000 a cut costs what it gains."""
