"""Does a value hold a size that has a name?

What a function returns besides arrays stands in the result of each call, so it may not
hold what is another number at each size. Containers, closures, partials, and attributes
of objects are looked into, three deep.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from types import FunctionType
from typing import Any, cast

from imprint import tree
from imprint._src.core.dims import is_symbolic


def holds_size(value: Any, depth: int = 3) -> bool:
    """Tell whether there is a size that has a name in a value."""
    if is_symbolic(value):
        return True
    return depth > 0 and any(holds_size(x, depth - 1) for x in _parts(value))


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, tuple | list | set | frozenset):
        return cast("Iterable[Any]", value)
    if isinstance(value, dict):
        return tree.leaves([*cast("dict[Any, Any]", value).items()])
    held: list[Any] = [*getattr(value, "__dict__", {}).values()]
    if isinstance(value, FunctionType):
        held += value.__defaults__ or ()
        for cell in value.__closure__ or ():
            with suppress(ValueError):  # a variable without a value yet
                held.append(cell.cell_contents)
    elif isinstance(value, partial):
        held += [value.args, value.keywords]
    return held
