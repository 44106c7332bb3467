"""What number is an expression, for values of its names, and which values are allowed?

Which names are in it is asked here, too. In another arithmetic than Python's, see
`SymbolicDim.computed`; with sizes for its names, `joined` is that arithmetic.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from imprint._src.core import dims
from imprint._src.dynamic_shapes.expression import Size, SizeScope


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


def joined(name: str, x: Any, y: Any) -> Any:
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
