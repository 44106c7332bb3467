"""The two places where a lower floor reaches upward.

Operators on arrays and tracers (`x + y`) call `imprint.numpy`, and `bind` outside any
trace calls the eager interpreter. Both live on floors above `core`, so they are put
here once, when `imprint` is imported. There is no third.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

numpy: Any = None
"""The module `imprint.numpy`, which gives operators and array methods their meaning."""


class _Operators(dict[str, Callable[[Any, Any], Any]]):
    def __missing__(self, name: str) -> Callable[[Any, Any], Any]:
        found = getattr(numpy, name)
        is_function = isinstance(found, FunctionType)
        self[name] = (
            found if is_function else found.__call__
        )  # that of a ufunc, 40 ns less
        return self[name]


operators: Final = _Operators()
"""The functions of `imprint.numpy` that binary operators have used, by name. Hot."""

eager: Callable[[Any, tuple[Any, ...], dict[str, Any]], tuple[Any, ...]]
"""`eager(primitive, operands, params)`: evaluate one primitive now."""


def install_numpy(module: Any) -> None:
    """Give operators on arrays and tracers their meaning."""
    global numpy
    numpy = module


def install_eager(
    process: Callable[[Any, tuple[Any, ...], dict[str, Any]], tuple[Any, ...]],
) -> None:
    """Give `bind` outside any trace its meaning."""
    global eager
    eager = process
