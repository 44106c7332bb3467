"""A linear system: a function of a vector, what it shall be, and when that is near enough.

Trees of arrays are solved as one vector. The derivative of the solution is that of the
equation: it takes another solution, and is as exact as both have converged.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import imprint.numpy as np
from imprint import tree
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.dtypes import is_complex, to_inexact
from imprint._src.errors import ArgumentError, ShapeError, TreeError
from imprint._src.flatten_util import Unravel, ravel_pytree
from imprint._src.lax.solving import custom_linear_solve
from imprint._src.numpy.promotion import promote_dtypes

Map = Callable[[Array], Array]
"""A linear function of vectors."""


class System(NamedTuple):
    """A system of which the unknown is one vector.

    Args:
        name: the function that the user called.
        matvec: what it does to a vector.
        precondition: nearly the inverse of that.
        wanted: what `matvec` of the solution shall be.
        start: where to begin.
        unravel: makes the vector what the user's is.
    """

    name: str
    matvec: Map
    precondition: Map
    wanted: Array
    start: Array
    unravel: Unravel

    def solve(self, solve: Callable[[Map, Array], Array], *, symmetric: bool) -> Any:
        """Return the solution that `solve` finds, with its derivative.

        Args:
            solve: `(matvec, wanted) -> solution`.
            symmetric: whether a real `matvec` is its own transpose.
        """
        is_own_transpose = symmetric and not is_complex(self.wanted.dtype)
        found = custom_linear_solve(
            *(self.matvec, self.wanted, solve, solve, is_own_transpose)
        )
        return self.unravel(found)

    @property
    def steps(self) -> int:
        """How many steps are the most, if the user does not say: SciPy's number."""
        return 10 * self.wanted.size


def system(name: str, a: Any, b: Any, x0: Any, m: Any) -> System:
    """Return the system that a user means.

    Args:
        name: the function that they called.
        a: the matrix, or the function that multiplies by it.
        b: the right side, a tree of arrays.
        x0: where to begin, a tree like `b`; None for zeros.
        m: nearly the inverse of `a`, likewise; None for the identity.
    """
    leaves, treedef = tree.flatten(b)
    if not leaves:
        raise TreeError(f"{name}: expected b to hold an array, got {b!r}.")
    b = treedef.unflatten(promote_dtypes(name, leaves, to_inexact))
    wanted, unravel = ravel_pytree(b)
    start = np.zeros_like(wanted)
    if x0 is not None:
        _check_like(name, "x0", x0, b)
        start = ravel_pytree(x0)[0].astype(wanted.dtype)
    matvec = _map(name, "A", a, unravel, b)
    return System(name, matvec, _map(name, "M", m, unravel, b), wanted, start, unravel)


def _map(name: str, what: str, given: Any, unravel: Unravel, like: Any) -> Map:
    """Return a matrix, or a function of trees, as a function of vectors."""
    if given is None:
        return lambda vector: vector
    apply = given if callable(given) else _product(name, what, given)

    def of_vector(vector: Array) -> Array:
        out = apply(unravel(vector))
        _check_like(name, f"{what}(x)", out, like)
        return ravel_pytree(out)[0].astype(vector.dtype)

    return of_vector


def _product(name: str, what: str, matrix: Any) -> Map:
    shape = getattr(matrix, "shape", None)
    if shape is None or not hasattr(matrix, "__matmul__"):
        raise ArgumentError(
            f"{name}: expected {what} to be a matrix or a function of x, got "
            f"{type(matrix).__name__} {matrix!r:.60}."
        )
    rows, columns = shape if len(shape) == 2 else (0, None)
    if rows != columns:
        raise ShapeError(
            f"{name}: expected {what} to be a square matrix, got one of shape {shape}."
        )
    return lambda x: matrix @ x


def _check_like(name: str, what: str, given: Any, like: Any) -> None:
    leaves, treedef = tree.flatten(given)
    others, wanted = tree.flatten(like)
    if treedef != wanted:
        raise TreeError(
            f"{name}: expected {what} to be a tree like b, {wanted}, got {treedef}."
        )
    for x, y in zip(leaves, others, strict=True):
        if get_aval(x).shape != get_aval(y).shape:
            raise ShapeError(
                f"{name}: expected {what} to have the shapes of b, got {get_aval(x)} for "
                f"{get_aval(y)}."
            )


def inner(x: Array, y: Array) -> Array:
    """Return the inner product of two vectors, the first one conjugated."""
    return np.vdot(x, y)


def square(x: Array) -> Array:
    """Return the square of the length of a vector, a real number."""
    return np.vdot(x, x).real
