"""Lower bounds of symbolic expressions.

A constraint is subtracted where that removes a term. Then operations are replaced by
their bounds, the outermost first. Then each name is written as its least value plus the
rest, and a sum without negative terms is at least its constant. If none of this gives a
bound, the comparison is undecided; it is never decided wrongly.
"""

from collections.abc import Iterator
from math import ceil, inf
from typing import Final

from imprint._src.dynamic_shapes.expression import (
    ANALYSES,
    ONE,
    Operation,
    Size,
    SymbolicSize,
    Terms,
    product,
)

_DEPTH: Final = 3  # constraints that are put together for one answer


def low_of(size: SymbolicSize, depth: int) -> float:
    """Return a number that a size is surely not below; `depth` constraints are used."""
    found = [_without_operations(size, depth)]
    if depth < _DEPTH:
        found += [_low(rest, depth + 1) / over for rest, over in _less_a_fact(size)]
    best = max(found)
    return ceil(best) if abs(best) < inf else best


def _low(size: Size, depth: int) -> float:
    return size if isinstance(size, int) else size.low(depth)


def _high(size: Size, depth: int) -> float:
    return -_low(-size, depth)


# ---- constraints ----


def _less_a_fact(size: SymbolicSize) -> Iterator[tuple[Size, int]]:
    """Yield (rest, k) with k*size >= rest, a term of the size removed by a constraint."""
    for fact in size.scope.facts:
        for monomial, k in fact.terms.items():
            c = size.terms.get(monomial, 0)
            if monomial and c and (k < 0) == (c < 0):
                yield size * abs(k) - fact * abs(c), abs(k)


# ---- operations ----


def _without_operations(size: SymbolicSize, depth: int) -> float:
    made = size.scope.operations
    texts = {text for monomial in size.terms for text, _ in monomial if text in made}
    if not texts:
        return _low_of_names(size)
    text = max(texts, key=lambda text: (len(text), text))
    found = _by_cases(size, text, depth)
    linear = {m: k for m, k in size.terms.items() if text in dict(m)}
    if all(dict(monomial)[text] == 1 for monomial in linear):
        factor = size.scope.size(
            {tuple([p for p in m if p[0] != text]): k for m, k in linear.items()}
        )
        rest = size - size.scope.size(linear)
        limits = _limits(made[text], factor, depth)
        found += [_low(rest * k + by * factor, depth) / k for by, k in limits]
    return max(found, default=-inf)


def _by_cases(size: SymbolicSize, text: str, depth: int) -> list[float]:
    """Return the bound where an extreme is the one operand or the other, if it is one."""
    name, *parts = size.scope.operations[text]
    if name not in ("max", "min"):
        return []
    return [min([_low(_put(size, text, part), depth) for part in parts])]


def _put(size: SymbolicSize, text: str, value: Size) -> Size:
    """Return the size with a value in the place of an atom."""
    total: Size = 0
    for monomial, k in size.terms.items():
        power = dict(monomial).get(text, 0)
        rest = tuple([part for part in monomial if part[0] != text])
        term = size.scope.size({rest: k})
        for _ in range(power):
            term = term * value
        total = total + term
    return total


def _limits(made: Operation, factor: Size, depth: int) -> Iterator[tuple[Size, int]]:
    """Yield (p, k): the operation times `factor` is at least p / k times `factor`."""
    if _low(factor, depth) >= 0:
        yield from _LOWS[made.name](made.x, made.y, depth)
    elif _high(factor, depth) <= 0:
        yield from _HIGHS[made.name](made.x, made.y, depth)


def _floordiv_lows(x: Size, y: Size, depth: int) -> Iterator[tuple[Size, int]]:
    if isinstance(y, int) and y > 0:
        yield x - (y - 1), y
    if _low(y, depth) > 0:
        if _low(x, depth) >= 0:
            yield 0, 1
        if _low(x - y, depth) >= 0:
            yield 1, 1


def _floordiv_highs(x: Size, y: Size, depth: int) -> Iterator[tuple[Size, int]]:
    if isinstance(y, int) and y > 0:
        yield x, y
    elif _low(y, depth) > 0 and _low(x, depth) >= 0:
        yield x, 1


def _mod_lows(_x: Size, y: Size, depth: int) -> Iterator[tuple[Size, int]]:
    if _low(y, depth) > 0:
        yield 0, 1
    elif _high(y, depth) < 0:
        yield y + 1, 1


def _mod_highs(x: Size, y: Size, depth: int) -> Iterator[tuple[Size, int]]:
    if _low(y, depth) > 0:
        yield y - 1, 1
        if _low(x, depth) >= 0:
            yield x, 1
    elif _high(y, depth) < 0:
        yield 0, 1


def _both(x: Size, y: Size, _depth: int) -> Iterator[tuple[Size, int]]:
    yield x, 1
    yield y, 1


def _none(_x: Size, _y: Size, _depth: int) -> Iterator[tuple[Size, int]]:
    yield from ()


_LOWS: Final = {
    "floordiv": _floordiv_lows,
    "mod": _mod_lows,
    "max": _both,
    "min": _none,
}
_HIGHS: Final = {
    "floordiv": _floordiv_highs,
    "mod": _mod_highs,
    "max": _none,
    "min": _both,
}


# ---- names ----


def _low_of_names(size: SymbolicSize) -> float:
    """Return the least value if no term is negative, with names less their least."""
    above: Terms = {}
    for monomial, k in size.terms.items():
        parts: Terms = {ONE: k}
        for text, power in monomial:
            least = size.scope.least_of(text)
            for _ in range(power):  # times (least + the rest)
                more = {product(m, ((text, 1),)): c for m, c in parts.items()}
                for m, c in parts.items():
                    more[m] = more.get(m, 0) + c * least
                parts = more
        for m, c in parts.items():
            above[m] = above.get(m, 0) + c
    is_least = all(k >= 0 for monomial, k in above.items() if monomial)
    return above.get(ONE, 0) if is_least else -inf


ANALYSES.low = low_of
