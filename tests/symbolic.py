"""A symbolic dimension for tests: polynomials with // max min, and strict about questions.

`==`, `<`, `bool` and their like raise, and it is no number: a rule that compares with an
operator and not through `imprint._src.core.dims` fails. Each name has a least value, from
which questions are decided where that is easy. Equal expressions are one object.
"""

import itertools
from collections import Counter

from imprint._src.core import dims
from imprint._src.core.dims import SymbolicDim
from imprint._src.primitives.shape import as_value
from imprint.errors import ShapeError

_made, _atoms = {}, {}


def name(text, least=0):
    """Return the size of this name, which is at least `least`."""
    return _poly({((text, least),): 1})


def evaluate(x, env):
    """Return a size, or a container of sizes, with numbers or other sizes for the names."""
    if isinstance(x, Poly):
        return sum(
            k * _times(_value(a, env) for a in atoms) for atoms, k in x.terms.items()
        )
    if isinstance(x, tuple | list):
        parts = [evaluate(part, env) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    if isinstance(x, dict):
        return {key: evaluate(part, env) for key, part in x.items()}
    return x


def names(x):
    """Return the names in a size or a container of sizes, each with its least value."""
    if isinstance(x, Poly):
        return set().union(*(_names_of(a) for atoms in x.terms for a in atoms))
    parts = x.values() if isinstance(x, dict) else x
    if isinstance(x, tuple | list | dict):
        return set().union(*map(names, parts))
    return set()


def _names_of(atom):
    return {atom} if len(atom) == 2 else names(list(atom[1:]))


def _value(atom, env):
    if len(atom) == 2:
        return env[atom[0]]
    operation, x, y = atom
    return _OPERATIONS[operation](evaluate(x, env), evaluate(y, env))


_OPERATIONS = {
    "//": lambda x, y: x // y,
    "max": dims.maximum,
    "min": dims.minimum,
}


def _times(numbers):
    product = 1
    for n in numbers:
        product *= n
    return product


def _poly(terms):
    """Return the size of these terms: an int if no name is left."""
    kept = {atoms: k for atoms, k in terms.items() if k}
    if not kept:
        return 0
    if list(kept) == [()]:
        return kept[()]
    key = frozenset(kept.items())
    if key not in _made:
        _made[key] = Poly(kept)
    return _made[key]


def _terms(x):
    return x.terms if isinstance(x, Poly) else {(): x}


def _atom(operation, x, y):
    """Return an expression that is an atom: of which nothing more is known."""
    atom = (operation, x, y)
    return _poly({(_atoms.setdefault(atom, atom),): 1})


def _refuse(what):
    def refuse(self, *others):
        raise AssertionError(
            f"{what} on the size {self!r}: ask imprint._src.core.dims instead"
        )

    return refuse


class Poly(SymbolicDim):
    """A sum of products of names and of expressions that are no polynomials."""

    def __init__(self, terms):
        self.terms = terms

    # ---- arithmetic ----

    def __add__(self, other):
        total = Counter()
        for terms in (self.terms, _terms(other)):
            for atoms, k in terms.items():
                total[atoms] += k
        return _poly(total)

    def __mul__(self, other):
        total = Counter()
        for (a, k), (b, m) in itertools.product(
            self.terms.items(), _terms(other).items()
        ):
            total[tuple(sorted((*a, *b), key=repr))] += k * m
        return _poly(total)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + other * -1

    def __rsub__(self, other):
        return self * -1 + other

    def __divmod__(self, other):
        quotient = _exact(self, other)
        if quotient is not None:
            return quotient, 0
        quotient = _atom("//", self, other)
        return quotient, self - quotient * other

    def __floordiv__(self, other):
        return divmod(self, other)[0]

    def __mod__(self, other):
        return divmod(self, other)[1]

    def __rfloordiv__(self, other):
        return 0 if _is_int(other, 0) else _atom("//", other, self)

    def __rmod__(self, other):
        return other - other // self * self

    def undecided(self, relation, other):
        raise ShapeError(
            f"expected lengths of which it is known whether {self} {relation} {other}, got "
            "ones for which that depends on their values."
        )

    def __jax_array__(self):
        return as_value(self)

    def maximum(self, other):
        return _atom("max", self, other)

    def minimum(self, other):
        return _atom("min", self, other)

    # ---- questions ----

    def is_zero(self):
        low, high = _bounds(self)
        return False if low > 0 or high < 0 else None

    def is_non_negative(self):
        low, high = _bounds(self)
        return True if low >= 0 else (False if high < 0 else None)

    __hash__ = object.__hash__

    def __repr__(self):
        ordered = sorted(
            self.terms.items(), key=lambda term: (-len(term[0]), str(term))
        )
        return "+".join(_shown(atoms, k) for atoms, k in ordered).replace("+-", "-")

    def __eq__(self, other):
        return True if self is other else _refuse("==")(self)

    def __ne__(self, other):
        return False if self is other else _refuse("!=")(self)

    __lt__, __le__ = _refuse("<"), _refuse("<=")
    __gt__, __ge__ = _refuse(">"), _refuse(">=")
    __bool__ = _refuse("bool")


def _is_int(x, n):
    return type(x) is int and x == n


def _exact(x, y):
    """Return the quotient of `x` by one term that divides all of its terms, or None."""
    if len(_terms(y)) != 1:
        return 1 if x is y else None
    ((divisor, by),) = _terms(y).items()
    found = {}
    for atoms, k in _terms(x).items():
        left = Counter(atoms)
        left.subtract(divisor)
        if k % by or any(count < 0 for count in left.values()):
            return None
        found[tuple(sorted(left.elements(), key=repr))] = k // by
    return _poly(found)


_FAR = float("inf")


def _bounds(x):
    """Return numbers between which a size surely lies."""
    return (_low(x), -_low(-x)) if isinstance(x, Poly) else (x, x)


def _low(x):
    """Return a number that a polynomial is surely not below."""
    made = next((a for atoms in x.terms for a in atoms if len(a) == 3), None)
    if made is None:
        return _low_of_names(x.terms)
    linear = {atoms: k for atoms, k in x.terms.items() if any(a is made for a in atoms)}
    if [len(atoms) for atoms in linear] != [1]:
        return -_FAR
    (factor,) = linear.values()
    rest = x - _poly(linear)
    lows = [_scaled_low(rest, factor, by, over) for by, over in _limits(made, factor)]
    return max(lows, default=-_FAR)


def _limits(atom, sign):
    """Return (p, k) with atom >= p / k, or <= if the sign is negative, in all ways."""
    operation, x, y = atom
    if operation == "//" and type(y) is int:
        return [(x - (y - 1) if sign > 0 else x, y)]
    if operation == ("max" if sign > 0 else "min"):
        return [(x, 1), (y, 1)]
    if operation in ("min", "max"):
        pick = min if operation == "min" else max
        limit = pick(_bounds(part)[sign < 0] for part in (x, y))
        return [(limit, 1)] if abs(limit) < _FAR else []
    return []


def _scaled_low(rest, factor, by, over):
    """Return a number that `rest + factor * by / over` is surely not below."""
    total = rest * over + by * factor
    return (_low(total) if isinstance(total, Poly) else total) / over


def _low_of_names(terms):
    """Write each name as its least value and more: terms of one sign show a bound."""
    shifted = Counter()
    for atoms, k in terms.items():
        parts = [{(): least, ((text, least),): 1}.items() for text, least in atoms]
        for chosen in itertools.product(*parts):
            key = tuple(sorted((a for key, _ in chosen for a in key), key=repr))
            shifted[key] += k * _times(number for _, number in chosen)
    above = all(k >= 0 for atoms, k in shifted.items() if atoms)
    return shifted[()] if above else -_FAR


def _shown(atoms, k):
    factors = [a[0] if len(a) == 2 else f"{a[0]}({a[1]!r},{a[2]!r})" for a in atoms]
    return "*".join([*([str(k)] if k != 1 or not atoms else []), *factors])
