"""Evaluation of sizes for values of their names, and the error of undecided comparisons.

`allows` checks the constraints of a scope. `SymbolicDim.computed` evaluates in another
arithmetic than Python's; `size_arithmetic` is that arithmetic for sizes. The error of a
comparison shows values for which it holds and does not hold, found by trying a few, and
the constraint that decides it.
"""

import operator
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, Final

from imprint._src.core import dims
from imprint._src.dynamic_shapes.expression import (
    ANALYSES,
    Size,
    SizeScope,
    SymbolicSize,
)


def evaluate(x: Size, values: Mapping[str, int]) -> int:
    """Return the number that a size is, for the values of its names."""
    if isinstance(x, int):
        return x
    total = 0
    for monomial, k in x.terms.items():
        term = k
        for text, power in monomial:
            term *= _value(x.scope, text, values) ** power
        total += term
    return total


def _value(scope: SizeScope, text: str, values: Mapping[str, int]) -> int:
    made = scope.operations.get(text)
    if made is None:
        return values[text]
    return _MEANS[made.name](evaluate(made.x, values), evaluate(made.y, values))


_MEANS: Final[dict[str, Callable[[int, int], int]]] = {
    "floordiv": lambda x, y: x // y,
    "mod": lambda x, y: x % y,
    "max": max,
    "min": min,
}


def size_arithmetic(name: str, x: Any, y: Any) -> Any:
    """Return an operation of two sizes, for `SymbolicDim.computed`."""
    if name in ("max", "min"):
        return dims.maximum(x, y) if name == "max" else dims.minimum(x, y)
    if name in ("add", "mul"):
        return x + y if name == "add" else x * y
    return x // y if name == "floordiv" else x % y


def allows(scope: SizeScope, values: Mapping[str, int]) -> bool:
    """Return whether the constraints of a scope hold for these values of the names."""
    return (
        all(n >= scope.least_of(name) for name, n in values.items())
        and all(evaluate(fact, values) >= 0 for fact in scope.facts)
        and all(
            evaluate(size, values) % by == left for size, by, left in scope.remainders
        )
        and all(
            _value(scope, text, values) == evaluate(value, values)
            for text, value in scope.equals.items()
        )
    )


def names_of(x: Size) -> list[str]:
    """Return the names in a size, in order."""
    found: set[str] = set()
    pending = [x]
    while pending:
        part = pending.pop()
        if isinstance(part, int):
            continue
        for text in {text for monomial in part.terms for text, _ in monomial}:
            made = part.scope.operations.get(text)
            if made is None:
                found.add(text)
            else:
                pending += [made.x, made.y]
    return sorted(found)


# ---- undecided comparisons ----


_TRIED = (1, 2, 3, 4, 5, 7, 8, 12, 16, 64)
_MOST_NAMES = 3


def undecided_message(x: SymbolicSize, relation: str, y: Any) -> str:
    """Return the message of a question whose answer depends on the values of names."""
    names = sorted({*names_of(x), *names_of(y)})
    return (
        f"expected sizes of which it is known whether {x} {relation} {y}, got ones for "
        f"which that depends on their values{_both(x, relation, y, names)}. State it: "
        f'constraints=("{x} {relation} {y}",) of symbolic_shape; or give the '
        "axes one name, or fixed lengths."
    )


def _both(x: Size, relation: str, y: Size, names: list[str]) -> str:
    """Return values for which it holds, and for which it does not, where some are found."""
    found: dict[bool, str] = {}
    chosen = names[:_MOST_NAMES]
    for numbers in product(_TRIED, repeat=len(chosen)):
        values = dict.fromkeys(names, 1) | dict(zip(chosen, numbers, strict=True))
        if not _is_allowed(x, y, values):
            continue
        a, b = evaluate(x, values), evaluate(y, values)
        answer = HOLDS[relation](a, b)
        at = ", ".join([f"{name} = {values[name]}" for name in names])
        found.setdefault(answer, f"{a} {relation} {b} for {at}")
        if len(found) > 1:
            return f": it is {found[True]}, and not {found[False]}"
    return ""


def _is_allowed(x: Size, y: Size, values: dict[str, int]) -> bool:
    size = y if isinstance(x, int) else x
    assert not isinstance(size, int)
    return allows(size.scope, values)


HOLDS: Final[dict[str, Callable[[int, int], bool]]] = {
    "==": operator.eq,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}

ANALYSES.undecided_message = undecided_message
