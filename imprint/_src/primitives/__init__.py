"""The first-order primitives, a family per file; `ALL` lists every one of them.

A family joins by its name in `_FAMILIES`, and loads when a program uses it; a primitive
that several of them import counts once. Those that hold a jaxpr are in `control`.

- `core_ops`: in which primitives are the rules of all others written?
- `families`: which rules do elementwise primitives of one arity share?
- `axes`: how do axes and sizes become params, and how do rules shift them?
- `divisors`: what is the greatest common divisor?
- `sizes`: how does the length of an axis become a number?
- `shape`: how do the same elements get another shape?
- `reductions`: how do axes disappear by an associative operation?
- `arg_reductions`: at which index is the extreme?
- `cumulative`: how is each element joined with all before it?
- `fft`: how are axes transformed to frequencies and back?
- `random_bits`: how does the engine make random bits?
- `hashing`: how does the host hash keys and counters?
- `collectives`: what passes between the places that a named axis runs over?
- `dot`: how are two operands contracted?
- `matrices`: what do primitives on stacks of matrices share?
- `constraints`: how are values to be spread over devices?
- `barrier`: what keeps the compiler from moving or merging a computation?
- `callbacks`: how does a program call a function of Python's?
- `checks`: how does a program end with an error of the user's?
- `copying`: when is a result that is its operand an array of its own?
- `elementwise`: what do operations on single elements compute?
- `indexing`: how are elements sliced, gathered, scattered and sorted?
- `linalg`: how are matrices factored, and systems solved?
- `special`: what are SciPy's special functions?
- `windows`: what do convolutions and sliding windows compute?
"""

from importlib import import_module
from typing import Final

from imprint._src.bootstrap import lazy_attributes
from imprint._src.core.primitive import Primitive

ALL: tuple[Primitive, ...]
"""Every first-order primitive; the laws and the disk loader read it."""

_FAMILIES: Final = (
    "core_ops",
    "elementwise.comparison",
    "elementwise.bitwise",
    "elementwise.select",
    "elementwise.arithmetic",
    "elementwise.complex",
    "elementwise.rounding",
    "elementwise.exponential",
    "elementwise.power",
    "elementwise.trigonometric",
    "special.special",
    "special.incomplete",
    "special.bessel",
    "special.polynomials",
    "divisors",
    "special.minimax_coeffs",
    "special.integrals",
    "special.hypergeometric",
    "special.faddeeva",
    "special.recurrences",
    "elementwise.bits",
    "elementwise.convert",
    "elementwise.reduce_precision",
    "sizes",
    "shape",
    "indexing.slicing",
    "indexing.dynamic_slicing",
    "indexing.gather",
    "indexing.scatter",
    "reductions",
    "arg_reductions",
    "cumulative",
    "indexing.sorting",
    "indexing.searching",
    "dot",
    "linalg.triangular",
    "linalg.cholesky",
    "linalg.lu",
    "fft",
    "random_bits",
    "linalg.rank_updates",
    "linalg.tridiagonal_solving",
    "windows.convolution",
    "linalg.orthogonal",
    "linalg.singular",
    "linalg.eigen",
    "linalg.schur",
    "windows.window_reductions",
    "constraints",
    "barrier",
    "callbacks",
    "checks",
    "copying",
    "collectives",
)


def _listed() -> tuple[Primitive, ...]:
    families = [import_module(f"{__name__}.{family}") for family in _FAMILIES]
    held = [value for family in families for value in vars(family).values()]
    return tuple(dict.fromkeys(v for v in held if isinstance(v, Primitive)))


lazy_attributes.list_lazily(__name__, _listed)
