"""Sizes of axes, and the arithmetic in which every shape is computed.

A size is an int or a `SymbolicDim`: an expression in names whose values come later.
Sums, differences, products, `//` and `%` are Python operators. Comparisons are
functions here, because for an expression the answer may depend on the values. Then
`equal`, `at_least`, `divides` and `broadcast` raise ShapeError and show both sides.
`is_same` and `is_surely_at_least` never raise: False means "not always", for choices in
which that is right, too. `concrete` is for users of a number, such as a loop. For ints
each function is a type check and the operator.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any, Final, TypeAlias, TypeVar

from imprint._src.errors import ArgumentError, ConcretizationError, ShapeError

Dim: TypeAlias = int
"""A size; typed as an int, which it nearly always is. A `SymbolicDim` stands in for it."""
Shape: TypeAlias = tuple[Dim, ...]
_T = TypeVar("_T")


class SymbolicDim:
    """A size that is an expression.

    A subclass has the operators + - * // % with ints and its like on either side, which give
    an int where no name is left in the result, a hash, and a text (`str` and `repr`) that
    is the expression. Equal expressions hash alike; different ones should not. It has no
    `__index__`, or one that raises TypeError. Not an ABC: isinstance is 5 times slower.
    """

    __slots__ = ()

    def is_zero(self) -> bool | None:
        """Return whether it is 0 for all values, for none (False), or for some (None)."""
        raise NotImplementedError

    def is_non_negative(self) -> bool | None:
        """Return whether it is at least 0 for all values, for none, or for some (None)."""
        raise NotImplementedError

    def undecided(self, relation: str, other: Dim) -> bool:
        """Answer a comparison that depends on the values; raise ShapeError if undecided."""
        raise NotImplementedError

    def computed(
        self, value: Callable[[str | int], _T], join: Callable[[str, _T, _T], _T]
    ) -> _T:
        """Return its value, computed in another arithmetic.

        Args:
            value: gives that of a name, or of a number.
            join: returns `add`, `mul`, `floordiv`, `mod`, `max` or `min` of two values.
        """
        raise NotImplementedError

    def maximum(self, other: Dim) -> Dim:
        """Return the expression of the larger one."""
        raise NotImplementedError

    def minimum(self, other: Dim) -> Dim:
        """Return the expression of the smaller one."""
        raise NotImplementedError


# ---- conversion ----


def as_dim(n: Any, name: str = "") -> Dim:
    """Return a size as shapes hold it: NumPy integers and booleans become ints.

    `name` is the function that the user called, for the error message.
    """
    if type(n) is int or isinstance(n, SymbolicDim):
        return n  # pyright: ignore[reportReturnType] - see `Dim`
    try:
        return operator.index(n)
    except TypeError:
        if hasattr(n, "aval"):
            raise  # an array or a tracer raises its own error
        raise ArgumentError(
            f"{name and name + ': '}expected a whole number, got "
            f"{type(n).__name__} {n!r:.60}. "
            "Convert it with int()."
        ) from None


def as_shape(sizes: Iterable[Any], name: str = "") -> Shape:
    """Return sizes as shapes hold them; `name` is for the error, as in `as_dim`."""
    if not hasattr(sizes, "__iter__"):
        raise ArgumentError(
            f"{name and name + ': '}expected a sequence of whole numbers, got "
            f"{type(sizes).__name__} {sizes!r:.60}. Write them as Python ints, in a tuple."
        )
    given = tuple(sizes)
    try:
        return tuple(map(operator.index, given))
    except TypeError:  # there are symbolic ones, or none is a size
        return tuple([as_dim(n, name) for n in given])


def is_symbolic(n: Any) -> bool:
    """Return whether `n` is a size that is no number."""
    return isinstance(n, SymbolicDim)


def concrete(n: Dim, what: str) -> int:
    """Return a size as a number; `what` begins the error message."""
    if type(n) is int:
        return n
    if isinstance(n, SymbolicDim):
        raise _unknown(n, what)
    return as_dim(n, what)


def _unknown(n: Dim, what: str) -> ConcretizationError:
    return ConcretizationError(
        f"{what}: expected a length that is known while tracing, got {n}. "
        "Give the axis a fixed length, or compute without its number."
    )


def power_of_two(n: Dim, what: str) -> int:
    """Return a power of two from 16 on that is no less than a size: the smallest one.

    A trace for many sizes decides which; `what` begins the error message where it cannot.
    """
    power = 16
    try:
        while not at_least(power, n):
            power *= 2
    except ShapeError as err:
        raise _unknown(n, what) from err
    return power


# ---- questions ----


def equal(n: Dim, m: Dim) -> bool:
    """Return whether two sizes are equal; raise ShapeError where that is undecided."""
    if type(n) is int and type(m) is int:
        return n == m
    answer = _is_zero(n, m)
    return _undecided(n, "==", m) if answer is None else answer


def at_least(n: Dim, m: Dim) -> bool:
    """Return whether `n >= m`; raise ShapeError where that is undecided."""
    if type(n) is int and type(m) is int:
        return n >= m
    answer = _is_non_negative(n, m)
    return _undecided(n, ">=", m) if answer is None else answer


def is_same(n: Dim, m: Dim) -> bool:
    """Return whether two sizes are equal for all values; never raises."""
    if type(n) is int and type(m) is int:
        return n == m
    return _is_zero(n, m) is True


def is_surely_at_least(n: Dim, m: Dim) -> bool:
    """Return whether `n >= m` for all values; never raises."""
    if type(n) is int and type(m) is int:
        return n >= m
    return _is_non_negative(n, m) is True


def divides(k: Dim, n: Dim) -> bool:
    """Return whether `n` is a multiple of `k`; raise ShapeError where undecided."""
    return not is_same(k, 0) and equal(n % k, 0)


def equal_shapes(a: Shape, b: Shape) -> bool:
    """Return whether two shapes are equal; raise ShapeError where that is undecided."""
    if a is b or len(a) != len(b):
        return a is b
    return _are_one(a, b) or all(map(equal, a, b))


def is_same_shape(a: Shape, b: Shape) -> bool:
    """Return whether two shapes are equal for all values; never raises."""
    if a is b or len(a) != len(b):
        return a is b
    return _are_one(a, b) or all(map(is_same, a, b))


def _are_one(a: Shape, b: Shape) -> bool:
    """Return whether two shapes are equal objects; `==` runs for equal hashes only."""
    return hash(a) == hash(b) and a == b


def has_negative(shape: Iterable[Dim]) -> bool:
    """Return whether a length is below 0; raise ShapeError where that is undecided."""
    return any(n < 0 if type(n) is int else not at_least(n, 0) for n in shape)


def has_zero(shape: Iterable[Dim]) -> bool:
    """Return whether a shape has surely no elements."""
    return any(is_same(n, 0) for n in shape)


def _is_zero(n: Dim, m: Dim) -> bool | None:
    gap = n - m
    return gap.is_zero() if isinstance(gap, SymbolicDim) else gap == 0


def _is_non_negative(n: Dim, m: Dim) -> bool | None:
    gap = n - m
    return gap.is_non_negative() if isinstance(gap, SymbolicDim) else gap >= 0


def _undecided(n: Dim, relation: str, m: Dim) -> bool:
    if isinstance(n, SymbolicDim):
        return n.undecided(relation, m)
    assert isinstance(m, SymbolicDim)
    return m.undecided(_TURNED[relation], n)


_TURNED: Final = {"==": "==", ">=": "<="}


# ---- arithmetic ----


def product(sizes: Iterable[Dim]) -> Dim:
    """Return the product: the number of elements of a shape."""
    return prod(sizes)


def ceil_divide(n: Dim, k: Dim) -> Dim:
    """Return `n / k` for a positive `k`, rounded up: how many parts of `k` hold `n`."""
    if type(n) is int and type(k) is int:
        return -(-n // k)
    return n // k if is_same(n % k, 0) else (n + k - 1) // k


def power_above(n: Dim, least: int) -> int:
    """Return the first power of two, from `least` on, that is at least a size."""
    power = least
    while at_least(n, power + 1):
        power *= 2
    return power


def maximum(n: Dim, m: Dim) -> Dim:
    """Return the larger size."""
    if type(n) is int and type(m) is int:
        return max(n, m)
    if is_surely_at_least(n, m):
        return n
    if is_surely_at_least(m, n):
        return m
    x, y = _symbolic_first(n, m)
    return x.maximum(y)


def minimum(n: Dim, m: Dim) -> Dim:
    """Return the smaller size."""
    if type(n) is int and type(m) is int:
        return min(n, m)
    if is_surely_at_least(n, m):
        return m
    if is_surely_at_least(m, n):
        return n
    x, y = _symbolic_first(n, m)
    return x.minimum(y)


def _symbolic_first(n: Dim, m: Dim) -> tuple[SymbolicDim, Dim]:
    if isinstance(n, SymbolicDim):
        return n, m
    assert isinstance(m, SymbolicDim)
    return m, n


def clamp(n: Dim, low: Dim, high: Dim) -> Dim:
    """Return the size in [`low`, `high`] that is nearest to `n`."""
    return maximum(low, minimum(n, high))


def dilated(n: Dim, step: int) -> Dim:
    """Return the extent of `n` elements with distance `step`; 0 for no elements."""
    return maximum(0, (n - 1) * step + 1)


def slice_bounds(start: Any, limit: Any, n: Dim) -> tuple[Dim, Dim]:
    """Return the bounds of the slice `start:limit` of an axis of length `n`.

    The end is not before the beginning, so their distance is the number of elements.
    """
    if type(n) is int and not (is_symbolic(start) or is_symbolic(limit)):
        first, last, _ = slice(start, limit).indices(n)
        return first, max(first, last)
    first = 0 if start is None else _from_zero(as_dim(start), n)
    last = n if limit is None else _from_zero(as_dim(limit), n)
    return first, maximum(first, last)


def element(at: Dim, n: Dim) -> Dim | None:
    """Return which element an index means that may count from the end; None: no one."""
    if type(at) is int and type(n) is int:
        return at if 0 <= at < n else (at + n if -n <= at < 0 else None)
    if not (at_least(n, -at) and at_least(n, at + 1)):
        return None
    return at if at_least(at, 0) else at + n


def _from_zero(at: Dim, n: Dim) -> Dim:
    """Return an index that may count from the end, from the beginning and in bounds."""
    return minimum(at, n) if at_least(at, 0) else maximum(at + n, 0)


# ---- broadcasting ----


def broadcast(n: Dim, m: Dim) -> Dim | None:
    """Return the size to which two sizes broadcast; None if there is none.

    Only a size that is always 1 is repeated: one that may be 1 must be equal.
    """
    if type(n) is int and type(m) is int:
        return m if n == 1 else (n if m in (1, n) else None)
    if is_same(n, 1):
        return m
    return n if is_same(m, 1) or equal(n, m) else None


def broadcast_shapes(shapes: Sequence[Shape]) -> Shape | None:
    """Return the shape to which `shapes` broadcast; None if there is none."""
    common = list(max(shapes, key=len, default=()))
    for shape in shapes:
        for i, n in enumerate(shape, len(common) - len(shape)):
            if n is not common[i]:  # most are
                size = broadcast(common[i], n)
                if size is None:
                    return None
                common[i] = size
    return tuple(common)


def repeats_to(shape: Shape, wanted: Shape) -> bool:
    """Return whether an array of `shape` broadcasts to exactly `wanted`."""
    tail = wanted[len(wanted) - len(shape) :]
    return len(shape) <= len(wanted) and all(
        is_same(n, 1) or equal(n, m) for n, m in zip(shape, tail, strict=True)
    )
