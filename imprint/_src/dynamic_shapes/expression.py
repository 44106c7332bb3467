"""Expressions of names in canonical form, so that equal expressions are one object.

A size is a polynomial with integer coefficients in atoms: names, and irreducible
quotients, remainders and extremes. An atom is its text; its operands are in the scope.
Each expression of a scope is one object, so equal ones are found by identity. The
canonical form: `k*(x//k)` is `x - x%k`, whole multiples leave quotients and remainders,
and the common part of the operands of an extreme is added outside it. `bounds` and
`values`, which compute with sizes, set `ANALYSES`.
"""

import sys
from collections.abc import Callable, Mapping
from functools import partial, reduce
from math import inf
from typing import Any, Final, NamedTuple, NoReturn, Self, TypeAlias, TypeVar, final

import numpy as np

from imprint._src.core.array import NumberArray
from imprint._src.core.dims import SymbolicDim
from imprint._src.errors import ArgumentError, ConcretizationError, ShapeError
from imprint._src.primitives.shape import as_value

# ---- terms ----


Monomial: TypeAlias = tuple[tuple[str, int], ...]
"""Atoms and their powers, in the order of their texts; empty for the constant."""
Terms: TypeAlias = dict[Monomial, int]
"""The coefficient of each monomial, none 0."""

ONE: Final[Monomial] = ()


def product(a: Monomial, b: Monomial) -> Monomial:
    """Return the product of two monomials."""
    powers = dict(a)
    for text, power in b:
        powers[text] = powers.get(text, 0) + power
    return tuple(sorted(powers.items()))


def without(monomial: Monomial, part: Monomial) -> Monomial | None:
    """Return the quotient of two monomials; None if there is a remainder."""
    powers = dict(monomial)
    for text, power in part:
        powers[text] = powers.get(text, 0) - power
    if any(power < 0 for power in powers.values()):
        return None
    return tuple(sorted([(text, power) for text, power in powers.items() if power]))


def atom_of(terms: Terms) -> str | None:
    """Return the atom that a sum is, if it is one."""
    for monomial, k in terms.items():
        for text, power in monomial:
            if k == power == len(monomial) == len(terms) == 1:
                return text
    return None


def rank(term: tuple[Monomial, int]) -> tuple[int, str]:
    """Return the sort key of a term in a sum: the highest degree comes first."""
    monomial = term[0]
    return -sum([power for _, power in monomial]), str(monomial)


def shown(terms: Terms) -> str:
    """Return the text of a sum."""
    ordered = sorted(terms.items(), key=_rank_shown)
    text = "".join([_term(monomial, k) for monomial, k in ordered])
    return text[3:] if text.startswith(" + ") else f"-{text[3:]}"


def _rank_shown(term: tuple[Monomial, int]) -> tuple[int, bool, str]:
    degree, text = rank(term)
    return degree, term[1] < 0, text


def _term(monomial: Monomial, k: int) -> str:
    factors = [text if power == 1 else f"{text}^{power}" for text, power in monomial]
    if abs(k) != 1 or not factors:
        factors = [str(abs(k)), *factors]
    return f" {'-' if k < 0 else '+'} {'*'.join(factors)}"


_T = TypeVar("_T")


class Operation(NamedTuple):
    """An atom that is no name.

    Args:
        name: `floordiv`, `mod`, `max` or `min`.
        x: the first operand.
        y: the second one.
    """

    name: str
    x: "Size"
    y: "Size"


class SizeScope:
    """The expressions of some names, and the constraints on them.

    Attributes:
        made: the sizes.
        operations: the operations of the atoms that are no names.
        equals: the sizes that atoms are known to equal.
        facts: sizes that are known not to be negative.
        least: the least values of names.
        remainders: (size, by, left): a size modulo a number is `left`.
        decide: answers (x, relation, y) where that depends on the values; None: an
            error.
    """

    __slots__ = (
        *("__weakref__", "decide", "equals", "facts", "least", "made", "operations"),
        "remainders",
    )

    def __init__(self) -> None:
        self.made: dict[frozenset[tuple[Monomial, int]], SymbolicSize] = {}
        self.operations: dict[str, Operation] = {}
        self.equals: dict[str, Size] = {}
        self.facts: list[SymbolicSize] = []
        self.least: dict[str, int] = {}
        self.remainders: list[tuple[SymbolicSize, int, int]] = []
        self.decide: Callable[[SymbolicSize, str, Any], bool] | None = None

    def name(self, text: str) -> "Size":
        """Return the size of this name."""
        return self.atom(text)

    def atom(self, text: str) -> "Size":
        """Return the size of an atom, or the size that it is known to equal."""
        known = self.equals.get(text)
        return self.size({((text, 1),): 1}) if known is None else known

    def size(self, terms: Mapping[Monomial, int]) -> "Size":
        """Return the size of these terms: an int if no name is left."""
        kept = {monomial: k for monomial, k in terms.items() if k}
        if not kept:
            return 0
        if len(kept) == 1 and ONE in kept:
            return kept[ONE]
        if self.operations:
            whole = without_whole_quotients(self, kept)
            if whole is not None:
                return whole
        key = frozenset(kept.items())
        found = self.made.get(key)
        if found is None:
            found = self.made[key] = SymbolicSize(self, kept)
        return found

    def operation(self, name: str, x: "Size", y: "Size") -> "Size":
        """Return an operation of which nothing simpler is known."""
        text = f"{name}({x}, {y})"
        self.operations.setdefault(text, Operation(name, x, y))
        return self.atom(text)

    def least_of(self, name: str) -> int:
        """Return the least value of a name: 1, as in JAX, if no constraint says."""
        return self.least.get(name, 1)

    def most_of(self, name: str) -> float:
        """Return the largest value of a name: infinite if no constraint says."""
        size = self.atom(name)
        return size if isinstance(size, int) else size.bounds()[1]


@final
class SymbolicSize(SymbolicDim):
    """A size that is an expression of names; made by `symbolic_shape`.

    Arithmetic with ints and other sizes gives sizes; with anything else the size is a
    number, whose value comes later. `==`, `<` and their like answer what holds for all
    values of the names, and raise ShapeError where that depends on them.
    """

    __slots__ = ("_lows", "scope", "terms")

    __array_ufunc__ = None  # NumPy scalars leave arithmetic to us

    def __init__(self, scope: SizeScope, terms: Terms) -> None:
        self.scope: SizeScope = scope
        self.terms: Terms = terms
        self._lows: dict[int, float] = {}

    # ---- arithmetic ----

    def __add__(self, other: Any) -> Any:
        size = as_size(other)
        if size is None:
            return self._as_number(other, "__add__")
        total = dict(self.terms)
        for monomial, k in self._like(size).items():
            total[monomial] = total.get(monomial, 0) + k
        return self.scope.size(total)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        size = as_size(other)
        if size is None:
            return self._as_number(other, "__mul__")
        total: Terms = {}
        for a, k in self.terms.items():
            for b, m in self._like(size).items():
                monomial = product(a, b)
                total[monomial] = total.get(monomial, 0) + k * m
        return self.scope.size(total)

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Self:
        return self

    def __sub__(self, other: Any) -> Any:
        size = as_size(other)
        return self._as_number(other, "__sub__") if size is None else self + size * -1

    def __rsub__(self, other: Any) -> Any:
        size = as_size(other)
        return other - self.__jax_array__() if size is None else self * -1 + size

    def __pow__(self, power: Any) -> Any:
        if not isinstance(power, int) or power < 0:
            return self._as_number(power, "__pow__")
        result: Size = 1
        for _ in range(power):
            result = self * result
        return result

    def __rpow__(self, base: Any) -> Any:
        return base ** self.__jax_array__()

    def __truediv__(self, other: Any) -> Any:
        return self._as_number(other, "__truediv__")

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.__jax_array__()

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __floordiv__(self, other: Any) -> Any:
        size = as_size(other)
        if size is None:
            return self._as_number(other, "__floordiv__")
        return divided(self.scope, self, self._own(size))[0]

    def __rfloordiv__(self, other: Any) -> Any:
        size = as_size(other)
        if size is None:
            return other // self.__jax_array__()
        return divided(self.scope, size, self)[0]

    def __mod__(self, other: Any) -> Any:
        size = as_size(other)
        if size is None:
            return self._as_number(other, "__mod__")
        return divided(self.scope, self, self._own(size))[1]

    def __rmod__(self, other: Any) -> Any:
        size = as_size(other)
        if size is None:
            return other % self.__jax_array__()
        return divided(self.scope, size, self)[1]

    def computed(
        self, value: Callable[[str | int], _T], join: Callable[[str, _T, _T], _T]
    ) -> _T:
        """Return its value, computed in another arithmetic; see `SymbolicDim`."""

        def of(x: Size) -> _T:
            return value(x) if isinstance(x, int) else x.computed(value, join)

        def atom(text: str) -> _T:
            made = self.scope.operations.get(text)
            return (
                value(text) if made is None else join(made.name, of(made.x), of(made.y))
            )

        terms: list[_T] = []
        for monomial, k in self.terms.items():
            factors = [atom(text) for text, power in monomial for _ in range(power)]
            if k != 1 or not factors:
                factors.append(value(k))
            terms.append(reduce(partial(join, "mul"), factors))
        return reduce(partial(join, "add"), terms)

    def maximum(self, other: Any) -> Any:
        """Return the expression of the larger one."""
        return extreme(self.scope, "max", self, self._own(other))

    def minimum(self, other: Any) -> Any:
        """Return the expression of the smaller one."""
        return extreme(self.scope, "min", self, self._own(other))

    def _own(self, other: Any) -> Any:
        self._like(other)
        return other

    def _like(self, other: Any) -> Terms:
        """Return the terms of another size of this scope."""
        if isinstance(other, int):
            return {ONE: other}
        if other.scope is not self.scope:
            raise ArgumentError(
                f"expected sizes of one scope, got {self} and {other} of two. Make them "
                "by one call of symbolic_shape, or pass scope= to both."
            )
        return other.terms

    def _as_number(self, other: Any, operator: str) -> Any:
        """Compute with something that is no size, as the number that this one is."""
        if isinstance(other, NumberArray):
            return NotImplemented  # the array promotes the number
        number: Any = self.__jax_array__()
        return getattr(number, operator)(other)

    def __jax_array__(self) -> Any:
        """Return the number that it is as an array of no axes, in a trace."""
        return as_value(self)

    # ---- questions ----

    def is_zero(self) -> bool | None:
        """Return whether it is 0 for all values, for none (False), or for some (None)."""
        low, high = self.bounds()
        if low > 0 or high < 0:
            return False
        if low == high == 0:
            return True
        shared = np.gcd.reduce([k for monomial, k in self.terms.items() if monomial])
        return False if self.terms.get(ONE, 0) % int(shared) else None

    def is_non_negative(self) -> bool | None:
        """Return whether it is at least 0 for all values, for none, or for some (None)."""
        low, high = self.bounds()
        return True if low >= 0 else (False if high < 0 else None)

    def bounds(self) -> tuple[float, float]:
        """Return numbers between which it surely lies; infinite where none is known."""
        return self.low(), -(-self).low()

    def low(self, depth: int = 0) -> float:
        """Return a number that it is surely not below."""
        found = self._lows.get(depth)
        if found is None:
            self._lows[depth] = -inf  # the computation may need it again
            found = self._lows[depth] = ANALYSES.low(self, depth)
        return found

    def forget(self) -> None:
        """Drop the bounds that were found before a constraint was known."""
        self._lows.clear()

    def undecided(self, relation: str, other: Any) -> bool:
        """Answer a comparison that depends on the values; raise ShapeError if undecided."""
        if self.scope.decide is None:
            raise ShapeError(ANALYSES.undecided_message(self, relation, other))
        return self.scope.decide(self, relation, other)

    def __hash__(self) -> int:
        if self.scope.decide is not None and _is_called_by_user_code():
            raise ConcretizationError(
                f"a set or dictionary that is asked for the size {self}: expected a "
                "number, got a size that stands for many. Ask with == instead."
            )
        return object.__hash__(self)  # equal ones are one object

    def __eq__(self, other: object) -> bool:
        size = as_size(other)
        if self is other or size is None:
            return True if self is other else NotImplemented
        if not isinstance(size, int) and size.scope is not self.scope:
            return False
        gap: Any = self - size
        return self._decided(
            "==", size, gap == 0 if isinstance(gap, int) else gap.is_zero()
        )

    def __ne__(self, other: object) -> bool:
        return NotImplemented if as_size(other) is None else not self == other

    def __ge__(self, other: Any) -> bool:
        return self._ordered(">=", other, 1, 0)

    def __le__(self, other: Any) -> bool:
        return self._ordered("<=", other, -1, 0)

    def __gt__(self, other: Any) -> bool:
        return self._ordered(">", other, 1, 1)

    def __lt__(self, other: Any) -> bool:
        return self._ordered("<", other, -1, 1)

    def __bool__(self) -> bool:
        return not self._decided("==", 0, self.is_zero())

    def _ordered(self, relation: str, other: Any, sign: int, less: int) -> Any:
        size = as_size(other)
        if size is None:
            return NotImplemented
        gap: Any = (self - self._own(size)) * sign - less
        answer = gap >= 0 if isinstance(gap, int) else gap.is_non_negative()
        return self._decided(relation, size, answer)

    def _decided(self, relation: str, other: Any, answer: bool | None) -> bool:  # noqa: FBT001 - an answer
        return self.undecided(relation, other) if answer is None else answer

    # ---- as a number or a text ----

    def __index__(self) -> int:
        raise ConcretizationError(
            f"expected a whole number, got the size {self}, whose value comes later. Give "
            "the axis a fixed length, or compute with arrays: imprint.numpy.arange, where, "
            "imprint.lax.fori_loop."
        )

    def __int__(self) -> int:
        return self.__index__()

    def __float__(self) -> float:
        return self.__index__()

    def __repr__(self) -> str:
        return shown(self.terms)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: Any) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"expected what can be pickled, got the size {self}, which belongs to a scope "
            "of this process. Keep its text, and create it again by symbolic_shape."
        )


Size: TypeAlias = int | SymbolicSize


def _is_called_by_user_code() -> bool:
    """Return whether code outside of this package computes a hash.

    A lookup of an equal number in a container would fail: its hash differs.
    """
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage] - the one way to know
    caller: str = frame.f_globals.get("__name__", "")
    return caller.partition(".")[0] != __name__.partition(".")[0]


@final
class _Analyses:
    """Functions of files that compute with sizes in turn; they set them here."""

    low: Callable[[SymbolicSize, int], float]
    undecided_message: Callable[[SymbolicSize, str, Any], str]


ANALYSES: Final = _Analyses()


def as_size(x: object) -> Size | None:
    """Return an int or NumPy integer as an int, or an expression; None for other values."""
    if type(x) is int or type(x) is SymbolicSize:
        return x
    return int(x) if isinstance(x, (bool, np.integer)) else None  # pyright: ignore[reportUnknownArgumentType] - of any width


# ---- one form ----


def without_whole_quotients(scope: SizeScope, terms: Terms) -> Size | None:
    """Return the size of these terms, `k*(x//k)` in it as `x - x%k`; None if none is."""
    for monomial, k in terms.items():
        for text, _ in monomial:
            made = scope.operations.get(text)
            if made is None or made.name != "floordiv":
                continue
            rest = without(monomial, ((text, 1),))
            assert rest is not None
            found = _multiple(rest, k, made.y)
            if found is not None:
                factor, left = found
                others = scope.size({**terms, monomial: left})
                whole = made.x - divided(scope, made.x, made.y)[1]
                return others + scope.size(factor) * whole
    return None


def _multiple(monomial: Monomial, k: int, by: Size) -> tuple[Terms, int] | None:
    """Return the multiple of a one-term size in a term, and the coefficient that is left.

    The coefficient that is left is the nearest to 0; None if it does not change.
    """
    divisor, c = (ONE, by) if isinstance(by, int) else next(iter(by.terms.items()))
    rest = without(monomial, divisor)
    if rest is None or (not isinstance(by, int) and len(by.terms) > 1):
        return None
    times = -((c // 2 - k) // c) if c > 0 else -(-k // -c)
    return ({rest: times}, k - times * c) if times else None


def divided(scope: SizeScope, x: Size, y: Size) -> tuple[Size, Size]:
    """Return the quotient, rounded down, and the remainder of two sizes."""
    if isinstance(y, int) and y == 0:
        raise ZeroDivisionError(f"{x} // 0")
    if x is y:
        return 1, 0
    if isinstance(y, int) and y < 0:
        quotient, rest = divided(scope, x * -1, -y)
        return quotient, rest * -1
    quotient, rest = _whole_part(scope, x, y)
    if _lies_below(rest, y):
        return quotient, rest
    shared = _shared(rest, y)
    if shared > 1:  # (4*n) // 6 is (2*n) // 3
        small, left = divided(
            scope, _over(scope, rest, shared), _over(scope, y, shared)
        )
        return quotient + small, left * shared
    known = _known(scope, rest, y)
    if known is not None:
        return quotient + known[0], known[1]
    inner = _nested(scope, rest, y)
    if inner is not None:
        return quotient + inner, rest - inner * y
    floor = scope.operation("floordiv", rest, y)
    return quotient + floor, scope.operation("mod", rest, y)


def _whole_part(scope: SizeScope, x: Size, y: Size) -> tuple[Size, Size]:
    """Return the sum of whole multiples of `y` in the terms of `x`, and the rest."""
    if isinstance(x, int):
        return (x // y, x % y) if isinstance(y, int) else (0, x)
    if isinstance(y, int):
        whole = scope.size({m: k // y for m, k in x.terms.items()})
        return whole, scope.size({m: k % y for m, k in x.terms.items()})
    leading, c = min(y.terms.items(), key=rank)
    quotient: Size = 0
    for monomial, k in sorted(x.terms.items(), key=rank):
        rest = without(monomial, leading)
        if rest is not None and k // c:
            quotient = quotient + scope.size({rest: k // c})
    rest = x - quotient * y
    is_simple = len(y.terms) == 1 or isinstance(rest, int) or _lies_below(rest, y)
    return (quotient, rest) if is_simple else (0, x)


def _lies_below(rest: Size, y: Size) -> bool:
    """Return whether a size surely lies in [0, y)."""
    if isinstance(rest, int) and (rest == 0 or isinstance(y, int)):
        return rest == 0 or 0 <= rest < y
    return _is_surely(rest) and _is_surely(y - 1 - rest)


def _is_surely(x: Size) -> bool:
    return x >= 0 if isinstance(x, int) else x.low() >= 0


def _shared(x: Size, y: Size) -> int:
    """Return the largest number by which every coefficient of both can be divided."""
    numbers = [k for part in (x, y) for k in _terms(part).values()]
    return int(np.gcd.reduce(numbers))


def _terms(x: Size) -> Terms:
    return ({ONE: x} if x else {}) if isinstance(x, int) else x.terms


def _over(scope: SizeScope, x: Size, by: int) -> Size:
    return scope.size({m: k // by for m, k in _terms(x).items()})


def _known(scope: SizeScope, x: Size, y: Size) -> tuple[Size, int] | None:
    """Return the quotient and the remainder if a constraint determines it."""
    if isinstance(x, int) or not isinstance(y, int):
        return None
    constant = x.terms.get(ONE, 0)
    part = x - constant
    for size, by, remainder in scope.remainders:
        if size is part and by % y == 0:
            more, left = divmod(remainder % y + constant, y)
            return scope.operation("floordiv", size, y) + more, left
    return None


def _nested(scope: SizeScope, x: Size, y: Size) -> Size | None:
    """Return `(a // b) // y` as `a // (b*y)`, which is one form."""
    if isinstance(x, int) or not isinstance(y, int) or y < 0:
        return None
    constant = x.terms.get(ONE, 0)
    atom = atom_of({m: k for m, k in x.terms.items() if m})
    made = scope.operations.get(atom or "")
    if made is None or made.name != "floordiv":
        return None
    if not isinstance(made.y, int) or made.y < 0:
        return None
    return (made.x + constant * made.y) // (made.y * y)


def extreme(scope: SizeScope, name: str, x: Size, y: Size) -> Size:
    """Return the larger or the smaller size; the common part is added outside."""
    gap = x - y
    answer = gap >= 0 if isinstance(gap, int) else gap.is_non_negative()
    if answer is None and not isinstance(gap, int) and (-gap).is_non_negative():
        answer = False
    if answer is not None:
        return x if answer is (name == "max") else y
    a, b = _terms(x), _terms(y)
    same = {m: k for m, k in a.items() if b.get(m) == k}
    shared = scope.size(same)
    first, second = sorted((x - shared, y - shared), key=_order)
    return scope.operation(name, first, second) + shared


def _order(x: Size) -> tuple[bool, str]:
    return isinstance(x, int), str(x)
