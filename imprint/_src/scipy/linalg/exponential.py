"""expm and expm_frechet: the matrix exponential and its derivative.

The method is N. Higham's (2005): scale a matrix by a power of two until a Padé
approximant is exact to the last digits, solve for it, and square repeatedly. The order
of the approximant depends on the norm, at run time.
"""

from collections.abc import Sequence
from functools import partial
from math import factorial
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.errors import ShapeError
from imprint._src.interpreters.derivatives import jvp
from imprint._src.interpreters.vmap import vmap
from imprint._src.lax.branching import cond, switch
from imprint._src.lax.loops import scan
from imprint._src.numpy.elementwise.arithmetic import absolute, maximum
from imprint._src.numpy.elementwise.exponential import exp2, log2
from imprint._src.numpy.elementwise.rounding import floor
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.linalg import solving as general
from imprint._src.numpy.linalg.operands import square_matrices
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.numpy.reductions.reductions import max as max_
from imprint._src.numpy.reductions.reductions import sum as sum_
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.elementwise import listed
from imprint._src.primitives.linalg.triangular import triangular_solve
from imprint._src.primitives.matrices import identity, product
from imprint._src.primitives.shape import reshape


def expm(
    A: ArrayLike,  # noqa: N803 - SciPy's name
    *,
    upper_triangular: bool = False,
    max_squarings: int = 16,
) -> Array:
    """Return the exponentials of square matrices.

    Args:
        A: square matrices along the last two axes.
        upper_triangular: whether they are upper triangular, which saves a
            factorization.
        max_squarings: the maximum number of squarings; a matrix whose norm needs more
            gives NaN.

    Returns:
        The exponentials, of the shape of `A`, in its inexact dtype.

    Raises:
        ShapeError: `A` is not square.

    References:
        SciPy, `scipy.linalg.expm`; Higham 2005.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.expm(np.array([[0.0, 1.0], [0.0, 0.0]]))
        Array([[1., 1.],
               [0., 1.]], dtype=float32)
    """
    (x,) = square_matrices("scipy.linalg.expm", A)
    function = partial(_of_one, upper=bool(upper_triangular), most=max_squarings)
    if x.ndim == 2:
        return function(x)
    size = dims.product(x.shape[:-2])
    if size == 0:
        return x
    return reshape(vmap(function)(reshape(x, (size, *x.shape[-2:]))), x.shape)


def expm_frechet(
    A: ArrayLike,  # noqa: N803 - SciPy's name
    E: ArrayLike,  # noqa: N803 - SciPy's name
    *,
    method: str | None = None,
    compute_expm: bool = True,
) -> Any:
    """Return the exponentials of square matrices, and their derivatives along others.

    Args:
        A: square matrices along the last two axes.
        E: the directions, with the shape of `A`.
        method: changes nothing.
        compute_expm: whether to return both; else only the derivatives.

    Returns:
        The exponentials and the derivatives, or the derivatives alone, of the shape of `A`.

    Raises:
        ShapeError: `A` is not square, or `E` has another shape.

    References:
        SciPy, `scipy.linalg.expm_frechet`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.expm_frechet(np.zeros((2, 2)), np.eye(2))[1]
        Array([[1., 0.],
               [0., 1.]], dtype=float32)
    """
    x, t = square_matrices("scipy.linalg.expm_frechet", A, E)
    if not dims.equal_shapes(x.shape, t.shape):
        raise ShapeError(
            "scipy.linalg.expm_frechet: expected directions of the shape of the "
            f"matrices, got {listed((x.aval, t.aval))}. Broadcast them first."
        )
    value, along = jvp(expm, (x,), (t,))
    return (value, along) if compute_expm else along


# ---- one matrix ----


class _Method(NamedTuple):
    """The approximants for a dtype.

    Args:
        largest: the norm to which a matrix is scaled.
        bounds: the largest norm for which each order but the last is exact enough.
        orders: the orders of the approximants.
    """

    largest: float
    bounds: tuple[float, ...]
    orders: tuple[int, ...]


_SINGLE: Final = _Method(
    3.925724783138660, (4.258730016922831e-1, 1.880152677804762), (3, 5, 7)
)
_DOUBLE: Final = _Method(
    5.371920351148152,
    (
        1.495585217958292e-2,
        2.539398330063230e-1,
        9.504178996162932e-1,
        2.097847961257068,
    ),
    (3, 5, 7, 9, 13),
)
_METHODS: Final = {
    "float32": _SINGLE,
    "complex64": _SINGLE,
    "float64": _DOUBLE,
    "complex128": _DOUBLE,
}


def _of_one(x: Any, *, upper: bool, most: int) -> Any:
    aval = get_aval(x)
    method = _METHODS[aval.dtype.name]
    size = max_(sum_(absolute(x), axis=0), initial=0)
    count = maximum(0, floor(log2(size / method.largest)))
    scaled = x / convert_element_type(exp2(count), aval.dtype)
    bounds = np.asarray(method.bounds, get_aval(size).dtype)
    index = sum_(size >= bounds, dtype=np.int32)
    branches = [partial(_approximant, order=order) for order in method.orders]
    above, below = switch(index, branches, scaled)
    if upper:
        out = triangular_solve(below, above, left_side=True)
    else:
        out = general.solve(below, above)
    out = _squared(out, count, most)
    return where(count > most, aval.dtype.type(np.nan), out)


def _squared(x: Any, count: Any, most: int) -> Any:
    """Square `count` times, in a loop of fixed length, so that it has a vjp."""

    def square(v: Any) -> Any:
        return product(v, v)

    def same(v: Any) -> Any:
        return v

    def step(carry: Any, i: Any) -> Any:
        return cond(i < count, square, same, carry), None

    steps = np.arange(most, dtype=get_aval(count).dtype)
    return scan(step, x, steps)[0]


def _approximant(x: Any, *, order: int) -> tuple[Any, Any]:
    """Return numerator and denominator of the approximant of an order."""
    aval = get_aval(x)
    terms = [
        factorial(2 * order - j) / (factorial(order - j) * factorial(j))
        for j in range(order + 1)
    ]
    powers = [identity(aval.shape, aval.dtype), product(x, x)]  # of x²
    while len(powers) < min(order // 2, 4) + 1 - (order == _LONGEST):
        powers.append(product(powers[-1], powers[1]))
    odd, even = (_summed(terms[start::2], powers) for start in (1, 0))
    odd = product(x, odd)
    return even + odd, even - odd


_LONGEST: Final = 13


def _summed(terms: Sequence[float], powers: Sequence[Any]) -> Any:
    """Return the polynomial in x² of these terms, with one product for each power."""
    scaled = [get_aval(powers[0]).dtype.type(term) for term in terms]
    count = len(powers)
    out = _total([scaled[i] * powers[i] for i in range(min(count, len(terms)))])
    higher = [scaled[i] * powers[i - count + 1] for i in range(count, len(terms))]
    return out + product(powers[-1], _total(higher)) if higher else out


def _total(arrays: Sequence[Any]) -> Any:
    out = arrays[0]
    for x in arrays[1:]:
        out = out + x
    return out
