"""The first-order primitives, a family per file; `ALL` lists every one of them.

A family is listed in `_FAMILIES` and loaded when a program uses it; a primitive that several
families import is listed once. Primitives that hold a jaxpr are in `control_flow`.

- `core_ops`: the primitives that rules of all others use
- `families`: shared rules of elementwise primitives of one arity
- `axes`: axes and sizes as params
- `shape`: the same elements in another shape, and sizes as numbers
- `reductions`: reductions by an associative operation
- `arg_reductions`: the index of the extreme
- `cumulative`: running sums, products and extremes
- `fft`: Fourier transforms
- `random_bits`: the engine's random bits
- `hashing`: the hash of keys and counters on the host
- `key_uses`: where programs use keys, for the search for reused ones
- `collectives`: communication along a named axis
- `dot`: contraction of two operands
- `matrices`: shared rules of primitives on stacks of matrices
- `native_calls`: calls of native kernels
- `constraints`: sharding constraints
- `barrier`: identities that keep the compiler from moving or merging values
- `callbacks`: calls of Python functions
- `checks`: programs that end with an error of a user check
- `copying`: results that are arrays of their own
- `elementwise`: operations on single elements
- `indexing`: slices, gathers, scatters and sorting
- `linalg`: factorizations and solvers
- `special`: SciPy's special functions
- `windows`: convolutions and sliding windows
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
    "elementwise.lengths",
    "special.special",
    "special.incomplete",
    "special.bessel",
    "special.polynomials",
    "special.minimax_coeffs",
    "special.integrals",
    "special.hypergeometric",
    "special.faddeeva",
    "elementwise.convert",
    "elementwise.reduce_precision",
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
    "key_uses",
    "collectives",
)


def _listed() -> tuple[Primitive, ...]:
    families = [import_module(f"{__name__}.{family}") for family in _FAMILIES]
    held = [value for family in families for value in vars(family).values()]
    return tuple(dict.fromkeys(v for v in held if isinstance(v, Primitive)))


lazy_attributes.list_lazily(__name__, _listed)
