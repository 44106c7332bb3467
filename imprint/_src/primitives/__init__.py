"""The first-order primitives, a family per file; `ALL` lists every one of them.

A family joins by its name in `_FAMILIES`, and loads when a program uses it; a primitive
that several of them import counts once. Those that hold a jaxpr are in `control`.

- `basis`: in which primitives are the rules of all others written?
- `families`: which rules do elementwise primitives of one arity share?
- `elementwise`: what do elementwise primitives take, and how are they lowered?
- `axes`: how do axes and sizes become params, and how do rules shift them?
- `arithmetic`: how are quotients, remainders, extremes and integer powers computed?
- `rounding`: how are numbers rounded, and what are sign and magnitude?
- `exponential`: how are exponentials, logarithms and roots computed?
- `power`: how is an array raised to an array?
- `trigonometric`: how are functions of angles and their inverses computed?
- `special`: how are error functions and those of the gamma family computed?
- `formulas`: how is a formula written once, for NumPy and for StableHLO?
- `incomplete`: how are the incomplete gamma and beta functions computed?
- `bessel`: how are Bessel functions computed?
- `polynomials`: how are polynomials computed, and upper halves of products?
- `fitted`: which functions are SciPy's, and series of it in programs?
- `integrals`: what are exponential integrals of an order, and Owen's T?
- `hypergeometric`: what are the functions 1F1 and 2F1?
- `faddeeva`: what is the scaled error function of complex numbers?
- `recurrences`: what are the Bessel functions of all orders up to one?
- `divisors`: what is the greatest common divisor?
- `comparison`: how do two operands compare?
- `complex`: how are complex numbers made and taken apart?
- `bitwise`: how are the bits of two operands joined or shifted?
- `bits`: how are the bits of one operand inverted or counted?
- `convert`: how does a value, or its bits, get another dtype?
- `reduce_precision`: how is a float rounded to fewer bits?
- `select`: how are elements chosen from operands?
- `sizes`: how does the length of an axis become a number?
- `shape`: how do the same elements get another shape?
- `slicing`: how are parts cut, padded and joined at places known while tracing?
- `dynamic_slicing`: how is a part taken or written at a traced place?
- `windows_at`: where do windows lie whose places are data, and which axes are whose?
- `windows_padded`: where do they lie where the true size is data?
- `windows_by_numpy`: how does NumPy read and write such windows?
- `gather`: how are windows read, or added to, at places that are data?
- `scatter`: how do updates replace, multiply or bound what is at their places?
- `reductions`: how do axes disappear by an associative operation?
- `arg_reductions`: at which index is the extreme?
- `cumulative`: how is each element joined with all before it?
- `fft`: how are axes transformed to frequencies and back?
- `random_bits`: how does the engine make random bits?
- `hashing`: how does the host hash keys and counters?
- `sorting`: how do elements come in order, and which are the largest?
- `searching`: where do elements belong in what is in order?
- `picking`: how is read and written at indices that lie in bounds?
- `collectives`: what passes between the places that a named axis runs over?
- `dot`: how are two operands contracted?
- `convolution`: how are windows contracted with a kernel?
- `windows`: where are the windows of an array, and how does NumPy convolve?
- `window_reductions`: how are windows summed, and their extremes found?
- `precision`: how exactly is a product computed?
- `matrices`: what do primitives on stacks of matrices share?
- `triangular`: how is a system solved of which one triangle counts?
- `cholesky`: how is a positive definite matrix factored?
- `routines`: how does eager evaluation call LAPACK?
- `orthogonal`: how is a matrix factored into an orthogonal and a triangular one?
- `singular`: what are the singular values of a matrix?
- `eigen`: what are the eigenvalues of a matrix?
- `schur`: how does a matrix get nearly triangular or diagonal?
- `lu`: how is a matrix factored into two triangles?
- `rank_updates`: what is added to a symmetric matrix, or to the factor of one?
- `tridiagonal_solving`: how is a system of three diagonals solved?
- `constraints`: how are values to be spread over devices?
- `barrier`: what keeps the compiler from moving or merging a computation?
- `callbacks`: how does a program call a function of Python's?
- `checks`: how does a program end with an error of the user's?
- `copying`: when is a result that is its operand an array of its own?
"""

from importlib import import_module
from typing import Final

from imprint._src.bootstrap import lazy_attributes
from imprint._src.core.primitive import Primitive

ALL: tuple[Primitive, ...]
"""Every first-order primitive; the laws and the disk loader read it."""

_FAMILIES: Final = (
    "basis",
    "comparison",
    "bitwise",
    "select",
    "arithmetic",
    "complex",
    "rounding",
    "exponential",
    "power",
    "trigonometric",
    "special",
    "incomplete",
    "bessel",
    "polynomials",
    "divisors",
    "fitted",
    "integrals",
    "hypergeometric",
    "faddeeva",
    "recurrences",
    "bits",
    "convert",
    "reduce_precision",
    "sizes",
    "shape",
    "slicing",
    "dynamic_slicing",
    "gather",
    "scatter",
    "reductions",
    "arg_reductions",
    "cumulative",
    "sorting",
    "searching",
    "dot",
    "triangular",
    "cholesky",
    "lu",
    "fft",
    "random_bits",
    "rank_updates",
    "tridiagonal_solving",
    "convolution",
    "orthogonal",
    "singular",
    "eigen",
    "schur",
    "window_reductions",
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


lazy_attributes.list_later(__name__, _listed)
