"""What does a question tell to which the answer depends on the values?

Two values, one for which it holds and one for which it does not, found by trying a few for
the names; and the constraint that decides it.
"""

import operator
from collections.abc import Callable
from itertools import product
from typing import Any, Final

from imprint._src.dynamic_shapes.expression import (
    ANSWERS,
    Size,
    SymbolicSize,
)
from imprint._src.dynamic_shapes.values import allows, evaluate, names_of

_TRIED = (1, 2, 3, 4, 5, 7, 8, 12, 16, 64)
_MOST_NAMES = 3


def told(x: SymbolicSize, relation: str, y: Any) -> str:
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

ANSWERS.told = told
